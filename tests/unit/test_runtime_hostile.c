/* Invalid arguments, and memory that runs out: each gives a code and a message, never a crash. */
#include "runtime_sample.h"

#define refused(call)                                                                                                              \
    do {                                                                                                                           \
        assert_int_equal(call, CUTUNE_ERR_INVALID);                                                                                \
        assert_true(*cutune_error());                                                                                              \
    } while (0)

static void refuses_null(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 }), *none = NULL;
    cutune_handle *h = attached(c), *no_handle = NULL;
    const cutune_kernel *k = NULL;
    const int64_t sizes[] = { 1111, 113 };
    struct devspec spec = pretend();
    cutune_device dev = public_device(&spec);
    refused(cutune_open("x", NULL));
    refused(cutune_open_with(NULL, NULL));
    refused(cutune_refresh(NULL, NULL));
    refused(cutune_flush(NULL));
    refused(cutune_each(NULL, never, NULL));
    refused(cutune_each(c, NULL, NULL));
    refused(cutune_device_find(NULL, NULL));
    refused(cutune_attach(NULL, &dev, &no_handle));
    refused(cutune_attach(c, NULL, &no_handle));
    refused(cutune_attach(c, &dev, NULL));
    refused(cutune_attach_cuda(NULL, NULL, &no_handle));
    refused(cutune_attach_cuda(c, NULL, NULL));
    refused(cutune_attach_opencl(NULL, &dev, &no_handle));
    refused(cutune_attach_opencl(c, NULL, &no_handle));
    refused(cutune_attach_opencl(c, &dev, NULL));
    refused(cutune_handle_device(NULL, &dev));
    refused(cutune_handle_device(h, NULL));
    refused(cutune_lookup(NULL, "transpose", "f32", sizes, 2, &k));
    refused(cutune_lookup(h, NULL, "f32", sizes, 2, &k));
    refused(cutune_lookup(h, "transpose", NULL, sizes, 2, &k));
    refused(cutune_lookup(h, "transpose", "f32", NULL, 2, &k));
    refused(cutune_lookup(h, "transpose", "f32", NULL, 0, &k));
    refused(cutune_lookup(h, "transpose", "f32", sizes, 2, NULL));
    cutune_close(NULL);
    cutune_detach(NULL);
    assert_true(!k && !no_handle && !none);
    cutune_close(c);
}

static void refuses_null_kernels(void **state)
{
    (void)state;
    cutune_geometry g = { .size = sizeof g };
    cutune_param p = { .size = sizeof p };
    cutune_clear clear = { .size = sizeof clear };
    void *function = NULL;
    refused(cutune_kernel_geometry(NULL, 0, &g));
    refused(cutune_kernel_function(NULL, 0, &function));
    refused(cutune_kernel_param(NULL, 0, 0, &p));
    refused(cutune_kernel_clear(NULL, 0, &clear));
    assert_int_equal(cutune_kernel_match(NULL), CUTUNE_MATCH_DEFAULT);
    assert_string_equal(cutune_kernel_why(NULL), "");
    assert_string_equal(cutune_kernel_variant(NULL), "");
    assert_string_equal(cutune_kernel_config(NULL), "");
    assert_true(cutune_kernel_time_ns(NULL) == 0);
    assert_null(cutune_kernel_fallback(NULL));
    assert_int_equal(cutune_kernel_workspace(NULL), 0);
    assert_int_equal(cutune_kernel_launches(NULL) | cutune_kernel_params(NULL, 0) | cutune_kernel_clears(NULL), 0);

    cutune *c = open_pretend((cutune_options){ 0 });
    const cutune_kernel *k = find(attached(c), 1111, 113);
    static const int nowhere[] = { -1, 2, INT32_MAX, INT32_MIN };
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        refused(cutune_kernel_geometry(k, nowhere[i], &g));
        refused(cutune_kernel_function(k, nowhere[i], &function));
        refused(cutune_kernel_param(k, nowhere[i], 0, &p));
        refused(cutune_kernel_param(k, 1, nowhere[i], &p));
        refused(cutune_kernel_clear(k, nowhere[i], &clear));
        assert_int_equal(cutune_kernel_params(k, nowhere[i]), 0);
    }
    refused(cutune_kernel_geometry(k, 0, NULL));
    refused(cutune_kernel_function(k, 0, NULL));
    refused(cutune_kernel_param(k, 0, 0, NULL));
    refused(cutune_kernel_clear(k, 0, NULL));
    g.size = p.size = clear.size = 8;
    refused(cutune_kernel_geometry(k, 0, &g));
    refused(cutune_kernel_param(k, 0, 0, &p));
    refused(cutune_kernel_clear(k, 0, &clear));
    assert_null(function);
    cutune_close(c);
}

static void refuses_sizes_that_cannot_be(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    static const int64_t bad[] = { 0, -1, INT64_MIN };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused(try_find(h, bad[i], 4, &k));
        refused(try_find(h, 4, bad[i], &k));
    }
    assert_int_equal(try_find(h, INT64_MAX, INT64_MAX, &k), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(try_find(h, INT64_C(1) << 32, INT64_C(1) << 31, &k), CUTUNE_ERR_NOTFOUND);
    const int64_t many[MAX_AXES + 1] = { 4, 4, 4 };
    refused(cutune_lookup(h, "transpose", "f32", many, 3, &k));
    assert_says("transpose takes 2 sizes (m, n), not 3");
    refused(cutune_lookup(h, "transpose", "f32", many, -1, &k));
    refused(cutune_lookup(h, "transpose", "f32", many, INT32_MIN, &k));
    refused(cutune_lookup(h, "transpose", "f32", many, INT32_MAX, &k));
    refused(cutune_lookup(h, "transpose", "f32", many, MAX_AXES + 1, &k));
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    assert_int_equal(cutune_lookup(h, long_name, "f32", many, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_true(cutune_lookup(h, "transpose", long_name, many, 2, &k) < 0);
    assert_int_equal(cutune_lookup(h, "", "f32", many, 2, &k), CUTUNE_ERR_NOTFOUND);
    assert_true(cutune_lookup(h, "transpose", "", many, 2, &k) < 0);
    assert_true(cutune_lookup(h, "transpose", "\n%s%n'; DROP TABLE tuned", many, 2, &k) < 0);
    assert_null(strchr(cutune_error(), '\n'));
    assert_null(k);
    cutune_close(c);
}

/* A value for the kernels that overflows for these sizes: no damage, and no kernel. */
static void refuses_what_overflows(void **state)
{
    (void)state;
    meddle("a.db", "UPDATE op SET interface = bend(interface, 'values', 'n * 100000000000'); "
                   "UPDATE tuned SET kernel = bend(kernel, 'values', 'n * 100000000000')");
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = NULL;
    assert_is(find(h, 1, 100), CUTUNE_MATCH_NEAR, "TILE=8");
    assert_int_equal(try_find(h, 1, 100000000, &k), CUTUNE_ERR_NOTFOUND);
    assert_says("overflow");
    cutune_close(c);
}

static void refuses_structures_without_a_size(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ 0 }), *none = NULL;
    cutune_handle *h = attached(c), *no_handle = NULL;
    struct devspec spec = pretend();
    const cutune_device dev = public_device(&spec);
    cutune_device bad = dev;
    cutune_options o = { .path = in_dir("a.db") };
    cutune_allocator a = { 0 };
    refused(cutune_open_with(&o, &none));
    o.size = sizeof o;
    o.refresh_ms = -1;
    refused(cutune_open_with(&o, &none));
    refused(cutune_set_allocator(&a));
    bad.size = 0;
    refused(cutune_attach(c, &bad, &no_handle));
    refused(cutune_device_find(NULL, &bad));
    refused(cutune_handle_device(h, &bad));
    char *texts[] = { bad.backend, bad.name, bad.arch, bad.mig };
    static const size_t rooms[] = { sizeof bad.backend, sizeof bad.name, sizeof bad.arch, sizeof bad.mig };
    for (int i = 0; i < 4; i++) { /* without an end */
        bad = dev;
        memset(texts[i], 'x', rooms[i]);
        refused(cutune_attach(c, &bad, &no_handle));
        assert_says("has no end");
    }
    bad = (cutune_device){ .size = sizeof bad };
    refused(cutune_attach(c, &bad, &no_handle));
    assert_says("the device has no backend");
    bad = dev;
    bad.max_grid[2] = -1;
    refused(cutune_attach(c, &bad, &no_handle));
    assert_says("negative");
    bad = dev;
    assert_true(cutune_device_find("abacus:0", &bad) < 0);
    assert_true(*cutune_error());
    assert_memory_equal(&bad, &dev, sizeof dev);
    assert_true(!none && !no_handle);
    assert_int_equal(attach_null(c, 77, &no_handle), CUTUNE_ERR_NOTFOUND);
    cutune_close(c);
}

/* A device of no limits at all is no reason to crash. */
static void answers_for_odd_devices(void **state)
{
    (void)state;
    cutune *c = open_pretend((cutune_options){ .capture = 1 });
    cutune_device odd = { .size = sizeof odd, .backend = "null" };
    cutune_handle *h = NULL;
    const cutune_kernel *k = NULL;
    assert_int_equal(cutune_attach(c, &odd, &h), CUTUNE_OK);
    assert_int_equal(try_find(h, 64, 64, &k), CUTUNE_ERR_NOTFOUND);
    strcpy(odd.backend, "abacus");
    strcpy(odd.name, "line\nbreak");
    odd.multiprocessors = INT32_MAX;
    odd.memory = INT64_MAX;
    assert_int_equal(cutune_attach(c, &odd, &h), CUTUNE_OK);
    assert_int_equal(try_find(h, 64, 64, &k), CUTUNE_ERR_NOTFOUND);
    cutune_device back = { .size = sizeof back };
    assert_int_equal(cutune_handle_device(h, &back), CUTUNE_OK);
    assert_memory_equal(&back, &odd, sizeof odd);
    assert_int_equal(cutune_flush(c), CUTUNE_OK);
    cutune_close(c);
}

/* ---- memory */

static int everything(const char *tables)
{
    cutune *c = NULL;
    cutune_handle *h = NULL;
    const cutune_kernel *k = NULL;
    const int64_t exact[] = { 1111, 113 }, near[] = { 1111, 226 }, large[] = { 2097152, 32 };
    const cutune_problem all[] = { { sizeof *all, "transpose", "f32", exact, 2 },
                                   { sizeof *all, "transpose", "f32", near, 2 },
                                   { sizeof *all, "transpose", "i32", large, 2 } };
    void *const buffers[] = { (void *)0x1000000000, (void *)0x2000000000 };
    const cutune_options o = { .size = sizeof o, .path = in_dir("a.db"), .tables = tables, .capture = 1, .cache = "" };
    int rc = cutune_open_with(&o, &c)
        ?: attach_null(c, 0, &h)
        ?: cutune_lookup(h, "transpose", "f32", near, 2, &k)
        ?: cutune_lookup(h, "transpose", "f32", exact, 2, &k)
        ?: cutune_prefetch(h, all, 3)
        ?: cutune_launch(k, NULL, buffers, 2)
        ?: cutune_flush(c)
        ?: cutune_refresh(c, NULL)
        ?: cutune_lookup(h, "shipped", "f32", near, 2, &k);
    if (rc)
        assert_true(*cutune_error());
    mem_fail_at(-1);
    cutune_close(c);
    return rc;
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    char tables[PATH_ROOM];
    struct store *s = open_at("tables.db", STORE_WRITE);
    put_default_of(s, (struct recipe){ .row = 0 });
    store_close(s);
    meddle("tables.db", "UPDATE op SET name = 'shipped'");
    s = open_at("a.db", STORE_WRITE);
    put_default_of(s, (struct recipe){ .row = 1, .grid = 1, .arch = "null2" });
    put_default_of(s, (struct recipe){ .tile = 2 }); /* is weighed against what won, as it has a time */
    put_time_of(s, (struct recipe){ .m = 100, .n = 92, .tile = 2, .ns = 1100 });
    store_close(s);
    strcpy(tables, in_dir("tables.db"));
    int rc = CUTUNE_ERR_NOMEM;
    long n = 0;
    while (rc) {
        mem_fail_at(n++);
        rc = everything(tables);
        mem_fail_at(-1);
        if (rc && rc != CUTUNE_ERR_NOMEM)
            fail_msg("allocation %ld: %d %s", n - 1, rc, cutune_error());
    }
    assert_true(n > 300);
}

static long until_failure = -1;

static void *alloc_or_fail(void *arg, size_t bytes)
{
    (void)arg;
    return until_failure-- == 0 ? NULL : malloc(bytes);
}

static void *resize_or_fail(void *arg, void *p, size_t bytes)
{
    (void)arg;
    return until_failure-- == 0 ? NULL : realloc(p, bytes);
}

static void release(void *arg, void *p)
{
    (void)arg;
    free(p);
}

/* What is looked up with one allocation failing; "" for an error. */
static void look_up_with_a_failure(int64_t m, int64_t n, long nth, char why[1024])
{
    const cutune_kernel *k = NULL;
    cutune *c = open_pretend((cutune_options){ .cache = "" });
    cutune_handle *h = attached(c);
    until_failure = nth;
    int rc = try_find(h, m, n, &k);
    if (rc && rc != CUTUNE_ERR_NOMEM)
        fail_msg("allocation %ld: %d %s", nth, rc, cutune_error());
    snprintf(why, 1024, "%s", rc ? "" : cutune_kernel_why(k));
    bool reached = until_failure < 0;
    until_failure = -1;
    cutune_close(c);
    if (!reached)
        strcpy(why, "all was well");
}

/* None is taken for damage, or for a reason to give another kernel. */
static void one_failed_allocation_is_an_error(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = { { 1111, 113 }, { 1111, 226 }, { 100, 100 }, { 2097152, 32 } };
    struct store *s = open_at("a.db", STORE_WRITE);
    put_winner_of(s, (struct recipe){ .m = 100, .n = 92, .tile = 1 });
    put_winner_of(s, (struct recipe){ .m = 92, .n = 100, .tile = 0 });
    put_default_of(s, (struct recipe){ .tile = 2 });
    put_time_of(s, (struct recipe){ .m = 100, .n = 92, .tile = 0, .ns = 3000 });
    put_time_of(s, (struct recipe){ .m = 100, .n = 92, .tile = 2, .ns = 1100 });
    put_time_of(s, (struct recipe){ .m = 92, .n = 100, .tile = 1, .ns = 3000 });
    put_time_of(s, (struct recipe){ .m = 92, .n = 100, .tile = 2, .ns = 1100 });
    store_close(s);
    mem_use(alloc_or_fail, resize_or_fail, release, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char right[1024], why[1024] = "";
        look_up_with_a_failure(sizes[i][0], sizes[i][1], 1L << 40, why);
        assert_string_equal(why, "all was well");
        cutune *c = open_pretend((cutune_options){ .cache = "" });
        snprintf(right, sizeof right, "%s", cutune_kernel_why(find(attached(c), sizes[i][0], sizes[i][1])));
        cutune_close(c);
        long n = 0;
        for (; strcmp(why, "all was well") || !n; n++) {
            look_up_with_a_failure(sizes[i][0], sizes[i][1], n, why);
            if (*why && strcmp(why, right) && strcmp(why, "all was well"))
                fail_msg("allocation %ld: %s", n, why);
        }
        assert_true(n > 50);
    }
    mem_use(NULL, NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(refuses_null),
        with_pretend(refuses_null_kernels),
        with_pretend(refuses_sizes_that_cannot_be),
        with_pretend(refuses_what_overflows),
        with_pretend(refuses_structures_without_a_size),
        with_pretend(answers_for_odd_devices),
        with_pretend(survives_failed_allocations),
        with_pretend(one_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
