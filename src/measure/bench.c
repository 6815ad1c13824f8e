/* A bench: buffers, the reference, and the way of a candidate through load, verification and timing. */
#include "measure/bench.h"

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

void bench_blame(struct result *out, const struct err *err)
{
    if (out->outcome != OUT_OK)
        return;
    out->outcome = OUT_CRASH;
    snprintf(out->reason, sizeof out->reason, "%.255s", err->msg);
}

/* Complex elements are pairs of their parts to the service kernels. */
static const struct dtype *part_of(const struct dtype *t)
{
    if (t->kind != DT_COMPLEX)
        return t;
    return dtype_find(t->bytes == 8 ? "f32" : "f64");
}

static int make_slots(struct bench *b, struct err *err)
{
    const struct op *op = b->set.op;
    b->nslots = op->nargs;
    for (int i = 0; i < op->nargs; i++) {
        struct slot *s = &b->slots[i];
        s->arg = &op->args[i];
        int64_t bytes;
        int rc;
        bench_alive(b); /* it may have to compile */
        if (s->arg->kind == ARG_VALUE) {
            rc = plan_arg_value(b->plan, i, b->vals, s->value, &s->value_bytes, err);
        } else {
            rc = plan_arg_bytes(b->plan, i, b->vals, b->set.row, &bytes, err);
            if (!rc)
                rc = service_load(b, part_of(op_arg_dtype(op, s->arg->type, b->set.row)), &s->service, err);
            if (!rc)
                rc = guarded_alloc(b, bytes, &s->buf, err);
            if (!rc)
                s->n = bytes / s->service->type->bytes;
        }
        if (rc) {
            err_prefix(err, "argument %s: ", s->arg->name);
            return rc;
        }
    }
    return 0;
}

/* Twice the cache, so that what was there is gone; bounded, since a CPU may report a very large one. */
static int make_flush(struct bench *b, struct err *err)
{
    const int64_t least = 8 << 20, most = 256 << 20;
    int64_t bytes = 2 * b->set.dev.l2;
    b->flush_bytes = (bytes < least ? least : bytes > most ? most : bytes) / 4096 * 4096;
    int rc = b->be->alloc(b->dev, b->flush_bytes, &b->flush_buf, err);
    return rc ? rc : b->be->fill(b->dev, b->flush_buf, 0, b->flush_bytes, 0, err);
}

static int check_fits(const struct op *op, const struct plan *plan, const struct val *vals, int row, const struct devspec *dev,
                      struct err *err)
{
    int64_t total = 0;
    for (int i = 0; i < op->nargs; i++) {
        int64_t bytes;
        int rc = plan_arg_bytes(plan, i, vals, row, &bytes, err);
        if (rc)
            return rc;
        int copies = op->args[i].kind >= ARG_OUTPUT && op->args[i].kind <= ARG_INOUT
                         ? (op->check == CHECK_EXACT ? 2 : 3) /* and what it should hold */
                         : 1;
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
    rc = check_fits(op, plan, vals, row, dev, err);
    plan_free(plan);
    return rc;
}

int bench_open(const struct bench_setup *setup, struct bench **out, struct bench_facts *facts, struct err *err)
{
    struct bench *b = mem_zalloc(sizeof *b);
    *facts = (struct bench_facts){ 0 };
    if (!b)
        return err_nomem(err);
    b->set = *setup;
    b->inputs_pass = -1;
    b->digest_key = rand_at((uint64_t)clock_ns(), (uint64_t)getpid());
    b->be = backend_find(setup->dev.backend);
    b->plans.op = setup->op;
    int rc = b->be ? 0 : err_set(err, ERR_NOTFOUND, "no backend %s", setup->dev.backend);
    if (!rc)
        rc = plans_get(&b->plans, -1, &b->plan, err);
    if (rc)
        goto out;
    plan_slots(b->plan, &b->set.problem, b->set.row, &b->set.dev, NULL, b->vals);
    rc = check_fits(b->set.op, b->plan, b->vals, b->set.row, &b->set.dev, err);
    if (!rc)
        rc = b->be->open(&b->set.dev, &b->dev, err);
    if (!rc)
        rc = b->be->alloc(b->dev, RESULT_BYTES, &b->result, err);
    if (!rc)
        rc = make_slots(b, err);
    if (!rc)
        rc = make_flush(b, err);
    double bytes, flops;
    if (!rc)
        rc = plan_work(b->plan, b->vals, &bytes, &flops, err);
    if (!rc)
        rc = reference_open(b, &facts->reference_ns, err);
    bench_alive(b);
    if (!rc)
        rc = time_copy(b, bytes, &facts->copy_ns, err);
out:
    if (rc)
        bench_close(b);
    else
        *out = b;
    return rc;
}

void bench_close(struct bench *b)
{
    if (!b)
        return;
    if (b->dev && b->reference)
        candidate_unload(b, b->reference);
    mem_free(b->reference);
    if (b->dev)
        pool_free(b);
    for (int i = 0; b->dev && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        guarded_free(b, &s->buf);
        for (int p = 0; p < PASSES; p++)
            if (s->expected[p])
                b->be->free(b->dev, s->expected[p]);
    }
    for (int i = 0; i < b->nservices; i++)
        b->be->unload(b->dev, b->services[i].module);
    if (b->flush_buf)
        b->be->free(b->dev, b->flush_buf);
    if (b->result)
        b->be->free(b->dev, b->result);
    if (b->dev)
        b->be->close(b->dev);
    plans_free(&b->plans);
    mem_free(b);
}

/* How a candidate is verified before it is timed: on other inputs with another poison, and if it has a workspace that is not cleared for
 * it, on what another problem left there. What its own run leaves there is what the first sample finds. */
static const struct {
    struct way way;
    bool keeps; /* only those that keep a workspace */
} ways[] = {
    { { .pass = TIMED, .poisoned = true }, false },
    { { .pass = 0, .poisoned = true, .after_other = true, .inputs_later = true }, false },
    { { .pass = 0, .after_other = true }, true },
};

static int verify(struct bench *b, struct loaded *l, struct result *out, struct err *err)
{
    int rc = 0;
    bool keeps = candidate_keeps(l);
    for (size_t i = 0; !rc && out->outcome == OUT_OK && i < sizeof ways / sizeof *ways; i++)
        if (keeps || !ways[i].keeps)
            rc = verify_pass(b, l, ways[i].way, &out->outcome, out->reason, err);
    return rc;
}

/* Nothing of a candidate that was not right is left for the next; and only where the reference still passes here, the fault was the
 * candidate's. A context that is lost needs no proof. */
static int settle(struct bench *b, const struct result *out, struct err *err)
{
    if (out->outcome == OUT_OK)
        return 0;
    b->inputs_pass = -1;
    return out->outcome == OUT_SLOWER ? 0 : bench_control(b, err);
}

static int run_once(struct bench *b, const struct bench_candidate *c, double cut_ns, struct loaded *l, struct result *out,
                    struct err *err)
{
    bench_alive(b);
    int rc = inputs_fill(b, TIMED, err); /* goes on while the code is loaded */
    if (!rc)
        rc = candidate_load(b, &c->config, c->binary, c->binary_bytes, l, &out->outcome, out->reason, err);
    out->resources = l->resources;
    bench_alive(b);
    if (!rc && out->outcome == OUT_OK)
        rc = verify(b, l, out, err);
    if (!rc && out->outcome == OUT_OK)
        rc = time_samples(b, l, cut_ns, out, err);
    candidate_unload(b, l);
    return rc;
}

int bench_run(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *out, struct err *err)
{
    struct loaded *l = mem_zalloc(sizeof *l);
    *out = (struct result){ .resources = { -1, -1, -1, -1 } };
    if (!l)
        return err_nomem(err);
    int rc = run_once(b, c, cut_ns, l, out, err);
    if (rc == ERR_NOMEM) { /* what earlier candidates needed may be in the way */
        pool_free(b);
        result_free(out);
        *out = (struct result){ .resources = { -1, -1, -1, -1 } };
        rc = run_once(b, c, cut_ns, l, out, err);
    }
    mem_free(l);
    if (!rc)
        rc = settle(b, out, err);
    if (rc)
        b->inputs_pass = -1;
    if (rc && rc != ERR_NOMEM)
        bench_blame(out, err);
    return rc;
}

/* Room in the pool for the workspaces of as many players as can be, the first ones first. Whoever finds none sits out. */
static int reserve(struct bench *b, const struct bench_candidate *c, int n, bool *sits_out, struct err *err)
{
    int64_t most[MAX_ARGS] = { 0 };
    int nmost = 0;
    for (int i = 0; i < n; i++) {
        int64_t bytes[MAX_ARGS], with[MAX_ARGS];
        int k = candidate_workspaces(b, &c[i].config, bytes, err), nwith = k > nmost ? k : nmost;
        for (int j = 0; j < nwith; j++) {
            with[j] = j < nmost ? most[j] : 0;
            if (j < k && bytes[j] > with[j])
                with[j] = bytes[j];
        }
        int rc = k < 0 ? k : pool_reserve(b, with, nwith, err);
        if (rc == ERR_DEVICE)
            return rc;
        sits_out[i] = rc != 0;
        if (!rc) {
            memcpy(most, with, sizeof *most * (size_t)nwith);
            nmost = nwith;
        }
    }
    return pool_reserve(b, most, nmost, err); /* after a failure the pool may be empty */
}

static int load_all(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct result *out, bool *sits_out,
                    struct err *err)
{
    int rc = inputs_fill(b, TIMED, err);
    for (int i = 0; !rc && i < n; i++) {
        if (sits_out[i])
            continue;
        bench_playing(b, i);
        rc = candidate_load(b, &c[i].config, c[i].binary, c[i].binary_bytes, &l[i], &out[i].outcome, out[i].reason, err);
        out[i].resources = l[i].resources;
        if (rc == ERR_NOMEM) {
            sits_out[i] = true;
            candidate_unload(b, &l[i]);
            rc = 0;
        } else if (!rc) {
            rc = settle(b, &out[i], err);
        }
        if (rc)
            bench_blame(&out[i], err);
    }
    return rc;
}

int bench_playoff(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err)
{
    struct loaded *l = mem_array((size_t)n, sizeof *l);
    bool *sits_out = mem_array((size_t)n, sizeof *sits_out);
    int rc = l && sits_out ? 0 : err_nomem(err);
    for (int i = 0; !rc && i < n; i++) {
        out[i] = (struct result){ .resources = { -1, -1, -1, -1 } };
        out[i].samples = mem_array((size_t)rounds, sizeof(double));
        rc = out[i].samples ? 0 : err_nomem(err);
    }
    b->inputs_pass = -1;
    if (!rc)
        rc = reserve(b, c, n, sits_out, err);
    if (!rc)
        rc = load_all(b, c, n, l, out, sits_out, err);
    if (!rc)
        rc = playoff_rounds(b, l, n, rounds, out, sits_out, err);
    for (int i = 0; l && i < n; i++)
        candidate_unload(b, &l[i]);
    mem_free(sits_out);
    mem_free(l);
    return rc;
}
