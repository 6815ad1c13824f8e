/* CSV as RFC 4180 has it, with one header line and plain line ends. Texts are made harmless for terminals, and for spreadsheets, which
 * take some texts for formulas. */
#include "export/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* What a spreadsheet takes for a formula: a text that begins, after blanks, with one of = + - @, the wide forms of these among them. */
static bool begins_formula(const char *text)
{
    static const char *const signs[] = { "=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20" };
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return true;
    return false;
}

/* Decimal digits with a sign, a point, an exponent. */
static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end > text && !*end && !text[strspn(text, "+-.0123456789eE")];
}

/* A quote goes before what would be a formula, and before a quote, so that one quote at the start is always ours. */
static void put_text(struct buf *out, const char *s)
{
    struct buf line = { 0 };
    buf_str(&line, s);
    if (line.data)
        err_line(line.data);
    const char *text = buf_text(&line);
    bool guarded = *text == '\'' || (begins_formula(text) && !is_number(text));
    bool quoted = guarded || strpbrk(text, ",;\"");
    buf_fmt(out, "%s%s", quoted ? "\"" : "", guarded ? "'" : "");
    for (; *text; text++)
        buf_fmt(out, quoted && *text == '"' ? "\"%c" : "%c", *text);
    buf_str(out, quoted ? "\"" : "");
    out->failed |= line.failed;
    buf_free(&line);
}

static void put_value(struct buf *out, struct val v)
{
    if (v.type == VAL_STR)
        put_text(out, v.s);
    else if (v.type == VAL_FLOAT)
        buf_fmt(out, "%.9g", v.f);
    else if (v.type != VAL_NIL)
        val_print(out, v);
}

void columns_csv(struct buf *out, const struct row_column *columns, unsigned in, const void *row)
{
    const char *comma = "";
    for (const struct row_column *c = columns; c->key || c->head; c++) {
        struct buf text = { 0 };
        if (!column_is_in(c, in))
            continue;
        buf_str(out, comma);
        put_value(out, row ? column_value(c, row, &text) : val_str(c->key));
        out->failed |= text.failed;
        buf_free(&text);
        comma = ",";
    }
    buf_str(out, "\n");
}
