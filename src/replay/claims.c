#include "replay/claims.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "model/pairs.h"
#include "model/plan.h"

/* How configurations of a file become those of a variant: for each of its parameters, where its value is in the file's; -1: it has one
 * value only. */
struct fit {
    int variant;
    int from[MAX_PARAMS];
};

/* ---- names */

/* What the op calls a parameter of the file's: as the user says, else the same. */
static bool is_called(const struct claiming *how, const char *theirs, const char *ours)
{
    struct pair p;
    const char *text = how->rename ?: "";
    while (pair_next(&text, &p, "--rename", NULL) > 0)
        if (text_is(p.name, p.name_len, theirs))
            return text_is(p.value, p.value_len, ours);
    return !strcmp(theirs, ours);
}

/* Names of the file's that the variant does not have go to `unknown`, those that it lacks to `missing`. */
static bool fits(const struct claiming *how, const struct variant *theirs, int variant, struct fit *fit, struct word_list *unknown,
                 struct word_list *missing)
{
    const struct variant *ours = &how->op->variants[variant];
    bool used[MAX_PARAMS] = { false };
    fit->variant = variant;
    for (int p = 0; p < ours->nparams; p++) {
        fit->from[p] = -1;
        for (int t = 0; t < theirs->nparams; t++)
            if (!used[t] && is_called(how, theirs->params[t].name, ours->params[p].name)) {
                fit->from[p] = t;
                used[t] = true;
                break;
            }
        if (fit->from[p] < 0 && ours->params[p].n != 1)
            word_add(missing, ours->params[p].name, "");
    }
    for (int t = 0; t < theirs->nparams; t++)
        if (!used[t])
            word_add(unknown, theirs->params[t].name, "");
    return !unknown->len && !missing->len;
}

static int refuse(const struct claiming *how, int variant, const struct word_list *unknown, const struct word_list *missing,
                  struct err *err)
{
    const struct variant *v = &how->op->variants[variant];
    return err_set(
        err, ERR_INVALID, "%s %s; the parameters of %s's variant %s are %s: --rename THEIRS=OURS,... says which is which",
        unknown->len ? "it has parameters that the op does not have:" : "it lacks", unknown->len ? unknown->text : missing->text,
        how->op->name, v->name, name_list(NAMED(v->params, v->nparams)).text);
}

/* The variant that is named, or the only one that fits. */
static int find_variant(const struct claiming *how, const struct variant *theirs, struct fit *out, struct err *err)
{
    const struct op *op = how->op;
    const char *name = strcmp(theirs->name, UNNAMED) != 0 ? theirs->name : how->variant;
    int only = name ? op_variant(op, name) : op->nvariants == 1 ? 0 : -1, n = 0;
    if (name && only < 0)
        return err_set(err, ERR_INVALID, "%s has no variant '%.80s': its variants are %s", op->name, name,
                       name_list(NAMED(op->variants, op->nvariants)).text);
    for (int v = only < 0 ? 0 : only; v <= (only < 0 ? op->nvariants - 1 : only); v++) {
        struct word_list unknown = { 0 }, missing = { 0 };
        struct fit fit;
        bool fitting = fits(how, theirs, v, &fit, &unknown, &missing);
        if (fitting)
            *out = fit;
        else if (only >= 0)
            return refuse(how, v, &unknown, &missing, err);
        n += fitting;
    }
    return n == 1 ? 0
                  : err_set(err, ERR_INVALID, "its parameters fit %s variant of %s: --variant says which it is of: %s",
                            n ? "more than one" : "no", op->name, name_list(NAMED(op->variants, op->nvariants)).text);
}

/* ---- values */

static bool as_number(struct val v, double *out)
{
    *out = v.type == VAL_BOOL ? v.b : v.type == VAL_INT ? (double)v.i : v.f;
    return v.type == VAL_BOOL || v.type == VAL_INT || v.type == VAL_FLOAT;
}

/* 1, 1.0 and true are the same to a file; the op's own is taken. One that the op does not list now stays what it is. */
static struct val own_value(const struct param *p, struct val v)
{
    double a, b;
    for (int i = 0; i < p->n; i++) {
        struct val own = p->values[i];
        bool same = own.type == VAL_STR || v.type == VAL_STR ? own.type == v.type && !strcmp(own.s, v.s)
                                                             : as_number(own, &a) && as_number(v, &b) && a == b;
        if (same)
            return own;
    }
    return v;
}

/* The configuration as the database has it. */
static int put_config(struct buf *out, const struct op *op, const struct fit *fit, const struct val *values, struct err *err)
{
    const struct variant *v = &op->variants[fit->variant];
    struct buf text = { 0 };
    buf_clear(out);
    buf_str(out, "{");
    for (int p = 0; p < v->nparams; p++)
        config_print_member(out, !p, v->params[p].name,
                            fit->from[p] < 0 ? v->params[p].values[0] : own_value(&v->params[p], values[fit->from[p]]));
    buf_str(out, "}");
    int rc = buf_check(out, err);
    if (!rc && (!config_of_json(&text, out->data) || !text_ok(out->data, MAX_LINE, false)))
        rc = err_set(err, ERR_INVALID, "%.300s is no configuration: a value is a number, true, false or a word", out->data);
    buf_free(&text);
    return rc;
}

/* ---- the problem */

struct problem_text {
    struct buf types, sizes;
};

static int name_problem(const struct op *op, const char *types, const char *sizes, struct problem_text *out, struct err *err)
{
    struct problem problem;
    int row = op_row(op, types, err), rc = 0;
    if (row < 0 || (rc = problem_parse(op, sizes, &problem, err) ?: op_takes(op, &problem, row, err))) {
        if (err && rc != ERR_NOMEM)
            err->code = ERR_INVALID; /* types that are not found, too: it is the file that is wrong */
        return rc == ERR_NOMEM ? rc : ERR_INVALID;
    }
    op_row_print(&out->types, op, row);
    problem_print(&out->sizes, op, &problem);
    return buf_check(&out->types, err) ?: buf_check(&out->sizes, err);
}

static void problem_text_free(struct problem_text *p)
{
    buf_free(&p->types);
    buf_free(&p->sizes);
}

/* ---- dates */

/* "2026-11-23T04:03:04Z", "2022-12-14 10:36:02.123456+01:00": UTC, as the database has it. False if it is none of these. */
static bool read_moment(const char *text, char out[32])
{
    struct tm tm = { 0 };
    int read = 0, hours = 0, minutes = 0;
    char sign[2] = "";
    if (!text ||
        sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec,
               &read) < 6 ||
        !read)
        return false;
    text += read;
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    if (*text && strcmp(text, "Z") != 0 && sscanf(text, "%1[+-]%2d:%2d", sign, &hours, &minutes) < 2)
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    tm.tm_min += (*sign == '-' ? 1 : -1) * (60 * hours + minutes);
    time_t t = timegm(&tm);
    return t > 0 && gmtime_r(&t, &tm) && tm.tm_year < 8000 && strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 20;
}

/* ---- a recorded space */

static void copy_line(char *to, size_t room, const char *text)
{
    snprintf(to, room, "%s", text ?: "");
    err_line(to);
}

/* The result's samples are the table's. */
static int result_of(const struct recorded_trial *t, struct result *out, struct err *err)
{
    *out = (struct result){ .outcome = t->slower ? OUT_SLOWER : t->outcome,
                            .nsamples = t->nsamples,
                            .samples = (double *)(uintptr_t)t->samples,
                            .energy = { t->joules, t->joules, t->joules },
                            .compile_ms = t->compile_s * 1e3,
                            .stats = { .n = t->counted },
                            .resources = { -1, -1, -1, -1 } };
    int rc = t->nsamples ? stats_of(t->samples, t->nsamples, &out->stats, err) : 0;
    out->stats.median = t->time_ns;
    if (out->outcome != OUT_OK)
        copy_line(out->reason, sizeof out->reason, t->reason);
    return rc;
}

static int each_config(const struct recorded_space *t, const struct claiming *how, struct record *claim,
                       int (*each)(void *arg, const struct record *claim), void *arg, struct err *err)
{
    const struct op *theirs = t->op;
    struct fit *fits_of = mem_array((size_t)theirs->nvariants + 1, sizeof *fits_of);
    struct buf json = { 0 };
    char when[32];
    int rc = fits_of ? 0 : err_nomem(err);
    for (int v = 0; !rc && v < theirs->nvariants; v++)
        rc = find_variant(how, &theirs->variants[v], &fits_of[v], err);
    for (int64_t i = 0; !rc && i < t->space->count; i++) {
        struct val values[MAX_PARAMS];
        struct config c;
        space_at(t->space, i, &c);
        const struct variant *v = &theirs->variants[c.variant];
        const struct fit *fit = &fits_of[c.variant];
        for (int p = 0; p < v->nparams; p++)
            values[p] = v->params[p].values[c.at[p]];
        rc = put_config(&json, how->op, fit, values, err) ?: result_of(&t->trials[i], &claim->measured.result, err);
        claim->measured.variant = how->op->variants[fit->variant].name;
        claim->measured.json = buf_text(&json);
        claim->when = read_moment(t->trials[i].when, when) ? when : how->when;
        rc = rc ?: each(arg, claim);
    }
    buf_free(&json);
    mem_free(fits_of);
    return rc;
}

int claims_of(const struct recorded_space *t, const struct claiming *how, int (*each)(void *arg, const struct record *claim),
              void *arg, struct err *err)
{
    const struct origin *from = &t->origin;
    const char *types = from->types ?: how->types, *sizes = from->sizes ?: how->sizes;
    struct problem_text problem = { 0 };
    char driver[64], tool[64];
    if (!sizes)
        return err_set(err, ERR_NOTFOUND, "it does not say for which sizes its times are: --shape says it");
    struct record claim = { .op = how->op->name, .file = how->file, .tool = tool, .driver = driver };
    claim.cache = from->cache && !strcmp(from->cache, "warm") ? "warm" : "cold";
    copy_line(claim.dev.backend, sizeof claim.dev.backend, from->backend);
    copy_line(claim.dev.name, sizeof claim.dev.name, from->device ?: how->device);
    copy_line(claim.dev.arch, sizeof claim.dev.arch, from->arch);
    copy_line(driver, sizeof driver, from->driver);
    copy_line(tool, sizeof tool, from->tool);
    int rc = name_problem(how->op, types, sizes, &problem, err);
    claim.types = buf_text(&problem.types);
    claim.sizes = buf_text(&problem.sizes);
    rc = rc ?: each_config(t, how, &claim, each, arg, err);
    problem_text_free(&problem);
    return rc;
}

/* ---- a record of another database */

int claim_of_record(const struct record *r, const struct claiming *how, int (*each)(void *arg, const struct record *claim),
                    void *arg, struct err *err)
{
    struct problem_text problem = { 0 };
    struct buf json = { 0 };
    struct record claim = *r;
    struct variant theirs = { .name = r->measured.variant };
    struct val values[MAX_PARAMS];
    struct fit fit;
    struct arena *a = arena_new();
    int rc = !a || !config_params(a, r->measured.json, &theirs) ? err_nomem(err) : 0;
    for (int p = 0; !rc && p < theirs.nparams; p++)
        values[p] = theirs.params[p].values[0];
    rc = rc
             ?: name_problem(how->op, r->types, r->sizes, &problem, err)
             ?: find_variant(how, &theirs, &fit, err)
             ?: put_config(&json, how->op, &fit, values, err);
    claim.types = buf_text(&problem.types);
    claim.sizes = buf_text(&problem.sizes);
    claim.measured.variant = rc ? "" : how->op->variants[fit.variant].name;
    claim.measured.json = buf_text(&json);
    if (!*claim.file)
        claim.file = how->file;
    rc = rc ?: each(arg, &claim);
    problem_text_free(&problem);
    buf_free(&json);
    arena_free(a);
    return rc;
}
