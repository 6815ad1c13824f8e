/* `cutune export`: the tuned results, for other programs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "device/device.h"
#include "export/c.h"
#include "export/export.h"

struct export_args {
    struct args args;
    const char *format;
    const char *ops[MAX_WORDS]; /* --op */
    int nops;
    const char *file; /* -o */
};

enum { KEY_FORMAT = KEY_OWN };

static const struct argp_option options[] = {
    { "format", KEY_FORMAT, "json|csv|c", 0, "The form; json without it", 0 },
    { "op", KEY_OP, "NAME", 0, "C: an op; may be repeated. Without it, all", 0 },
    { "device", KEY_DEVICE, "cuda:0|NAME|sm_90|...", 0,
      "C: a device that is present, or the name, architecture or backend of one that `cutune list` has. Without it, all", 0 },
    { "output", 'o', "FILE", 0, "Where it goes; stdout without it", 0 },
    OPT_DB,
    OPT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export_args *export = state->input;
    switch (key) {
    case KEY_FORMAT:
        if (strcmp(arg, "json") != 0 && strcmp(arg, "csv") != 0 && strcmp(arg, "c") != 0)
            args_error(state, "--format '%s': json, csv or c is wanted", arg);
        export->format = arg;
        return 0;
    case KEY_OP:
        if (export->nops == MAX_WORDS)
            args_error(state, "--op '%s': at most %d of them in one command", arg, MAX_WORDS);
        export->ops[export->nops++] = arg;
        return 0;
    case 'o':
        if (!*arg)
            args_error(state, "--output '': the name of a file is wanted");
        export->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (strcmp(export->format, "c") != 0 && (export->nops || export->args.device))
            args_error(state, "%s is for --format c: the others give everything", export->nops ? "--op" : "--device");
        return args_key(key, arg, &export->args, state);
    default:
        return args_key(key, arg, &export->args, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Prints the winner of each tuned problem as JSON or as CSV; or writes tuned kernels as one C file,\n"
           "with the calls of cutune.h but no need of the library or the database.\n"
           "JSON is exact. CSV is harmless for spreadsheets: a text that would be a formula has a ' before it,\n"
           "as has a text that begins with one; a control character is a blank."
           "\vExamples:\n"
           "  cutune export > tuned.json\n"
           "  cutune export --format csv --db tuned.db > tuned.csv\n"
           "  cutune export --format c --device sm_90 -o tuned.c",
};

/* "cuda:0" is the name of what is there; every other word is one of the file's. */
static int device_word(const char *word, char name[128], struct err *err)
{
    struct devspec dev;
    if (!strchr(word, ':')) {
        snprintf(name, 128, "%s", word);
        return 0;
    }
    int rc = device_find(word, &dev, err);
    if (!rc)
        snprintf(name, 128, "%s", dev.name);
    return rc;
}

static int export_c(struct store *s, const struct export_args *args, FILE *out, struct err *err)
{
    char device[128];
    struct c_choice choice = { .ops = args->nops ? args->ops : NULL, .nops = args->nops };
    struct buf text = { 0 };
    int rc = 0;
    if (args->args.device) {
        rc = device_word(args->args.device, device, err);
        choice.device = device;
    }
    if (!rc)
        rc = c_export(s, &choice, &text, err);
    if (!rc && (fwrite(text.data, 1, text.len, out) != text.len || fflush(out)))
        rc = err_set(err, ERR_IO, "writing the C file: %s", strerror(errno));
    buf_free(&text);
    return rc;
}

static int write_out(struct store *s, const struct export_args *args, FILE *out, struct err *err)
{
    return strcmp(args->format, "c") == 0 ? export_c(s, args, out, err) : export_rows(s, args->format, out, err);
}

static int write_file(struct store *s, const struct export_args *args, struct err *err)
{
    struct output o;
    int rc = output_begin(&o, args->file, err);
    return rc ? rc : output_end(&o, write_out(s, args, o.file, err), err);
}

int cmd_export(int argc, char **argv)
{
    struct export_args args = { .format = "json" };
    struct err err = { 0 };
    struct store *store = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    if (database_open(&args.args, STORE_READ, &store, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    int rc = args.file ? write_file(store, &args, &err) : write_out(store, &args, stdout, &err);
    int code = database_done(store, rc ? complain(FAILED, "%s", err.msg) : DONE);
    store_close(store);
    return code;
}
