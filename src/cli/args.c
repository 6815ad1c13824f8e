#include "cli/args.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/cli.h"

void args_error(struct argp_state *state, const char *fmt, ...)
{
    char line[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    err_line(line);
    argp_failure(state, USAGE, 0, "%s", line);
    exit(USAGE); /* argp_failure ends the process; the compiler does not know */
}

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

static void add_word(struct argp_state *state, const char *option, const char *word, bool several, const char **words, int *n)
{
    if (*n && !several)
        args_error(state, "%s '%s': this command takes one %s only", option, word, option);
    if (*n == MAX_WORDS)
        args_error(state, "%s '%s': at most %d of them in one command", option, word, MAX_WORDS);
    words[(*n)++] = word;
}

error_t args_key(int key, char *arg, struct args *args, struct argp_state *state)
{
    switch (key) {
    case KEY_OP:
        args->op = arg;
        return 0;
    case KEY_SHAPE:
        add_word(state, "--shape", arg, args->several, args->shapes, &args->nshapes);
        return 0;
    case KEY_DTYPE:
        add_word(state, "--dtype", arg, args->several, args->dtypes, &args->ndtypes);
        return 0;
    case KEY_DEVICE:
        args->device = arg;
        return 0;
    case KEY_DB:
        if (!*arg)
            args_error(state, "--db '': the name of a file is wanted");
        args->db = arg;
        return 0;
    case KEY_JSON:
        args->json = true;
        return 0;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    case ARGP_KEY_ARG:
        args_error(state, "unexpected '%s': every argument of this command is an option, see --help", arg);
    case ARGP_KEY_END:
        if (args->op_needed && !args->op)
            args_error(state, "--op is missing: --op NAME, one that `cutune ops` lists, or --op FILE.lua");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}
