#include "space/group.h"

#include <stdlib.h>

#include "base/mem.h"

void group_free(struct group *g)
{
    mem_free(g->nodes);
    mem_free(g->edges);
}

/* The last edge of a node that is not past what is looked for: before <= i, or value <= i. Or the first edge. */
static const struct group_edge *edge_at(const struct group *g, const struct group_node *node, int64_t i, bool by_value)
{
    const struct group_edge *e = g->edges + node->edge;
    for (int low = 0, high = node->nedges; high - low > 1;) {
        int middle = (low + high) / 2;
        if ((by_value ? e[middle - low].value : e[middle - low].before) <= i) {
            e += middle - low;
            low = middle;
        } else {
            high = middle;
        }
    }
    return e;
}

void group_at(const struct group *g, int64_t i, uint16_t at[MAX_PARAMS])
{
    const struct group_node *node = &g->nodes[g->root];
    for (int d = 0; d < g->n; d++) {
        const struct group_edge *e = edge_at(g, node, i, false);
        at[g->param[d]] = e->value;
        i -= e->before;
        node = &g->nodes[e->child];
    }
}

int64_t group_find(const struct group *g, const uint16_t at[MAX_PARAMS])
{
    const struct group_node *node = &g->nodes[g->root];
    int64_t i = 0;
    for (int d = 0; d < g->n; d++) {
        const struct group_edge *e = edge_at(g, node, at[g->param[d]], true);
        if (e->value != at[g->param[d]])
            return -1;
        i += e->before;
        node = &g->nodes[e->child];
    }
    return i;
}

/* Every edge leads to a valid tuple: so each parameter in turn takes the nearest value that it still can have. */
void group_near(const struct group *g, uint16_t at[MAX_PARAMS])
{
    const struct group_node *node = &g->nodes[g->root];
    for (int d = 0; d < g->n; d++) {
        uint16_t *value = &at[g->param[d]];
        const struct group_edge *e = edge_at(g, node, *value, true), *end = g->edges + node->edge + node->nedges;
        if (e + 1 < end && abs(e[1].value - *value) < abs(e->value - *value))
            e++;
        *value = e->value;
        node = &g->nodes[e->child];
    }
}
