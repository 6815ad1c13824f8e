/* Launches that repeat, or have clusters, from their script to a launch on the pretend device; and problems that an op does not take. */
#include "runtime_sample.h"

static void run(const char *op, const char *options)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd '%s' && '%s' run --op '%s/cli/ops/%s.lua' --db a.db --device null:0 --jobs 1 --quiet %s >said 2>&1", sample_dir,
             CUTUNE_PROGRAM, TESTS_DIR, op, options);
    if (system(command))
        fail_msg("%s", command);
}

static int make_tuned(void **state)
{
    if (make_dir(state))
        return -1;
    setenv("XDG_CACHE_HOME", sample_dir, 1);
    setenv("CUTUNE_TABLES", "", 1);
    return 0;
}
#define with_dir(test) cmocka_unit_test_setup_teardown(test, make_tuned, remove_dir)

static const cutune_kernel *find_kernel_of(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int n)
{
    const cutune_kernel *k = NULL;
    if (cutune_lookup(h, op, types, sizes, n, &k))
        fail_msg("%s", cutune_error());
    return k;
}

static int64_t value_of(const cutune_kernel *k, int launch, int param, int bytes)
{
    cutune_param p = { .size = sizeof p };
    int64_t value = 0;
    assert_int_equal(cutune_kernel_param(k, launch, param, &p), CUTUNE_OK);
    assert_int_equal(p.kind, CUTUNE_PARAM_VALUE);
    assert_int_equal(p.bytes, bytes);
    memcpy(&value, p.value, (size_t)bytes);
    return value;
}

static int buffer_of(const cutune_kernel *k, int launch, int param)
{
    cutune_param p = { .size = sizeof p };
    assert_int_equal(cutune_kernel_param(k, launch, param, &p), CUTUNE_OK);
    return p.kind == CUTUNE_PARAM_WORKSPACE ? -1 : p.index;
}

static void repeats_with_other_values(void **state)
{
    (void)state;
    run("bitonic", "--shape n=1048576 --budget 1");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find_kernel_of(h, "bitonic", "i32", (const int64_t[]){ 1 << 20 }, 1);
    assert_string_equal(cutune_kernel_variant(k), "steps");
    assert_int_equal(cutune_kernel_launches(k), 1 + 20 * 21 / 2);
    for (int stage = 0, i = 1; stage < 20; stage++)
        for (int step = 0; step <= stage; step++, i++) {
            assert_int_equal(cutune_kernel_params(k, i), 4);
            assert_int_equal(value_of(k, i, 2, 4), stage);
            assert_int_equal(value_of(k, i, 3, 8), (int64_t)1 << (stage - step));
        }
    void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };
    uint64_t before = null_launches();
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    assert_int_equal(null_launches() - before, 211);
    /* One of no repetitions. */
    k = find_kernel_of(h, "bitonic", "i32", (const int64_t[]){ 1 }, 1);
    assert_int_equal(cutune_kernel_launches(k), 1);
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    cutune_close(c);
}

static void exchanges_buffers(void **state)
{
    (void)state;
    run("stencil", "--budget 1");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    for (int64_t steps = 1; steps <= 6; steps++) {
        const cutune_kernel *k = find_kernel_of(h, "stencil", "i32", (const int64_t[]){ 1000, steps }, 2);
        assert_int_equal(cutune_kernel_launches(k), (int)steps);
        int written = buffer_of(k, 0, 0);
        assert_int_equal(buffer_of(k, 0, 1), 1); /* in */
        for (int i = 1; i < steps; i++) {
            assert_int_equal(buffer_of(k, i, 1), written);
            assert_int_not_equal(buffer_of(k, i, 0), written);
            written = buffer_of(k, i, 0);
        }
        assert_int_equal(written, 0); /* out */
    }
    cutune_close(c);
}

static void refuses_what_an_op_does_not_take(void **state)
{
    (void)state;
    run("stencil", "--budget 1");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    assert_int_equal(cutune_lookup(h, "stencil", "i32", (const int64_t[]){ 1000, 101 }, 2, &k), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(), "stencil does not take n=1000,steps=101: `steps <= 100` must hold");
    assert_int_equal(cutune_lookup(h, "stencil", "i32", (const int64_t[]){ (1 << 20) + 1, 1 }, 2, &k), CUTUNE_ERR_INVALID);
    assert_null(k);
    cutune_close(c);
}

/* Tunes the op so that this variant wins. */
static void run_for(const char *op, const char *template, const char *variant)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd '%s' && cp '%s'/cli/ops/%s* . && (echo '//null: time=1000'; cat %s.cu) >fast.cu && for f in %s*.cu; do (echo "
             "'//null: time=900000'; cat $f) >slow && mv slow $f; done && sed -i 's/name = \"%s\", template = \"%s.cu\"/name = "
             "\"%s\", template = \"fast.cu\"/' %s.lua && '%s' run --op ./%s.lua --db a.db --device null:0 --jobs 1 --quiet "
             "--retune >said 2>&1",
             sample_dir, TESTS_DIR, op, template, op, variant, template, variant, op, CUTUNE_PROGRAM, op);
    if (system(command))
        fail_msg("%s", command);
}

static void tells_of_clusters(void **state)
{
    (void)state;
    static const char *const variants[] = { "plain", "cluster", "cooperative", "dependent" };
    for (int v = 0; v < 4; v++) {
        run_for("rowsum", "rowsum", variants[v]);
        cutune *c = open_pretend((cutune_options){ 0 });
        const cutune_kernel *k = find_kernel_of(attached(c), "rowsum", "f32", (const int64_t[]){ 100, 3000 }, 2);
        assert_string_equal(cutune_kernel_variant(k), variants[v]);
        assert_int_equal(cutune_kernel_launches(k), v == 3 ? 2 : 1);
        for (int i = 0; i < cutune_kernel_launches(k); i++) {
            cutune_geometry g = { .size = sizeof g }, old = { .size = offsetof(cutune_geometry, cluster), .cooperative = 7 };
            assert_int_equal(cutune_kernel_geometry(k, i, &g), CUTUNE_OK);
            bool special = g.cluster[0] || g.cooperative || g.dependent;
            assert_int_equal(special, (v == 1 && strcmp(cutune_kernel_config(k), "PARTS=1")) || v == 2 || (v == 3 && i == 1));
            assert_int_equal(g.cooperative, v == 2);
            assert_int_equal(g.dependent, v == 3 && i == 1);
            assert_int_equal(g.cluster[1], g.cluster[0] ? 1 : 0);
            assert_int_equal(cutune_kernel_geometry(k, i, &old), special ? CUTUNE_ERR_UNSUPPORTED : CUTUNE_OK);
            assert_int_equal(old.cooperative, 7);
        }
        void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };
        assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
        cutune_close(c);
    }
}

static void passes_tensor_maps(void **state)
{
    (void)state;
    run_for("tilecopy", "tilecopy_tensor", "tensor");
    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find_kernel_of(attached(c), "tilecopy", "f32", (const int64_t[]){ 1000, 1024 }, 2);
    assert_string_equal(cutune_kernel_variant(k), "tensor");
    cutune_param p = { .size = sizeof p };
    assert_int_equal(cutune_kernel_params(k, 0), 2);
    assert_int_equal(cutune_kernel_param(k, 0, 1, &p), CUTUNE_OK);
    assert_int_equal(p.kind, CUTUNE_PARAM_TENSOR_MAP);
    assert_int_equal(p.index, 1);
    assert_int_equal(p.bytes, 128);
    _Alignas(128) uint64_t map[16];
    assert_int_equal(cutune_kernel_tensor_map(k, 0, 1, (void *)0x1000, map), CUTUNE_OK);
    assert_int_equal(map[0], 0x1000); /* as the pretend device makes them */
    assert_int_equal(map[1], 1024);
    assert_int_equal(cutune_kernel_tensor_map(k, 0, 2, (void *)0x1000, map), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_tensor_map(k, 1, 0, (void *)0x1000, map), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_tensor_map(k, 0, 0, NULL, map), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_tensor_map(k, 0, 0, (void *)0x1000, NULL), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_tensor_map(k, 0, 0, (void *)0x1000, (char *)map + 8), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_kernel_tensor_map(NULL, 0, 0, (void *)0x1000, map), CUTUNE_ERR_INVALID);
    /* A buffer aligned to its elements only is another kernel's. */
    const cutune_kernel *other = cutune_kernel_fallback(k);
    assert_non_null(other);
    assert_string_equal(cutune_kernel_variant(other), "plain");
    assert_int_equal(cutune_launch(k, NULL, (void *const[]){ (void *)0x10000000, (void *)0x20000000 }, 2), CUTUNE_OK);
    assert_int_equal(cutune_launch(k, NULL, (void *const[]){ (void *)0x10000004, (void *)0x20000008 }, 2), CUTUNE_OK);
    cutune_close(c);
}

static void passes_textures(void **state)
{
    (void)state;
    static const char *const kinds[] = { "fetch", "rows", "volume" };
    for (int i = 0; i < 3; i++) {
        char command[2048];
        snprintf(command, sizeof command,
                 "cd '%s' && cp '%s'/cli/ops/cells* . && sed -i 's/check = .close.,/&, metrics = { kind = \"KIND == \\x27%s\\x27 "
                 "and 1 or 0\" }, "
                 "objective = \"kind\",/; s/,,/,/' cells.lua && '%s' run --op ./cells.lua --db a.db --device null:0 --jobs 1 "
                 "--quiet >said 2>&1",
                 sample_dir, TESTS_DIR, kinds[i], CUTUNE_PROGRAM);
        if (system(command))
            fail_msg("%s", command);
        uint64_t object = 0, again = 0;
        cutune *c = open_pretend((cutune_options){ 0 });
        const cutune_kernel *k = find_kernel_of(attached(c), "cells", "f32", (const int64_t[]){ 20, 100, 1000 }, 3);
        assert_string_equal(cutune_kernel_variant(k), kinds[i]);
        cutune_param p = { .size = sizeof p };
        assert_int_equal(cutune_kernel_param(k, 0, 1, &p), CUTUNE_OK);
        assert_int_equal(p.kind, CUTUNE_PARAM_TEXTURE);
        assert_int_equal(p.index, 1);
        assert_int_equal(p.bytes, 8);
        assert_int_equal(null_textures(), 0);
        assert_int_equal(cutune_kernel_texture(k, 0, 1, NULL, (void *)0x20000000, &object), CUTUNE_OK);
        assert_int_equal(null_textures(), 1);
        assert_int_equal(cutune_kernel_texture(k, 0, 1, NULL, (void *)0x20000000, &again), CUTUNE_OK);
        assert_true(object && object == again);
        assert_int_equal(cutune_kernel_texture(k, 0, 0, NULL, (void *)0x20000000, &again), CUTUNE_ERR_INVALID);
        assert_int_equal(cutune_kernel_texture(k, 1, 1, NULL, (void *)0x20000000, &again), CUTUNE_ERR_INVALID);
        assert_int_equal(cutune_kernel_texture(k, 0, 1, NULL, NULL, &again), CUTUNE_ERR_INVALID);
        assert_int_equal(cutune_kernel_texture(k, 0, 1, NULL, (void *)0x20000000, NULL), CUTUNE_ERR_INVALID);
        assert_int_equal(cutune_kernel_texture(NULL, 0, 1, NULL, (void *)0x20000000, &again), CUTUNE_ERR_INVALID);
        assert_int_equal(cutune_kernel_texture(k, 0, 1, NULL, (void *)0x20000004, &again), i < 2 ? CUTUNE_ERR_INVALID : CUTUNE_OK);
        assert_int_equal(cutune_kernel_tensor_map(k, 0, 1, (void *)0x20000000, &again), CUTUNE_ERR_INVALID);
        /* Launches find the objects again. A buffer that is aligned to its elements only is another kernel's, but for arrays. */
        for (int n = 0; n < 3; n++)
            assert_int_equal(cutune_launch(k, NULL, (void *const[]){ (void *)0x10000000, (void *)0x20000000 }, 2), CUTUNE_OK);
        assert_int_equal(null_textures(), 1);
        const cutune_kernel *other = cutune_kernel_fallback(k);
        assert_int_equal(other != NULL, i < 2);
        if (other)
            assert_true(!strcmp(cutune_kernel_variant(other), "plain") || !strcmp(cutune_kernel_variant(other), "array"));
        assert_int_equal(cutune_launch(k, NULL, (void *const[]){ (void *)0x10000004, (void *)0x20000008 }, 2), CUTUNE_OK);
        assert_int_equal(cutune_launch(k, NULL, (void *const[]){ (void *)0x10000000, (void *)0x30000000 }, 2), CUTUNE_OK);
        assert_true(null_textures() >= (i < 2 ? 2 : 1));
        cutune_close(c);
        assert_int_equal(null_textures(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_dir(repeats_with_other_values), with_dir(exchanges_buffers),  with_dir(refuses_what_an_op_does_not_take),
        with_dir(tells_of_clusters),         with_dir(passes_tensor_maps), with_dir(passes_textures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
