/* `cutune list`: the winners that are stored, all that was tried, or what applications want. */
#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "export/export.h"

/* A listing as it grows. */
struct listing {
    struct buf filter[FILTERS]; /* what is listed, as the database writes it; empty: any */
    struct rows rows;
    bool csv;
    struct buf text; /* the CSV */
    int64_t n;
};

static bool fits(const struct listing *l, const char *op, const char *types, const char *problem)
{
    const char *const has[FILTERS] = { [FILTER_OP] = op, [FILTER_TYPES] = types, [FILTER_PROBLEM] = problem };
    bool fit = true;
    for (int i = 0; i < FILTERS; i++)
        fit = fit && (!l->filter[i].len || !strcmp(l->filter[i].data, has[i]));
    return fit;
}

/* The title is that of the table which the row belongs to. */
static int __attribute__((format(printf, 3, 4))) add_row(struct listing *l, const void *row, const char *title_fmt, ...)
{
    struct buf title = { 0 };
    va_list args;
    l->n++;
    if (l->csv) {
        columns_csv(&l->text, l->rows.columns, IN_LIST, row);
        return 0;
    }
    va_start(args, title_fmt);
    buf_vfmt(&title, title_fmt, args);
    va_end(args);
    rows_add(&l->rows, buf_text(&title), row);
    buf_free(&title);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- winners */

static int add_winner(void *listing, const struct listed *w)
{
    bool fit = fits(listing, w->op, w->types, w->problem);
    return fit ? add_row(listing, w, "%s: %s (%s)", w->backend, w->device, w->arch) : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- measurements */

static int add_tried(void *listing, const struct listed *t)
{
    bool fit = fits(listing, t->op, t->types, t->problem);
    return fit ? add_row(listing, t, "%s %s %s on %s: %s (%s)%s%s%s%s", t->op, t->types, t->problem, t->backend, t->device, t->arch,
                         !strcmp(t->cache, "warm") ? ", warm" : "", t->stale ? ", stale" : "", *t->reference ? ", reference " : "",
                         t->reference)
               : 0;
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
    { "time_ns", "time", FIELD(struct wanted_problem, time_ns), .unit = text_time },
    { "total_ns", "in all", .number = total_ns, .unit = text_time },
    { "last", FIELD(struct wanted_problem, last) },
    { 0 },
};

static int add_wanted(void *listing, const struct wanted_problem *w)
{
    const struct devspec *d = &w->dev;
    bool fit = fits(listing, w->op, w->types, w->sizes);
    return fit ? add_row(listing, w, "%s: %s (%s%s%s)", d->backend, d->name, d->arch, *d->mig ? ", " : "", d->mig) : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- claims */

static int add_claim(void *listing, const struct record *c)
{
    bool fit = fits(listing, c->op, c->types, c->sizes), named = *c->dev.name;
    return fit ? add_row(listing, c, "%s %s %s on %s%s%s%s%s%s", c->op, c->types, c->sizes, c->dev.backend,
                         *c->dev.backend ? ": " : "", named ? c->dev.name : "an unnamed device", *c->dev.arch ? " (" : "",
                         c->dev.arch, *c->dev.arch ? ")" : "")
               : 0;
}

/* ---------------------------------------------------------------------------------------------------------------- the command */

/* What is said if the list is empty: the database has none, or none that fits the options, or there is no database. */
static const struct kind {
    const struct row_column *columns;
    const char *none, *none_such, *no_database;
} winners = { winner_columns, "nothing is tuned yet in %s: cutune run --op NAME", "no such result in %s: cutune run --op NAME",
              "nothing is tuned yet: cutune run --op NAME" },
  measurements = { tried_columns, "no such measurement in %s: `cutune run` makes them",
                   "no such measurement in %s: `cutune run` makes them", "nothing is tuned yet: cutune run --op NAME" },
  wanted = { wanted_columns, "nothing is wanted in %s", "nothing of that is wanted in %s", "nothing is wanted" },
  claims = { claim_columns, "no claims in %s: `cutune import` takes them from files",
             "no such claims in %s: `cutune import` takes them from files", "no claims: `cutune import` takes them from files" };

static int list(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    if (args->measurements + args->wanted + args->claims > 1)
        return err_set(err, ERR_USAGE, "--measurements, --wanted and --claims: one of them at a time");
    if (args->csv && args->json)
        return err_set(err, ERR_USAGE, "--csv and --json: one of them at a time");
    const struct kind *kind = args->measurements ? &measurements : args->wanted ? &wanted : args->claims ? &claims : &winners;
    struct listing l = { .rows = rows_of(kind->columns, args->json), .csv = args->csv };
    if (l.csv)
        columns_csv(&l.text, kind->columns, IN_LIST, NULL);
    int rc = request_filter(r, args->op, l.filter, err) ?: request_read(r, err);
    if (!rc && r->store)
        rc = args->measurements ? store_each_tried(r->store, add_tried, &l, err)
             : args->wanted     ? store_each_wanted(r->store, NULL, add_wanted, &l, err)
             : args->claims     ? store_each_record(r->store, true, NULL, NULL, NULL, add_claim, &l, err)
                                : store_each_winner(r->store, add_winner, &l, err);
    if (l.csv)
        rc = rc ?: buf_check(&l.text, err) ?: output_write(NULL, &l.text, err);
    else if (rc || l.n || args->json)
        rc = rows_end(&l.rows, rc, err);
    else if (!r->store)
        text_line("%s", kind->no_database);
    else
        text_line(l.filter[FILTER_OP].len ? kind->none_such : kind->none, store_path(r->store));
    for (int i = 0; i < FILTERS; i++)
        buf_free(&l.filter[i]);
    buf_free(&l.text);
    return request_damage(r, rc);
}

const struct command list_command = {
    .name = "list",
    .summary = "what is tuned so far",
    .options = OPTIONS(
        { "measurements", FLAG(measurements), NULL, 0, "Every configuration that was tried, with its outcome and the reason", 0 },
        { "wanted", FLAG(wanted), NULL, 0, "What applications asked for and got no exact answer to: `cutune run --wanted` tunes it",
          0 },
        { "claims", FLAG(claims), NULL, 0, "What imported files say, and what came of it here: `cutune run --verify` measures it",
          0 },
        { "op", WORD(op), "NAME|FILE.lua", 0, "Only of this op", 0 }, { OPT_INCLUDE },
        { OPT_SHAPE("Only of this problem of --op") }, { OPT_DTYPE("Only for these element types of --op") }, { OPT_DB },
        { OPT_JSON }, { "csv", FLAG(csv), NULL, 0, "Print CSV, safe for spreadsheets: see `cutune export`", 0 }),
    .doc = "Lists what is tuned: the winner of each problem. With --measurements it lists all that was tried, "
           "and why what failed did so; with --wanted what applications asked for, how often, and what that "
           "costs them; with --claims what `cutune import` took from files, and whether it holds here."
           "\vThe last column says 'warm' if the data was in the cache when it was timed; 'with ...' what scalars "
           "and files of data it was tuned with; 'stale' if the op has changed since, so that the result is not "
           "used any more; 'changed' if the source of its variant has changed: then it is used until the "
           "problem is tuned again; 'pinned' what `cutune pin` keeps; 'for this problem only' if it was "
           "compared for no other. No script is read: what has changed in one shows after the next run of its "
           "op, which says so, too. Measurements are in the order of their "
           "times. Where the winner is not the first its row says why: of those that cannot be told apart the "
           "first of the space is taken, and times that were not taken beside it, in the play-off, do not count.\n\n"
           "Examples:\n"
           "  cutune list\n"
           "  cutune list --db tuned.db --json\n"
           "  cutune list --measurements --op ./my_op.lua --shape n=1000000",
    .run = list,
};
