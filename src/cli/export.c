/* `cutune export`: the tuned results, for other programs. */
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "device/device.h"
#include "export/export.h"

/* Names of ops; a script becomes the name that it gives. */
static int name_ops(struct request *r, struct err *err)
{
    int rc = 0;
    for (const char **word = r->args.ops.at; !rc && word < r->args.ops.at + r->args.ops.n; word++)
        if (!name_ok(*word) && !(rc = request_op(r, *word, err)))
            *word = r->op->name;
    return rc;
}

static int write_c(const struct request *r, struct buf *out, struct err *err)
{
    struct devspec dev;
    const char *device = r->args.device;
    const struct words *ops = &r->args.ops;
    if (device && strchr(device, ':')) { /* "cuda:0" is the name of what is there; every other word is one of the file's */
        int rc = device_find(device, &dev, err);
        if (rc)
            return rc;
        device = dev.name;
    }
    return c_export(r->store, &(struct c_choice){ ops->n ? ops->at : NULL, ops->n, device }, out, err);
}

/* Gathers the whole text first: a database that turns out to be damaged at its last row leaves no half of a file. */
static int export_tuned(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    const char *format = args->format ? args->format : "json";
    struct buf text = { 0 };
    bool c = !strcmp(format, "c");
    if (!c && strcmp(format, "json") && strcmp(format, "csv"))
        return err_set(err, ERR_USAGE, "--format '%s': json, csv or c is wanted", format);
    if (!c && (args->ops.n || args->device))
        return err_set(err, ERR_USAGE, "%s is for --format c: the others give everything", args->ops.n ? "--op" : "--device");
    int rc = name_ops(r, err)
        ?: request_database(r, STORE_READ, err)
        ?: (c ? write_c(r, &text, err) : export_rows(r->store, format, &text, err))
        ?: output_write(args->output, &text, err);
    buf_free(&text);
    return request_damage(r, rc);
}

const struct command export_command = {
    .name = "export",
    .summary = "the tuned results as JSON or CSV, or as one C file",
    .options =
        OPTIONS({ "format", WORD(format), "json|csv|c", 0, "What is written; json without it", 0 },
                { "op", EACH(ops), "NAME|FILE.lua", 0, "With --format c: an op; may be repeated. Without it all ops", 0 },
                { "device", WORD(device), "cuda:0|NAME|sm_90|...", 0,
                  "With --format c: a device that is present, or the name, architecture or backend of one that `cutune list` has. "
                  "Without it all devices",
                  0 },
                { OPT_OUTPUT("The file to write; stdout without it") }, { OPT_DB }),
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
