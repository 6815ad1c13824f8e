/* Expressions: the text, a zero byte, then the slots' values. */
#include "expr/expr.h"
#include "fuzz.h"

static const char *const names[] = { "TILE", "ROWS", "SCALE", "GRID", "PAD", "m", "n", "T", "device.cc", "device.backend" };
enum { NAMES = sizeof names / sizeof *names };

static struct val take_value(struct input *in)
{
    static const char *const texts[] = { "f32", "xy", "cuda", "", "c128", "no type" };
    double f;
    uint64_t bits;
    switch (input_byte(in) % 6) {
    case 0:
        return val_int((int8_t)input_byte(in));
    case 1:
        return val_int((int64_t)input_number(in, 8));
    case 2:
        bits = input_number(in, 8);
        memcpy(&f, &bits, sizeof f);
        return val_float(f);
    case 3:
        return val_bool(input_byte(in) & 1);
    case 4:
        return val_str(texts[input_byte(in) % (sizeof texts / sizeof *texts)]);
    default:
        return (struct val){ .type = VAL_NIL };
    }
}

/* Evaluation is the same each time, with and without a place for the message, and never changes what it failed to give. */
static void evaluate(const struct expr *e, const struct val *slots)
{
    struct val first = val_int(77), second = val_int(77);
    struct err err = { 0 };
    struct buf text = { 0 }, again = { 0 };
    int64_t i = 77;
    bool b = false;
    int rc = expr_eval(e, slots, &first, &err);
    must_say(rc, &err);
    must(rc == expr_eval(e, slots, &second, NULL));
    val_print(&text, first);
    val_print(&again, second);
    must(strcmp(buf_text(&text), buf_text(&again)) == 0);
    must(!rc || (first.type == VAL_INT && first.i == 77));
    buf_free(&text);
    buf_free(&again);
    int as_int = expr_int(e, slots, &i, &err), as_bool = expr_bool(e, slots, &b, &err);
    must(!rc || (as_int && as_bool));
    must(rc || first.type != VAL_INT || (!as_int && i == first.i));
    must(rc || (as_bool == 0) == (first.type == VAL_BOOL));
}

/* What is left of a text where its parameters have values has the value of the whole. Sizes and what a device has are no truth values. */
static void fold(const struct expr *e, const struct scope *scope, const struct val *slots)
{
    enum { PARAMS = 5 };
    const struct bound_names known = { names, slots, PARAMS };
    struct expr *rest = NULL;
    struct buf left = { 0 };
    struct val whole, value;
    expr_fold(expr_text(e), &known, &left);
    must(!expr_compile(buf_text(&left), scope, &rest, NULL));
    bool sizes = true;
    for (int i = PARAMS; i < NAMES; i++)
        sizes = sizes && slots[i].type != VAL_BOOL;
    if (sizes && !expr_eval(e, slots, &whole, NULL))
        must(!expr_eval(rest, slots, &value, NULL) && value.type == whole.type && (val_eq(whole, value) || value.type == VAL_FLOAT));
    expr_free(rest);
    buf_free(&left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct scope scope = { .names = names, .n = NAMES };
    struct val slots[NAMES];
    struct expr *e = NULL;
    struct err err = { 0 };
    char *text = input_text(&in);
    for (int i = 0; i < NAMES; i++)
        slots[i] = take_value(&in);
    int rc = expr_compile(text, &scope, &e, &err);
    must_say(rc, &err);
    if (!rc) {
        int n;
        const int *read = expr_slots(e, &n);
        for (int i = 0; i < n; i++)
            must(read[i] < NAMES && read[i] > (i ? read[i - 1] : -1));
        must(strcmp(expr_text(e), text) == 0);
        evaluate(e, slots);
        fold(e, &scope, slots);
        expr_free(e);
    }
    free(text);
    return 0;
}
