/* Kernels as data: what is kept of an op and of a tuned kernel, as bytes and back; a configuration as JSON. */
#include "full_op.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "unit.h"

static void keeps_an_interface(void **state)
{
    (void)state;
    struct sample s;
    struct err err = { 0 };
    struct buf b = { 0 }, again = { 0 };
    struct op *op = sample_op(&s), *back;
    interface_put(&b, op);
    if (interface_get(b.data, b.len, &back, &err))
        fail_msg("%s", err.msg);
    assert_true(back->nvariants == 0 && back->naxes == 3 && back->nargs == 5 && !back->reference.template_text && !back->ndefaults);
    assert_string_equal(back->args[3].type, "i64");
    assert_int_equal(back->args[1].fill, FILL_AUTO);
    assert_string_equal(back->work_bytes, op->work_bytes);
    interface_put(&again, back);
    assert_int_equal(b.len, again.len);
    assert_memory_equal(b.data, again.data, b.len);
    struct op *kernel;
    assert_int_equal(kernel_get(b.data, b.len, &kernel, &err), ERR_CORRUPT); /* it has no variant */
    op_free(back);
    buf_free(&b);
    buf_free(&again);
}

static void keeps_a_kernel(void **state)
{
    (void)state;
    struct sample s;
    struct err err = { 0 };
    struct buf b = { 0 }, text = { 0 }, json = { 0 };
    struct op *op = sample_op(&s), *back, *face;
    const struct config c = { .variant = 0, .at = { 1, 2, 0, 1 } };
    kernel_put(&b, op, &c);
    if (kernel_get(b.data, b.len, &back, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(back->nvariants, 1);
    assert_string_equal(back->variants[0].name, "tile");
    assert_string_equal(back->variants[0].template_text, "");
    config_print(&text, back, &only_config);
    assert_string_equal(buf_text(&text), "TILE=8,ROWS=32,PAD=1,GRID=x");
    config_print_json(&json, back, &only_config);
    assert_string_equal(buf_text(&json), "{\"TILE\":8,\"ROWS\":32,\"PAD\":1,\"GRID\":\"x\"}");
    assert_string_equal(back->variants[0].launches[0].shared, "72 * sizeof(T)"); /* TILE * (TILE + PAD) * sizeof(T) */

    s.args[3].type = "i64"; /* said or not, it is the same */
    struct plan *plan;
    assert_int_equal(kernel_join(back, op, &err), 0);
    assert_ptr_equal(back->rows, op->rows);
    assert_int_equal(plan_new(back, 0, &plan, &err), 0);
    plan_free(plan);
    s.args[0].rank = 1;
    assert_int_equal(kernel_join(back, op, &err), ERR_CORRUPT);
    assert_int_equal(interface_get(b.data, b.len, &face, &err), ERR_CORRUPT);
    op_free(back);
    buf_free(&b);
    buf_free(&text);
    buf_free(&json);
}

/* Each byte turned over: refused, or a kernel that can be planned or is refused there. */
static void reads_hostile_bytes(void **state)
{
    (void)state;
    static struct full f;
    struct buf b = { 0 };
    struct op *op = full_op(&f), *back;
    const struct config c = { .variant = 0 };
    kernel_put(&b, op, &c);
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), 0);
    assert_string_equal(back->args[8].constant, "d_taps");
    op_free(back);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(kernel_get(b.data, n, &back, NULL), ERR_CORRUPT);
    static const unsigned char bend[] = { 0x00, 0x01, 0x02, 0x1b, 0x7f, 0x80, 0xff };
    for (size_t at = 0; at < b.len; at++)
        for (int k = 0; k < COUNT(bend); k++) {
            char was = b.data[at];
            b.data[at] = (char)bend[k];
            struct err err = { 0 };
            int rc = kernel_get(b.data, b.len, &back, &err);
            b.data[at] = was;
            assert_true(!rc || (rc == ERR_CORRUPT && *err.msg));
            if (rc)
                continue;
            struct plan *plan = NULL;
            assert_true(back->nvariants == 1 && text_ok(back->variants[0].launches[0].grid[0], MAX_LINE, false));
            if (!kernel_join(back, op, NULL) && !plan_new(back, 0, &plan, NULL))
                plan_free(plan);
            op_free(back);
        }
    buf_free(&b);
}

static void refuses_what_is_not_kept(void **state)
{
    (void)state;
    struct sample s;
    struct buf b = { 0 };
    struct op *op = sample_op(&s), *back;
    const struct config c = { .variant = 1 };
    op_put(&b, op); /* with all that only tuning needs */
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), ERR_CORRUPT);
    buf_clear(&b);
    const char *extent = s.args[0].extent[0];
    s.args[0].extent[0] = "m *\n1"; /* one line each */
    kernel_put(&b, op, &c);
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), ERR_CORRUPT);
    buf_clear(&b);
    s.args[0].extent[0] = extent;
    s.walk_launch[0].grid[0] = "1";
    kernel_put(&b, op, &c);
    buf_u8(&b, 0); /* nothing behind it */
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), ERR_CORRUPT);
    for (int way = 0; way < 6; way++) {
        struct op more;
        assert_int_equal(kernel_get(b.data, b.len - 1, &back, NULL), 0);
        more = *back;
        if (way == 1) { /* an op's own templates and dialects are no part of a kernel */
            more.npreludes = 1;
            more.preludes = s.preludes;
        } else if (way == 2) {
            more.variants->template_text = "KERNEL void walk()";
        } else if (way == 3) {
            more.nshapes = 1;
            more.shapes = s.shapes;
        } else if (way == 4) {
            more.file = "sample.lua";
        } else if (way == 5) {
            more.reference.template_name = "ref.cu";
        }
        struct buf bytes = { 0 };
        struct op *again = NULL;
        op_put(&bytes, &more);
        assert_int_equal(kernel_get(bytes.data, bytes.len, &again, NULL), way ? ERR_CORRUPT : 0);
        op_free(way ? NULL : again);
        op_free(back);
        buf_free(&bytes);
    }
    buf_free(&b);
}

/* Each check is another contract; callers need not know it. What comes back from bytes says what was put there. */
static void keeps_no_check(void **state)
{
    (void)state;
    static const struct check checks[] = { { CHECK_EXACT, .length = NULL },
                                           { CHECK_SUM, .length = "m" },
                                           { CHECK_CLOSE, .rtol = NULL },
                                           { CHECK_CLOSE, .rtol = "1e-5" },
                                           { CHECK_CLOSE, .atol = "1e-5" } };
    enum { N = sizeof checks / sizeof *checks };
    char hashes[1 + 2 * N][HASH_HEX];
    struct err err = { 0 };
    struct buf face = { 0 };
    for (int i = 0; i < 1 + 2 * N; i++) { /* of the op, then of one output beside a sum of another length */
        struct sample s;
        struct buf b = { 0 }, whole = { 0 }, again = { 0 };
        struct op *op = sample_op(&s), *back;
        op->check = i < N ? checks[i] : (struct check){ CHECK_SUM, .length = "n" };
        s.args[0].own_check = i >= N && i < 2 * N;
        s.args[0].check = i >= N && i < 2 * N ? checks[i - N] : (struct check){ 0 };
        assert_int_equal(op_check(op, &err), 0);
        assert_int_equal(op_contract(op, hashes[i], &err), 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(hashes[k], hashes[i]);
        interface_put(i ? &b : &face, op);
        assert_true(!i || (b.len == face.len && !memcmp(b.data, face.data, b.len)));
        op_put(&whole, op);
        struct cursor in = cursor_on(whole.data, whole.len);
        assert_int_equal(op_get(&in, false, &back, &err), 0);
        op_put(&again, back);
        assert_int_equal(again.len, whole.len);
        assert_memory_equal(again.data, whole.data, whole.len);
        assert_string_equal(back->args[0].check.rtol ?: "", s.args[0].check.rtol ?: "");
        op_free(back);
        buf_free(&b);
        buf_free(&whole);
        buf_free(&again);
    }
    buf_free(&face);
}

/* A scalar's value belongs to the kernel that was tuned with it; callers bring their own. */
static void keeps_scalars(void **state)
{
    (void)state;
    struct sample s;
    struct err err = { 0 };
    struct buf face = { 0 }, kernel = { 0 }, b = { 0 };
    char before[HASH_HEX], after[HASH_HEX];
    struct op *op = sample_op(&s), *back;
    assert_int_equal(op_contract(op, before, &err), 0);
    s.args[4] = (struct arg){ .name = "half", .kind = ARG_SCALAR, .type = "T", .value = "m * n // 2" };
    assert_int_equal(op_check(op, &err), 0);
    assert_int_equal(op_contract(op, after, &err), 0);
    assert_string_not_equal(before, after);

    interface_put(&face, op);
    kernel_put(&kernel, op, &(struct config){ .variant = 0 });
    s.args[4].value = "7"; /* tuned with another value, it is called in the same way */
    interface_put(&b, op);
    assert_int_equal(b.len, face.len);
    assert_memory_equal(b.data, face.data, b.len);
    assert_int_equal(op_contract(op, before, &err), 0);
    assert_string_not_equal(before, after);
    assert_int_equal(kernel_get(kernel.data, kernel.len, &back, &err), 0);
    assert_string_equal(back->args[4].value, "m * n // 2");
    s.args[3].type = "i64"; /* said or not, it is the same */
    assert_int_equal(kernel_join(back, op, &err), 0);
    s.args[4].type = "ACC";
    assert_int_equal(kernel_join(back, op, &err), ERR_CORRUPT);
    s.args[4].type = "T";
    s.args[4].kind = ARG_VALUE;
    assert_int_equal(kernel_join(back, op, &err), ERR_CORRUPT);
    op_free(back);
    assert_int_equal(interface_get(face.data, face.len, &back, &err), 0);
    assert_int_equal(back->args[4].kind, ARG_SCALAR);
    assert_null(back->args[4].value);
    op_free(back);

    /* Neither says what the other has to. */
    s.args[4].kind = ARG_SCALAR;
    s.args[4].value = NULL;
    buf_clear(&b);
    kernel_put(&b, op, &(struct config){ .variant = 0 });
    assert_int_equal(kernel_get(b.data, b.len, &back, &err), ERR_CORRUPT);
    s.args[4].value = "7";
    s.op.nvariants = s.op.ndefaults = s.op.nshapes = s.op.npreludes = 0;
    s.op.reference.template_text = NULL;
    for (int i = 0; i < 5; i++) {
        s.args[i].type = arg_type(&s.args[i]);
        s.args[i].fill = FILL_AUTO;
    }
    buf_clear(&b);
    op_put(&b, op);
    assert_int_equal(interface_get(b.data, b.len, &back, &err), ERR_CORRUPT);
    buf_free(&face);
    buf_free(&kernel);
    buf_free(&b);
}

/* Where a buffer must be. */
static void refuses_scalars(void **state)
{
    (void)state;
    static const char *const says[] = { "precondition 1: 'half' is no buffer", "must be an output",
                                        "a scalar has a type and a value",     "a scalar has a type and a value",
                                        "a scalar has a type and a value",     "cannot have the name of an axis",
                                        "only an output can be partial",       "a scalar has a type and a value" };
    for (int way = 0; way < COUNT(says); way++) {
        struct sample s;
        struct err err = { 0 };
        struct op *op = sample_op(&s);
        s.args[4] = (struct arg){ .name = "half", .kind = ARG_SCALAR, .type = "T", .value = "1" };
        if (way == 0)
            s.needs[0].arg = 4;
        else if (way == 1)
            s.clear[0] = 4;
        else if (way == 2)
            s.args[4].value = NULL;
        else if (way == 3)
            s.args[4].type = NULL;
        else if (way == 4) {
            s.args[4].rank = 1;
            s.args[4].extent[0] = "m";
        } else if (way == 5)
            s.args[4].name = "n";
        else if (way == 6)
            s.args[4].partial = true;
        else
            s.args[4].fill = FILL_BITS;
        assert_int_equal(op_check(op, &err), ERR_INVALID);
        if (!strstr(err.msg, says[way]))
            fail_msg("way %d: %s", way, err.msg);
    }
}

static void reads_configurations_as_json(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } right[] = {
        { "{}", "" },
        { "{\"TILE\":32,\"VEC\":true}", "TILE=32,VEC=true" },
        { "{\"A\":-1,\"B\":0.5,\"C\":1e+20,\"D\":false,\"E\":\"xy\",\"F\":\"32\"}", "A=-1,B=0.5,C=1e+20,D=false,E=xy,F=32" },
    };
    static const char *const wrong[] = { "",
                                         "{",
                                         "{}x",
                                         "TILE=32",
                                         "{\"TILE\":}",
                                         "{\"TILE\":x}",
                                         "{TILE:32}",
                                         "{\"T\":3,}",
                                         "{\"T\":\"a b\"}",
                                         "{\"T\":32} ",
                                         "{\"T\":\"}",
                                         "{\"\":1}",
                                         "{\"T\":[1]}",
                                         "{\"T\":-Inf}",
                                         "[]",
                                         "{\"T\" :1}",
                                         "{\"T\":1\"U\":2}" };
    for (int i = 0; i < COUNT(right); i++) {
        struct buf out = { 0 };
        assert_true(config_of_json(&out, right[i].json));
        assert_string_equal(buf_text(&out), right[i].text);
        buf_free(&out);
    }
    for (int i = 0; i < COUNT(wrong); i++) {
        struct buf out = { 0 };
        if (config_of_json(&out, wrong[i]))
            fail_msg("%s", wrong[i]);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_an_interface),
        cmocka_unit_test(keeps_a_kernel),
        cmocka_unit_test(reads_hostile_bytes),
        cmocka_unit_test(refuses_what_is_not_kept),
        cmocka_unit_test(reads_configurations_as_json),
        cmocka_unit_test(keeps_no_check),
        cmocka_unit_test(keeps_scalars),
        cmocka_unit_test(refuses_scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
