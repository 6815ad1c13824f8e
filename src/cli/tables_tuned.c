/* What ships as tuned on a device: a file of db/tables, whose README says what its lines are. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cli/tables.h"
#include "model/head.h"
#include "model/kernel.h"
#include "source/source.h"

/* A kernel for types, as it ships. */
struct made {
    int kernel, row;
    bool bad; /* the op has no use for it any more */
    struct buf source, binary, entries;
};

struct tuned_list {
    struct devspec dev;
    char compiler[COMPILER_NAME];
    int nkernels, nmade;
    struct kernel_line {
        bool gone; /* the op does not have it any more */
        struct config config;
    } *kernels; /* of the op */
    struct made *made;
};

static void forget_op(struct tuned_list *l)
{
    for (int i = 0; i < l->nmade; i++) {
        buf_free(&l->made[i].source);
        buf_free(&l->made[i].binary);
        buf_free(&l->made[i].entries);
    }
    l->nkernels = l->nmade = 0;
}

void tuned_end(struct shipping *m)
{
    struct tuned_list *l = m->list;
    if (!l)
        return;
    forget_op(l);
    mem_free(l->kernels);
    mem_free(l->made);
    mem_free(l);
    m->list = NULL;
}

/* Costs the line only: ops change, and what was tuned before they did is still of use. */
static int leave_out(struct shipping *m, const struct err *why)
{
    if (!m->left_out++)
        m->why_left = *why;
    return 0;
}

/* "cuda sm_90 132 150754820096 NVIDIA H200" */
static int take_device(struct shipping *m, const char *rest, struct err *err)
{
    char backend[16], arch[64];
    int multiprocessors, at = 0;
    long long memory;
    if (m->list)
        return err_set(err, ERR_INVALID, "a file is of one device");
    if (sscanf(rest, "%15s %63s %d %lld %n", backend, arch, &multiprocessors, &memory, &at) != 4 || !rest[at] ||
        strlen(rest + at) >= sizeof m->list->dev.name)
        return err_set(err, ERR_INVALID, "device: backend, architecture, multiprocessors, bytes of memory, and its name");
    const struct backend *b = backend_find(backend);
    if (!b)
        return err_set(err, ERR_INVALID, "device: there is no backend %s", backend);
    struct tuned_list *l = m->list = mem_zalloc(sizeof *l);
    if (!l)
        return err_nomem(err);
    if (!b->compiling->arch || !b->compiling->arch(arch, &l->dev))
        l->dev = b->sample;
    snprintf(l->dev.backend, sizeof l->dev.backend, "%s", backend);
    snprintf(l->dev.arch, sizeof l->dev.arch, "%s", arch);
    snprintf(l->dev.name, sizeof l->dev.name, "%s", rest + at);
    snprintf(l->dev.uuid, sizeof l->dev.uuid, SHIPPED_TABLES);
    l->dev.mig[0] = l->dev.driver[0] = 0;
    l->dev.multiprocessors = multiprocessors;
    l->dev.memory = memory;
    return 0;
}

/* "7 variant=tile,TILE=32": they are numbered from 1 on. */
static int take_kernel(struct shipping *m, const char *rest, struct err *err)
{
    struct tuned_list *l = m->list;
    struct err why = { 0 };
    char *text;
    if (strtol(rest, &text, 10) != l->nkernels + 1 || *text != ' ')
        return err_set(err, ERR_INVALID, "kernel: number %d, and a configuration", l->nkernels + 1);
    if (!mem_grow((void **)&l->kernels, l->nkernels, sizeof *l->kernels))
        return err_nomem(err);
    struct kernel_line *k = &l->kernels[l->nkernels++];
    *k = (struct kernel_line){ 0 };
    k->gone = config_parse(m->op, NULL, text + 1, &k->config, &why);
    return k->gone ? leave_out(m, &why) : 0;
}

static int compile(struct shipping *m, struct made *k, struct err *err)
{
    struct tuned_list *l = m->list;
    const struct backend_compiling *c = backend_find(l->dev.backend)->compiling;
    const struct variant *v = &m->op->variants[l->kernels[k->kernel].config.variant];
    char arch[ARCH_NAME];
    const struct compile_job job = { .source = k->source.data,
                                     .arch = devspec_arch(&l->dev, v->requires.arch_specific, arch),
                                     .entries = &k->entries };
    struct compiler *compiler = NULL;
    if (!m->must || !c->ship)
        return 0;
    int rc = *l->compiler ? 0 : c->open(&l->dev, &compiler, err);
    if (compiler) {
        c->name(compiler, l->compiler);
        c->close(compiler);
    }
    return rc ?: compile_once(&l->dev, &job, &k->binary, err);
}

/* The kernel for these types: once, for all of their problems. */
static int make(struct shipping *m, int kernel, int row, struct made **out, struct err *err)
{
    struct tuned_list *l = m->list;
    for (int i = 0; i < l->nmade; i++)
        if (l->made[i].kernel == kernel && l->made[i].row == row) {
            *out = &l->made[i];
            return 0;
        }
    if (!mem_grow((void **)&l->made, l->nmade, sizeof *l->made))
        return err_nomem(err);
    struct made *k = &l->made[l->nmade++];
    *k = (struct made){ .kernel = kernel, .row = row };
    *out = k;
    struct err why = { 0 };
    int rc = source_render(m->op, &l->kernels[kernel].config, row, &l->dev, &k->source, &why) ?: compile(m, k, &why);
    k->bad = rc == ERR_INVALID || (!rc && !k->entries.len && head_asks(k->source.data));
    if (rc == ERR_INVALID)
        return leave_out(m, &why);
    if (rc)
        *err = why;
    return rc;
}

static int add_winner(struct shipping *m, const struct target *to, const struct made *k, double ns, struct err *err)
{
    struct tuned_list *l = m->list;
    struct tuned *t = NULL;
    int rc = tuned_of(m->op, &l->kernels[k->kernel].config, &t, err) ?: kernel_call(t->op, k->entries.data, k->entries.len, err);
    if (!rc) {
        hash_hex(k->source.data, k->source.len, t->key);
        t->role = TUNED_WINNER;
        t->time_ns = ns;
        t->source = k->source.data;
        if (k->binary.len) {
            t->binary = k->binary.data;
            t->binary_bytes = k->binary.len;
            t->format = backend_find(l->dev.backend)->format;
            t->arch = l->dev.arch;
            t->compiler = l->compiler;
        }
        rc = store_winner(m->store, to, t, err);
    }
    tuned_free(t);
    return rc;
}

/* What another kernel took there: look-ups choose by that for problems that were not tuned. */
static int add_time(struct shipping *m, const struct target *to, int kernel, double ns, struct err *err)
{
    const struct config *c = &m->list->kernels[kernel].config;
    struct buf text = { 0 };
    struct measured what = { .variant = m->op->variants[c->variant].name };
    buf_fmt(&text, "%s ", what.variant);
    config_print_json(&text, m->op, c);
    what.json = buf_text(&text) + strlen(what.variant) + 1;
    what.result = (struct result){ .outcome = OUT_OK, .nsamples = 1, .samples = &ns };
    hash_hex(buf_text(&text), text.len, what.key);
    int rc = buf_check(&text, err) ?: stats_of(&ns, 1, &what.result.stats, err) ?: store_measured(m->store, to, &what, err);
    buf_free(&text);
    return rc;
}

/* "12.3us" */
static bool parse_time(const char *text, double *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
    char *unit;
    *ns = strtod(text, &unit);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].unit)) {
            *ns *= units[i].ns;
            return *ns > 0 && *ns < TIME_MAX;
        }
    return false;
}

/* " 3*1.25 4*1.02": what other kernels took, beside the winner's time. */
static int take_others(struct shipping *m, const struct target *to, const char *rest, double ns, struct err *err)
{
    while (*(rest += strspn(rest, " "))) {
        char *end;
        long other = strtol(rest, &end, 10);
        double ratio = *end == '*' ? strtod(end + 1, &end) : 0;
        if (other < 1 || other > m->list->nkernels || !(ratio >= 1) || !(ratio * ns < TIME_MAX) || (*end && *end != ' '))
            return err_set(err, ERR_INVALID, "'%.40s': the number of a kernel and its time beside the winner's, 3*1.25", rest);
        int rc = m->list->kernels[other - 1].gone ? 0 : add_time(m, to, (int)other - 1, ratio * ns, err);
        if (rc)
            return rc;
        rest = end;
    }
    return 0;
}

/* "f32 m=1111,n=113 3.45us 7 1*1.02" */
static int take_problem(struct shipping *m, const char *line, struct err *err)
{
    struct tuned_list *l = m->list;
    char types[256], sizes[256], time[64];
    int kernel, at = 0;
    double ns = 0;
    struct problem problem;
    struct target to;
    struct err why = { 0 };
    struct made *made = NULL;
    if (sscanf(line, "%255s %255s %63s %d%n", types, sizes, time, &kernel, &at) != 4 || kernel < 1 || kernel > l->nkernels ||
        !parse_time(time, &ns) || (line[at] && line[at] != ' '))
        return err_set(err, ERR_INVALID, "a line is: types, problem, time, number of the kernel, those of others with their times");
    int row = op_row(m->op, types, &why);
    if (row < 0 || problem_parse(m->op, sizes, &problem, &why))
        return leave_out(m, &why);
    if (l->kernels[kernel - 1].gone)
        return 0;
    int rc = make(m, kernel - 1, row, &made, err);
    if (rc || made->bad)
        return rc;
    m->winners++;
    return store_target(m->store, &l->dev, m->op, &problem, row, true, &to, err)
        ?: add_winner(m, &to, made, ns, err)
        ?: take_others(m, &to, line + at, ns, err);
}

int tuned_line(struct shipping *m, const char *line, struct err *err)
{
    if (!strncmp(line, "device ", 7))
        return take_device(m, line + 7, err);
    if (!m->list)
        return err_set(err, ERR_INVALID, "the first line is: device, and what it is");
    if (!strncmp(line, "op ", 3)) {
        forget_op(m->list);
        return shipping_op(m, line + 3, err);
    }
    if (!m->op)
        return err_set(err, ERR_INVALID, "a line `op NAME` comes before its kernels");
    if (!strncmp(line, "kernel ", 7))
        return take_kernel(m, line + 7, err);
    return take_problem(m, line, err);
}
