#include "exchange/exchange.h"

#include <errno.h>
#include <string.h>

#include "exchange/row.h"

int exchange_export(struct store *s, const char *format, FILE *out, struct err *err)
{
    int rc;
    if (!strcmp(format, "json"))
        rc = export_json(s, out, err);
    else if (!strcmp(format, "csv"))
        rc = export_csv(s, out, err);
    else
        return err_set(err, ERR_INVALID, "format %.40s is not known: json or csv", format);
    if (!rc && (fflush(out) || ferror(out)))
        rc = err_set(err, ERR_IO, "writing the %s: %s", format, strerror(errno));
    return rc;
}
