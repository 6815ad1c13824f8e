#include "model/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/serial.h"

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

static void io_samples(struct serial *s, struct result *r)
{
    io_count(s, &r->nsamples, 0, INT32_MAX);
    if (s->in && r->nsamples) {
        r->samples = mem_array((size_t)r->nsamples, sizeof *r->samples);
        s->nomem = s->nomem || !r->samples;
    }
    for (int i = 0; r->samples && i < r->nsamples; i++)
        io_time(s, &r->samples[i]);
}

void io_result(struct serial *s, struct result *r)
{
    struct stats *stats = &r->stats;
    double *const times[] = { &stats->median, &stats->min,    &stats->max,    &stats->mean,
                              &stats->stddev, &stats->ci_low, &stats->ci_high };
    io_enum(s, &r->outcome, OUT_COUNT - 1);
    io_text(s, r->reason, sizeof r->reason);
    io_int(s, &stats->n, 0, INT32_MAX);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        io_time(s, times[i]);
    io_samples(s, r);
    io_time(s, &r->energy.joules);
    io_time(s, &r->energy.low);
    io_time(s, &r->energy.high);
    io_bool(s, &r->alone);
    io_bool(s, &r->grown);
    io_time(s, &r->compile_ms);
    io_time(s, &r->verify_ms);
    io_time(s, &r->measure_ms);
    io_int(s, &r->resources.registers, -1, INT32_MAX);
    io_number(s, &r->resources.shared, -1, INT64_MAX);
    io_number(s, &r->resources.local, -1, INT64_MAX);
    io_int(s, &r->resources.max_threads, -1, INT32_MAX);
    io_int(s, &r->sm_mhz, 0, INT32_MAX);
    io_int(s, &r->mem_mhz, 0, INT32_MAX);
    io_int(s, &r->again, 0, INT32_MAX);
    io_int(s, &r->throttled, 0, INT32_MAX);
}

void ok_print(const struct result *r, char out[256])
{
    const struct energy *e = &r->energy;
    int n = 0;
    *out = 0;
    if (e->joules > 0)
        n = snprintf(out, 256, "energy %.9g J, %.9g to %.9g", e->joules, e->low, e->high);
    if (r->alone)
        n += snprintf(out + n, 256 - (size_t)n, "%s%s", n ? "; " : "", REASON_ALONE);
    if (r->grown)
        snprintf(out + n, 256 - (size_t)n, "%s%s", n ? "; " : "", REASON_GROWN);
}

bool ok_read(const char *reason, struct result *r)
{
    struct result told = { 0 };
    struct energy e = { 0 };
    char text[256];
    int n = sscanf(reason, "energy %lf J, %lf to %lf", &e.joules, &e.low, &e.high);
    if (n == 3 && e.low > 0 && e.low <= e.joules && e.joules <= e.high && e.high <= TIME_MAX)
        told.energy = e;
    told.alone = strstr(reason, REASON_ALONE);
    told.grown = strstr(reason, REASON_GROWN);
    ok_print(&told, text);
    bool right = !strcmp(text, reason);
    r->energy = right ? told.energy : (struct energy){ 0 };
    r->alone = right && told.alone;
    r->grown = right && told.grown;
    return right;
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
