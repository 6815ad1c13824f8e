/* `cutune list`: the winners that are stored, all that was tried, or what applications want. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "export/export.h"

enum { FILTERS = 3 };
static const char *const filter_keys[FILTERS] = { "op", "dtype", "problem" };

/* A listing as it grows. */
struct listing {
    const struct kind *kind;
    struct buf filter[FILTERS]; /* what is listed, as the database writes it; empty: any */
    struct rows rows;
    int64_t n;
};

struct kind {
    const struct row_column *columns;
    void (*title)(struct buf *out, const void *row); /* of the table that a row belongs to */
    const char *none, *none_such, *no_database;      /* what is said of a database that has none, and if there is no database */
};

/* From --op, --shape and --dtype. */
static int filter_read(struct request *r, struct buf *filter, struct err *err)
{
    const struct args *args = &r->args;
    bool limited = args->shapes.n || args->dtypes.n, is_name = args->op && !strchr(args->op, '/') && !strchr(args->op, '.');
    if (!args->op && limited)
        return err_set(err, ERR_USAGE, "%s needs --op: sizes and types are those of an op", args->shapes.n ? "--shape" : "--dtype");
    if (!args->op)
        return 0;
    if (is_name && !limited) { /* stored, perhaps from a script that is elsewhere */
        buf_str(&filter[0], args->op);
        return 0;
    }
    int rc = request_op(r, args->op, err) ?: request_words(r, err);
    if (rc)
        return rc;
    buf_str(&filter[0], r->op->name);
    if (args->dtypes.n)
        op_row_print(&filter[1], r->op, r->rows[0]);
    if (args->shapes.n)
        problem_print(&filter[2], r->op, &r->problems[0]);
    return 0;
}

static bool fits(const struct listing *l, const void *row)
{
    bool fit = true;
    for (int i = 0; fit && i < FILTERS; i++) {
        const struct row_column *c = l->kind->columns;
        while (l->filter[i].len && (!c->key || strcmp(c->key, filter_keys[i])))
            c++;
        fit = !l->filter[i].len || !strcmp(column_value(c, row, NULL).s, l->filter[i].data);
    }
    return fit;
}

static int add_row(struct listing *l, const void *row)
{
    struct buf title = { 0 };
    if (!fits(l, row))
        return 0;
    l->kind->title(&title, row);
    rows_add(&l->rows, buf_text(&title), row);
    buf_free(&title);
    l->n++;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- winners */

static void winner_title(struct buf *out, const void *row)
{
    const struct listed *w = row;
    buf_fmt(out, "%s: %s (%s)", w->backend, w->device, w->arch);
}

static int add_winner(void *listing, const struct listed *w)
{
    return add_row(listing, w);
}

static const struct kind winners = { winner_columns, winner_title, "nothing is tuned yet in %s: cutune run --op NAME",
                                     "no such result in %s: cutune run --op NAME", "nothing is tuned yet: cutune run --op NAME" };

/* ---------------------------------------------------------------------------------------------------------------- measurements */

static json_t *config_json(const void *row)
{
    return json_stored(((const struct tried *)row)->json);
}

static void outcome(struct buf *out, const void *row)
{
    const struct tried *t = row;
    buf_str(out, outcome_name(t->outcome));
}

static void configuration(struct buf *out, const void *row)
{
    const struct tried *t = row;
    buf_fmt(out, "%s %s", t->variant, t->config);
}

static const struct row_column tried_columns[] = {
    { "backend", FIELD(struct tried, backend) },
    { "device", FIELD(struct tried, device) },
    { "arch", FIELD(struct tried, arch) },
    { "op", FIELD(struct tried, op) },
    { "dtype", FIELD(struct tried, types) },
    { "problem", FIELD(struct tried, problem) },
    { "cache", FIELD(struct tried, cache) },
    { "variant", FIELD(struct tried, variant) },
    { "config", .json = config_json },
    { "outcome", "outcome", .text = outcome },
    { .head = "time", FIELD(struct tried, time_ns), .unit = UNIT_NS },
    { .head = "configuration", .text = configuration },
    { "reason", "reason", FIELD(struct tried, reason) },
    { "time_ns", FIELD(struct tried, time_ns) },
    { "stale", FIELD(struct tried, stale) },
    { 0 },
};

static void tried_title(struct buf *out, const void *row)
{
    const struct tried *t = row;
    buf_fmt(out, "%s %s %s on %s: %s (%s)%s%s", t->op, t->types, t->problem, t->backend, t->device, t->arch,
            strcmp(t->cache, "warm") == 0 ? ", warm" : "", t->stale ? ", stale" : "");
}

static int add_tried(void *listing, const struct tried *t)
{
    return add_row(listing, t);
}

static const struct kind measurements = { tried_columns, tried_title, "no such measurement in %s: `cutune run` makes them",
                                          "no such measurement in %s: `cutune run` makes them",
                                          "nothing is tuned yet: cutune run --op NAME" };

/* ---------------------------------------------------------------------------------------------------------------- wanted */

static double total_ns(const void *row)
{
    const struct wanted_problem *w = row;
    return w->time_ns * (double)w->count;
}

static const struct row_column wanted_columns[] = {
    { "backend", FIELD(struct wanted_problem, dev.backend) },
    { "device", FIELD(struct wanted_problem, dev.name) },
    { "arch", FIELD(struct wanted_problem, dev.arch) },
    { "op", "op", FIELD(struct wanted_problem, op) },
    { "dtype", "types", FIELD(struct wanted_problem, types) },
    { "problem", "problem", FIELD(struct wanted_problem, sizes) },
    { "count", "count", FIELD(struct wanted_problem, count) },
    { "time_ns", "time", FIELD(struct wanted_problem, time_ns), .unit = UNIT_NS },
    { "total_ns", "in all", .number = total_ns, .unit = UNIT_NS },
    { "last", FIELD(struct wanted_problem, last) },
    { 0 },
};

static void wanted_title(struct buf *out, const void *row)
{
    const struct devspec *d = &((const struct wanted_problem *)row)->dev;
    buf_fmt(out, "%s: %s (%s%s%s)", d->backend, d->name, d->arch, *d->mig ? ", " : "", d->mig);
}

static int add_wanted(void *listing, const struct wanted_problem *w)
{
    return add_row(listing, w);
}

static const struct kind wanted = { wanted_columns, wanted_title, "nothing is wanted in %s", "nothing of that is wanted in %s",
                                    "nothing is wanted" };

/* ---------------------------------------------------------------------------------------------------------------- the command */

static void say_none(const struct listing *l, const struct store *store)
{
    const struct kind *k = l->kind;
    if (!store)
        text_line("%s", k->no_database);
    else
        text_line(l->filter[0].len ? k->none_such : k->none, store_path(store));
}

static int list(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    if (args->measurements && args->wanted)
        return err_set(err, ERR_USAGE, "--measurements and --wanted: one of them at a time");
    const struct kind *kind = args->measurements ? &measurements : args->wanted ? &wanted : &winners;
    struct listing l = { .kind = kind, .rows = rows_of(kind->columns, args->json) };
    int rc = filter_read(r, l.filter, err) ?: request_read(r, err);
    if (!rc && r->store)
        rc = args->measurements ? store_each_tried(r->store, add_tried, &l, err)
             : args->wanted     ? store_each_wanted(r->store, NULL, add_wanted, &l, err)
                                : store_each_winner(r->store, add_winner, &l, err);
    if (!rc && !l.n && !args->json)
        say_none(&l, r->store);
    else
        rc = rows_end(&l.rows, rc, err);
    for (int i = 0; i < FILTERS; i++)
        buf_free(&l.filter[i]);
    return request_damage(r, rc);
}

const struct command list_command = {
    .name = "list",
    .summary = "what is tuned so far",
    .options = OPTIONS(
        { "measurements", FLAG(measurements), NULL, 0, "Every configuration that was tried, with its outcome and the reason", 0 },
        { "wanted", FLAG(wanted), NULL, 0, "What applications asked for and got no exact answer to: `cutune run --wanted` tunes it",
          0 },
        { "op", WORD(op), "NAME|FILE.lua", 0, "Only of this op", 0 }, OPT_SHAPE("Only of this problem of --op"),
        OPT_DTYPE("Only for these element types of --op"), OPT_DB, OPT_JSON),
    .doc = "Lists what is tuned: the winner of each problem. With --measurements it lists all that was tried,\n"
           "and why what failed did so; with --wanted what applications asked for, how often, and what that\n"
           "costs them."
           "\vThe last column says 'warm' if the data was in the cache when it was timed; 'stale' if the op has\n"
           "changed since, so that the result is not used any more; and 'changed' if the source of its variant\n"
           "has changed: then it is used until the problem is tuned again.\n\n"
           "Examples:\n"
           "  cutune list\n"
           "  cutune list --db tuned.db --json\n"
           "  cutune list --measurements --op ./my_op.lua --shape n=1000000",
    .run = list,
};
