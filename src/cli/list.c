/* `cutune list`: the winners that are stored, by device. */
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"

static const struct argp_option options[] = { OPT_DB, OPT_JSON, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return args_key(key, arg, state->input, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Lists what is tuned: the winner of each problem."
           "\vThe last column says 'warm' where the data was in the cache when it was timed,\n"
           "and 'stale' where the op has changed since and the result is not used any more.\n\n"
           "Examples:\n"
           "  cutune list\n"
           "  cutune list --db tuned.db --json",
};

static double gb_per_s(const struct listed *l)
{
    return l->time_ns > 0 ? l->bytes / l->time_ns : 0;
}

static void speed_cells(struct table *table, const struct listed *l)
{
    table_cell(table, "%s", text_speed(gb_per_s(l), l->time_ns > 0 ? l->flops / l->time_ns : 0));
    if (l->time_ns > 0 && l->copy_ns > 0 && l->bytes > 0)
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
    table_cell(t, "%s", l->stale ? "stale" : strcmp(l->cache, "warm") == 0 ? "warm" : "");
    return 0;
}

static int list_print(struct store *store, struct err *err)
{
    struct tables all = { 0 };
    int rc = store_each_winner(store, add_row, &all, err);
    for (int i = 0; i < all.n; i++) {
        if (rc == 0) {
            printf("%s%s\n", i ? "\n" : "", all.device[i]);
            table_print(&all.table[i], 2, stdout);
        }
        buf_free(&all.table[i].cells);
        mem_free(all.device[i]);
    }
    if (rc == 0 && !all.n)
        printf("nothing is tuned yet in %s: cutune run --op NAME\n", store_path(store));
    mem_free(all.table);
    mem_free(all.device);
    return rc;
}

static int add_object(void *arg, const struct listed *l)
{
    json_t **array = arg, *o = json_object(), *config = json_object();
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
    *array = json_append(*array, json_with(o, "when", json_text(l->when)));
    return *array ? 0 : ERR_NOMEM;
}

int cmd_list(int argc, char **argv)
{
    struct args args = { 0 };
    struct err err = { 0 };
    struct store *store = NULL;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    json_t *array = args.json ? json_array() : NULL;
    int code = database_read(&args, &store);
    if (code == DONE && !store && !args.json)
        puts("nothing is tuned yet: cutune run --op NAME");
    int rc = !store ? 0 : args.json ? store_each_winner(store, add_object, &array, &err) : list_print(store, &err);
    if (rc)
        code = complain(FAILED, "%s", rc == ERR_NOMEM ? "out of memory" : err.msg);
    if (code == DONE && args.json)
        code = json_print(array);
    else
        json_decref(array);
    store_close(store);
    return code;
}
