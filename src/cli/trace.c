/* `cutune run --trace`: a row for each configuration as it ends. A row is written as soon as it is known, with one call, so a run that is
 * killed keeps what it had, and rows of two runs do not mix. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/output.h"
#include "cli/run.h"

struct row {
    const char *started, *device, *op, *types, *sizes, *cache, *variant, *outcome, *reason, *origin;
    struct buf config;
    double seconds, time_ns, compile_ms, verify_ms, measure_ms;
};

static const struct row_column columns[] = {
    { "started", FIELD(struct row, started) },
    { "seconds", FIELD(struct row, seconds) },
    { "device", FIELD(struct row, device) },
    { "op", FIELD(struct row, op) },
    { "dtype", FIELD(struct row, types) },
    { "problem", FIELD(struct row, sizes) },
    { "cache", FIELD(struct row, cache) },
    { "variant", FIELD(struct row, variant) },
    { "config", FIELD(struct row, config) },
    { "outcome", FIELD(struct row, outcome) },
    { "reason", FIELD(struct row, reason) },
    { "time_ns", FIELD(struct row, time_ns) },
    { "compile_ms", FIELD(struct row, compile_ms) },
    { "verify_ms", FIELD(struct row, verify_ms) },
    { "measure_ms", FIELD(struct row, measure_ms) },
    { "from", FIELD(struct row, origin) },
    { 0 },
};

static int failed(const struct trace *t, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "--trace %s: %s%s", t->path, what, strerror(errno));
}

/* What is there already is a trace as this version writes it, to be gone on with; or nothing. Its last line may be cut. */
static int check_begun(const struct trace *t, const struct buf *header, int64_t size, struct buf *first, struct err *err)
{
    char text[512] = "", last = '\n';
    bool read = header->len < sizeof text && pread(t->fd, text, header->len, 0) >= 0 && (!size || pread(t->fd, &last, 1, size - 1) == 1);
    if (!read)
        return failed(t, "cannot be read: ", err);
    if (size && strcmp(text, header->data))
        return err_set(err, ERR_INVALID, "--trace %s: is there, and is no trace with the columns of this version: choose another name",
                       t->path);
    buf_str(first, !size ? header->data : last == '\n' ? "" : "\n");
    return buf_check(first, err);
}

int trace_open(struct trace *t, const char *path, const struct devspec *dev, bool warm, struct err *err)
{
    struct stat st;
    struct buf header = { 0 }, first = { 0 };
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    struct timespec now;
    struct tm utc;
    *t = (struct trace){ .path = path, .begun_ns = clock_ns(), .warm = warm };
    clock_gettime(CLOCK_REALTIME, &now);
    size_t n = strftime(t->started, sizeof t->started, "%FT%T", gmtime_r(&now.tv_sec, &utc));
    snprintf(t->started + n, sizeof t->started - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
    devspec_id(dev, t->device);
    int rc = output_name(path, err);
    if (rc)
        return rc;
    t->fd = open(path, (special ? O_WRONLY : O_RDWR | O_CREAT) | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (t->fd < 0)
        return failed(t, "", err);
    columns_csv(&header, columns, 0, NULL);
    rc = buf_check(&header, err);
    if (!rc && (special || fstat(t->fd, &st)))
        buf_str(&first, header.data);
    else if (!rc)
        rc = check_begun(t, &header, st.st_size, &first, err);
    if (!rc && !write_all(t->fd, buf_text(&first), first.len))
        rc = failed(t, "", err);
    buf_free(&header);
    buf_free(&first);
    if (rc)
        close(t->fd);
    return rc;
}

void trace_row(void *trace, const struct tune_trial *trial)
{
    static const char *const origins[] = {
        [TRIAL_NEW] = "new", [TRIAL_STORED] = "database", [TRIAL_SAME] = "same", [TRIAL_PLAYOFF] = "play-off"
    };
    struct trace *t = trace;
    const struct op *op = t->finding->op;
    struct buf line = { 0 };
    struct err err = { 0 };
    struct row row = { .started = t->started,
                       .device = t->device,
                       .op = op->name,
                       .types = t->finding->types,
                       .sizes = t->finding->sizes,
                       .cache = t->warm ? "warm" : "cold",
                       .variant = op->variants[trial->config->variant].name,
                       .outcome = trial->judged ? outcome_name(trial->outcome) : "no-verdict",
                       .reason = trial->reason,
                       .origin = origins[trial->origin],
                       .seconds = (double)(clock_ns() - t->begun_ns) / 1e9,
                       .time_ns = trial->time_ns,
                       .compile_ms = trial->compile_ms,
                       .verify_ms = trial->verify_ms,
                       .measure_ms = trial->measure_ms };
    if (t->failed)
        return;
    config_print(&row.config, op, trial->config);
    columns_csv(&line, columns, 0, &row);
    t->failed = line.failed || row.config.failed || !write_all(t->fd, line.data, line.len);
    if (t->failed) { /* a run of hours does not end for that */
        failed(t, "ends here, the run goes on: ", &err);
        complain("%s", err.msg);
    }
    buf_free(&line);
    buf_free(&row.config);
}

int trace_close(struct trace *t, int rc)
{
    close(t->fd);
    return rc ?: t->failed ? FAILED : 0;
}
