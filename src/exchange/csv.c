/* CSV as RFC 4180 has it, with one header line and plain line ends. */
#include <string.h>

#include "exchange/row.h"

static void put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
    } else {
        putc('"', out);
        for (const char *c = text; *c; c++) {
            if (*c == '"')
                putc('"', out);
            putc(*c, out);
        }
        putc('"', out);
    }
    putc(',', out);
}

static void put_known(FILE *out, double v)
{
    if (v > 0)
        fprintf(out, "%.9g", v);
    putc(',', out);
}

static int write_row(void *arg, const struct listed *l)
{
    FILE *out = arg;
    const char *const texts[] = { l->device, l->backend, l->arch,  l->driver,  l->op,
                                  l->types,  l->problem, l->cache, l->variant, l->config };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(out, texts[i]);
    put_known(out, l->time_ns);
    put_known(out, gb_per_s(l));
    put_known(out, gflop_per_s(l));
    put_known(out, copy_share(l));
    fprintf(out, "%d,%d,%d,%s,%s\n", l->samples, l->measured, l->ok, l->stale ? "true" : "false", l->when);
    return 0;
}

int export_csv(struct store *s, FILE *out, struct err *err)
{
    fputs("device,backend,arch,driver,op,dtype,problem,cache,variant,config,time_ns,gb_per_s,gflop_per_s,copy_share,samples,"
          "measured,ok,"
          "stale,date\n",
          out);
    return store_each_winner(s, write_row, out, err);
}
