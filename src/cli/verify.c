/* `cutune run --verify`: which claims of a problem are measured, and what came of them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "export/export.h"
#include "measure/bench.h"
#include "model/plan.h"

enum { MOST_CLAIMS = 32 }; /* of a problem, the fastest */

struct claim {
    struct config config;
    double time_ns;
};

/* Of a problem: those that are tried, the fastest first, each configuration once. */
struct claims {
    struct claim *at;
    struct config *configs; /* theirs, in the same order */
    int n;
    int64_t all, foreign; /* how many there are; of configurations that the op cannot have */
};

/* What goes through the claims of a problem. */
struct claims_reader {
    const struct finding *finding;
    const char *cache;
    struct claims *claims;
    struct rows *rows;      /* of the second time */
    double fastest_ns;      /* that a claim says of those tried, */
    enum claim_state state; /* and what came of it */
    double here_ns;
    struct err *err;
};

/* Whether a claim is of a configuration that the op can have as it is now. */
static bool config_of(const struct op *op, const struct record *r, struct config *out)
{
    struct buf json = { 0 };
    bool can = !config_parse(op, r->measured.variant, r->config, out, NULL);
    if (can)
        config_print_json(&json, op, out);
    can = can && !strcmp(buf_text(&json), r->measured.json);
    buf_free(&json);
    return can;
}

static int add_claim(void *arg, const struct record *r)
{
    struct claims_reader *reader = arg;
    struct claims *c = reader->claims;
    struct claim claim = { .time_ns = r->measured.result.stats.median };
    if (strcmp(r->cache, reader->cache) != 0)
        return 0;
    c->all++;
    if (r->measured.result.outcome != OUT_OK)
        return 0;
    if (!config_of(reader->finding->op, r, &claim.config)) {
        c->foreign++;
        return 0;
    }
    if (!mem_grow((void **)&c->at, c->n, sizeof *c->at))
        return err_nomem(reader->err);
    c->at[c->n++] = claim;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int find_claim(const struct claims *c, int n, const struct config *config)
{
    for (int i = 0; i < n; i++)
        if (!memcmp(&c->at[i].config, config, sizeof *config))
            return i;
    return -1;
}

static int read_claims(const struct request *r, struct claims_reader *reader, int (*each)(void *arg, const struct record *r))
{
    const struct finding *f = reader->finding;
    reader->cache = r->args.warm ? "warm" : "cold";
    return store_each_record(r->store, true, f->op->name, f->types, f->sizes, each, reader, reader->err);
}

static int choose(const struct request *r, const struct finding *f, struct claims *out, struct err *err)
{
    struct claims_reader reader = { .finding = f, .claims = out, .err = err };
    int rc = read_claims(r, &reader, add_claim), n = 0;
    if (rc)
        return rc;
    if (!out->all)
        return err_set(err, ERR_NOTFOUND, "%s has no claims of it: `cutune import` takes them from files", store_path(r->store));
    if (out->n)
        qsort(out->at, (size_t)out->n, sizeof *out->at, by_time);
    for (int i = 0; i < out->n && n < MOST_CLAIMS; i++)
        if (find_claim(out, n, &out->at[i].config) < 0)
            out->at[n++] = out->at[i];
    out->n = n;
    out->configs = mem_array((size_t)n + 1, sizeof *out->configs);
    for (int i = 0; i < n && out->configs; i++)
        out->configs[i] = out->at[i].config;
    return out->configs ? 0 : err_nomem(err);
}

static int add_row(void *arg, const struct record *r)
{
    struct claims_reader *reader = arg;
    struct config config;
    double claimed = r->measured.result.stats.median;
    if (strcmp(r->cache, reader->cache) != 0 || r->measured.result.outcome != OUT_OK ||
        !config_of(reader->finding->op, r, &config) || find_claim(reader->claims, reader->claims->n, &config) < 0)
        return 0;
    rows_add(reader->rows, "", r);
    if (!reader->fastest_ns || claimed < reader->fastest_ns) {
        reader->fastest_ns = claimed;
        reader->state = claim_state(r);
        reader->here_ns = r->here_ns;
    }
    return 0;
}

static int tell(const struct request *r, struct finding *f, struct claims *claims, bool *holds, struct err *err)
{
    struct rows rows = rows_of(claim_columns, r->args.json);
    struct claims_reader reader = { .finding = f, .claims = claims, .rows = &rows, .err = err };
    int rc = read_claims(r, &reader, add_row);
    *holds = reader.state == CLAIM_HOLDS;
    if (r->args.json) {
        f->claims = rows.array;
        return rc;
    }
    if (!rc)
        text_line("claims of %s, of %lld in the database%s", f->title, (long long)claims->all,
                  claims->foreign ? "; some are of configurations that the op does not have" : "");
    rc = rc || !claims->n ? rc : rows_end(&rows, rc, err);
    if (rc)
        return rc;
    if (*holds)
        text_line("the fastest is right, and at most %.0f%% slower than it says: nothing more is tried", 100 * CLAIM_SLACK - 100);
    else if (reader.state == CLAIM_SLOWER)
        text_line("the fastest says %s and takes %s here: tuned as usual", text_time(reader.fastest_ns), text_time(reader.here_ns));
    else
        text_line("the fastest is not right here, or not valid: tuned as usual");
    puts("");
    return 0;
}

int claims_run(const struct request *r, struct finding *f, struct tune_options *tune, struct err *err)
{
    struct tune_options now = *tune;
    struct claims claims = { 0 };
    struct tune_report *report = &f->report;
    bool holds = false;
    int rc = choose(r, f, &claims, err);
    now.only = claims.configs;
    now.nonly = claims.n;
    now.target = 0; /* these ends are of a search */
    now.patience = 0;
    rc = rc ?: claims.n ? tune_run(f->op, &f->problem, f->row, &r->dev, r->store, &now, report, err) : 0;
    if (!rc && !report->interrupted)
        rc = tell(r, f, &claims, &holds, err);
    if (!rc && !report->interrupted && !holds) {
        int64_t measured = report->measured;
        now = *tune;
        now.retune = tune->retune && !claims.n; /* forgotten once */
        rc = tune_run(f->op, &f->problem, f->row, &r->dev, r->store, &now, report, err);
        report->measured += measured;
    }
    mem_free(claims.at);
    mem_free(claims.configs);
    return rc;
}

/* ---- which problems have claims */

struct problems_reader {
    const struct request *request;
    struct finding **found;
    int *n;
    struct arena *texts;
    const char *types, *sizes; /* the last */
    struct err *err;
};

static int add_problem(void *arg, const struct record *r)
{
    struct problems_reader *p = arg;
    const struct request *of = p->request;
    struct finding f = { .op = of->op };
    struct err why = { 0 };
    if (p->types && !strcmp(p->types, r->types) && !strcmp(p->sizes, r->sizes))
        return 0;
    p->types = arena_strdup(p->texts, r->types);
    p->sizes = arena_strdup(p->texts, r->sizes);
    if (!p->types || !p->sizes || !mem_grow((void **)p->found, *p->n, sizeof **p->found))
        return err_nomem(p->err);
    f.row = op_row(of->op, r->types, &why);
    if (f.row < 0 || problem_parse(of->op, r->sizes, &f.problem, &why) || op_takes(of->op, &f.problem, f.row, &why) ||
        bench_fits(of->op, &f.problem, f.row, &of->dev, &why))
        complain("%s %s %s: its claims stay unverified: %s", of->op->name, r->types, r->sizes, why.msg);
    else
        (*p->found)[(*p->n)++] = f;
    return 0;
}

int claims_problems(const struct request *r, struct finding **found, int *n, struct arena *texts, struct err *err)
{
    struct problems_reader p = { .request = r, .found = found, .n = n, .texts = texts, .err = err };
    int rc = store_each_record(r->store, true, r->op->name, NULL, NULL, add_problem, &p, err);
    if (!rc && !*n)
        rc = err_set(err, ERR_NOTFOUND, "%s has no claims of %s that can be verified here: `cutune import` takes them from files",
                     store_path(r->store), r->op->name);
    return rc;
}
