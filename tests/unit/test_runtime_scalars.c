/* An op with scalars, from its script to a launch on the pretend device: tuned, looked up, launched through its typed call's arguments. */
#include "runtime_sample.h"

#include <sys/wait.h>

static const char script[] =
    "local fast, slow = 'fast.cu', 'slow.cu'\n"
    "local grid = 'ceildiv(n, 64)'\n"
    "return op { name = 'blend', problem = { size 'n' }, types = { T = { 'f32', 'f64' } },\n"
    "args = { output('out', 'T', { 'n' }), scalar('alpha', 'f32', ALPHA), input('x', 'T', { 'n' }), scalar('beta', 'T', 2),\n"
    "value 'n' }, shapes = { { n = 64 } }, check = { sum = 1 },\n"
    "reference = { template = slow, launch = { kernel = 'slow_blend', block = 64, grid = grid } },\n"
    "variants = { { name = 'fast', template = fast, launch = { kernel = 'fast_blend', block = 64, grid = grid },\n"
    "needs = { aligned('out', 16), aligned('x', 16), noalias 'x' } },\n"
    "{ name = 'slow', template = slow, launch = { kernel = 'slow_blend', block = 64, grid = grid } } },\n"
    "defaults = { { variant = 'slow' } } }\n";

static void write_to(const char *name, const char *text)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void run(const char *options)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd '%s' && '%s' run --op ./blend.lua --db a.db --device null:0 --jobs 1 --quiet %s >said 2>&1", sample_dir,
             CUTUNE_PROGRAM, options);
    if (system(command))
        fail_msg("%s", command);
}

static void with_alpha(const char *alpha)
{
    char text[sizeof script + 16];
    const char *at = strstr(script, "ALPHA");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - script), script, alpha, at + strlen("ALPHA"));
    write_to("blend.lua", text);
}

static int make_tuned(void **state)
{
    if (make_dir(state))
        return -1;
    setenv("XDG_CACHE_HOME", sample_dir, 1);
    setenv("CUTUNE_TABLES", "", 1);
    with_alpha("0.5");
    write_to("fast.cu",
             "//null: time=1000\nKERNEL void fast_blend(GLOBAL T *out, float alpha, GLOBAL const T *x, T beta, int64 n) {}\n");
    write_to("slow.cu",
             "//null: time=1500\nKERNEL void slow_blend(GLOBAL T *out, float alpha, GLOBAL const T *x, T beta, int64 n) {}\n");
    run("--dtype f32 --dtype f64 --shape n=1000");
    return 0;
}
#define with_tuned(test) cmocka_unit_test_setup_teardown(test, make_tuned, remove_dir)

static const cutune_kernel *find_blend(cutune_handle *h, const char *types, int64_t n)
{
    const cutune_kernel *k = NULL;
    if (cutune_lookup(h, "blend", types, &n, 1, &k))
        fail_msg("%s", cutune_error());
    return k;
}

enum { OUT = 0x10000000, X = 0x20000000 };

static int launch(const cutune_kernel *k, uintptr_t out, uintptr_t x, const void *alpha, const void *beta)
{
    void *const buffers[] = { (void *)out, (void *)(uintptr_t)alpha, (void *)x, (void *)(uintptr_t)beta };
    return cutune_launch(k, NULL, buffers, 4);
}

static void passes_values(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const char *types[] = { "f32", "f64" };
    for (int t = 0; t < 2; t++) {
        const cutune_kernel *k = find_blend(h, types[t], 1000);
        const float alpha = 0.25f, beta = -3;
        const double wide = -5;
        unsigned char seen[16];
        assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
        assert_string_equal(cutune_kernel_variant(k), "fast");
        if (launch(k, OUT, X, &alpha, t ? (const void *)&wide : &beta))
            fail_msg("%s", cutune_error());
        assert_int_equal(null_scalar(seen), t ? 8 : 4); /* beta is the last */
        assert_memory_equal(seen, t ? (const void *)&wide : &beta, t ? 8 : 4);
    }
    cutune_close(c);
}

/* Nothing of a buffer's is asked of a scalar, which may lie anywhere: askew, beside or within what the kernel writes, or where another does. */
static void checks_no_scalar_as_a_buffer(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find_blend(attached(c), "f32", 1000);
    unsigned char room[64] = { 0 };
    uint64_t before = null_launches();
    for (int i = 0; i < 9; i++)
        assert_int_equal(launch(k, OUT, X, room + i, room + 2 * i), CUTUNE_OK);
    assert_int_equal(launch(k, (uintptr_t)room / 16 * 16, X, room + 16, room + 17), CUTUNE_OK);
    assert_int_equal(null_launches(), before + 10);
    assert_int_equal(launch(k, OUT, X, NULL, room), CUTUNE_ERR_INVALID);
    assert_says("blend: scalar alpha is null: pass the address of its value");
    assert_int_equal(launch(k, OUT, X, room, NULL), CUTUNE_ERR_INVALID);
    assert_says("blend: scalar beta is null");
    assert_int_equal(launch(k, OUT, 0, room, room), CUTUNE_ERR_INVALID);
    assert_says("blend: buffer x is null");
    assert_int_equal(launch(k, OUT, OUT + 4, room, room), CUTUNE_ERR_INVALID);
    assert_says("an output overlaps another buffer");
    void *const buffers[] = { (void *)OUT, (void *)X };
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_ERR_INVALID);
    assert_says("blend takes 2 buffers and 2 scalars, not 2");
    cutune_close(c);
}

static void falls_back(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find_blend(attached(c), "f32", 1000), *other = cutune_kernel_fallback(k);
    const float alpha = 1, beta = 7;
    float seen = 0;
    assert_non_null(other);
    assert_string_equal(cutune_kernel_variant(other), "slow");
    assert_int_equal(launch(k, OUT + 4, X, &alpha, &beta), CUTUNE_OK);
    assert_int_equal(null_scalar(&seen), 4);
    assert_true(seen == 7);
    cutune_close(c);
}

static void tells_parameters(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    static const struct {
        cutune_param_kind kind;
        int index, bytes;
    } want[] = { { CUTUNE_PARAM_BUFFER, 0, 0 },
                 { CUTUNE_PARAM_SCALAR, 1, 4 },
                 { CUTUNE_PARAM_BUFFER, 2, 0 },
                 { CUTUNE_PARAM_SCALAR, 3, 8 },
                 { CUTUNE_PARAM_VALUE, 0, 8 } };
    const cutune_kernel *k = find_blend(h, "f64", 77);
    assert_int_equal(cutune_kernel_params(k, 0), 5);
    for (int i = 0; i < 5; i++) {
        cutune_param p = { .size = sizeof p };
        assert_int_equal(cutune_kernel_param(k, 0, i, &p), CUTUNE_OK);
        assert_int_equal(p.kind, want[i].kind);
        assert_int_equal(p.index, want[i].index);
        assert_int_equal(p.bytes, want[i].bytes);
    }
    cutune_close(c);
}

/* What it was tuned with is what it was proved with: with another value all is measured again; but it is called as before. */
static void value_is_part_of_the_key(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    assert_int_equal(cutune_kernel_match(find_blend(attached(c), "f32", 1000)), CUTUNE_MATCH_EXACT);
    cutune_close(c);
    run("--dtype f32 --shape n=1000 --json");
    assert_int_equal(ask_number("a.db", "SELECT count(*) FROM measurement"), 4);
    with_alpha("0.75");
    run("--dtype f32 --shape n=1000");
    assert_int_equal(ask_number("a.db", "SELECT count(*) FROM measurement"), 6);
    assert_int_equal(ask_number("a.db", "SELECT count(*) = 2 AND count(DISTINCT interface) = 1 FROM op"), 1);
    c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    assert_int_equal(cutune_kernel_match(find_blend(h, "f32", 1000)), CUTUNE_MATCH_EXACT);
    assert_int_equal(cutune_lookup(h, "blend", "f64", &(int64_t){ 1000 }, 1, &(const cutune_kernel *){ 0 }), CUTUNE_ERR_NOTFOUND);
    assert_says("what was proved before the op changed is not used"); /* with 0.5 */
    cutune_close(c);
}

/* A stranger's kernel that takes a scalar for a buffer, or a buffer for a scalar, is none of the op's. */
static void refuses_others_arguments(void **state)
{
    (void)state;
    static const char *const bends[] = {
        "UPDATE tuned SET kernel = bend(kernel, 'arg 1 kind', '3')", /* a value */
        "UPDATE tuned SET kernel = bend(kernel, 'arg 0 kind', '4')", /* the output a scalar */
        "UPDATE tuned SET kernel = bend(kernel, 'arg 4 kind', '4')", /* the size a scalar */
        "UPDATE op SET interface = bend(interface, 'arg 1 kind', '0')",
        "UPDATE op SET interface = bend(interface, 'arg 3 kind', '1')",
        "UPDATE op SET interface = bend(interface, 'arg 3 kind', '3')",
    };
    char command[512];
    for (size_t i = 0; i < sizeof bends / sizeof *bends; i++) {
        const int64_t n = 1000;
        const cutune_kernel *k = NULL;
        snprintf(command, sizeof command, "cd '%s' && %s", sample_dir, i ? "cp kept.db a.db" : "cp a.db kept.db");
        assert_int_equal(system(command), 0);
        meddle("a.db", bends[i]);
        cutune *c = open_pretend((cutune_options){ .cache = "" });
        if (cutune_lookup(attached(c), "blend", "f32", &n, 1, &k) != CUTUNE_ERR_CORRUPT)
            fail_msg("%s: %s", bends[i], k ? cutune_kernel_why(k) : cutune_error());
        cutune_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tuned(passes_values),    with_tuned(checks_no_scalar_as_a_buffer), with_tuned(falls_back),
        with_tuned(tells_parameters), with_tuned(value_is_part_of_the_key),     with_tuned(refuses_others_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
