/* Launches that repeat: what a variant's launches come to, one after the other. */
#include <string.h>

#include "model/plan_parts.h"

const struct launch *plan_launch(const struct plan *p, int i)
{
    return i < p->variant->nlaunches ? &p->variant->launches[i] : NULL;
}

int plan_buffers(const struct plan *p)
{
    return p->op->nargs + p->variant->nworkspaces;
}

const char *plan_arg_name(const struct plan *p, int launch, int arg)
{
    const struct launch *l = &p->variant->launches[launch];
    const int map = arg - plan_buffers(p) - l->nvalues;
    if (map >= 0) /* the buffer's */
        arg = l->views[map].arg;
    const int work = arg - p->op->nargs, value = arg - plan_buffers(p);
    return value >= 0  ? p->variant->launches[launch].values[value].name
           : work >= 0 ? p->variant->workspaces[work].name
                       : p->op->args[arg].name;
}

void plan_set_round(const struct plan *p, int64_t round, int64_t step, struct val *slots)
{
    if (p->first_round < p->scope.n) {
        slots[p->first_round] = val_int(round);
        slots[p->first_round + 1] = val_int(step);
    }
}

int plan_launched(const struct launch_fields *l, const struct val *slots, bool *launched, struct err *err)
{
    *launched = true;
    int rc = l->when ? expr_bool(l->when->expr, slots, launched, err) : 0;
    if (rc)
        err_prefix(err, "%s: ", l->when->place);
    return rc;
}

static int times(const struct field *f, const struct val *slots, int64_t *n, struct err *err)
{
    *n = 1;
    int rc = f ? field_int(f, 0, slots, n, err) : 0;
    if (!rc && *n > MAX_STEPS)
        rc = err_set(err, ERR_UNSUPPORTED, "%s: `%s` is %lld: %d are possible", f->place, expr_text(f->expr), (long long)*n,
                     MAX_STEPS);
    return rc;
}

static int too_many(int64_t n, struct err *err)
{
    return n <= MAX_STEPS ? 0 : err_set(err, ERR_UNSUPPORTED, "more than %d launches in all", MAX_STEPS);
}

/* What is done with each launch; what it returns ends the walk. */
typedef int visit(void *arg, int launch, int64_t round, int64_t step, bool first, struct err *err);

/* All launches of a variant, or only some of its groups, with the slots of ROUND and STEP set. first: it is the first of its round. */
struct walk {
    const struct plan *p;
    struct val slots[MAX_SLOTS];
    int64_t rounds; /* so far */
    visit *visit;
    void *arg;
};

static int walk_round(struct walk *w, int from, int to, const bool *launched, int64_t round, struct err *err)
{
    bool first = true;
    int rc = 0;
    for (int i = from; !rc && i < to; i++) {
        int64_t steps = 0;
        plan_set_round(w->p, round, 0, w->slots);
        rc = launched[i - from] ? times(w->p->launches[i].repeat[1], w->slots, &steps, err) : 0;
        for (int64_t s = 0; !rc && s < steps; s++) {
            plan_set_round(w->p, round, s, w->slots);
            rc = w->visit(w->arg, i, round, s, first, err);
            first = false;
        }
    }
    return rc;
}

/* The launches from..to share their rounds. */
static int walk_group(struct walk *w, int from, int to, struct err *err)
{
    bool launched[MAX_LAUNCHES];
    int64_t rounds = 0, n = 0;
    int rc = 0;
    for (int i = from; !rc && i < to; i++) {
        rc = plan_launched(&w->p->launches[i], w->slots, &launched[i - from], err);
        n += !rc && launched[i - from];
    }
    if (!rc && n)
        rc = times(w->p->launches[from].repeat[0], w->slots, &rounds, err);
    rc = rc ?: too_many(w->rounds += rounds * n, err); /* even those without a launch take time */
    for (int64_t r = 0; !rc && r < rounds; r++)
        rc = walk_round(w, from, to, launched, r, err);
    return rc;
}

static int walk_all(struct walk *w, const struct val *slots, struct err *err)
{
    const struct variant *v = w->p->variant;
    int rc = 0;
    w->rounds = 0;
    memcpy(w->slots, slots, (size_t)w->p->scope.n * sizeof *slots);
    for (int from = 0, to; !rc && from < v->nlaunches; from = to) {
        for (to = from + 1; to < v->nlaunches && v->launches[to].together;)
            to++;
        rc = walk_group(w, from, to, err);
    }
    return rc;
}

/* ---- checks */

struct counting {
    const struct walk *w;
    const struct condition *grid; /* null: all launches are counted; else those of its launch are looked at */
    const struct devspec *dev;
    int64_t n;
    bool fails; /* one of them */
};

int plan_cluster(const struct launch_fields *l, const struct val *slots, int64_t cluster[3], int64_t *blocks, struct err *err)
{
    int rc = 0;
    *blocks = 1;
    for (int d = 0; d < 3 && !rc; d++) {
        cluster[d] = 1;
        rc = l->extent[FIRST_CLUSTER + d] ? field_int(l->extent[FIRST_CLUSTER + d], 1, slots, &cluster[d], err) : 0;
        *blocks = cluster[d] > MOST_CLUSTER ? MOST_CLUSTER + 1 : *blocks * cluster[d];
    }
    return rc;
}

/* A grid as it is in one repetition. A grid without blocks is an error. */
static int check_grid(const struct condition *c, const struct val *slots, const struct devspec *dev, bool *holds, struct err *err)
{
    const struct launch_fields *l = c->launch;
    int64_t grid[3] = { 1, 1, 1 }, cluster[3], blocks = 1;
    int rc = c->of == OF_CLUSTER ? plan_cluster(l, slots, cluster, &blocks, err) : 0;
    *holds = !rc && blocks <= MOST_CLUSTER;
    for (int d = 0; d < 3 && !rc && *holds; d++) {
        if ((c->of != OF_EXTENT || c->extent == d) && l->extent[d])
            rc = field_int(l->extent[d], 1, slots, &grid[d], err);
        if (rc)
            break;
        if (c->of == OF_CLUSTER)
            *holds = blocks == 1 || grid[d] % cluster[d] == 0;
        else if (c->of == OF_EXTENT)
            *holds = grid[d] <= dev->max_grid[d];
        else
            *holds = !__builtin_mul_overflow(blocks, grid[d], &blocks) && blocks <= (int64_t)MOST_RESIDENT * dev->multiprocessors;
    }
    *holds = *holds && !rc;
    return rc;
}

static int count_step(void *arg, int launch, int64_t round, int64_t step, bool first, struct err *err)
{
    struct counting *c = arg;
    (void)round, (void)step, (void)first;
    int rc = too_many(++c->n, err);
    if (rc || !c->grid || c->grid->launch != &c->w->p->launches[launch])
        return rc;
    bool holds;
    rc = check_grid(c->grid, c->w->slots, c->dev, &holds, err);
    c->fails = c->fails || !holds;
    return rc;
}

int plan_check_grids(const struct plan *p, const struct condition *c, const struct val *slots, const struct devspec *dev,
                     bool *holds, struct err *err)
{
    struct walk w = { .p = p, .visit = count_step };
    struct counting counting = { .w = &w, .grid = c, .dev = dev };
    if (!c->launch->changes)
        return check_grid(c, slots, dev, holds, err);
    w.arg = &counting;
    int rc = walk_all(&w, slots, err);
    *holds = !rc && !counting.fails;
    return rc == ERR_UNSUPPORTED ? 0 : rc; /* another check's: it does not hold */
}

/* Buffers that change places must be as large as each other. */
static int check_sizes(const struct plan *p, const int *swaps, int n, const struct val *slots, bool *same, struct err *err)
{
    int64_t bytes[2];
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) {
        rc = plan_bytes(&p->buffers[swaps[i]], slots, &bytes[i % 2], err);
        *same = *same && (rc || i % 2 == 0 || bytes[0] == bytes[1]);
    }
    return rc;
}

int plan_check_steps(const struct plan *p, const struct val *slots, bool *holds, struct err *err)
{
    struct walk w = { .p = p, .visit = count_step };
    struct counting counting = { .w = &w };
    bool same = true;
    w.arg = &counting;
    int rc = walk_all(&w, slots, err);
    for (int i = 0; !rc && i < p->variant->nlaunches; i++) {
        const struct launch *l = &p->variant->launches[i];
        rc = check_sizes(p, l->swaps, l->nswaps, slots, &same, err)
                 ?: check_sizes(p, l->round_swaps, l->nround_swaps, slots, &same, err);
    }
    *holds = !rc && same;
    return rc == ERR_UNSUPPORTED ? 0 : rc;
}

/* ---- the list */

struct listing {
    const struct plan *p;
    struct arena *arena;
    struct step *all;
    bool *first; /* of its round */
    int n;
};

static int list_step(void *arg, int launch, int64_t round, int64_t step, bool first, struct err *err)
{
    struct listing *l = arg;
    (void)err;
    l->first[l->n] = first;
    l->all[l->n++] = (struct step){ launch, round, step, NULL };
    return 0;
}

static void exchange(int *place, const int *swaps, int n)
{
    for (int i = 0; i + 1 < n; i += 2) {
        int a = place[swaps[i]];
        place[swaps[i]] = place[swaps[i + 1]];
        place[swaps[i + 1]] = a;
    }
}

/* The launch's arguments with the buffers where they are; `before`: those of two other steps of it, which may be the same. */
static const int *take_args(const struct listing *l, const struct launch *of, const int *place, const int *before[2])
{
    const int n = of->nargs + of->nviews, buffers = plan_buffers(l->p);
    int args[2 * MAX_ARGS + MAX_VIEWS];
    for (int i = 0; i < of->nargs; i++)
        args[i] = of->args[i] < buffers ? place[of->args[i]] : of->args[i];
    for (int i = 0; i < of->nviews; i++)
        args[of->nargs + i] = place[of->views[i].arg];
    for (int k = 0; k < 2; k++)
        if (before[k] && !memcmp(before[k], args, (size_t)n * sizeof *args))
            return before[k];
    int *made = arena_array(l->arena, (size_t)n + 1, sizeof *made); /* never of nothing */
    if (made)
        memcpy(made, args, (size_t)n * sizeof *args);
    before[1] = before[0];
    before[0] = made;
    return made;
}

/* From the last launch, which has its buffers as they are written, to the first. */
static int place_buffers(const struct listing *l, struct err *err)
{
    const int *before[MAX_LAUNCHES][2] = { { NULL } };
    int place[2 * MAX_ARGS];
    for (int i = 0; i < 2 * MAX_ARGS; i++)
        place[i] = i;
    for (int i = l->n - 1; i >= 0; i--) {
        struct step *s = &l->all[i];
        const struct launch *of = &l->p->variant->launches[s->launch];
        s->args = take_args(l, of, place, before[s->launch]);
        if (!s->args)
            return err_nomem(err);
        exchange(place, of->swaps, of->nswaps);
        if (l->first[i]) {
            while (of->together)
                of--;
            exchange(place, of->round_swaps, of->nround_swaps);
        }
    }
    return 0;
}

int plan_steps(const struct plan *p, const struct val *slots, struct arena *arena, struct step **out, int *n, struct err *err)
{
    struct walk w = { .p = p, .visit = count_step };
    struct counting counting = { .w = &w };
    w.arg = &counting;
    int rc = walk_all(&w, slots, err);
    if (rc)
        return rc;
    struct listing l = { .p = p, .arena = arena };
    l.all = arena_array(arena, (size_t)counting.n + 1, sizeof *l.all);
    l.first = arena_array(arena, (size_t)counting.n + 1, sizeof *l.first);
    if (!l.all || !l.first)
        return err_nomem(err);
    w.visit = list_step;
    w.arg = &l;
    rc = walk_all(&w, slots, err) ?: place_buffers(&l, err);
    *out = l.all;
    *n = l.n;
    return rc;
}
