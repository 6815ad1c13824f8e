#include <stdio.h>

#include "export/columns.h"

#include "model/op.h"

enum { TEXTS = 4, TEXT_BYTES = 32 };

/* One of a few texts in turn, so that a line may have several. */
static const char *with_unit(int decimals, double value, const char *unit)
{
    static char texts[TEXTS][TEXT_BYTES];
    static int next;
    next = (next + 1) % TEXTS;
    snprintf(texts[next], TEXT_BYTES, "%.*f%s", decimals, value, unit);
    return texts[next];
}

static const char *scaled(double value, double step, const char *const *units, int n)
{
    int i = 0;
    for (; i < n - 1 && value >= 0.9995 * step; i++)
        value /= step;
    return with_unit(value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[i]);
}

const char *text_time(double ns)
{
    static const char *const units[] = { " ns", " us", " ms", " s" };
    return scaled(ns, 1000, units, 4);
}

const char *text_memory(double bytes)
{
    static const char *const units[] = { " B", " KiB", " MiB", " GiB", " TiB" };
    return scaled(bytes, 1024, units, 5);
}

const char *text_bytes(double bytes)
{
    return with_unit(0, bytes, " B");
}

const char *text_share(double share)
{
    return with_unit(0, 100 * share, "%");
}

const char *text_speed(double gb_per_s, double gflop_per_s)
{
    static char both[2 * TEXT_BYTES];
    const double balance = 16; /* operations a byte, from which on arithmetic says more than memory does */
    const char *memory = gb_per_s > 0 ? scaled(gb_per_s, 0, (const char *const[]){ " GB/s" }, 1) : "";
    const char *flops = gflop_per_s > 0 ? scaled(gflop_per_s, 1000, (const char *const[]){ " GFLOP/s", " TFLOP/s" }, 2) : "";
    const bool first = gflop_per_s < balance * gb_per_s;
    snprintf(both, sizeof both, "%s%s%s", first ? memory : flops, *memory && *flops ? ", " : "", first ? flops : memory);
    return both;
}

void metrics_text(struct buf *out, double joules, const char *metrics)
{
    struct buf text = { 0 };
    if (joules > 0)
        buf_fmt(out, "energy=%.4g J", joules);
    if (config_of_json(&text, metrics) && text.len)
        buf_fmt(out, "%s%s", joules > 0 ? "," : "", buf_text(&text));
    out->failed |= text.failed;
    buf_free(&text);
}
