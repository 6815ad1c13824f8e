/* A winner with what follows from it. For exchange/ only. */
#ifndef EXCHANGE_ROW_H
#define EXCHANGE_ROW_H

#include "base/buf.h"
#include "exchange/exchange.h"

/* 0 where it is unknown. */
static inline double gb_per_s(const struct listed *l)
{
    return l->time_ns > 0 ? l->bytes / l->time_ns : 0;
}

static inline double gflop_per_s(const struct listed *l)
{
    return l->time_ns > 0 ? l->flops / l->time_ns : 0;
}

static inline double copy_share(const struct listed *l) /* 1: as fast as a device copy of the same bytes */
{
    return l->time_ns > 0 ? l->copy_ns / l->time_ns : 0;
}

int export_json(struct store *s, struct buf *out, struct err *err);
int export_csv(struct store *s, struct buf *out, struct err *err);

#endif
