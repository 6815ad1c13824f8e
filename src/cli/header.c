/* `cutune header`: typed calls of ops, as a C header. */
#include "base/mem.h"
#include "cli/cli.h"
#include "export/export.h"
#include "op/load.h"

/* Only a header that is right as a whole replaces what was there. */
static int make_header(struct request *r, struct err *err)
{
    struct buf text = { 0 };
    char **all = NULL;
    int n = r->args.ops.n, rc = n ? 0 : script_names("ops", &all, &n, err);
    for (int i = 0; !rc && i < n; i++)
        rc = request_op(r, all ? all[i] : r->args.ops.at[i], err);
    mem_free(all);
    rc = rc ?: header_write(&text, r->ops, r->nops, err) ?: request_write(r, r->args.output, &text, err);
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
