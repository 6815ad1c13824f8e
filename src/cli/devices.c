/* `cutune devices`: what every backend sees. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/text.h"
#include "device/device.h"

static const struct argp_option options[] = { OPT_JSON, OPT_END };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return args_key(key, arg, state->input, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Lists the devices that are present, by the names that --device takes."
           "\vnull:0 is a pretend device for tests of cutune itself; it is never chosen unless it is named.\n\n"
           "Examples:\n"
           "  cutune devices\n"
           "  cutune devices --json",
};

static void add_row(struct table *table, const struct devspec *d)
{
    char id[32];
    devspec_id(d, id);
    table_cell(table, "%s", id);
    table_cell(table, "%s%s%s", d->name, d->mig[0] ? " " : "", d->mig);
    table_cell(table, "%s", d->arch);
    table_cell(table, "%d", d->multiprocessors);
    table_cell(table, "%s", text_bytes(d->memory));
    table_cell(table, "%s", d->driver);
}

int cmd_devices(int argc, char **argv)
{
    struct args args = { 0 };
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    json_t *array = json_array();
    struct buf absent = { 0 };
    struct table table = { .align = "lllrrl" };
    const char *const heads[] = { "device", "name", "arch", "units", "memory", "driver" };
    for (int i = 0; i < 6; i++)
        table_cell(&table, "%s", heads[i]);
    for (int b = 0; backend_at(b); b++) {
        static struct devspec found[MAX_DEVICES];
        struct err err = { 0 };
        int n = backend_at(b)->list(found, MAX_DEVICES, &err);
        if (n <= 0)
            buf_fmt(&absent, "none of %s: %s\n", backend_at(b)->name, err.msg); /* messages are harmless */
        for (int i = 0; i < n && i < MAX_DEVICES; i++) {
            add_row(&table, &found[i]);
            array = json_append(array, json_device(&found[i]));
        }
    }
    int code;
    if (args.json) {
        code = json_print(array);
        buf_free(&table.cells);
    } else {
        code = table_print(&table, 0, stdout);
        fputs(buf_text(&absent), stdout);
        json_decref(array);
    }
    buf_free(&absent);
    return code;
}
