/* The op's own kernels that make inputs: run untimed after the others are filled, for each pass and each other problem. */
#include "measure/internal.h"
#include "model/kernel.h"
#include "source/source.h"

static int render(struct bench *b, struct buf *source, struct err *err)
{
    const struct task *t = &b->init.task;
    int rc = source_render(t->op, &only_config, t->row, &t->dev, source, err);
    if (t->fresh)
        buf_fmt(source, "// %016llx\n", (unsigned long long)t->fresh);
    return rc ?: buf_check(source, err);
}

static int load(struct bench *b, struct err *err)
{
    struct buf source = { 0 }, binary = { 0 }, entries = { 0 };
    struct loaded *l = &b->init.code;
    struct result r = { 0 };
    bench_alive(b, -1);
    int rc = render(b, &source, err);
    const struct compile_job job = bench_job(b, source.data, &entries);
    rc = rc ?: compile_once(&b->set.dev, &job, &binary, err) ?: device_load(b->dev, binary.data, binary.len, &l->module, err);
    const struct bench_candidate code = { only_config, binary.data, binary.len, entries.data, entries.len };
    for (int i = 0; !rc && i < l->own.n; i++)
        rc = candidate_kernel(b, l, i, &code, &r, err);
    buf_free(&entries);
    buf_free(&source);
    buf_free(&binary);
    return rc == VERDICT ? err_set(err, ERR_DEVICE, "%s", r.reason) : rc;
}

static int bind(struct bench *b, const struct problem *problem, struct binding *out, struct err *err)
{
    struct init *in = &b->init;
    return binding_make(&in->plans, &in->task, problem, &only_config, out, err);
}

int init_run(struct bench *b, struct err *err)
{
    const struct loaded *l = &b->init.code;
    bench_alive(b, -1);
    return l->module ? candidate_launch(b, l, &l->own, err) : 0;
}

bool init_takes(struct bench *b, const struct problem *other)
{
    struct loaded *l = &b->init.code;
    return !l->module || (!bind(b, other, &l->other, NULL) && candidate_fits(b, l, &l->other));
}

int init_run_other(struct bench *b, const struct problem *other, struct err *err)
{
    struct loaded *l = &b->init.code;
    if (!l->module)
        return 0;
    b->inputs_pass = -1;
    return bind(b, other, &l->other, err) ?: candidate_launch(b, l, &l->other, err);
}

/* ---- that it writes its inputs, always the same, and nothing else */

static int digests_of(struct bench *b, uint64_t digests[MAX_ARGS], struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++)
        rc = b->args[i].service ? digest_of(b, &b->args[i], b->args[i].buf.inside, &digests[i], err) : 0;
    return rc;
}

static int check_guards(struct bench *b, struct err *err)
{
    struct found found = { 0 };
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        if (b->args[i].service)
            rc = service_begin(b, err) ?: service_check_guards(b, &b->args[i].buf, err) ?: service_end(b, 0, &found, err);
        if (!rc && found.count)
            rc = err_set(err, ERR_INVALID, "wrote outside %s", b->args[i].arg->name);
    }
    return rc;
}

/* Everything is filled and digested without the kernels; then they run, twice. */
static int check(struct bench *b, int pass, struct err *err)
{
    uint64_t before[MAX_ARGS], first[MAX_ARGS], again[MAX_ARGS];
    int rc = fill_all(b, pass, err)
        ?: digests_of(b, before, err)
        ?: init_run(b, err)
        ?: device_sync(b->dev, err)
        ?: check_guards(b, err)
        ?: digests_of(b, first, err)
        ?: fill_all(b, pass, err)
        ?: init_run(b, err)
        ?: digests_of(b, again, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!a->service)
            continue;
        if (!a->arg->data.init && before[i] != first[i])
            rc = err_set(err, ERR_INVALID, "wrote to %s, which is not marked { init = true }", a->arg->name);
        else if (first[i] != again[i])
            rc = err_set(err, ERR_INVALID, "makes another %s when it is run again", a->arg->name);
        if (a->arg->data.init)
            a->digest[pass] = first[i];
    }
    b->inputs_pass = -1;
    return rc;
}

int init_open(struct bench *b, struct err *err)
{
    const struct op *op = b->set.op;
    struct init *in = &b->init;
    if (!op->init.template_text)
        return 0;
    in->op = op_of_init(op);
    in->task = b->set;
    in->task.op = &in->op;
    in->plans.op = &in->op;
    in->code.variant = in->op.variants;
    int rc = bind(b, &b->set.problem, &in->code.own, err) ?: load(b, err);
    for (int pass = 0; !rc && pass < PASSES; pass++)
        rc = check(b, pass, err);
    if (rc)
        err_prefix(err, "init %s: ", op->init.template_name);
    return rc;
}

void init_close(struct bench *b)
{
    candidate_unload(b, &b->init.code);
    if (b->init.plans.op)
        plans_free(&b->init.plans);
}
