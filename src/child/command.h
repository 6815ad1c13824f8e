/* A program of the user's, run to its end in a process group of its own. */
#ifndef CHILD_COMMAND_H
#define CHILD_COMMAND_H

#include "base/err.h"

struct command_line {
    const char *const *argv;  /* ends with null; found in $PATH */
    double seconds;           /* that it may take */
    void (*alive)(void *arg); /* called now and then meanwhile; may be null */
    void *arg;
};

/* Waits for it. It reads nothing, and what it prints is kept for a message. When it has ended, or its time is over, or this process dies, its
 * whole group is killed, and what left that (where there is a /proc). ERR_TIMEOUT; ERR_INVALID if it did not end with 0: the message has the last line that it printed. */
int command_run(const struct command_line *c, struct err *err);

#endif
