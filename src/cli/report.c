/* `cutune report`: a page that shows what was tuned. */
#include <string.h>

#include "cli/cli.h"
#include "export/export.h"

/* What the page calls a database: its name, or if both have the same one, the path. */
static const char *name_of(const char *path, const char *other)
{
    const char *slash = strrchr(path, '/'), *other_slash = other ? strrchr(other, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    return other && !strcmp(name, other_slash ? other_slash + 1 : other) ? path : name;
}

static int nothing(const struct request *r, bool damaged, struct err *err)
{
    const struct args *args = &r->args;
    if (damaged)
        return err_set(err, ERR_CORRUPT, "%s: nothing to show but damaged rows", store_path(r->store));
    if (!args->ops.n && !args->device)
        return err_set(err, ERR_NOTFOUND, "nothing is tuned yet in %s: cutune run --op NAME", store_path(r->store));
    return err_set(err, ERR_NOTFOUND, "%s: nothing of %s%s%s: `cutune list` tells what there is", store_path(r->store),
                   args->ops.n ? args->ops.at[0] : "", args->ops.n && args->device ? " on " : "", args->device ? args->device : "");
}

static int write_report(const struct request *r, struct report_source *sources, int n, struct err *err)
{
    const struct args *args = &r->args;
    const struct report_choice choice = { args->ops.at, args->ops.n, args->device };
    struct report_found found;
    struct buf data = { 0 }, page = { 0 };
    const char *path = args->output ? args->output : "report.html";
    bool printed = !strcmp(path, "-");
    int rc = report_data(sources, n, &choice, &found, &data, err) ?: found.problems ? 0 : nothing(r, sources[0].damaged, err);
    rc = rc ?: report_page(&data, &page, err) ?: request_write(r, printed ? NULL : path, &page, err);
    if (!rc && !printed)
        text_line("%s: %lld measurement%s of %d problem%s, %s", path, (long long)found.measurements,
                  found.measurements == 1 ? "" : "s", found.problems, found.problems == 1 ? "" : "s", text_memory((double)page.len));
    buf_free(&data);
    buf_free(&page);
    return rc;
}

static int report(struct request *r, struct err *err)
{
    struct report_source sources[2] = { 0 };
    struct store *other = NULL;
    int n = 1, rc = request_op_names(r, err) ?: request_device_name(r, err) ?: request_database(r, STORE_READ, err);
    if (!rc && r->args.compare) {
        rc = store_open(r->args.compare, STORE_READ, &other, err);
        n++;
    }
    if (!rc) {
        const char *path = store_path(r->store), *with = other ? store_path(other) : NULL;
        sources[0] = (struct report_source){ .store = r->store, .name = name_of(path, with) };
        sources[1] = (struct report_source){ .store = other, .name = with ? name_of(with, path) : "" };
        rc = write_report(r, sources, n, err);
    }
    for (int i = 0; i < n; i++)
        rc = damage_told(sources[i].store, sources[i].damaged, rc);
    store_close(other);
    return rc;
}

const struct command report_command = {
    .name = "report",
    .summary = "a page that shows what was tuned, in charts",
    .options = OPTIONS(
        { "op", EACH(ops), "NAME|FILE.lua", 0, "Only of this op; may be given again. Without it of all", 0 }, { OPT_INCLUDE },
        { "device", WORD(device), "cuda:0|NAME|sm_90|...", 0,
          "Only of this one: a device that is present, or the name, architecture or backend of one that `cutune list` has", 0 },
        { "compare", WORD(compare), "FILE", 0, "Another database, to be shown beside the first", 0 },
        { OPT_OUTPUT("The file to write, - for stdout; report.html without it") }, { OPT_DB }),
    .doc =
        "Writes one HTML file that shows what is in the database: the winners and how far they are from what the device can do, "
        "the "
        "times of all that was tried, what each parameter does, the course of the search, and what failed and why. With --compare "
        "two databases are side by side."
        "\vThe file has all in it and asks for nothing else, so it can be sent and kept. How fast a device can copy is told by "
        "the copies that runs have timed beside their candidates.\n\n"
        "Examples:\n"
        "  cutune report\n"
        "  cutune report --op NAME -o name.html\n"
        "  cutune report --db new.db --compare old.db",
    .run = report,
};
