#include "export/c_tables.h"

#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "runtime/runtime.h"

static bool chosen(const struct c_choice *c, const char *op, const char *backend, const char *name, const char *arch)
{
    bool device =
        !c->device || !strcmp(c->device, backend) || (name && !strcmp(c->device, name)) || (arch && !strcmp(c->device, arch));
    bool named = !c->ops;
    for (int i = 0; i < c->nops && !named; i++)
        named = !strcmp(c->ops[i], op);
    return device && named;
}

/* What a callback works with. */
struct reading {
    struct c_tables *t;
    struct c_op *op;
    struct err *err;
    bool device_seen;
};

/* ---- winners */

static int device_of(struct c_tables *t, const struct devspec *dev)
{
    for (int i = 0; i < t->ndevices; i++)
        if (devspec_same(&t->devices[i], dev))
            return i;
    if (!mem_grow((void **)&t->devices, t->ndevices, sizeof *t->devices))
        return -1;
    t->devices[t->ndevices] = *dev;
    return t->ndevices++;
}

static int take_winner(void *arg, const struct winner *w)
{
    struct reading *r = arg;
    struct c_op *op = r->op;
    if (!chosen(r->t->choice, op->op->name, w->dev.backend, w->dev.name, w->dev.arch))
        return 0;
    struct c_winner new = { device_of(r->t, &w->dev), w->device, w->id, NULL, NULL, w->time_ns, w->bytes, w->flops, NULL };
    if (new.device < 0 || !mem_grow((void **)&op->winners, op->nwinners, sizeof *op->winners))
        return err_nomem(r->err);
    new.types = mem_strdup(w->types);
    new.sizes = mem_strdup(w->sizes);
    op->winners[op->nwinners++] = new;
    return new.types &&new.sizes ? 0 : err_nomem(r->err);
}

/* A kernel's expressions, over the scope that the library evaluates them in. A damaged record is left as it is: it serves nobody. */
static int add_formulas(struct c_tables *t, const struct op *op, const struct tuned *k, struct err *err)
{
    struct op *own = NULL;
    struct plan *plan = NULL;
    int rc = rebuild_op(op, k, &own, err);
    if (!rc)
        rc = plan_new(own, 0, &plan, err);
    if (!rc)
        rc = c_formulas_add_plan(&t->formulas, plan, err);
    plan_free(plan);
    op_free(own);
    return rc == ERR_NOMEM ? rc : 0;
}

/* A winner whose record is damaged is left out. */
static int read_kernels(struct c_tables *t, struct c_op *op, struct err *err)
{
    int n = 0, rc = 0;
    for (int i = 0; i < op->nwinners; i++) {
        struct c_winner *w = &op->winners[i];
        struct err why = { 0 };
        int read = rc ? 0 : store_tuned(t->store, w->id, &w->kernel, &why);
        if (read == ERR_CORRUPT) {
            store_leave_out(t->store);
            mem_free(w->types);
            mem_free(w->sizes);
            continue;
        }
        if (read)
            rc = err_set(err, read, "%s", why.msg);
        else if (!rc)
            rc = add_formulas(t, op->op, w->kernel, err);
        op->winners[n++] = *w;
    }
    op->nwinners = n;
    return rc;
}

/* ---- what the winners' configurations took on each other's problems */

static int take_time(void *arg, const struct timed *m)
{
    struct reading *r = arg;
    struct c_op *op = r->op;
    struct c_time new = { -1, -1, m->median };
    for (int i = 0; i < op->nwinners; i++) {
        const struct c_winner *w = &op->winners[i];
        if (w->device_id != m->device)
            continue;
        if (new.problem < 0 && !strcmp(w->types, m->types) && !strcmp(w->sizes, m->sizes))
            new.problem = i;
        if (new.kernel < 0 && !strcmp(w->kernel->variant, m->variant) && !strcmp(w->kernel->config, m->config))
            new.kernel = i;
    }
    if (new.problem < 0 || new.kernel < 0)
        return 0;
    if (!mem_grow((void **)&op->times, op->ntimes, sizeof *op->times))
        return err_nomem(r->err);
    op->times[op->ntimes++] = new;
    return 0;
}

/* ---- defaults */

static int take_defaults(struct c_tables *t, struct c_op *op, const char *backend, int row, struct err *err)
{
    struct buf types = { 0 };
    struct tuned **all = NULL;
    int n = 0, taken = 0;
    op_row_print(&types, op->op, row);
    struct err why = { 0 };
    int rc =
        types.failed ? err_nomem(&why) : store_find_defaults(t->store, backend, op->op->name, buf_text(&types), &all, &n, &why);
    if (rc == ERR_CORRUPT) {
        store_leave_out(t->store);
        rc = 0;
    } else if (rc) {
        err_set(err, rc, "%s", why.msg);
    }
    for (; !rc && taken < n; taken++) {
        if (!mem_grow((void **)&op->defaults, op->ndefaults, sizeof *op->defaults)) {
            rc = err_nomem(err);
            break;
        }
        struct c_default *d = &op->defaults[op->ndefaults++];
        *d = (struct c_default){ backend, mem_strdup(buf_text(&types)), all[taken] };
        rc = d->types ? add_formulas(t, op->op, d->kernel, err) : err_nomem(err);
    }
    while (taken < n)
        tuned_free(all[taken++]);
    mem_free(all);
    buf_free(&types);
    return rc;
}

/* A device's defaults are its backend's. */
static int read_defaults(struct c_tables *t, struct c_op *op, struct err *err)
{
    const struct backend *b;
    int rc = 0;
    for (int i = 0; !rc && (b = backend_at(i)); i++) {
        bool wanted = !t->choice->device || !strcmp(t->choice->device, b->name);
        for (int j = 0; j < t->ndevices; j++)
            wanted = wanted || !strcmp(t->devices[j].backend, b->name);
        for (int row = 0; wanted && !rc && row < op->op->nrows; row++)
            rc = take_defaults(t, op, b->name, row, err);
    }
    return rc;
}

/* ---- ops */

static int take_op(void *arg, const char *name)
{
    struct reading *r = arg;
    struct c_tables *t = r->t;
    bool named = !t->choice->ops;
    for (int i = 0; i < t->choice->nops; i++)
        named = named || !strcmp(t->choice->ops[i], name);
    if (!named)
        return 0;
    if (!mem_grow((void **)&t->ops, t->nops, sizeof *t->ops))
        return err_nomem(r->err);
    struct c_op *op = &t->ops[t->nops++];
    struct err why = { 0 };
    *op = (struct c_op){ 0 };
    int rc = store_op(t->store, name, &op->op, &why);
    if (rc != ERR_CORRUPT)
        return rc ? err_set(r->err, rc, "%s", why.msg) : 0;
    store_leave_out(t->store);
    t->nops--;
    return 0;
}

static int read_op(struct c_tables *t, struct c_op *op, struct err *err)
{
    struct reading r = { .t = t, .op = op, .err = err };
    struct plan *plan = NULL;
    int rc = plan_new(op->op, -1, &plan, err);
    if (!rc)
        rc = c_formulas_add_plan(&t->formulas, plan, err);
    plan_free(plan);
    if (!rc)
        rc = store_each_winner_of(t->store, op->op->name, take_winner, &r, err);
    if (!rc)
        rc = read_kernels(t, op, err);
    if (!rc && op->nwinners)
        rc = store_each_time(t->store, op->op->name, take_time, &r, err);
    return rc;
}

static int take_record(void *arg, const struct listed *l)
{
    struct reading *r = arg;
    struct buf *out = &r->t->records;
    if (!chosen(r->t->choice, l->op, l->backend, l->device, l->arch))
        return 0;
    r->device_seen = true;
    r->t->nrecords++;
    const char *const words[] = { l->op, l->types, l->problem, l->backend, l->device, l->arch, l->variant, l->config };
    buf_str(out, "    { sizeof(cutune_record)");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        buf_str(out, ", ");
        c_text(out, words[i]);
    }
    buf_str(out, ", ");
    c_real(out, l->time_ns);
    buf_fmt(out, ", %d },\n", l->stale);
    return out->failed ? err_nomem(r->err) : 0;
}

static int check_choice(const struct c_tables *t, const struct reading *r, struct err *err)
{
    const struct c_choice *c = t->choice;
    bool backend = false;
    for (int i = 0; i < c->nops; i++) {
        bool there = false;
        for (int j = 0; j < t->nops; j++)
            there = there || !strcmp(t->ops[j].op->name, c->ops[i]);
        if (!there)
            return err_set(err, ERR_NOTFOUND, "%s: op %s is not known to this database: nothing was tuned for it",
                           store_path(t->store), c->ops[i]);
    }
    for (int i = 0; i < t->nops; i++)
        backend = backend || t->ops[i].ndefaults > 0;
    if (c->device && !r->device_seen && !backend)
        return err_set(err, ERR_NOTFOUND,
                       "%s: nothing is tuned on '%s': name a device, an architecture or a backend of `cutune list`",
                       store_path(t->store), c->device);
    return 0;
}

static int read_all(struct c_tables *t, struct err *err)
{
    struct reading r = { .t = t, .err = err };
    int rc = store_each_op(t->store, take_op, &r, err);
    for (int i = 0; !rc && i < t->nops; i++)
        rc = read_op(t, &t->ops[i], err);
    for (int i = 0; !rc && i < t->nops; i++) /* all devices are known now */
        rc = read_defaults(t, &t->ops[i], err);
    if (!rc)
        rc = store_each_winner(t->store, take_record, &r, err);
    return rc ? rc : check_choice(t, &r, err);
}

int c_tables_read(struct c_tables *t, struct err *err)
{
    int rc = c_formulas_open(&t->formulas, err);
    if (rc || (rc = store_begin(t->store, false, err)))
        return rc;
    return store_end(t->store, read_all(t, err), err);
}

static void op_done(struct c_op *op)
{
    for (int i = 0; i < op->nwinners; i++) {
        mem_free(op->winners[i].types);
        mem_free(op->winners[i].sizes);
        tuned_free(op->winners[i].kernel);
    }
    for (int i = 0; i < op->ndefaults; i++) {
        mem_free(op->defaults[i].types);
        tuned_free(op->defaults[i].kernel);
    }
    mem_free(op->winners);
    mem_free(op->times);
    mem_free(op->defaults);
    op_free(op->op);
}

void c_tables_free(struct c_tables *t)
{
    for (int i = 0; i < t->nops; i++)
        op_done(&t->ops[i]);
    mem_free(t->ops);
    mem_free(t->devices);
    buf_free(&t->records);
    c_formulas_free(&t->formulas);
}
