/* What the files of the pretend device share. */
#ifndef DEVICE_NULL_PART_H
#define DEVICE_NULL_PART_H

#include "device/measuring.h"

enum { NULL_DEVICES = 2 };
extern const struct backend null_backend;
extern const struct backend_measuring null_measuring;
extern const struct backend_compiling null_compiling;

/* A program is this and its source. */
#define NULL_MAGIC "cutuneN\n"

void null_describe(int index, struct devspec *out);
/* How many launches the pretend devices of this process took so far: for tests. */
uint64_t null_launches(void);

/* What launches made of a device: null_told.c. */
struct null_told {
    bool hang, crash, sticky; /* what waits for the next sync, */
    int64_t delay_ms;         /* likewise */
    bool wrong;               /* what was written last: checks find a difference */
    bool lost;
    int64_t counted; /* launches of sources that say after= */
    double clock_ns; /* the sum of all work so far */
};

/* An application's context, or our own. */
struct null_context {
    struct guest g; /* its lock is also that of what was told */
    struct null_told told;
};

/* Whether a source says `//null: WORD`, and if it says when, that it is time. */
bool null_says(const char *source, const char *word);
/* A launch; first: the first buffer, of 8 bytes at least, or null. */
int null_told_launch(struct null_told *t, const char *source, const char *name, const struct guest_launch *l, void *first,
                     struct err *err);
/* Waits, or does what else was told. */
int null_told_sync(struct null_told *t, struct err *err);
int null_lost(const struct null_told *t, struct err *err); /* ERR_DEVICE if it is */

#endif
