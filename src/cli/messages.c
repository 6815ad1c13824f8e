#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "cli/cli.h"

/* "cutune", or "cutune run" while a command runs. */
static char program[80] = "cutune";

char *messages_name(const char *command)
{
    snprintf(program, sizeof program, "cutune %s", command);
    return program;
}

const char *style(int fd, enum style s)
{
    static const char *const codes[] = { "\033[0m", "\033[1m", "\033[32m", "\033[31m" };
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no && *no) || !term || !strcmp(term, "dumb") || !isatty(fd) ? "" : codes[s];
}

int print_line(FILE *out, const char *fmt, ...)
{
    struct buf line = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vfmt(&line, fmt, args);
    va_end(args);
    if (line.data)
        err_line(line.data);
    const char *strong = out == stderr ? style(STDERR_FILENO, STRONG) : "";
    if (*strong) { /* which stderr itself would make harmless */
        fflush(stderr);
        dprintf(STDERR_FILENO, "%s%s:%s ", strong, program, style(STDERR_FILENO, PLAIN));
    } else if (out == stderr) {
        fprintf(out, "%s: ", program);
    }
    fprintf(out, "%s\n", line.failed ? "out of memory" : buf_text(&line));
    buf_free(&line);
    return FAILED;
}

/* Makes each line harmless; a line that is longer than the stream's buffer, part by part. */
static ssize_t write_harmless(void *nothing, const char *text, size_t size)
{
    char line[BUFSIZ + 2];
    (void)nothing;
    for (const char *end = text + size; text < end;) {
        size_t n = 0;
        for (; n < BUFSIZ && text < end && *text != '\n'; text++)
            line[n++] = *text ? *text : ' ';
        bool ends = text < end && *text == '\n';
        line[n] = 0;
        err_line(line);
        n = strlen(line);
        line[n] = '\n';
        (void)write_all(STDERR_FILENO, line, n + ends);
        text += ends;
    }
    return (ssize_t)size;
}

void messages_start(void)
{
    FILE *harmless = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_harmless });
    if (!harmless)
        return;
    setvbuf(harmless, NULL, _IOLBF, BUFSIZ);
    stderr = harmless;
}
