/* Results with all that belongs to them: what was measured here, for other tools; and claims, which came from elsewhere. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

/* What was measured of a configuration last, of the variants as they are now. The row that has the maximum gives the other columns. */
#define MEASURED_HERE                                                                                                              \
    "WITH here AS MATERIALIZED (SELECT op.name AS op, problem.types, problem.sizes, m.cache, m.variant, m.config, m.outcome, "     \
    "m.median, device.name AS device, max(m.created) FROM measurement AS m JOIN device ON device.id = m.device "                   \
    "JOIN problem ON problem.id = m.problem JOIN op ON op.id = problem.op "                                                        \
    "WHERE ?1 = 0 AND m.protocol = ?2 AND op.current = 1 AND " IS_OF_NOW " GROUP BY 1, 2, 3, 4, 5, 6) "

static const char records[] = MEASURED_HERE
    "SELECT device.backend, device.name, device.arch, device.mig, device.multiprocessors, device.memory, op.name, problem.types, "
    "problem.sizes, CASE WHEN m.cache IN ('cold', 'warm') THEN m.cache END AS cache, provenance.uuid, "
    "iif(?1 = 0, '', 'cutune ') || provenance.cutune, provenance.driver, m.created, "
    "m.id, problem.bytes, problem.flops, ?1 != 0 AND NOT (op.current AND " IS_OF_NOW ") AS stale, coalesce(here.outcome, ''), coalesce(here.median, 0.0), "
    "coalesce(here.device, ''), m.key, m.made, m.variant, m.config, m.outcome, m.reason, m.n, m.median, m.min, m.max, m.mean, "
    "m.stddev, m.ci_low, m.ci_high, m.samples, m.compile_ms, m.registers, m.shared, m.local, m.max_threads, m.sm_mhz, m.mem_mhz "
    "FROM measurement AS m JOIN device ON device.id = m.device JOIN provenance ON provenance.id = m.provenance "
    "JOIN problem ON problem.id = m.problem JOIN op ON op.id = problem.op "
    "LEFT JOIN here ON here.op = op.name AND here.types = problem.types AND here.sizes = problem.sizes "
    "AND here.cache = m.cache AND here.variant = m.variant AND here.config = m.config "
    "WHERE m.protocol = ?1 AND (?3 IS NULL OR op.name = ?3) AND (?4 IS NULL OR problem.types = ?4) "
    "AND (?5 IS NULL OR problem.sizes = ?5) "
    "ORDER BY op.name, problem.types, problem.sizes, device.name, device.id, m.cache, stale, "
    "CASE m.outcome WHEN 'ok' THEN 0 WHEN 'slower' THEN 1 ELSE 2 END, m.median, m.outcome, m.id";

/* The columns that need a second look. False: the row is damaged. */
static bool complete(struct record *r, const char *reason, const char *here, const void *samples, size_t n, struct query *q)
{
    struct result *result = &r->measured.result;
    int outcome = *here ? outcome_find(here) : OUT_INVALID;
    r->checked = *here;
    r->here = outcome < 0 ? OUT_INVALID : (enum outcome)outcome;
    result->energy = (struct energy){ 0 };
    result->alone = result->grown = false;
    *result->reason = 0;
    if (result->outcome != OUT_OK || !ok_read(reason, result))
        strcpy(result->reason, reason);
    int rc = samples_get(samples, n, result, q->err);
    if (rc && rc != ERR_CORRUPT)
        q->rc = rc;
    return !rc && outcome >= 0;
}

int store_each_record(struct store *s, bool claims, const char *op, const char *types, const char *sizes,
                      int (*each)(void *arg, const struct record *r), void *arg, struct err *err)
{
    struct query q;
    struct record r = { 0 };
    struct buf config = { 0 };
    struct measured *m = &r.measured;
    struct result *result = &m->result;
    struct stats *st = &result->stats;
    struct resources *uses = &result->resources;
    char made[HASH_HEX];
    const char *reason, *here;
    const void *samples;
    size_t n;
    query_begin(&q, s, err, records, "nnttt", claims ? CLAIMS : PROTOCOL, PROTOCOL, op, types, sizes);
    while (query_good_row(&q, "dpyzwtttaivvfwrtkKpcoxnrrrrrrrbrummunn", &r.dev, &r.op, &r.types, &r.sizes, &r.cache, &r.file, &r.tool,
                          &r.driver, &r.when, &r.id, &r.bytes, &r.flops, &r.stale, &here, &r.here_ns, &r.here_device, m->key, made, &m->variant, &config,
                          &m->json, &result->outcome, &reason, &st->n, &st->median, &st->min, &st->max, &st->mean, &st->stddev,
                          &st->ci_low, &st->ci_high, &samples, &n, &result->compile_ms, &uses->registers, &uses->shared,
                          &uses->local, &uses->max_threads, &result->sm_mhz, &result->mem_mhz)) {
        r.config = buf_text(&config);
        m->made = *made ? made : NULL;
        if (complete(&r, reason, here, samples, n, &q))
            q.rc = each(arg, &r);
        else if (!q.rc)
            store_leave_out(s, 1);
        mem_free(result->samples);
        result->samples = NULL;
    }
    buf_free(&config);
    return query_end(&q);
}

/* ---- claims into the database */

/* The op's current row, whatever its contract: a claim is about a problem by its names, and makes nothing stale. */
static int find_op(struct store *s, const struct op *op, int64_t *id, struct err *err)
{
    int rc = sql_run(s, NULL, "SELECT id FROM op WHERE name = ? AND current = 1", "t:i", op->name, id);
    return rc == ERR_NOTFOUND ? op_save(s, op, NULL, id, err) : rc ? store_damaged(s, err, "its op %s cannot be read", op->name) : 0;
}

/* Of a file that says no more than a device's name, the device of that name that is known. */
static int find_device(struct store *s, const struct devspec *d, int64_t *id, struct err *err)
{
    int rc = ERR_NOTFOUND;
    if (!d->multiprocessors && !d->memory)
        rc = sql_run(s, NULL, "SELECT id FROM device WHERE backend = ? AND name = ? AND arch = ? ORDER BY id", "tll:i", d->backend,
                     d->name, d->arch, id);
    return rc ? device_save(s, d, id, err) : 0;
}

static int find_target(struct store *s, const struct op *op, const struct record *c, struct target *t, struct err *err)
{
    int64_t op_id;
    t->cold = strcmp(c->cache, "warm") != 0;
    return find_op(s, op, &op_id, err)
        ?: find_device(s, &c->dev, &t->device, err)
        ?: sql_run(s, err,
                   "INSERT INTO provenance (device, uuid, driver, cutune) VALUES (?, ?, ?, ?) "
                   "ON CONFLICT DO UPDATE SET uuid = uuid RETURNING id",
                   "illl:i", t->device, c->file, c->driver, c->tool, &t->provenance)
        ?: sql_run(s, err,
                   "INSERT INTO problem (op, types, sizes, bytes, flops) VALUES (?, ?, ?, 0.0, 0.0) "
                   "ON CONFLICT DO UPDATE SET bytes = bytes RETURNING id",
                   "itt:i", op_id, c->types, c->sizes, &t->problem);
}

/* Of the device, the problem and the cache: what the row is unique with. */
static int key_of(const struct record *c, char key[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    buf_lstr(&b, c->measured.variant);
    buf_lstr(&b, c->measured.json);
    return hash_buf(&b, 0, key, err);
}

/* Whether a result of a time is better than another: right before wrong, then the faster one. */
static bool better(enum outcome a, double a_ns, enum outcome b, double b_ns)
{
    return a == OUT_OK ? b != OUT_OK || a_ns < b_ns : false;
}

static int judge(struct store *s, const struct target *t, const char *key, const struct record *c, enum claim_fate *fate,
                 struct err *err)
{
    const struct result *says = &c->measured.result;
    enum outcome outcome;
    double median;
    const char *when;
    struct query q;
    *fate = CLAIM_ADDED;
    query_begin(&q, s, err,
                "SELECT outcome, median, created FROM measurement "
                "WHERE device = ? AND problem = ? AND cache = ? AND key = ? AND protocol = ?",
                "Ttn", t, key, CLAIMS);
    if (query_step(&q) && query_take(&q, "ora", &outcome, &median, &when)) {
        int age = strcmp(when, c->when); /* of one form, so in the order of time */
        bool same = outcome == says->outcome && fabs(median - says->stats.median) <= 1e-9 * median; /* of as many digits */
        *fate = same                                                                    ? CLAIM_KNOWN
                : age > 0 || better(outcome, median, says->outcome, says->stats.median) ? CLAIM_KEPT
                                                                                        : CLAIM_REPLACED;
    }
    return query_end(&q);
}

int store_claim(struct store *s, const struct op *op, const struct record *c, enum claim_fate *fate, struct err *err)
{
    struct target t = { 0 };
    struct measured m = c->measured;
    m.made = NULL;
    int rc = write_begin(s, err) ?: find_target(s, op, c, &t, err) ?: key_of(c, m.key, err);
    rc = rc ?: judge(s, &t, m.key, c, fate, err);
    if (!rc && *fate < CLAIM_KNOWN)
        rc = measured_save(s, &t, CLAIMS, &m, c->when, err);
    return write_end(s, rc, err);
}

enum claim_state claim_state(const struct record *c)
{
    const struct result *says = &c->measured.result;
    if (!c->checked)
        return CLAIM_UNVERIFIED;
    if (says->outcome != OUT_OK && says->outcome != OUT_SLOWER)
        return CLAIM_HOLDS;
    if (c->here != OUT_OK && c->here != OUT_SLOWER)
        return CLAIM_FAILED;
    /* Slower than others is no more than it may have said. */
    return c->here_ns > 0 && c->here_ns <= CLAIM_SLACK * says->stats.median ? CLAIM_HOLDS : CLAIM_SLOWER;
}
