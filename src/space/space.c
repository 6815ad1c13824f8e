#include "space/space.h"

#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "space/group.h"

/* A variant's configurations: the product of its groups. */
struct part {
    int ngroups;
    struct group *groups;
    int64_t first, count; /* its configurations' indices */
    double cartesian;
};

struct space {
    struct arena *arena;
    const struct op *op;
    struct part *parts; /* one a variant */
    int64_t count;
    double cartesian;
    int nremovals;
    struct removal *removals;
};

static const int64_t MAX_COUNT = (int64_t)1 << 62;
static const int64_t MAX_BYTES = (int64_t)1 << 30; /* of a group's tuples */

/* Joins parameters that a check reads together: root[p] is the first parameter of p's group. */
static void tie_parameters(const struct variant *v, const struct plan *plan, int root[MAX_PARAMS])
{
    for (int p = 0; p < v->nparams; p++)
        root[p] = p;
    for (int c = 0; c < plan_checks(plan); c++) {
        int n;
        const int *slots = plan_check_slots(plan, c, &n);
        for (int i = 1; i < n && slots[i] < v->nparams; i++) {
            int a = root[slots[0]], b = root[slots[i]];
            for (int p = 0; p < v->nparams; p++)
                if (root[p] == a || root[p] == b)
                    root[p] = a < b ? a : b;
        }
    }
}

static int make_groups(struct space *s, struct part *part, const struct variant *v, const struct plan *plan, struct err *err)
{
    int root[MAX_PARAMS];
    tie_parameters(v, plan, root);
    part->groups = arena_array(s->arena, (size_t)v->nparams, sizeof *part->groups);
    if (!part->groups)
        return err_nomem(err);
    for (int r = 0; r < v->nparams; r++) {
        if (root[r] != r)
            continue;
        struct group *g = &part->groups[part->ngroups++];
        g->cartesian = 1;
        for (int p = r; p < v->nparams; p++) {
            if (root[p] == r) {
                g->param[g->n++] = p;
                g->cartesian *= v->params[p].n;
            }
        }
    }
    return 0;
}

/* Checks that read no parameter decide for the whole variant: the first that does not hold removes all of it. If none does, one that
 * cannot be evaluated is an error. */
static int check_whole(const struct part *part, const struct checker *with, double *removed, bool *holds, struct err *err)
{
    int undecided = -1;
    *holds = true;
    for (int c = 0, n; c < plan_checks(with->plan); c++) {
        const int *slots = plan_check_slots(with->plan, c, &n);
        if (n && slots[0] < with->variant->nparams)
            continue;
        if (plan_check(with->plan, c, with->slots, with->dev, holds, NULL) < 0) {
            undecided = c;
        } else if (!*holds) {
            removed[c] = part->cartesian;
            return 0;
        }
    }
    return undecided < 0 ? 0 : plan_check(with->plan, undecided, with->slots, with->dev, holds, err);
}

/* Lists the groups one after the other. What a check removes from a group is multiplied by the valid points of the groups before it and
 * all points of those after it, so that removals and valid points sum to the cartesian product. */
static int list_groups(struct part *part, const struct checker *with, double *removed, struct err *err)
{
    double before = 1, after = part->cartesian;
    part->count = 1;
    for (int i = 0; i < part->ngroups && part->count; i++) {
        struct group *g = &part->groups[i];
        int rc = group_list(g, with, removed, err);
        if (rc)
            return rc;
        after /= g->cartesian;
        for (int c = 0; c < plan_checks(with->plan); c++)
            if (group_depth(g, with->plan, c) >= 0)
                removed[c] *= before * after;
        before *= (double)g->count;
        if (__builtin_mul_overflow(part->count, g->count, &part->count) || part->count > MAX_COUNT)
            return err_set(err, ERR_INVALID, "variant %s: more than 2^62 valid configurations; fewer values would help",
                           with->variant->name);
    }
    return 0;
}

/* Makes one entry for each text: the same limit of several launches has the same text. */
static int note_removals(struct space *s, const struct variant *v, const struct plan *plan, const double *removed, struct err *err)
{
    int first = s->nremovals, nchecks = plan_checks(plan);
    struct removal *removals = mem_resize(s->removals, (size_t)(first + nchecks), sizeof *removals);
    if (!removals)
        return err_nomem(err);
    s->removals = removals;
    for (int c = 0; c < nchecks; c++) {
        const char *text = plan_check_text(plan, c);
        int i = first;
        while (i < s->nremovals && strcmp(removals[i].text, text) != 0)
            i++;
        if (i == s->nremovals) {
            char *copy = arena_strdup(s->arena, text);
            if (!copy)
                return err_nomem(err);
            removals[s->nremovals++] = (struct removal){ .variant = v->name, .text = copy };
        }
        removals[i].count += removed[c];
    }
    return 0;
}

/* with: filled in, except for the variant, its plan and the slots. */
static int add_variant(struct space *s, int variant, const struct problem *prob, int row, struct checker with, struct err *err)
{
    const struct variant *v = &s->op->variants[variant];
    struct part *part = &s->parts[variant];
    struct plan *plan;
    int rc = plan_new(s->op, variant, &plan, err);
    if (rc)
        return rc;
    struct val slots[MAX_SLOTS];
    struct config first = { .variant = variant };
    plan_slots(plan, prob, row, with.dev, &first, slots);
    with.variant = v;
    with.plan = plan;
    with.slots = slots;
    bool holds;
    double *removed = mem_array((size_t)plan_checks(plan), sizeof *removed);
    if (!removed) {
        rc = err_nomem(err);
        goto out;
    }
    part->cartesian = 1;
    for (int p = 0; p < v->nparams; p++)
        part->cartesian *= v->params[p].n;
    rc = make_groups(s, part, v, plan, err) ?: check_whole(part, &with, removed, &holds, err);
    if (!rc && holds)
        rc = list_groups(part, &with, removed, err);
    rc = rc ?: note_removals(s, v, plan, removed, err);
    part->first = s->count;
    s->cartesian += part->cartesian;
    if (!rc && (__builtin_add_overflow(s->count, part->count, &s->count) || s->count > MAX_COUNT))
        rc = err_set(err, ERR_INVALID, "%s: more than 2^62 valid configurations; fewer values would help", s->op->name);
out:
    mem_free(removed);
    plan_free(plan);
    return rc;
}

/* Moves those that removed something to the front; else the order stays. */
static int sort_removals(struct space *s, struct err *err)
{
    struct removal *sorted = mem_array((size_t)s->nremovals, sizeof *sorted);
    if (!sorted)
        return err_nomem(err);
    for (int pass = 0, n = 0; pass < 2; pass++)
        for (int i = 0; i < s->nremovals; i++)
            if ((s->removals[i].count > 0) == !pass)
                sorted[n++] = s->removals[i];
    mem_free(s->removals);
    s->removals = sorted;
    return 0;
}

int space_new_within(const struct op *op, const struct problem *prob, int row, const struct devspec *dev,
                     const struct space_bounds *bounds, struct space **out, struct err *err)
{
    int rc = 0;
    struct space *s = mem_zalloc(sizeof *s);
    if (!s)
        return err_nomem(err);
    const struct checker with = {
        .dev = dev,
        .max_bytes = MAX_BYTES,
        .seconds = bounds->seconds,
        .deadline = clock_ns() + (int64_t)(bounds->seconds * 1e9),
        .stop = bounds->stop,
    };
    s->op = op;
    s->arena = arena_new();
    s->parts = s->arena ? arena_array(s->arena, (size_t)op->nvariants, sizeof *s->parts) : NULL;
    if (!s->parts)
        rc = err_nomem(err);
    for (int v = 0; !rc && v < op->nvariants; v++)
        rc = add_variant(s, v, prob, row, with, err);
    rc = rc ?: sort_removals(s, err);
    if (rc) {
        space_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

int space_new(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct space **out,
              struct err *err)
{
    return space_new_within(op, prob, row, dev, &(struct space_bounds){ .seconds = SPACE_SECONDS }, out, err);
}

void space_free(struct space *s)
{
    if (!s)
        return;
    for (int v = 0; s->parts && v < s->op->nvariants; v++)
        for (int g = 0; g < s->parts[v].ngroups; g++)
            mem_free(s->parts[v].groups[g].tuples);
    mem_free(s->removals);
    arena_free(s->arena);
    mem_free(s);
}

const struct op *space_op(const struct space *s)
{
    return s->op;
}

int64_t space_count(const struct space *s)
{
    return s->count;
}

double space_cartesian(const struct space *s)
{
    return s->cartesian;
}

int64_t space_variant_count(const struct space *s, int variant)
{
    return s->parts[variant].count;
}

const struct removal *space_removals(const struct space *s, int *n)
{
    *n = s->nremovals;
    return s->removals;
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
