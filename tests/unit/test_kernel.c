/* Kernels as data: what is kept of an op and of a tuned kernel, as bytes and back; a configuration as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "model/kernel.h"
#include "model/plan.h"
#include "sample_op.h"

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
    assert_true(back->nvariants == 0 && back->naxes == 3 && back->nargs == 5 && !back->reference_text && !back->ndefaults);
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
    assert_string_equal(back->variants[0].launches[0].shared, op->variants[0].launches[0].shared);

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
    struct sample s;
    struct buf b = { 0 };
    struct op *op = sample_op(&s), *back;
    const struct config c = { .variant = 1 };
    kernel_put(&b, op, &c);
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
    s.walk_launch[0].grid[0] = "ceildiv(m * n,\n256)"; /* one line each */
    kernel_put(&b, op, &c);
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), ERR_CORRUPT);
    buf_clear(&b);
    s.walk_launch[0].grid[0] = "1";
    kernel_put(&b, op, &c);
    buf_u8(&b, 0); /* nothing behind it */
    assert_int_equal(kernel_get(b.data, b.len, &back, NULL), ERR_CORRUPT);
    buf_free(&b);
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
        cmocka_unit_test(keeps_an_interface),           cmocka_unit_test(keeps_a_kernel),
        cmocka_unit_test(reads_hostile_bytes),          cmocka_unit_test(refuses_what_is_not_kept),
        cmocka_unit_test(reads_configurations_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
