/* A process's own affairs: what it inherits, its parent, and memory. */
#ifndef CHILD_PROCESS_H
#define CHILD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For the begin of a program or of a forked child, never for a library. Unblocks all signals and restores SIGCHLD and SIGALRM, whatever
 * the parent blocked or ignored. The kernel drops signals that process 1 does not handle, so as process 1 it handles those that should end
 * it. */
void process_begin(void);

/* For a child that serves a parent. It ignores the signals that a terminal or `kill` sends to the whole group: the parent acts on them.
 * The kernel kills it when its parent dies; and before other processes if the machine runs out of memory, so a child that uses too much
 * does not take the coordinator down. False if the parent is already dead: `fd` shows that, a socket or pipe whose other end only the
 * parent holds. (getppid() would not: the parent may itself be process 1.) */
bool process_serve(int fd);

/* For a program that another one started: the kernel sends it the signal when that one ends, or the thread of it that did. False if `parent`
 * is not the one: it may have ended already. */
bool process_ends_with(pid_t parent, int number);

/* A descriptor for a standard file that is not used: /dev/null, or if there is none, something that can be neither read nor written. -1 if
 * there is nothing. */
int process_null(void);

/* From now on the process may allocate at most so many bytes more; then allocations fail. Not for a process that loads a device's
 * driver, since drivers reserve far more than they use. */
void process_bound_growth(int64_t bytes);

#endif
