/* `cutune export`: the tuned results, for other programs. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/targets.h"
#include "exchange/exchange.h"

struct export_args {
    struct args args;
    const char *format;
};

enum { KEY_FORMAT = KEY_OWN };

static const struct argp_option options[] = {
    { "format", KEY_FORMAT, "json|csv", 0, "The form; json without it", 0 },
    OPT_DB,
    { 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export_args *export = state->input;
    if (key != KEY_FORMAT)
        return args_key(key, arg, &export->args, state);
    if (strcmp(arg, "json") != 0 && strcmp(arg, "csv") != 0)
        args_error(state, "--format '%s': json or csv is wanted", arg);
    export->format = arg;
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Prints the winner of each tuned problem as JSON or as CSV."
           "\vExamples:\n"
           "  cutune export > tuned.json\n"
           "  cutune export --format csv --db tuned.db > tuned.csv",
};

int cmd_export(int argc, char **argv)
{
    struct export_args args = { .format = "json" };
    struct err err = { 0 };
    struct store *store = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    if (database_open(&args.args, STORE_READ, &store, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    int rc = exchange_export(store, args.format, stdout, &err);
    store_close(store);
    return rc ? complain(FAILED, "%s", err.msg) : DONE;
}
