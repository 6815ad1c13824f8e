/* CSV as RFC 4180 has it, with one header line and plain line ends. */
#include <string.h>

#include "exchange/row.h"

static void put_text(struct buf *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        buf_str(out, text);
    } else {
        buf_str(out, "\"");
        for (const char *c = text; *c; c++) {
            if (*c == '"')
                buf_str(out, "\"");
            buf_put(out, c, 1);
        }
        buf_str(out, "\"");
    }
    buf_str(out, ",");
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
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(out, texts[i]);
    put_known(out, l->time_ns);
    put_known(out, gb_per_s(l));
    put_known(out, gflop_per_s(l));
    put_known(out, copy_share(l));
    buf_fmt(out, "%d,%d,%d,%s,%s\n", l->samples, l->measured, l->ok, l->stale ? "true" : "false", l->when);
    return 0;
}

int export_csv(struct store *s, struct buf *out, struct err *err)
{
    buf_str(out, "device,backend,arch,driver,op,dtype,problem,cache,variant,config,time_ns,gb_per_s,gflop_per_s,copy_share,samples,"
                 "measured,ok,stale,date\n");
    return store_each_winner(s, write_row, out, err);
}
