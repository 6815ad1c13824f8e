/* A bench: the device, the op's arguments and the reference. */
#include "measure/bench.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/element.h"
#include "measure/internal.h"
#include "op/data_file.h"

void bench_alive(const struct bench *b, int i)
{
    if (b->set.alive)
        b->set.alive(b->set.arg, i, b->name);
}

static int make_arg(struct bench *b, int i, struct err *err)
{
    const struct op *op = b->set.op;
    struct bench_arg *a = &b->args[i];
    const struct dtype *type = number_type(op_arg_dtype(op, op->args[i].type, b->set.row)); /* to the service kernels */
    unsigned char value[16];
    int size;
    a->arg = &op->args[i];
    a->written = arg_is_written(a->arg);
    a->zeros = NAN;
    a->buf.tint = a->written ? TINT_WRITTEN : 0;
    a->buf.small = !a->written && !type->eps && data_given(&a->arg->data);
    bench_alive(b, DOES_ANY); /* it may have to compile */
    int rc = !arg_is_buffer(a->arg)
                 ? plan_arg_value(b->plan, i, b->vals, value, &size, err) /* whether it has one */
                 : plan_arg_bytes(b->plan, i, b->vals, &a->buf.bytes, err)
                       ?: service_load(b, type, &a->service, err)
                       ?: device_alloc(b->dev, a->buf.bytes + 2 * GUARD, &a->buf.whole, err)
                       ?: device_view(b->dev, a->buf.whole, GUARD, a->buf.bytes, &a->buf.inside, err);
    rc = rc ?: plan_bounds(b->plan, i, b->vals, &a->check, err);
    if (!rc && a->service)
        a->n = a->buf.bytes / a->service->type->bytes;
    if (!rc && data_said(&a->arg->data))
        rc = data_open(b, a, err);
    if (rc)
        err_prefix(err, "argument %s: ", a->arg->name);
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

/* How often the bytes of an argument are on the device: itself, what it should hold, the contents of its file. */
static int copies_of(const struct op *op, int i)
{
    const struct arg *a = &op->args[i];
    const enum check_kind kind = op_arg_check(op, i)->kind;
    const bool file = a->data.file.name;
    if (a->kind == ARG_OUTPUT && file)
        return 3;
    if (!arg_is_written(a))
        return 1 + file;
    return (kind == CHECK_EXACT && op->reference.template_text ? 2 : 4) + file; /* in both passes, and for another problem */
}

static void add_up(int64_t *total, int64_t bytes, int copies)
{
    if (__builtin_mul_overflow(bytes, copies, &bytes) || __builtin_add_overflow(*total, bytes, total))
        *total = INT64_MAX;
}

int bench_fits(const struct op *op, const struct problem *problem, int row, const struct devspec *dev, struct err *err)
{
    struct plan *plan = NULL;
    struct val vals[MAX_SLOTS];
    int64_t total = 0;
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, problem, row, dev, NULL, vals);
    for (int i = 0; !rc && i < op->nargs; i++) {
        int64_t bytes = 0;
        rc = plan_arg_bytes(plan, i, vals, &bytes, err);
        if (op->args[i].data.file.name) {
            rc = rc ?: data_file_fits(op, plan, i, vals, err);
        } else if (!rc) {
            struct extremes extremes;
            struct peaks peaks;
            rc = plan_arg_extremes(plan, i, vals, &extremes, err) ?: plan_arg_peaks(plan, i, vals, &peaks, err);
        }
        if (!rc && bytes > dev->max_alloc - 3 * GUARD)
            rc = err_set(err, ERR_INVALID, "argument %s takes %lld bytes, one buffer of %s may have %lld: choose smaller sizes",
                         op->args[i].name, (long long)bytes, dev->name, (long long)dev->max_alloc);
        add_up(&total, bytes, copies_of(op, i));
    }
    for (int i = 0; !rc && i < op->reference.nworkspaces; i++) {
        int64_t bytes = 0;
        rc = plan_workspace_bytes(plan, i, vals, &bytes, err);
        add_up(&total, bytes, 1);
    }
    plan_free(plan);
    if (!rc && total > dev->memory)
        rc = err_set(err, ERR_INVALID, "the problem takes %lld bytes with what its check needs, %s has %lld: choose smaller sizes",
                     (long long)total, dev->name, (long long)dev->memory);
    return rc;
}

/* ---- the reference: what it gives is what candidates must give, and as long as it still gives that, the surroundings are sound */

/* Around which of its buffers, as buffer_of counts them, the reference finds other bytes than candidates do. */
enum { AROUND_NONE = -1, AROUND_ALL = -2 };

/* Everything set back, one launch, waited for. */
static int run(struct bench *b, int pass, bool zeros, int around, double *ns, struct err *err)
{
    bench_alive(b, DOES_ANY);
    int rc = inputs_fill(b, pass, err);
    for (int i = 0; !rc && i < b->reference.nwork; i++) /* in the second run other bits than in the first */
        rc = guarded_paint(b, &b->reference.work[i], pass, err)
                 ?: guarded_poison(b, &b->reference.work[i], zeros ? POISON_RANDOM : POISON_ONES, err);
    for (int i = 0; !rc && i < b->nargs + b->reference.nwork; i++) {
        struct guarded *g = i < b->nargs ? &b->args[i].buf : &b->reference.work[i - b->nargs];
        if (g->inside && (around == AROUND_ALL || around == i))
            rc = guarded_paint(b, g, pass + PASSES, err);
    }
    for (int i = 0; !rc && zeros && i < b->nargs; i++)
        if (b->args[i].arg->kind == ARG_OUTPUT)
            rc = guarded_poison(b, &b->args[i].buf, POISON_ZEROS, err);
    rc = rc
        ?: device_span_begin(b->dev, 0, err)
        ?: candidate_launch(b, &b->reference, &b->reference.own, err)
        ?: device_span_end(b->dev, 0, err)
        ?: device_sync(b->dev, err)
        ?: device_span_ns(b->dev, 0, ns, err);
    if (around != AROUND_NONE)
        b->inputs_pass = -1; /* the next run paints them anew */
    return rc;
}

/* Whether an output is another than it was in this pass by more than the check allows a candidate. */
static int differs(struct bench *b, const struct bench_arg *a, int pass, bool *out, struct err *err)
{
    struct found other = { 0 };
    uint64_t now = a->digest[pass];
    int rc = a->tolerance[pass].close
                 ? service_begin(b, err) ?: service_check_same(b, a, pass, 0, err) ?: service_end(b, 0, &other, err)
                 : digest_of(b, a, a->buf.inside, &now, err);
    *out = other.count || now != a->digest[pass];
    return rc;
}

/* Its output differs when it is run again, over zeros and among other bytes: tells which of the two it is, and around which buffer, or that it
 * holds what equals nothing, not even itself. */
static int tell_difference(struct bench *b, const struct bench_arg *a, int pass, struct err *err)
{
    const char *name = "its buffers";
    double ns;
    bool other;
    int rc = expected_finite(b, a, pass, err) ?: run(b, pass, true, AROUND_NONE, &ns, err) ?: differs(b, a, pass, &other, err);
    if (!rc && other)
        return err_set(err, ERR_INVALID,
                       "gives another %s when it is run again: it must set each element, whatever was there before", a->arg->name);
    for (int i = 0; !rc && i < b->nargs + b->reference.nwork; i++) {
        rc = buffer_of(b, &b->reference, i)->inside ? run(b, pass, true, i, &ns, err) ?: differs(b, a, pass, &other, err) : 0;
        if (!rc && other) {
            name = i < b->nargs ? b->args[i].arg->name : "a workspace";
            break;
        }
    }
    return rc
               ?: err_set(err, ERR_INVALID,
                          "reads outside %s: it gives another %s among other bytes, so nothing can be held against it", name,
                          a->arg->name);
}

/* Once more, over zeros, and with other bytes around all buffers. On the inputs of timed runs, where it ran over ones before, an element that
 * it does not write shows: no candidate would have to write it either. On both it shows if what it gives depends on what its output held
 * before, or lies beside a buffer, where candidates find the same; or changes from run to run by more than the check allows a candidate. */
static int run_again(struct bench *b, int pass, struct err *err)
{
    double ns;
    int around = AROUND_ALL;
    for (int i = 0; i < b->nargs; i++) /* a file's numbers may be indices beyond what a smaller problem has */
        around = b->variation && b->args[i].arg->data.file.name ? AROUND_NONE : around;
    int rc = run(b, pass, true, around, &ns, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        struct found found = { 0 };
        bool other = false;
        if (!a->written || a->arg->partial)
            continue;
        if (pass == TIMED && a->arg->kind == ARG_OUTPUT)
            rc = service_begin(b, err) ?: service_check_unwritten(b, a, err) ?: service_end(b, 0, &found, err);
        if (!rc && found.count)
            return err_set(
                err, ERR_INVALID,
                "leaves %u elements of %s unwritten, from about element %lld on: it must write all, or the argument says "
                "partial = true",
                found.count, a->arg->name, (long long)found.place);
        rc = rc ?: differs(b, a, pass, &other, err);
        rc = rc ?: other ? tell_difference(b, a, pass, err) : 0;
    }
    return rc;
}

/* A reference without a kernel: what it gives has to be there. */
static int given_open(struct bench *b, struct err *err)
{
    int rc = b->set.outside.command ? outside_open(b, err) : 0;
    if (rc)
        return rc;
    for (int i = 0; i < b->nargs; i++)
        for (int pass = 0; pass < PASSES; pass++)
            if (b->args[i].written && !b->args[i].expected[pass])
                return err_set(err, ERR_INVALID, "there is none");
    return 0;
}

static int reference_open(struct bench *b, double *ns, struct err *err)
{
    int rc = b->set.op->reference.template_text ? candidate_build(b, &b->plans, NULL, &b->reference, err) : given_open(b, err);
    for (int pass = 0; !rc && pass < PASSES; pass++) /* the launch of the last pass is timed: the first may still load code */
        rc = run(b, pass, false, AROUND_NONE, ns, err) ?: expected_keep(b, pass, err);
    rc = rc ?: expected_proves(b, err);
    if (!rc && !b->set.proven)
        rc = run_again(b, TIMED, err) ?: run_again(b, 0, err);
    if (rc)
        err_prefix(err, "reference %s: ", op_reference(b->set.op));
    return rc;
}

int reference_on(struct bench *other, struct err *err)
{
    double ns;
    return run(other, 0, false, AROUND_NONE, &ns, err) ?: expected_keep(other, 0, err) ?: (other->set.proven ? 0 : run_again(other, 0, err));
}

int bench_control(struct bench *b, struct err *err)
{
    struct result r = { 0 };
    struct bench *tried = b->tried;
    b->inputs_pass = -1;
    b->tried = NULL;
    int rc = verify_pass(b, &b->reference, WAY_FIRST, &r, err);
    if (!rc && tried)
        rc = verify_reference(b, tried, &r, err);
    if (rc == VERDICT)
        rc = err_set(err, ERR_DEVICE, "the reference %s, run again: %s", op_reference(b->set.op), r.reason);
    return rc;
}

/* ---- open and close */

static void name_it(struct bench *b)
{
    struct buf text = { 0 };
    problem_print(&text, b->set.op, &b->set.problem);
    snprintf(b->name, sizeof b->name, "%s", buf_text(&text));
    buf_free(&text);
}

static int open_device(struct bench *b, struct err *err)
{
    struct bench_kept *k = b->set.kept;
    b->dev = k ? k->dev : NULL;
    int rc = b->dev ? 0 : device_open(&b->set.dev, &b->dev, err);
    if (!rc && k)
        k->dev = b->dev;
    return rc;
}

int bench_open(const struct task *task, struct bench **out, struct bench_facts *facts, struct err *err)
{
    struct bench *b = mem_zalloc(sizeof *b);
    double bytes, flops;
    *facts = (struct bench_facts){ 0 };
    if (!b)
        return err_nomem(err);
    b->set = *task;
    b->inputs_pass = -1;
    b->digest_key = rand_at((uint64_t)clock_ns(), (uint64_t)getpid());
    b->plans.op = task->op;
    if (task->larger)
        name_it(b);
    int rc = plans_get(&b->plans, -1, &b->plan, err) ?: bench_fits(task->op, &task->problem, task->row, &task->dev, err);
    if (!rc)
        plan_slots(b->plan, &task->problem, task->row, &task->dev, NULL, b->vals);
    rc = rc ?: open_device(b, err) ?: device_alloc(b->dev, RESULT_BYTES, &b->result, err);
    for (; !rc && b->nargs < task->op->nargs; b->nargs++)
        rc = make_arg(b, b->nargs, err);
    rc = rc
        ?: (task->larger ? 0 : make_flush(b, err))
        ?: init_open(b, err)
        ?: plan_work(b->plan, b->vals, &bytes, &flops, err)
        ?: reference_open(b, &facts->reference_ns, err)
        ?: (task->larger ? 0 : others_open(b, facts, err))
        ?: (task->energy ? energy_ready(b, facts->reference_ns, err) : 0)
        ?: (task->proven ? 0 : time_copy(b, bytes, &facts->copy_ns, err));
    b->set.proven = false; /* other problems that a candidate needs later may be new to this run */
    if (rc)
        bench_close(b);
    else
        *out = b;
    return rc;
}

void bench_close(struct bench *b)
{
    if (b && b->dev) {
        others_drop(b);
        candidate_unload(b, &b->reference);
        init_close(b);
        pool_free(b);
        for (int i = 0; i < b->nargs; i++) {
            data_close(b, &b->args[i]);
            device_free(b->dev, b->args[i].buf.inside);
            device_free(b->dev, b->args[i].buf.whole);
            for (int p = 0; p < PASSES; p++)
                device_free(b->dev, b->args[i].expected[p]);
        }
        services_close(b);
        device_free(b->dev, b->flush_buf);
        device_free(b->dev, b->result);
        if (!b->set.kept)
            device_close(b->dev);
    }
    if (b)
        plans_free(&b->plans);
    mem_free(b);
}
