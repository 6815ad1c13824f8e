/* Frames over a stream socket between two processes, one of which is not trusted. A frame is a length (u32, of what follows), a kind
 * (u8) and a body in base/buf.h's wire form. Whoever receives one checks all of it: what is no frame comes from a broken process. */
#ifndef CHILD_CHANNEL_H
#define CHILD_CHANNEL_H

#include <signal.h>

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

/* How long to wait for the other side. */
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

#endif
