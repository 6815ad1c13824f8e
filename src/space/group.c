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

/* -- a group that is given as a list -- */

static int grow(struct group *g, int nodes, int edges, struct err *err)
{
    for (; nodes; nodes--, g->nnodes++)
        if (!mem_grow((void **)&g->nodes, g->nnodes, sizeof *g->nodes))
            return err_nomem(err);
    for (; edges; edges--, g->nedges++)
        if (!mem_grow((void **)&g->edges, g->nedges, sizeof *g->edges))
            return err_nomem(err);
    return 0;
}

/* A node for the tuples from `low` up to `high`, whose first `depth` values are the same. */
static int list_node(struct group *g, const uint16_t *tuples, int64_t low, int64_t high, int depth, int *node, struct err *err)
{
    *node = 0;
    if (depth == g->n)
        return 0;
    int n = 0;
    for (int64_t i = low; i < high; i++)
        n += i == low || tuples[i * g->n + depth] != tuples[(i - 1) * g->n + depth];
    int first = g->nedges, rc = grow(g, 1, n, err);
    if (rc)
        return rc;
    *node = g->nnodes - 1;
    g->nodes[*node] = (struct group_node){ .count = high - low, .edge = first, .nedges = n };
    for (int64_t i = low, next; i < high && !rc; i = next) {
        uint16_t value = tuples[i * g->n + depth];
        int child;
        for (next = i + 1; next < high && tuples[next * g->n + depth] == value;)
            next++;
        rc = list_node(g, tuples, i, next, depth + 1, &child, err);
        if (!rc)
            g->edges[first++] = (struct group_edge){ .before = i - low, .child = child, .value = value };
    }
    return rc;
}

int group_list(struct group *g, const uint16_t *tuples, int64_t count, struct err *err)
{
    if (count > INT32_MAX / (g->n + 1))
        return err_set(err, ERR_INVALID, "a list of %lld configurations: too many", (long long)count);
    int rc = grow(g, 1, 0, err);
    if (rc)
        return rc;
    g->nodes[0] = (struct group_node){ .count = 1 };
    g->count = count;
    return count ? list_node(g, tuples, 0, count, 0, &g->root, err) : 0;
}
