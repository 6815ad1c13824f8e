#include "space/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "space/group.h"

static const int64_t MAX_BYTES = (int64_t)1 << 30; /* that building a group takes */

/* Parameters that a check reads together are in one group. The first group has no parameters. */
static int make_groups(struct space *s, struct part *part, const struct variant *v, struct err *err)
{
    int root[MAX_PARAMS], of[MAX_PARAMS]; /* the first parameter of each one's group; and the group */
    for (int p = 0; p < v->nparams; p++)
        root[p] = p;
    for (int c = 0, n; c < plan_checks(part->plan); c++) {
        const int *slots = plan_check_slots(part->plan, c, &n);
        for (int i = 1; i < n && slots[i] < v->nparams; i++) {
            int a = root[slots[0]], b = root[slots[i]];
            for (int p = 0; p < v->nparams; p++)
                if (root[p] == a || root[p] == b)
                    root[p] = a < b ? a : b;
        }
    }
    part->groups = arena_array(s->arena, (size_t)v->nparams + 1, sizeof *part->groups);
    if (!part->groups)
        return err_nomem(err);
    part->cartesian = part->groups[part->ngroups++].cartesian = 1;
    for (int p = 0; p < v->nparams; p++) {
        of[p] = root[p] == p ? part->ngroups++ : of[root[p]];
        struct group *g = &part->groups[of[p]];
        g->cartesian = v->params[p].n * (g->n ? g->cartesian : 1);
        g->param[g->n++] = p;
        part->cartesian *= v->params[p].n;
    }
    return 0;
}

/* Builds the groups one after the other. A point of a group stands for as many of the variant: the valid points of the groups before it times
 * all points of those after it. So removals and valid points sum to the cartesian product. */
static int build_groups(struct part *part, const struct checker *with, double *removed, struct err *err)
{
    double after = part->cartesian;
    part->count = 1;
    for (int i = 0; i < part->ngroups && part->count; i++) {
        struct group *g = &part->groups[i];
        after /= g->cartesian;
        g->weight = (double)part->count * after;
        int rc = group_build(g, with, removed, err);
        if (rc)
            return rc;
        if (__builtin_mul_overflow(part->count, g->count, &part->count) || part->count > GROUP_MOST)
            return err_set(err, ERR_INVALID, "variant %s: more than 2^62 valid configurations; fewer values would help",
                           with->variant->name);
    }
    return 0;
}

/* A check, and how many points those with its text removed. */
struct named_check {
    const char *text;
    int check;
    double count;
};

static int by_text(const void *a, const void *b)
{
    const struct named_check *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->check - y->check;
}

static int by_check(const void *a, const void *b)
{
    return ((const struct named_check *)a)->check - ((const struct named_check *)b)->check;
}

/* Makes one entry for each text, since the same limit of several launches has the same text. Those that removed something come before all
 * others; else the order stays. */
static int note_removals(struct space *s, const struct variant *v, const struct plan *plan, const double *removed, struct err *err)
{
    int nchecks = plan_checks(plan), n = 0;
    struct removal *all = mem_resize(s->removals, (size_t)(s->nremovals + nchecks), sizeof *all);
    s->removals = all ? all : s->removals;
    struct named_check *named = all ? mem_array((size_t)nchecks, sizeof *named) : NULL;
    if (!named)
        return err_nomem(err);
    for (int c = 0; c < nchecks; c++)
        named[c] = (struct named_check){ plan_check_text(plan, c), c, removed[c] };
    qsort(named, (size_t)nchecks, sizeof *named, by_text);
    for (int c = 0; c < nchecks; c++) {
        if (n && !strcmp(named[n - 1].text, named[c].text))
            named[n - 1].count += named[c].count;
        else
            named[n++] = named[c];
    }
    qsort(named, (size_t)n, sizeof *named, by_check);
    for (int c = 0; c < n; c++) {
        int at = named[c].count > 0 ? s->nremoving++ : s->nremovals;
        memmove(all + at + 1, all + at, (size_t)(s->nremovals++ - at) * sizeof *all);
        all[at] = (struct removal){ .variant = v->name, .text = named[c].text, .count = named[c].count };
    }
    mem_free(named);
    return 0;
}

/* with: filled in, except for the variant, its plan and the slots. */
static int add_variant(struct space *s, int variant, const struct problem *prob, int row, struct checker with, struct err *err)
{
    struct part *part = &s->parts[variant];
    int rc = plan_new(s->op, variant, &part->plan, err);
    if (rc)
        return rc;
    struct val slots[MAX_SLOTS];
    plan_slots(part->plan, prob, row, with.dev, &(struct config){ .variant = variant }, slots);
    with.variant = &s->op->variants[variant];
    with.plan = part->plan;
    with.slots = slots;
    double *removed = mem_array((size_t)plan_checks(part->plan), sizeof *removed);
    rc = (removed ? 0 : err_nomem(err))
        ?: make_groups(s, part, with.variant, err)
        ?: build_groups(part, &with, removed, err)
        ?: note_removals(s, with.variant, part->plan, removed, err);
    mem_free(removed);
    part->first = s->count;
    s->cartesian += part->cartesian;
    if (!rc && (__builtin_add_overflow(s->count, part->count, &s->count) || s->count > GROUP_MOST))
        rc = err_set(err, ERR_INVALID, "%s: more than 2^62 valid configurations; fewer values would help", s->op->name);
    return rc;
}

static struct space *space_alloc(const struct op *op)
{
    struct space *s = mem_zalloc(sizeof *s);
    if (!s)
        return NULL;
    s->op = op;
    s->arena = arena_new();
    s->parts = s->arena ? arena_array(s->arena, (size_t)op->nvariants, sizeof *s->parts) : NULL;
    if (s->parts)
        return s;
    space_free(s);
    return NULL;
}

int space_new(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, const struct patience *patience,
              struct space **out, struct err *err)
{
    struct space *s = space_alloc(op);
    const struct checker with = {
        .dev = dev,
        .max_bytes = MAX_BYTES,
        .patience = patience ? *patience : patience_of(SPACE_SECONDS, NULL),
    };
    int rc = s ? 0 : err_nomem(err);
    for (int v = 0; !rc && v < op->nvariants; v++)
        rc = add_variant(s, v, prob, row, with, err);
    if (rc)
        space_free(s);
    else
        *out = s;
    return rc;
}

/* -- a space that is given as a list -- */

static int compare_tuples(const void *a, const void *b, void *parameters)
{
    const uint16_t *x = a, *y = b;
    int d = 0, n = *(const int *)parameters;
    while (d < n && x[d] == y[d])
        d++;
    return d == n ? 0 : x[d] < y[d] ? -1 : 1;
}

/* Sorts tuples of n values, and keeps each once: how many these are. */
static int64_t sort_tuples(uint16_t *tuples, int64_t count, int n)
{
    int64_t kept = 0;
    size_t bytes = (size_t)n * sizeof *tuples;
    if (!n)
        return count > 0;
    qsort_r(tuples, (size_t)count, bytes, compare_tuples, &n);
    for (int64_t i = 0; i < count; i++)
        if (!kept || memcmp(tuples + (kept - 1) * n, tuples + i * n, bytes))
            memmove(tuples + kept++ * n, tuples + i * n, bytes);
    return kept;
}

/* As one group. */
static int list_variant(struct space *s, int variant, const struct config *list, int64_t n, struct err *err)
{
    const struct variant *v = &s->op->variants[variant];
    struct part *part = &s->parts[variant];
    struct group *g = part->groups = arena_alloc(s->arena, sizeof *part->groups);
    uint16_t *tuples = mem_array((size_t)n, (size_t)v->nparams * sizeof *tuples);
    int rc = g && tuples ? 0 : err_nomem(err);
    part->ngroups = g != NULL;
    part->cartesian = 1;
    int64_t count = 0;
    for (int64_t i = 0; i < n && !rc; i++)
        if (list[i].variant == variant)
            memcpy(tuples + count++ * v->nparams, list[i].at, (size_t)v->nparams * sizeof *tuples);
    for (; !rc && g->n < v->nparams; g->n++) {
        g->param[g->n] = g->n;
        part->cartesian *= v->params[g->n].n;
    }
    rc = rc ?: group_list(g, tuples, sort_tuples(tuples, count, g->n), err);
    mem_free(tuples);
    part->first = s->count;
    part->count = rc ? 0 : g->count;
    s->count += part->count;
    s->cartesian += part->cartesian;
    return rc;
}

int space_listed(const struct op *op, const struct config *list, int64_t n, struct space **out, struct err *err)
{
    struct space *s = space_alloc(op);
    int rc = s ? 0 : err_nomem(err);
    for (int v = 0; !rc && v < op->nvariants; v++)
        rc = list_variant(s, v, list, n, err);
    if (rc)
        space_free(s);
    else
        *out = s;
    return rc;
}

void space_free(struct space *s)
{
    if (!s)
        return;
    for (int v = 0; s->parts && v < s->op->nvariants; v++) {
        for (int g = 0; g < s->parts[v].ngroups; g++)
            group_free(&s->parts[v].groups[g]);
        plan_free(s->parts[v].plan);
    }
    mem_free(s->removals);
    arena_free(s->arena);
    mem_free(s);
}

int64_t space_variant_count(const struct space *s, int variant)
{
    return s->parts[variant].count;
}

void space_at(const struct space *s, int64_t i, struct config *out)
{
    int v = 0;
    while (i >= s->parts[v].first + s->parts[v].count)
        v++;
    const struct part *part = &s->parts[v];
    memset(out, 0, sizeof *out);
    out->variant = v;
    i -= part->first;
    for (int g = part->ngroups - 1; g >= 0; g--) {
        int64_t n = part->groups[g].count;
        group_at(&part->groups[g], i % n, out->at);
        i /= n;
    }
}

int64_t space_near(const struct space *s, const struct config *c)
{
    struct config near = *c;
    if (c->variant < 0 || c->variant >= s->op->nvariants || s->parts[c->variant].count == 0)
        return -1;
    const struct part *part = &s->parts[c->variant];
    for (int g = 0; g < part->ngroups; g++)
        group_near(&part->groups[g], near.at);
    return space_find(s, &near);
}

int64_t space_find(const struct space *s, const struct config *c)
{
    if (c->variant < 0 || c->variant >= s->op->nvariants || s->parts[c->variant].count == 0)
        return -1;
    const struct part *part = &s->parts[c->variant];
    int64_t i = 0;
    for (int g = 0; g < part->ngroups; g++) {
        int64_t at = group_find(&part->groups[g], c->at);
        if (at < 0)
            return -1;
        i = i * part->groups[g].count + at;
    }
    return part->first + i;
}
