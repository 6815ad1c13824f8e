/* `cutune ops`: the ops whose scripts are installed. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/text.h"
#include "op/load.h"

static const struct argp_option options[] = { OPT_JSON, OPT_END };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return args_key(key, arg, state->input, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Lists the ops that are installed, with their sizes, element types and variants.\n"
           "A script of your own is named by its file: --op ./my_op.lua"
           "\vExamples:\n"
           "  cutune ops\n"
           "  cutune ops --json",
};

static const char *axis_name(const struct op *op, int i)
{
    return op->axes[i].name;
}

static const char *row_name(const struct op *op, int i)
{
    return op->rows[i * op->ntypes]->name;
}

static const char *variant_name(const struct op *op, int i)
{
    return op->variants[i].name;
}

static void names_cell(struct table *table, const struct op *op, int n, const char *(*name)(const struct op *, int))
{
    struct buf text = { 0 };
    for (int i = 0; i < n; i++)
        buf_fmt(&text, "%s%s", i ? " " : "", name(op, i));
    table_cell(table, "%s", buf_text(&text));
    buf_free(&text);
}

static json_t *names_json(const struct op *op, int n, const char *(*name)(const struct op *, int))
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        array = json_append(array, json_text(name(op, i)));
    return array;
}

static void add_row(struct table *table, const struct op *op)
{
    table_cell(table, "%s", op->name);
    names_cell(table, op, op->naxes, axis_name);
    names_cell(table, op, op->nrows, row_name);
    names_cell(table, op, op->nvariants, variant_name);
}

static json_t *op_json(const struct op *op)
{
    json_t *o = json_object();
    o = json_with(o, "op", json_text(op->name));
    o = json_with(o, "file", json_text(op->file));
    o = json_with(o, "problem", names_json(op, op->naxes, axis_name));
    o = json_with(o, "types", names_json(op, op->nrows, row_name));
    return json_with(o, "variants", names_json(op, op->nvariants, variant_name));
}

int cmd_ops(int argc, char **argv)
{
    struct args args = { 0 };
    struct err err = { 0 };
    char **names = NULL;
    int n = 0, code = DONE;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    if (op_names(&names, &n, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    json_t *array = json_array();
    struct table table = { .align = "llll" };
    const char *const heads[] = { "op", "sizes", "types", "variants" };
    for (int i = 0; i < 4; i++)
        table_cell(&table, "%s", heads[i]);
    for (int i = 0; i < n; i++) {
        struct op *op = NULL;
        if (op_load(names[i], &op, &err) == 0) {
            add_row(&table, op);
            array = json_append(array, op_json(op));
        } else {
            code = complain(FAILED, "%s", err.msg);
        }
        op_free(op);
        mem_free(names[i]);
    }
    mem_free(names);
    int printed = args.json ? json_print(array) : table_print(&table, 0, stdout);
    if (!args.json)
        json_decref(array);
    buf_free(&table.cells);
    return code ? code : printed;
}
