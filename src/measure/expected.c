/* What candidates are compared with: the reference's results, and how far from them is still right. */
#include <math.h>

#include "base/mem.h"
#include "measure/internal.h"

/* Looks at what is expected, in samples spread over it: the same for the same data. Scattered elements would each cost a read. */
static int sample(struct bench *b, struct bench_arg *a, int pass, struct extent *e, struct err *err)
{
    enum { PIECES = 64, PIECE = 1024 };
    const int64_t bytes = a->service->type->bytes, n = a->n < PIECE ? a->n : PIECE, rest = a->n - n;
    unsigned char *piece = mem_alloc((size_t)(n * bytes));
    int rc = piece ? 0 : err_nomem(err);
    for (int64_t i = 0; !rc && i < (rest ? PIECES : 1); i++) {
        int64_t at = rest / (PIECES - 1) * i + rest % (PIECES - 1) * i / (PIECES - 1);
        rc = device_read(b->dev, piece, a->expected[pass], at * bytes, n * bytes, err);
        if (!rc)
            extent_add(e, a->service->type, piece, n);
    }
    mem_free(piece);
    a->typical[pass] = extent_typical(e);
    a->moot[pass] = extent_moot(e);
    return rc;
}

/* The whole numbers of a sum's first pass give equal numbers: what is 0 may have either sign. What is left alone of a partial output holds NaNs in the timed pass, which
 * count for nothing, and any numbers in the other: there it is judged by the size that it has in the timed one. */
static int set_tolerance(struct bench *b, struct bench_arg *a, int pass, struct err *err)
{
    const struct dtype *t = a->service->type;
    const bool partial = a->arg->partial;
    struct extent e = { 0 };
    int rc = a->check.kind == CHECK_CLOSE && t->eps > 0 ? sample(b, a, pass, &e, err) : 0;
    if (partial)
        a->typical[0] = a->typical[TIMED];
    a->moot[TIMED] = a->moot[partial ? 0 : TIMED];
    for (int p = partial ? 0 : pass; p <= pass; p++)
        a->tolerance[p] = p != TIMED && a->check.kind == CHECK_SUM ? (struct tolerance){ .close = t->eps > 0 }
                                                                   : tolerance_of(&a->check, t, a->typical[p], a->typical[0], a->n);
    if (!rc && e.all && !partial)
        a->zeros = fmin(a->zeros, extent_below(&e, a->tolerance[pass].atol / (1 - a->tolerance[pass].rtol)));
    return rc;
}

/* Where a digest will do, this is for messages: of another problem only if there is memory for it. */
static int keep(struct bench *b, struct bench_arg *a, int pass, struct err *err)
{
    const bool digest_does = a->check.kind == CHECK_EXACT && (b->variation || pass != TIMED);
    if (digest_does && !b->variation)
        return 0;
    int rc = device_alloc(b->dev, a->buf.bytes, &a->expected[pass], err);
    if (digest_does && rc == ERR_NOMEM)
        return 0;
    return rc ?: device_copy(b->dev, a->expected[pass], a->buf.inside, a->buf.bytes, err);
}

int expected_keep(struct bench *b, int pass, struct err *err)
{
    struct result r = { 0 };
    struct found sums = { 0 };
    int rc = find_input(b, pass, &r, err);
    if (rc == VERDICT) /* the reference itself must keep its inputs */
        rc = err_set(err, ERR_INVALID, "%s", r.reason);
    for (int i = 0; !rc && i < b->nargs; i++) {
        struct bench_arg *a = &b->args[i];
        if (!a->written)
            continue;
        if (!a->expected[pass])
            rc = keep(b, a, pass, err);
        if (a->expected[pass])
            rc = rc ?: set_tolerance(b, a, pass, err);
        rc = rc ?: constants_look(b, a, pass, err) ?: digest_of(b, a, a->buf.inside, &a->digest[pass], err);
    }
    rc = rc
        ?: service_begin(b, err)
        ?: outputs_look(b, pass, 0, err)
        ?: rest_look(b, &b->reference, 1, err)
        ?: service_end(b, 2, &sums, err);
    b->digest[pass] = sums.digests[0];
    b->input_digest[pass] = sums.digests[1];
    return rc;
}

/* ---- whether it proves anything */

const struct bench_arg *expected_moot(const struct bench *b)
{
    for (int i = 0; i < b->nargs; i++)
        if (b->args[i].written && b->args[i].moot[0] && (b->variation || b->args[i].moot[TIMED]))
            return &b->args[i];
    return NULL;
}

/* The first element of m that is no finite number; -1: none. */
static int find_odd(struct bench *b, const struct bench_arg *a, const struct memory *m, int64_t *place, double *odd,
                    struct err *err)
{
    enum { PIECE = 1 << 18 };
    const struct dtype *t = a->service->type;
    unsigned char *piece = mem_alloc((size_t)PIECE * (size_t)t->bytes);
    int rc = piece ? 0 : err_nomem(err);
    *place = -1;
    for (int64_t at = 0; !rc && *place < 0 && at < a->n; at += PIECE) {
        const int64_t n = a->n - at < PIECE ? a->n - at : PIECE;
        bench_alive(b, DOES_ANY);
        rc = device_read(b->dev, piece, m, at * t->bytes, n * t->bytes, err);
        for (int64_t i = 0; !rc && i < n && *place < 0; i++)
            if (number_get(t, piece + i * t->bytes, odd) && !isfinite(*odd))
                *place = at + i;
    }
    mem_free(piece);
    return rc;
}

/* "x has NaN at element 3 (x.npy), ..." of an argument whose contents, be they made or a file's, are not all numbers; else nothing. */
static int tell_odd(struct bench *b, const struct bench_arg *a, struct buf *out, struct err *err)
{
    const char *file = a->arg->data.file.name;
    const struct memory *m = a->given ? a->expected[0] : a->file ?: a->arg->kind == ARG_INPUT ? a->buf.inside : NULL;
    int64_t place = -1;
    double odd = 0;
    int rc = m && a->service->type->eps > 0 ? find_odd(b, a, m, &place, &odd, err) : 0;
    if (place >= 0)
        buf_fmt(out, "%s has %s at element %lld%s%s%s, where it needs a finite number", a->arg->name,
                isnan(odd) ? "NaN" : "infinity",
                (long long)(place * a->service->type->bytes / op_arg_dtype(b->set.op, a->arg->type, b->set.row)->bytes),
                file ? " (" : "", file ?: "", file ? ")" : "");
    return rc;
}

/* The same of the first argument of which it is true. `of`: the output that is not all numbers. */
static int tell_cause(struct bench *b, const struct bench_arg *of, struct buf *out, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && !out->len && i < b->nargs; i++)
        if (b->args[i].buf.inside && (!of->given || of == &b->args[i]))
            rc = tell_odd(b, &b->args[i], out, err);
    return rc ?: buf_check(out, err);
}

int expected_finite(struct bench *b, const struct bench_arg *a, int pass, struct err *err)
{
    struct buf cause = { 0 };
    int64_t place = -1;
    double odd = 0;
    if (!a->tolerance[pass].sum || !a->expected[pass])
        return 0;
    int rc = find_odd(b, a, a->expected[pass], &place, &odd, err);
    if (!rc && place >= 0)
        rc = tell_cause(b, a, &cause, err)
            ?: err_set(err, ERR_INVALID, "element %lld of %s is %s, and a sum is of finite numbers: `close` takes others where it has them%s%s",
                       (long long)place, a->arg->name, isnan(odd) ? "NaN" : "infinity", cause.len ? "; " : "",
                       cause.len ? buf_text(&cause) : "");
    buf_free(&cause);
    return rc;
}

int expected_proves(struct bench *b, struct err *err)
{
    const struct bench_arg *moot = expected_moot(b);
    struct buf cause = { 0 };
    if (!moot)
        return 0;
    int rc = tell_cause(b, moot, &cause, err);
    if (!rc)
        rc = err_set(err, ERR_INVALID, "most of %s is NaN or infinity, so a wrong kernel would pass: %s", moot->arg->name,
                     cause.len ? buf_text(&cause) : "choose inputs (range) and scalars that it has numbers for");
    buf_free(&cause);
    return rc;
}
