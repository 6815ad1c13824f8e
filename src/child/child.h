/* A forked child, for what must not run in this process: a user's script, template or strategy. It has this process's memory by
 * copy-on-write, the standard files and its end of a channel; it is killed when its parent dies. Fork before other threads start. */
#ifndef CHILD_CHILD_H
#define CHILD_CHILD_H

#include <sys/types.h>

#include "child/channel.h"

struct forked {
    struct channel channel;
    const char *who; /* what messages of it begin with; may be null */
    pid_t pid;       /* 0: waited for, or there never was a process */
    bool ended;
    int status; /* how it ended */
    int cpu_s;  /* the processor time that it may use */
};

/* Forks a child, which calls live(channel, arg) and ends when that returns. */
int forked_start(int cpu_s, void (*live)(struct channel *c, void *arg), void *arg, struct forked *out, struct err *err);
void forked_close(struct forked *f); /* kills it */

/* As those of the channel, and if the child says that it has failed, forked_next gives that error, without `who`. Past a failure the child
 * is dead; a message says how it ended. */
int forked_send(struct forked *f, const struct patience *p, struct err *err);
int forked_next(struct forked *f, const struct patience *p, struct frame *out, struct err *err);
/* It is dead, or its end of the channel is closed: ends it, and says how it ended. */
int forked_gone(struct forked *f, struct err *err);
/* The same for a child whose answer makes no sense: ERR_CORRUPT. */
int forked_broken(struct forked *f, struct err *err);

/* How a child says that it has failed, in place of all that is in `out`: i64 code, text. Other kinds of frames are for its user. */
enum { FRAME_FAILED = 1 };
void failed_put(struct buf *out, const struct err *why);

/* Runs work(arg, ...) in a child, and appends its answer to `answer`, or gives its error. */
int child_run(int cpu_s, double seconds, int (*work)(void *arg, struct buf *answer, struct err *err), void *arg, struct buf *answer,
              struct err *err);

#endif
