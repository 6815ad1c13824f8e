/* Command-line arguments that describe a problem. The first byte says which argument, the rest is its text. */
#include "fuzz.h"
#include "model/op.h"
#include "unit/sample_op.h"

/* What was read prints as something that reads back as the same. */
static void problem_words(const struct op *op, const char *text)
{
    struct problem p = { 0 }, again = { 0 };
    struct err err = { 0 };
    struct buf printed = { 0 };
    int rc = problem_parse(op, text, &p, &err);
    must_say(rc, &err);
    if (!rc) {
        problem_print(&printed, op, &p);
        must(problem_parse(op, buf_text(&printed), &again, &err) == 0 && memcmp(&p, &again, sizeof p) == 0);
    }
    for (int i = 0; !rc && i < op->naxes; i++)
        must(axis_takes(&op->axes[i], p.size[i]));
    buf_free(&printed);
}

static void config_words(const struct op *op, const char *variant, const char *text)
{
    struct config c, again;
    struct err err = { 0 };
    struct buf printed = { 0 };
    int rc = config_parse(op, variant, text, &c, &err);
    must_say(rc, &err);
    if (!rc) {
        config_print(&printed, op, &c);
        must(config_parse(op, op->variants[c.variant].name, buf_text(&printed), &again, &err) == 0 &&
             !memcmp(&c, &again, sizeof c));
    }
    buf_free(&printed);
}

static void type_words(const struct op *op, const char *text)
{
    struct err err = { 0 };
    struct buf printed = { 0 };
    int row = op_row(op, text, &err);
    must(row >= 0 || *err.msg);
    if (row >= 0) {
        op_row_print(&printed, op, row);
        must(op_row(op, buf_text(&printed), &err) == row);
    }
    buf_free(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sample sample;
    const struct op *op = sample_op(&sample);
    struct input in = { data, size };
    uint8_t kind = input_byte(&in);
    char *text = input_text(&in);
    if (kind == 'p')
        problem_words(op, text);
    else if (kind == 't')
        type_words(op, text);
    else
        config_words(op, kind == 'v' ? "walk" : NULL, text);
    free(text);
    return 0;
}
