/* A group's diagram while it is built: build.c makes it, levels.c says what is computed and asked at each level. */
#ifndef SPACE_BUILD_H
#define SPACE_BUILD_H

#include "base/mem.h"
#include "space/graph.h"
#include "space/group.h"

/* A check, or a part of one that is joined by `and`. */
struct asking {
    int check;
    int node;  /* that has to be true; -1: plan_check is asked */
    int depth; /* of the graph's node: how many parameters have to have values */
};

/* What is done when so many parameters have values; then the next one gets each of its own. */
struct level {
    int *compute, ncompute;
    struct asking *asked;
    int nasked;
    int *key, nkey; /* nodes that what follows depends on */
    bool distinct;  /* the key tells all ways to come here apart: then nothing is looked up */
    int param, n;   /* the next parameter, and how many values it has */
    /* The key's words: which check could not be evaluated so far, the payloads of the nodes, and a byte for the type of each. */
    uint64_t *words;
    size_t nwords;
    uint64_t *seen; /* the nodes that were found, by their keys */
    int64_t nseen, room;
    int *children; /* of the node that is being made: >= 0 a node, else -1 - the check that removes it */
    double below;  /* points under a node of this level */
};

/* A node that was made: `n` children from `first` on. */
struct made {
    int level;
    int64_t first;
};

struct building {
    struct group *g; /* whose n and params are set */
    const struct checker *with;
    struct err *err;
    struct graph graph;
    struct arena *arena; /* of what levels_set makes */
    int *depth;          /* of each node of the graph */
    int *last;           /* and the depth at which it is used last */
    struct asking *questions;
    int nquestions;
    struct level levels[MAX_PARAMS + 1];
    struct made *made;
    int nmade;
    int64_t made_room;
    int *children; /* of all that were made */
    int64_t nchildren, children_room;
    int *table; /* nodes that were made, by what their children are: nodes + 1 */
    int table_room;
    int64_t bytes;
    int64_t most;        /* values tried: past it the error is TOO_LONG; 0: as many as it takes */
    int64_t steps, look; /* values tried so far; the clock is looked at when they are as many as `look` */
};

/* Sets what the levels have, from the checks of the group. */
int levels_set(struct building *b);

#endif
