/* Compile worker: a configuration to source, its key, and on demand to a binary. */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "child/process.h"
#include "device/device.h"
#include "source/source.h"
#include "worker/child.h"

static const int64_t MAX_MEMORY = INT64_C(4) << 30; /* more than it has when its compiler is loaded */

struct compiling {
    struct child *c;
    const struct backend *be;
    struct compiler *compiler;
    struct config config;
    char basis[HASH_HEX]; /* of all keys */
    struct buf source;
    struct plans plans;
};

/* Whatever fails here is no configuration's fault. */
static int set_up(struct compiling *w, struct err *err)
{
    const struct task *t = &w->c->task;
    char compiler[COMPILER_NAME];
    int rc = w->be->compiling->open(&t->dev, &w->compiler, err);
    if (rc)
        return rc;
    w->be->compiling->name(w->compiler, compiler);
    rc = source_basis(t->op, &t->problem, t->row, &t->dev, compiler, w->basis, err);
    if (rc && t->op->reference_name)
        err_prefix(err, "reference %s: ", t->op->reference_name);
    return rc;
}

static int render(struct compiling *w, struct cursor *body, struct err *err)
{
    const struct task *t = &w->c->task;
    struct err why = { 0 };
    char key[HASH_HEX] = "";
    const struct plan *plan;
    int rc = config_get(body, t->op, &w->config, err);
    if (rc)
        return rc;
    buf_clear(&w->source);
    rc = source_render(t->op, &w->config, t->row, &t->dev, &w->source, &why)
        ?: plans_get(&w->plans, w->config.variant, &plan, &why)
        ?: source_key(t->op, plan, &w->config, &t->problem, t->row, &t->dev, w->source.data, w->basis, key, &why);
    size_t f = frame_begin(&w->c->channel.out, F_RENDERED);
    buf_u8(&w->c->channel.out, rc ? OUT_COMPILE_ERROR : OUT_OK);
    buf_lstr(&w->c->channel.out, rc ? why.msg : "");
    buf_lstr(&w->c->channel.out, key);
    frame_end(&w->c->channel.out, f);
    return channel_send(&w->c->channel, NULL, err);
}

/* For backends that compile at the first launch: the launches, with buffers by size and values by value. config null: the reference. */
struct trial_launches {
    struct warm_launch launches[MAX_LAUNCHES];
    struct karg args[MAX_LAUNCHES][2 * MAX_ARGS];
    int64_t bytes[MAX_LAUNCHES][2 * MAX_ARGS];
};

static int make_trial(struct compiling *w, const struct config *config, struct trial_launches *t, int *n, struct err *err)
{
    const struct task *task = &w->c->task;
    const struct variant *v = config ? &task->op->variants[config->variant] : NULL;
    const struct plan *plan;
    struct val vals[MAX_SLOTS];
    int rc = plans_get(&w->plans, config ? config->variant : -1, &plan, err);
    *n = 0;
    if (rc)
        return rc;
    plan_slots(plan, &task->problem, task->row, &task->dev, config, vals);
    *n = v ? v->nlaunches : 1;
    for (int i = 0; !rc && i < *n; i++) {
        const struct launch *l = v ? &v->launches[i] : &task->op->reference;
        t->launches[i] = (struct warm_launch){
            .kernel = l->kernel, .nargs = l->nargs, .args = t->args[i], .buffer_bytes = t->bytes[i], .buffer = l->args
        };
        rc = plan_geometry(plan, i, vals, &t->launches[i].geometry, err);
        for (int a = 0; !rc && a < l->nargs; a++) {
            int arg = l->args[a], nop = task->op->nargs;
            t->bytes[i][a] = 0;
            if (arg >= nop)
                rc = plan_workspace_bytes(plan, arg - nop, vals, &t->bytes[i][a], err);
            else if (task->op->args[arg].kind == ARG_VALUE)
                rc = plan_arg_value(plan, arg, vals, t->args[i][a].bytes, &t->args[i][a].size, err);
            else
                rc = plan_arg_bytes(plan, arg, vals, &t->bytes[i][a], err);
        }
    }
    return rc;
}

/* Compiles a configuration's source, or the reference's if config is null. The reason is a line of the compiler's log, if it has one. */
static int compile_text(struct compiling *w, const struct config *config, const struct buf *source, bool try_it, struct buf *binary,
                        struct buf *portable, char reason[256])
{
    const struct task *t = &w->c->task;
    struct trial_launches *trial = mem_zalloc(sizeof *trial);
    struct buf log = { 0 };
    struct err why = { 0 };
    char arch[sizeof t->dev.arch + 2];
    int n = 0, rc = trial && !source->failed ? make_trial(w, config, trial, &n, &why) : err_nomem(&why);
    struct compile_job job = { .source = source->data, .nlaunches = try_it ? n : 0, .warming = child_alive, .warming_arg = w->c };
    if (trial)
        job.launches = trial->launches;
    if (config && t->op->variants[config->variant].requires.arch_specific) {
        snprintf(arch, sizeof arch, "%sa", t->dev.arch);
        job.arch = arch;
    }
    rc = rc ?: w->be->compiling->compile(w->compiler, &job, binary, portable, &log, &why);
    if (rc == ERR_INVALID && log.len)
        compile_log_line(&log, reason);
    else
        snprintf(reason, 256, "%.255s", rc ? why.msg : "");
    buf_free(&log);
    mem_free(trial);
    return rc;
}

static int compile(struct compiling *w, bool try_it, struct err *err)
{
    struct buf binary = { 0 }, portable = { 0 }, *out = &w->c->channel.out;
    char reason[256], compiler[COMPILER_NAME];
    int64_t start = clock_ns();
    int rc = compile_text(w, &w->config, &w->source, try_it, &binary, &portable, reason);
    double ms = (double)(clock_ns() - start) / 1e6;
    enum outcome outcome = !rc                     ? OUT_OK
                           : rc == ERR_INVALID     ? OUT_COMPILE_ERROR
                           : rc == ERR_UNSUPPORTED ? OUT_RESOURCES
                                                   : OUT_LAUNCH_ERROR;
    w->be->compiling->name(w->compiler, compiler);
    size_t f = frame_begin(out, F_COMPILED);
    buf_u8(out, (uint8_t)outcome);
    buf_lstr(out, reason);
    buf_f64(out, ms);
    buf_bytes(out, w->source.data, w->source.len);
    buf_bytes(out, binary.data, binary.len);
    buf_bytes(out, portable.data, portable.len);
    buf_lstr(out, compiler);
    frame_end(out, f);
    buf_free(&binary);
    buf_free(&portable);
    return channel_send(&w->c->channel, NULL, err);
}

/* Whether the reference compiles here and now. Its text ends in a line that no cache has seen. */
static int control(struct compiling *w, struct err *err)
{
    const struct task *t = &w->c->task;
    struct buf source = { 0 }, binary = { 0 };
    struct err why = { 0 };
    char reason[256] = "";
    int rc = source_render(t->op, NULL, t->row, &t->dev, &source, &why);
    buf_fmt(&source, "// %lld %lld\n", (long long)getpid(), (long long)clock_ns());
    rc = rc ?: compile_text(w, NULL, &source, true, &binary, NULL, reason);
    size_t f = frame_begin(&w->c->channel.out, F_CONTROLLED);
    buf_lstr(&w->c->channel.out, reason[0] ? reason : why.msg);
    frame_end(&w->c->channel.out, f);
    buf_free(&source);
    buf_free(&binary);
    return channel_send(&w->c->channel, NULL, err);
}

static int answer(void *arg, struct frame *f, struct err *err)
{
    struct compiling *w = arg;
    if (f->kind == F_RENDER)
        return render(w, &f->body, err);
    if (f->kind == F_COMPILE && w->source.len)
        return compile(w, get_u8(&f->body), err);
    if (f->kind == F_CONTROL)
        return control(w, err);
    return err_set(err, ERR_CORRUPT, "a compile worker got frame %d", f->kind);
}

int compile_worker(struct child *c, struct err *err)
{
    struct compiling w = { .c = c, .be = backend_find(c->task.dev.backend), .plans.op = c->task.op };
    int rc = w.be ? set_up(&w, err) : err_set(err, ERR_NOTFOUND, "no backend %s", c->task.dev.backend);
    if (!rc && !c->task.dev.shared_driver)
        process_bound_growth(MAX_MEMORY);
    if (!rc) {
        child_alive(c);
        rc = child_serve(c, answer, &w, err);
    }
    if (w.compiler)
        w.be->compiling->close(w.compiler);
    plans_free(&w.plans);
    buf_free(&w.source);
    return rc;
}
