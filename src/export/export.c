#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct buf *out;
    int n;
    struct err *err;
};

static int csv_row(void *arg, const struct listed *l)
{
    const struct writer *w = arg;
    columns_csv(w->out, winner_columns, IN_EXPORT, l);
    return 0;
}

static int json_row(void *arg, const struct listed *l)
{
    struct writer *w = arg;
    json_t *row = columns_json(winner_columns, IN_EXPORT, l);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(row);
    if (!text)
        return err_nomem(w->err);
    buf_fmt(w->out, "%s\n%s", w->n++ ? "," : "", text);
    free(text); /* jansson's own */
    return 0;
}

/* Gathers the whole text first: a database that turns out to be damaged at its last row leaves no half of a file. */
int export_rows(struct store *s, const char *format, FILE *out, struct err *err)
{
    bool json = !strcmp(format, "json");
    struct buf text = { 0 };
    if (!json && strcmp(format, "csv") != 0)
        return err_set(err, ERR_INVALID, "format %.40s is not known: json or csv", format);
    if (json)
        buf_fmt(&text, "{\"cutune\":\"%s\",\"winners\":[", CUTUNE_VERSION);
    else
        columns_csv_head(&text, winner_columns, IN_EXPORT);
    int rc = store_each_winner(s, json ? json_row : csv_row, &(struct writer){ .out = &text, .err = err }, err);
    if (json)
        buf_str(&text, "\n]}\n");
    if (!rc && text.failed)
        rc = err_nomem(err);
    if (!rc && (fwrite(text.data, 1, text.len, out) != text.len || fflush(out) || ferror(out)))
        rc = err_set(err, ERR_IO, "writing the %s: %s", format, strerror(errno));
    buf_free(&text);
    return rc;
}
