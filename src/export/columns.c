#include "export/columns.h"

#include <math.h>

static struct val ratio(double v, double over)
{
    double r = over > 0 ? v / over : 0;
    return r > 0 && isfinite(r) ? val_float(r) : (struct val){ 0 };
}

static struct val count(int64_t n)
{
    return n >= 0 ? val_int(n) : (struct val){ 0 };
}

struct val column_value(const struct row_column *c, const void *row, struct buf *text)
{
    const void *at = (const char *)row + c->at;
    switch (c->field) {
    case FIELD_TEXT:
        return val_str(*(const char *const *)at);
    case FIELD_CHARS:
        return val_str(at);
    case FIELD_INT:
        return count(*(const int *)at);
    case FIELD_INT64:
        return count(*(const int64_t *)at);
    case FIELD_REAL:
        return ratio(*(const double *)at, c->over ? *(const double *)((const char *)row + c->over) : 1);
    case FIELD_BOOL:
        return val_bool(*(const bool *)at);
    case FIELD_BUF:
        return val_str(buf_text(at));
    case FIELD_NONE:
        break;
    }
    if (c->number)
        return ratio(c->number(row), 1);
    c->text(text, row);
    return val_str(buf_text(text));
}

static json_t *column_json(const struct row_column *c, const void *row)
{
    struct buf text = { 0 };
    if (c->json)
        return c->json(row);
    if (c->parse)
        return c->parse(*(const char *const *)((const char *)row + c->parsed));
    json_t *value = json_value(column_value(c, row, &text));
    buf_free(&text);
    return value;
}

json_t *columns_json(const struct row_column *columns, unsigned in, const void *row)
{
    json_t *object = json_object();
    for (const struct row_column *c = columns; c->key || c->head; c++)
        if (column_is_in(c, in))
            object = json_with(object, c->key, column_json(c, row));
    return object;
}

static void print_words(struct buf *out, json_t *array)
{
    size_t i;
    json_t *word;
    json_array_foreach(array, i, word) buf_fmt(out, "%s%s", i ? " " : "", json_string_value(word));
    json_decref(array);
}

void column_text(struct buf *out, const struct row_column *c, const void *row)
{
    if (c->text) {
        c->text(out, row);
        return;
    }
    if (c->json && !c->field) {
        print_words(out, c->json(row));
        return;
    }
    struct val v = column_value(c, row, NULL);
    if (v.type == VAL_NIL)
        buf_str(out, c->field == FIELD_INT || c->field == FIELD_INT64 ? "unknown" : "");
    else if (c->unit)
        buf_str(out, c->unit(v.type == VAL_INT ? (double)v.i : v.f));
    else
        val_print(out, v);
}

bool column_is_right(const struct row_column *c)
{
    bool number = c->field == FIELD_INT || c->field == FIELD_INT64 || c->field == FIELD_REAL || c->number;
    return c->right || number;
}
