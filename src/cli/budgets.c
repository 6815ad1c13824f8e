/* What ends a search: `cutune run`'s --budget, --effort, --target and --patience. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"

static const double MAX_SECONDS = 30 * 86400.0;
static const uint64_t MAX_CONFIGURATIONS = 1000000000000;

bool number_read(const char *text, uint64_t max, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    uint64_t value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || value > max)
        return false;
    *out = value;
    return true;
}

bool seconds_read(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = { { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 } };
    size_t digits = strspn(text, "0123456789.");
    char *end = NULL;
    double value = digits ? strtod(text, &end) : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && value > 0 && end == text + digits; i++)
        if (!strcmp(end, units[i].unit) && value * units[i].seconds <= MAX_SECONDS) {
            *out = value * units[i].seconds;
            return true;
        }
    return false;
}

/* "200": configurations; "60s", "10m": a time. */
static int read_budget(const char *text, struct tune_options *tune, struct err *err)
{
    uint64_t count = 0;
    if (seconds_read(text, &tune->budget_seconds))
        return 0;
    if (number_read(text, MAX_CONFIGURATIONS, &count) && count)
        tune->budget_count = (int64_t)count;
    else
        return err_set(
            err, ERR_USAGE,
            "--budget '%.40s': a number of configurations (200) or a time (60s, 10m, 2h, at most 30 days) above 0 is wanted", text);
    return 0;
}

/* "3500GB/s", "1.2TFLOP/s", "90%". */
static int read_target(const char *text, struct tune_options *tune, struct err *err)
{
    static const struct {
        const char *unit;
        double scale;
        enum tune_rate rate;
    } units[] = { { "GB/s", 1e9, RATE_BYTES },
                  { "TB/s", 1e12, RATE_BYTES },
                  { "GFLOP/s", 1e9, RATE_FLOPS },
                  { "TFLOP/s", 1e12, RATE_FLOPS },
                  { "%", 0.01, RATE_COPY } };
    char *end = NULL;
    double value = isdigit((unsigned char)text[0]) && text[0] ? strtod(text, &end) : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units && value > 0 && value < 1e9; i++)
        if (!strcmp(end, units[i].unit)) {
            tune->target = value * units[i].scale;
            tune->target_rate = units[i].rate;
            return 0;
        }
    return err_set(err, ERR_USAGE,
                   "--target '%.40s': a speed above 0 in GB/s, TB/s, GFLOP/s, TFLOP/s or %% of a copy's (90%%) is wanted", text);
}

int budgets_read(const struct args *args, struct tune_options *tune, struct err *err)
{
    static const char *const efforts[] = { [EFFORT_NORMAL] = "normal", [EFFORT_QUICK] = "quick", [EFFORT_THOROUGH] = "thorough" };
    uint64_t patience = 0;
    enum tune_effort effort = EFFORT_NORMAL;
    while (args->effort && effort <= EFFORT_THOROUGH && strcmp(args->effort, efforts[effort]))
        effort++;
    if (effort > EFFORT_THOROUGH)
        return err_set(err, ERR_USAGE, "--effort '%.40s': quick, normal or thorough is wanted", args->effort);
    tune->effort = effort;
    int rc = args->target ? read_target(args->target, tune, err) : 0;
    for (int i = 0; !rc && i < args->budgets.n; i++)
        rc = read_budget(args->budgets.at[i], tune, err);
    if (!rc && args->patience && (!number_read(args->patience, MAX_CONFIGURATIONS, &patience) || !patience))
        rc = err_set(err, ERR_USAGE, "--patience '%.40s': a number of configurations above 0 is wanted", args->patience);
    tune->patience = (int64_t)patience;
    return rc;
}
