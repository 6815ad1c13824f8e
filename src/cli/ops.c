/* `cutune ops`: the ops that are installed. */
#include "base/mem.h"
#include "cli/cli.h"
#include "op/load.h"

static json_t *axis_names(const void *row)
{
    const struct op *op = row;
    json_t *array = json_array();
    for (int i = 0; i < op->naxes; i++)
        array = json_append(array, json_text(op->axes[i].name));
    return array;
}

static json_t *optional_axes(const void *row)
{
    const struct op *op = row;
    json_t *array = json_array();
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].preset)
            array = json_append(array, json_text(op->axes[i].name));
    return array;
}

static json_t *check_kinds(const void *row)
{
    static const char *const kinds[] = { [CHECK_EXACT] = "exact", [CHECK_SUM] = "sum", [CHECK_CLOSE] = "close" };
    const struct op *op = row;
    json_t *object = json_object();
    for (int i = 0; i < op->nargs; i++)
        if (arg_is_written(&op->args[i]))
            object = json_with(object, op->args[i].name, json_text(kinds[op_arg_check(op, i)->kind]));
    return object;
}

static json_t *type_names(const void *row)
{
    const struct op *op = row;
    json_t *array = json_array();
    for (int i = 0; i < op->nrows; i++)
        array = json_append(array, json_text(op->rows[i * op->ntypes]->name));
    return array;
}

static json_t *variant_names(const void *row)
{
    const struct op *op = row;
    json_t *array = json_array();
    for (int i = 0; i < op->nvariants; i++)
        array = json_append(array, json_text(op->variants[i].name));
    return array;
}

static const struct row_column columns[] = {
    { "op", "op", FIELD(struct op, name) },
    { "file", FIELD(struct op, file) },
    { "problem", "sizes", .json = axis_names },
    { "optional", .json = optional_axes },
    { "types", "types", .json = type_names },
    { "check", .json = check_kinds },
    { "variants", "variants", .json = variant_names },
    { 0 },
};

static int list_ops(struct request *r, struct err *err)
{
    char **all = NULL;
    int n = r->args.ops.n, failed = 0, rc = n ? 0 : script_names("ops", &all, &n, err);
    if (rc)
        return rc;
    struct rows rows = rows_of(columns, r->args.json);
    for (int i = 0; !rc && i < n; i++) {
        rc = request_op(r, all ? all[i] : r->args.ops.at[i], err);
        if (!rc) {
            rows_add(&rows, "", r->op);
        } else if (all) { /* the others can be listed all the same */
            failed = complain("%s", err->msg);
            rc = 0;
        }
    }
    mem_free(all);
    return rows_end(&rows, rc, err) ?: failed;
}

const struct command ops_command = {
    .name = "ops",
    .summary = "the ops that are known",
    .options = OPTIONS({ "op", EACH(ops), "NAME|FILE.lua", 0,
                         "Only this op, or a script's; may be given again. Without it all that are installed", 0 },
                       { OPT_JSON }),
    .doc = "Lists the ops that are installed, with their sizes, element types and variants. "
           "A script of your own is named by its file: --op ./my_op.lua"
           "\vExamples:\n"
           "  cutune ops\n"
           "  cutune ops --op ./my_op.lua --json",
    .run = list_ops,
};
