/* `cutune list`: the winners that are stored, by device; or all that was measured. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/measurements.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "cli/wanted.h"

struct list_args {
    struct args args;
    bool measurements, wanted;
};

enum { KEY_MEASUREMENTS = KEY_OWN, KEY_WANTED };

static const struct argp_option options[] = {
    { "measurements", KEY_MEASUREMENTS, NULL, 0, "Every configuration that was tried, with its outcome and the reason", 0 },
    { "wanted", KEY_WANTED, NULL, 0, "What applications asked for and got no exact answer to: `cutune run --wanted` tunes it", 0 },
    OPT_OP,
    OPT_SHAPE("Only of this problem of --op"),
    OPT_DTYPE("Only for these element types of --op"),
    OPT_DB,
    OPT_JSON,
    OPT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct list_args *list = state->input;
    if (key == KEY_MEASUREMENTS) {
        list->measurements = true;
        return 0;
    }
    if (key == KEY_WANTED) {
        list->wanted = true;
        return 0;
    }
    if (key == ARGP_KEY_END && list->measurements && list->wanted)
        args_error(state, "--measurements and --wanted: one of them at a time");
    if (key == ARGP_KEY_END && !list->args.op && (list->args.nshapes || list->args.ndtypes))
        args_error(state, "%s needs --op: sizes and types are those of an op", list->args.nshapes ? "--shape" : "--dtype");
    return args_key(key, arg, &list->args, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Lists what is tuned: the winner of each problem; with --measurements all that was tried, and why it failed;\n"
           "with --wanted what applications asked for, how often, and what that costs them."
           "\vThe last column says 'warm' where the data was in the cache when it was timed,\n"
           "'stale' where the op has changed since and the result is not used any more, and 'changed'\n"
           "where the source of its variant has: it is used until the problem is tuned again.\n\n"
           "Examples:\n"
           "  cutune list\n"
           "  cutune list --db tuned.db --json\n"
           "  cutune list --measurements --op ./my_op.lua --shape n=1000000",
};

static double gb_per_s(const struct listed *l)
{
    double v = l->time_ns > 0 ? l->bytes / l->time_ns : 0;
    return isfinite(v) ? v : 0;
}

static void speed_cells(struct table *table, const struct listed *l)
{
    double flops = l->time_ns > 0 ? l->flops / l->time_ns : 0;
    table_cell(table, "%s", text_speed(gb_per_s(l), isfinite(flops) ? flops : 0));
    if (l->time_ns > 0 && l->copy_ns > 0 && l->bytes > 0 && isfinite(100 * l->copy_ns / l->time_ns))
        table_cell(table, "%.0f%%", 100 * l->copy_ns / l->time_ns);
    else
        table_cell(table, "%s", "");
}

static void device_text(struct buf *out, const struct listed *l)
{
    buf_fmt(out, "%s: %s (%s)", l->backend, l->device, l->arch);
}

/* The listing so far: a table for each device, in the order in which they come up. */
struct tables {
    const struct filter *filter;
    struct table *table;
    char **device;
    int n;
};

static struct table *table_for(struct tables *all, const struct listed *l)
{
    struct buf name = { 0 };
    device_text(&name, l);
    int i = 0;
    while (i < all->n && strcmp(all->device[i], buf_text(&name)) != 0)
        i++;
    if (i == all->n) {
        struct table *table = mem_resize(all->table, i + 1, sizeof *table);
        all->table = table ? table : all->table;
        char **device = mem_resize(all->device, i + 1, sizeof *device);
        all->device = device ? device : all->device;
        char *copy = mem_strdup(buf_text(&name));
        if (table && device && copy) {
            all->table[i] = (struct table){ .align = "lllrrrrll" };
            all->device[i] = copy;
            all->n++;
        } else {
            mem_free(copy);
        }
    }
    buf_free(&name);
    return i < all->n ? &all->table[i] : NULL;
}

static int add_row(void *arg, const struct listed *l)
{
    const struct tables *all = arg;
    if (!filter_is(all->filter, l->op, l->types, l->problem))
        return 0;
    struct table *t = table_for(arg, l);
    if (!t)
        return ERR_NOMEM;
    if (!t->n) {
        const char *const heads[] = { "op", "types", "problem", "time", "speed", "of copy", "right", "configuration", "" };
        for (int i = 0; i < 9; i++)
            table_cell(t, "%s", heads[i]);
    }
    table_cell(t, "%s", l->op);
    table_cell(t, "%s", l->types);
    table_cell(t, "%s", l->problem);
    table_cell(t, "%s", text_time(l->time_ns));
    speed_cells(t, l);
    table_cell(t, "%d of %d", l->ok, l->measured);
    table_cell(t, "%s %s", l->variant, l->config);
    const char *state = l->stale ? "stale" : l->changed ? "changed" : "";
    bool warm = strcmp(l->cache, "warm") == 0;
    table_cell(t, "%s%s%s", warm ? "warm" : "", warm && *state ? ", " : "", state);
    return 0;
}

static int winners_print(struct store *store, const struct filter *filter, struct err *err)
{
    struct tables all = { .filter = filter };
    int rc = store_each_winner(store, add_row, &all, err);
    for (int i = 0; i < all.n; i++) {
        if (rc == 0) {
            if (i)
                text_line("%s", "");
            text_line("%s", all.device[i]);
            table_print(&all.table[i], 2, stdout);
        }
        buf_free(&all.table[i].cells);
        mem_free(all.device[i]);
    }
    if (rc == 0 && !all.n)
        text_line("%s in %s: cutune run --op NAME", filter->op.len ? "no such result" : "nothing is tuned yet", store_path(store));
    mem_free(all.table);
    mem_free(all.device);
    return rc;
}

struct gathering {
    const struct filter *filter;
    json_t **array;
};

static int add_object(void *arg, const struct listed *l)
{
    struct gathering *g = arg;
    if (!filter_is(g->filter, l->op, l->types, l->problem))
        return 0;
    json_t *o = json_object(), *config = json_object();
    for (int i = 0; i < l->nparams; i++)
        config = json_with(config, l->params[i].name, json_val(l->params[i].value));
    o = json_with(o, "backend", json_text(l->backend));
    o = json_with(o, "device", json_text(l->device));
    o = json_with(o, "arch", json_text(l->arch));
    o = json_with(o, "op", json_text(l->op));
    o = json_with(o, "dtype", json_text(l->types));
    o = json_with(o, "problem", json_text(l->problem));
    o = json_with(o, "cache", json_text(l->cache));
    o = json_with(o, "variant", json_text(l->variant));
    o = json_with(o, "config", config);
    o = json_with(o, "time_ns", json_positive(l->time_ns));
    o = json_with(o, "gb_per_s", json_positive(gb_per_s(l)));
    o = json_with(o, "copy_gb_per_s", json_positive(l->copy_ns > 0 ? l->bytes / l->copy_ns : 0));
    o = json_with(o, "measured", json_integer(l->measured));
    o = json_with(o, "ok", json_integer(l->ok));
    o = json_with(o, "stale", json_boolean(l->stale));
    o = json_with(o, "changed", json_boolean(l->changed));
    *g->array = json_append(*g->array, json_with(o, "when", json_text(l->when)));
    return *g->array ? 0 : ERR_NOMEM;
}

static int winners_json(struct store *store, const struct filter *filter, json_t **array, struct err *err)
{
    return store_each_winner(store, add_object, &(struct gathering){ .filter = filter, .array = array }, err);
}

int cmd_list(int argc, char **argv)
{
    struct list_args list = { 0 };
    struct err err = { 0 };
    struct store *store = NULL;
    struct filter filter = { 0 };
    json_t *array = NULL;
    int rc = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &list);
    bool json = list.args.json;
    int code = filter_read(&list.args, &filter);
    if (code == DONE)
        code = database_read(&list.args, &store);
    if (code == DONE && json)
        array = json_array();
    else if (code == DONE && !store)
        text_line("%s", list.wanted ? "nothing is wanted" : "nothing is tuned yet: cutune run --op NAME");
    if (store && json)
        rc = (list.measurements ? measurements_json : list.wanted ? wanted_json : winners_json)(store, &filter, &array, &err);
    else if (store)
        rc = (list.measurements ? measurements_print : list.wanted ? wanted_print : winners_print)(store, &filter, &err);
    if (rc)
        code = complain(FAILED, "%s", rc == ERR_NOMEM ? "out of memory" : err.msg);
    if (code == DONE && json)
        code = json_print(array);
    else
        json_decref(array);
    code = database_done(store, code);
    store_close(store);
    filter_free(&filter);
    return code;
}
