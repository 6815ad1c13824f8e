/* CSV as RFC 4180 has it, with one header line and plain line ends; for spreadsheets, which take some texts for formulas, and for
 * terminals, texts are made harmless. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "export/row.h"

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
static void put_cell(struct buf *out, const char *text)
{
    bool guarded = *text == '\'' || (begins_formula(text) && !is_number(text));
    bool quoted = guarded || strpbrk(text, ",;\"");
    buf_str(out, quoted ? "\"" : "");
    buf_str(out, guarded ? "'" : "");
    for (; *text; text++)
        buf_fmt(out, quoted && *text == '"' ? "\"%c" : "%c", *text);
    buf_str(out, quoted ? "\"" : "");
}

static void put_text(struct buf *out, const char *text)
{
    struct buf line = { 0 };
    buf_str(&line, text);
    if (line.data)
        err_line(line.data);
    out->failed |= line.failed;
    put_cell(out, buf_text(&line));
    buf_free(&line);
}

static void put_known(struct buf *out, double v)
{
    if (v > 0)
        buf_fmt(out, "%.9g", v);
    buf_str(out, ",");
}

static int write_row(void *arg, const struct listed *l)
{
    struct buf *out = arg;
    const char *const texts[] = { l->device, l->backend, l->arch,  l->driver,  l->op,
                                  l->types,  l->problem, l->cache, l->variant, l->config };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_text(out, texts[i]);
        buf_str(out, ",");
    }
    put_known(out, l->time_ns);
    put_known(out, gb_per_s(l));
    put_known(out, gflop_per_s(l));
    put_known(out, copy_share(l));
    buf_fmt(out, "%d,%d,%d,%s,", l->samples, l->measured, l->ok, l->stale ? "true" : "false");
    put_text(out, l->when);
    buf_str(out, "\n");
    return 0;
}

int export_csv(struct store *s, struct buf *out, struct err *err)
{
    buf_str(out, "device,backend,arch,driver,op,dtype,problem,cache,variant,config,time_ns,gb_per_s,gflop_per_s,copy_share,samples,"
                 "measured,ok,stale,date\n");
    return store_each_winner(s, write_row, out, err);
}
