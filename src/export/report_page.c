/* The page of `cutune report`: what cmake/report.cmake joins, with data in it. */
#include <string.h>

#include "export/export.h"
#include "report_page.h"

bool report_drawn(void)
{
    return *report_before;
}

int report_page(const struct buf *data, struct buf *out, struct err *err)
{
    if (!report_drawn())
        return err_set(err, ERR_UNSUPPORTED,
                       "this cutune was built without Vega, which draws the report: install libjs-vega and build it again");
    buf_put(out, report_before, sizeof report_before - 1);
    /* In JSON it stands in texts only; and written so no text ends the element, or begins another. */
    for (const char *at = data->data, *end = at + data->len; at < end;) {
        size_t n = strcspn(at, "<");
        buf_put(out, at, n);
        at += n;
        if (at++ < end)
            buf_str(out, "\\u003c");
    }
    buf_put(out, report_after, sizeof report_after - 1);
    return buf_check(out, err);
}
