/* Compile worker: a configuration to source, its key, and on demand to a binary. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "child/process.h"
#include "source/source.h"
#include "worker/cache.h"
#include "worker/child.h"

static const int64_t MAX_MEMORY = INT64_C(4) << 30; /* more than it has when its compiler is loaded */

struct compiling {
    struct child *c;
    const struct backend *be;
    struct compiler *compiler;
    struct config config; /* last rendered */
    char code[HASH_HEX];  /* its cache_key; "": none */
    char basis[HASH_HEX]; /* of all keys */
    struct buf source, binary, portable, entries;
    struct plans plans;
    struct binding binding; /* for launches to try */
};

/* Whatever fails here is no configuration's fault. */
static int set_up(struct compiling *w, struct err *err)
{
    const struct task *t = &w->c->task;
    char compiler[COMPILER_NAME];
    int rc = w->compiler ? 0 : w->be->compiling->open(&t->dev, &w->compiler, err);
    if (rc)
        return rc;
    w->be->compiling->name(w->compiler, compiler);
    rc = source_basis(t->op, &t->problem, t->row, &t->dev, compiler, w->basis, err);
    if (rc)
        err_prefix(err, "reference %s: ", op_reference(t->op));
    return rc;
}

static struct bytes bytes_of(const struct buf *b)
{
    return (struct bytes){ b->data, b->len };
}

/* One of each launch, for the compiler to try. */
static int list_launches(const struct binding *of, struct guest_launch out[MAX_LAUNCHES])
{
    int n = 0;
    for (int i = 0; i < of->n; i++) {
        int k = 0;
        while (k < n && out[k].of != of->launches[i].of)
            k++;
        if (k == n)
            out[n++] = of->launches[i];
    }
    return n;
}

/* A trial's buffers hold zeros, which inputs of chosen data may never do: a divisor, say. */
static bool takes_zeros(const struct op *op)
{
    bool any = false;
    for (int i = 0; i < op->nargs; i++)
        any = any || (op->args[i].kind != ARG_OUTPUT && data_given(&op->args[i].data));
    return !any;
}

/* What is asked of the compiler. */
struct asking {
    struct compile_job job;
    struct guest_launch launches[MAX_LAUNCHES];
    char arch[ARCH_NAME];
};

/* For the source: the configuration's, or the reference's if config is null. */
static int ask_for(struct compiling *w, const struct config *config, bool try_it, struct asking *out, struct err *err)
{
    const struct task *t = &w->c->task;
    int rc = buf_check(&w->source, err) ?: binding_make(&w->plans, t, &t->problem, NO_OTHERS, config, &w->binding, err);
    out->job = (struct compile_job){ .source = w->source.data,
                                     .entries = &w->entries,
                                     .nheader_dirs = t->op->nheader_dirs,
                                     .header_dirs = t->op->header_dirs,
                                     .nlaunches = !rc && try_it && takes_zeros(t->op) ? list_launches(&w->binding, out->launches) : 0,
                                     .launches = out->launches,
                                     .warming = child_alive,
                                     .warming_arg = w->c };
    out->job.arch = devspec_arch(&t->dev, config && t->op->variants[config->variant].requires.arch_specific, out->arch);
    return rc;
}

static void render(struct compiling *w, const struct config *config, bool try_it, struct message *out)
{
    const struct task *t = &w->c->task;
    struct err why = { 0 };
    const struct plan *plan;
    struct asking asks;
    w->config = *config;
    buf_clear(&w->source);
    int rc = source_render(t->op, config, t->row, &t->dev, &w->source, &why);
    out->outcome = rc ? OUT_COMPILE_ERROR : OUT_OK;
    rc = rc ?: plans_get(&w->plans, config->variant, &plan, &why)
            ?: source_key(t->op, plan, config, &t->problem, t->row, &t->dev, w->source.data, w->basis, out->key, &why);
    if (rc && out->outcome == OUT_OK) /* an expression of its launches has no value for this problem */
        out->outcome = OUT_INVALID;
    if (rc || ask_for(w, config, try_it, &asks, NULL) || cache_key(w->compiler, &t->dev, &asks.job, out->code, NULL))
        out->code[0] = 0;
    memcpy(w->code, out->code, HASH_HEX);
    snprintf(out->text, sizeof out->text, "%s", why.msg);
}

static void tell(struct compiling *w, struct message *out)
{
    out->source = bytes_of(&w->source);
    out->binary = bytes_of(&w->binary);
    out->portable = bytes_of(&w->portable);
    out->entries = bytes_of(&w->entries);
    w->be->compiling->name(w->compiler, out->compiler);
}

static void forget(struct compiling *w)
{
    buf_clear(&w->binary);
    buf_clear(&w->portable);
    buf_clear(&w->entries);
}

/* Compiles the source: the configuration's, or the reference's if config is null. The reason of a failure is the line of the compiler's
 * log that says most, if there is a log. An error if something is missing on this machine, which is no source's fault. */
static int compile(struct compiling *w, const struct config *config, bool try_it, struct message *out, struct err *err)
{
    struct buf log = { 0 };
    struct err why = { 0 };
    struct asking asks;
    int64_t start = clock_ns();
    int rc = ask_for(w, config, try_it, &asks, &why);
    forget(w);
    rc = rc ?: w->be->compiling->compile(w->compiler, &asks.job, &w->binary, config ? &w->portable : NULL, &log, &why);
    snprintf(out->text, sizeof out->text, "%s", why.msg);
    if (rc == ERR_INVALID && log.len)
        compile_log_line(&log, out->text);
    buf_free(&log);
    out->outcome = !rc ? OUT_OK : rc == ERR_INVALID ? OUT_COMPILE_ERROR : rc == ERR_UNSUPPORTED ? OUT_RESOURCES : OUT_LAUNCH_ERROR;
    out->ms = (double)(clock_ns() - start) / 1e6;
    tell(w, out);
    return rc == ERR_NOTFOUND ? err_set(err, rc, "%s", why.msg) : 0;
}

/* The same of what was rendered last, or what the cache has of it. */
static int compile_or_load(struct compiling *w, int how, struct message *out, struct err *err)
{
    const char *folder = w->code[0] ? w->c->task.cache : NULL;
    struct cached code = { &w->binary, &w->portable, &w->entries, 0 };
    int rc = 0;
    forget(w);
    out->number = folder && !(how & PAST_CACHE) && cache_load(folder, w->code, &code);
    if (out->number) {
        out->outcome = OUT_OK;
        out->ms = code.ms;
        tell(w, out);
        return 0;
    }
    rc = compile(w, &w->config, how & TRY_LAUNCH, out, err);
    code.ms = out->ms;
    if (!rc && folder && out->outcome == OUT_OK)
        cache_save(folder, w->code, &code);
    return rc;
}

/* Whether the reference compiles here and now, or if it has no kernel any other. Its text ends in a line that no cache has seen. */
static int control(struct compiling *w, struct message *out, struct err *err)
{
    const struct task *t = &w->c->task;
    struct err why = { 0 };
    buf_clear(&w->source);
    int rc = t->op->reference.template_text ? source_render(t->op, NULL, t->row, &t->dev, &w->source, &why)
                                            : source_prelude(t->op, &t->dev, &w->source, &why);
    if (!t->op->reference.template_text)
        buf_str(&w->source, "KERNEL void any_kernel(GLOBAL int *out)\n{\n    out[0] = 1;\n}\n");
    buf_fmt(&w->source, "// %lld %lld\n", (long long)getpid(), (long long)clock_ns());
    snprintf(out->text, sizeof out->text, "%s", why.msg);
    return rc ? 0 : compile(w, NULL, true, out, err);
}

static int answer(struct compiling *w, const struct message *m, struct err *err)
{
    struct message out = { .kind = m->kind + 1 };
    int rc = 0;
    if (m->kind == F_RENDER && m->ncandidates)
        render(w, &m->candidates->config, m->number & TRY_LAUNCH, &out);
    else if (m->kind == F_COMPILE && w->source.len)
        rc = compile_or_load(w, m->number, &out, err);
    else if (m->kind == F_CONTROL)
        rc = control(w, &out, err);
    else
        return err_set(err, ERR_CORRUPT, "a compile worker got frame %d", (int)m->kind);
    return rc ?: child_send(w->c, &out, err);
}

/* Another task: the compiler stays. */
static int start_over(struct compiling *w, struct err *err)
{
    binding_free(&w->binding);
    plans_free(&w->plans);
    buf_clear(&w->source);
    int rc = child_take_task(w->c, err);
    w->plans.op = w->c->task.op;
    rc = rc ?: set_up(w, err);
    if (!rc)
        child_alive(w->c);
    return rc;
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
        rc = child_next(c, &m, err) ?: m.kind == F_SETUP ? start_over(&w, err) : answer(&w, &m, err);
    if (w.compiler)
        w.be->compiling->close(w.compiler);
    binding_free(&w.binding);
    plans_free(&w.plans);
    buf_free(&w.source);
    buf_free(&w.binary);
    buf_free(&w.portable);
    buf_free(&w.entries);
    return rc;
}
