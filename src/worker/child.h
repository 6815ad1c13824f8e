/* The worker's side: a blocking conversation on file descriptor 3. */
#ifndef WORKER_CHILD_H
#define WORKER_CHILD_H

#include "worker/wire.h"

enum { CHILD_FD = 3 };

struct child {
    struct channel channel;
    struct task task;
    struct cursor next_task; /* of a message F_SETUP */
};

/* Says hello and reads the task. */
int child_start(struct child *c, struct err *err);
int child_send(struct child *c, const struct message *m, struct err *err);
/* The next message, good until the one after it. ERR_IO: the coordinator is gone. F_SETUP: there is another task; nothing of the old one must be
 * in use any more when it is taken. */
int child_next(struct child *c, struct message *m, struct err *err);
int child_take_task(struct child *c, struct err *err);
/* A message of one text, or of nothing. A failure shows in the next send. */
void child_say(struct child *c, enum frame_kind kind, const char *text);
void child_alive(void *child);
void child_end(struct child *c);

/* Each in its own file. ERR_IO: the run is over. */
int compile_worker(struct child *c, struct err *err);
int measure_worker(struct child *c, struct err *err);

/* lock.c. Which lock: of a process there is one. Opens nothing yet. */
void lock_of(const struct devspec *dev);
/* Waits for its turn, with a sign of life now and then: the wait is no candidate's fault. */
void lock_take(struct child *c);
void lock_give(void);

/* "compile" or "measure" */
int worker_main(const char *kind);

#endif
