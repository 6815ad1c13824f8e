/* `cutune header`: typed calls of ops, as a C header. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/targets.h"
#include "export/header.h"
#include "op/load.h"

/* A file that the op names is looked for beside its script, then among the templates. */
static int spare_named(const struct op *op, const char *file, const char *name, struct err *err)
{
    const char *slash = op->file ? strrchr(op->file, '/') : NULL, *home = NULL;
    struct buf path = { 0 };
    buf_put(&path, op->file ? op->file : "", slash ? (size_t)(slash + 1 - op->file) : 0);
    buf_str(&path, name);
    int rc = (path.failed ? err_nomem(err) : output_spares(file, path.data, err)) ?: home_find(&home, err);
    buf_clear(&path);
    if (!rc)
        buf_fmt(&path, "%s/templates/%s", home, name);
    rc = rc ?: (path.failed ? err_nomem(err) : output_spares(file, path.data, err));
    buf_free(&path);
    return rc;
}

/* An op's own files are no place for its header. */
static int spare_op(const struct op *op, const char *file, struct err *err)
{
    int rc = op->file ? output_spares(file, op->file, err) : 0;
    for (int i = 0; !rc && i < op->nvariants; i++)
        rc = spare_named(op, file, op->variants[i].template_name, err);
    if (!rc && op->reference_name)
        rc = spare_named(op, file, op->reference_name, err);
    for (int i = 0; !rc && i < op->nincludes; i++)
        rc = spare_named(op, file, op->includes[i].name, err);
    return rc;
}

/* Only a header that is right as a whole replaces what was there. */
static int write_header(struct op *const *ops, int n, const char *file, struct err *err)
{
    struct buf text = { 0 };
    int rc = 0;
    for (int i = 0; !rc && file && i < n; i++)
        rc = spare_op(ops[i], file, err);
    rc = rc ?: header_write(&text, ops, n, err) ?: output_write(file, &text, err);
    buf_free(&text);
    return rc;
}

static int write_ops(const char *const *names, int n, const char *file, struct err *err)
{
    struct op **ops = mem_array((size_t)n + 1, sizeof *ops);
    int read = 0, rc = ops ? 0 : err_nomem(err);
    for (; !rc && read < n; read += !rc)
        rc = named_op(names[read], &ops[read], err);
    rc = rc ?: write_header(ops, n, file, err);
    while (read)
        op_free(ops[--read]);
    mem_free(ops);
    return rc;
}

static int make_header(const struct args *args, struct err *err)
{
    char **all = NULL;
    int n = 0;
    if (args->ops.n)
        return write_ops(args->ops.at, args->ops.n, args->output, err);
    int rc = op_names(&all, &n, err) ?: write_ops((const char *const *)all, n, args->output, err);
    while (n)
        mem_free(all[--n]);
    mem_free(all);
    return rc;
}

static const struct argp_option options[] = {
    { "op", EACH(ops), "NAME|FILE.lua", 0, "An op; may be repeated. Without it all that `cutune ops` lists", 0 },
    { "output", 'o', "FILE", 0, "The header to write; stdout without it", 0 },
    { OPT_HELP },
    { 0 },
};

const struct command header_command = {
    .name = "header",
    .summary = "a C header with a typed call for each op",
    .options = options,
    .doc = "Writes a C header with a function for each op, which looks up its fastest kernel and launches it:\n"
           "the op's buffers and sizes are the function's parameters. For use with libcutune, in C or C++."
           "\vExamples:\n"
           "  cutune header -o cutune_ops.h\n"
           "  cutune header --op ./my_op.lua -o my_ops.h",
    .run = make_header,
};
