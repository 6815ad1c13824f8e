/* `cutune export`: the tuned results, for other programs. */
#include <string.h>

#include "cli/cli.h"
#include "export/export.h"

static int write_c(struct request *r, struct buf *out, struct err *err)
{
    const struct words *ops = &r->args.ops;
    return request_op_names(r, err)
        ?: request_device_name(r, err)
        ?: request_database(r, STORE_READ, err)
        ?: c_export(r->store, &(struct c_choice){ ops->n ? ops->at : NULL, ops->n, r->args.device }, out, err);
}

static int write_t4(struct request *r, struct buf *out, struct err *err)
{
    struct buf filter[FILTERS] = { 0 };
    const char *words[FILTERS];
    if (r->args.ops.n > 1)
        return err_set(err, ERR_USAGE, "--op '%s': t4 is of one problem of one op", r->args.ops.at[1]);
    int rc = request_filter(r, r->args.ops.n ? r->args.ops.at[0] : NULL, filter, err) ?: request_device_name(r, err);
    for (int i = 0; i < FILTERS; i++)
        words[i] = filter[i].len ? filter[i].data : NULL;
    const struct t4_choice choice = { words[FILTER_OP], words[FILTER_TYPES], words[FILTER_PROBLEM], r->args.device, r->args.warm };
    rc = rc ?: request_database(r, STORE_READ, err) ?: t4_export(r->store, &choice, out, err);
    for (int i = 0; i < FILTERS; i++)
        buf_free(&filter[i]);
    return rc;
}

/* Gathers the whole text first: a database that turns out to be damaged at its last row leaves no half of a file. */
static int export_tuned(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    const char *format = args->format ? args->format : "json";
    struct buf text = { 0 };
    bool c = !strcmp(format, "c"), t4 = !strcmp(format, "t4");
    if (!c && !t4 && strcmp(format, "json") && strcmp(format, "csv"))
        return err_set(err, ERR_USAGE, "--format '%s': json, csv, t4 or c is wanted", format);
    const char *choice = args->ops.n ? "--op" : args->device ? "--device" : NULL;
    const char *of_t4 = args->shapes.n ? "--shape" : args->dtypes.n ? "--dtype" : args->warm ? "--warm" : NULL;
    if (!c && !t4 && choice)
        return err_set(err, ERR_USAGE, "%s is for --format c and t4: the others give everything", choice);
    if (!t4 && of_t4)
        return err_set(err, ERR_USAGE, "%s is for --format t4", of_t4);
    int rc = c    ? write_c(r, &text, err)
             : t4 ? write_t4(r, &text, err)
                  : request_database(r, STORE_READ, err) ?: export_rows(r->store, format, &text, err);
    rc = rc ?: request_write(r, args->output, &text, err);
    buf_free(&text);
    return request_damage(r, rc);
}

const struct command export_command = {
    .name = "export",
    .summary = "the tuned results as JSON, CSV or T4, or as one C file",
    .options = OPTIONS(
        { "format", WORD(format), "json|csv|t4|c", 0, "What is written; json without it", 0 },
        { "op", EACH(ops), "NAME|FILE.lua", 0,
          "With --format c an op, which may be repeated; without it all ops. With --format t4 the one", 0 },
        { OPT_INCLUDE }, { OPT_SHAPE("With --format t4: the problem of --op") },
        { OPT_DTYPE("With --format t4: the element types of --op") },
        { "device", WORD(device), "cuda:0|NAME|sm_90|...", 0,
          "With --format c and t4: a device that is present, or the name, architecture or backend of one that `cutune list` "
          "has. Without it all devices",
          0 },
        { "warm", FLAG(warm), NULL, 0, "With --format t4: what was timed with the data in the cache", 0 },
        { OPT_OUTPUT("The file to write; stdout without it") }, { OPT_DB }),
    .doc = "Writes the winner of each tuned problem as JSON or as CSV, for other programs; with --format t4 all "
           "that was tried for one problem, as the tools of the auto-tuning community exchange it; or, with "
           "--format c, the winners' kernels as one C file for an application."
           "\vThe C file needs neither libcutune nor a database: compile it into the application, which then has "
           "the calls of cutune.h and finds these kernels in the file itself.\n\n"
           "JSON has every value as it is. CSV is made safe for spreadsheets: a text that they would take for "
           "a formula gets a ' before it, and so does one that begins with '; control characters become blanks. "
           "What is stale is not in T4.\n\n"
           "Examples:\n"
           "  cutune export > tuned.json\n"
           "  cutune export --format csv --db tuned.db > tuned.csv\n"
           "  cutune export --format t4 --op NAME --shape n=1000 -o results.json\n"
           "  cutune export --format c --device sm_90 -o tuned.c",
    .run = export_tuned,
};
