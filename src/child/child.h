/* A forked child, for what must not run in this process: a user's script, template or strategy. And frames over a stream socket between two
 * processes, one of which is not trusted: a frame is a length (u32, of what follows), a kind (u8) and a body in base/buf.h's wire form.
 * Whoever receives one checks all of it: what is no frame comes from a broken process. */
#ifndef CHILD_CHILD_H
#define CHILD_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { FRAME_MAX = 256 << 20 };

struct frame {
    int kind;
    struct cursor body;
    size_t bytes; /* all of the frame; 0: it has not come in whole */
};

/* Frames are written by filling a buf between these two. */
size_t frame_begin(struct buf *out, int kind);
void frame_end(struct buf *out, size_t begin);

/* The first frame of len bytes. ERR_CORRUPT: this is no frame. */
int frame_take(const char *data, size_t len, struct frame *out, struct err *err);

struct channel {
    int fd;
    struct buf in, out;
    size_t used; /* bytes of `in` that frames already took */
};

/* How long something may take, from the call of patience_of on. */
struct patience {
    double seconds;
    int64_t until;                     /* on clock_ns */
    const volatile sig_atomic_t *stop; /* ends it, too, when set; may be null */
};
struct patience patience_of(double seconds, const volatile sig_atomic_t *stop);

/* Sends what is in `out`, and clears it; receives the next frame, whose body is good until the next call. Without patience they wait
 * for ever. ERR_IO: the other side is gone; ERR_TIMEOUT; ERR_CORRUPT; ERR_NOMEM. */
int channel_send(struct channel *c, const struct patience *p, struct err *err);
int channel_next(struct channel *c, const struct patience *p, struct frame *out, struct err *err);
void channel_close(struct channel *c);

/* -- a child: it has this process's memory by copy-on-write, the standard files and its end of a channel, and is killed when its parent
 * dies. Fork before other threads start. -- */

struct forked {
    struct channel channel;
    const char *who; /* what messages of it begin with; may be null */
    pid_t pid;       /* 0: waited for, or there never was a process */
    int status;      /* how it ended */
    int cpu_s;       /* the processor time that it may use */
};

/* Forks a child, which calls live(channel, arg, err) and ends when that returns. An error is sent in a last frame: i64 code, text. Other kinds
 * of frames are for the child's user. */
enum { FRAME_FAILED = 1 };
int forked_start(int cpu_s, int (*live)(struct channel *c, void *arg, struct err *err), void *arg, struct forked *out,
                 struct err *err);
void forked_close(struct forked *f); /* kills it */

/* Ends a child that failed so. ERR_IO: it is dead, or its end of the channel is closed; ERR_CORRUPT: its answer makes no sense; others: err
 * says it already. Returns the code, with a message that says how it ended. */
int forked_failed(struct forked *f, int rc, struct err *err);
/* channel_next, whose failure is the child's; and if the child says that it has failed, its error, without `who`. The child is then dead. */
int forked_next(struct forked *f, const struct patience *p, struct frame *out, struct err *err);

/* Runs work(arg, ...) in a child, and appends its answer to `answer`, or gives its error. */
int child_run(int cpu_s, double seconds, int (*work)(void *arg, struct buf *answer, struct err *err), void *arg, struct buf *answer,
              struct err *err);

#endif
