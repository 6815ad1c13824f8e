/* What is computed and asked at each level of a diagram. A node of the graph is computed when all that it reads has values; a check is asked
 * then, too; and what a later level reads is a part of the key. */
#include "space/build.h"

static int add_question(struct building *b, struct asking q)
{
    if (!mem_grow((void **)&b->questions, b->nquestions, sizeof *b->questions))
        return err_nomem(b->err);
    b->questions[b->nquestions++] = q;
    return 0;
}

/* What is joined by `and` becomes questions of its own, which may be asked earlier. */
static int add_conjuncts(struct building *b, int check, int node)
{
    int rc = 0;
    for (; !rc; node = b->graph.nodes[node].x) {
        const struct graph_node *n = &b->graph.nodes[node];
        if (n->place != IN_TEMP || (n->op != OP_AND && n->op != OP_BOOL))
            return add_question(b, (struct asking){ check, node, 0 });
        if (n->op == OP_AND)
            rc = add_conjuncts(b, check, n->y);
    }
    return rc;
}

/* A check that is no expression is asked when all that it reads has values; till then they are remembered, or what it computes of them. */
static int add_check(struct building *b, int check)
{
    const struct plan *plan = b->with->plan;
    bool plain;
    const struct expr *e = plan_check_expr(plan, check, 0, &plain);
    int nslots, node, rc = 0, depth = 0;
    const int *slots = plan_check_slots(plan, check, &nslots);
    for (int i = 0; i < nslots; i++)
        for (int d = 0; d < b->g->n; d++)
            depth = slots[i] == b->g->param[d] && depth <= d ? d + 1 : depth;
    if (e && plain)
        return graph_add(&b->graph, e, &node, b->err) ?: add_conjuncts(b, check, node);
    rc = add_question(b, (struct asking){ check, -1, depth });
    for (int k = 0; !rc && e; e = plan_check_expr(plan, check, ++k, &plain))
        rc = graph_add(&b->graph, e, &node, b->err) ?: add_question(b, (struct asking){ -1, node, depth });
    for (int i = 0; !rc && i < nslots && !plan_check_expr(plan, check, 0, &plain); i++)
        if (slots[i] < b->with->variant->nparams)
            rc = graph_add_slot(&b->graph, slots[i], &node, b->err) ?: add_question(b, (struct asking){ -1, node, depth });
    return rc;
}

/* Whether the check is one of this group's: the group without parameters has those that read none. */
static bool own_check(const struct building *b, int check)
{
    int n;
    const int *slots = plan_check_slots(b->with->plan, check, &n);
    for (int d = 0; n && d < b->g->n; d++)
        if (slots[0] == b->g->param[d])
            return true; /* the first parameter that it reads; all others are of the same group */
    return !b->g->n && (!n || slots[0] >= b->with->variant->nparams);
}

/* Each node's depth, and the depth of its last use; -1: it has none. */
static int measure(struct building *b)
{
    const struct graph *graph = &b->graph;
    int n = graph->n;
    b->depth = arena_array(b->arena, (size_t)n, sizeof *b->depth);
    b->last = arena_array(b->arena, (size_t)n, sizeof *b->last);
    if (!b->depth || !b->last)
        return err_nomem(b->err);
    for (int i = 0; i < n; i++) {
        const struct graph_node *node = &graph->nodes[i];
        b->last[i] = -1;
        for (int d = 0; node->place == IN_SLOT && d < b->g->n; d++)
            b->depth[i] = node->x == b->g->param[d] ? d + 1 : b->depth[i];
        if (node->place == IN_TEMP)
            b->depth[i] = b->depth[node->x] > b->depth[node->y] ? b->depth[node->x] : b->depth[node->y];
    }
    for (int i = 0; i < b->nquestions; i++) {
        struct asking *q = &b->questions[i];
        if (q->node < 0)
            continue;
        if (q->check >= 0)
            q->depth = b->depth[q->node];
        b->last[q->node] = q->depth > b->last[q->node] ? q->depth : b->last[q->node];
    }
    for (int i = n - 1; i >= 0; i--) {
        const struct graph_node *node = &graph->nodes[i];
        const int of[] = { node->x, node->y };
        for (int k = 0; k < 2 && node->place == IN_TEMP && b->last[i] >= 0; k++)
            b->last[of[k]] = b->depth[i] > b->last[of[k]] ? b->depth[i] : b->last[of[k]];
    }
    return 0;
}

static int set_level(struct building *b, int depth)
{
    struct level *l = &b->levels[depth];
    int n = b->graph.n, slots = 0, before = 0;
    l->compute = arena_array(b->arena, (size_t)n, sizeof *l->compute);
    l->key = arena_array(b->arena, (size_t)n, sizeof *l->key);
    l->asked = arena_array(b->arena, (size_t)b->nquestions, sizeof *l->asked);
    if (!l->compute || !l->key || !l->asked)
        return err_nomem(b->err);
    for (int i = 0; i < n; i++) {
        if (b->last[i] >= 0 && b->depth[i] == depth)
            l->compute[l->ncompute++] = i;
        if (b->depth[i] > 0 && b->depth[i] <= depth && b->last[i] > depth) {
            l->key[l->nkey++] = i;
            slots += b->graph.nodes[i].place == IN_SLOT;
        }
    }
    for (int i = 0; i < b->nquestions; i++)
        if (b->questions[i].check >= 0 && b->questions[i].depth == depth)
            l->asked[l->nasked++] = b->questions[i];
    for (int d = 0; d < depth; d++)
        before += b->levels[d].n > 1;
    l->distinct = slots >= before;
    l->nwords = (size_t)(1 + l->nkey + (l->nkey + 7) / 8);
    l->words = arena_array(b->arena, l->nwords, sizeof *l->words);
    if (!l->words)
        return err_nomem(b->err);
    if (depth == b->g->n)
        return 0;
    l->param = b->g->param[depth];
    l->n = b->with->variant->params[l->param].n;
    l->children = arena_array(b->arena, (size_t)l->n, sizeof *l->children);
    return l->children ? 0 : err_nomem(b->err);
}

int levels_set(struct building *b)
{
    int rc = 0, n = b->g->n;
    b->graph.slots = b->with->slots;
    b->arena = arena_new();
    for (int c = 0; !rc && c < plan_checks(b->with->plan); c++)
        rc = own_check(b, c) ? add_check(b, c) : 0;
    rc = rc ?: b->arena ? measure(b) : err_nomem(b->err);
    for (int d = 0; !rc && d <= n; d++)
        rc = set_level(b, d);
    b->levels[n].below = b->g->weight;
    for (int d = n - 1; !rc && d >= 0; d--)
        b->levels[d].below = b->levels[d + 1].below * b->levels[d].n;
    return rc;
}
