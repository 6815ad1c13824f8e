#include "space/group.h"
#include "space/space.h"

struct part_walk {
    const struct part *part;
    const int *least, *most;
    const struct space_visitor *visitor;
    int64_t after[MAX_PARAMS + 1]; /* configurations for each tuple of a group */
    struct config c;
};

/* From a node of a group on; `i` is the least index that is left. */
static bool walk_on(struct part_walk *w, int group, int depth, int node, int64_t i)
{
    const struct group *g = &w->part->groups[group];
    if (depth == g->n) {
        if (group + 1 == w->part->ngroups)
            return w->visitor->visit(w->visitor->arg, i, &w->c);
        return walk_on(w, group + 1, 0, w->part->groups[group + 1].root, i);
    }
    int param = g->param[depth];
    const struct group_edge *e = g->edges + g->nodes[node].edge, *end = e + g->nodes[node].nedges;
    bool last = depth + 1 == g->n && group + 1 == w->part->ngroups;
    for (; e < end; e++) {
        if (w->least && (e->value < w->least[param] || e->value > w->most[param]))
            continue;
        w->c.at[param] = e->value;
        int64_t at = i + e->before * w->after[group];
        if (!(last ? w->visitor->visit(w->visitor->arg, at, &w->c) : walk_on(w, group, depth + 1, e->child, at)))
            return false;
    }
    return true;
}

void space_walk(const struct space *s, int variant, const int least[MAX_PARAMS], const int most[MAX_PARAMS],
                const struct space_visitor *visitor)
{
    const struct part *part = &s->parts[variant];
    struct part_walk w = { .part = part, .least = least, .most = most, .visitor = visitor, .c = { .variant = variant } };
    int64_t after = 1;
    for (int g = part->ngroups - 1; g >= 0 && part->count; g--) {
        w.after[g] = after;
        after *= part->groups[g].count;
    }
    if (part->count)
        walk_on(&w, 0, 0, part->groups[0].root, part->first);
}
