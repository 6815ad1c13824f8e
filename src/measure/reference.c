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
    for (int i = 0; !rc && i < b->nslots; i++) {
        const struct slot *s = &b->slots[i];
        if (s->buf.inside && b->set.op->check == CHECK_SUM)
            b->tolerance[i] = 4 * s->service->type->eps * (double)length;
    }
    return rc;
}

static int compile(struct bench *b, struct buf *binary, struct err *err)
{
    struct buf src = { 0 }, log = { 0 };
    struct compiler *c = NULL;
    char line[256];
    int rc = source_render(b->set.op, NULL, b->set.row, &b->set.dev, &src, err);
    if (b->set.fresh) /* a text that no cache of the driver has seen */
        buf_fmt(&src, "// %016llx\n", (unsigned long long)b->set.fresh);
    if (!rc)
        rc = src.failed ? err_nomem(err) : b->be->compiler_open(&b->set.dev, &c, err);
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

/* Everything set back, one launch, waited for. */
static int run(struct bench *b, int pass, bool zeros, double *ns, struct err *err)
{
    bench_alive(b);
    int rc = inputs_fill(b, pass, err);
    for (int i = 0; !rc && zeros && i < b->nslots; i++)
        if (b->slots[i].arg->kind == ARG_OUTPUT)
            rc = guarded_poison(b, &b->slots[i].buf, POISON_ZEROS, err);
    if (!rc)
        rc = b->be->span_begin(b->dev, 0, err);
    if (!rc)
        rc = candidate_launch(b, b->reference, &b->reference->own, err);
    if (!rc)
        rc = b->be->span_end(b->dev, 0, err);
    if (!rc)
        rc = b->be->sync(b->dev, err);
    return rc ? rc : b->be->span_ns(b->dev, 0, ns, err);
}

/* What one pass is to give: the reference's output, copied away from where candidates write, and its digest. */
static int keep_expected(struct bench *b, int pass, struct err *err)
{
    for (int i = 0; i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        int rc = 0;
        if (!is_output(s))
            continue;
        if (pass == TIMED || b->set.op->check != CHECK_EXACT) {
            rc = b->be->alloc(b->dev, s->buf.bytes, &s->expected[pass], err);
            if (!rc)
                rc = b->be->copy(b->dev, s->expected[pass], s->buf.inside, s->buf.bytes, err);
        }
        if (!rc)
            rc = digest_of(b, s, s->buf.inside, s->digest[pass], err);
        if (rc)
            return rc;
        for (int k = 0; k < 2 && is_exact(b, i, pass); k++)
            b->digest[pass][k] += s->digest[pass][k];
    }
    return 0;
}

/* What the reference does not write, a candidate need not write either. Run over zeros, after ones, such an element shows. */
static int check_written(struct bench *b, struct err *err)
{
    double ns;
    int rc = run(b, TIMED, true, &ns, err);
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        struct check found;
        if (s->arg->kind != ARG_OUTPUT || s->arg->partial)
            continue;
        rc = service_begin(b, err);
        if (!rc)
            rc = service_check_unwritten(b, s->service, s->expected[TIMED], 0xff, s->buf.inside, 0, s->n, err);
        if (!rc)
            rc = service_end(b, 0, &found, err);
        if (!rc && found.count)
            rc = err_set(err, ERR_INVALID,
                         "leaves %u elements of %s unwritten, from about element %lld on: it must write all, or the argument says "
                         "partial = true",
                         found.count, s->arg->name, (long long)found.place);
    }
    return rc;
}

/* What it gives may not depend on what its output held before, nor change from run to run: pass 0 is exact for every check. */
static int check_again(struct bench *b, struct err *err)
{
    double ns;
    uint32_t now[2];
    int rc = run(b, 0, true, &ns, err);
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!is_output(s) || s->arg->partial)
            continue;
        rc = digest_of(b, s, s->buf.inside, now, err);
        if (!rc && !same(now, s->digest[0]))
            rc =
                err_set(err, ERR_INVALID,
                        "gives another %s when it is run again: it must set each element, whatever was there before", s->arg->name);
    }
    return rc;
}

/* The digest that inputs must keep; the reference keeps them itself. */
static int keep_inputs(struct bench *b, int pass, struct err *err)
{
    enum outcome outcome = OUT_OK;
    char reason[256];
    struct check sum;
    int rc = find_input(b, pass, &outcome, reason, err);
    if (!rc && outcome != OUT_OK)
        rc = err_set(err, ERR_INVALID, "%s", reason);
    if (!rc)
        rc = service_begin(b, err);
    if (!rc)
        rc = inputs_look(b, 0, err);
    if (!rc)
        rc = service_end(b, 1, &sum, err);
    if (!rc)
        memcpy(b->input_digest[pass], sum.digests[0], sizeof sum.digests[0]);
    return rc;
}

/* The launch of the last pass is the one that is timed: the first may still load code. */
static int first_runs(struct bench *b, double *ns, struct err *err)
{
    int rc = 0;
    for (int pass = 0; !rc && pass < PASSES; pass++) {
        rc = run(b, pass, false, ns, err);
        if (!rc)
            rc = keep_inputs(b, pass, err);
        if (!rc)
            rc = keep_expected(b, pass, err);
    }
    if (!rc)
        rc = check_written(b, err);
    return rc ? rc : check_again(b, err);
}

int reference_open(struct bench *b, double *ns, struct err *err)
{
    struct buf binary = { 0 };
    enum outcome outcome = OUT_OK;
    char reason[256] = "";
    bench_alive(b);
    b->reference = mem_zalloc(sizeof *b->reference);
    int rc = b->reference ? set_tolerances(b, err) : err_nomem(err);
    if (rc)
        return rc;
    rc = compile(b, &binary, err);
    if (!rc)
        rc = candidate_load(b, NULL, binary.data, binary.len, b->reference, &outcome, reason, err);
    if (!rc && outcome != OUT_OK)
        rc = err_set(err, ERR_DEVICE, "%s", reason);
    if (!rc)
        rc = first_runs(b, ns, err);
    buf_free(&binary);
    if (rc)
        err_prefix(err, "reference %s: ", b->set.op->reference_name);
    return rc;
}

int bench_control(struct bench *b, struct err *err)
{
    enum outcome outcome = OUT_OK;
    char reason[256] = "";
    b->inputs_pass = -1;
    int rc = verify_pass(b, b->reference, (struct way){ .pass = TIMED, .poisoned = true }, &outcome, reason, err);
    if (rc || outcome == OUT_OK)
        return rc;
    return err_set(err, ERR_DEVICE, "the reference %s, run again: %s", b->set.op->reference_name, reason);
}
