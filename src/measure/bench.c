/* A bench: buffers, the reference, and the way of a candidate through load, verification and timing. */
#include "measure/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/internal.h"
#include "source/source.h"

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

/* The expected output of one pass: the reference's, copied away from where candidates write. */
static int keep_expected(struct bench *b, int pass, struct err *err)
{
    bool same_inputs = b->set.op->check == CHECK_EXACT;
    for (int i = 0; i < b->nslots; i++)
        if (b->slots[i].buf.inside && b->slots[i].arg->kind != ARG_OUTPUT && !is_bits(b, &b->slots[i]))
            same_inputs = false;
    for (int i = 0; i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->buf.inside || s->arg->kind == ARG_INPUT)
            continue;
        int rc = 0;
        if (pass && same_inputs) {
            s->expected[1] = s->expected[0];
            s->shared_expected = true;
        } else {
            rc = b->be->alloc(b->dev, s->buf.bytes, &s->expected[pass], err);
            if (!rc)
                rc = b->be->copy(b->dev, s->expected[pass], s->buf.inside, s->buf.bytes, err);
        }
        if (!rc)
            rc = service_checksum(b, s->service, s->expected[pass], s->n, s->sum[pass], err);
        if (rc)
            return rc;
    }
    return 0;
}

static int set_tolerances(struct bench *b, struct err *err)
{
    int64_t length;
    int rc = plan_length(b->plan, b->vals, &length, err);
    for (int i = 0; !rc && i < b->nslots; i++) {
        const struct slot *s = &b->slots[i];
        if (s->buf.inside && b->set.op->check == CHECK_SUM)
            b->tolerance[i] = 4 * s->service->type->eps * (double)length;
    }
    return rc;
}

static int compile_reference(struct bench *b, struct buf *binary, struct err *err)
{
    struct buf src = { 0 }, log = { 0 };
    struct compiler *c = NULL;
    char line[256];
    int rc = source_render(b->set.op, NULL, b->set.row, &b->set.dev, &src, err);
    if (!rc)
        rc = b->be->compiler_open(&b->set.dev, &c, err);
    if (!rc)
        rc = b->be->compile(c, &(struct compile_job){ .source = src.data }, binary, NULL, &log, err);
    if (rc == ERR_INVALID && log.len) {
        compile_log_line(&log, line);
        err_set(err, rc, "%s", line);
    }
    if (c)
        b->be->compiler_close(c);
    buf_free(&log);
    buf_free(&src);
    return rc;
}

/* Runs the reference on both inputs. Its second launch is the one that is timed: the first may still load code. */
static int run_reference(struct bench *b, double *ns, struct err *err)
{
    struct buf binary = { 0 };
    struct loaded l = { 0 };
    enum outcome outcome = OUT_OK;
    char reason[256] = "";
    bench_alive(b);
    int rc = compile_reference(b, &binary, err);
    if (!rc)
        rc = candidate_load(b, NULL, binary.data, binary.len, &l, &outcome, reason, err);
    if (!rc && outcome != OUT_OK)
        rc = err_set(err, ERR_DEVICE, "%s", reason);
    for (int pass = 0; !rc && pass < PASSES; pass++) {
        bench_alive(b);
        rc = inputs_fill(b, pass, err);
        if (!rc)
            rc = b->be->span_begin(b->dev, 0, err);
        if (!rc)
            rc = candidate_launch(b, &l, err);
        if (!rc)
            rc = b->be->span_end(b->dev, 0, err);
        if (!rc)
            rc = b->be->sync(b->dev, err);
        if (!rc)
            rc = b->be->span_ns(b->dev, 0, ns, err);
        if (!rc)
            rc = keep_expected(b, pass, err);
    }
    candidate_unload(b, &l);
    buf_free(&binary);
    if (rc)
        err_prefix(err, "reference %s: ", b->set.op->reference_name);
    return rc;
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
    b->be = backend_find(setup->dev.backend);
    b->variant_plans = mem_array((size_t)setup->op->nvariants, sizeof(struct plan *));
    int rc = !b->variant_plans ? err_nomem(err) : !b->be ? err_set(err, ERR_NOTFOUND, "no backend %s", setup->dev.backend) : 0;
    if (!rc)
        rc = plan_new(setup->op, -1, &b->plan, err);
    if (rc)
        goto out;
    plan_slots(b->plan, &b->set.problem, b->set.row, &b->set.dev, NULL, b->vals);
    rc = check_fits(b->set.op, b->plan, b->vals, b->set.row, &b->set.dev, err);
    if (!rc)
        rc = b->be->open(&b->set.dev, &b->dev, err);
    if (!rc)
        rc = b->be->alloc(b->dev, 4096, &b->result, err);
    if (!rc)
        rc = make_slots(b, err);
    if (!rc)
        rc = make_flush(b, err);
    double bytes, flops;
    if (!rc)
        rc = plan_work(b->plan, b->vals, &bytes, &flops, err);
    if (!rc)
        rc = set_tolerances(b, err);
    if (!rc)
        rc = run_reference(b, &facts->reference_ns, err);
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
    for (int i = 0; b->dev && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        guarded_free(b, &s->buf);
        for (int p = 0; p < PASSES; p++)
            if (s->expected[p] && !(p && s->shared_expected))
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
    for (int i = 0; b->variant_plans && i < b->set.op->nvariants; i++)
        plan_free(b->variant_plans[i]);
    mem_free(b->variant_plans);
    plan_free(b->plan);
    mem_free(b);
}

/* After timing: it may have stopped working meanwhile, and then it has no time. */
static int verify_again(struct bench *b, struct loaded *l, struct result *out, struct err *err)
{
    int rc = verify_pass(b, l, PASSES - 1, &out->outcome, out->reason, err);
    if (out->outcome != OUT_OK) {
        out->stats = (struct stats){ 0 };
        out->nsamples = 0;
    }
    return rc;
}

int bench_run(struct bench *b, const struct bench_candidate *c, double cut_ns, struct result *out, struct err *err)
{
    struct loaded l;
    *out = (struct result){ .resources = { -1, -1, -1, -1 } };
    bench_alive(b);
    int rc = candidate_load(b, &c->config, c->binary, c->binary_bytes, &l, &out->outcome, out->reason, err);
    out->resources = l.resources;
    for (int pass = 0; !rc && out->outcome == OUT_OK && pass < PASSES; pass++)
        rc = verify_pass(b, &l, pass, &out->outcome, out->reason, err);
    if (!rc && out->outcome == OUT_OK)
        rc = time_samples(b, &l, cut_ns, out, err);
    if (!rc && out->outcome == OUT_OK)
        rc = verify_again(b, &l, out, err);
    if (rc)
        bench_blame(out, err);
    candidate_unload(b, &l);
    return rc;
}

static int load_all(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct result *out, struct err *err)
{
    int rc = inputs_fill(b, PASSES - 1, err); /* whatever the last candidate left */
    for (int i = 0; !rc && i < n; i++) {
        bench_playing(b, i);
        rc = candidate_load(b, &c[i].config, c[i].binary, c[i].binary_bytes, &l[i], &out[i].outcome, out[i].reason, err);
        out[i].resources = l[i].resources;
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
    if (!rc)
        rc = load_all(b, c, n, l, out, err);
    if (!rc)
        rc = playoff_rounds(b, l, n, rounds, out, err);
    for (int i = 0; !rc && i < n; i++) {
        bench_playing(b, i);
        if (out[i].outcome == OUT_OK)
            rc = verify_again(b, &l[i], &out[i], err);
        if (rc)
            bench_blame(&out[i], err);
    }
    for (int i = 0; l && i < n; i++)
        candidate_unload(b, &l[i]);
    mem_free(l);
    return rc;
}
