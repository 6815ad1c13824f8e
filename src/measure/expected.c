/* What candidates are compared with: the reference's results, and how far from them is still right. */
#include "base/mem.h"
#include "measure/internal.h"

/* The size of what is expected, from samples spread over it: the same for the same data. Scattered elements would each cost a read. */
static int typical_of(struct bench *b, const struct bench_arg *a, int pass, double *typical, struct err *err)
{
    enum { PIECES = 64, PIECE = 1024 };
    const int64_t bytes = a->service->type->bytes, n = a->n < PIECE ? a->n : PIECE, rest = a->n - n;
    struct extent e = { 0 };
    unsigned char *piece = mem_alloc((size_t)(n * bytes));
    int rc = piece ? 0 : err_nomem(err);
    for (int64_t i = 0; !rc && i < (rest ? PIECES : 1); i++) {
        int64_t at = rest / (PIECES - 1) * i + rest % (PIECES - 1) * i / (PIECES - 1);
        rc = device_read(b->dev, piece, a->expected[pass], at * bytes, n * bytes, err);
        if (!rc)
            extent_add(&e, a->service->type, piece, n);
    }
    mem_free(piece);
    *typical = extent_typical(&e);
    return rc;
}

/* The whole numbers of a sum's first pass give equal bits. What is left alone of a partial output holds NaNs in the timed pass, which
 * count for nothing, and any numbers in the other: there it is judged by the size that it has in the timed one. */
static int set_tolerance(struct bench *b, struct bench_arg *a, int pass, struct err *err)
{
    const struct dtype *t = a->service->type;
    const bool partial = a->arg->partial;
    int rc = 0;
    if (a->check.kind == CHECK_CLOSE && a->check.atol < 0 && t->eps > 0 && (pass == TIMED || !partial))
        rc = typical_of(b, a, pass, &a->typical[pass], err);
    if (partial)
        a->typical[0] = a->typical[TIMED];
    for (int p = partial ? 0 : pass; p <= pass; p++)
        if (p == TIMED || a->check.kind != CHECK_SUM)
            a->tolerance[p] = tolerance_of(&a->check, t, a->typical[p], a->typical[0], a->n);
    return rc;
}

/* Where a digest will do, this is for messages: of another problem only if there is memory for it. */
static int keep(struct bench *b, struct bench_arg *a, int pass, struct err *err)
{
    const bool digest_does = b->variation ? a->check.kind != CHECK_CLOSE : pass != TIMED && a->check.kind == CHECK_EXACT;
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
        rc = rc ?: digest_of(b, a, a->buf.inside, &a->digest[pass], err);
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
