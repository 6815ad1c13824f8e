/* Measurements. */
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

static void put_target(struct query *q, const struct target *t)
{
    put_int(q, t->device);
    put_int(q, t->problem);
    put_text(q, t->cold ? "cold" : "warm");
}

static void put_result(struct query *q, const struct result *r, const struct buf *samples)
{
    const struct stats *st = &r->stats;
    put_text(q, outcome_name(r->outcome));
    put_line(q, r->reason);
    put_int(q, st->n);
    const double times[] = { st->median, st->min, st->max, st->mean, st->stddev, st->ci_low, st->ci_high };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        put_real(q, times[i]);
    put_blob(q, buf_text(samples), samples->len);
    put_real(q, r->compile_ms);
    put_int(q, r->resources.registers);
    put_int(q, r->resources.shared);
    put_int(q, r->resources.local);
    put_int(q, r->resources.max_threads);
    put_int(q, r->sm_mhz);
    put_int(q, r->mem_mhz);
}

static int save(struct store *s, const struct target *t, const struct measured *m, const struct buf *samples, struct err *err)
{
    struct query q;
    int rc = query_begin(
        &q, s,
        "INSERT INTO measurement (device, problem, cache, key, protocol, provenance, variant, config, outcome, reason, n, "
        "median, min, max, mean, stddev, ci_low, ci_high, samples, compile_ms, registers, shared, local, max_threads, "
        "sm_mhz, mem_mhz, made, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) "
        "ON CONFLICT (device, problem, cache, key, protocol) DO UPDATE SET provenance = excluded.provenance, "
        "variant = excluded.variant, config = excluded.config, outcome = excluded.outcome, reason = excluded.reason, "
        "n = excluded.n, median = excluded.median, min = excluded.min, max = excluded.max, mean = excluded.mean, "
        "stddev = excluded.stddev, ci_low = excluded.ci_low, ci_high = excluded.ci_high, samples = excluded.samples, "
        "compile_ms = excluded.compile_ms, registers = excluded.registers, shared = excluded.shared, "
        "local = excluded.local, max_threads = excluded.max_threads, sm_mhz = excluded.sm_mhz, "
        "mem_mhz = excluded.mem_mhz, made = excluded.made, created = excluded.created",
        err);
    if (rc)
        return rc;
    put_target(&q, t);
    put_text(&q, m->key);
    put_int(&q, PROTOCOL);
    put_int(&q, t->provenance);
    put_text(&q, m->variant);
    put_text(&q, m->json);
    put_result(&q, &m->result, samples);
    put_text(&q, m->made);
    return query_run(&q, err);
}

int store_measured(struct store *s, const struct target *t, const struct measured *m, struct err *err)
{
    struct buf samples = { 0 };
    for (int i = 0; i < m->result.nsamples; i++)
        buf_f64(&samples, m->result.samples[i]);
    int rc = (samples.failed ? err_nomem(err) : write_begin(s, err)) ?: write_end(s, save(s, t, m, &samples, err), err);
    buf_free(&samples);
    return rc;
}

int store_found_again(struct store *s, const struct target *t, const char *key, const char *made, struct err *err)
{
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    rc = sql_run(s, err,
                 "UPDATE measurement SET made = ? WHERE device = ? AND problem = ? AND cache = ? AND key = ? AND protocol = ?",
                 "tiitti", made, t->device, t->problem, t->cold ? "cold" : "warm", key, (int64_t)PROTOCOL);
    return write_end(s, rc, err);
}

static double col_time(struct query *q)
{
    return col_real(q, 0, 1e18);
}

static int col_count(struct query *q, int low)
{
    return (int)col_int(q, low, INT32_MAX);
}

static void take_samples(struct query *q, struct result *r)
{
    size_t bytes;
    const void *blob = col_blob(q, MAX_SAMPLES * sizeof(double), &bytes);
    if (bytes % sizeof(double))
        query_bad(q, "samples");
    if (!bytes || q->bad)
        return;
    r->samples = mem_array(bytes / sizeof(double), sizeof(double));
    if (!r->samples) {
        q->nomem = true;
        return;
    }
    struct cursor in = cursor_on(blob, bytes);
    while (in.at < in.end) {
        double v = get_f64(&in);
        if (!(v >= 0 && v <= 1e18))
            query_bad(q, "samples");
        r->samples[r->nsamples++] = v;
    }
}

static void take_result(struct query *q, struct result *r)
{
    int o = outcome_find(col_text(q, MAX_NAME, 0));
    if (o < 0)
        query_bad(q, "outcome");
    r->outcome = o < 0 ? OUT_INVALID : (enum outcome)o;
    strcpy(r->reason, col_text(q, sizeof r->reason - 1, 0));
    struct stats *st = &r->stats;
    st->n = col_count(q, 0);
    double *const times[] = { &st->median, &st->min, &st->max, &st->mean, &st->stddev, &st->ci_low, &st->ci_high };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = col_time(q);
    take_samples(q, r);
    r->compile_ms = col_real(q, 0, 1e12);
    r->resources.registers = col_count(q, -1);
    r->resources.shared = col_int(q, -1, INT64_MAX);
    r->resources.local = col_int(q, -1, INT64_MAX);
    r->resources.max_threads = col_count(q, -1);
    r->sm_mhz = col_count(q, 0);
    r->mem_mhz = col_count(q, 0);
}

static int take_row(struct query *q, int (*each)(void *arg, const struct measured *m), void *arg, struct err *err)
{
    struct measured m = { 0 };
    char made[HASH_HEX];
    col_key(q, m.key);
    col_key_or_none(q, made);
    m.made = *made ? made : NULL;
    m.variant = col_name(q);
    m.json = col_text(q, MAX_LINE, 0);
    take_result(q, &m.result);
    int rc = query_check(q, err) ?: each(arg, &m);
    result_free(&m.result);
    return rc;
}

int store_each_measured(struct store *s, const struct target *t, int (*each)(void *arg, const struct measured *m), void *arg,
                        struct err *err)
{
    struct query q;
    int rc = query_begin(
        &q, s,
        "SELECT key, made, variant, config, outcome, reason, n, median, min, max, mean, stddev, ci_low, ci_high, samples, "
        "compile_ms, registers, shared, local, max_threads, sm_mhz, mem_mhz FROM measurement "
        "WHERE device = ? AND problem = ? AND cache = ? AND protocol = ? ORDER BY id",
        err);
    if (rc)
        return rc;
    put_target(&q, t);
    put_int(&q, PROTOCOL);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take_row(&q, each, arg, err)))
            break;
    query_end(&q);
    return rc;
}

static int forget(struct store *s, const char *sql, const struct target *t, struct err *err)
{
    return sql_run(s, err, sql, "iit", t->device, t->problem, t->cold ? "cold" : "warm");
}

static int forget_winner(struct store *s, const struct target *t, struct err *err)
{
    return forget(s, "DELETE FROM tuned WHERE device = ? AND problem = ? AND cache = ?", t, err) ?: code_prune(s, err);
}

int store_forget(struct store *s, const struct target *t, struct err *err)
{
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    rc = forget(s, "DELETE FROM measurement WHERE device = ? AND problem = ? AND cache = ?", t, err) ?: forget_winner(s, t, err);
    return write_end(s, rc, err);
}

int store_forget_winner(struct store *s, const struct target *t, struct err *err)
{
    return write_begin(s, err) ?: write_end(s, forget_winner(s, t, err), err);
}
