#include "cli/json.h"

#include <errno.h>
#include <string.h>

json_t *json_count(double v)
{
    return v < 9007199254740992.0 ? json_integer((json_int_t)v) : json_real(v);
}

json_t *json_config(const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    json_t *object = json_object();
    for (int i = 0; i < v->nparams; i++)
        object = json_with(object, v->params[i].name, json_value(v->params[i].values[c->at[i]]));
    return object;
}

json_t *json_problem(const struct op *op, const struct problem *p)
{
    json_t *object = json_object();
    for (int i = 0; i < op->naxes; i++)
        object = json_with(object, op->axes[i].name, json_integer(p->size[i]));
    return object;
}

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
    { "memory", "memory", FIELD(struct devspec, memory), .unit = UNIT_MEMORY },
    { "driver", "driver", FIELD(struct devspec, driver) },
    { "uuid", FIELD(struct devspec, uuid) },
    { 0 },
};

int json_print(json_t *root, struct err *err)
{
    if (!root)
        return err_nomem(err);
    int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    json_decref(root);
    putchar('\n');
    return failed ? err_set(err, ERR_IO, "could not write the output: %s", strerror(errno)) : 0;
}
