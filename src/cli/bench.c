/* `cutune bench`: the kernels of an op beside its peers, on this device and now. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "measure/bench.h"
#include "tune/compare.h"

enum { ROUNDS = 30, CACHES = 2, COLD = 0, WARM = 1 };

/* With one kind of cache. 0: unknown. */
struct timing {
    double ns, low, high; /* the median, and its 95% interval */
    double gb_per_s, gflop_per_s;
    double ratio, ratio_low, ratio_high; /* its time by the base's, round by round: the same of that */
    bool tie;                            /* 1 is within that interval */
};

struct player {
    const char *op;
    const char *dtype, *problem; /* of the comparison */
    struct buf name, detail;
    const char *base, *outcome;
    char reason[256];
    struct timing t[CACHES];
};

struct comparison {
    const struct request *r;
    struct op op; /* the request's, but that its inputs are numbers */
    struct arg args[MAX_ARGS];
    struct task task;
    struct buf types, sizes;
    double bytes, flops; /* 0: unknown */
    int n, base;
    struct bench_candidate what[MAX_PLAYERS];
    struct player player[MAX_PLAYERS];
    struct result result[CACHES][MAX_PLAYERS];
};

/* ---- who plays */

static struct player *add(struct comparison *c, enum bench_kind kind, const char *name)
{
    struct player *p = &c->player[c->n];
    *p = (struct player){ .op = c->op.name, .dtype = c->types.data, .problem = c->sizes.data };
    buf_str(&p->name, name);
    c->what[c->n++].kind = kind;
    return p;
}

/* A configuration that is there already gets one more name. */
static void add_kernel(struct comparison *c, const char *name, const struct config *config)
{
    for (int i = 0; i < c->n; i++)
        if (!memcmp(&c->what[i].config, config, sizeof *config)) {
            buf_fmt(&c->player[i].name, ", %s", name);
            return;
        }
    c->what[c->n] = (struct bench_candidate){ .config = *config };
    struct player *p = add(c, BENCH_KERNEL, name);
    buf_fmt(&p->detail, "%s ", c->op.variants[config->variant].name);
    config_print(&p->detail, &c->op, config);
}

/* What a look-up would give as its exact answer. */
static int add_tuned(struct comparison *c, struct err *err)
{
    struct tuned *t = NULL;
    struct config config = { 0 };
    struct err why = { 0 };
    int rc = !c->r->store
                 ? ERR_NOTFOUND
                 : store_find_winner(c->r->store, &c->r->dev, c->op.name, buf_text(&c->types), buf_text(&c->sizes), &t, err);
    if (rc == ERR_NOTFOUND)
        complain("note: %s %s %s is not tuned on this device: `cutune run` does it", c->op.name, buf_text(&c->types),
                 buf_text(&c->sizes));
    else if (!rc && config_parse(&c->op, t->variant, t->config, &config, &why))
        complain("note: what was tuned is no configuration of the op any more: %s", why.msg);
    else if (!rc)
        add_kernel(c, "tuned", &config);
    tuned_free(t);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

/* The variant of this name, with the first values of its parameters; else the reference. */
static int add_naive(struct comparison *c, struct err *err)
{
    struct config config = { .variant = op_variant(&c->op, "naive") };
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    bool valid = false;
    int rc = config.variant < 0 ? 0 : plan_new(&c->op, config.variant, &plan, err);
    if (plan) {
        plan_slots(plan, &c->task.problem, c->task.row, &c->task.dev, &config, slots);
        valid = !plan_refuses(plan, slots, &c->task.dev);
    }
    plan_free(plan);
    if (valid)
        add_kernel(c, "naive", &config);
    else if (!rc && c->op.reference.template_text)
        add(c, BENCH_REFERENCE, "reference");
    return rc;
}

static int add_all(struct comparison *c, struct err *err)
{
    struct config config = { 0 };
    int rc = add_tuned(c, err) ?: op_default(&c->op, &c->task.problem, c->task.row, &c->task.dev, &config, err);
    if (rc)
        return rc;
    add_kernel(c, "default", &config);
    rc = add_naive(c, err);
    if (c->op.work_bytes)
        add(c, BENCH_COPY, "copy");
    for (int i = 0; i < c->op.npeers; i++) {
        c->what[c->n].peer = i;
        peer_print(&add(c, BENCH_PEER, "")->name, &c->op.peers[i]);
    }
    return rc;
}

/* ---- what came of it */

static void fill_in(struct comparison *c, int cache, int i)
{
    struct timing *t = &c->player[i].t[cache];
    const struct result *r = &c->result[cache][i], *base = &c->result[cache][c->base];
    struct stats stats;
    double ratios[ROUNDS];
    if (r->outcome != OUT_OK || !r->nsamples)
        return;
    t->ns = r->stats.median;
    t->low = r->stats.ci_low;
    t->high = r->stats.ci_high;
    t->gb_per_s = c->bytes / t->ns;
    t->gflop_per_s = c->what[i].kind == BENCH_COPY ? 0 : c->flops / t->ns;
    if (i == c->base || base->nsamples != r->nsamples || r->nsamples > ROUNDS)
        return;
    for (int k = 0; k < r->nsamples; k++)
        ratios[k] = r->samples[k] / base->samples[k];
    if (stats_of(ratios, r->nsamples, &stats, NULL))
        return;
    t->ratio = stats.median;
    t->ratio_low = stats.ci_low;
    t->ratio_high = stats.ci_high;
    t->tie = stats.ci_low <= 1 && stats.ci_high >= 1;
}

/* The kernel that the others are compared with: the first that has a time. */
static void conclude(struct comparison *c)
{
    for (c->base = 0; c->base < c->n - 1 && c->result[COLD][c->base].outcome != OUT_OK;)
        c->base++;
    for (int i = 0; i < c->n; i++) {
        struct player *p = &c->player[i];
        const struct result *cold = &c->result[COLD][i], *warm = &c->result[WARM][i], *bad = cold->outcome ? cold : warm;
        p->base = buf_text(&c->player[c->base].name);
        p->outcome = outcome_name(bad->outcome);
        if (bad->outcome != OUT_OK)
            snprintf(p->reason, sizeof p->reason, "%s", bad->reason);
        else if (*cold->reason)
            buf_str(&p->detail, cold->reason);
        err_line(p->reason);
        for (int cache = 0; cache < CACHES; cache++)
            fill_in(c, cache, i);
    }
}

static void put_ratio(struct buf *out, const struct timing *t)
{
    if (t->tie)
        buf_str(out, "tie");
    else if (t->ratio > 0)
        buf_fmt(out, "%.4g (%.4g to %.4g)", t->ratio, t->ratio_low, t->ratio_high);
}

static void put_time(struct buf *out, const struct player *p, int cache)
{
    buf_str(out, p->t[cache].ns > 0 ? text_time(p->t[cache].ns) : p->outcome);
}

static void cold_time(struct buf *out, const void *p)
{
    put_time(out, p, COLD);
}

static void warm_time(struct buf *out, const void *p)
{
    put_time(out, p, WARM);
}

static void cold_ratio(struct buf *out, const void *p)
{
    put_ratio(out, &((const struct player *)p)->t[COLD]);
}

static void warm_ratio(struct buf *out, const void *p)
{
    put_ratio(out, &((const struct player *)p)->t[WARM]);
}

static void cold_speed(struct buf *out, const void *player)
{
    const struct player *p = player;
    buf_str(out, text_speed(p->t[COLD].gb_per_s, p->t[COLD].gflop_per_s));
}

static void what_it_is(struct buf *out, const void *player)
{
    const struct player *p = player;
    buf_str(out, *p->reason ? p->reason : buf_text(&p->detail));
}

static json_t *problem_json(const void *player)
{
    return json_sizes(((const struct player *)player)->problem);
}

#define TIMES(word, cache)                                                                                                         \
    { word "_ns", FIELD(struct player, t[cache].ns) }, { word "_low_ns", FIELD(struct player, t[cache].low) },                     \
        { word "_high_ns", FIELD(struct player, t[cache].high) }, { word "_gb_per_s", FIELD(struct player, t[cache].gb_per_s) },   \
        { word "_gflop_per_s", FIELD(struct player, t[cache].gflop_per_s) },                                                       \
        { word "_ratio", FIELD(struct player, t[cache].ratio) }, { word "_ratio_low", FIELD(struct player, t[cache].ratio_low) },  \
        { word "_ratio_high", FIELD(struct player, t[cache].ratio_high) },                                                         \
    {                                                                                                                              \
        word "_tie", FIELD(struct player, t[cache].tie)                                                                            \
    }

static const struct row_column columns[] = {
    { "op", FIELD(struct player, op) },
    { "dtype", FIELD(struct player, dtype) },
    { "problem", .json = problem_json },
    { "name", "kernel", FIELD(struct player, name) },
    { NULL, "L2 cold", .text = cold_time, .right = true },
    { NULL, "speed", .text = cold_speed, .right = true },
    { NULL, "ratio (95%)", .text = cold_ratio },
    { NULL, "L2 warm", .text = warm_time, .right = true },
    { NULL, "ratio (95%)", .text = warm_ratio },
    { NULL, "what it is", .text = what_it_is },
    { "detail", FIELD(struct player, detail) },
    { "base", FIELD(struct player, base) },
    { "outcome", FIELD(struct player, outcome) },
    { "reason", FIELD(struct player, reason) },
    TIMES("cold", COLD),
    TIMES("warm", WARM),
    { 0 },
};

/* ---- one problem */

/* Libraries compute with what they move, so a NaN may come back with other bits: inputs are numbers. */
static void take_op(struct comparison *c)
{
    c->op = *c->r->op;
    memcpy(c->args, c->op.args, (size_t)c->op.nargs * sizeof *c->args);
    for (int i = 0; i < c->op.nargs && c->op.npeers; i++)
        if (c->args[i].kind == ARG_INPUT && !data_given(&c->args[i].data))
            c->args[i].fill = FILL_NUMBERS;
    c->op.args = c->args;
}

static int work_of(struct comparison *c, struct err *err)
{
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(&c->op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, &c->task.problem, c->task.row, &c->task.dev, NULL, slots);
    rc = plan_work(plan, slots, &c->bytes, &c->flops, err);
    plan_free(plan);
    return rc;
}

static void tell(void *arg, const char *line)
{
    (void)arg;
    complain("%s", line);
}

/* A table, or for JSON rows of the one that all problems share. */
static int show(struct comparison *c, struct rows *all, struct err *err)
{
    bool json = c->r->args.json;
    struct rows own = rows_of(columns, false);
    if (!json)
        text_line("%s %s %s; ratio: time relative to %s", c->op.name, buf_text(&c->types), buf_text(&c->sizes),
                  buf_text(&c->player[c->base].name));
    for (int i = 0; i < c->n; i++)
        if (json || strcmp(c->player[i].outcome, outcome_name(OUT_INVALID)))
            rows_add(json ? all : &own, "", &c->player[i]);
    int rc = json ? 0 : rows_end(&own, 0, err);
    for (int i = 0; i < c->n && !json; i++)
        if (!strcmp(c->player[i].outcome, outcome_name(OUT_INVALID)) && *c->player[i].reason)
            text_line("not timed: %s: %s", buf_text(&c->player[i].name), c->player[i].reason);
    return rc;
}

static int compare(const struct request *r, int problem, int row, struct rows *all, struct err *err)
{
    struct comparison *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    c->r = r;
    take_op(c);
    c->task = (struct task){ .home = r->home, .op = &c->op, .problem = r->problems[problem], .row = row, .dev = r->dev };
    op_row_print(&c->types, &c->op, row);
    problem_print(&c->sizes, &c->op, &c->task.problem);
    int rc = buf_check(&c->types, err)
        ?: buf_check(&c->sizes, err)
        ?: bench_fits(&c->op, &c->task.problem, row, &r->dev, err)
        ?: work_of(c, err)
        ?: add_all(c, err);
    for (int cache = 0; !rc && cache < CACHES; cache++) {
        c->task.warm = cache == WARM;
        rc = tune_compare(&c->task, NULL, c->what, c->n, ROUNDS, c->result[cache], tell, NULL, err);
    }
    if (!rc) {
        conclude(c);
        rc = show(c, all, err);
    }
    if (rc)
        err_prefix(err, "%s %s %s: ", c->op.name, buf_text(&c->types), buf_text(&c->sizes));
    for (int i = 0; i < MAX_PLAYERS; i++) {
        buf_free(&c->player[i].name);
        buf_free(&c->player[i].detail);
        for (int cache = 0; cache < CACHES; cache++)
            result_free(&c->result[cache][i]);
    }
    buf_free(&c->types);
    buf_free(&c->sizes);
    mem_free(c);
    return rc;
}

static int bench(struct request *r, struct err *err)
{
    int rc = request_op(r, r->args.op, err) ?: request_device(r, err) ?: request_problems(r, true, err) ?: request_read(r, err);
    if (rc)
        return rc;
    if (!op_proves(r->op))
        return err_set(err, ERR_INVALID, "%s has no reference, so nothing can be proved right", r->op->name);
    struct rows all = rows_of(columns, r->args.json);
    for (int i = 0; !rc && i < r->nproblems * r->nrows; i++) {
        if (i && !r->args.json)
            text_line("%s", "");
        rc = compare(r, i / r->nrows, r->rows[i % r->nrows], &all, err);
    }
    return r->args.json ? rows_end(&all, rc, err) : rc;
}

const struct command bench_command = {
    .name = "bench",
    .summary = "time an op's kernels beside libraries and a copy",
    .options =
        OPTIONS({ OPT_OP }, { OPT_INCLUDE },
                { "shape", EACH(shapes), "m=1111,n=113", 0,
                  "A problem's sizes, once for each problem; without it the op's own shapes for this device", 0 },
                { "dtype", EACH(dtypes), "i32|T=f16,...", 0, "Element types, once for each; without it f32, or the op's first", 0 },
                { OPT_DEVICE }, { OPT_DB }, { OPT_JSON }),
    .doc = "Times the tuned, the default and the naive kernel of an op in turns with a copy within the "
           "device and with the calls of libraries that the op's script names as its peers, as far as they "
           "are on this machine. Each is checked first, as in a run. Times are medians, with a cold and "
           "with a warm L2. The ratio is a time divided by the tuned kernel's, with its 95% interval; it is "
           "a tie if 1 lies within."
           "\vExamples:\n"
           "  cutune bench --op NAME\n"
           "  cutune bench --op NAME --shape m=4096,n=4096 --dtype f32 --dtype f64 --json",
    .run = bench,
};
