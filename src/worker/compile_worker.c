/* Compile worker: a configuration to source, its key, and on demand to a binary. */
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "child/process.h"
#include "source/source.h"
#include "worker/child.h"

static const int64_t MAX_MEMORY = INT64_C(4) << 30; /* more than it has when its compiler is loaded */

struct compiling {
    struct child *c;
    const struct backend *be;
    struct compiler *compiler;
    struct config config; /* last rendered */
    char basis[HASH_HEX]; /* of all keys */
    struct buf source, binary, portable;
    struct plans plans;
    struct warm_launch launches[MAX_LAUNCHES];
    int nlaunches;
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

static void render(struct compiling *w, const struct config *config, struct message *out)
{
    const struct task *t = &w->c->task;
    struct err why = { 0 };
    const struct plan *plan;
    w->config = *config;
    buf_clear(&w->source);
    int rc = source_render(t->op, config, t->row, &t->dev, &w->source, &why)
        ?: plans_get(&w->plans, config->variant, &plan, &why)
        ?: source_key(t->op, plan, config, &t->problem, t->row, &t->dev, w->source.data, w->basis, out->key, &why);
    out->outcome = rc ? OUT_COMPILE_ERROR : OUT_OK;
    snprintf(out->text, sizeof out->text, "%s", why.msg);
}

static int make_trial(struct compiling *w, const struct config *config, struct err *err)
{
    const struct task *t = &w->c->task;
    const struct variant *v = config ? &t->op->variants[config->variant] : NULL;
    const struct plan *plan;
    struct val vals[MAX_SLOTS];
    int rc = plans_get(&w->plans, config ? config->variant : -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, &t->problem, t->row, &t->dev, config, vals);
    w->nlaunches = v ? v->nlaunches : 1;
    for (int i = 0; !rc && i < w->nlaunches; i++) {
        const struct launch *l = v ? &v->launches[i] : &t->op->reference;
        struct warm_launch *warm = &w->launches[i];
        warm->kernel = l->kernel;
        warm->nparams = l->nargs;
        rc = plan_geometry(plan, i, vals, &warm->geometry, err);
        for (int a = 0; !rc && a < l->nargs; a++) {
            struct guest_param *p = &warm->params[a];
            int arg = l->args[a], nop = t->op->nargs;
            bool value = arg < nop && t->op->args[arg].kind == ARG_VALUE;
            *p = (struct guest_param){ .kind = value ? GUEST_VALUE : GUEST_BUFFER, .index = arg };
            if (arg >= nop)
                rc = plan_workspace_bytes(plan, arg - nop, vals, &p->room, err);
            else if (value)
                rc = plan_arg_value(plan, arg, vals, p->value, &p->bytes, err);
            else
                rc = plan_arg_bytes(plan, arg, vals, &p->room, err);
        }
    }
    return rc;
}

/* Compiles the source, of a configuration or, if config is null, of the reference. Of the compiler's log, if there is one, `reason` is
 * the line that says most. */
static int compile_source(struct compiling *w, const struct config *config, bool try_it, char *reason, size_t room)
{
    const struct task *t = &w->c->task;
    struct buf log = { 0 };
    struct err why = { 0 };
    char arch[sizeof t->dev.arch + 2];
    int rc = buf_check(&w->source, &why) ?: make_trial(w, config, &why);
    struct compile_job job = { .source = w->source.data,
                               .nlaunches = try_it ? w->nlaunches : 0,
                               .launches = w->launches,
                               .warming = child_alive,
                               .warming_arg = w->c };
    if (config && t->op->variants[config->variant].requires.arch_specific) {
        snprintf(arch, sizeof arch, "%sa", t->dev.arch);
        job.arch = arch;
    }
    buf_clear(&w->binary);
    buf_clear(&w->portable);
    rc = rc ?: w->be->compiling->compile(w->compiler, &job, &w->binary, config ? &w->portable : NULL, &log, &why);
    snprintf(reason, room, "%s", why.msg);
    if (rc == ERR_INVALID && log.len)
        compile_log_line(&log, reason);
    buf_free(&log);
    return rc;
}

static struct bytes bytes_of(const struct buf *b)
{
    return (struct bytes){ b->data, b->len };
}

static void compile(struct compiling *w, bool try_it, struct message *out)
{
    int64_t start = clock_ns();
    int rc = compile_source(w, &w->config, try_it, out->text, sizeof out->text);
    out->ms = (double)(clock_ns() - start) / 1e6;
    out->outcome = !rc ? OUT_OK : rc == ERR_INVALID ? OUT_COMPILE_ERROR : rc == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR;
    out->source = bytes_of(&w->source);
    out->binary = bytes_of(&w->binary);
    out->portable = bytes_of(&w->portable);
    w->be->compiling->name(w->compiler, out->compiler);
}

/* Whether the reference compiles here and now. Its text ends in a line that no cache has seen. */
static void control(struct compiling *w, struct message *out)
{
    const struct task *t = &w->c->task;
    struct err why = { 0 };
    buf_clear(&w->source);
    int rc = source_render(t->op, NULL, t->row, &t->dev, &w->source, &why);
    buf_fmt(&w->source, "// %lld %lld\n", (long long)getpid(), (long long)clock_ns());
    if (rc)
        snprintf(out->text, sizeof out->text, "%s", why.msg);
    else
        compile_source(w, NULL, true, out->text, sizeof out->text);
    buf_clear(&w->source); /* it is no configuration's */
}

static int answer(struct compiling *w, const struct message *m, struct err *err)
{
    struct message out = { .kind = m->kind + 1 };
    if (m->kind == F_RENDER && m->ncandidates)
        render(w, &m->candidates->config, &out);
    else if (m->kind == F_COMPILE && w->source.len)
        compile(w, m->number, &out);
    else if (m->kind == F_CONTROL)
        control(w, &out);
    else
        return err_set(err, ERR_CORRUPT, "a compile worker got frame %d", (int)m->kind);
    return child_send(w->c, &out, err);
}

int compile_worker(struct child *c, struct err *err)
{
    struct compiling w = { .c = c, .be = backend_find(c->task.dev.backend), .plans.op = c->task.op };
    struct message m;
    int rc = w.be ? set_up(&w, err) : err_set(err, ERR_NOTFOUND, "no backend %s", c->task.dev.backend);
    if (!rc && !c->task.dev.shared_driver)
        process_bound_growth(MAX_MEMORY);
    if (!rc)
        child_alive(c);
    while (!rc)
        rc = child_next(c, &m, err) ?: answer(&w, &m, err);
    if (w.compiler)
        w.be->compiling->close(w.compiler);
    plans_free(&w.plans);
    buf_free(&w.source);
    buf_free(&w.binary);
    buf_free(&w.portable);
    return rc;
}
