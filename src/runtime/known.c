/* Ops as stored in the database or the shipped tables, and records of their winners. */
#include <string.h>

#include "base/mem.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

uint32_t problem_flags(const struct op *op, const struct problem *p)
{
    uint32_t flags = 0;
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_FLAG && p->size[i])
            flags |= 1u << i;
    return flags;
}

int winner_load(struct store *s, const struct op *op, const struct known_device *d, const struct tuned_problem *p, bool code,
                struct tuned **out, struct err *err)
{
    struct buf types = { 0 }, sizes = { 0 };
    struct tuned *t = NULL;
    op_row_print(&types, op, p->row);
    problem_print(&sizes, op, &p->problem);
    int rc =
        buf_check(&types, err)
            ?: buf_check(&sizes, err)
            ?: store_find_winner(s, &d->dev, op->name, buf_text(&types), buf_text(&sizes), code, &t, err);
    if (!rc && (strcmp(t->variant, p->variant) || strcmp(t->json, p->json)))
        rc = err_set(err, ERR_NOTFOUND, "the winner of %s %s changed just now", op->name, buf_text(&sizes));
    buf_free(&types);
    buf_free(&sizes);
    if (rc)
        tuned_free(t);
    else
        *out = t;
    return rc;
}

int candidate_plan(struct store *s, const struct op *op, const struct known_device *d, struct candidate *c, struct err *err)
{
    if (c->plan)
        return 0;
    if (c->unusable)
        return ERR_CORRUPT;
    int rc = (c->tuned ? 0 : winner_load(s, op, d, &d->problems[c->problem], false, &c->tuned, err))
        ?: kernel_join(c->tuned->op, op, err)
        ?: plan_new(c->tuned->op, 0, &c->plan, err);
    c->unusable = rc && rc != ERR_NOMEM && rc != ERR_BUSY;
    return rc;
}

void candidate_done(struct knowledge *k, struct candidate *c)
{
    if (c->kept || !c->tuned)
        return;
    c->kept = k->nkept < MOST_KEPT && c->tuned->bytes <= MOST_KEPT_BYTES;
    k->nkept += c->kept;
    if (c->kept)
        return;
    plan_free(c->plan);
    tuned_free(c->tuned);
    c->plan = NULL;
    c->tuned = NULL;
}

static bool same_rows(const struct op *a, const struct op *b)
{
    return a->nrows == b->nrows && !memcmp(a->rows, b->rows, (size_t)(a->nrows * a->ntypes) * sizeof *a->rows);
}

bool known_op_same(const struct known_op *a, const struct known_op *b)
{
    return same_interface(a->op, b->op) && same_rows(a->op, b->op);
}

int known_op_check(struct store *s, const struct known_op *k, bool *holds, struct err *err)
{
    struct op *now = NULL;
    if (!s || !k->in_store)
        return 0;
    int rc = store_op(s, k->op->name, &now, err);
    if (!rc)
        *holds = same_interface(k->op, now) && same_rows(k->op, now);
    op_free(now);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

void known_op_free(struct known_op *k)
{
    if (!k)
        return;
    knowledge_free(k->all);
    op_free(k->op);
    mem_free(k);
}

/* Whether both ops have the same contract, so that their kernels were checked in the same way. True if one does not know its contract. */
static bool same_contract(const struct op *a, const struct op *b)
{
    return !a->contract || !b->contract || !strcmp(a->contract, b->contract);
}

bool known_op_shipped(struct cutune *c, struct known_op *k)
{
    struct op *shipped = NULL;
    struct store *tables = k->shipped == SHIPPED_UNKNOWN ? tables_of(c) : NULL;
    if (k->shipped == SHIPPED_UNKNOWN) {
        bool same = tables && !store_op(tables, k->op->name, &shipped, NULL) && same_interface(k->op, shipped) &&
                    same_contract(k->op, shipped);
        k->shipped = same ? SHIPPED_SAME : SHIPPED_NOT;
        op_free(shipped);
    }
    return k->shipped == SHIPPED_SAME;
}

int known_op_new(struct cutune *c, const char *name, struct known_op **out, struct err *err)
{
    struct known_op *k = mem_zalloc(sizeof *k);
    struct err why = { 0 };
    struct store *tables;
    if (!k)
        return err_nomem(err);
    int rc = c->store ? store_op(c->store, name, &k->op, &why)
                      : err_set(&why, ERR_NOTFOUND, "nothing is known of the op '%s': there is no database yet", name);
    k->in_store = rc == 0;
    if (rc == ERR_NOTFOUND && (tables = tables_of(c))) {
        rc = store_op(tables, name, &k->op, c->store ? NULL : &why);
        k->shipped = SHIPPED_SAME;
        if (rc && c->store)
            why.code = rc;
    }
    if (rc) {
        known_op_free(k);
        return err_set(err, rc, "%s", why.msg);
    }
    *out = k;
    return 0;
}
