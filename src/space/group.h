/* A group: parameters that checks tie together, and their valid tuples as a decision diagram. A node of it stands for all ways to begin a
 * tuple after which the same values may follow; its edges are the values of the next parameter that some valid tuple has. As nodes are
 * shared, a group of 10^12 tuples may take a few thousand of them. One group of each variant has no parameters: its checks read none, and
 * decide for the whole variant. Private to this folder. */
#ifndef SPACE_GROUP_H
#define SPACE_GROUP_H

#include "child/child.h"
#include "model/plan.h"

struct group_edge {
    int64_t before; /* tuples through the node's edges before this one */
    int child;
    uint16_t value; /* its index */
};

struct group_node {
    int64_t count; /* tuples from here on */
    int edge, nedges;
};

struct group {
    int n;                 /* parameters */
    int param[MAX_PARAMS]; /* ascending: so tuples are in the order of the script; but see group_build */
    double cartesian;      /* points before any check */
    double weight;         /* what a point counts among those that are removed */
    int64_t count;         /* valid tuples */
    int nnodes, nedges;
    int root; /* node 0 is the end of every tuple */
    struct group_node *nodes;
    struct group_edge *edges; /* both mem_free, by group_free */
};

/* A variant's configurations: the product of its groups. */
struct part {
    struct plan *plan;
    int ngroups;
    struct group *groups;
    int64_t first, count; /* its configurations' indices */
    double cartesian;
};

/* What a variant is checked with. The slots of its parameters are written to. */
struct checker {
    const struct variant *variant;
    const struct plan *plan;
    const struct devspec *dev;
    struct val *slots;
    int64_t max_bytes; /* that building a group takes */
    struct patience patience;
};

static const int64_t GROUP_MOST = (int64_t)1 << 62; /* tuples */

/* build.c: finds the valid tuples, and adds to removed[check] the weight of the points that each check removes. A check that cannot be
 * evaluated is an error only if no other check of the group removes the point: `TILE % ROWS == 0` may stand beside
 * `ROWS > 0`. ERR_TIMEOUT when the patience ends. A group that takes long in the order of the script is built in a better one, if there is
 * any: its parameters, and so its tuples, then have another order. */
int group_build(struct group *g, const struct checker *with, double *removed, struct err *err);
/* order.c: puts the parameters into an order that promises a smaller diagram; false: there is none. */
bool group_reorder(struct group *g, const struct checker *with);
/* The group of these tuples, which are in order, each of them once. */
int group_list(struct group *g, const uint16_t *tuples, int64_t count, struct err *err);
void group_free(struct group *g);

void group_at(const struct group *g, int64_t i, uint16_t at[MAX_PARAMS]);
int64_t group_find(const struct group *g, const uint16_t at[MAX_PARAMS]); /* -1 if it is not valid */
void group_near(const struct group *g, uint16_t at[MAX_PARAMS]);          /* moves to a valid tuple; there is one */

#endif
