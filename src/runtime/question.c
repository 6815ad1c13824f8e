/* Checks the arguments of a look-up, and translates them into the store's words. */
#include "base/mem.h"
#include "runtime/runtime.h"

static int take_sizes(const struct op *op, const int64_t *sizes, int n, struct problem *out, struct err *err)
{
    if (n != op->naxes || !sizes) {
        struct buf axes = { 0 };
        for (int i = 0; i < op->naxes; i++)
            buf_fmt(&axes, "%s%s", i ? ", " : "", op->axes[i].name);
        err_set(err, ERR_INVALID, "%s takes %d sizes (%s), not %d", op->name, op->naxes, buf_text(&axes), sizes ? n : 0);
        buf_free(&axes);
        return ERR_INVALID;
    }
    for (int i = 0; i < n; i++) {
        if (!axis_takes(&op->axes[i], sizes[i]))
            return err_set(err, ERR_INVALID, "%s: %s cannot be %lld: %s", op->name, op->axes[i].name, (long long)sizes[i],
                           op->axes[i].kind == AXIS_FLAG ? "a flag is 0 or 1" : "it is at least 1");
        out->size[i] = sizes[i];
    }
    return 0;
}

int question_ask(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes, struct question *q,
                 struct err *err)
{
    struct known_op *known;
    *q = (struct question){ 0 };
    int rc = known_op_get(h->owner, op, &known, err);
    if (rc)
        return rc;
    q->known = known;
    q->op = known->op;
    struct err why = { 0 };
    q->row = op_row(q->op, types, &why);
    if (q->row < 0)
        return err_set(err, why.code, "%s", why.msg);
    rc = take_sizes(q->op, sizes, nsizes, &q->problem, err);
    if (rc)
        return rc;
    q->flags = problem_flags(q->op, &q->problem);
    op_row_print(&q->types, q->op, q->row);
    problem_print(&q->sizes, q->op, &q->problem);
    return buf_check(&q->types, err) ?: buf_check(&q->sizes, err);
}

void question_free(struct question *q)
{
    buf_free(&q->types);
    buf_free(&q->sizes);
}
