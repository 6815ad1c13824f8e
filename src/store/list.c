/* Lists: for people the winners and all that was tried; for a look-up that finds nothing exact an op's winners, and what their
 * configurations took elsewhere. */
#include <stdio.h>

#include "model/kernel.h"
#include "model/objective.h"
#include "store/sql.h"

/* In which cache a kernel was timed. */
#define CACHE "iif(tuned.cache = '" AS_PINNED "', 'cold', tuned.cache)"
/* The measurements of a winner's problem; the one that the winner was taken from. */
#define OF_PROBLEM "FROM measurement AS m WHERE m.device = tuned.device AND m.problem = tuned.problem AND m.cache = " CACHE
#define OF_WINNER  OF_PROBLEM " AND m.key = tuned.key"
/* A damaged word gives NULL, which is damage, too. */
#define COLD_OR_WARM "IN ('cold', 'warm')"

/* What its kernel says of a winner. A damaged one is for a look-up to complain of. */
static void tell_kernel(const void *kernel, size_t bytes, struct buf *with, struct buf *objective, bool *beside)
{
    struct op *op;
    struct objective by;
    buf_clear(with);
    buf_clear(objective);
    *beside = false;
    if (bytes > MAX_RECORD || kernel_get(kernel, bytes, &op, NULL))
        return;
    tuned_with_print(with, op);
    *beside = op->outside_beside;
    if (!objective_find(op, NULL, &by, NULL))
        buf_str(objective, objective_name(op, &by));
    op_free(op);
}

/* What the reason of a measurement that is ok tells. */
static double joules_of(const char **reason, bool *alone)
{
    struct result r = { 0 };
    if (ok_read(*reason, &r))
        *reason = r.alone ? REASON_ALONE : "";
    *alone = r.alone;
    return r.energy.joules;
}

static const char winners[] =
    "SELECT device.backend, device.name, device.arch, device.mig, device.multiprocessors, device.memory, op.name, problem.types, "
    "problem.sizes, tuned.key, tuned.variant, tuned.config, CASE WHEN " CACHE " " COLD_OR_WARM " THEN " CACHE " END AS cache, tuned.time_ns, problem.bytes, problem.flops, "
    "tuned.copy_ns, coalesce((SELECT n " OF_WINNER " AND m.protocol = ?1), 0) AS samples, "
    "(SELECT count(*) " OF_PROBLEM " AND m.protocol = ?1 AND " IS_OF_NOW ") AS measured, "
    "(SELECT count(*) " OF_PROBLEM " AND m.protocol = ?1 AND m.outcome IN ('ok', 'slower') AND " IS_OF_NOW ") AS passed, "
    "op.current, coalesce((SELECT NOT " IS_OF_NOW " " OF_WINNER " ORDER BY m.protocol DESC LIMIT 1), 0) AS changed, "
    "CASE WHEN tuned.verified IN (0, 1, 2) THEN tuned.verified END AS verified, tuned.cache = '" AS_PINNED "' AS pinned, "
    "tuned.created, provenance.driver, op.id, "
    "coalesce((SELECT reason " OF_WINNER " AND m.outcome = 'ok' AND m.protocol = ?1), '') AS reason, "
    "CASE typeof(tuned.kernel) WHEN 'blob' THEN tuned.kernel END "
    "FROM tuned JOIN device ON device.id = tuned.device JOIN problem ON problem.id = tuned.problem "
    "JOIN op ON op.id = problem.op JOIN provenance ON provenance.id = tuned.provenance "
    "ORDER BY op.name, problem.types, problem.sizes, device.name, device.id, tuned.cache, op.current DESC";

int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    struct query q;
    struct devspec dev = { 0 };
    struct listed l = { .dev = &dev, .device = dev.name, .backend = dev.backend, .arch = dev.arch };
    struct buf config = { 0 }, with = { 0 }, objective = { 0 };
    struct metrics metrics = { 0 };
    bool current, told;
    int verified;
    const char *reason;
    const void *kernel;
    size_t kernel_bytes;
    query_begin(&q, s, err, winners, "n", PROTOCOL);
    while (query_good_row(&q, "dptttpcwrvvrnnnffnfwtixb", &dev, &l.op, &l.types, &l.problem, &l.key, &l.variant, &config, &l.json,
                          &l.cache, &l.time_ns, &l.bytes, &l.flops, &l.copy_ns, &l.samples, &l.measured, &l.ok, &current,
                          &l.changed, &verified, &l.pinned, &l.when, &l.driver, &metrics.op_row, &reason, &kernel,
                          &kernel_bytes)) {
        metrics.dev.multiprocessors = dev.multiprocessors;
        l.config = buf_text(&config);
        l.stale = !current;
        l.unverified = verified == UNVERIFIED;
        l.alone = verified == VERIFIED_ALONE;
        l.joules = joules_of(&reason, &told);
        l.metrics = metrics_of(&metrics, s, &l);
        tell_kernel(kernel, kernel_bytes, &with, &objective, &l.beside);
        l.tuned_with = buf_text(&with);
        l.objective = buf_text(&objective);
        q.rc = each(arg, &l);
    }
    buf_free(&config);
    buf_free(&with);
    buf_free(&objective);
    metrics_end(&metrics);
    return query_end(&q);
}

/* Whether m is what its problem's winner was taken from; what is right and faster than that. */
#define IS_WINNER  "coalesce(w.key = m.key, 0)"
#define FASTER     "FROM measurement AS f WHERE f.device = m.device AND f.problem = m.problem AND f.cache = m.cache AND " \
                   "f.protocol = m.protocol AND f.outcome = 'ok' AND f.median < m.median AND " OF_NOW("f")
#define OF_WINNING(what) "CASE WHEN " IS_WINNER " THEN " what " END"

static const char tried[] =
    "SELECT device.name, device.backend, device.arch, op.name, problem.types, problem.sizes, "
    "CASE WHEN m.cache " COLD_OR_WARM " THEN m.cache END AS cache, m.variant, m.config, m.outcome, m.reason, m.median, m.n, "
    "m.compile_ms, " IS_OF_NOW " AS fresh, op.current, device.multiprocessors, op.id, " IS_WINNER " AS winner, "
    "coalesce(" OF_WINNING("(SELECT count(*) " FASTER ")") ", 0) AS faster, "
    "coalesce(" OF_WINNING("(SELECT count(*) " FASTER " AND f.median >= m.ci_low AND f.ci_high >= m.median)") ", 0) AS ties, "
    OF_WINNING("CASE typeof(w.kernel) WHEN 'blob' THEN w.kernel END") " "
    "FROM measurement AS m JOIN device ON device.id = m.device JOIN problem ON problem.id = m.problem "
    "JOIN op ON op.id = problem.op LEFT JOIN tuned AS w ON w.device = m.device AND w.problem = m.problem AND w.cache = m.cache "
    "AND w." IS_VERIFIED " WHERE m.protocol = ? "
    "ORDER BY op.name, problem.types, problem.sizes, device.name, device.id, m.cache, op.current DESC, op.id, fresh DESC, "
    "CASE m.outcome WHEN 'ok' THEN 0 WHEN 'slower' THEN 1 ELSE 2 END, "
    "CASE WHEN m.outcome IN ('ok', 'slower') THEN m.median END, winner DESC, m.outcome, m.id";

int store_each_tried(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    struct query q;
    struct listed l = { 0 };
    struct buf config = { 0 }, with = { 0 }, objective = { 0 };
    struct metrics metrics = { 0 };
    bool fresh, current, beside;
    const void *kernel;
    size_t kernel_bytes;
    query_begin(&q, s, err, tried, "n", PROTOCOL);
    while (query_good_row(&q, "twwpttwpcoxrnrffnifnnb", &l.device, &l.backend, &l.arch, &l.op, &l.types, &l.problem, &l.cache,
                          &l.variant, &config, &l.json, &l.outcome, &l.reason, &l.time_ns, &l.samples, &l.compile_ms, &fresh,
                          &current, &metrics.dev.multiprocessors, &metrics.op_row, &l.winner, &l.faster, &l.faster_ties, &kernel,
                          &kernel_bytes)) {
        tell_kernel(kernel, kernel_bytes, &with, &objective, &beside);
        l.objective = buf_text(&objective);
        l.config = buf_text(&config);
        l.alone = false;
        l.joules = l.outcome == OUT_OK ? joules_of(&l.reason, &l.alone) : 0;
        l.reference = metrics_reference(&metrics, s, &l.beside);
        l.stale = !fresh || !(current || l.beside);
        l.winner = l.winner && !l.stale;
        l.metrics = metrics_of(&metrics, s, &l);
        q.rc = each(arg, &l);
    }
    buf_free(&config);
    buf_free(&with);
    buf_free(&objective);
    metrics_end(&metrics);
    return query_end(&q);
}

#define SHIPPED "IN (SELECT id FROM provenance WHERE uuid = '" SHIPPED_TABLES "')"
int store_has_results(struct store *s, bool *has, struct err *err)
{
    return sql_run(s, err,
                   "SELECT EXISTS (SELECT 1 FROM measurement WHERE provenance NOT " SHIPPED ") OR EXISTS (SELECT 1 FROM wanted) OR "
                   "EXISTS (SELECT 1 FROM tuned WHERE role = 'winner' AND coalesce(provenance, 0) NOT " SHIPPED ") AS results",
                   ":f", has);
}

/* ---- for look-ups */

#define WINNERS_OF(alone)                                                                                                          \
    "SELECT tuned.id, device.id, problem.id, problem.types, problem.sizes, tuned.variant, tuned.config, tuned.time_ns, "           \
    "problem.bytes, problem.flops, " alone " AS alone, device.backend, device.name, device.arch, device.mig, "                     \
    "device.multiprocessors, device.memory FROM op JOIN problem ON problem.op = op.id "                                            \
    "JOIN tuned ON tuned.problem = problem.id JOIN device ON device.id = tuned.device WHERE op.name = ?1 AND "
/* Of several for one problem the first that is; `by` may be one of these two. */
#define THE_FIRST(by, that_is)                                                                                                     \
    "NOT EXISTS (SELECT 1 FROM tuned AS first WHERE first.device = tuned.device AND first.problem = tuned.problem "                \
    "AND " by that_is ") ORDER BY tuned.device, tuned.problem"
#define IN_ORDER   "first.cache < tuned.cache"
#define UNPINNED   "(" PINS_LAST("first") ") < (" PINS_LAST("tuned") ")"
#define SERVED(by) WINNERS_OF("tuned.verified = 2") "op.current = 1 AND tuned." IS_VERIFIED " AND " THE_FIRST(by, " AND first." IS_VERIFIED)
static const char served[] = SERVED(IN_ORDER), tuned[] = SERVED(UNPINNED);
static const char hints[] = WINNERS_OF("0") "NOT (tuned.device = ?2 AND tuned.problem = ?3) AND coalesce((SELECT min(m.id) " OF_WINNER
                                            "), 0) < ?4 AND " THE_FIRST(UNPINNED, "");

int store_each_winner_of(struct store *s, const char *op, const struct winner_choice *choice,
                         int (*each)(void *arg, const struct winner *w), void *arg, struct err *err)
{
    struct query q;
    struct winner w = { 0 };
    if (choice && choice->which == WINNERS_ANY)
        query_begin(&q, s, err, hints, "tiii", op, choice->device, choice->problem, choice->before);
    else
        query_begin(&q, s, err, choice && choice->which == WINNERS_TUNED ? tuned : served, "t", op);
    while (query_good_row(&q, "iiiyzptrvvfd", &w.id, &w.device, &w.problem, &w.types, &w.sizes, &w.variant, &w.json, &w.time_ns,
                          &w.bytes, &w.flops, &w.alone, &w.dev))
        q.rc = each(arg, &w);
    return query_end(&q);
}

/* By the index of winners, which begins with the device: SQLite would else read all that is tuned. */
int store_stale_winners(struct store *s, const char *op, int64_t *n, struct err *err)
{
    return sql_run(
        s, err,
        "SELECT count(*) AS stale FROM op CROSS JOIN problem ON problem.op = op.id CROSS JOIN tuned ON tuned.problem = problem.id "
        "AND tuned.device IN (SELECT id FROM device) WHERE op.name = ? AND op.current = 0 AND tuned." IS_VERIFIED,
        "t:j", op, n);
}

int store_unserved(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                   const char **why, struct err *err)
{
    bool current = false, same_contract = false;
    int rc = sql_run(
        s, err,
        "SELECT op.current, op.contract IS (SELECT now.contract FROM op AS now WHERE now.name = op.name AND now.current = 1) "
        "AS same FROM tuned JOIN problem ON problem.id = tuned.problem JOIN op ON op.id = problem.op "
        "WHERE tuned.device = (SELECT id FROM device WHERE " IS_DEVICE ") AND op.name = ? AND problem.types = ? "
        "AND problem.sizes = ? AND NOT (op.current AND tuned.verified) ORDER BY op.current DESC, tuned.id DESC LIMIT 1",
        "dttt:ff", dev, op, types, problem, &current, &same_contract);
    *why = rc               ? NULL
           : current        ? "its record came from elsewhere and is not verified here"
           : !same_contract ? "its record is stale: the op's contract (check, reference or fills) has changed since"
                            : "its record is stale: the op's interface (axes or arguments) has changed since";
    return rc == ERR_NOTFOUND ? 0 : rc;
}

int store_each_default_config(struct store *s, const char *op,
                              int (*each)(void *arg, const char *backend, const char *variant, const char *json), void *arg,
                              struct err *err)
{
    struct query q;
    const char *backend, *variant, *json;
    query_begin(&q, s, err,
                "SELECT DISTINCT backend, variant, config FROM tuned WHERE role = 'default' AND " IS_VERIFIED " AND "
                "op = (SELECT id FROM op WHERE name = ? AND current = 1)",
                "t", op);
    while (query_good_row(&q, "ppt", &backend, &variant, &json))
        q.rc = each(arg, backend, variant, json);
    return query_end(&q);
}

/* Goes through all measurements, in the order they lie in: an index that leads to those of the winners' configurations would make the
 * file a sixth larger and this no more than twice as quick. */
int store_each_time(struct store *s, const char *op, const struct winner_choice *choice, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err)
{
    struct query q;
    struct timed t = { 0 };
    query_begin(&q, s, err,
                "SELECT m.device, problem.id, problem.types, problem.sizes, m.variant, m.config, m.median "
                "FROM measurement AS m NOT INDEXED CROSS JOIN problem ON problem.id = m.problem "
                "WHERE problem.op = (SELECT id FROM op WHERE name = ?1 AND current = 1) "
                "AND m.outcome IN ('ok', 'slower') AND m.protocol = ?2 AND ((m.device, m.variant, m.config) IN "
                "(SELECT w.device, w.variant, w.config FROM op JOIN problem AS p ON p.op = op.id "
                "JOIN tuned AS w ON w.problem = p.id WHERE op.name = ?1 AND op.current = 1 AND w." IS_VERIFIED ") "
                "OR (m.variant, m.config) IN (SELECT d.variant, d.config FROM op JOIN tuned AS d ON d.op = op.id "
                "WHERE op.name = ?1 AND op.current = 1 AND d." IS_VERIFIED ")) "
                "AND (m.cache = 'warm') = ((m.device, m.problem) IN (SELECT device, problem FROM tuned WHERE " IS_VERIFIED " "
                "AND (?3 OR cache <> '" AS_PINNED "') GROUP BY device, problem HAVING min(cache) = 'warm')) ORDER BY m.id",
                "tnn", op, PROTOCOL, (int)(!choice || choice->which == WINNERS_SERVED));
    while (query_good_row(&q, "iiyzptr", &t.device, &t.problem, &t.types, &t.sizes, &t.variant, &t.json, &t.median))
        q.rc = each(arg, &t);
    return query_end(&q);
}

int store_each_op(struct store *s, int (*each)(void *arg, const char *name), void *arg, struct err *err)
{
    struct query q;
    const char *name;
    query_begin(&q, s, err, "SELECT name FROM op WHERE current = 1 ORDER BY name", "");
    while (query_good_row(&q, "p", &name))
        q.rc = each(arg, name);
    return query_end(&q);
}
