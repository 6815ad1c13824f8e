/* The reference: what it gives is what candidates must give, and as long as it still gives that, the surroundings are sound. */
#include <string.h>

#include "base/mem.h"
#include "measure/internal.h"
#include "source/source.h"

/* Bound of the error of a sequential sum of random signs, with a factor to spare. */
static int set_tolerances(struct bench *b, struct err *err)
{
    int64_t length;
    int rc = plan_length(b->plan, b->vals, &length, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (a->buf.inside && b->set.op->check == CHECK_SUM)
            a->tolerance = 4 * a->service->type->eps * (double)length;
    }
    return rc;
}

static int compile(struct bench *b, struct buf *binary, struct err *err)
{
    struct buf source = { 0 };
    int rc = source_render(b->set.op, NULL, b->set.row, &b->set.dev, &source, err);
    if (b->set.fresh) /* a text that no cache of the driver has seen */
        buf_fmt(&source, "// %016llx\n", (unsigned long long)b->set.fresh);
    rc = rc ?: service_compile(b, &source, binary, err);
    buf_free(&source);
    return rc;
}

/* Everything set back, one launch, waited for. */
static int run(struct bench *b, int pass, bool zeros, double *ns, struct err *err)
{
    bench_alive(b);
    int rc = inputs_fill(b, pass, err);
    for (int i = 0; !rc && zeros && i < b->nargs; i++)
        if (b->args[i].arg->kind == ARG_OUTPUT)
            rc = guarded_poison(b, &b->args[i].buf, POISON_ZEROS, err);
    return rc
        ?: device_span_begin(b->dev, 0, err)
        ?: candidate_launch(b, b->reference, &b->reference->own, err)
        ?: device_span_end(b->dev, 0, err)
        ?: device_sync(b->dev, err)
        ?: device_span_ns(b->dev, 0, ns, err);
}

/* Keeps what one pass is to give: a copy of the reference's output, out of the way of candidates, and its digest. */
static int keep_expected(struct bench *b, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!is_output(a))
            continue;
        if (pass == TIMED || b->set.op->check != CHECK_EXACT) {
            rc = device_alloc(b->dev, a->buf.bytes, &a->expected[pass], err)
                     ?: device_copy(b->dev, a->expected[pass], a->buf.inside, a->buf.bytes, err);
        }
        rc = rc ?: digest_of(b, a, a->buf.inside, a->digest[pass], err);
        for (int k = 0; !rc && k < 2 && is_exact(a, pass); k++)
            b->digest[pass][k] += a->digest[pass][k];
    }
    return rc;
}

/* What the reference does not write, a candidate need not write either. Run over zeros, after ones, such an element shows. */
static int check_written(struct bench *b, struct err *err)
{
    double ns;
    int rc = run(b, TIMED, true, &ns, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        struct found found;
        if (a->arg->kind != ARG_OUTPUT || a->arg->partial)
            continue;
        rc = service_begin(b, err) ?: service_check_unwritten(b, a, err) ?: service_end(b, 0, &found, err);
        if (!rc && found.count)
            rc = err_set(err, ERR_INVALID,
                         "leaves %u elements of %s unwritten, from about element %lld on: it must write all, or the argument says "
                         "partial = true",
                         found.count, a->arg->name, (long long)found.place);
    }
    return rc;
}

/* What it gives may not depend on what its output held before, nor change from run to run: pass 0 is exact for every check. */
static int check_again(struct bench *b, struct err *err)
{
    double ns;
    uint32_t now[2];
    int rc = run(b, 0, true, &ns, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!is_output(a) || a->arg->partial)
            continue;
        rc = digest_of(b, a, a->buf.inside, now, err);
        if (!rc && !same(now, a->digest[0]))
            rc =
                err_set(err, ERR_INVALID,
                        "gives another %s when it is run again: it must set each element, whatever was there before", a->arg->name);
    }
    return rc;
}

/* The digest that inputs must keep; the reference keeps them itself. */
static int keep_inputs(struct bench *b, int pass, struct err *err)
{
    struct result r = { 0 };
    struct found sum;
    int rc = find_input(b, pass, &r, err);
    if (rc == VERDICT)
        rc = err_set(err, ERR_INVALID, "%s", r.reason);
    rc = rc ?: service_begin(b, err) ?: inputs_look(b, 0, err) ?: service_end(b, 1, &sum, err);
    if (!rc)
        memcpy(b->input_digest[pass], sum.digests[0], sizeof sum.digests[0]);
    return rc;
}

/* The launch of the last pass is the one that is timed: the first may still load code. */
static int first_runs(struct bench *b, double *ns, struct err *err)
{
    int rc = 0;
    for (int pass = 0; !rc && pass < PASSES; pass++) {
        rc = run(b, pass, false, ns, err) ?: keep_inputs(b, pass, err) ?: keep_expected(b, pass, err);
    }
    return rc ?: check_written(b, err) ?: check_again(b, err);
}

int reference_open(struct bench *b, double *ns, struct err *err)
{
    struct buf binary = { 0 };
    struct result r = { 0 };
    bench_alive(b);
    b->reference = mem_zalloc(sizeof *b->reference);
    int rc = b->reference ? set_tolerances(b, err) : err_nomem(err);
    if (rc)
        return rc;
    rc = compile(b, &binary, err) ?: candidate_load(b, NULL, binary.data, binary.len, b->reference, &r, err);
    if (rc == VERDICT)
        rc = err_set(err, ERR_DEVICE, "%s", r.reason);
    rc = rc ?: first_runs(b, ns, err);
    buf_free(&binary);
    if (rc)
        err_prefix(err, "reference %s: ", b->set.op->reference_name);
    return rc;
}

int bench_control(struct bench *b, struct err *err)
{
    struct result r = { 0 };
    b->inputs_pass = -1;
    int rc = verify_pass(b, b->reference, (struct way){ .pass = TIMED, .poisoned = true }, &r, err);
    if (rc == VERDICT)
        rc = err_set(err, ERR_DEVICE, "the reference %s, run again: %s", b->set.op->reference_name, r.reason);
    return rc;
}
