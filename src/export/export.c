#include "export/export.h"

#include <stdlib.h>
#include <string.h>

struct row_writer {
    struct buf *out;
    int n;
    struct err *err;
};

static int csv_row(void *arg, const struct listed *l)
{
    const struct row_writer *w = arg;
    columns_csv(w->out, winner_columns, IN_EXPORT, l);
    return 0;
}

static int json_row(void *arg, const struct listed *l)
{
    struct row_writer *w = arg;
    json_t *row = columns_json(winner_columns, IN_EXPORT, l);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(row);
    if (!text)
        return err_nomem(w->err);
    buf_fmt(w->out, "%s\n%s", w->n++ ? "," : "", text);
    free(text); /* jansson's own */
    return 0;
}

int export_rows(struct store *s, const char *format, struct buf *out, struct err *err)
{
    bool json = !strcmp(format, "json");
    struct row_writer w = { .out = out, .err = err };
    if (!json && strcmp(format, "csv") != 0)
        return err_set(err, ERR_INVALID, "format %.40s is not known: json or csv", format);
    if (json)
        buf_fmt(out, "{\"cutune\":\"%s\",\"winners\":[", CUTUNE_VERSION);
    else
        columns_csv_head(out, winner_columns, IN_EXPORT);
    int rc = store_each_winner(s, json ? json_row : csv_row, &w, err);
    if (json)
        buf_str(out, "\n]}\n");
    return !rc && out->failed ? err_nomem(err) : rc;
}
