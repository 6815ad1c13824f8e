/* `cutune list`: the winners that are stored, all that was tried, or what applications want. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "export/export.h"

/* What is listed: the op, types and problem as the database writes them; empty: any. */
struct filter {
    struct buf op, types, problem;
};

/* From --op, --shape and --dtype. */
static int filter_read(const struct args *args, struct filter *out, struct err *err)
{
    struct targets t = { 0 };
    bool limited = args->shapes.n || args->dtypes.n, is_name = args->op && !strchr(args->op, '/') && !strchr(args->op, '.');
    if (!args->op && limited)
        return err_set(err, ERR_USAGE, "%s needs --op: sizes and types are those of an op", args->shapes.n ? "--shape" : "--dtype");
    if (!args->op)
        return 0;
    if (is_name && !limited) { /* stored, perhaps from a script that is elsewhere */
        buf_str(&out->op, args->op);
        return 0;
    }
    int rc = targets_op(args, &t, err) ?: targets_words(args, &t, err);
    if (!rc)
        buf_str(&out->op, t.op->name);
    if (!rc && args->dtypes.n)
        op_row_print(&out->types, t.op, t.rows[0]);
    if (!rc && args->shapes.n)
        problem_print(&out->problem, t.op, &t.problems[0]);
    targets_free(&t);
    return rc;
}

static void filter_free(struct filter *f)
{
    buf_free(&f->op);
    buf_free(&f->types);
    buf_free(&f->problem);
}

static bool fits(const struct buf *filter, const char *text)
{
    return !filter->len || strcmp(buf_text(filter), text) == 0;
}

/* A listing as it grows: JSON, or a table for each title. */
struct list_rows {
    const struct kind *kind;
    struct filter filter;
    bool json;
    struct section {
        struct buf title;
        struct rows rows;
    } * sections;
    int n;
    struct err *err;
};

struct kind {
    const struct row_column *columns;
    void (*title)(struct buf *out, const void *row); /* of the table that a row belongs to */
    int (*each)(struct store *s, struct list_rows *l);
    const char *none, *none_such; /* what is said of a database that has none */
};

/* Rows of one table need not follow each other, though most do. */
static struct rows *rows_for(struct list_rows *l, const void *row)
{
    struct buf title = { 0 };
    if (!l->json)
        l->kind->title(&title, row);
    int i = l->n - 1;
    while (i >= 0 && strcmp(buf_text(&l->sections[i].title), buf_text(&title)) != 0)
        i--;
    if (i < 0 && !title.failed && mem_grow((void **)&l->sections, l->n, sizeof *l->sections)) {
        i = l->n++;
        l->sections[i] = (struct section){ .title = title, .rows = rows_of(l->kind->columns, l->json) };
    } else {
        buf_free(&title);
    }
    return i < 0 ? NULL : &l->sections[i].rows;
}

static int add_row(struct list_rows *l, const char *op, const char *types, const char *problem, const void *row)
{
    if (!fits(&l->filter.op, op) || !fits(&l->filter.types, types) || !fits(&l->filter.problem, problem))
        return 0;
    struct rows *rows = rows_for(l, row);
    if (!rows)
        return err_nomem(l->err);
    rows_add(rows, row);
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
    return add_row(listing, w->op, w->types, w->problem, w);
}

static int each_winner(struct store *s, struct list_rows *l)
{
    return store_each_winner(s, add_winner, l, l->err);
}

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
    return add_row(listing, t->op, t->types, t->problem, t);
}

static int each_tried(struct store *s, struct list_rows *l)
{
    return store_each_tried(s, add_tried, l, l->err);
}

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
    return add_row(listing, w->op, w->types, w->sizes, w);
}

static int each_wanted(struct store *s, struct list_rows *l)
{
    return store_each_wanted(s, NULL, add_wanted, l, l->err);
}

/* ---------------------------------------------------------------------------------------------------------------- the command */

static const struct kind winners = { winner_columns, winner_title, each_winner, "nothing is tuned yet in %s: cutune run --op NAME",
                                     "no such result in %s: cutune run --op NAME" };
static const struct kind measurements = { tried_columns, tried_title, each_tried,
                                          "no such measurement in %s: `cutune run` makes them",
                                          "no such measurement in %s: `cutune run` makes them" };
static const struct kind wanted = { wanted_columns, wanted_title, each_wanted, "nothing is wanted in %s",
                                    "nothing of that is wanted in %s" };

static int print_sections(struct list_rows *l, int rc)
{
    for (int i = 0; i < l->n; i++) {
        if (i && !rc)
            text_line("%s", "");
        if (!l->json && !rc)
            text_line("%s", buf_text(&l->sections[i].title));
        rc = rows_end(&l->sections[i].rows, 2, rc, l->err);
        buf_free(&l->sections[i].title);
    }
    mem_free(l->sections);
    return rc;
}

static void say_none(const struct list_rows *l, const struct store *store)
{
    if (l->json)
        puts("[]");
    else if (!store)
        text_line(l->kind == &wanted ? "nothing is wanted" : "nothing is tuned yet: cutune run --op NAME");
    else
        text_line(l->filter.op.len ? l->kind->none_such : l->kind->none, store_path(store));
}

static int list(const struct args *args, struct err *err)
{
    struct store *store = NULL;
    struct list_rows l = { .kind = args->measurements ? &measurements
                                   : args->wanted     ? &wanted
                                                      : &winners,
                           .json = args->json,
                           .err = err };
    if (args->measurements && args->wanted)
        return err_set(err, ERR_USAGE, "--measurements and --wanted: one of them at a time");
    int rc = filter_read(args, &l.filter, err) ?: database_read(args, &store, err);
    if (!rc && store)
        rc = l.kind->each(store, &l);
    if (!rc && !l.n)
        say_none(&l, store);
    rc = database_done(store, print_sections(&l, rc));
    store_close(store);
    filter_free(&l.filter);
    return rc;
}

static const struct argp_option options[] = {
    { "measurements", FLAG(measurements), NULL, 0, "Every configuration that was tried, with its outcome and the reason", 0 },
    { "wanted", FLAG(wanted), NULL, 0, "What applications asked for and got no exact answer to: `cutune run --wanted` tunes it",
      0 },
    { "op", WORD(op), "NAME|FILE.lua", 0, "Only of this op", 0 },
    { OPT_SHAPE("Only of this problem of --op") },
    { OPT_DTYPE("Only for these element types of --op") },
    { OPT_DB },
    { OPT_JSON },
    { OPT_HELP },
    { 0 },
};

const struct command list_command = {
    .name = "list",
    .summary = "what is tuned so far",
    .options = options,
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
