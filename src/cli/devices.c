/* `cutune devices`: what every backend sees. */
#include "cli/cli.h"
#include "device/device.h"

static void device_id(struct buf *out, const void *device)
{
    char id[32];
    devspec_id(device, id);
    buf_str(out, id);
}

static void device_name(struct buf *out, const void *device)
{
    const struct devspec *d = device;
    buf_fmt(out, "%s%s%s", d->name, d->mig[0] ? " " : "", d->mig);
}

const struct row_column device_columns[] = {
    { "id", "device", .text = device_id },
    { "backend", FIELD(struct devspec, backend) },
    { "name", "name", FIELD(struct devspec, name), .text = device_name },
    { "arch", "arch", FIELD(struct devspec, arch) },
    { "mig", FIELD(struct devspec, mig) },
    { "multiprocessors", "units", FIELD(struct devspec, multiprocessors) },
    { "memory", "memory", FIELD(struct devspec, memory), .unit = text_memory },
    { "driver", "driver", FIELD(struct devspec, driver) },
    { "uuid", FIELD(struct devspec, uuid) },
    { 0 },
};

static int list_devices(struct request *r, struct err *err)
{
    struct buf absent = { 0 };
    struct rows rows = rows_of(device_columns, r->args.json);
    for (int b = 0; backend_at(b); b++) {
        static struct devspec found[MAX_DEVICES];
        struct err why = { 0 };
        int n = backend_at(b)->list(found, MAX_DEVICES, &why);
        if (n <= 0)
            buf_fmt(&absent, "none of %s: %s\n", backend_at(b)->name, why.msg); /* messages are harmless */
        for (int i = 0; i < n && i < MAX_DEVICES; i++)
            rows_add(&rows, "", &found[i]);
    }
    int rc = rows_end(&rows, 0, err);
    if (!r->args.json)
        fputs(buf_text(&absent), stdout);
    buf_free(&absent);
    return rc;
}

const struct command devices_command = {
    .name = "devices",
    .summary = "the devices that are present",
    .options = OPTIONS({ OPT_JSON }),
    .doc = "Lists the devices that are present, by the names that --device takes."
           "\vnull:0 is a pretend device for tests of cutune itself; it is never chosen unless it is named.\n\n"
           "Examples:\n"
           "  cutune devices\n"
           "  cutune devices --json",
    .run = list_devices,
};
