/* Verification: a candidate must give what the reference gives, under two poisons and two inputs, on workspaces that hold anything, and
 * write nothing else. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure/element.h"
#include "measure/internal.h"

int condemn(struct result *r, enum outcome outcome, const char *fmt, ...)
{
    va_list ap;
    r->outcome = outcome;
    va_start(ap, fmt);
    vsnprintf(r->reason, sizeof r->reason, fmt, ap);
    va_end(ap);
    return VERDICT;
}

void tell_when(struct result *r, const char *when)
{
    char text[sizeof r->reason];
    memcpy(text, r->reason, sizeof text);
    condemn(r, r->outcome, "%s: %s", when, text);
}

static enum poison poison_of(int pass)
{
    return pass == TIMED ? POISON_ONES : POISON_RANDOM;
}

int timed_set_back(struct bench *b, struct loaded *l, int pass, bool keep_work, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (a->arg->kind == ARG_INOUT) /* an application brings its own each time, so this is not timed */
            rc = data_fill(b, a, pass, err);
        else if (a->arg->kind == ARG_OUTPUT) /* what a candidate leaves alone of a partial one is compared, too */
            rc = guarded_poison(b, &a->buf, a->arg->partial ? poison_of(pass) : POISON_ZEROS, err);
    }
    for (int i = 0; !rc && !keep_work && i < l->nwork; i++)
        rc = guarded_poison(b, &l->work[i], POISON_ZEROS, err);
    return rc;
}

/* held: the pass that inputs are of already. */
static int fill(struct bench *b, int pass, int held, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!a->buf.inside || (a->arg->kind == ARG_INPUT && held == pass))
            continue;
        rc = guarded_paint(b, &a->buf, pass, err)
                 ?: (a->arg->kind == ARG_OUTPUT ? guarded_poison(b, &a->buf, poison_of(pass), err) : data_fill(b, a, pass, err));
    }
    return rc;
}

int fill_all(struct bench *b, int pass, struct err *err)
{
    return fill(b, pass, -1, err);
}

int inputs_fill(struct bench *b, int pass, struct err *err)
{
    int held = b->inputs_pass;
    if (held == pass && b->outputs_fresh)
        return 0;
    b->inputs_pass = -1;
    int rc = fill(b, pass, held, err);
    if (!rc && held != pass)
        rc = init_run(b, err);
    if (!rc)
        b->inputs_pass = pass;
    b->outputs_fresh = !rc;
    return rc;
}

int outputs_look(struct bench *b, int pass, int which, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        if (a->written)
            rc =
                a->tolerance[pass].close ? service_check_same(b, a, pass, 0, err) : service_digest(b, a, a->buf.inside, which, err);
    }
    return rc;
}

int rest_look(struct bench *b, const struct loaded *l, int which, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs + l->nwork; i++) {
        const struct guarded *g = buffer_of(b, l, i);
        rc = g->inside ? service_check_guards(b, g, err) : 0;
        if (!rc && which >= 0 && i < b->nargs && b->args[i].arg->kind == ARG_INPUT)
            rc = service_digest(b, &b->args[i], g->inside, which, err);
    }
    return rc;
}

/* How far it is off, by its bound: 0 for equal bits, infinite for others without a bound. */
static double share(const struct bench_arg *a, int pass, const unsigned char *got, const unsigned char *want)
{
    double x, y;
    if (!memcmp(got, want, (size_t)a->service->type->bytes))
        return 0;
    bool numbers = a->tolerance[pass].close && number_get(a->service->type, got, &x) && number_get(a->service->type, want, &y);
    return numbers ? tolerance_share(&a->tolerance[pass], x, y) : INFINITY;
}

/* "(error 0.01, allowed 3e-05; 12 wrong)"; without numbers "(12 wrong)". */
static void tell_error(char *out, size_t room, const struct bench_arg *a, int pass, uint32_t count, const void *got,
                       const void *want)
{
    const struct tolerance *tol = &a->tolerance[pass];
    double x = NAN, y = NAN;
    if (tol->rtol + tol->atol > 0 && number_get(a->service->type, got, &x) && number_get(a->service->type, want, &y) && isfinite(x - y))
        snprintf(out, room, "(error %.3g, allowed %.3g; %u wrong)", fabs(x - y), tol->atol + tol->rtol * fabs(y), count);
    else
        snprintf(out, room, "(%u wrong)", count);
}

/* Of floating-point numbers that are compared by their bits, and differ as rounding or the kind of a NaN does. */
static const char *unfit(const struct bench *b, const struct bench_arg *a, const void *got, const void *want)
{
    const struct dtype *t = a->service->type;
    double x, y;
    if (op_arg_check(b->set.op, (int)(a - b->args))->kind != CHECK_EXACT || t->eps <= 0 || !number_get(t, got, &x) || !number_get(t, want, &y))
        return "";
    if (isnan(x) && isnan(y))
        return ": both are NaN, and \"exact\" compares bits: \"close\", or other data";
    return fabs(x - y) <= sqrt(t->eps) * fabs(y) ? ": \"exact\" compares bits, and this is rounding: { sum = ... } or \"close\" allow for it" : "";
}

/* Of the elements from found->place on the worst, or if all are equally wrong the first: element 17 of out is 3.01, the reference gives 3
 * (error 0.01, allowed 3e-05; 12 wrong). Of a complex one, the part: element 17 (.y) of out. */
static int describe(struct bench *b, const struct bench_arg *a, int pass, const struct found *found, struct result *r,
                    struct err *err)
{
    const struct dtype *t = a->service->type;
    unsigned char got[64 * 16], want[64 * 16];
    char g[40] = "?", w[40] = "?", error[80] = "";
    int64_t worst = 0, n = a->n - found->place < 64 ? a->n - found->place : 64, size = t->bytes;
    int rc = n <= 0 ? 0
                    : device_read(b->dev, got, a->buf.inside, found->place * size, n * size, err)
                          ?: device_read(b->dev, want, a->expected[pass], found->place * size, n * size, err);
    if (rc || n <= 0)
        return rc;
    for (int64_t i = 1; i < n; i++)
        if (share(a, pass, got + i * size, want + i * size) > share(a, pass, got + worst * size, want + worst * size))
            worst = i;
    element_print(g, sizeof g, t, got + worst * size);
    element_print(w, sizeof w, t, want + worst * size);
    tell_error(error, sizeof error, a, pass, found->count, got + worst * size, want + worst * size);
    const char *hint = a->given ? "" : unfit(b, a, got + worst * size, want + worst * size);
    worst += found->place;
    const int parts = op_arg_dtype(b->set.op, a->arg->type, b->set.row)->bytes / t->bytes;
    return condemn(r, OUT_WRONG, "element %lld%s of %s is %s, %s %s %s%s", (long long)(worst / parts),
                   parts == 1      ? ""
                   : worst % parts ? " (.y)"
                                   : " (.x)",
                   a->arg->name, g, a->given ? "its file has" : "the reference gives", w, error, hint);
}

int digest_of(struct bench *b, const struct bench_arg *a, const struct memory *m, uint64_t *digest, struct err *err)
{
    struct found now;
    int rc = service_begin(b, err) ?: service_digest(b, a, m, 0, err) ?: service_end(b, 1, &now, err);
    if (!rc)
        *digest = now.digests[0];
    return rc;
}

/* Of an exact check's other pass, what was expected is not kept. */
static int check_digest(struct bench *b, const struct bench_arg *a, int pass, struct result *r, struct err *err)
{
    uint64_t now = 0;
    int rc = digest_of(b, a, a->buf.inside, &now, err);
    if (rc || now == a->digest[pass])
        return rc;
    return condemn(r, OUT_WRONG, "%s is not what the reference gives on other inputs", a->arg->name);
}

static int check_elements(struct bench *b, const struct bench_arg *a, int pass, struct result *r, struct err *err)
{
    struct found found, worst;
    uint64_t now = 0;
    int rc = service_begin(b, err) ?: service_check_same(b, a, pass, 0, err) ?: service_end(b, 0, &found, err);
    if (rc || !found.count)
        return rc;
    /* Before an expected output condemns a candidate: is it still what the reference wrote? */
    rc = digest_of(b, a, a->expected[pass], &now, err);
    if (!rc && now != a->digest[pass]) {
        condemn(r, OUT_WRONG, "wrote over memory that is not its own: the expected %s changed", a->arg->name);
        return err_set(err, ERR_DEVICE, "a candidate wrote over the expected output");
    }
    condemn(r, OUT_WRONG, "%s is not what the reference gives", a->arg->name);
    worst = found;
    if (!rc && a->tolerance[pass].close) /* where is it? */
        rc = service_begin(b, err) ?: service_check_same(b, a, pass, found.worst, err) ?: service_end(b, 0, &worst, err);
    worst.count = found.count;
    return rc ?: describe(b, a, pass, &worst, r, err) ?: VERDICT;
}

int find_input(struct bench *b, int pass, struct result *r, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        bool kept = true;
        if (a->arg->kind == ARG_INPUT)
            rc = data_kept(b, a, pass, &kept, err);
        if (!rc && !kept)
            rc = condemn(r, OUT_WRONG, "changed its input %s", a->arg->name);
    }
    return rc;
}

int find_overrun(struct bench *b, const struct loaded *l, const char **name, struct err *err)
{
    int rc = 0;
    *name = NULL;
    for (int i = 0; !rc && !*name && i < b->nargs + l->nwork; i++) {
        struct found found = { 0 };
        const struct guarded *g = buffer_of(b, l, i);
        if (g->inside)
            rc = service_begin(b, err) ?: service_check_guards(b, g, err) ?: service_end(b, 0, &found, err);
        if (!rc && found.count)
            *name = i < b->nargs ? b->args[i].arg->name : "a workspace";
    }
    return rc;
}

int diagnose(struct bench *b, struct loaded *l, int pass, struct result *r, struct err *err)
{
    const char *past;
    int rc = find_overrun(b, l, &past, err);
    if (!rc && past) {
        condemn(r, OUT_WRONG, "wrote outside %s", past);
        /* On a CPU it may have hit more than the zone: this process is not to be trusted with the next one. */
        return b->set.dev.shares_cores ? err_set(err, ERR_DEVICE, "a candidate wrote outside its buffers") : VERDICT;
    }
    rc = rc ?: find_input(b, pass, r, err);
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        if (a->written)
            rc = a->expected[pass] ? check_elements(b, a, pass, r, err) : check_digest(b, a, pass, r, err);
    }
    return rc;
}

/* Everything in one check; what was wrong is looked for only if there is something. */
static int look(struct bench *b, struct loaded *l, bool inputs, int pass, struct result *r, struct err *err)
{
    struct found found;
    int rc = service_begin(b, err)
        ?: outputs_look(b, pass, 0, err)
        ?: rest_look(b, l, inputs ? 1 : -1, err)
        ?: service_end(b, 2, &found, err);
    if (rc)
        return rc;
    bool kept = !inputs || found.digests[1] == b->input_digest[pass];
    if (kept && !found.count && found.digests[0] == b->digest[pass])
        return 0;
    return diagnose(b, l, pass, r, err)
               ?: err_set(err, ERR_DEVICE, "a check failed, and what it found was gone when it was looked at");
}

int verify_launch(struct bench *b, struct loaded *l, const struct binding *how, struct result *r, struct err *err)
{
    bench_alive(b, l->variant && l->launch_ns <= 0 ? DOES_FIRST_LAUNCH : DOES_ANY);
    int rc = device_span_begin(b->dev, 0, err)
        ?: candidate_launch(b, l, how, err)
        ?: device_span_end(b->dev, 0, err)
        ?: device_sync(b->dev, err);
    if (!rc || rc == ERR_NOMEM)
        return rc ?: device_span_ns(b->dev, 0, &l->launch_ns, err);
    /* An error that stays takes the context with it; one that does not was a refusal. */
    condemn(r, OUT_LAUNCH_ERROR, "%s", err->msg);
    rc = device_sync(b->dev, err);
    if (rc)
        r->outcome = OUT_CRASH;
    return rc ?: VERDICT;
}

/* left: in the workspace as it is. */
static int attempt(struct bench *b, struct loaded *l, const struct binding *how, int pass, bool left, bool inputs, struct result *r,
                   struct err *err)
{
    bench_alive(b, DOES_ANY);
    int rc = inputs_fill(b, pass, err);
    for (int i = 0; !rc && i < l->nwork && !left; i++)
        rc = guarded_paint(b, &l->work[i], pass, err) ?: guarded_poison(b, &l->work[i], poison_of(pass), err);
    rc = rc ?: verify_launch(b, l, how, r, err);
    bench_alive(b, DOES_ANY);
    return rc ?: look(b, l, inputs, pass, r, err);
}

/* Whether it has scalars whose other value no script chose, so that they may be of no use together. */
static bool scalars_guessed(const struct bench *b)
{
    bool guessed = false;
    for (int i = 0; i < b->nargs; i++) {
        const struct arg *a = b->args[i].arg;
        guessed = guessed || (a->kind == ARG_SCALAR && !a->other && op_arg_dtype(b->set.op, a->type, b->set.row)->eps > 0);
    }
    return guessed;
}

/* On buffers that it shares with the bench it was made of. */
static int attempt_on(struct bench *b, struct bench *other, struct loaded *l, const struct binding *how, bool left,
                      struct result *r, struct err *err)
{
    char when[sizeof other->name + 4];
    b->inputs_pass = other->inputs_pass = -1;
    b->tried = other;
    int rc = attempt(other, l, how, 0, left, true, r, err);
    snprintf(when, sizeof when, "for %s", other->name);
    if (r->outcome != OUT_OK)
        tell_when(r, when);
    size_t len = strlen(r->reason);
    if (r->outcome == OUT_WRONG && scalars_guessed(other))
        snprintf(r->reason + len, sizeof r->reason - len, "; if it never gets such scalars, name others (`other`)");
    b->tried = rc ? other : NULL;
    return rc;
}

int verify_pass(struct bench *b, struct loaded *l, enum way way, struct result *r, struct err *err)
{
    char when[sizeof b->name + 64];
    int rc = way != WAY_FIRST && l->on ? attempt_on(b, l->on, l, &l->other, true, r, err) : 0;
    if (rc)
        return rc;
    rc = attempt(b, l, &l->own, way == WAY_FIRST ? TIMED : 0, way == WAY_LEFT, way != WAY_OTHER, r, err);
    snprintf(when, sizeof when, "on the workspace that %s%s left", l->on ? "a run of " : "its last run", l->on ? l->on->name : "");
    if (r->outcome != OUT_OK && way == WAY_LEFT)
        tell_when(r, when);
    return rc;
}

int verify_reference(struct bench *b, struct bench *other, struct result *r, struct err *err)
{
    return attempt_on(b, other, &other->reference, &other->reference.own, false, r, err);
}
