/* What a command writes: not over the own files of an op that it has read. */
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

/* A file that the op names is looked for beside its script, then among the templates. */
static int spare_named(const struct request *r, const char *path, const struct op *op, const char *name, struct err *err)
{
    const char *slash = strrchr(op->file, '/');
    struct buf beside = { 0 }, shared = { 0 };
    buf_fmt(&beside, "%.*s%s", slash ? (int)(slash + 1 - op->file) : 0, op->file, name);
    buf_fmt(&shared, "%s/templates/%s", r->home, name);
    int rc = buf_check(&beside, err)
        ?: buf_check(&shared, err)
        ?: output_spares(path, beside.data, err)
        ?: output_spares(path, shared.data, err);
    buf_free(&beside);
    buf_free(&shared);
    return rc;
}

static int spare_op(const struct request *r, const char *path, const struct op *op, struct err *err)
{
    int rc = output_spares(path, op->file, err)
                 ?: (op->reference.template_name ? spare_named(r, path, op, op->reference.template_name, err) : 0);
    for (int i = 0; !rc && i < op->nvariants; i++)
        rc = spare_named(r, path, op, op->variants[i].template_name, err);
    for (int i = 0; !rc && i < op->nincludes; i++)
        rc = spare_named(r, path, op, op->includes[i].name, err);
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = op->args[i].data.file.name ? spare_named(r, path, op, op->args[i].data.file.name, err) : 0;
    if (!rc && op->init.template_name)
        rc = spare_named(r, path, op, op->init.template_name, err);
    return rc;
}

int request_write(const struct request *r, const char *path, const struct buf *text, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && path && i < r->nops; i++)
        rc = spare_op(r, path, r->ops[i], err);
    return rc ?: output_write(path, text, err);
}
