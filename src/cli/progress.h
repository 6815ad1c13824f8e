/* What a run shows while it goes: one line on stderr, redrawn in place on a terminal; elsewhere nothing until a problem is done. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

#include "tune/tune.h"

struct progress {
    bool quiet, terminal;
    const char *title; /* "OP f32 m=4096,n=4096" */
};
struct progress progress_start(bool quiet);
void progress_show(void *progress, const struct tune_progress *p); /* tune_options' callback */
void progress_note(void *progress, const char *line);              /* the other */
/* The problem is over: clears the line; not on a terminal, says in a line what came of it. Report null: it failed. */
void progress_end(struct progress *progress, const struct tune_report *report);

#endif
