/* Ops as stored in the database or the shipped tables; and the arguments of a look-up, which are checked with them. */
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

void known_op_free(struct known_op *k)
{
    if (!k)
        return;
    knowledge_free(k->all);
    knowledge_free(k->in_tables);
    defaults_free(k->defaults);
    op_free(k->op);
    mem_free(k);
}

static int read_op(struct cutune *c, const char *name, struct known_op *k, struct err *err)
{
    struct store *tables;
    int rc = c->store ? store_op(c->store, name, &k->op, err)
                      : err_set(err, ERR_NOTFOUND, "nothing is known of the op '%s': there is no database yet", name);
    k->in_store = !rc;
    if (rc != ERR_NOTFOUND || !(tables = tables_of(c)))
        return rc;
    k->shipped = SHIPPED_SAME;
    return store_op(tables, name, &k->op, c->store ? NULL : err);
}

/* What was proved against another contract is of another form, too. */
static bool same_form(const struct op *a, const struct op *b)
{
    return same_interface(a, b) && same_text(a->contract, b->contract) && a->nrows == b->nrows &&
           !memcmp(a->rows, b->rows, (size_t)(a->nrows * a->ntypes) * sizeof *a->rows);
}

int known_op_get(struct cutune *c, const char *name, struct known_op **out, struct err *err)
{
    struct known_op *k = c->ops;
    uint64_t now = 0;
    while (k && (!k->current || strcmp(k->op->name, name)))
        k = k->next;
    int rc = c->store ? store_generation(c->store, &now, err) : 0;
    *out = k;
    if (rc || (k && k->checked == now))
        return rc;
    struct known_op *fresh = mem_zalloc(sizeof *fresh);
    rc = fresh ? read_op(c, name, fresh, err) : err_nomem(err);
    if (!rc && k && same_form(k->op, fresh->op)) {
        k->in_store = fresh->in_store;
    } else if (!rc) {
        if (k)
            k->current = false;
        fresh->current = true;
        fresh->next = c->ops;
        c->ops = k = fresh;
        fresh = NULL;
    }
    known_op_free(fresh);
    if (rc && (rc != ERR_NOTFOUND || !k)) /* what is gone from the file stays as it was read */
        return rc;
    k->checked = now;
    *out = k;
    return 0;
}

int known_op_renew(struct cutune *c, struct known_op *k, struct err *err)
{
    struct knowledge *all = NULL;
    int rc = known_op_get(c, k->op->name, &k, err);
    if (!rc && k->all && k->in_store)
        rc = knowledge_load(c->store, k->op, NULL, &all, err);
    if (!rc) {
        knowledge_free(k->all);
        k->all = all;
    }
    return rc;
}

int known_op_all(struct known_op *k, struct store *s, struct err *err)
{
    return k->all ? 0 : knowledge_load(s, k->op, NULL, &k->all, err);
}

int known_op_in_tables(struct cutune *c, struct known_op *k, struct err *err)
{
    return k->in_tables ? 0 : knowledge_load(tables_of(c), k->op, NULL, &k->in_tables, err);
}

bool known_op_shipped(struct cutune *c, struct known_op *k)
{
    struct op *shipped = NULL;
    if (k->shipped == SHIPPED_UNKNOWN) {
        /* With the same contract their kernels were checked in the same way; one may not know its contract. */
        bool same = tables_of(c) && !store_op(tables_of(c), k->op->name, &shipped, NULL) && same_interface(k->op, shipped) &&
                    (!k->op->contract || !shipped->contract || !strcmp(k->op->contract, shipped->contract));
        k->shipped = same ? SHIPPED_SAME : SHIPPED_NOT;
        op_free(shipped);
    }
    return k->shipped == SHIPPED_SAME;
}

/* ---- what is asked */

static int take_sizes(const struct op *op, const int64_t *sizes, int n, struct problem *out, struct err *err)
{
    int least = 0, rc = 0;
    while (least < op->naxes && !op->axes[least].preset)
        least++;
    if (n < least || n > op->naxes || !sizes) {
        struct buf axes = { 0 }, from = { 0 };
        for (int i = 0; i < op->naxes; i++)
            buf_fmt(&axes, "%s%s", i ? ", " : "", op->axes[i].name);
        if (least < op->naxes)
            buf_fmt(&from, "%d to ", least);
        err_set(err, ERR_INVALID, "%s takes %s%d sizes (%s), not %d", op->name, buf_text(&from), op->naxes, buf_text(&axes),
                sizes ? n : 0);
        buf_free(&axes);
        buf_free(&from);
        return ERR_INVALID;
    }
    for (int i = 0; !rc && i < op->naxes; i++) {
        if (i >= n || (sizes[i] == 0 && op->axes[i].preset && op->axes[i].kind != AXIS_FLAG)) {
            rc = axis_preset(op, i, out, &out->size[i], err);
            continue;
        }
        if (!axis_takes(&op->axes[i], sizes[i]))
            return err_set(err, ERR_INVALID, "%s: %s cannot be %lld: %s", op->name, op->axes[i].name, (long long)sizes[i],
                           op->axes[i].kind == AXIS_FLAG ? "a flag is 0 or 1" : "it is at least 1");
        out->size[i] = sizes[i];
    }
    return rc;
}

int question_of(struct known_op *known, int row, const struct problem *problem, struct question *q, struct err *err)
{
    *q = (struct question){ .known = known, .op = known->op, .row = row, .problem = *problem };
    q->flags = problem_flags(q->op, problem);
    op_row_print(&q->types, q->op, row);
    problem_print(&q->sizes, q->op, problem);
    return buf_check(&q->types, err) ?: buf_check(&q->sizes, err);
}

int question_ask(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes, struct question *q,
                 struct err *err)
{
    struct known_op *known;
    struct problem problem = { 0 };
    *q = (struct question){ 0 };
    int rc = known_op_get(h->owner, op, &known, err);
    if (rc)
        return rc;
    int row = op_row(known->op, types, err);
    if (row < 0)
        return err->code;
    return take_sizes(known->op, sizes, nsizes, &problem, err)
        ?: op_takes(known->op, &problem, row, err)
        ?: question_of(known, row, &problem, q, err);
}

void question_free(struct question *q)
{
    buf_free(&q->types);
    buf_free(&q->sizes);
}
