/* Help, which argp prints. It breaks lines itself, but in glibc the margins of some are lost on the way (where its buffer is full just then). So it
 * gets room for the longest, and lines are broken here. */
#include <argp.h>
#include <string.h>

#include "cli/cli.h"

enum { WIDTH = 99, TEXT_AT = 29 /* argp's column of an option's text */, USAGE_AT = 12 };

static FILE *stream;
static char *text;
static size_t length;

FILE *help_stream(void)
{
    if (!stream && !getenv("ARGP_HELP_FMT")) { /* the user's own wish goes first */
        stream = open_memstream(&text, &length);
        setenv("ARGP_HELP_FMT", "rmargin=100000", 1);
    }
    return stream ?: stdout;
}

/* The column in which the rest of a broken line goes on. */
static size_t margin_of(const char *line)
{
    size_t blanks = strspn(line, " ");
    return line[blanks] == '-' ? TEXT_AT : strncmp(line, "Usage: ", 7) ? blanks : USAGE_AT;
}

static void put_line(const char *line, size_t n)
{
    const size_t margin = margin_of(line);
    for (size_t room = WIDTH; n > room; room = WIDTH - margin) {
        size_t end = room;
        while (end > 0 && line[end] != ' ')
            end--;
        if (!end)
            break;
        printf("%.*s\n%*s", (int)end, line, (int)margin, "");
        line += end + 1;
        n -= end + 1;
    }
    printf("%.*s\n", (int)n, line);
}

bool help_print(void)
{
    if (!stream)
        return true;
    if (fflush(stream))
        return false;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        put_line(at, n);
        at += n + (at[n] == '\n');
    }
    return true;
}
