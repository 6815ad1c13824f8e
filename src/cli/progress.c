#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/run.h"

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* 75 -> "1:15" */
static void clock_text(double seconds, char out[32])
{
    int64_t s = seconds < 1e6 ? (int64_t)(seconds + 0.5) : 1000000;
    snprintf(out, 32, "%" PRId64 ":%02d", s / 60, (int)(s % 60));
}

void progress_show(void *arg, const struct tune_progress *p)
{
    struct progress *progress = arg;
    struct buf line = { 0 };
    int64_t now = clock_ns();
    if (!progress->terminal && (double)(now - progress->shown_ns) < 1e9 * progress->seconds)
        return;
    progress->shown_ns = now;
    char left[32];
    buf_fmt(&line, "%s  %s %" PRId64, progress->title, p->phase, p->done);
    if (p->total > 0)
        buf_fmt(&line, " of %" PRId64, p->total);
    if (p->rate > 0)
        buf_fmt(&line, "  %.1f/s", p->rate);
    if (p->left >= 0) {
        clock_text(p->left, left);
        buf_fmt(&line, "  %s left", left);
    }
    if (p->best_ns > 0)
        buf_fmt(&line, "  best %s  %s  %s", text_time(p->best_ns), text_speed(p->best_gbs, 0), p->best);
    if (!progress->terminal) {
        fprintf(stderr, "%s\n", buf_text(&line));
        buf_free(&line);
        return;
    }
    char cut[512];
    snprintf(cut, sizeof cut, "%.*s", terminal_columns() - 1, buf_text(&line));
    err_line(cut);
    dprintf(STDERR_FILENO, "\r%s\033[K", cut); /* which stderr itself would make harmless */
    buf_free(&line);
}

static void clear_line(const struct progress *progress)
{
    if (progress->terminal)
        dprintf(STDERR_FILENO, "\r\033[K");
}

void progress_note(void *arg, const char *line)
{
    const struct progress *progress = arg;
    clear_line(progress);
    complain("%s: %s", progress->title, line);
}

void progress_end(const struct progress *progress, const struct tune_report *report)
{
    clear_line(progress);
    if (progress->terminal || !report)
        return;
    fprintf(stderr, "%s: %" PRId64 " of %" PRId64 " tried, %" PRId64 " of them now", progress->title, report->tried, report->valid,
            report->measured);
    if (report->best.config.variant >= 0)
        fprintf(stderr, ", best %s", text_time(report->best.time_ns));
    fputc('\n', stderr);
}
