/* The warm start: after the op's default a run tries what look-ups would give from other problems, other types, other devices and the
 * defaults. Here these are suggestions only, proved like any other; so stale and unverified winners are among them.
 *
 * A run that goes on where another one stopped has to begin as that one did. So what was measured later than the first configuration of
 * this problem is left out. */
#include "tune/hints.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "tune/run.h"

enum { ENOUGH = 1 };

static int each_on(const struct knowledge *k, const struct known_device *d, const double *distance, int row, bool same_types,
                   int (*each)(void *arg, const struct tuned_problem *p), void *arg, struct err *err)
{
    double *loss = candidate_losses(k, d, distance, row, same_types), least;
    int rc = loss ? 0 : err_nomem(err), best;
    while (!rc && (best = take_least(loss, d->ncandidates, &least)) >= 0)
        rc = each(arg, k->candidates[d->candidates + best]);
    mem_free(loss);
    return rc;
}

int hints_each(const struct knowledge *k, const struct op *op, int row, const struct problem *problem, const struct devspec *here,
               int (*each)(void *arg, const struct tuned_problem *p), void *arg, struct err *err)
{
    double *far = mem_array((size_t)k->ndevices, sizeof *far), least;
    int rc = far ? 0 : err_nomem(err), nearest;
    for (int i = 0; far && i < k->ndevices; i++)
        far[i] = device_distance(here, &k->devices[i].dev);
    while (!rc && (nearest = take_least(far, k->ndevices, &least)) >= 0) {
        const struct known_device *d = &k->devices[nearest];
        double *distance = problem_distances(k, d, op, row, problem);
        rc = distance ? 0 : err_nomem(err);
        for (int other = 0; !rc && other < 2; other++)
            rc = each_on(k, d, distance, row, !other, each, arg, err);
        mem_free(distance);
    }
    mem_free(far);
    return rc;
}

/* ENOUGH: no more are wanted. A configuration that is not of this space, or that is there already, is passed over. */
static int enlist(struct run *r, const struct config *c)
{
    int64_t index = space_find(r->space, c);
    for (int i = 0; i < r->njobs; i++)
        if (r->jobs[i]->index == index)
            index = -1;
    if (index >= 0 && r->accepted < r->limit) {
        struct job *job = run_enlist(r, index);
        if (job)
            job->hinted = true;
    }
    int hints = r->njobs - (r->deflt ? 1 : 0);
    return r->failed || hints >= MOST_HINTS || r->accepted >= r->limit ? ENOUGH : 0;
}

static int enlist_text(struct run *r, const char *variant, const char *text)
{
    struct config c;
    return config_parse(r->op, variant, text, &c, NULL) ? 0 : enlist(r, &c);
}

static int take_neighbour(void *arg, const struct tuned_problem *p)
{
    struct buf text = { 0 };
    int rc = config_of_json(&text, p->json) && !text.failed ? enlist_text(arg, p->variant, buf_text(&text)) : 0;
    buf_free(&text);
    return rc;
}

static int take_default(void *arg, struct tuned *t)
{
    int rc = enlist_text(arg, t->variant, t->config);
    tuned_free(t);
    return rc;
}

static int from_neighbours(struct run *r, struct err *err)
{
    struct tuning_of tuning = { .device = r->target.device, .problem = r->target.problem };
    struct knowledge *all = NULL;
    int rc = store_first_measured(r->store, &r->target, &tuning.before, err) ?: knowledge_load(r->store, r->op, &tuning, &all, err)
                 ?: hints_each(all, r->op, r->task.row, &r->task.problem, r->dev, take_neighbour, r, err);
    knowledge_free(all);
    return rc;
}

/* The script's other defaults stand between what is tuned there and its defaults. */
static int from_tables(struct run *r, struct err *err)
{
    char *path = NULL;
    struct store *tables = NULL;
    struct buf types = { 0 };
    op_row_print(&types, r->op, r->task.row);
    struct knowledge *all = NULL;
    int rc = buf_check(&types, err) ?: tables_find(NULL, &path, err) ?: path ? store_open(path, STORE_TABLES, &tables, err) : 0;
    if (!rc && tables)
        rc = knowledge_load(tables, r->op, NULL, &all, err)
                 ?: hints_each(all, r->op, r->task.row, &r->task.problem, r->dev, take_neighbour, r, err);
    knowledge_free(all);
    for (int i = 0; !rc && i < r->op->ndefaults; i++)
        rc = enlist(r, &r->op->defaults[i].config);
    if (!rc && tables)
        rc = store_each_default(tables, r->dev->backend, r->op->name, buf_text(&types), take_default, r, err);
    store_close(tables);
    mem_free(path);
    buf_free(&types);
    return rc;
}

void hints_enlist(struct run *r)
{
    struct err err = { 0 };
    char line[sizeof err.msg + 64];
    int damaged = store_left_out(r->store); /* before */
    int rc = from_neighbours(r, &err) ?: from_tables(r, &err);
    for (store_left_out(r->store); damaged > 0; damaged--) /* what is damaged here is one suggestion less */
        store_leave_out(r->store);
    snprintf(line, sizeof line, "begun without what look-ups would give: %s", err.msg);
    if (rc < 0 && r->opt->note)
        r->opt->note(r->opt->arg, line);
}

void hints_only(struct run *r)
{
    for (int i = 0; i < r->opt->nonly; i++) {
        int64_t index = space_find(r->space, &r->opt->only[i]);
        if (index >= 0 && !(r->deflt && r->deflt->index == index))
            run_enlist(r, index);
    }
    if (r->opt->only)
        r->limit = r->accepted;
}
