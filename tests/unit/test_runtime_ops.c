/* libcutune: what ops take, and which problem arrays are. The sample op: out[n][m], in[m][n]. */
#include "runtime_sample.h"

enum { OUT, IN, ALL };

static cutune *c;
static const cutune_op *o;

static int make_database(void **state)
{
    struct store *s;
    if (make_dir(state) || store_open(in_dir("a.db"), STORE_WRITE, &s, NULL))
        return -1;
    setenv("CUTUNE_TABLES", "", 1);
    put_winner_of(s, (struct recipe){ .m = 1111, .n = 113 });
    store_close(s);
    c = open_pretend((cutune_options){ 0 });
    return cutune_op_find(c, "transpose", &o);
}

static int end(void **state)
{
    cutune_close(c);
    return remove_dir(state);
}

static cutune_array array(const char *type, int64_t a, int64_t b)
{
    return (cutune_array){ .size = sizeof(cutune_array), .type = type, .rank = 2, .shape = { a, b }, .strides = { b, 1 } };
}

static const cutune_array none = { .size = sizeof none, .rank = -1 };

static cutune_fit open_fit(void)
{
    cutune_fit f = { .size = sizeof f };
    for (int i = 0; i < CUTUNE_AXES; i++)
        f.sizes[i] = -1;
    return f;
}

/* The arrays of a call that fits: 3 x 5 of f32, no output yet. */
static void one_given(cutune_array a[ALL])
{
    a[OUT] = none;
    a[IN] = array("f32", 3, 5);
}

static void assert_refused(cutune_array a[ALL], const char *line)
{
    cutune_fit f = open_fit();
    cutune_array before[ALL];
    memcpy(before, a, sizeof before);
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(), line);
    assert_memory_equal(before, a, sizeof before);
    assert_int_equal(f.sizes[0], -1);
}

static void describes_the_op(void **state)
{
    (void)state;
    cutune_arg arg = { .size = sizeof arg };
    cutune_axis axis = { .size = sizeof axis };
    assert_int_equal(cutune_op_args(o), ALL);
    assert_int_equal(cutune_op_arg(o, OUT, &arg), CUTUNE_OK);
    assert_string_equal(arg.name, "out");
    assert_int_equal(arg.kind, CUTUNE_ARG_OUTPUT);
    assert_string_equal(arg.type, "T");
    assert_int_equal(arg.rank, 2);
    assert_string_equal(arg.extent[0], "n");
    assert_int_equal(cutune_op_arg(o, ALL, &arg), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_op_axes(o), 2);
    assert_int_equal(cutune_op_axis(o, 1, &axis), CUTUNE_OK);
    assert_string_equal(axis.name, "n");
    assert_int_equal(axis.kind, CUTUNE_AXIS_SIZE);
    assert_null(axis.preset);
    assert_int_equal(cutune_op_axis(o, 2, &axis), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_op_types(o, 1), "i32");
    assert_null(cutune_op_types(o, 2));
    const cutune_op *again, *other = NULL;
    assert_int_equal(cutune_op_find(c, "transpose", &again), CUTUNE_OK);
    assert_ptr_equal(again, o);
    assert_int_equal(cutune_op_find(c, "nothing", &other), CUTUNE_ERR_NOTFOUND);
    assert_null(other);
}

static int count_op(void *arg, const char *name)
{
    assert_string_equal(name, "transpose");
    ++*(int *)arg;
    return 0;
}

static void lists_ops(void **state)
{
    (void)state;
    int n = 0;
    assert_int_equal(cutune_each_op(c, count_op, &n), CUTUNE_OK);
    assert_int_equal(n, 1);
}

static void finds_sizes_and_outputs(void **state)
{
    (void)state;
    cutune_array a[ALL];
    cutune_fit f = open_fit();
    one_given(a);
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_OK);
    assert_string_equal(f.types, "f32");
    assert_int_equal(f.nsizes, 2);
    assert_int_equal(f.sizes[0], 3);
    assert_int_equal(f.sizes[1], 5);
    assert_string_equal(a[OUT].type, "f32");
    assert_int_equal(a[OUT].rank, 2);
    assert_int_equal(a[OUT].shape[0], 5);
    assert_int_equal(a[OUT].shape[1], 3);
    assert_int_equal(a[OUT].strides[0], 3);
    assert_int_equal(a[OUT].strides[1], 1);
}

static void finds_types(void **state)
{
    (void)state;
    cutune_array a[ALL];
    cutune_fit f = open_fit();
    one_given(a);
    a[IN].type = "i32";
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_OK);
    assert_string_equal(f.types, "i32");
    assert_string_equal(a[OUT].type, "i32");
    one_given(a);
    a[OUT] = array("i32", 5, 3);
    assert_refused(a, "transpose does not take i32 (out) with f32 (in): it takes f32, i32");
    one_given(a);
    a[IN].type = "f64";
    assert_refused(a, "transpose does not take f64 (in): it takes f32, i32");
}

static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    cutune_array a[ALL];
    one_given(a);
    a[OUT] = array("f32", 3, 5);
    assert_refused(a, "transpose: out has 3 elements along axis 0, not 5 (n)");
    one_given(a);
    a[IN].shape[1] = 0;
    assert_refused(a, "transpose: in has no elements");
    one_given(a);
    a[IN].strides[0] = -5;
    assert_refused(a, "transpose: in is not contiguous: axis 0 has a stride of -5 elements, not 5: pass a contiguous copy");
    one_given(a);
    a[IN].rank = 1;
    assert_refused(a, "transpose: in has 1 axis, not 2");
    a[IN] = none;
    assert_refused(a, "transpose: in is missing");
    one_given(a);
    a[IN] = array("f32", INT64_MAX / 2, 5);
    assert_refused(a, "transpose: in is too large");
}

static void takes_what_is_said(void **state)
{
    (void)state;
    cutune_array a[ALL];
    cutune_fit f = open_fit();
    one_given(a);
    f.sizes[0] = 4; /* another m than that of in */
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(), "transpose: in has 3 elements along axis 0, not 4 (m)");
    f.sizes[0] = 0;
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(), "transpose: m cannot be 0");
    f = open_fit();
    strcpy(f.types, "f16");
    assert_int_equal(cutune_op_fit(o, a, ALL, &f), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(cutune_op_fit(o, a, 1, &f), CUTUNE_ERR_INVALID);
    assert_int_equal(cutune_op_fit(NULL, a, ALL, &f), CUTUNE_ERR_INVALID);
}

static void host_memory_needs_a_device_of_its_own(void **state)
{
    (void)state;
    cutune_handle *h = NULL;
    assert_int_equal(cutune_attach_device(c, "nothing:0", &h), CUTUNE_ERR_INVALID);
    assert_null(h);
    struct devspec d = pretend();
    cutune_device there = public_device(&d);
    assert_int_equal(cutune_attach(c, &there, &h), CUTUNE_OK);
    const int64_t sizes[] = { 1111, 113 };
    const cutune_kernel *k;
    char bytes[4] = { 0 };
    void *buffers[] = { bytes, bytes };
    assert_int_equal(cutune_lookup(h, "transpose", "f32", sizes, 2, &k), CUTUNE_OK);
    assert_int_equal(cutune_launch_host(k, buffers, 2), CUTUNE_ERR_INVALID);
    assert_string_equal(cutune_error(), "this handle's buffers are the device's: cutune_attach_device makes one for host memory");
    assert_int_equal(cutune_launch_host(NULL, buffers, 2), CUTUNE_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(describes_the_op, make_database, end),
        cmocka_unit_test_setup_teardown(lists_ops, make_database, end),
        cmocka_unit_test_setup_teardown(finds_sizes_and_outputs, make_database, end),
        cmocka_unit_test_setup_teardown(finds_types, make_database, end),
        cmocka_unit_test_setup_teardown(refuses_what_does_not_fit, make_database, end),
        cmocka_unit_test_setup_teardown(takes_what_is_said, make_database, end),
        cmocka_unit_test_setup_teardown(host_memory_needs_a_device_of_its_own, make_database, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
