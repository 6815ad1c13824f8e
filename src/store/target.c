/* What measurements belong to: devices, where they came from, and problems. */
#include <string.h>

#include "model/plan.h"
#include "store/sql.h"

void put_device(struct query *q, const struct devspec *d)
{
    put_text(q, d->backend);
    put_line(q, d->name);
    put_line(q, d->arch);
    put_line(q, d->mig);
    put_int(q, d->multiprocessors);
    put_int(q, devspec_memory(d));
}

static void take_word(struct query *q, char *to, size_t size)
{
    strcpy(to, col_text(q, size - 1, 0));
}

void col_device(struct query *q, struct devspec *d)
{
    take_word(q, d->backend, sizeof d->backend);
    take_word(q, d->name, sizeof d->name);
    take_word(q, d->arch, sizeof d->arch);
    take_word(q, d->mig, sizeof d->mig);
    d->multiprocessors = (int)col_int(q, 0, INT32_MAX);
    d->memory = col_int(q, 0, INT64_MAX);
}

int device_save(struct store *s, const struct devspec *d, int64_t *id, struct err *err)
{
    return sql_run(s, err,
                   "INSERT INTO device (backend, name, arch, mig, multiprocessors, memory) VALUES (?, ?, ?, ?, ?, ?) "
                   "ON CONFLICT DO NOTHING",
                   "d", d)
               ?: sql_id(s, id, err,
                         "SELECT id FROM device WHERE backend = ? AND name = ? AND arch = ? AND mig = ? AND multiprocessors = ? "
                         "AND memory = ?",
                         "d", d);
}

static int save_provenance(struct store *s, const struct devspec *d, int64_t device, int64_t *id, struct err *err)
{
    return sql_run(s, err, "INSERT INTO provenance (device, uuid, driver, cutune) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                   "illt", device, d->uuid, d->driver, CUTUNE_VERSION)
               ?: sql_id(s, id, err, "SELECT id FROM provenance WHERE device = ? AND uuid = ? AND driver = ? AND cutune = ?",
                         "illt", device, d->uuid, d->driver, CUTUNE_VERSION);
}

/* A problem as its row has it. */
struct described {
    struct buf types, sizes;
    double bytes, flops;
};

static int describe(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, struct described *d,
                    struct err *err)
{
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, prob, row, dev, NULL, slots);
    rc = plan_work(plan, slots, &d->bytes, &d->flops, err);
    plan_free(plan);
    op_row_print(&d->types, op, row);
    problem_print(&d->sizes, op, prob);
    if (!rc && (d->types.failed || d->sizes.failed))
        rc = err_nomem(err);
    return rc;
}

static int save_problem(struct store *s, int64_t op, const struct described *d, int64_t *id, struct err *err)
{
    const char *types = buf_text(&d->types), *sizes = buf_text(&d->sizes);
    int rc = sql_run(s, err,
                     "INSERT INTO problem (op, types, sizes, bytes, flops) VALUES (?, ?, ?, ?, ?) "
                     "ON CONFLICT (op, types, sizes) DO UPDATE SET bytes = excluded.bytes, flops = excluded.flops",
                     "ittrr", op, types, sizes, d->bytes, d->flops);
    if (rc)
        return rc;
    return sql_id(s, id, err, "SELECT id FROM problem WHERE op = ? AND types = ? AND sizes = ?", "itt", op, types, sizes);
}

int store_target(struct store *s, const struct devspec *dev, const struct op *op, const struct problem *prob, int row, bool cold,
                 struct target *out, struct err *err)
{
    struct described d = { 0 };
    struct target t = { .cold = cold };
    int64_t op_id;
    int rc = describe(op, prob, row, dev, &d, err) ?: write_begin(s, err);
    if (rc)
        goto out;
    rc = op_save(s, op, &op_id, err)
        ?: device_save(s, dev, &t.device, err)
        ?: save_provenance(s, dev, t.device, &t.provenance, err)
        ?: save_problem(s, op_id, &d, &t.problem, err);
    rc = write_end(s, rc, err);
    if (!rc)
        *out = t;
out:
    buf_free(&d.types);
    buf_free(&d.sizes);
    return rc;
}

int store_winner_key(struct store *s, const struct target *t, char key[HASH_HEX], double *copy_ns, struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s, "SELECT key, copy_ns FROM tuned WHERE device = ? AND problem = ? AND cache = ? AND verified = 1", err);
    if (rc)
        return rc;
    put_int(&q, t->device);
    put_int(&q, t->problem);
    put_text(&q, t->cold ? "cold" : "warm");
    rc = query_step(&q, err);
    if (rc > 0) {
        col_key(&q, key);
        *copy_ns = col_real(&q, 0, 1e18);
        rc = query_check(&q, err);
    } else if (!rc) {
        rc = err_set(err, ERR_NOTFOUND, "%s: no winner yet", s->path);
    }
    query_end(&q);
    return rc;
}
