/* Another problem, on the same buffers. A kernel is right for each problem that its constraints take, and for any scalars, so it has to give
 * what the reference gives for another problem with other scalars, too. That one has to fit into the buffers at hand, so it is smaller.
 *
 * Such a problem has a bench of its own: a copy of the bench it was made of, with its own sizes, bindings of reference and init, and expected
 * results. Memory, code and device are those of the other, so of the two only one can hold anything at a time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/element.h"
#include "measure/internal.h"

/* ---- which problem */

enum { UNITS = 11, FRACTIONS = 4, SIZES = 2 * UNITS + FRACTIONS };

/* The k-th size to try in place of n. First about a quarter, which costs little: an odd multiple of the finest unit that constraints take, so
 * that it ends in the midst of a tile; twice an odd one if n is an odd one itself, so that nothing which rests on n's remainder holds; of
 * each axis another one, so that axes which are exchanged show. Then the same for all axes; then what suits other constraints of
 * divisibility. */
static int64_t nth_size(int64_t n, int k, int axis)
{
    const int64_t unit = (int64_t)1 << k % UNITS, fractions[FRACTIONS] = { n / 4, n / 2, n - n / 3, n - 1 };
    const int64_t quarter = n / 4 / unit, step = k < UNITS ? 2 * axis : 0;
    int64_t units = n / unit % 2 ? (quarter | 3) - 1 + 2 * step : (quarter | 1) + step;
    int64_t size = k < 2 * UNITS ? unit * units : fractions[k - 2 * UNITS];
    return MAX(1, MIN(size, n));
}

bool candidate_fits(const struct bench *b, const struct loaded *l, const struct binding *of)
{
    for (int i = 0; i < of->n; i++) {
        const struct guest_launch *now = &of->launches[i], *own = l->own.launches;
        while (own < l->own.launches + l->own.n && own->of != now->of)
            own++;
        if (own == l->own.launches + l->own.n || now->geometry.shared > own->geometry.shared)
            return false;
        for (int k = 0; k < now->nparams; k++)
            if (now->params[k].kind != GUEST_VALUE && now->params[k].room > l->own.args[now->params[k].index].room)
                return false;
    }
    for (int i = 0; i < b->nargs; i++)
        if (of->args[i].room > l->own.args[i].room)
            return false;
    for (int i = 0; i < of->nconstants; i++)
        if (of->constants[i].bytes > l->own.constants[i].bytes)
            return false;
    return !plan_refuses(of->plan, of->vals, &b->set.dev);
}

/* A candidate whose other problem is looked for. */
struct choice {
    struct bench *b;
    const struct config *config;
    struct loaded *l;
    struct problem p; /* what was found so far */
    int rc;           /* ERR_NOMEM: it was not found for lack of memory */
};

static uint64_t variation_of(const struct bench *b, const struct problem *p)
{
    uint64_t h = 1;
    for (int i = 0; i < b->set.op->naxes; i++)
        h = rand_at(h, (uint64_t)p->size[i]);
    return h | 1;
}

static struct bench *made_already(const struct bench *b, const struct problem *p)
{
    for (int i = 0; i < MAX_OTHERS && b->others[i]; i++)
        if (!memcmp(&b->others[i]->set.problem, p, sizeof *p))
            return b->others[i];
    return NULL;
}

/* Whether it can be run here; then c->p is it. */
static bool take(struct choice *c, const struct problem *p)
{
    struct bench *b = c->b;
    struct val vals[MAX_SLOTS];
    struct binding init = { 0 };
    if (!memcmp(p, &c->p, sizeof *p))
        return false;
    plan_slots(c->l->own.plan, p, b->set.row, &b->set.dev, c->config, vals);
    if (plan_refuses(c->l->own.plan, vals, &b->set.dev))
        return false;
    int rc = binding_make(&b->plans, &b->set, p, ALL_OTHERS, c->config, &c->l->other, NULL);
    rc = rc ?: candidate_fits(b, c->l, &c->l->other) ? 0 : ERR_UNSUPPORTED;
    if (!rc && !made_already(b, p))
        rc = data_other(b, p) ?: init_other(b, p, &init, NULL);
    binding_free(&init);
    c->rc = rc == ERR_NOMEM ? rc : c->rc;
    if (!rc)
        c->p = *p;
    return !rc;
}

void strides_settle(const struct bench *b, struct problem *p)
{
    const struct op *op = b->set.op;
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_STRIDE && axis_is_preset(op, i, &b->set.problem))
            axis_preset(op, i, p, &p->size[i], NULL);
}

/* With the first of these sizes of an axis that can be. */
static void try_sizes(struct choice *c, int axis, const int64_t *sizes, int n)
{
    bool done = false;
    for (int k = 0; k < n && !done; k++) {
        struct problem p = c->p;
        p.size[axis] = sizes[k];
        if (axis_is_size(&c->b->set.op->axes[axis]))
            strides_settle(c->b, &p);
        done = sizes[k] == c->p.size[axis] || take(c, &p);
    }
}

/* All axes at once; then each as fine as its constraints let it be. Where there is one of something, or a stride, it can only grow: rows must
 * not overlap. */
static void look_for(struct choice *c)
{
    const struct op *op = c->b->set.op;
    const struct problem own = c->p;
    int64_t sizes[MAX_AXES][SIZES];
    int at = 0;
    for (int i = 0; i < op->naxes; i++)
        for (int k = 0; k < SIZES; k++)
            sizes[i][k] = axis_is_size(&op->axes[i]) ? nth_size(own.size[i], k, i) : own.size[i];
    for (bool found = false; at < SIZES && !found; at += !found) {
        struct problem p = own;
        for (int i = 0; i < op->naxes; i++)
            p.size[i] = sizes[i][at];
        strides_settle(c->b, &p);
        found = take(c, &p);
    }
    for (int i = 0; i < op->naxes; i++)
        if (axis_is_size(&op->axes[i]))
            try_sizes(c, i, sizes[i], at);
    for (int i = 0; i < op->naxes; i++) /* A small size may still be the tuned one. */
        if (axis_is_size(&op->axes[i]) && c->p.size[i] == own.size[i])
            try_sizes(c, i, own.size[i] == 1 ? (int64_t[]){ 2, 3 } : (int64_t[]){ own.size[i] - 1, MAX(1, own.size[i] - 2) }, 2);
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_STRIDE && c->p.size[i] < INT64_MAX / 4)
            try_sizes(c, i, (int64_t[]){ 2 * c->p.size[i] + !(c->p.size[i] % 2), 2 * c->p.size[i] + c->p.size[i] % 2 }, 2);
}

/* ---- its bench */

int scalar_other(const struct bench *b, int arg, unsigned char other[16], bool *varies, struct err *err)
{
    unsigned char tuned[16];
    int size;
    int rc = plan_arg_value(b->plan, arg, b->vals, tuned, &size, err) ?: plan_arg_other(b->plan, arg, b->vals, other, &size, err);
    *varies = !rc && memcmp(tuned, other, (size_t)size) != 0;
    return rc;
}

/* The scalars that have another value: "alpha=0.25". */
static int put_scalars(const struct bench *b, struct buf *out, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct arg *a = b->args[i].arg;
        unsigned char other[16];
        bool varies = false;
        rc = a->kind == ARG_SCALAR ? scalar_other(b, i, other, &varies, err) : 0;
        if (!varies)
            continue;
        buf_fmt(out, "%s%s=", out->len ? "," : "", a->name);
        number_print(out, op_arg_dtype(b->set.op, a->type, b->set.row), other, false);
    }
    return rc;
}

static int name_it(struct bench *o, struct err *err)
{
    struct buf text = { 0 };
    problem_print(&text, o->set.op, &o->set.problem);
    int rc = put_scalars(o, &text, err) ?: buf_check(&text, err);
    snprintf(o->name, sizeof o->name, "%s", buf_text(&text));
    buf_free(&text);
    return rc;
}

static int make_arg(struct bench *o, int i, struct err *err)
{
    struct bench_arg *a = &o->args[i];
    for (int pass = 0; pass < PASSES; pass++) {
        a->expected[pass] = NULL;
        a->tolerance[pass] = (struct tolerance){ .close = false };
        a->moot[pass] = false;
    }
    a->written = a->written && !a->given && !o->alone;
    a->given = false;
    a->buf.rest = a->buf.bytes;
    int rc = arg_is_buffer(a->arg) ? plan_arg_bytes(o->plan, i, o->vals, &a->buf.bytes, err) : 0;
    a->buf.rest -= a->buf.bytes;
    if (a->service)
        a->n = a->buf.bytes / a->service->type->bytes;
    rc = rc ?: plan_bounds(o->plan, i, o->vals, &a->check, err);
    return rc || !data_said(&a->arg->data) ? rc : data_open_other(o, a, err);
}

/* What init makes is compared by its digest. */
static int digest_made(struct bench *o, struct err *err)
{
    int rc = o->init.code.module ? inputs_fill(o, 0, err) : 0;
    for (int i = 0; !rc && i < o->nargs && o->init.code.module; i++)
        if (o->args[i].arg->data.init)
            rc = digest_of(o, &o->args[i], o->args[i].buf.inside, &o->args[i].digest[0], err);
    return rc;
}

static void other_close(struct bench *o)
{
    if (!o)
        return;
    for (int i = 0; i < o->nargs; i++)
        for (int pass = 0; pass < PASSES; pass++)
            device_free(o->dev, o->args[i].expected[pass]);
    binding_free(&o->reference.own);
    binding_free(&o->init.code.own);
    mem_free(o);
}

/* Why no output can be compared for it, or null. */
static const char *not_to_be_told(struct bench *b, struct bench *o)
{
    bool told = false;
    for (int i = 0; i < b->nargs; i++)
        told = told || (b->args[i].written && !b->args[i].given);
    if (b->outside_failed.code)
        return b->outside_failed.msg;
    if (!told || (!b->reference.module && !b->set.outside.command))
        return "what is right for another is not known";
    if (b->reference.module && (binding_make(&b->plans, &b->set, &o->set.problem, ALL_OTHERS, NULL, &o->reference.own, NULL) ||
                                !candidate_fits(b, &b->reference, &o->reference.own)))
        return "the reference cannot be run for a smaller one in the same memory";
    return NULL;
}

/* Where the reference has no numbers any output would pass. */
static int give_up_moot(struct bench *o, struct err *err)
{
    if (!expected_moot(o))
        return 0;
    o->alone = "the reference gives NaN or infinity for most of a smaller one, or with the other scalars";
    for (int i = 0; i < o->nargs; i++)
        o->args[i].written = false;
    return inputs_fill(o, 0, err) ?: expected_keep(o, 0, err);
}

static int fill_it(struct bench *b, struct bench *o, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < o->nargs; i++)
        rc = make_arg(o, i, err);
    rc = rc ?: digest_made(o, err);
    if (!rc && !o->alone && b->set.outside.command)
        rc = outside_open(o, err);
    return rc ?: o->alone ? inputs_fill(o, 0, err) ?: expected_keep(o, 0, err) : reference_on(o, err) ?: give_up_moot(o, err);
}

static int other_open(struct bench *b, const struct problem *p, struct bench **out, struct err *err)
{
    struct bench *o = *out = mem_alloc(sizeof *o);
    if (!o)
        return err_nomem(err);
    *o = *b;
    memset(o->others, 0, sizeof o->others);
    o->set.problem = *p;
    o->set.other_scalars = true;
    o->variation = variation_of(b, p);
    o->reference.own = o->init.code.own = (struct binding){ 0 };
    b->inputs_pass = o->inputs_pass = -1;
    plan_slots(o->plan, p, o->set.row, &o->set.dev, NULL, o->vals);
    o->alone = not_to_be_told(b, o);
    int rc = init_other(b, p, &o->init.code.own, err) ?: name_it(o, err) ?: fill_it(b, o, err);
    if (rc) {
        err_prefix(err, "reference %s: for %s: ", op_reference(b->set.op), o->name);
        other_close(o);
        *out = NULL;
    }
    return rc;
}

void others_drop(struct bench *b)
{
    b->tried = b->candidate.on = NULL;
    for (int i = 0; i < MAX_OTHERS; i++)
        other_close(b->others[i]);
    memset(b->others, 0, sizeof b->others);
    b->next_other = 0;
}

static int other_of(struct bench *b, const struct problem *p, struct bench **out, struct err *err)
{
    *out = made_already(b, p);
    if (*out)
        return 0;
    struct bench *made;
    int rc = other_open(b, p, &made, err);
    if (rc == ERR_NOMEM) {
        others_drop(b);
        rc = other_open(b, p, &made, err);
    }
    if (rc)
        return rc;
    struct bench **at = &b->others[b->next_other++ % MAX_OTHERS];
    other_close(*at);
    *out = *at = made;
    return 0;
}

static bool scalars_vary(const struct bench *b)
{
    struct buf text = { 0 };
    bool vary = !put_scalars(b, &text, NULL) && text.len;
    buf_free(&text);
    return vary;
}

int other_choose(struct bench *b, const struct config *config, struct loaded *l, struct err *err)
{
    struct choice c = { b, config, l, b->set.problem, 0 };
    l->on = NULL;
    if (!data_of_one_size(b))
        look_for(&c);
    if (c.rc)
        return err_nomem(err);
    if (!memcmp(&c.p, &b->set.problem, sizeof c.p) && !scalars_vary(b))
        return 0;
    return binding_make(&b->plans, &b->set, &c.p, ALL_OTHERS, config, &l->other, err)
        ?: (l->module ? device_textures(b->dev, l->module, l->other.textures, err) : 0)
        ?: other_of(b, &c.p, &l->on, err);
}

bool other_compares(const struct bench *b, const struct loaded *l)
{
    return l->on && !l->on->alone && memcmp(&l->on->set.problem, &b->set.problem, sizeof b->set.problem) != 0;
}

/* ---- at set-up */

static const char *why_alone(const struct bench *b, const struct loaded *l, char *text, size_t room)
{
    const struct bench_arg *file = data_of_one_size(b);
    if (l->on && l->on->alone)
        return l->on->alone;
    if (other_compares(b, l))
        return "";
    if (!file)
        return "there is no smaller one that the default takes";
    snprintf(text, room, "%s has a file of integers, which may be indices", file->arg->name);
    return text;
}

int others_open(struct bench *b, struct bench_facts *facts, struct err *err)
{
    struct loaded l = { 0 };
    struct config config;
    char text[MAX_NAME + 64];
    if (op_default(b->set.op, &b->set.problem, b->set.row, &b->set.dev, &config, NULL) ||
        binding_make(&b->plans, &b->set, &b->set.problem, NO_OTHERS, &config, &l.own, NULL)) {
        binding_free(&l.own);
        return 0;
    }
    struct err failed = { 0 };
    int rc = other_choose(b, &config, &l, &failed);
    if ((rc == ERR_INVALID || rc == ERR_TIMEOUT) && b->set.outside.command) {
        b->outside_failed = failed;
        rc = other_choose(b, &config, &l, &failed);
    }
    if (rc)
        err_set(err, rc, "%s", failed.msg);
    else
        snprintf(facts->alone, sizeof facts->alone, "%s", why_alone(b, &l, text, sizeof text));
    if (!rc && !b->set.proven)
        rc = scalars_unproved(l.on ?: b, facts->unproved, sizeof facts->unproved, err)
                 ?: constants_unproved(l.on && !l.on->alone ? l.on : b, facts->constant, sizeof facts->constant, err);
    binding_free(&l.own);
    binding_free(&l.other);
    return rc;
}
