/* The expressions of a variant's checks as one graph, in which what several of them compute is one node. So parts can be computed as soon as
 * the parameters that they read have values, and what the rest depends on is known: a few nodes. Private to this folder. */
#ifndef SPACE_GRAPH_H
#define SPACE_GRAPH_H

#include "expr/code.h"

struct graph_node {
    uint8_t op;    /* enum opcode */
    uint8_t place; /* enum place; IN_TEMP: it is computed */
    int x, y;      /* nodes, of which both come before it; a slot */
};

struct graph {
    int n;
    struct graph_node *nodes;
    struct val *vals; /* of each node; nil: it cannot be evaluated */
    int *table;       /* nodes by hash */
    int room;         /* of the table, twice that of the nodes */
    const struct val *slots;
};

/* Adds an expression, which must outlive the graph; *root is its node. */
int graph_add(struct graph *g, const struct expr *e, int *root, struct err *err);
int graph_add_slot(struct graph *g, int slot, int *node, struct err *err);
void graph_free(struct graph *g);

/* Computes a node from those that it reads. The value is the one that evaluating the expression gives; but it is computed also where
 * `and` or `or` would leave it out. */
void graph_compute(struct graph *g, int node);

#endif
