/* Builds a group's decision diagram, depth first over its parameters. What may follow the first parameters depends only on what the checks
 * still to be asked will read of them: the values of a few nodes of the graph. The same values have come up before, then so has the node. */
#include <string.h>

#include "base/util.h"
#include "space/build.h"

enum { TOO_LONG = 1 };           /* an error without a message: the order of the script takes long */
enum { STEPS_LONG = 1 << 20 };   /* values tried, which take a part of a second */
enum { STEPS_UNSEEN = 1 << 15 }; /* values, which take a few milliseconds, are tried between two looks at the clock */

/* The check over parameters of the group that have the most combinations: mostly the one that makes it large. */
static const char *widest(const struct building *b)
{
    const char *text = "";
    double most = 0;
    for (int c = 0; c < plan_checks(b->with->plan); c++) {
        int n;
        const int *slots = plan_check_slots(b->with->plan, c, &n);
        double points = 1;
        for (int i = 0; i < n; i++)
            for (int d = 0; d < b->g->n; d++)
                points *= slots[i] == b->g->param[d] ? b->with->variant->params[slots[i]].n : 1;
        text = points > most ? plan_check_text(b->with->plan, c) : text;
        most = points > most ? points : most;
    }
    return text;
}

static int too_large(const struct building *b, int code, double limit, const char *unit)
{
    const struct variant *v = b->with->variant;
    struct buf names = { 0 };
    for (int d = 0; d < b->g->n; d++)
        buf_fmt(&names, "%s%s", d ? ", " : "", v->params[b->g->param[d]].name);
    int rc =
        err_set(b->err, code,
                "variant %s: the parameters %s depend on each other, and counting their values takes more than %.10g %s; fewer "
                "values, or constraints over fewer parameters, would help. Over the most values is `%.200s`",
                v->name, buf_text(&names), limit, unit, widest(b));
    buf_free(&names);
    return rc;
}

static int look_at_clock(struct building *b)
{
    b->look = b->steps + STEPS_UNSEEN;
    if (b->most && b->steps > b->most)
        return TOO_LONG;
    const struct patience *p = &b->with->patience;
    if (p->stop && *p->stop)
        return err_set(b->err, ERR_TIMEOUT, "interrupted while the configurations were counted");
    return clock_ns() > p->until ? too_large(b, ERR_TIMEOUT, p->seconds, "seconds") : 0;
}

/* Room for n more things behind the `used` ones. */
static int room_for(struct building *b, void **p, int64_t used, int64_t n, int64_t *room, size_t bytes)
{
    if (used + n <= *room)
        return 0;
    int64_t want = *room ? 2 * *room : 1024;
    want = want < used + n ? used + n : want;
    b->bytes += (want - *room) * (int64_t)bytes;
    if (b->bytes > b->with->max_bytes)
        return too_large(b, ERR_INVALID, (double)b->with->max_bytes, "bytes");
    void *more = mem_resize(*p, (size_t)want, bytes);
    if (!more)
        return err_nomem(b->err);
    *p = more;
    *room = want;
    return 0;
}

static uint64_t hash_words(const uint64_t *words, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

static void make_key(const struct building *b, struct level *l, int undecided)
{
    memset(l->words, 0, l->nwords * sizeof *l->words);
    l->words[0] = (uint64_t)(undecided + 1);
    for (int i = 0; i < l->nkey; i++) {
        const struct val *v = &b->graph.vals[l->key[i]];
        l->words[1 + i] = v->type == VAL_NIL ? 0 : v->type == VAL_BOOL ? v->b : (uint64_t)v->i;
        l->words[1 + l->nkey + i / 8] |= (uint64_t)v->type << i % 8 * 8;
    }
}

/* The entry of a key in its level's table: the node + 1, then the key; 0 if the key is not there. */
static uint64_t *seen_at(const struct level *l, const uint64_t *words)
{
    for (uint64_t at = hash_words(words, l->nwords);; at++) {
        uint64_t *entry = l->seen + (at & (uint64_t)(l->room - 1)) * (l->nwords + 1);
        if (!*entry || !memcmp(entry + 1, words, l->nwords * sizeof *words))
            return entry;
    }
}

static int note_seen(struct building *b, struct level *l, int node)
{
    size_t size = l->nwords + 1;
    if (2 * l->nseen >= l->room) {
        uint64_t *old = l->seen, *more = NULL;
        int64_t was = l->room, none = 0;
        int rc = room_for(b, (void **)&more, 0, was ? 2 * was : 256, &none, size * sizeof *more);
        if (rc)
            return rc;
        l->seen = more;
        l->room = was ? 2 * was : 256;
        memset(more, 0, (size_t)none * size * sizeof *more);
        for (size_t i = 0; i < (size_t)was * size; i += size)
            if (old[i])
                memcpy(seen_at(l, old + i + 1), old + i, size * sizeof *old);
        mem_free(old);
        b->bytes -= was * (int64_t)(size * sizeof *old);
    }
    uint64_t *entry = seen_at(l, l->words);
    *entry = (uint64_t)node + 1;
    memcpy(entry + 1, l->words, l->nwords * sizeof *entry);
    l->nseen++;
    return 0;
}

/* The place in the table of nodes of the one with these children: of an equal one, or empty. */
static int *made_at(const struct building *b, int level, const int *children)
{
    int n = b->levels[level].n;
    uint64_t h = (uint64_t)level;
    for (int i = 0; i < n; i++) {
        h = (h ^ (uint64_t)(unsigned)children[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    for (;; h++) {
        int *entry = &b->table[h & (uint64_t)(b->table_room - 1)];
        const struct made *m = &b->made[*entry];
        if (!*entry || (m->level == level && !memcmp(b->children + m->first, children, (size_t)n * sizeof *children)))
            return entry;
    }
}

/* The node of a level with the children that were found: an equal one, if there is one. */
static int make(struct building *b, int level, int *node)
{
    struct level *l = &b->levels[level];
    int rc = 0;
    if (2 * b->nmade >= b->table_room) {
        int64_t none = 0, room = b->table_room ? 2 * (int64_t)b->table_room : 1024;
        int *table = NULL;
        rc = room > INT32_MAX ? err_nomem(b->err) : room_for(b, (void **)&table, 0, room, &none, sizeof *table);
        if (rc)
            return rc;
        mem_free(b->table);
        b->bytes -= b->table_room * (int64_t)sizeof *table;
        b->table = memset(table, 0, (size_t)room * sizeof *table);
        b->table_room = (int)room;
        for (int i = 1; i < b->nmade; i++)
            *made_at(b, b->made[i].level, b->children + b->made[i].first) = i;
    }
    int *entry = made_at(b, level, l->children);
    if (!*entry) {
        rc = room_for(b, (void **)&b->made, b->nmade, 1, &b->made_room, sizeof *b->made)
                 ?: room_for(b, (void **)&b->children, b->nchildren, l->n, &b->children_room, sizeof *b->children);
        if (rc)
            return rc;
        b->made[b->nmade] = (struct made){ level, b->nchildren };
        memcpy(b->children + b->nchildren, l->children, (size_t)l->n * sizeof *l->children);
        b->nchildren += l->n;
        *entry = b->nmade++;
    }
    *node = *entry;
    return 0;
}

/* The error for a point that passes every check but one, which cannot be evaluated. */
static int undecidable(const struct building *b, int check)
{
    const struct checker *with = b->with;
    const struct variant *v = with->variant;
    bool holds;
    int rc = plan_check(with->plan, check, with->slots, with->dev, &holds, b->err), n;
    const int *slots = plan_check_slots(with->plan, check, &n);
    struct buf at = { 0 };
    for (int i = 0; i < n && slots[i] < v->nparams; i++) {
        buf_fmt(&at, "%s%s=", i ? "," : "", v->params[slots[i]].name);
        val_print(&at, with->slots[slots[i]]);
    }
    if (at.len)
        err_prefix(b->err, "with %s: ", buf_text(&at));
    buf_free(&at);
    return rc ?: err_set(b->err, ERR_INVALID, "`%s` cannot be evaluated", plan_check_text(with->plan, check));
}

/* Computes and asks what this level has. *fails: the first check that does not hold, or -1; *undecided takes the first that cannot be
 * evaluated. */
static void enter(struct building *b, const struct level *l, int *undecided, int *fails)
{
    *fails = -1;
    for (int i = 0; i < l->ncompute; i++)
        graph_compute(&b->graph, l->compute[i]);
    for (const struct asking *q = l->asked; q < l->asked + l->nasked && *fails < 0; q++) {
        bool holds = false, known = true;
        if (q->node >= 0) {
            known = b->graph.vals[q->node].type == VAL_BOOL;
            holds = known && b->graph.vals[q->node].b;
        } else {
            known = !plan_check(b->with->plan, q->check, b->with->slots, b->with->dev, &holds, NULL);
        }
        if (!known && *undecided < 0)
            *undecided = q->check;
        if (known && !holds)
            *fails = q->check;
    }
}

/* The first `depth` parameters have values. *node: what may follow, or -1 - the check that does not hold. */
static int descend(struct building *b, int depth, int undecided, int *node)
{
    struct level *l = &b->levels[depth];
    int rc = 0, fails;
    enter(b, l, &undecided, &fails);
    *node = fails < 0 ? 0 : -1 - fails;
    if (fails >= 0)
        return 0;
    if (depth == b->g->n)
        return undecided < 0 ? 0 : undecidable(b, undecided);
    if (!l->distinct) {
        make_key(b, l, undecided);
        uint64_t *entry = l->room ? seen_at(l, l->words) : NULL;
        if (entry && *entry) {
            *node = (int)(*entry - 1);
            return 0;
        }
    }
    const struct param *p = &b->with->variant->params[l->param];
    for (int i = 0; i < l->n && !rc; i++) {
        b->with->slots[l->param] = p->values[i];
        rc = descend(b, depth + 1, undecided, &l->children[i]);
        if (!rc && ++b->steps >= b->look)
            rc = look_at_clock(b);
    }
    rc = rc ?: make(b, depth, node);
    return rc || l->distinct ? rc : note_seen(b, l, *node);
}

/* -- what was made, as the group has it -- */

/* Adds up what each check removed: every way to a node counts. */
static int count_removed(const struct building *b, int root, double *removed)
{
    double *ways = mem_array((size_t)b->nmade, sizeof *ways);
    if (!ways)
        return err_nomem(b->err);
    if (root < 0)
        removed[-1 - root] += b->levels[0].below;
    else
        ways[root] = 1;
    for (int i = b->nmade - 1; i > 0; i--) {
        const struct made *m = &b->made[i];
        double below = ways[i] * b->levels[m->level + 1].below;
        for (const int *c = b->children + m->first; c < b->children + m->first + b->levels[m->level].n; c++) {
            if (*c < 0)
                removed[-1 - *c] += below;
            else
                ways[*c] += ways[i];
        }
    }
    mem_free(ways);
    return 0;
}

/* Counts the tuples below each node, in `counts`, and the edges that lead to any. */
static int count_tuples(const struct building *b, int64_t *counts, int64_t *nedges)
{
    counts[0] = 1;
    for (int i = 1; i < b->nmade; i++) {
        const struct made *m = &b->made[i];
        for (const int *c = b->children + m->first; c < b->children + m->first + b->levels[m->level].n; c++) {
            counts[i] += *c < 0 ? 0 : counts[*c]; /* below 2^63 */
            *nedges += *c >= 0 && counts[*c];
            if (counts[i] > GROUP_MOST)
                return err_set(b->err, ERR_INVALID, "variant %s: more than 2^62 valid configurations; fewer values would help",
                               b->with->variant->name);
        }
    }
    return *nedges > INT32_MAX ? err_nomem(b->err) : 0;
}

static int finish(struct building *b, int root, int64_t *counts)
{
    struct group *g = b->g;
    int64_t nedges = 0;
    int rc = count_tuples(b, counts, &nedges);
    if (rc || root < 0 || !counts[root])
        return rc;
    g->nodes = mem_array((size_t)b->nmade, sizeof *g->nodes);
    g->edges = mem_array((size_t)nedges, sizeof *g->edges);
    if (!g->nodes || !g->edges)
        return err_nomem(b->err);
    g->count = counts[root];
    g->nnodes = b->nmade;
    g->nedges = (int)nedges;
    g->root = root;
    struct group_edge *e = g->edges;
    g->nodes[0].count = 1;
    for (int i = 1; i < b->nmade; i++) {
        const struct made *m = &b->made[i];
        struct group_node *node = &g->nodes[i];
        const int *children = b->children + m->first;
        *node = (struct group_node){ .count = counts[i], .edge = (int)(e - g->edges) };
        int64_t before = 0;
        for (int v = 0; v < b->levels[m->level].n; v++) {
            if (children[v] < 0 || !counts[children[v]])
                continue;
            *e++ = (struct group_edge){ .before = before, .child = children[v], .value = (uint16_t)v };
            before += counts[children[v]];
        }
        node->nedges = (int)(e - g->edges) - node->edge;
    }
    return 0;
}

/* most: values to try. */
static int build(struct group *g, const struct checker *with, int64_t most, double *removed, struct err *err)
{
    struct building *b = mem_zalloc(sizeof *b);
    if (!b)
        return err_nomem(err);
    b->g = g;
    b->with = with;
    b->most = most;
    b->err = err;
    int root = 0;
    int rc = levels_set(b) ?: room_for(b, (void **)&b->made, 0, 1, &b->made_room, sizeof *b->made);
    if (!rc) {
        b->made[b->nmade++] = (struct made){ g->n, 0 }; /* the end of every tuple */
        rc = descend(b, 0, -1, &root) ?: count_removed(b, root, removed);
    }
    int64_t *counts = rc ? NULL : mem_array((size_t)b->nmade, sizeof *counts);
    if (!rc)
        rc = counts ? finish(b, root, counts) : err_nomem(err);
    mem_free(counts);
    for (int d = 0; d <= g->n; d++)
        mem_free(b->levels[d].seen);
    graph_free(&b->graph);
    arena_free(b->arena);
    mem_free(b->questions);
    mem_free(b->made);
    mem_free(b->children);
    mem_free(b->table);
    mem_free(b);
    return rc;
}

int group_build(struct group *g, const struct checker *with, double *removed, struct err *err)
{
    int rc = build(g, with, STEPS_LONG, removed, err);
    if (rc != TOO_LONG)
        return rc;
    group_reorder(g, with);
    return build(g, with, 0, removed, err);
}
