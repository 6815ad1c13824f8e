/* What a look-up chooses from if nothing fits exactly: an op's winners, and what their configurations took elsewhere. */
#include "store/sql.h"

static int take_winner(struct query *q, int (*each)(void *arg, const struct winner *w), void *arg, struct err *err)
{
    struct winner w = { 0 };
    w.id = col_int(q, 1, INT64_MAX);
    w.device = col_int(q, 1, INT64_MAX);
    w.problem = col_int(q, 1, INT64_MAX);
    w.types = col_text(q, MAX_TYPES_TEXT, 0);
    w.sizes = col_text(q, MAX_SIZES_TEXT, 0);
    w.variant = col_name(q);
    w.json = col_text(q, MAX_LINE, 0);
    w.time_ns = col_real(q, 0, 1e18);
    w.bytes = col_real(q, 0, 1e30);
    w.flops = col_real(q, 0, 1e30);
    col_device(q, &w.dev);
    int rc = row_check(q, err);
    return rc > 0 ? each(arg, &w) : rc;
}

int store_each_winner_of(struct store *s, const char *op, int (*each)(void *arg, const struct winner *w), void *arg,
                         struct err *err)
{
    struct query q;
    int rc = query_begin(
        &q, s,
        "SELECT tuned.id, device.id, problem.id, problem.types, problem.sizes, tuned.variant, tuned.config, tuned.time_ns, "
        "problem.bytes, problem.flops, device.backend, device.name, device.arch, device.mig, "
        "device.multiprocessors, device.memory FROM op JOIN problem ON problem.op = op.id "
        "JOIN tuned ON tuned.problem = problem.id JOIN device ON device.id = tuned.device "
        "WHERE op.name = ? AND op.current = 1 AND tuned.verified = 1 AND NOT (tuned.cache = 'warm' AND EXISTS "
        "(SELECT 1 FROM tuned AS cold WHERE cold.device = tuned.device AND cold.problem = tuned.problem "
        "AND cold.cache = 'cold' AND cold.verified = 1)) ORDER BY tuned.device, tuned.problem",
        err);
    if (rc)
        return rc;
    put_text(&q, op);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take_winner(&q, each, arg, err)))
            break;
    query_end(&q);
    return rc;
}

int store_stale_winners(struct store *s, const char *op, int64_t *n, struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s,
                    "SELECT count(*) AS stale FROM op JOIN problem ON problem.op = op.id JOIN tuned ON tuned.problem = problem.id "
                    "WHERE op.name = ? AND op.current = 0 AND tuned.verified = 1",
                    err);
    if (rc)
        return rc;
    put_text(&q, op);
    if ((rc = query_step(&q, err)) > 0) {
        *n = col_int(&q, 0, INT64_MAX);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}

static int take_time(struct query *q, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
{
    struct timed t = { 0 };
    t.device = col_int(q, 1, INT64_MAX);
    t.problem = col_int(q, 1, INT64_MAX);
    t.types = col_text(q, MAX_TYPES_TEXT, 0);
    t.sizes = col_text(q, MAX_SIZES_TEXT, 0);
    t.variant = col_name(q);
    t.json = col_text(q, MAX_LINE, 0);
    t.median = col_real(q, 0, 1e18);
    int rc = row_check(q, err);
    return rc > 0 ? each(arg, &t) : rc;
}

/* Goes through all measurements, in the order they lie in: an index that leads to those of the winners' configurations would make the
 * file a sixth larger and this no more than twice as quick. */
int store_each_time(struct store *s, const char *op, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT m.device, problem.id, problem.types, problem.sizes, m.variant, m.config, m.median "
                         "FROM measurement AS m NOT INDEXED CROSS JOIN problem ON problem.id = m.problem "
                         "WHERE problem.op = (SELECT id FROM op WHERE name = ?1 AND current = 1) "
                         "AND m.outcome IN ('ok', 'slower') AND m.protocol = ?2 AND (m.device, m.variant, m.config) IN "
                         "(SELECT w.device, w.variant, w.config FROM op JOIN problem AS p ON p.op = op.id "
                         "JOIN tuned AS w ON w.problem = p.id WHERE op.name = ?1 AND op.current = 1 AND w.verified = 1) "
                         "AND (m.cache = 'warm') = ((m.device, m.problem) IN (SELECT device, problem FROM tuned WHERE verified = 1 "
                         "GROUP BY device, problem HAVING min(cache) = 'warm')) ORDER BY m.id",
                         err);
    if (rc)
        return rc;
    put_text(&q, op);
    put_int(&q, PROTOCOL);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take_time(&q, each, arg, err)))
            break;
    query_end(&q);
    return rc;
}

int store_each_op(struct store *s, int (*each)(void *arg, const char *name), void *arg, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "SELECT name FROM op WHERE current = 1 ORDER BY name", err);
    if (rc)
        return rc;
    while ((rc = query_step(&q, err)) > 0) {
        const char *name = col_name(&q);
        rc = row_check(&q, err);
        if (rc < 0 || (rc && (rc = each(arg, name))))
            break;
    }
    query_end(&q);
    return rc;
}
