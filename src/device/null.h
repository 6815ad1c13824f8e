/* The pretend device: see null.c, and null_measure.c for one to measure on. */
#ifndef DEVICE_NULL_H
#define DEVICE_NULL_H

#include "device/measuring.h"

extern const struct backend null_backend;

/* An application's context, or our own. */
struct null_context {
    struct guest g; /* its lock is also that of what follows */
    /* What launches made of it. */
    bool hang, crash, sticky; /* what waits for the next sync, */
    int64_t delay_ms;         /* likewise */
    bool wrong;               /* what was written last: checks find a difference */
    bool lost;
    int64_t counted; /* launches of sources that say after= */
    int64_t throttle, throttled; /* what the last one says, and how often the device has said so */
    double clock_ns; /* the sum of all work so far */
    double joules;   /* that it took, */
    double counter;  /* and what its counter says, which moves every COUNTER_NS */
    double moved_ns;
    /* Of a device of ours: */
    int64_t taken; /* bytes of all buffers */
    double spans[MAX_SPANS][2];
};

extern const struct backend_measuring null_measuring;
enum { NULL_IDLE_WATTS = 100 };
void null_spend(struct null_context *t, double ns, double watts); /* so much time passes, at this power */
int null_lost(const struct null_context *t, struct err *err);     /* ERR_DEVICE if the context is lost */

/* How many launches the pretend devices of this process took so far: for tests. */
uint64_t null_launches(void);
/* Texture objects that they have, and what makes them. */
uint64_t null_textures(void);
int null_texture(struct guest *g, const struct texture *t, void *at, struct guest_object *out, struct err *err);
void null_texture_free(struct guest *g, const struct guest_object *o);
int null_texture_fill(struct guest *g, const struct texture *t, void *array, void *from, void *stream, struct err *err);
/* The last scalar that a launch of this thread was given, of at most 16 bytes; returns how many. */
int null_scalar(void *out);

#endif
