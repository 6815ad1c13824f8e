#include "model/op.h"

#include <string.h>

#include "model/pairs.h"

struct op *op_new(void)
{
    struct arena *arena = arena_new();
    struct op *op = arena ? arena_alloc(arena, sizeof *op) : NULL;
    if (!op) {
        arena_free(arena);
        return NULL;
    }
    op->arena = arena;
    return op;
}

void op_free(struct op *op)
{
    if (op)
        arena_free(op->arena); /* the op itself lies in it */
}

int op_variant(const struct op *op, const char *name)
{
    for (int i = 0; i < op->nvariants; i++)
        if (!strcmp(op->variants[i].name, name))
            return i;
    return -1;
}

int op_axis(const struct op *op, const char *name)
{
    for (int i = 0; i < op->naxes; i++)
        if (!strcmp(op->axes[i].name, name))
            return i;
    return -1;
}

const char *arg_type(const struct arg *a)
{
    return a->type ? a->type : "i64";
}

bool axis_takes(const struct axis *a, int64_t size)
{
    return a->kind == AXIS_FLAG ? size == 0 || size == 1 : size >= 1;
}

int op_type(const struct op *op, const char *name)
{
    for (int i = 0; i < op->ntypes; i++)
        if (!strcmp(op->types[i], name))
            return i;
    return -1;
}

int param_value(const struct param *p, struct val v)
{
    for (int i = 0; i < p->n; i++)
        if (val_eq(p->values[i], v))
            return i;
    return -1;
}

/* The types that a user's words give; those left out stay null. */
static int read_types(const struct op *op, const char *text, const char *given[MAX_TYPES], struct err *err)
{
    struct pair pair;
    int rc;
    while ((rc = pair_next(&text, &pair, "types", err)) > 0) {
        int t = 0;
        while (t < op->ntypes && !pair_named(&pair, op->types[t]))
            t++;
        if (t == op->ntypes) {
            struct word_list known = { 0 };
            for (int i = 0; i < op->ntypes; i++)
                word_add(&known, "%s", op->types[i]);
            return err_set(err, ERR_INVALID, "types: %s has no type %.*s: its types are %s", op->name, pair.name_len, pair.name,
                           known.text);
        }
        if (given[t])
            return err_set(err, ERR_INVALID, "types: %s is given twice", op->types[t]);
        for (int i = 0; dtype_at(i) && !given[t]; i++)
            if (pair_valued(&pair, dtype_at(i)->name))
                given[t] = dtype_at(i)->name;
        if (!given[t])
            return err_set(err, ERR_INVALID, "types: %s=%.*s is no element type: try one like f32", op->types[t], pair.value_len,
                           pair.value);
    }
    return rc;
}

static int no_row(const struct op *op, const char *text, struct err *err)
{
    struct word_list known = { 0 };
    for (int r = 0; r < op->nrows; r++) {
        struct buf row = { 0 };
        op_row_print(&row, op, r);
        word_add(&known, "%s", buf_text(&row));
        buf_free(&row);
    }
    err_set(err, ERR_NOTFOUND, "types: %s does not take %.80s: it takes %s", op->name, *text ? text : "nothing", known.text);
    return -1;
}

int op_row(const struct op *op, const char *text, struct err *err)
{
    const char *given[MAX_TYPES] = { NULL };
    if (!strchr(text, '='))
        given[0] = text;
    else if (read_types(op, text, given, err) < 0)
        return -1;
    for (int r = 0; r < op->nrows; r++) {
        bool fits = true;
        for (int t = 0; t < op->ntypes; t++)
            fits = fits && (!given[t] || !strcmp(given[t], op->rows[r * op->ntypes + t]->name));
        if (fits)
            return r;
    }
    return no_row(op, text, err);
}

void op_row_print(struct buf *out, const struct op *op, int row)
{
    const struct dtype *const *types = &op->rows[row * op->ntypes];
    if (op->ntypes == 1) {
        buf_str(out, types[0]->name);
        return;
    }
    for (int t = 0; t < op->ntypes; t++)
        buf_fmt(out, "%s%s=%s", t ? "," : "", op->types[t], types[t]->name);
}

const struct dtype *op_arg_dtype(const struct op *op, const char *type, int row)
{
    if (!type)
        type = "i64"; /* a value whose type the script does not say */
    int t = op_type(op, type);
    return t < 0 ? dtype_find(type) : op->rows[row * op->ntypes + t];
}

bool name_ok(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && n <= MAX_NAME && !s[n] && !(*s >= '0' && *s <= '9');
}

bool text_ok(const char *s, size_t max, bool many_lines)
{
    size_t n = 0;
    bool ascii = true;
    for (; s[n]; n++) {
        if (!many_lines && ((unsigned char)s[n] < ' ' || s[n] == 0x7f))
            return false;
        ascii = ascii && !(s[n] & 0x80);
    }
    return n <= max && (ascii || many_lines || utf8_ok(s));
}
