/* `cutune header`: typed calls of ops, as a C header. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "export/export.h"
#include "op/load.h"

/* A file that the op names is looked for beside its script, then among the templates. */
static int spare_named(const struct request *r, const struct op *op, const char *name, struct err *err)
{
    const char *slash = strrchr(op->file, '/');
    struct buf beside = { 0 }, shared = { 0 };
    buf_fmt(&beside, "%.*s%s", slash ? (int)(slash + 1 - op->file) : 0, op->file, name);
    buf_fmt(&shared, "%s/templates/%s", r->home, name);
    int rc = buf_check(&beside, err)
        ?: buf_check(&shared, err)
        ?: output_spares(r->args.output, beside.data, err)
        ?: output_spares(r->args.output, shared.data, err);
    buf_free(&beside);
    buf_free(&shared);
    return rc;
}

/* A header must not replace one of the op's own files. */
static int spare_op(const struct request *r, const struct op *op, struct err *err)
{
    int rc = output_spares(r->args.output, op->file, err)
                 ?: (op->reference.template_name ? spare_named(r, op, op->reference.template_name, err) : 0);
    for (int i = 0; !rc && i < op->nvariants; i++)
        rc = spare_named(r, op, op->variants[i].template_name, err);
    for (int i = 0; !rc && i < op->nincludes; i++)
        rc = spare_named(r, op, op->includes[i].name, err);
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = op->args[i].data.file.name ? spare_named(r, op, op->args[i].data.file.name, err) : 0;
    if (!rc && op->init.template_name)
        rc = spare_named(r, op, op->init.template_name, err);
    return rc;
}

/* Only a header that is right as a whole replaces what was there. */
static int make_header(struct request *r, struct err *err)
{
    struct buf text = { 0 };
    char **all = NULL;
    int n = r->args.ops.n, rc = n ? 0 : script_names("ops", &all, &n, err);
    for (int i = 0; !rc && i < n; i++)
        rc = request_op(r, all ? all[i] : r->args.ops.at[i], err) ?: (r->args.output ? spare_op(r, r->op, err) : 0);
    mem_free(all);
    rc = rc ?: header_write(&text, r->ops, r->nops, err) ?: output_write(r->args.output, &text, err);
    buf_free(&text);
    return rc;
}

const struct command header_command = {
    .name = "header",
    .summary = "a C header with a typed call for each op",
    .options = OPTIONS({ "op", EACH(ops), "NAME|FILE.lua", 0, "An op; may be repeated. Without it all that `cutune ops` lists", 0 },
                       { OPT_INCLUDE }, { OPT_OUTPUT("The header to write; stdout without it") }),
    .doc = "Writes a C header with a function for each op, which looks up its fastest kernel and launches it:\n"
           "the op's buffers and sizes are the function's parameters. For use with libcutune, in C or C++."
           "\vExamples:\n"
           "  cutune header -o cutune_ops.h\n"
           "  cutune header --op ./my_op.lua -o my_ops.h",
    .run = make_header,
};
