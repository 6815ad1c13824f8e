/* The worker's side: a blocking conversation on file descriptor 3. */
#ifndef WORKER_CHILD_H
#define WORKER_CHILD_H

#include "worker/wire.h"

enum { CHILD_FD = 3 };

struct child {
    struct buf in, out;
    size_t used; /* bytes of `in` that frames already took */
    struct task task;
};

/* Says hello and reads the task. */
int child_start(struct child *c, struct err *err);
/* The next frame; its body is good until the next call. ERR_IO when the coordinator is gone. */
int child_next(struct child *c, enum frame_kind *kind, struct cursor *body, struct err *err);
/* Sends what frame_begin and frame_end put into c->out, and clears it. */
int child_send(struct child *c, struct err *err);
void child_alive(void *child); /* F_ALIVE; a failure shows in the next send */
void child_failed(struct child *c, const struct err *why);
void child_end(struct child *c);

/* One file a kind of worker. Each returns an exit code. */
int compile_worker(struct child *c);
int measure_worker(struct child *c);

/* "compile" or "measure" */
int worker_main(const char *kind);

#endif
