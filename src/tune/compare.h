/* One comparison: a measuring worker times kernels beside peers. A player that takes it down costs itself only. */
#ifndef TUNE_COMPARE_H
#define TUNE_COMPARE_H

#include "worker/wire.h"

/* out: n results, as bench_compare has them; result_free them after a failure, too. Players that were not ok in the end may have been timed
 * with those that were. program: as in struct tune_options; note: a line for a person, may be null. */
int tune_compare(const struct task *task, const char *program, const struct bench_candidate *players, int n, int rounds,
                 struct result *out, void (*note)(void *arg, const char *line), void *arg, struct err *err);

#endif
