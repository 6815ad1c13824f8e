/* What a process does about what it inherits, its parent, and memory. */
#ifndef CHILD_PROCESS_H
#define CHILD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* For a program's main, never for a library: what it relies on, whatever its parent had blocked or ignored. No signal is blocked;
 * SIGCHLD and SIGALRM come; and as process 1, for which the kernel drops signals that nobody handles, those that are to end it do. */
void process_begin(void);

/* For a child: those that a terminal or `kill` sends to the whole group are its parent's to act on. */
void process_leave_signals(void);
/* For a child that was forked: those, and all others as a new program has them. */
void process_reset_signals(void);

/* From now on the kernel kills this process when its parent dies. False: it has died already, which shows at fd, a socket or pipe
 * whose other end only the parent holds. (Its pid would not tell: a parent may well be process 1.) */
bool process_tie(int fd);

/* A descriptor for a standard file that nobody is to use: /dev/null, or without one what refuses to be read and written. -1: none. */
int process_null(void);

/* From now on the kernel, out of memory, takes this process before others: one that eats without bound ends itself and not the
 * coordinator. */
void process_expendable(void);

/* From now on it gets so many bytes more than it has at most; then its allocations fail. Not for a process that loads a device's
 * driver: those reserve far more than they use. */
void process_bound_growth(int64_t bytes);

#endif
