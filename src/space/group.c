#include "space/group.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/util.h"

/* The result of a check. */
enum answer { NOT_ASKED, HOLDS, FAILS, UNDECIDED };

/* A check, asked at one depth of the walk. If it does not read all parameters above that depth, the same question comes again for each
 * of their values: its answers are then kept, if they are few enough. */
struct asked_check {
    int check;
    int nreads, reads[MAX_PARAMS]; /* depths of the parameters that it reads, ascending */
    uint8_t *answers;              /* enum answer, by the values' indices, last fastest; null: not kept */
};

enum { MAX_ANSWERS = 4 << 20 };
enum { CHECKS_UNSEEN = 1 << 16 }; /* so many checks, which take a few milliseconds, are made between two looks at the clock */

/* The depth-first walk over a group's parameters: a check is asked as soon as the last parameter that it reads has a value. */
struct walk {
    struct group *g;
    const struct checker *with;
    double *removed;
    struct err *err;
    struct asked_check *questions; /* those asked when d parameters have values: from first[d] up to first[d + 1] */
    int first[MAX_PARAMS + 2];
    int values[MAX_PARAMS];       /* of the parameter at each depth */
    double below[MAX_PARAMS + 1]; /* points under a node whose first d parameters have values */
    uint16_t at[MAX_PARAMS];
    int64_t asked, look; /* checks so far; the clock is looked at when they are as many as `look` */
};

static int too_large(const struct walk *w, int code, double limit, const char *unit)
{
    const struct variant *v = w->with->variant;
    struct buf names = { 0 };
    for (int d = 0; d < w->g->n; d++)
        buf_fmt(&names, "%s%s", d ? ", " : "", v->params[w->g->param[d]].name);
    int rc = err_set(w->err, code,
                     "variant %s: the parameters %s depend on each other and take more than %.10g %s to list; fewer values, or "
                     "constraints over fewer parameters, would help",
                     v->name, buf_text(&names), limit, unit);
    buf_free(&names);
    return rc;
}

static int look_at_clock(struct walk *w)
{
    w->look = w->asked + CHECKS_UNSEEN;
    const struct patience *p = &w->with->patience;
    if (p->stop && *p->stop)
        return err_set(w->err, ERR_TIMEOUT, "interrupted while the configurations were listed");
    return clock_ns() > p->until ? too_large(w, ERR_TIMEOUT, p->seconds, "seconds") : 0;
}

static int keep(struct walk *w)
{
    struct group *g = w->g;
    size_t bytes = (size_t)g->n * sizeof *g->tuples;
    if (bytes && g->count >= w->with->max_bytes / (int64_t)bytes)
        return too_large(w, ERR_INVALID, (double)w->with->max_bytes, "bytes");
    if (!mem_grow((void **)&g->tuples, (int)g->count, bytes))
        return err_nomem(w->err);
    uint16_t *tuple = g->tuples + g->count++ * g->n;
    for (int d = 0; d < g->n; d++)
        tuple[d] = w->at[d];
    return 0;
}

/* The error for a point that passes every check but one, which cannot be evaluated. */
static int undecidable(const struct walk *w, int check)
{
    const struct variant *v = w->with->variant;
    bool holds;
    int rc = plan_check(w->with->plan, check, w->with->slots, w->with->dev, &holds, w->err), n;
    const int *slots = plan_check_slots(w->with->plan, check, &n);
    struct buf at = { 0 };
    for (int i = 0; i < n && slots[i] < v->nparams; i++) {
        buf_fmt(&at, "%s%s=", i ? "," : "", v->params[slots[i]].name);
        val_print(&at, w->with->slots[slots[i]]);
    }
    if (at.len)
        err_prefix(w->err, "with %s: ", buf_text(&at));
    buf_free(&at);
    return rc;
}

static enum answer ask(struct walk *w, const struct asked_check *q)
{
    uint8_t unkept = NOT_ASKED, *answer = &unkept;
    w->asked++;
    if (q->answers) {
        size_t i = 0;
        for (int r = 0; r < q->nreads; r++)
            i = i * (size_t)w->values[q->reads[r]] + w->at[q->reads[r]];
        answer = &q->answers[i];
    }
    if (*answer == NOT_ASKED) {
        bool holds = false;
        int rc = plan_check(w->with->plan, q->check, w->with->slots, w->with->dev, &holds, NULL);
        *answer = rc ? UNDECIDED : holds ? HOLDS : FAILS;
    }
    return (enum answer) * answer;
}

/* Asks the checks of this depth; *undecided takes the first that cannot be evaluated. */
static bool passes(struct walk *w, int depth, int *undecided)
{
    for (int i = w->first[depth]; i < w->first[depth + 1]; i++) {
        const struct asked_check *q = &w->questions[i];
        enum answer answer = ask(w, q);
        if (answer == FAILS) {
            w->removed[q->check] += w->below[depth];
            return false;
        }
        if (answer == UNDECIDED && *undecided < 0)
            *undecided = q->check;
    }
    return true;
}

/* The first `depth` parameters have values. */
static int descend(struct walk *w, int depth, int undecided)
{
    if (!passes(w, depth, &undecided))
        return 0;
    if (depth == w->g->n)
        return undecided < 0 ? keep(w) : undecidable(w, undecided);
    int param = w->g->param[depth], rc = 0;
    const struct param *p = &w->with->variant->params[param];
    for (int i = 0; i < p->n && !rc; i++) {
        w->at[depth] = (uint16_t)i;
        w->with->slots[param] = p->values[i];
        rc = descend(w, depth + 1, undecided);
        if (!rc && w->asked >= w->look)
            rc = look_at_clock(w);
    }
    return rc;
}

/* Which of the group's parameters the check reads. False if it is none of this group's checks: the group without parameters has those that
 * read none. */
static bool make_question(const struct walk *w, int check, struct asked_check *q)
{
    int n;
    const int *slots = plan_check_slots(w->with->plan, check, &n);
    *q = (struct asked_check){ .check = check };
    for (int d = 0; d < w->g->n; d++)
        for (int i = 0; i < n; i++)
            if (slots[i] == w->g->param[d])
                q->reads[q->nreads++] = d;
    return w->g->n ? q->nreads : !n || slots[0] >= w->with->variant->nparams;
}

/* Sorts the checks of the group by the depth at which they are asked. */
static int add_questions(struct walk *w)
{
    int n = 0;
    for (int depth = 0; depth <= w->g->n; depth++) {
        w->first[depth] = n;
        for (int c = 0; c < plan_checks(w->with->plan); c++) {
            struct asked_check q;
            double answers = 1;
            if (!make_question(w, c, &q) || depth != (q.nreads ? q.reads[q.nreads - 1] + 1 : 0))
                continue;
            for (int r = 0; r < q.nreads; r++)
                answers *= w->values[q.reads[r]];
            bool again = q.nreads < depth && answers <= MAX_ANSWERS;
            q.answers = again ? mem_array((size_t)answers, sizeof *q.answers) : NULL;
            if (again && !q.answers)
                return err_nomem(w->err);
            w->questions[n++] = q;
        }
    }
    w->first[w->g->n + 1] = n;
    return 0;
}

int group_list(struct group *g, const struct checker *with, double *removed, struct err *err)
{
    struct walk w = { .g = g, .with = with, .removed = removed, .err = err };
    int nchecks = plan_checks(with->plan);
    w.below[g->n] = g->weight;
    for (int d = g->n - 1; d >= 0; d--) {
        w.values[d] = with->variant->params[g->param[d]].n;
        w.below[d] = w.below[d + 1] * w.values[d];
    }
    w.questions = mem_array((size_t)nchecks, sizeof *w.questions);
    if (!w.questions)
        return err_nomem(err);
    int rc = add_questions(&w) ?: descend(&w, 0, -1);
    for (int i = 0; i < nchecks; i++)
        mem_free(w.questions[i].answers);
    mem_free(w.questions);
    if (!rc && g->count) { /* give back what was allocated in advance */
        uint16_t *tuples = mem_resize(g->tuples, (size_t)g->count * (size_t)g->n, sizeof *tuples);
        g->tuples = tuples ?: g->tuples;
    }
    return rc;
}

void group_at(const struct group *g, int64_t i, uint16_t at[MAX_PARAMS])
{
    const uint16_t *tuple = g->tuples + i * g->n;
    for (int d = 0; d < g->n; d++)
        at[g->param[d]] = tuple[d];
}

int64_t group_find(const struct group *g, const uint16_t at[MAX_PARAMS])
{
    int64_t low = 0, high = g->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const uint16_t *tuple = g->tuples + middle * g->n;
        int d = 0;
        while (d < g->n && tuple[d] == at[g->param[d]])
            d++;
        if (d == g->n)
            return middle;
        if (tuple[d] < at[g->param[d]])
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void group_near(const struct group *g, uint16_t at[MAX_PARAMS])
{
    int64_t best = 0;
    int least = INT_MAX;
    for (int64_t i = 0; i < g->count && least; i++) {
        int distance = 0;
        for (int d = 0; d < g->n; d++)
            distance += abs(g->tuples[i * g->n + d] - at[g->param[d]]);
        best = distance < least ? i : best;
        least = distance < least ? distance : least;
    }
    group_at(g, best, at);
}
