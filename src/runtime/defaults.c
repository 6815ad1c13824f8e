/* Which defaults may run: runtime/defaults.h. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

/* What is asked of them. */
struct asked {
    struct defaults *d;
    const struct problem *problem;
    const struct devspec *dev;
    int rc; /* of the last that was asked */
    struct err *err;
};

static int holds(const struct asked *a, const struct plan *p)
{
    struct val slots[MAX_SLOTS];
    plan_slots(p, a->problem, a->d->row, a->dev, &only_config, slots);
    const char *why = plan_refuses(p, slots, a->dev);
    return why ? err_set(a->err, ERR_UNSUPPORTED, "%s", why) : 0;
}

/* Most are refused by a constraint, so the whole plan is made only where all of them hold. */
static int may_run(const struct asked *a, struct read_default *r)
{
    if (r->bad)
        return err_set(a->err, ERR_CORRUPT, "its code is damaged");
    int rc = r->where ? 0 : kernel_plan(r->t->op, a->d->op, plan_constraints, &r->where, a->err);
    rc = rc ?: holds(a, r->where);
    if (!rc && !r->plan)
        rc = kernel_plan(r->t->op, a->d->op, plan_new, &r->plan, a->err);
    return rc ?: holds(a, r->plan);
}

static bool refuses(int rc)
{
    return rc == ERR_UNSUPPORTED || rc == ERR_CORRUPT;
}

enum { STOP_READING = 1 }; /* returned by a callback */

static int take(void *arg, struct tuned *t)
{
    struct asked *a = arg;
    struct defaults *d = a->d;
    if (!mem_grow((void **)&d->all, d->n, sizeof *d->all)) {
        tuned_free(t);
        a->rc = err_nomem(a->err);
        return STOP_READING;
    }
    d->all[d->n++] = (struct read_default){ .t = t };
    d->bytes += t->bytes;
    a->rc = may_run(a, &d->all[d->n - 1]);
    return refuses(a->rc) && d->bytes < MOST_DEFAULT_BYTES ? 0 : STOP_READING;
}

int defaults_get(struct defaults **all, struct store *s, const struct op *op, const char *backend, int row, struct defaults **out,
                 struct err *err)
{
    struct defaults *d = *all;
    uint64_t now = 0;
    int rc = store_generation(s, &now, err);
    if (rc)
        return rc;
    while (d && (d->from != s || d->row != row || strcmp(d->backend, backend)))
        d = d->next;
    if (!d) {
        d = mem_zalloc(sizeof *d);
        if (!d)
            return err_nomem(err);
        *d = (struct defaults){ .next = *all, .from = s, .op = op, .row = row };
        snprintf(d->backend, sizeof d->backend, "%s", backend);
        *all = d;
    }
    if (d->generation != now)
        defaults_clear(d);
    d->generation = now;
    *out = d;
    return 0;
}

int defaults_next(struct defaults *d, const struct problem *problem, const struct devspec *dev, int *at, const struct tuned **out,
                  struct err *err)
{
    struct asked a = { .d = d, .problem = problem, .dev = dev, .rc = ERR_NOTFOUND, .err = err };
    for (; *at < d->n; ++*at) {
        a.rc = may_run(&a, &d->all[*at]);
        if (!refuses(a.rc))
            break;
    }
    if (*at >= d->n && !d->whole) {
        struct buf types = { 0 };
        int next = d->n ? d->all[d->n - 1].t->rank + 1 : 0;
        op_row_print(&types, d->op, d->row);
        int rc = buf_check(&types, err) ?: store_each_default(d->from, d->backend, d->op->name, types.data, next, take, &a, err);
        buf_free(&types);
        if (rc < 0)
            return rc;
        d->whole = !rc || d->bytes >= MOST_DEFAULT_BYTES;
        if (!a.rc)
            *at = d->n - 1;
        else if (refuses(a.rc) || a.rc == ERR_NOTFOUND)
            *at = d->n;
    }
    if (!a.rc)
        *out = d->all[*at].t;
    return a.rc;
}

void defaults_clear(struct defaults *d)
{
    for (int i = 0; i < d->n; i++) {
        plan_free(d->all[i].where);
        plan_free(d->all[i].plan);
        tuned_free(d->all[i].t);
    }
    mem_free(d->all);
    d->all = NULL;
    d->n = 0;
    d->bytes = 0;
    d->whole = false;
}

void defaults_free(struct defaults *d)
{
    while (d) {
        struct defaults *next = d->next;
        defaults_clear(d);
        mem_free(d);
        d = next;
    }
}
