/* `cutune export`: the tuned results, for other programs. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "device/device.h"
#include "export/c.h"
#include "export/export.h"

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

static int write_c(struct store *s, const struct args *args, struct buf *out, struct err *err)
{
    char device[128];
    struct c_choice choice = { .ops = args->ops.n ? args->ops.at : NULL, .nops = args->ops.n };
    if (!args->device)
        return c_export(s, &choice, out, err);
    int rc = device_word(args->device, device, err);
    choice.device = device;
    return rc ?: c_export(s, &choice, out, err);
}

/* Gathers the whole text first: a database that turns out to be damaged at its last row leaves no half of a file. */
static int export_tuned(const struct args *args, struct err *err)
{
    const char *format = args->format ? args->format : "json";
    struct store *store = NULL;
    struct buf text = { 0 };
    bool c = !strcmp(format, "c");
    if (!c && strcmp(format, "json") != 0 && strcmp(format, "csv") != 0)
        return err_set(err, ERR_USAGE, "--format '%s': json, csv or c is wanted", format);
    if (!c && (args->ops.n || args->device))
        return err_set(err, ERR_USAGE, "%s is for --format c: the others give everything", args->ops.n ? "--op" : "--device");
    int rc = database_open(args, STORE_READ, &store, err)
        ?: (c ? write_c(store, args, &text, err) : export_rows(store, format, &text, err))
        ?: output_write(args->output, &text, err);
    rc = database_done(store, rc);
    store_close(store);
    buf_free(&text);
    return rc;
}

static const struct argp_option options[] = {
    { "format", WORD(format), "json|csv|c", 0, "What is written; json without it", 0 },
    { "op", EACH(ops), "NAME", 0, "With --format c: an op; may be repeated. Without it all ops", 0 },
    { "device", WORD(device), "cuda:0|NAME|sm_90|...", 0,
      "With --format c: a device that is present, or the name, architecture or backend of one that `cutune list` has. Without it "
      "all "
      "devices",
      0 },
    { "output", 'o', "FILE", 0, "The file to write; stdout without it", 0 },
    { OPT_DB },
    { OPT_HELP },
    { 0 },
};

const struct command export_command = {
    .name = "export",
    .summary = "the tuned results as JSON or CSV, or as one C file",
    .options = options,
    .doc = "Writes the winner of each tuned problem as JSON or as CSV, for other programs;\n"
           "or, with --format c, the winners' kernels as one C file for an application."
           "\vThe C file needs neither libcutune nor a database: compile it into the application, which then has\n"
           "the calls of cutune.h and finds these kernels in the file itself.\n\n"
           "JSON has every value as it is. CSV is made safe for spreadsheets: a text that they would take for\n"
           "a formula gets a ' before it, and so does one that begins with '; control characters become blanks.\n\n"
           "Examples:\n"
           "  cutune export > tuned.json\n"
           "  cutune export --format csv --db tuned.db > tuned.csv\n"
           "  cutune export --format c --device sm_90 -o tuned.c",
    .run = export_tuned,
};
