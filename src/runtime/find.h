/* The parts of one search for a kernel: the order of answers (find.c), those from other problems and devices (find_near.c), and defaults
 * (find_default.c). */
#ifndef RUNTIME_FIND_H
#define RUNTIME_FIND_H

#include "runtime/runtime.h"

/* One search: for the kernel itself, or for what stands in for it if a buffer is less aligned than it needs. */
struct lookup {
    cutune_handle *h;
    const struct question *q;
    bool plain;         /* only what needs nothing of its buffers */
    struct store *from; /* the database, or else the shipped tables */
    struct cutune_kernel *now, *found;
    struct defaults *defaults; /* of the file that they were last asked for; null: of none yet, */
    int first_default;         /* and the place of the first that may run */
    struct err damage;  /* the first that was passed over */
    int64_t stale;      /* winners of before the op changed: counted if nothing else is found */
    int tried;          /* records, */
    size_t tried_bytes; /* and what they were of */
};

/* Asking each of a file's records would have no end. */
static inline bool weary(const struct lookup *s)
{
    return s->tried >= MOST_TRIED || s->tried_bytes > MOST_TRIED_BYTES;
}

static inline bool refused(int rc) /* by the record, its constraints or the device: the next may do */
{
    return rc == ERR_UNSUPPORTED || rc == ERR_CORRUPT || rc == ERR_NOTFOUND || rc == ERR_INVALID;
}

static inline bool from_tables(const struct lookup *s)
{
    return s->from != s->h->owner->store;
}

static inline const struct knowledge *known_there(const struct lookup *s)
{
    return from_tables(s) ? s->q->known->in_tables : s->q->known->all;
}

/* Told of an answer that nothing tuned gave: what there is, and is not used. */
static inline const char *unused_words(const struct lookup *s)
{
    const struct knowledge *all = s->q->known->all;
    return s->stale           ? " (what was proved before the op changed is not used)"
           : all && all->alone ? " (what was compared with the reference for no other problem is not used)"
                               : "";
}

/* Whether the kernel in use is of this record, and found in the same way. */
bool still(const struct lookup *s, cutune_match match, int rank, double time_ns, const char *variant, const char *json);
/* Makes the kernel of a record, which it takes over; or keeps the one in use. */
int serve(struct lookup *s, struct tuned *t, cutune_match match, double time_ns, const char *why, struct err *err);
/* Of what won elsewhere, or is a default: not if it is known to fail for this problem. */
int check_failed(const struct lookup *s, const char *variant, const char *json, struct err *err);
/* Whether it asks something of its buffers. */
bool asks_of_buffers(const struct variant *v);

/* The first of a store's defaults that may run here. */
int find_default(struct lookup *s, struct err *err);
/* Which that is, and what it should lose beside a tuned one, by its times on that device. Infinite: no default was ever timed there. */
int loss_of_default(struct lookup *s, const struct known_device *d, const double *distance, double *loss, struct problem_default *out,
                    struct err *err);
/* The same default, where it should lose less than what won there. */
int find_good_default(struct lookup *s, const struct known_device *d, double loss, double time_ns, struct err *err);

/* In one place: what won for another problem, there or on the most similar other device; or a default that should be as good. */
int find_near(struct lookup *s, struct err *err);
/* How far the nearest problem of the same types is that has a kernel to give: the device counts first. */
double nearest_in(struct lookup *s, struct store *place);

#endif
