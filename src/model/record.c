#include "model/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const names[OUT_COUNT] = {
    [OUT_OK] = "ok",
    [OUT_INVALID] = "invalid",
    [OUT_COMPILE_ERROR] = "compile-error",
    [OUT_RESOURCES] = "resources",
    [OUT_LAUNCH_ERROR] = "launch-error",
    [OUT_WRONG] = "wrong",
    [OUT_TIMEOUT] = "timeout",
    [OUT_CRASH] = "crash",
    [OUT_SLOWER] = "slower",
};

const char *outcome_name(enum outcome o)
{
    return (unsigned)o < OUT_COUNT ? names[o] : "unknown";
}

int outcome_find(const char *name)
{
    for (int i = 0; i < OUT_COUNT; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

static void put_stats(struct buf *out, const struct stats *s)
{
    buf_u32(out, (uint32_t)s->n);
    const double parts[] = { s->median, s->min, s->max, s->mean, s->stddev, s->ci_low, s->ci_high };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_f64(out, parts[i]);
}

void result_put(struct buf *out, const struct result *r)
{
    buf_u8(out, (uint8_t)r->outcome);
    buf_lstr(out, r->reason);
    put_stats(out, &r->stats);
    buf_u32(out, (uint32_t)r->nsamples);
    for (int i = 0; i < r->nsamples; i++)
        buf_f64(out, r->samples[i]);
    buf_f64(out, r->compile_ms);
    buf_i64(out, r->resources.registers);
    buf_i64(out, r->resources.shared);
    buf_i64(out, r->resources.local);
    buf_i64(out, r->resources.max_threads);
    buf_u32(out, (uint32_t)r->sm_mhz);
    buf_u32(out, (uint32_t)r->mem_mhz);
}

/* What cutune would never have written makes the cursor bad, here and below. */
static double get_time(struct cursor *in)
{
    double v = get_f64(in);
    if (!(v >= 0 && v <= TIME_MAX)) /* nor NaN */
        in->bad = true;
    return in->bad ? 0 : v;
}

static int64_t get_from(struct cursor *in, int64_t least, int64_t most)
{
    int64_t v = get_i64(in);
    if (v < least || v > most)
        in->bad = true;
    return in->bad ? 0 : v;
}

static int get_count(struct cursor *in)
{
    uint32_t v = get_u32(in);
    if (v > INT32_MAX)
        in->bad = true;
    return in->bad ? 0 : (int)v;
}

static void get_stats(struct cursor *in, struct stats *s)
{
    s->n = get_count(in);
    double *const parts[] = { &s->median, &s->min, &s->max, &s->mean, &s->stddev, &s->ci_low, &s->ci_high };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = get_time(in);
}

static int get_samples(struct cursor *in, struct result *r, struct err *err)
{
    r->nsamples = get_count(in);
    if (in->bad || (size_t)r->nsamples > (size_t)(in->end - in->at) / sizeof *r->samples) {
        in->bad = true;
        r->nsamples = 0;
        return 0;
    }
    if (r->nsamples && !(r->samples = mem_array((size_t)r->nsamples, sizeof *r->samples)))
        return err_nomem(err);
    for (int i = 0; i < r->nsamples; i++)
        r->samples[i] = get_time(in);
    return 0;
}

int result_get(struct cursor *in, struct result *out, struct err *err)
{
    struct result r = { 0 };
    *out = r;
    r.outcome = get_u8(in);
    size_t n;
    const char *reason = get_lstr(in, &n);
    if (!reason || n >= sizeof r.reason || r.outcome >= OUT_COUNT)
        in->bad = true;
    else
        memcpy(r.reason, reason, n);
    get_stats(in, &r.stats);
    int rc = get_samples(in, &r, err);
    if (rc < 0)
        return rc;
    r.compile_ms = get_time(in);
    r.resources.registers = (int)get_from(in, -1, INT32_MAX);
    r.resources.shared = get_from(in, -1, INT64_MAX);
    r.resources.local = get_from(in, -1, INT64_MAX);
    r.resources.max_threads = (int)get_from(in, -1, INT32_MAX);
    r.sm_mhz = get_count(in);
    r.mem_mhz = get_count(in);
    if (in->bad) {
        result_free(&r);
        return err_set(err, ERR_CORRUPT, "result: not as cutune writes it");
    }
    *out = r;
    return 0;
}

void result_free(struct result *r)
{
    mem_free(r->samples);
    *r = (struct result){ 0 };
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many samples lie outside the 95% interval of the median at each end. Each sample is below the true median with probability
 * 1/2, so the number below is binomial: the largest k with P(fewer than k below) <= 2.5%. 0: too few samples for 95%. */
static int outside(int n)
{
    double log_term = -n * log(2), below = 0; /* of P(exactly k below), which leaves a double's range for large n */
    int k = 0;
    while (k < n / 2) {
        below += exp(log_term);
        if (below > 0.025)
            break;
        log_term += log((double)(n - k) / (k + 1));
        k++;
    }
    return k;
}

int stats_of(const double *samples, int n, struct stats *out, struct err *err)
{
    if (n < 1)
        return err_set(err, ERR_INVALID, "statistics: there are no samples");
    for (int i = 0; i < n; i++)
        if (!(samples[i] >= 0 && samples[i] <= TIME_MAX))
            return err_set(err, ERR_INVALID, "statistics: sample %d is %g ns: a time is from 0 to %g", i, samples[i], TIME_MAX);
    double *sorted = mem_array((size_t)n, sizeof *sorted);
    if (!sorted)
        return err_nomem(err);
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);

    double mean = 0, squares = 0; /* Welford: no large sums that cancel */
    for (int i = 0; i < n; i++) {
        double off = sorted[i] - mean;
        mean += off / (i + 1);
        squares += off * (sorted[i] - mean);
    }
    int k = outside(n);
    k = k ? k - 1 : 0; /* k samples at each end may be passed: the interval begins at the k-th smallest */
    *out = (struct stats){
        .n = n,
        .median = sorted[(n - 1) / 2] / 2 + sorted[n / 2] / 2,
        .min = sorted[0],
        .max = sorted[n - 1],
        .mean = mean,
        .stddev = n > 1 ? sqrt(squares / (n - 1)) : 0,
        .ci_low = sorted[k],
        .ci_high = sorted[n - 1 - k],
    };
    mem_free(sorted);
    return 0;
}
