/* Tuning problems in the T1 format: the first byte says whether the rest is a file, or a Python condition over parameters of every type.
 * What is read well is counted, and every index leads back to itself. */
#include "export/t1.h"
#include "base/util.h"
#include "child/child.h"
#include "fuzz.h"
#include "space/python.h"
#include "space/space.h"

/* Within a second: a problem may be as large as it likes. */
static void count(const struct op *op)
{
    const struct devspec none = { .backend = "none", .max_threads = 1, .max_alloc = 1 };
    const struct problem problem = { .size = { 0 } };
    const struct patience brief = patience_of(0.2, NULL);
    struct space *s = NULL;
    struct err err = { 0 };
    int rc = space_new(op, &problem, 0, &none, &brief, &s, &err);
    must_say(rc, &err);
    for (int64_t i = 0; !rc && i < s->count; i += 1 + s->count / 7) {
        struct config c;
        space_at(s, i, &c);
        must(space_find(s, &c) == i && space_near(s, &c) == i);
    }
    space_free(s);
}

static void read_file(const char *text, size_t n)
{
    struct t1 t = { 0 };
    struct err err = { 0 };
    int rc = t1_parse("x.json", text, n, &t, &err);
    must_say(rc, &err);
    if (!rc)
        count(t.op);
    t1_free(&t);
}

/* A condition that is read well is an expression. */
static void read_condition(const char *text)
{
    struct val ints[] = { val_int(-3), val_int(0), val_int(7) }, floats[] = { val_float(0.5), val_float(3) };
    struct val bools[] = { val_bool(false), val_bool(true) }, texts[] = { val_str("a"), val_str("") };
    struct param params[] = { { "A", 3, ints }, { "B", 2, floats }, { "C", 2, bools }, { "D", 2, texts } };
    struct op *op = op_new();
    struct buf out = { 0 };
    struct err err = { 0 };
    must(op);
    int rc = python_condition(text, params, 4, &out, &err);
    must_say(rc, &err);
    const char *where[] = { buf_text(&out) };
    struct variant v = { .name = "t1", .params = params, .nparams = 4, .where = where, .nwhere = 1 };
    op->name = op->file = "t1";
    op->variants = &v;
    op->nvariants = 1;
    if (!rc)
        count(op);
    buf_free(&out);
    op_free(op);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    bool file = input_byte(&in) % 2;
    char *text = input_text(&in);
    if (file)
        read_file(text, strlen(text));
    else
        read_condition(text);
    free(text);
    return 0;
}
