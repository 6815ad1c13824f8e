/* A reference outside of cutune: a command or a shared library of the user's, given on the command line of a run. */
#ifndef MEASURE_OUTSIDE_H
#define MEASURE_OUTSIDE_H

#include <stdbool.h>

#include "base/err.h"

/* What a worker needs to run it. All are null and 0 without one. */
struct outside {
    const char *command; /* for the shell; or the path of a shared library */
    const char *folder;  /* of this run: what it gave in one worker, the next takes from there */
    const char *program; /* cutune's, which calls libraries in a process of its own */
    double seconds;      /* that it may take for one set of inputs */
};

extern const char *const outside_kinds[];       /* of arguments, as references are told them: by enum arg_kind */
bool outside_is_library(const char *reference); /* or else it is a command */

/* That process: calls cutune_reference of the library for the inputs in the folder. Returns an exit code; what is wrong goes to stderr. */
int outside_library(const char *folder, const char *library);

#endif
