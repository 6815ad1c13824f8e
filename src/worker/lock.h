/* The lock of a device: a run holds it while it measures, candidate by candidate, so that two runs take turns.
 *
 * It is a file in /tmp that all users share, whatever their umask and TMPDIR. If it cannot be locked, the coordinator is told why, once,
 * and measuring goes on without. */
#ifndef WORKER_LOCK_H
#define WORKER_LOCK_H

#include "worker/child.h"

/* Which lock: of a process there is one. Opens nothing yet. */
void lock_of(const struct devspec *dev);
/* Waits for its turn, with a sign of life now and then: the wait is no candidate's fault. */
void lock_take(struct child *c);
void lock_give(void);

#endif
