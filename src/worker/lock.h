/* The lock of a device: whoever measures on it holds it, candidate by candidate. */
#ifndef WORKER_LOCK_H
#define WORKER_LOCK_H

#include "worker/child.h"

/* One lock a device: two runs take turns. -1: no lock can be had here, and measuring goes on without. */
int lock_open(const struct devspec *dev);
/* Waits for its turn, with a sign of life now and then: the wait is no candidate's fault. */
void lock_take(struct child *c, int fd);
void lock_give(int fd);
void lock_close(int fd);

#endif
