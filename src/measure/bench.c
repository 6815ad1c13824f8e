/* A bench: buffers, the reference, and the way of a candidate through load, verification and timing. */
#include "measure/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/internal.h"

void bench_alive(const struct bench *b)
{
    if (b->set.alive)
        b->set.alive(b->set.arg);
}

void bench_playing(const struct bench *b, int i)
{
    if (b->set.playing)
        b->set.playing(b->set.arg, i);
}

int condemn(struct result *r, enum outcome outcome, const char *fmt, ...)
{
    va_list ap;
    r->outcome = outcome;
    va_start(ap, fmt);
    vsnprintf(r->reason, sizeof r->reason, fmt, ap);
    va_end(ap);
    return VERDICT;
}

void bench_blame(struct result *r, const struct err *err)
{
    if (r->outcome == OUT_OK)
        condemn(r, OUT_CRASH, "%s", err->msg);
}

/* Complex elements are pairs of their parts to the service kernels. */
static const struct dtype *part_of(const struct dtype *t)
{
    if (t->kind != DT_COMPLEX)
        return t;
    return dtype_find(t->bytes == 8 ? "f32" : "f64");
}

static int make_arg(struct bench *b, int i, struct err *err)
{
    const struct op *op = b->set.op;
    struct bench_arg *a = &b->args[i];
    int64_t bytes;
    a->arg = &op->args[i];
    bench_alive(b); /* it may have to compile */
    if (a->arg->kind == ARG_VALUE)
        return plan_arg_value(b->plan, i, b->vals, a->value, &a->value_bytes, err);
    int rc = plan_arg_bytes(b->plan, i, b->vals, &bytes, err)
        ?: service_load(b, part_of(op_arg_dtype(op, a->arg->type, b->set.row)), &a->service, err)
        ?: guarded_alloc(b, bytes, &a->buf, err);
    if (!rc)
        a->n = bytes / a->service->type->bytes;
    return rc;
}

static int make_args(struct bench *b, struct err *err)
{
    int rc = 0;
    b->nargs = b->set.op->nargs;
    for (int i = 0; !rc && i < b->nargs; i++) {
        rc = make_arg(b, i, err);
        if (rc)
            err_prefix(err, "argument %s: ", b->args[i].arg->name);
    }
    return rc;
}

/* Twice the cache, so that what was there is gone; bounded, since a CPU may report a very large one. */
static int make_flush(struct bench *b, struct err *err)
{
    const int64_t least = 8 << 20, most = 256 << 20;
    int64_t bytes = 2 * b->set.dev.l2;
    b->flush_bytes = (bytes < least ? least : bytes > most ? most : bytes) / 4096 * 4096;
    return device_alloc(b->dev, b->flush_bytes, &b->flush_buf, err) ?: device_fill(b->dev, b->flush_buf, 0, b->flush_bytes, 0, err);
}

static int check_fits(const struct op *op, const struct plan *plan, const struct val *vals, const struct devspec *dev,
                      struct err *err)
{
    int64_t total = 0;
    for (int i = 0; i < op->nargs; i++) {
        int64_t bytes;
        int rc = plan_arg_bytes(plan, i, vals, &bytes, err);
        if (rc)
            return rc;
        bool written = op->args[i].kind == ARG_OUTPUT || op->args[i].kind == ARG_INOUT;
        int copies = !written ? 1 : op->check == CHECK_EXACT ? 2 : 3; /* and what it should hold */
        if (bytes > dev->max_alloc - 3 * GUARD)
            return err_set(err, ERR_INVALID, "argument %s takes %lld bytes, one buffer of %s may have %lld: choose smaller sizes",
                           op->args[i].name, (long long)bytes, dev->name, (long long)dev->max_alloc);
        if (__builtin_mul_overflow(bytes, copies, &bytes) || __builtin_add_overflow(total, bytes, &total))
            total = INT64_MAX;
    }
    if (total > dev->memory)
        return err_set(err, ERR_INVALID,
                       "the problem takes %lld bytes with what its check needs, %s has %lld: choose smaller sizes",
                       (long long)total, dev->name, (long long)dev->memory);
    return 0;
}

int bench_fits(const struct op *op, const struct problem *problem, int row, const struct devspec *dev, struct err *err)
{
    struct plan *plan = NULL;
    struct val vals[MAX_SLOTS];
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, problem, row, dev, NULL, vals);
    rc = check_fits(op, plan, vals, dev, err);
    plan_free(plan);
    return rc;
}

int bench_open(const struct task *task, struct bench **out, struct bench_facts *facts, struct err *err)
{
    struct bench *b = mem_zalloc(sizeof *b);
    *facts = (struct bench_facts){ 0 };
    if (!b)
        return err_nomem(err);
    b->set = *task;
    b->inputs_pass = -1;
    b->digest_key = rand_at((uint64_t)clock_ns(), (uint64_t)getpid());
    b->be = backend_find(task->dev.backend);
    b->plans.op = task->op;
    int rc =
        (b->be ? 0 : err_set(err, ERR_NOTFOUND, "no backend %s", task->dev.backend)) ?: plans_get(&b->plans, -1, &b->plan, err);
    if (rc)
        goto out;
    plan_slots(b->plan, &b->set.problem, b->set.row, &b->set.dev, NULL, b->vals);
    rc = check_fits(b->set.op, b->plan, b->vals, &b->set.dev, err)
        ?: device_open(&b->set.dev, &b->dev, err)
        ?: device_alloc(b->dev, RESULT_BYTES, &b->result, err)
        ?: make_args(b, err)
        ?: make_flush(b, err);
    double bytes, flops;
    rc = rc ?: plan_work(b->plan, b->vals, &bytes, &flops, err) ?: reference_open(b, &facts->reference_ns, err);
    bench_alive(b);
    rc = rc ?: time_copy(b, bytes, &facts->copy_ns, err);
out:
    if (rc)
        bench_close(b);
    else
        *out = b;
    return rc;
}

static void free_all(struct bench *b)
{
    if (b->reference)
        candidate_unload(b, b->reference);
    pool_free(b);
    for (int i = 0; i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        guarded_free(b, &a->buf);
        for (int p = 0; p < PASSES; p++)
            device_free(b->dev, a->expected[p]);
    }
    for (int i = 0; i < b->nservices; i++)
        device_unload(b->dev, b->services[i].module);
    device_free(b->dev, b->flush_buf);
    device_free(b->dev, b->result);
}

void bench_close(struct bench *b)
{
    if (!b)
        return;
    if (b->dev) {
        free_all(b);
        device_close(b->dev);
    }
    mem_free(b->reference);
    plans_free(&b->plans);
    mem_free(b);
}

/* How a candidate is verified before it is timed: on two sets of inputs, each with a poison of its own; and if it has a workspace that is
 * not cleared for it, on what another problem left there. The first timed run finds what its own last run left there. */
static const struct {
    struct way way;
    bool keeps; /* only those that keep a workspace */
} ways[] = {
    { { .pass = TIMED, .poisoned = true }, false },
    { { .pass = 0, .poisoned = true, .after_other = true, .inputs_later = true }, false },
    { { .pass = 0, .after_other = true }, true },
};

static int verify(struct bench *b, struct loaded *l, struct result *r, struct err *err)
{
    int rc = 0;
    bool keeps = candidate_keeps(l);
    for (size_t i = 0; !rc && i < sizeof ways / sizeof *ways; i++)
        if (keeps || !ways[i].keeps)
            rc = verify_pass(b, l, ways[i].way, r, err);
    return rc;
}

/* Nothing of a candidate that was not right is left for the next; and it was the candidate's fault only if the reference still passes
 * here. A context that is lost needs no proof. */
static int prove_surroundings(struct bench *b, const struct result *r, struct err *err)
{
    if (r->outcome == OUT_OK)
        return 0;
    b->inputs_pass = -1;
    return r->outcome == OUT_SLOWER ? 0 : bench_control(b, err);
}

static int run_once(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *r, struct err *err)
{
    struct loaded *l = mem_zalloc(sizeof *l);
    *r = (struct result){ .resources = { -1, -1, -1, -1 } };
    if (!l)
        return err_nomem(err);
    bench_alive(b);
    int rc = inputs_fill(b, TIMED, err); /* goes on while the code is loaded */
    rc = rc ?: candidate_load(b, &c->config, c->binary, c->binary_bytes, l, r, err);
    bench_alive(b);
    rc = rc ?: verify(b, l, r, err) ?: time_samples(b, l, cut_ns, r, err);
    candidate_unload(b, l);
    mem_free(l);
    return rc;
}

int bench_run(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *out, struct err *err)
{
    int rc = run_once(b, c, cut_ns, out, err);
    if (rc == ERR_NOMEM) { /* what earlier candidates needed may be in the way */
        pool_free(b);
        result_free(out);
        rc = run_once(b, c, cut_ns, out, err);
    }
    if (rc >= 0)
        rc = prove_surroundings(b, out, err);
    if (rc)
        b->inputs_pass = -1;
    if (rc && rc != ERR_NOMEM)
        bench_blame(out, err);
    return rc;
}

/* Makes room in the pool for the workspaces of the players, the first ones first. A player for which there is none sits out. */
static int reserve(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct err *err)
{
    int64_t most[MAX_ARGS] = { 0 };
    for (int i = 0; i < n; i++) {
        int64_t bytes[MAX_ARGS], with[MAX_ARGS];
        memcpy(with, most, sizeof with);
        int k = candidate_workspaces(b, &c[i].config, bytes, err);
        for (int j = 0; j < k; j++)
            with[j] = bytes[j] > with[j] ? bytes[j] : with[j];
        int rc = k < 0 ? k : pool_reserve(b, with, MAX_ARGS, err);
        if (rc == ERR_DEVICE)
            return rc;
        l[i].sits_out = rc != 0;
        if (!rc)
            memcpy(most, with, sizeof most);
    }
    return pool_reserve(b, most, MAX_ARGS, err); /* after a failure the pool may be empty */
}

static int load_all(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct result *out, struct err *err)
{
    int rc = inputs_fill(b, TIMED, err);
    for (int i = 0; !rc && i < n; i++) {
        if (l[i].sits_out)
            continue;
        bench_playing(b, i);
        rc = candidate_load(b, &c[i].config, c[i].binary, c[i].binary_bytes, &l[i], &out[i], err);
        if (rc == ERR_NOMEM) {
            candidate_unload(b, &l[i]);
            l[i].sits_out = true;
            rc = 0;
        } else if (rc >= 0) {
            rc = prove_surroundings(b, &out[i], err);
        }
        if (rc)
            bench_blame(&out[i], err);
    }
    return rc;
}

int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err)
{
    struct loaded *l = mem_array((size_t)n, sizeof *l);
    int rc = l ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < n; i++) {
        out[i] = (struct result){ .resources = { -1, -1, -1, -1 } };
        out[i].samples = mem_array((size_t)rounds, sizeof(double));
        rc = out[i].samples ? 0 : err_nomem(err);
    }
    b->inputs_pass = -1;
    rc = rc ?: reserve(b, c, n, l, err) ?: load_all(b, c, n, l, out, err) ?: playoff_rounds(b, l, n, rounds, out, err);
    for (int i = 0; l && i < n; i++)
        candidate_unload(b, &l[i]);
    mem_free(l);
    return rc;
}
