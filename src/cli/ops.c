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
    { "types", "types", .json = type_names },
    { "variants", "variants", .json = variant_names },
    { 0 },
};

static int list_ops(struct request *r, struct err *err)
{
    char **names = NULL;
    int n = 0, failed = 0, rc = script_names("ops", &names, &n, err);
    if (rc)
        return rc;
    struct rows rows = rows_of(columns, r->args.json);
    for (int i = 0; i < n; i++) {
        if (request_op(r, names[i], err))
            failed = complain("%s", err->msg);
        else
            rows_add(&rows, "", r->op);
    }
    mem_free(names);
    return rows_end(&rows, 0, err) ?: failed;
}

const struct command ops_command = {
    .name = "ops",
    .summary = "the ops that are known",
    .options = OPTIONS({ OPT_JSON }),
    .doc = "Lists the ops that are installed, with their sizes, element types and variants. "
           "A script of your own is named by its file: --op ./my_op.lua"
           "\vExamples:\n"
           "  cutune ops\n"
           "  cutune ops --json",
    .run = list_ops,
};
