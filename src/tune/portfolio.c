/* The warm start's rule: which configurations are tried first on a problem that was never tuned.
 *
 * It is judged by all that was measured of the NEAR problems that are nearest, of whatever types and device: by near_distance, and by how far
 * the device is. The new problem will be like one of them, the likelier the nearer; so each has the weight 1 / (distance + 1/4). What a
 * configuration loses on one of them is log(its time / the best time there), LOST at most, which it also is if it failed there. Tried are those
 * that lose little together: each in turn is the one with which the weighted sum of the least losses is least. So the first is good on
 * all of them, and those that follow are where those before are not. Losses below FLOOR count as equal; then the better everywhere is first.
 *
 * A configuration that is not valid here stands for the valid one that differs least (space_nearest), which loses NUDGE more for each step of
 * the difference. That stands for what it would be there as well, even if it was measured there and was slower: a winner that needs sizes
 * to be multiples of something teaches also what is good for other sizes.
 *
 * What a configuration is good for depends on how many blocks it launches, too, up to WAVES for each multiprocessor, and that is another
 * number here. So it is expected to lose UNLIKE more for each doubling between the two. With one parameter changed it may launch about as
 * many as it did there, such as where blocks share a sum, and more of them do: this one is expected to do as well, but for NUDGE a step of
 * the change.
 *
 * Where nothing is known of a configuration it is expected to lose what it does on the other problems, mixed with LOST.
 *
 * The rule and its constants were chosen by replay: docs/strategies.md. bench/warm_start measures it. */
#include "tune/portfolio.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { NEAR = 8, WAVES = 2 };
/* Of a problem, the fastest; of a variant, values of its parameters: to look for those that one stands for takes a while. */
enum { MOST_MAPPED = 64, MOST_VALUES = 1000 };
static const double LOST = 0.7, FLOOR = 0.02, NUDGE = 0.05, UNLIKE = 0.2;
static const double DOUBT = 0.5; /* the weight of LOST in what is expected */
static const double GOOD = 0.405; /* who never lost less is not tried: 1.5 times the best time */

struct near_problem {
    const struct source_of_hints *from;
    const struct tuned_problem *is;
    const struct devspec *dev; /* where it was tuned; of another device than the new problem's only the identity */
    double distance;
};

/* That a configuration of the space, or what it stands for, was tried on a near problem. */
struct sight {
    int64_t index;
    int problem;
    double loss;
};

struct candidate {
    int64_t index;
    double loss[NEAR], all;
    bool good, taken;
};

struct portfolio {
    const struct newcomer *of;
    struct near_problem near[NEAR];
    double weight[NEAR];
    int n;
    struct sight *sights;
    int nsights;
    struct plans plans;
    int read, mapped;    /* the problem that is read; of how many of its configurations what they stand for was looked for so far */
    struct problem then; /* its sizes */
    double best;         /* its best time */
    struct candidate *candidates;
    int ncandidates;
    struct err *err;
};

/* ---- which problems are near */

static void offer(struct portfolio *p, struct near_problem new)
{
    int at = p->n < NEAR ? p->n++ : NEAR - 1;
    if (at == NEAR - 1 && p->near[at].is && p->near[at].distance <= new.distance)
        return;
    for (; at > 0 && p->near[at - 1].distance > new.distance; at--)
        p->near[at] = p->near[at - 1];
    p->near[at] = new;
}

static int find_near(struct portfolio *p, const struct source_of_hints *from)
{
    const struct newcomer *c = p->of;
    for (int i = 0; from->known && i < from->known->ndevices; i++) {
        const struct known_device *d = &from->known->devices[i];
        double away = device_distance(c->dev, &d->dev), *distance = problem_distances(from->known, d, c->op, c->row, c->problem);
        if (!distance)
            return err_nomem(p->err);
        for (int k = 0; k < d->nproblems; k++)
            if (distance[k] >= 0)
                offer(p, (struct near_problem){ from, from->known->problems[d->problems + k],
                                                 away > 0 ? &d->dev : c->dev, distance[k] + away });
        mem_free(distance);
    }
    return 0;
}

/* ---- what was tried there */

/* The binary logarithm of the blocks for each multiprocessor, WAVES at most, in the launch that has the fewest of those that are always made:
 * of an op that ends with a launch of one block it is always the same. NAN: not known, as where a launch depends on more of another device
 * than its identity. */
static double blocks(struct portfolio *p, const struct config *c, const struct problem *problem, int row, const struct devspec *dev)
{
    const struct plan *plan;
    const struct launch *l;
    struct val slots[MAX_SLOTS];
    struct geometry g;
    double least = INFINITY;
    if (dev->multiprocessors < 1 || plans_get(&p->plans, c->variant, &plan, NULL))
        return NAN;
    plan_slots(plan, problem, row, dev, c, slots);
    for (int i = 0; (l = plan_launch(plan, i)); i++) {
        if (l->when)
            continue;
        if (plan_geometry(plan, i, slots, &g, NULL))
            return NAN;
        least = fmin(least, (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2]);
    }
    return log2(fmin(WAVES, least / dev->multiprocessors));
}

static double blocks_here(struct portfolio *p, int64_t index)
{
    const struct newcomer *c = p->of;
    struct config config;
    space_at(c->space, index, &config);
    return blocks(p, &config, c->problem, c->row, c->dev);
}

static int see(struct portfolio *p, int64_t index, double loss)
{
    if (!mem_grow((void **)&p->sights, p->nsights, sizeof *p->sights))
        return err_nomem(p->err);
    p->sights[p->nsights++] = (struct sight){ index, p->read, fmin(LOST, loss) };
    return 0;
}

static bool many_values(const struct variant *v)
{
    int n = 0;
    for (int i = 0; i < v->nparams; i++)
        n += v->params[i].n;
    return n > MOST_VALUES;
}

/* That with one parameter changed which launches about as many blocks here as `there`, if one should lose less by that than `least`. */
static int see_like(struct portfolio *p, int64_t index, double there, double loss, double least)
{
    const struct space *s = p->of->space;
    struct config from, to;
    struct buf near = { 0 };
    int64_t found = -1;
    space_at(s, index, &from);
    if (many_values(&s->op->variants[from.variant]))
        return 0;
    space_neighbours(s, index, NEAR_ANY, &near);
    int rc = buf_check(&near, p->err);
    for (struct cursor c = cursor_on(near.data, near.len); !rc && c.at < c.end;) {
        int64_t i = get_i64(&c);
        space_at(s, i, &to);
        double more = NUDGE * space_difference(s, &from, &to) + UNLIKE * fabs(blocks_here(p, i) - there);
        if (more < least) {
            least = more;
            found = i;
        }
    }
    buf_free(&near);
    return rc ?: found >= 0 ? see(p, found, loss + least) : 0;
}

static int note(struct portfolio *p, const char *variant, const char *text, double loss)
{
    const struct near_problem *near = &p->near[p->read];
    const struct space *s = p->of->space;
    struct config c;
    double far = 0, there = NAN, unlike = 0;
    if (config_parse(s->op, variant, text, &c, NULL)) /* no configuration any more */
        return 0;
    int64_t index = space_find(s, &c);
    if (loss < LOST && p->mapped++ < MOST_MAPPED) {
        index = index < 0 ? space_nearest(s, &c, &far) : index;
        there = blocks(p, &c, &p->then, near->is->row, near->dev);
        unlike = index < 0 ? 0 : UNLIKE * fabs(blocks_here(p, index) - there);
    }
    loss += NUDGE * far;
    int rc = index < 0 ? 0 : see(p, index, loss + fmax(0, unlike)); /* which is not a number if blocks are not known */
    return rc ?: unlike > 0 ? see_like(p, index, there, loss, unlike) : 0;
}

/* The fastest comes first. */
static int take_tried(void *arg, const struct tried *t)
{
    struct portfolio *p = arg;
    bool timed = t->median > 0 && (t->outcome == OUT_OK || t->outcome == OUT_SLOWER);
    if (timed && p->best <= 0)
        p->best = t->median;
    return note(p, t->variant, t->config, timed ? fmin(LOST, log(t->median / p->best)) : LOST);
}

/* The winner is known, even if nothing that was measured is. */
static int read_near(struct portfolio *p)
{
    const struct near_problem *near = &p->near[p->read];
    struct buf text = { 0 };
    p->best = p->mapped = 0;
    int rc = problem_parse(p->of->op, near->is->sizes, &p->then, p->err)
        ?: store_each_outcome(near->from->store, near->is->device_id, near->is->id, near->from->before, take_tried, p, p->err);
    if (!rc && p->best <= 0 && config_of_json(&text, near->is->json))
        rc = buf_check(&text, p->err) ?: note(p, near->is->variant, buf_text(&text), 0);
    buf_free(&text);
    return rc;
}

/* ---- what each is expected to lose */

static int by_index(const void *a, const void *b)
{
    const struct sight *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

/* Where it was not seen, it loses what it does elsewhere, or more. */
static void guess_rest(const struct portfolio *p, struct candidate *c)
{
    double sum = DOUBT * LOST, weight = DOUBT;
    for (int i = 0; i < p->n; i++)
        if (c->loss[i] >= 0) {
            sum += p->weight[i] * c->loss[i];
            weight += p->weight[i];
        }
    for (int i = 0; i < p->n; i++) {
        c->loss[i] = fmax(FLOOR, c->loss[i] < 0 ? sum / weight : c->loss[i]);
        c->all += p->weight[i] * c->loss[i];
    }
}

static int list_candidates(struct portfolio *p)
{
    if (p->nsights)
        qsort(p->sights, (size_t)p->nsights, sizeof *p->sights, by_index);
    for (int i = 0; i < p->nsights;) {
        struct candidate c = { .index = p->sights[i].index };
        for (int k = 0; k < p->n; k++)
            c.loss[k] = -1;
        for (; i < p->nsights && p->sights[i].index == c.index; i++) {
            const struct sight *s = &p->sights[i];
            c.loss[s->problem] = c.loss[s->problem] < 0 ? s->loss : fmin(c.loss[s->problem], s->loss);
            c.good = c.good || s->loss <= GOOD;
        }
        guess_rest(p, &c);
        if (!c.good)
            continue;
        if (!mem_grow((void **)&p->candidates, p->ncandidates, sizeof *p->candidates))
            return err_nomem(p->err);
        p->candidates[p->ncandidates++] = c;
    }
    return 0;
}

/* ---- the choice */

/* The one with which the sum is least; -1: all are taken. */
static int choose(const struct portfolio *p, const double least[NEAR])
{
    double best = INFINITY;
    int found = -1;
    for (int i = 0; i < p->ncandidates; i++) {
        const struct candidate *c = &p->candidates[i];
        double sum = 0;
        for (int k = 0; k < p->n; k++)
            sum += p->weight[k] * fmin(least[k], c->loss[k]);
        if (c->taken || sum > best || (sum == best && c->all >= p->candidates[found].all))
            continue;
        best = sum;
        found = i;
    }
    return found;
}

static int choose_all(struct portfolio *p, int64_t *out, int most)
{
    double least[NEAR];
    int n = 0;
    for (int k = 0; k < p->n; k++)
        least[k] = LOST;
    for (int i; n < most && (i = choose(p, least)) >= 0;) {
        p->candidates[i].taken = true;
        out[n++] = p->candidates[i].index;
        for (int k = 0; k < p->n; k++)
            least[k] = fmin(least[k], p->candidates[i].loss[k]);
    }
    return n;
}

int portfolio_choose(const struct newcomer *c, const struct source_of_hints *from, int nfrom, int64_t *out, int most, int *n,
                     struct err *err)
{
    struct portfolio p = { .of = c, .plans = { .op = c->op }, .err = err };
    int rc = 0;
    for (int i = 0; !rc && i < nfrom; i++)
        rc = find_near(&p, &from[i]);
    for (; !rc && p.read < p.n; p.read++) {
        p.weight[p.read] = 1 / (p.near[p.read].distance + 0.25);
        rc = read_near(&p);
    }
    rc = rc ?: list_candidates(&p);
    *n = rc ? 0 : choose_all(&p, out, most);
    plans_free(&p.plans);
    mem_free(p.sights);
    mem_free(p.candidates);
    return rc;
}
