/* The op's own kernels that make inputs: run untimed after the others are filled, for each pass and each other problem. */
#include "measure/internal.h"
#include "model/kernel.h"

int init_run(struct bench *b, struct err *err)
{
    const struct loaded *l = &b->init.code;
    bench_alive(b, DOES_ANY);
    return l->module ? candidate_launch(b, l, &l->own, err) : 0;
}

int init_other(struct bench *b, const struct problem *problem, struct binding *out, struct err *err)
{
    const struct loaded *l = &b->init.code;
    int rc = l->module ? binding_make(&b->init.plans, &b->set, problem, ALL_OTHERS, &only_config, out, err) : 0;
    if (rc || !l->module || candidate_fits(b, l, out))
        return rc;
    return err_set(err, ERR_UNSUPPORTED, "init cannot be run for it in the same memory");
}

/* ---- that it writes its inputs, always the same, and nothing else */

static int digests_of(struct bench *b, uint64_t digests[MAX_ARGS], struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++)
        rc = b->args[i].service ? digest_of(b, &b->args[i], b->args[i].buf.inside, &digests[i], err) : 0;
    return rc;
}

/* Of which nothing is said but that init makes it: so it has to make all of it. */
static bool made_whole(const struct arg *a)
{
    const struct arg_data *d = &a->data;
    return d->init && !a->fill && !d->range[0] && !d->below && !d->sorted;
}

static int run_over(struct bench *b, int pass, enum poison with, uint64_t digests[MAX_ARGS], struct err *err)
{
    const char *past = NULL;
    int rc = fill_all(b, pass, err);
    for (int i = 0; !rc && i < b->nargs; i++)
        rc = made_whole(b->args[i].arg) ? guarded_poison(b, &b->args[i].buf, with, err) : 0;
    return rc
        ?: init_run(b, err)
        ?: device_sync(b->dev, err)
        ?: find_overrun(b, &b->init.code, &past, err)
        ?: (past ? err_set(err, ERR_INVALID, "wrote outside %s", past) : 0)
        ?: digests_of(b, digests, err);
}

/* Everything is filled and digested without the kernels; then they run, twice over the same and once over other bits. */
static int check(struct bench *b, int pass, struct err *err)
{
    uint64_t before[MAX_ARGS], first[MAX_ARGS], again[MAX_ARGS], over[MAX_ARGS];
    int rc = fill_all(b, pass, err)
        ?: digests_of(b, before, err)
        ?: run_over(b, pass, POISON_ONES, first, err)
        ?: run_over(b, pass, POISON_ONES, again, err)
        ?: run_over(b, pass, POISON_RANDOM, over, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!a->service)
            continue;
        if (!a->arg->data.init && before[i] != first[i])
            rc = err_set(err, ERR_INVALID, "wrote to %s, which is not marked { init = true }", a->arg->name);
        else if (first[i] != again[i])
            rc = err_set(err, ERR_INVALID, "makes another %s when it is run again", a->arg->name);
        else if (first[i] != over[i])
            rc = err_set(err, ERR_INVALID,
                         "does not write all of %s: write it, or say what else is in it, { init = true, below = ... } or the like",
                         a->arg->name);
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
    in->plans.op = &in->op;
    int rc = candidate_build(b, &in->plans, &only_config, &in->code, err);
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
