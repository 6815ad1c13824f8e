/* Measurements. */
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

/* One that is measured again keeps its row's id, which is its place in the order of storing. */
static int save(struct store *s, const struct target *t, int protocol, const struct measured *m, const struct buf *samples,
                const char *when, struct err *err)
{
    const struct result *r = &m->result;
    const struct stats *st = &r->stats;
    char more[256] = "";
    if (r->outcome == OUT_OK)
        ok_print(r, more);
    return sql_run(
        s, err,
        "INSERT INTO measurement (device, problem, cache, key, protocol, provenance, variant, config, made, " RESULT_COLUMNS
        ", created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, " NOW ")) "
        "ON CONFLICT DO UPDATE SET provenance = excluded.provenance, variant = excluded.variant, config = excluded.config, "
        "made = excluded.made, outcome = excluded.outcome, reason = excluded.reason, n = excluded.n, median = excluded.median, "
        "min = excluded.min, max = excluded.max, mean = excluded.mean, stddev = excluded.stddev, ci_low = excluded.ci_low, "
        "ci_high = excluded.ci_high, samples = excluded.samples, compile_ms = excluded.compile_ms, "
        "registers = excluded.registers, shared = excluded.shared, local = excluded.local, max_threads = excluded.max_threads, "
        "sm_mhz = excluded.sm_mhz, mem_mhz = excluded.mem_mhz, created = excluded.created",
        "Ttnittttlnrrrrrrrbrniinnnt", t, m->key, protocol, t->provenance, m->variant, m->json, m->made, outcome_name(r->outcome),
        *more ? more : r->reason, st->n, st->median, st->min, st->max, st->mean, st->stddev, st->ci_low, st->ci_high,
        buf_text(samples), samples->len, r->compile_ms, r->resources.registers, r->resources.shared, r->resources.local,
        r->resources.max_threads, r->sm_mhz, r->mem_mhz, when);
}

int measured_save(struct store *s, const struct target *t, int protocol, const struct measured *m, const char *when,
                  struct err *err)
{
    struct buf samples = { 0 };
    for (int i = 0; i < m->result.nsamples; i++)
        buf_f64(&samples, m->result.samples[i]);
    int rc = buf_check(&samples, err) ?: save(s, t, protocol, m, &samples, when, err);
    buf_free(&samples);
    return rc;
}

int store_measured(struct store *s, const struct target *t, const struct measured *m, struct err *err)
{
    return write_end(s, write_begin(s, err) ?: measured_save(s, t, PROTOCOL, m, NULL, err), err);
}

int store_found_again(struct store *s, const struct target *t, const char *key, const char *made, struct err *err)
{
    return sql_write(s, err,
                     "UPDATE measurement SET made = ? WHERE device = ? AND problem = ? AND cache = ? AND key = ? AND protocol = ?",
                     "tTtn", made, t, key, PROTOCOL);
}

int samples_get(const void *bytes, size_t n, struct result *r, struct err *err)
{
    struct cursor in = cursor_on(bytes, n);
    r->nsamples = 0;
    r->samples = n > MAX_SAMPLES * sizeof(double) ? NULL : mem_array(n / sizeof(double), sizeof(double));
    if (!r->samples)
        return n > MAX_SAMPLES * sizeof(double) ? ERR_CORRUPT : err_nomem(err);
    while (in.at < in.end) {
        double v = get_f64(&in);
        if (in.bad || !(v >= 0 && v <= TIME_MAX))
            return ERR_CORRUPT;
        r->samples[r->nsamples++] = v;
    }
    return 0;
}

static int take_row(struct query *q, int (*each)(void *arg, const struct measured *m), void *arg)
{
    struct measured m = { 0 };
    struct result *r = &m.result;
    struct stats *st = &r->stats;
    char made[HASH_HEX];
    const char *reason;
    const void *samples;
    size_t n;
    if (!query_take(q, "kKptoxnrrrrrrrbrummunn", m.key, made, &m.variant, &m.json, &r->outcome, &reason, &st->n, &st->median,
                    &st->min, &st->max, &st->mean, &st->stddev, &st->ci_low, &st->ci_high, &samples, &n, &r->compile_ms,
                    &r->resources.registers, &r->resources.shared, &r->resources.local, &r->resources.max_threads, &r->sm_mhz,
                    &r->mem_mhz))
        return q->rc;
    if (r->outcome != OUT_OK || !ok_read(reason, r))
        strcpy(r->reason, reason);
    m.made = *made ? made : NULL;
    int rc = samples_get(samples, n, r, q->err);
    rc = rc == ERR_CORRUPT ? query_damaged(q, "samples") : rc ?: each(arg, &m);
    result_free(r);
    return rc;
}

int store_each_measured(struct store *s, const struct target *t, int (*each)(void *arg, const struct measured *m), void *arg,
                        struct err *err)
{
    struct query q;
    query_begin(&q, s, err,
                "SELECT key, made, variant, config, " RESULT_COLUMNS " FROM measurement "
                "WHERE device = ? AND problem = ? AND cache = ? AND protocol = ? ORDER BY id",
                "Tn", t, PROTOCOL);
    while (query_step(&q))
        q.rc = take_row(&q, each, arg);
    return query_end(&q);
}

int store_each_outcome(struct store *s, int64_t device, int64_t problem, int64_t before, int (*each)(void *arg, const struct tried *t),
                       void *arg, struct err *err)
{
    struct query q;
    struct buf config = { 0 };
    struct tried t = { 0 };
    const char *json;
    query_begin(&q, s, err,
                "SELECT variant, config, outcome, median FROM measurement WHERE device = ?1 AND problem = ?2 AND protocol = ?3 "
                "AND id < ?4 AND cache = coalesce((SELECT min(cache) FROM tuned WHERE device = ?1 AND problem = ?2 "
                "AND cache IN ('cold', 'warm')), 'cold') ORDER BY outcome NOT IN ('ok', 'slower'), median, id LIMIT ?5",
                "iinin", device, problem, PROTOCOL, before, MOST_OUTCOMES);
    while (query_good_row(&q, "pcor", &t.variant, &config, &json, &t.outcome, &t.median)) {
        t.config = buf_text(&config);
        q.rc = each(arg, &t);
    }
    buf_free(&config);
    return query_end(&q);
}

int store_first_measured(struct store *s, const struct target *t, int64_t *out, struct err *err)
{
    return sql_run(s, err,
                   "SELECT coalesce(min(id), 9223372036854775807) AS first FROM measurement "
                   "WHERE device = ? AND problem = ? AND cache = ? AND protocol = ?",
                   "Tn:i", t, PROTOCOL, out);
}

static int forget_winner(struct store *s, const struct target *t, struct err *err)
{
    return sql_run(s, err, "DELETE FROM tuned WHERE device = ? AND problem = ? AND cache = ?", "T", t) ?: code_prune(s, err);
}

int store_forget(struct store *s, const struct target *t, struct err *err)
{
    int rc = write_begin(s, err);
    rc = rc
             ?: sql_run(s, err, "DELETE FROM measurement WHERE device = ? AND problem = ? AND cache = ? AND protocol > ?", "Tn", t,
                        CLAIMS);
    return write_end(s, rc ?: forget_winner(s, t, err), err);
}

int store_forget_failed(struct store *s, const struct target *t, bool own, struct err *err)
{
    static const char failed[] = "DELETE FROM tuned WHERE device = ?1 AND problem = ?2 AND key IN (SELECT key FROM measurement "
                                 "WHERE device = ?1 AND problem = ?2 AND protocol = ?3 AND outcome IN (" FAILED "))";
    int rc = write_begin(s, err) ?: sql_run(s, err, failed, "iin", t->device, t->problem, PROTOCOL);
    return write_end(s, rc ?: own ? forget_winner(s, t, err) : code_prune(s, err), err);
}
