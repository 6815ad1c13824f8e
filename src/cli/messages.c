#include <stdarg.h>
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

int print_line(FILE *out, const char *fmt, ...)
{
    struct buf line = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vfmt(&line, fmt, args);
    va_end(args);
    if (line.data)
        err_line(line.data);
    fprintf(out, "%s%s%s\n", out == stderr ? program : "", out == stderr ? ": " : "",
            line.failed ? "out of memory" : buf_text(&line));
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
