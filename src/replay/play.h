/* Strategies played on recorded spaces: each repeat in a child of its own, as in a run, with its own seed. Several at a time. */
#ifndef REPLAY_PLAY_H
#define REPLAY_PLAY_H

#include "replay/score.h"

struct play {
    const char *home, *strategy;
    uint64_t seed;      /* of the first repeat; the next has the next */
    int repeats, cores; /* cores: so many repeats at a time */
    /* 0: one question at a time, each answered before the next. Else as a run with so many compile workers asks: twice as many wait, as
     * many are compiled, one is measured; all of these are asked for before the first is told. */
    int jobs; /* at most MAX_PLAY_JOBS */
};
enum { MAX_PLAY_JOBS = 1024 };

/* Goes on until the space is exhausted, the strategy is done, or the seconds have passed. `out` is for
 * `repeats` of them, to be freed by tries_free. */
int play(const struct recorded_space *t, const struct play *how, double seconds, struct tries *out, struct err *err);
void tries_free(struct tries *t, int n);

#endif
