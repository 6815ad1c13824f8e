/* The look-up of a problem that nobody tuned: of what won for others the kernel that should lose least, unless a default should lose less. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/find.h"

/* A device's problems, and its candidates. */
static struct tuned_problem **problems_of(const struct lookup *s, const struct known_device *d)
{
    return known_there(s)->problems + d->problems;
}

static struct tuned_problem **candidates_of(const struct lookup *s, const struct known_device *d)
{
    return known_there(s)->candidates + d->candidates;
}

static bool fits(const struct lookup *s, const struct tuned_problem *p)
{
    return p->row == s->q->row && p->flags == s->q->flags && !p->unusable;
}

/* What the question's work should take on the device with no loss: the nearest tuned problem's time for its own, of the same types if
 * there is one. */
static double expected_ns(const struct lookup *s, const struct known_device *d, const double *distance)
{
    struct val slots[MAX_SLOTS];
    double bytes = 0, flops = 0, least = INFINITY;
    const struct tuned_problem *nearest = NULL;
    const struct plan *plan = known_there(s)->plan;
    plan_slots(plan, &s->q->problem, s->q->row, &s->h->dev, NULL, slots);
    if (plan_work(plan, slots, &bytes, &flops, NULL))
        return 0;
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = problems_of(s, d)[i];
        double far = distance[i] + (p->row == s->q->row ? 0 : 100);
        if (distance[i] >= 0 && far < least) {
            least = far;
            nearest = p;
        }
    }
    double work = bytes > 0 ? bytes : flops;
    return nearest && nearest->work > 0 && work > 0 ? nearest->time_ns * work / nearest->work : 0;
}

/* Serves the winner of p, or keeps it as the one in use. */
static int serve_winner(struct lookup *s, const struct known_device *d, const struct tuned_problem *p, double loss, double time_ns,
                        struct err *err)
{
    char why[640];
    const char *op = s->q->op->name, *types = buf_text(&s->q->types), *sizes = buf_text(&s->q->sizes), *here = s->h->dev.name;
    const char *bounds = known_there(s)->cut ? " (the file has more winners or times than a look-up reads: of the first ones)" : "";
    cutune_match match = devspec_same(&d->dev, &s->h->dev) ? CUTUNE_MATCH_NEAR : CUTUNE_MATCH_DEVICE;
    struct tuned *t = NULL;
    int rc = check_failed(s, p->variant, p->json, err);
    if (rc)
        return rc;
    if (still(s, match, 0, p->time_ns, p->variant, p->json)) {
        s->found = s->now;
        return 0;
    }
    rc = store_find_winner(s->from, &d->dev, op, types, p->sizes, &t, err);
    if (rc)
        return rc;
    const char *what = t->pinned ? "what is pinned" : "the winner";
    if (match == CUTUNE_MATCH_NEAR)
        snprintf(why, sizeof why,
                 "near: %s %s is not tuned on %s; %s for %s, expected within %.0f%% of a kernel tuned for this problem%s", types,
                 sizes, here, what, p->sizes, fmax(1, 100 * expm1(loss)), bounds);
    else /* how much is lost between two devices nothing tells */
        snprintf(why, sizeof why, "device: %s %s is not tuned on %s; %s for %s on %s, expected to be the best of those%s", types,
                 sizes, here, what, p->sizes, d->dev.name, bounds);
    s->tried_bytes += t->bytes;
    if (!strcmp(t->variant, p->variant) && !strcmp(t->json, p->json))
        return serve(s, t, match, time_ns, why, err);
    tuned_free(t);
    return err_set(err, ERR_NOTFOUND, "the winner of %s %s changed just now", op, p->sizes);
}

/* The best of a device's candidates and the default: asked in the order of what they should lose, so that few records are read. */
static int find_on(struct lookup *s, const struct known_device *d, struct err *err)
{
    const struct question *q = s->q;
    const struct knowledge *all = known_there(s);
    double *distance = problem_distances(all, d, q->op, q->row, &q->problem), least, of_default = INFINITY;
    struct problem_default deflt;
    int rc = distance ? loss_of_default(s, d, distance, &of_default, &deflt, err) ?: ERR_NOTFOUND : err_nomem(err);
    double *loss = distance ? candidate_losses(all, d, distance, q->row, &deflt) : NULL;
    double time_ns = loss ? expected_ns(s, d, distance) : 0;
    if (distance && !loss)
        rc = err_nomem(err);
    while (refused(rc) && !weary(s)) {
        int best = take_least(loss, d->ncandidates, &least);
        if (best < 0)
            break;
        if (of_default < least) {
            rc = find_good_default(s, d, of_default, time_ns, err);
            of_default = INFINITY;
            if (!refused(rc))
                break;
        }
        struct tuned_problem *p = candidates_of(s, d)[best];
        struct err why = { 0 };
        s->tried++;
        rc = serve_winner(s, d, p, least, time_ns * exp(least), &why);
        p->unusable = refused(rc) && rc != ERR_UNSUPPORTED; /* by itself, not for this problem or device */
        if (p->unusable)
            say(s->h->owner, "a record of %s is passed over: %s", s->q->op->name, why.msg);
        else if (rc && !refused(rc))
            err_set(err, rc, "%s", why.msg);
    }
    mem_free(distance);
    mem_free(loss);
    return rc;
}

/* Infinite: no kernel of it may run here. What ships is for its architecture: elsewhere its defaults need no compiler. */
static double distance_of(const struct lookup *s, const struct known_device *d)
{
    const struct devspec *here = &s->h->dev;
    bool any = false;
    for (int i = 0; !any && i < d->ncandidates; i++)
        any = fits(s, candidates_of(s, d)[i]);
    any = any && !strcmp(here->backend, d->dev.backend) && (!from_tables(s) || !strcmp(here->arch, d->dev.arch));
    return any ? device_distance(here, &d->dev) : INFINITY;
}

static int know(struct lookup *s, struct err *err)
{
    return from_tables(s) ? known_op_in_tables(s->h->owner, s->q->known, err) : known_op_all(s->q->known, s->from, err);
}

int find_near(struct lookup *s, struct err *err)
{
    int rc = know(s, err);
    if (rc)
        return rc;
    const struct knowledge *all = known_there(s);
    double *far = mem_array((size_t)all->ndevices, sizeof *far), least;
    if (!far)
        return err_nomem(err);
    for (int i = 0; i < all->ndevices; i++)
        far[i] = distance_of(s, &all->devices[i]);
    rc = ERR_NOTFOUND;
    while (refused(rc) && !weary(s)) {
        int nearest = take_least(far, all->ndevices, &least);
        if (nearest < 0)
            break;
        rc = find_on(s, &all->devices[nearest], err);
    }
    mem_free(far);
    return rc;
}

double nearest_in(struct lookup *s, struct store *place)
{
    s->from = place;
    const struct knowledge *all = know(s, NULL) ? NULL : known_there(s);
    double least = INFINITY;
    for (int i = 0; all && i < all->ndevices; i++) {
        const struct known_device *d = &all->devices[i];
        double far = distance_of(s, d);
        double *distance = isinf(far) ? NULL : problem_distances(all, d, s->q->op, s->q->row, &s->q->problem);
        for (int p = 0; distance && p < d->nproblems; p++)
            if (distance[p] >= 0 && problems_of(s, d)[p]->row == s->q->row)
                least = fmin(least, far * 1e6 + distance[p]);
        mem_free(distance);
    }
    return least;
}
