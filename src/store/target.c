/* What measurements belong to: devices, where they came from, and problems. */
#include "model/plan.h"
#include "store/sql.h"

/* Behind an insert: the id of the new row, or of the one that is there. */
#define IF_THERE(column) "ON CONFLICT DO UPDATE SET " column " = " column " RETURNING id"

int device_save(struct store *s, const struct devspec *d, int64_t *id, struct err *err)
{
    static const char insert[] = "INSERT INTO device (backend, name, arch, mig, multiprocessors, memory) "
                                 "VALUES (?, ?, ?, ?, ?, ?) " IF_THERE("name");
    return sql_run(s, err, insert, "d:i", d, id);
}

static int save_provenance(struct store *s, const struct devspec *d, int64_t device, int64_t *id, struct err *err)
{
    return sql_run(s, err, "INSERT INTO provenance (device, uuid, driver, cutune) VALUES (?, ?, ?, ?) " IF_THERE("uuid"), "illt:i",
                   device, d->uuid, d->driver, CUTUNE_VERSION, id);
}

static int count_work(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, double *bytes,
                      double *flops, struct err *err)
{
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, prob, row, dev, NULL, slots);
    rc = plan_work(plan, slots, bytes, flops, err);
    plan_free(plan);
    return rc;
}

static int save_problem(struct store *s, int64_t op_id, const struct devspec *dev, const struct op *op, const struct problem *prob,
                        int row, struct target *t, struct err *err)
{
    static const char insert[] = "INSERT INTO problem (op, types, sizes, bytes, flops) VALUES (?, ?, ?, ?, ?) "
                                 "ON CONFLICT DO UPDATE SET bytes = excluded.bytes, flops = excluded.flops RETURNING id";
    struct buf types = { 0 }, sizes = { 0 };
    op_row_print(&types, op, row);
    problem_print(&sizes, op, prob);
    int rc = buf_check(&types, err) ?: buf_check(&sizes, err) ?: count_work(op, prob, row, dev, &t->bytes, &t->flops, err);
    rc = rc ?: sql_run(s, err, insert, "ittrr:i", op_id, buf_text(&types), buf_text(&sizes), t->bytes, t->flops, &t->problem);
    buf_free(&types);
    buf_free(&sizes);
    return rc;
}

int store_target(struct store *s, const struct devspec *dev, const struct op *op, const struct problem *prob, int row, bool cold,
                 struct target *out, struct err *err)
{
    struct target t = { .cold = cold };
    int64_t op_id;
    int rc = write_begin(s, err) ?: op_save(s, op, &t.outdated, &op_id, err) ?: device_save(s, dev, &t.device, err);
    rc = rc ?: save_provenance(s, dev, t.device, &t.provenance, err);
    rc = rc ?: save_problem(s, op_id, dev, op, prob, row, &t, err);
    rc = write_end(s, rc, err);
    if (!rc)
        *out = t;
    return rc;
}
