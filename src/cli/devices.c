/* `cutune devices`: what every backend sees. */
#include <stdio.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/text.h"
#include "device/device.h"

static int list_devices(const struct args *args, struct err *err)
{
    struct buf absent = { 0 };
    struct rows rows = rows_of(device_columns, args->json);
    for (int b = 0; backend_at(b); b++) {
        static struct devspec found[MAX_DEVICES];
        struct err why = { 0 };
        int n = backend_at(b)->list(found, MAX_DEVICES, &why);
        if (n <= 0)
            buf_fmt(&absent, "none of %s: %s\n", backend_at(b)->name, why.msg); /* messages are harmless */
        for (int i = 0; i < n && i < MAX_DEVICES; i++)
            rows_add(&rows, &found[i]);
    }
    int rc = rows_end(&rows, 0, 0, err);
    if (!args->json)
        fputs(buf_text(&absent), stdout);
    buf_free(&absent);
    return rc;
}

static const struct argp_option options[] = { { OPT_JSON }, { OPT_HELP }, { 0 } };

const struct command devices_command = {
    .name = "devices",
    .summary = "the devices that are present",
    .options = options,
    .doc = "Lists the devices that are present, by the names that --device takes."
           "\vnull:0 is a pretend device for tests of cutune itself; it is never chosen unless it is named.\n\n"
           "Examples:\n"
           "  cutune devices\n"
           "  cutune devices --json",
    .run = list_devices,
};
