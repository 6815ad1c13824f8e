/* What another tuner tried on recorded spaces, for the same score: a JSON file, a list of
 *   { "strategy": "name", "table": 0, "runs": [ [ [16, 1, true], ... ], ... ] }
 * table: which of the tables, from 0; a run is the list of configurations in the order in which they were tried, each the list of its values
 * in the order of the table's parameters. The table must have one variant. */
#ifndef REPLAY_PLAYED_H
#define REPLAY_PLAYED_H

#include "replay/score.h"

struct played {
    char *strategy;
    int table, nruns;
    struct tries *runs;
};

int played_read(const char *path, const struct tables *tables, struct played **out, int *n, struct err *err);
void played_free(struct played *p, int n);

#endif
