/* A group: parameters that checks tie together, with the list of their valid values. One group of each variant has no parameters: its
 * checks read none, and decide for the whole variant. Private to this folder. */
#ifndef SPACE_GROUP_H
#define SPACE_GROUP_H

#include "child/child.h"
#include "model/plan.h"

struct group {
    int n;                 /* parameters */
    int param[MAX_PARAMS]; /* ascending */
    double cartesian;      /* points before any check */
    double weight;         /* what a point counts among those that are removed */
    int64_t count;         /* valid tuples */
    uint16_t *tuples;      /* count * n indices of values, in ascending order; mem_free */
};

/* What a variant is checked with. The slots of its parameters are written to. */
struct checker {
    const struct variant *variant;
    const struct plan *plan;
    const struct devspec *dev;
    struct val *slots;
    int64_t max_bytes; /* of a group's tuples */
    struct patience patience;
};

/* Fills in count and tuples, and adds to removed[check] the weight of the points that each check removes. A check that cannot be
 * evaluated is an error only if no other check of the group removes the point: `TILE % ROWS == 0` may stand beside
 * `ROWS > 0`. ERR_TIMEOUT when the patience ends. */
int group_list(struct group *g, const struct checker *with, double *removed, struct err *err);

void group_at(const struct group *g, int64_t i, uint16_t at[MAX_PARAMS]);
int64_t group_find(const struct group *g, const uint16_t at[MAX_PARAMS]); /* -1 if it is not valid */
void group_near(const struct group *g, uint16_t at[MAX_PARAMS]);          /* moves to a valid tuple; there is one */

#endif
