/* A winner with what follows from it. For export/ only. */
#ifndef EXPORT_ROW_H
#define EXPORT_ROW_H

#include <math.h>

#include "base/buf.h"
#include "export/export.h"

/* 0 where it is unknown, or a time so short that there is no number for it. */
static inline double over_time(const struct listed *l, double what)
{
    double v = l->time_ns > 0 ? what / l->time_ns : 0;
    return isfinite(v) ? v : 0;
}

static inline double gb_per_s(const struct listed *l)
{
    return over_time(l, l->bytes);
}

static inline double gflop_per_s(const struct listed *l)
{
    return over_time(l, l->flops);
}

static inline double copy_share(const struct listed *l) /* 1: as fast as a device copy of the same bytes */
{
    return over_time(l, l->copy_ns);
}

int export_json(struct store *s, struct buf *out, struct err *err);
int export_csv(struct store *s, struct buf *out, struct err *err);

#endif
