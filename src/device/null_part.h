/* What the files of the pretend device share. */
#ifndef DEVICE_NULL_PART_H
#define DEVICE_NULL_PART_H

#include "device/measuring.h"

enum { NULL_DEVICES = 2 };
extern const struct backend null_backend;
extern const struct backend_measuring null_measuring;
extern const struct backend_compiling null_compiling;

void null_describe(int index, struct devspec *out);
/* How many launches in contexts of applications the pretend devices of this process took so far: for tests. */
uint64_t null_launches(void);

/* null_told.c: what the source of a kernel tells the device to do. */

/* Whether a source says `//null: WORD`, and if it says when, that it is time. */
bool null_says(const char *source, const char *word);
/* ERR_UNSUPPORTED if the source asks for a launch-error. */
int null_launch_check(const char *source, struct err *err);

/* What launches made of a device. */
struct null_told {
    bool hang, crash, sticky; /* what waits for the next sync, */
    int64_t delay_ms;         /* likewise */
    bool wrong;               /* what was written last: checks find a difference */
    bool lost;
    int64_t counted; /* launches of sources that say after= */
    double clock_ns; /* the sum of all work so far */
};
/* A launch; first: the first buffer, of 8 bytes at least. */
int null_told_launch(struct null_told *t, const char *source, const char *name, const struct guest_launch *l, void *first,
                     struct err *err);
/* Waits, or does what else was told. */
void null_told_sync(struct null_told *t);
int null_lost(const struct null_told *t, struct err *err); /* ERR_DEVICE if it is */

/* null.c: a guest on the device of ours that was told so much. */
int null_open_own(int index, struct null_told *told, struct guest **out, struct err *err);

/* A program is this and its source. */
extern const char null_magic[8];

#endif
