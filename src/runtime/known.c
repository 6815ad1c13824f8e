/* What the database knows of an op: its winners on each device, and what every configuration of a winner took on every tuned problem. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/near.h"
#include "runtime/runtime.h"

uint32_t problem_flags(const struct op *op, const struct problem *p)
{
    uint32_t flags = 0;
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_FLAG && p->size[i])
            flags |= 1u << i;
    return flags;
}

/* Rows come in any order: first all winners are taken, then arrays of their number are made. */
struct reading {
    const struct op *op;
    struct knowledge *k;
    struct err *err;
    /* the problem of the last measurement: its words, and where it is, if it is among the winners' */
    struct buf types, sizes;
    int64_t device;
    struct known_device *at;
    int problem;
    bool found;
};

static struct known_device *device_of(struct reading *r, const struct winner *w)
{
    struct knowledge *k = r->k;
    for (int i = 0; i < k->ndevices; i++)
        if (k->devices[i].id == w->device)
            return &k->devices[i];
    struct known_device *more = mem_resize(k->devices, (size_t)k->ndevices + 1, sizeof *more);
    if (!more)
        return NULL;
    k->devices = more;
    more[k->ndevices] = (struct known_device){ .id = w->device, .dev = w->dev };
    return &more[k->ndevices++];
}

/* The op's order of magnitude of work: bytes, else operations. */
static double work_of(const struct winner *w)
{
    return w->bytes > 0 ? w->bytes : w->flops;
}

static int take_winner(void *arg, const struct winner *w)
{
    struct reading *r = arg;
    struct tuned_problem p = { .time_ns = w->time_ns, .work = work_of(w) };
    p.row = op_row(r->op, w->types, NULL);
    if (p.row < 0 || problem_parse(r->op, w->sizes, &p.problem, NULL))
        return 0; /* of types that the op no longer has, or damaged: nothing to learn from */
    struct known_device *d = device_of(r, w);
    if (!d)
        return err_nomem(r->err);
    if (!mem_grow((void **)&d->problems, d->nproblems, sizeof *d->problems))
        return err_nomem(r->err);
    p.flags = problem_flags(r->op, &p.problem);
    p.point = arena_alloc(r->k->arena, sizeof *p.point);
    p.variant = arena_strdup(r->k->arena, w->variant);
    p.config = arena_strdup(r->k->arena, w->config);
    if (!p.point || !p.variant || !p.config)
        return err_nomem(r->err);
    int bytes[MAX_TYPES];
    for (int t = 0; t < r->op->ntypes; t++)
        bytes[t] = r->op->rows[p.row * r->op->ntypes + t]->bytes;
    near_point_set(p.point, p.problem.size, r->op->naxes, bytes, r->op->ntypes);
    d->problems[d->nproblems++] = p;
    return 0;
}

static int column_of(const struct known_device *d, const char *variant, const char *config)
{
    for (int i = 0; i < d->ncandidates; i++)
        if (!strcmp(d->candidates[i].config, config) && !strcmp(d->candidates[i].variant, variant))
            return d->candidates[i].column;
    return -1;
}

static int list_candidates(struct known_device *d, struct err *err)
{
    d->candidates = mem_array((size_t)d->nproblems, sizeof *d->candidates);
    if (!d->candidates)
        return err_nomem(err);
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = &d->problems[i];
        bool there = false;
        for (int j = 0; j < d->ncandidates && !there; j++) {
            const struct candidate *c = &d->candidates[j];
            there = c->row == p->row && c->flags == p->flags && !strcmp(c->config, p->config) && !strcmp(c->variant, p->variant);
        }
        if (there)
            continue;
        int column = column_of(d, p->variant, p->config);
        d->candidates[d->ncandidates++] = (struct candidate){
            .problem = i,
            .row = p->row,
            .flags = p->flags,
            .variant = p->variant,
            .config = p->config,
            .column = column >= 0 ? column : d->ncolumns++,
        };
    }
    size_t n = (size_t)d->nproblems * (size_t)d->ncolumns;
    d->slowdown = mem_array(n, sizeof *d->slowdown);
    if (!d->slowdown)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        d->slowdown[i] = NAN;
    return 0;
}

static void put_time(const struct known_device *d, int problem, int column, double ns)
{
    const struct tuned_problem *p = &d->problems[problem];
    if (column >= 0 && ns > 0 && p->time_ns > 0) {
        double loss = log(ns / p->time_ns);
        d->slowdown[(size_t)problem * (size_t)d->ncolumns + (size_t)column] = loss > 0 ? loss : 0;
    }
}

/* The tuned problem that a measurement is of. Measurements come problem by problem, so the last one found is asked first. */
static bool problem_of(struct reading *r, const struct timed *t)
{
    if (r->at && r->device == t->device && !strcmp(buf_text(&r->types), t->types) && !strcmp(buf_text(&r->sizes), t->sizes))
        return r->found;
    buf_clear(&r->types);
    buf_clear(&r->sizes);
    buf_str(&r->types, t->types);
    buf_str(&r->sizes, t->sizes);
    r->device = t->device;
    r->found = false;
    struct problem problem = { 0 };
    int row = op_row(r->op, t->types, NULL);
    if (row < 0 || problem_parse(r->op, t->sizes, &problem, NULL))
        return false;
    for (int i = 0; i < r->k->ndevices; i++) {
        r->at = &r->k->devices[i];
        for (r->problem = 0; r->at->id == t->device && r->problem < r->at->nproblems; r->problem++) {
            const struct tuned_problem *p = &r->at->problems[r->problem];
            if (p->row == row && !memcmp(&p->problem, &problem, sizeof problem))
                return r->found = true;
        }
    }
    return false;
}

static int take_time(void *arg, const struct timed *t)
{
    struct reading *r = arg;
    if (problem_of(r, t))
        put_time(r->at, r->problem, column_of(r->at, t->variant, t->config), t->median);
    return r->types.failed || r->sizes.failed ? err_nomem(r->err) : 0;
}

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->ndevices; i++) {
        struct known_device *d = &k->devices[i];
        for (int j = 0; j < d->ncandidates; j++) {
            plan_free(d->candidates[j].plan);
            op_free(d->candidates[j].op);
            tuned_free(d->candidates[j].tuned);
        }
        mem_free(d->problems);
        mem_free(d->candidates);
        mem_free(d->slowdown);
    }
    mem_free(k->devices);
    arena_free(k->arena);
    mem_free(k);
}

int knowledge_load(struct store *s, const struct op *op, struct knowledge **out, struct err *err)
{
    struct reading r = { .op = op, .k = mem_zalloc(sizeof *r.k), .err = err };
    if (!r.k || !(r.k->arena = arena_new())) {
        mem_free(r.k);
        return err_nomem(err);
    }
    int rc = store_each_winner_of(s, op->name, take_winner, &r, err);
    for (int i = 0; !rc && i < r.k->ndevices; i++)
        rc = list_candidates(&r.k->devices[i], err);
    if (!rc && r.k->ndevices)
        rc = store_each_time(s, op->name, take_time, &r, err);
    for (int i = 0; !rc && i < r.k->ndevices; i++) { /* a winner's own time holds where its measurement is gone */
        const struct known_device *d = &r.k->devices[i];
        for (int j = 0; j < d->nproblems; j++)
            put_time(d, j, column_of(d, d->problems[j].variant, d->problems[j].config), d->problems[j].time_ns);
    }
    buf_free(&r.types);
    buf_free(&r.sizes);
    if (rc)
        knowledge_free(r.k);
    else
        *out = r.k;
    return rc;
}

int winner_load(struct store *s, const struct op *op, const struct known_device *d, const struct tuned_problem *p,
                struct tuned **out, struct err *err)
{
    struct buf types = { 0 }, sizes = { 0 };
    struct tuned *t = NULL;
    op_row_print(&types, op, p->row);
    problem_print(&sizes, op, &p->problem);
    int rc = types.failed || sizes.failed ? err_nomem(err) : 0;
    if (!rc)
        rc = store_find_winner(s, &d->dev, op->name, buf_text(&types), buf_text(&sizes), &t, err);
    if (!rc && (strcmp(t->variant, p->variant) || strcmp(t->config, p->config)))
        rc = err_set(err, ERR_NOTFOUND, "the winner of %s %s changed just now", op->name, buf_text(&sizes));
    buf_free(&types);
    buf_free(&sizes);
    if (rc)
        tuned_free(t);
    else
        *out = t;
    return rc;
}

int candidate_plan(struct store *s, const struct op *op, const struct known_device *d, struct candidate *c, struct err *err)
{
    if (c->plan)
        return 0;
    if (c->unusable)
        return ERR_CORRUPT;
    int rc = c->tuned ? 0 : winner_load(s, op, d, &d->problems[c->problem], &c->tuned, err);
    if (!rc && !c->op)
        rc = rebuild_op(op, c->tuned, &c->op, err);
    if (!rc)
        rc = plan_new(c->op, 0, &c->plan, err);
    c->unusable = rc && rc != ERR_NOMEM && rc != ERR_BUSY;
    return rc;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_arg(const struct arg *a, const struct arg *b)
{
    if (strcmp(a->name, b->name) || a->kind != b->kind || !same_text(a->type, b->type) || !same_text(a->value, b->value) ||
        a->rank != b->rank)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (strcmp(a->extent[d], b->extent[d]))
            return false;
    return true;
}

/* Whether a caller of one can call the other, and the kernels of one take the arguments of the other. */
static bool same_interface(const struct op *a, const struct op *b)
{
    if (a->naxes != b->naxes || a->ntypes != b->ntypes || a->nargs != b->nargs)
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (strcmp(a->axes[i].name, b->axes[i].name) || a->axes[i].kind != b->axes[i].kind)
            return false;
    for (int i = 0; i < a->ntypes; i++)
        if (strcmp(a->types[i], b->types[i]))
            return false;
    for (int i = 0; i < a->nargs; i++)
        if (!same_arg(&a->args[i], &b->args[i]))
            return false;
    return true;
}

static bool same_rows(const struct op *a, const struct op *b)
{
    return a->nrows == b->nrows && !memcmp(a->rows, b->rows, (size_t)(a->nrows * a->ntypes) * sizeof *a->rows);
}

bool known_op_same(const struct known_op *a, const struct known_op *b)
{
    return same_interface(a->op, b->op) && same_rows(a->op, b->op);
}

int known_op_check(struct store *s, const struct known_op *k, bool *holds, struct err *err)
{
    struct op *now = NULL;
    if (!s || !k->in_store)
        return 0;
    int rc = store_op(s, k->op->name, &now, err);
    if (!rc)
        *holds = same_interface(k->op, now) && same_rows(k->op, now);
    op_free(now);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

void known_op_free(struct known_op *k)
{
    if (!k)
        return;
    knowledge_free(k->all);
    op_free(k->op);
    mem_free(k);
}

/* Whether the kernels of one were proved against what those of the other were; true if one of them does not know. */
static bool same_contract(const struct op *a, const struct op *b)
{
    return !a->contract || !b->contract || !strcmp(a->contract, b->contract);
}

bool known_op_shipped(struct cutune *c, struct known_op *k)
{
    struct op *shipped = NULL;
    struct store *tables = k->shipped == SHIPPED_UNKNOWN ? tables_of(c) : NULL;
    if (k->shipped == SHIPPED_UNKNOWN) {
        bool same = tables && !store_op(tables, k->op->name, &shipped, NULL) && same_interface(k->op, shipped) &&
                    same_contract(k->op, shipped);
        k->shipped = same ? SHIPPED_SAME : SHIPPED_NOT;
        op_free(shipped);
    }
    return k->shipped == SHIPPED_SAME;
}

int known_op_new(struct cutune *c, const char *name, struct known_op **out, struct err *err)
{
    struct known_op *k = mem_zalloc(sizeof *k);
    struct err why = { 0 };
    struct store *tables;
    if (!k)
        return err_nomem(err);
    int rc = c->store ? store_op(c->store, name, &k->op, &why)
                      : err_set(&why, ERR_NOTFOUND, "nothing is known of the op '%s': there is no database yet", name);
    k->in_store = rc == 0;
    if (rc == ERR_NOTFOUND && (tables = tables_of(c))) {
        rc = store_op(tables, name, &k->op, c->store ? NULL : &why);
        k->shipped = SHIPPED_SAME;
        if (rc && c->store)
            why.code = rc;
    }
    if (rc) {
        known_op_free(k);
        return err_set(err, rc, "%s", why.msg);
    }
    *out = k;
    return 0;
}
