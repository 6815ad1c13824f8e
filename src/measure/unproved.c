/* What the checks prove nothing of: scalars that a kernel may have built in or leave out, and outputs that it may fill with one number, or partly with 0. */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "base/mem.h"
#include "measure/element.h"
#include "measure/internal.h"

/* Whether the reference gives something else, by the op's check, if this scalar alone keeps the value that it is tuned with. */
static int shows(struct bench *o, int arg, bool *shown, struct err *err)
{
    struct binding how = { 0 };
    struct found found = { 0 };
    bench_alive(o, DOES_ANY);
    int rc = binding_make(&o->plans, &o->set, &o->set.problem, ALL_OTHERS & ~(1u << arg), NULL, &how, err)
        ?: inputs_fill(o, 0, err)
        ?: candidate_launch(o, &o->reference, &how, err)
        ?: service_begin(o, err)
        ?: outputs_look(o, 0, 0, err)
        ?: service_end(o, 1, &found, err);
    binding_free(&how);
    *shown = found.count || found.digests[0] != o->digest[0];
    return rc;
}

static int look_at(struct bench *o, int arg, struct buf *out, struct err *err)
{
    const struct arg *a = o->args[arg].arg;
    unsigned char other[16];
    bool varies, shown = true;
    int rc = scalar_other(o, arg, other, &varies, err);
    if (!rc && varies && o->reference.module)
        rc = shows(o, arg, &shown, err);
    if (rc || (varies && shown))
        return rc;
    buf_fmt(out, "%s%s: %s", out->len ? "; " : "", a->name,
            varies ? "the reference gives the same with another value" : "it is checked with one value only");
    return 0;
}

int scalars_unproved(struct bench *o, char *out, size_t room, struct err *err)
{
    struct buf text = { 0 };
    int rc = 0;
    for (int i = 0; !rc && !o->alone && i < o->nargs; i++)
        if (o->args[i].arg->kind == ARG_SCALAR)
            rc = look_at(o, i, &text, err);
    rc = rc ?: buf_check(&text, err);
    snprintf(out, room, "%s", rc ? "" : buf_text(&text));
    buf_free(&text);
    return rc;
}

/* ---- constants */

static bool passes(const struct bench_arg *a, int pass, const unsigned char *got, const unsigned char *want)
{
    const struct tolerance *tol = &a->tolerance[pass];
    const struct dtype *t = a->service->type;
    double g, w;
    if (!tol->close || !number_get(t, got, &g) || !number_get(t, want, &w))
        return !memcmp(got, want, (size_t)t->bytes);
    return tolerance_share(tol, g, w) <= 1;
}

/* The first few elements mostly do. What is left alone of a partial output is no constant. */
int constants_look(struct bench *b, struct bench_arg *a, int pass, struct err *err)
{
    enum { FEW = 64, PIECE = 1 << 18, NCONSTANTS = sizeof a->constants / sizeof *a->constants };
    const int64_t bytes = a->service->type->bytes;
    const bool first = !pass; /* the other problem may have other scalars, which a constant may follow */
    bool asks = false;
    for (int c = 0; c < NCONSTANTS; c++) {
        a->constants[c].fails = a->constants[c].fails || a->arg->partial || (first && !b->variation && a->n < 2);
        asks = asks || !a->constants[c].fails;
    }
    if (!asks || b->set.proven)
        return 0;
    unsigned char *piece = mem_alloc((size_t)(MIN(a->n, PIECE) * bytes));
    int rc = piece ? 0 : err_nomem(err);
    for (int64_t at = 0, n = MIN(a->n, FEW); !rc && asks && n; at += n, n = MIN(a->n - at, PIECE)) {
        bench_alive(b, DOES_ANY);
        rc = device_read(b->dev, piece, a->buf.inside, at * bytes, n * bytes, err);
        if (!rc && first && !at)
            memcpy(a->constants[1].value, piece, (size_t)bytes);
        asks = false;
        for (int c = 0; !rc && c < NCONSTANTS; c++) {
            bool *fails = &a->constants[c].fails;
            for (int64_t i = 0; i < n && !*fails; i++)
                *fails = !passes(a, pass, a->constants[c].value, piece + i * bytes);
            asks = asks || !*fails;
        }
    }
    mem_free(piece);
    return rc;
}

int constants_unproved(const struct bench *o, char *out, size_t room, struct err *err)
{
    const double many = 0.125; /* of a few elements, many may be small by chance */
    struct buf text = { 0 };
    for (int i = 0; i < o->nargs; i++) {
        const struct bench_arg *a = &o->args[i];
        const int c = a->constants[0].fails;
        if (!a->written)
            continue;
        if (!a->constants[c].fails) {
            buf_fmt(&text, "%s%s could be ", text.len ? "; " : "", a->arg->name);
            number_print(&text, a->service->type, a->constants[c].value, false);
            buf_str(&text, " throughout");
        } else if (a->zeros >= many && a->n >= 64) {
            buf_fmt(&text, "%s%.0f%% of %s could be 0", text.len ? "; " : "", 100 * a->zeros, a->arg->name);
        }
    }
    int rc = buf_check(&text, err);
    snprintf(out, room, "%s", rc ? "" : buf_text(&text));
    buf_free(&text);
    return rc;
}
