/* Listing: the winners, and all that was tried. */
#include "store/sql.h"

/* Whether measurement m is of its variant as op has it now. An op of before version 3 does not know. */
#define IS_OF_NOW "(op.variants IS NULL OR coalesce(instr(op.variants, '\"' || m.variant || '\":\"' || m.made || '\"'), 0) > 0)"

static const char *const caches[] = { "cold", "warm", NULL };

/* The JSON of a column, and the same as text. */
static const char *take_config(struct query *q, struct buf *text)
{
    const char *json = col_text(q, MAX_LINE, 0);
    buf_clear(text);
    buf_str(text, "");
    if (!config_of_json(text, json))
        query_bad(q, "config");
    q->nomem = q->nomem || text->failed;
    return json;
}

static int take_row(struct query *q, struct buf *config, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    struct listed l = { 0 };
    l.device = col_text(q, MAX_LINE, 0);
    l.backend = col_text(q, MAX_NAME, 0);
    l.arch = col_text(q, MAX_NAME, 0);
    l.op = col_name(q);
    l.types = col_text(q, MAX_LINE, 0);
    l.problem = col_text(q, MAX_LINE, 0);
    l.variant = col_name(q);
    l.json = take_config(q, config);
    l.config = buf_text(config);
    l.cache = caches[col_word(q, caches)];
    l.time_ns = col_real(q, 0, 1e18);
    l.bytes = col_real(q, 0, 1e30);
    l.flops = col_real(q, 0, 1e30);
    l.copy_ns = col_real(q, 0, 1e18);
    l.samples = (int)col_int(q, 0, INT32_MAX);
    l.measured = (int)col_int(q, 0, INT32_MAX);
    l.ok = (int)col_int(q, 0, INT32_MAX);
    l.stale = !col_bool(q);
    l.changed = col_bool(q);
    l.unverified = !col_bool(q);
    l.when = col_text(q, MAX_NAME, 0);
    l.driver = col_text(q, MAX_LINE, 0);
    int rc = row_check(q, err);
    return rc > 0 ? each(arg, &l) : rc;
}

int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    struct query q;
    struct buf config = { 0 };
    int rc = query_begin(&q, s,
                         "SELECT device.name, device.backend, device.arch, op.name, problem.types, problem.sizes, "
                         "tuned.variant, tuned.config, "
                         "tuned.cache, tuned.time_ns, problem.bytes, problem.flops, tuned.copy_ns, "
                         "coalesce((SELECT n FROM measurement AS m WHERE m.device = tuned.device AND m.problem = tuned.problem AND "
                         "m.cache = tuned.cache "
                         "AND m.key = tuned.key AND m.protocol = ?), 0) AS samples, "
                         "(SELECT count(*) FROM measurement AS m WHERE m.device = tuned.device AND m.problem = tuned.problem AND "
                         "m.cache = tuned.cache "
                         "AND m.protocol = ? AND " IS_OF_NOW ") AS measured, "
                         "(SELECT count(*) FROM measurement AS m WHERE m.device = tuned.device AND m.problem = tuned.problem AND "
                         "m.cache = tuned.cache "
                         "AND m.protocol = ? AND m.outcome IN ('ok', 'slower') AND " IS_OF_NOW ") AS passed, "
                         "op.current, coalesce((SELECT NOT " IS_OF_NOW " FROM measurement AS m WHERE m.device = tuned.device "
                         "AND m.problem = tuned.problem AND m.cache = tuned.cache AND m.key = tuned.key "
                         "ORDER BY m.protocol DESC LIMIT 1), 0) AS changed, tuned.verified, tuned.created, provenance.driver "
                         "FROM tuned JOIN device ON device.id = tuned.device JOIN problem ON problem.id = tuned.problem JOIN op ON "
                         "op.id = problem.op "
                         "JOIN provenance ON provenance.id = tuned.provenance "
                         "ORDER BY op.name, problem.types, problem.sizes, device.name, device.id, tuned.cache, op.current DESC",
                         err);
    if (rc)
        return rc;
    for (int i = 0; i < 3; i++)
        put_int(&q, PROTOCOL);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take_row(&q, &config, each, arg, err)))
            break;
    query_end(&q);
    buf_free(&config);
    return rc;
}

static int take_tried(struct query *q, struct buf *config, int (*each)(void *arg, const struct tried *t), void *arg,
                      struct err *err)
{
    struct tried t = { 0 };
    t.device = col_text(q, MAX_LINE, 0);
    t.backend = col_text(q, MAX_NAME, 0);
    t.arch = col_text(q, MAX_NAME, 0);
    t.op = col_name(q);
    t.types = col_text(q, MAX_LINE, 0);
    t.problem = col_text(q, MAX_LINE, 0);
    t.cache = caches[col_word(q, caches)];
    t.variant = col_name(q);
    t.json = take_config(q, config);
    t.config = buf_text(config);
    int outcome = outcome_find(col_text(q, MAX_NAME, 0));
    if (outcome < 0)
        query_bad(q, "outcome");
    t.outcome = outcome < 0 ? OUT_INVALID : (enum outcome)outcome;
    t.reason = col_text(q, MAX_REASON, 0);
    t.time_ns = col_real(q, 0, 1e18);
    t.stale = !col_bool(q);
    int rc = row_check(q, err);
    return rc > 0 ? each(arg, &t) : rc;
}

int store_each_tried(struct store *s, int (*each)(void *arg, const struct tried *t), void *arg, struct err *err)
{
    struct query q;
    struct buf config = { 0 };
    int rc = query_begin(
        &q, s,
        "SELECT device.name, device.backend, device.arch, op.name, problem.types, problem.sizes, m.cache, m.variant, "
        "m.config, m.outcome, m.reason, m.median, op.current AND " IS_OF_NOW " AS fresh "
        "FROM measurement AS m JOIN device ON device.id = m.device JOIN problem ON problem.id = m.problem "
        "JOIN op ON op.id = problem.op WHERE m.protocol = ? "
        "ORDER BY op.name, problem.types, problem.sizes, device.name, device.id, m.cache, op.current DESC, op.id, fresh DESC, "
        "CASE m.outcome WHEN 'ok' THEN 0 WHEN 'slower' THEN 1 ELSE 2 END, "
        "CASE WHEN m.outcome IN ('ok', 'slower') THEN m.median END, m.outcome, m.id",
        err);
    if (rc)
        return rc;
    put_int(&q, PROTOCOL);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take_tried(&q, &config, each, arg, err)))
            break;
    query_end(&q);
    buf_free(&config);
    return rc;
}

int store_has_results(struct store *s, bool *has, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT EXISTS (SELECT 1 FROM measurement) OR EXISTS (SELECT 1 FROM wanted) OR "
                         "EXISTS (SELECT 1 FROM tuned WHERE role = 'winner') AS results",
                         err);
    if (rc)
        return rc;
    if ((rc = query_step(&q, err)) > 0) {
        *has = col_bool(&q);
        rc = query_check(&q, err);
    }
    query_end(&q);
    return rc;
}
