/* Workers, the coordinator's side: a child process of the same binary under libuv, as frames that come and frames that go.
 *
 * Because a worker is only a byte stream, nothing here knows what a kernel is. All calls are made from the loop's thread, with SIGPIPE
 * ignored: a worker may end while it is written to. */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include <uv.h>

#include "worker/wire.h"

struct worker;

struct worker_events {
    void (*frame)(void *arg, struct worker *w, enum frame_kind kind, struct cursor *body);
    /* Once, last: the process is gone and has been waited for; the worker is freed after the call. `why` says how, for a person. */
    void (*gone)(void *arg, struct worker *w, bool deadline, const char *why);
};

/* Starts `program worker KIND`. A child that never says a whole frame is the deadline's business. */
int worker_start(uv_loop_t *loop, const char *program, const char *kind, const struct worker_events *events, void *arg,
                 struct worker **out, struct err *err);

/* Sends frames, which it takes over. A child that no longer reads shows as `gone`. */
void worker_send(struct worker *w, struct buf *frames);

/* From now on the worker has so long to speak; past it, it is killed. 0: as long as it likes. Each frame that comes ends it.
 * Time in which the loop did not run is not counted. */
void worker_deadline(struct worker *w, int64_t ms);
void worker_kill(struct worker *w);
/* Within `gone`: whether its end was somebody else's doing, so that it says nothing of what it was at: killed or stopped from outside, or
 * out of the processor time that it may have. */
bool worker_struck(const struct worker *w);
/* What it said makes no sense: it is killed, and `gone` says so. */
void worker_garbage(struct worker *w);

#endif
