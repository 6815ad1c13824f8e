#include "space/graph.h"

#include <string.h>

#include "base/mem.h"

static const struct val cannot = { .type = VAL_NIL };

static uint64_t payload(struct val v)
{
    uint64_t bits = 0;
    if (v.type == VAL_BOOL)
        bits = v.b;
    else if (v.type != VAL_NIL)
        memcpy(&bits, &v.i, sizeof bits);
    return bits;
}

static uint64_t hash_of(struct graph_node n, struct val v)
{
    uint64_t h = ((uint64_t)(unsigned)n.x << 32 | (unsigned)n.y) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h = (h + (uint64_t)(n.op * 4 + n.place) + payload(v)) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

static bool more_room(struct graph *g)
{
    int room = g->room ? 2 * g->room : 256;
    struct graph_node *nodes = mem_resize(g->nodes, (size_t)room / 2, sizeof *nodes);
    g->nodes = nodes ?: g->nodes;
    struct val *vals = nodes ? mem_resize(g->vals, (size_t)room / 2, sizeof *vals) : NULL;
    g->vals = vals ?: g->vals;
    int *table = vals ? mem_array((size_t)room, sizeof *table) : NULL;
    if (!table)
        return false;
    mem_free(g->table);
    g->table = table;
    g->room = room;
    for (int i = 0; i < g->n; i++) {
        bool constant = g->nodes[i].place == IN_CONST;
        size_t at = hash_of(g->nodes[i], constant ? g->vals[i] : cannot) & (size_t)(room - 1);
        while (table[at])
            at = (at + 1) & (size_t)(room - 1);
        table[at] = i + 1;
    }
    return true;
}

/* The node that is like this one; -1 without memory. v: of a constant. */
static int node_of(struct graph *g, struct graph_node like, struct val v)
{
    if (g->n == g->room / 2 && !more_room(g))
        return -1;
    size_t at = hash_of(like, v) & (size_t)(g->room - 1);
    for (; g->table[at]; at = (at + 1) & (size_t)(g->room - 1)) {
        int i = g->table[at] - 1;
        const struct graph_node *n = &g->nodes[i];
        if (n->op == like.op && n->place == like.place && n->x == like.x && n->y == like.y &&
            (n->place != IN_CONST || (g->vals[i].type == v.type && payload(g->vals[i]) == payload(v))))
            return i;
    }
    g->nodes[g->n] = like;
    g->vals[g->n] = v;
    g->table[at] = g->n + 1;
    return g->n++;
}

struct conversion {
    struct graph *g;
    const struct expr *e;
    int temps[MAX_TEMPS];
    bool failed;
};

static int operand(struct conversion *c, int place, int at)
{
    if (place == IN_TEMP)
        return c->temps[at];
    struct graph_node leaf = { .place = (uint8_t)place, .x = place == IN_SLOT ? at : 0 };
    int node = node_of(c->g, leaf, place == IN_CONST ? c->e->consts[at] : cannot);
    c->failed = c->failed || node < 0;
    return node < 0 ? 0 : node;
}

/* Code is a sequence but for jumps over the right sides of `and` and `or`: those are converted first, and then combined with the left
 * side. Returns the node of the OP_RETURN, or of whatever came last. */
static int convert(struct conversion *c, int from, int to)
{
    int last = 0;
    for (int i = from; i < to && !c->failed; i++) {
        const struct instr *in = &c->e->code[i];
        int x = operand(c, in->x_in, in->x);
        if (in->op == OP_RETURN)
            return x;
        int y = in->x_in == in->y_in && in->x == in->y ? x : operand(c, in->y_in, in->y);
        if (in->op == OP_AND || in->op == OP_OR || in->op == OP_OR_ANY) {
            convert(c, i + 1, in->to);
            y = c->temps[in->dst];
            i = in->to - 1;
        }
        struct graph_node n = { .op = in->op, .place = IN_TEMP, .x = x, .y = y };
        last = in->op == OP_MOVE ? x : node_of(c->g, n, cannot);
        c->failed = c->failed || last < 0;
        c->temps[in->dst] = last;
    }
    return last;
}

int graph_add(struct graph *g, const struct expr *e, int *root, struct err *err)
{
    struct conversion c = { .g = g, .e = e };
    *root = convert(&c, 0, MAX_TEXT + 1); /* it ends at its OP_RETURN */
    return c.failed ? err_nomem(err) : 0;
}

int graph_add_slot(struct graph *g, int slot, int *node, struct err *err)
{
    *node = node_of(g, (struct graph_node){ .place = IN_SLOT, .x = slot }, cannot);
    return *node < 0 ? err_nomem(err) : 0;
}

void graph_free(struct graph *g)
{
    mem_free(g->nodes);
    mem_free(g->vals);
    mem_free(g->table);
}

void graph_compute(struct graph *g, int node)
{
    const struct graph_node *n = &g->nodes[node];
    struct val *out = &g->vals[node];
    if (n->place != IN_TEMP) {
        *out = n->place == IN_SLOT ? g->slots[n->x] : *out;
        return;
    }
    const struct val *x = &g->vals[n->x], *y = &g->vals[n->y];
    if (operate_quickly((enum opcode)n->op, x, y, out))
        return;
    switch ((enum opcode)n->op) {
    case OP_AND:
    case OP_OR:
        *out = x->type != VAL_BOOL ? cannot : x->b == (n->op == OP_OR) ? *x : *y;
        break;
    case OP_OR_ANY:
        *out = x->type != VAL_BOOL || x->b ? *x : *y;
        break;
    case OP_BOOL:
        *out = x->type == VAL_BOOL ? *x : cannot;
        break;
    default:
        if (x->type == VAL_NIL || y->type == VAL_NIL || operate((enum opcode)n->op, x, y, out))
            *out = cannot;
    }
}
