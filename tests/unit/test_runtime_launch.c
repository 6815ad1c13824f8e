/* Launching on the pretend device, which touches no buffer: so addresses may be any numbers. */
#include "runtime_sample.h"

static void *at(uintptr_t address)
{
    return (void *)address;
}

enum { OUT = 0x10000000, IN = 0x20000000, ROOM = 0x30000000 };

static int launch(const cutune_kernel *k, uintptr_t out, uintptr_t in)
{
    void *const buffers[] = { at(out), at(in) };
    return cutune_launch(k, NULL, buffers, 2);
}

/* How many launches of the device a call took. */
static uint64_t launches_of(const cutune_kernel *k, uintptr_t out, uintptr_t in)
{
    uint64_t before = null_launches();
    if (launch(k, out, in))
        fail_msg("%s", cutune_error());
    return null_launches() - before;
}

static void launches(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    assert_int_equal(launches_of(k, OUT, IN), cutune_kernel_launches(k));
    assert_int_equal(launches_of(k, OUT, OUT + 1111 * 113 * 4 + 4), 2); /* right behind, aligned to 8 */
    cutune_close(c);
}

static void checks_buffers(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    const uintptr_t bytes = 1111 * 113 * 4;
    uint64_t before = null_launches();
    assert_int_equal(launch(k, 0, IN), CUTUNE_ERR_INVALID);
    assert_says("transpose: buffer out is null");
    assert_int_equal(launch(k, OUT, 0), CUTUNE_ERR_INVALID);
    assert_says("transpose: buffer in is null");
    assert_int_equal(launch(k, OUT, IN + 2), CUTUNE_ERR_INVALID);
    assert_says("buffer in at 0x20000002 is not aligned to its elements of 4 bytes");
    assert_int_equal(launch(k, OUT + 1, IN), CUTUNE_ERR_INVALID);
    assert_int_equal(launch(k, OUT, OUT), CUTUNE_ERR_INVALID);
    assert_says("an output overlaps another buffer");
    assert_int_equal(launch(k, OUT, OUT + bytes - 4), CUTUNE_ERR_INVALID);
    assert_int_equal(launch(k, OUT + bytes - 4, OUT), CUTUNE_ERR_INVALID);
    void *const buffers[] = { at(OUT), at(IN), at(ROOM) };
    assert_int_equal(cutune_launch(k, NULL, buffers, 3), CUTUNE_ERR_INVALID);
    assert_says("transpose takes 2 buffers, not 3");
    assert_int_equal(cutune_launch(k, NULL, buffers, -1), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_launch(k, NULL, NULL, 2), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_launch(NULL, NULL, buffers, 2), CUTUNE_ERR_INVALID);
    assert_int_equal(null_launches(), before);
    cutune_close(c);
}

static void falls_back_where_alignment_lacks(void **state)
{
    (void)state;
    tune("a.db", (struct recipe){ .m = 64, .n = 64 });
    struct store *s = open_at("a.db", STORE_WRITE); /* only its source refuses to run: who launches it can be told */
    put_default_of(s, (struct recipe){ .rank = 1,
                                       .tile = 1,
                                       .grid = 1,
                                       .plain = true,
                                       .no_room = true,
                                       .source = "//null: launch-error\nvoid transpose() {}\nvoid finish() {}\n" });
    store_close(s);
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113), *other = cutune_kernel_fallback(k);
    assert_non_null(other);
    assert_is(other, CUTUNE_MATCH_DEFAULT, "TILE=8,GRID=x,");
    assert_null(cutune_kernel_fallback(other));
    assert_int_equal(cutune_kernel_workspace(other), 0);
    assert_int_equal(launch(k, OUT, IN), CUTUNE_OK);
    assert_int_equal(launch(k, OUT + 4, IN), CUTUNE_OK); /* only `in` needs more than its elements */
    assert_int_equal(launch(k, OUT, IN + 4), CUTUNE_ERR_UNSUPPORTED);
    assert_says("the source asks for it");
    cutune_close(c);
}

static void has_no_fall_back_where_all_need_it(void **state)
{
    (void)state;
    meddle("a.db", "PRAGMA foreign_keys = 1; DELETE FROM tuned WHERE rank = 1");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    assert_null(cutune_kernel_fallback(k));
    assert_int_equal(launch(k, OUT, IN), CUTUNE_OK);
    assert_int_equal(launch(k, OUT, IN + 4), CUTUNE_ERR_UNSUPPORTED);
    assert_says("needs better aligned or separate buffers");
    cutune_close(c);
}

/* Two inputs that may be the same buffer, but for a kernel that reads them as if they were apart. */
static void falls_back_where_inputs_overlap(void **state)
{
    (void)state;
    meddle("a.db", "UPDATE op SET interface = bend(interface, 'arg 0 kind', '0');"
                   "UPDATE tuned SET kernel = bend(bend(bend(kernel, 'clears', '0'), 'need.noalias', ''), 'arg 0 kind', '0')");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    assert_is(cutune_kernel_fallback(k), CUTUNE_MATCH_DEFAULT, "TILE=8,GRID=x,");
    assert_int_equal(launch(k, OUT, OUT), CUTUNE_OK);
    cutune_close(c);
}

static void takes_a_workspace(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find(attached(c), 1111, 113);
    void *const buffers[] = { at(OUT), at(IN) };
    size_t bytes = cutune_kernel_workspace(k);
    assert_true(bytes >= 15 * 4); /* ceildiv(113, 8) floats */
    assert_int_equal(cutune_launch_in(k, NULL, buffers, 2, at(ROOM), bytes), CUTUNE_OK);
    assert_int_equal(cutune_launch_in(k, NULL, buffers, 2, at(ROOM), bytes + 1), CUTUNE_OK);
    assert_int_equal(cutune_launch_in(k, NULL, buffers, 2, at(ROOM), bytes - 1), CUTUNE_ERR_INVALID);
    assert_says("bytes of workspace (cutune_kernel_workspace), not");
    assert_int_equal(cutune_launch_in(k, NULL, buffers, 2, at(ROOM + 64), bytes), CUTUNE_ERR_INVALID);
    assert_says("is not aligned to 4096 bytes");
    assert_int_equal(cutune_launch_in(k, NULL, buffers, 2, NULL, bytes), CUTUNE_ERR_INVALID);
    assert_says("the workspace is null");
    assert_int_equal(cutune_launch_in(NULL, NULL, buffers, 2, at(ROOM), bytes), CUTUNE_ERR_INVALID);
    const cutune_kernel *none = cutune_kernel_fallback(k);
    assert_int_equal(cutune_launch_in(none, NULL, buffers, 2, NULL, 0), CUTUNE_OK);
    cutune_close(c);
}

/* What the getters say is what a launch is made of. */
static void tells_how_to_launch_it(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find(attached(c), 1111, 113);
    void *function = NULL, *finish = NULL;
    assert_int_equal(cutune_kernel_function(k, 0, &function), CUTUNE_OK);
    assert_int_equal(cutune_kernel_function(k, 1, &finish), CUTUNE_OK);
    assert_true(function && finish && function != finish);
    assert_ptr_equal(function, k->launches[0].handle);
    assert_int_equal(cutune_kernel_params(k, 0), 5);
    assert_int_equal(cutune_kernel_params(k, 1), 1);
    cutune_param p = { .size = sizeof p };
    for (int i = 0; i < 2; i++) { /* out, in */
        assert_int_equal(cutune_kernel_param(k, 0, i, &p), CUTUNE_OK);
        assert_int_equal(p.kind, CUTUNE_PARAM_BUFFER);
        assert_int_equal(p.index, i);
    }
    static const int64_t sizes[] = { 1111, 113 };
    for (int i = 0; i < 2; i++) { /* m, n */
        assert_int_equal(cutune_kernel_param(k, 0, 2 + i, &p), CUTUNE_OK);
        assert_int_equal(p.kind, CUTUNE_PARAM_VALUE);
        assert_int_equal(p.bytes, 8);
        assert_memory_equal(p.value, &sizes[i], 8);
    }
    assert_int_equal(cutune_kernel_param(k, 0, 4, &p), CUTUNE_OK);
    assert_int_equal(p.kind, CUTUNE_PARAM_WORKSPACE);
    assert_int_equal(p.offset, 0);
    cutune_clear clear = { .size = sizeof clear };
    assert_int_equal(cutune_kernel_clears(k), 2);
    assert_int_equal(cutune_kernel_clear(k, 0, &clear), CUTUNE_OK);
    assert_int_equal(clear.kind, CUTUNE_PARAM_BUFFER);
    assert_int_equal(clear.index, 0);
    assert_int_equal(clear.bytes, 1111 * 113 * 4);
    assert_int_equal(cutune_kernel_clear(k, 1, &clear), CUTUNE_OK);
    assert_int_equal(clear.kind, CUTUNE_PARAM_WORKSPACE);
    assert_int_equal(clear.bytes, 15 * 4);
    cutune_close(c);
}

/* A buffer whose contents go into an array of the kernels' is no parameter of theirs. */
static void fills_constants(void **state)
{
    (void)state;
    static const char source[] = "float table[9];\nvoid transpose() {\n}\nvoid finish() {\n}\n";
    tune("a.db", (struct recipe){ .m = 5, .n = 7, .plain = true, .constant = "table", .source = source });
    tune("a.db", (struct recipe){ .m = 5, .n = 8, .plain = true, .constant = "tablet", .source = source });
    tune("a.db", (struct recipe){ .m = 500, .n = 700, .plain = true, .constant = "table", .source = source });
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 5, 7);
    cutune_constant constant = { .size = sizeof constant };
    assert_int_equal(cutune_kernel_constants(k), 1);
    assert_int_equal(cutune_kernel_params(k, 0), 4);
    assert_int_equal(cutune_kernel_constant(k, 0, &constant), CUTUNE_OK);
    assert_string_equal(constant.symbol, "table");
    assert_int_equal(constant.index, 1);
    assert_int_equal(constant.bytes, 5 * 7 * 4);
    assert_non_null(constant.address);
    assert_int_equal(cutune_kernel_constant(k, 1, &constant), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_constant(NULL, 0, &constant), CUTUNE_ERR_INVALID);
    constant.size = 8;
    assert_int_equal(cutune_kernel_constant(k, 0, &constant), CUTUNE_ERR_INVALID);
    static float out[35], in[35];
    void *const buffers[] = { out, in }, *const without[] = { out, NULL };
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    assert_int_equal(cutune_launch(k, NULL, without, 2), CUTUNE_ERR_INVALID);
    assert_says("buffer in is null");
    const cutune_kernel *failing = find(h, 5, 8);
    assert_int_not_equal(cutune_launch(failing, NULL, buffers, 2), CUTUNE_OK);
    assert_says("there is no __constant__ array 'tablet' in the compiled code");
    void *const made = failing->launches[0].handle;
    assert_non_null(made);
    assert_int_not_equal(cutune_launch(failing, NULL, buffers, 2), CUTUNE_OK);
    assert_ptr_equal(failing->launches[0].handle, made); /* a function is not made anew each time */
    void *const apart[] = { (void *)(uintptr_t)(1 << 30), (void *)(uintptr_t)(2u << 30) };
    assert_int_not_equal(cutune_launch(find(h, 500, 700), NULL, apart, 2), CUTUNE_OK);
    assert_says("the __constant__ array 'table' has 65536 bytes, its input 1400000");
    cutune_close(c);
}

static void launches_nothing_without_a_context(void **state)
{
    (void)state;
    struct devspec null = pretend();
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached_to(c, &null);
    const cutune_kernel *k = find(h, 1111, 113);
    const int64_t sizes[] = { 1111, 113 };
    const cutune_problem problem = { sizeof problem, "transpose", "f32", sizes, 2 };
    void *function = NULL;
    assert_int_equal(cutune_kernel_match(k), CUTUNE_MATCH_EXACT);
    assert_int_equal(launch(k, OUT, IN), CUTUNE_ERR_INVALID);
    assert_says("this handle looks up and launches nothing");
    assert_int_equal(cutune_kernel_function(k, 0, &function), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_prefetch(h, &problem, 1), CUTUNE_ERR_INVALID);
    assert_null(function);
    cutune_close(c);
}

static void prefetches(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const int64_t one[] = { 1111, 113 }, two[] = { 64, 64 }, bad[] = { 0, 64 }, three[] = { 300, 20 };
    const cutune_problem good[] = { { sizeof *good, "transpose", "f32", one, 2 }, { sizeof *good, "transpose", "f32", two, 2 } };
    assert_int_equal(cutune_prefetch(h, good, 2), CUTUNE_OK);
    assert_true(atomic_load(&find(h, 1111, 113)->ready) && atomic_load(&find(h, 64, 64)->ready));
    assert_true(atomic_load(&cutune_kernel_fallback(find(h, 1111, 113))->ready));
    assert_int_equal(cutune_prefetch(h, NULL, 0), CUTUNE_OK);
    const cutune_problem mixed[] = {
        { sizeof *mixed, "transpose", "f32", bad, 2 },   { 0, "transpose", "f32", two, 2 },
        { sizeof *mixed, "gemm", "f32", two, 2 },        { sizeof *mixed, NULL, NULL, NULL, 2 },
        { sizeof *mixed, "transpose", "f32", three, 2 },
    };
    assert_int_equal(cutune_prefetch(h, mixed, 5), CUTUNE_ERR_INVALID);
    assert_says("m cannot be 0"); /* the first failure */
    assert_true(atomic_load(&find(h, 300, 20)->ready));
    assert_int_equal(cutune_prefetch(h, mixed + 1, 1), CUTUNE_ERR_INVALID);
    assert_says("its size is not set");
    assert_int_equal(cutune_prefetch(h, mixed + 2, 1), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_prefetch(h, NULL, 1), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_prefetch(h, good, -1), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_prefetch(NULL, good, 1), CUTUNE_ERR_INVALID);
    cutune_close(c);
}

/* Kernels of one source share what is loaded. */
static void loads_code_once(void **state)
{
    (void)state;
    tune("a.db", (struct recipe){ .m = 64, .n = 64, .tile = 1 });
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c), *other = attached(c);
    const cutune_kernel *a = find(h, 1111, 113), *b = find(h, 64, 64), *k = find(other, 64, 64);
    assert_ptr_equal(a->code, b->code);
    assert_ptr_not_equal(k->code, b->code);
    assert_int_equal(launches_of(a, OUT, IN) + launches_of(b, OUT, IN), 4);
    cutune_detach(h);
    assert_int_equal(launches_of(k, OUT, IN), 2);
    cutune_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(launches),
        with_pretend(checks_buffers),
        with_pretend(falls_back_where_alignment_lacks),
        with_pretend(has_no_fall_back_where_all_need_it),
        with_pretend(falls_back_where_inputs_overlap),
        with_pretend(takes_a_workspace),
        with_pretend(tells_how_to_launch_it),
        with_pretend(launches_nothing_without_a_context),
        with_pretend(fills_constants),
        with_pretend(prefetches),
        with_pretend(loads_code_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
