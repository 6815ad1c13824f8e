#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "export/row.h"

/* Gathers the whole text first: a database that proves damaged at its last row leaves no half of a file. */
int export_rows(struct store *s, const char *format, FILE *out, struct err *err)
{
    bool json = !strcmp(format, "json");
    struct buf text = { 0 };
    if (!json && strcmp(format, "csv") != 0)
        return err_set(err, ERR_INVALID, "format %.40s is not known: json or csv", format);
    int rc = json ? export_json(s, &text, err) : export_csv(s, &text, err);
    if (!rc && text.failed)
        rc = err_nomem(err);
    if (!rc && (fwrite(text.data, 1, text.len, out) != text.len || fflush(out) || ferror(out)))
        rc = err_set(err, ERR_IO, "writing the %s: %s", format, strerror(errno));
    buf_free(&text);
    return rc;
}
