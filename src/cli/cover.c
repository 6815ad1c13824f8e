/* `cutune cover`: few kernels for many problems, for an application to ship. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/output.h"
#include "cli/run.h"
#include "device/device.h"
#include "export/cover.h"

enum { USUAL_KERNELS = 8 };

/* What a number of kernels comes to, on one device. */
struct count_row {
    const char *device;
    int kernels, covered, problems;
    double mean, worst; /* shares of the winners' speed */
    struct buf where;
};

static const struct row_column count_columns[] = {
    { "device", FIELD(struct count_row, device) },
    { "kernels", "kernels", FIELD(struct count_row, kernels) },
    { "problems", "problems", FIELD(struct count_row, problems) },
    { "covered", "covered", FIELD(struct count_row, covered) },
    { "mean", "mean", FIELD(struct count_row, mean), .unit = text_share },
    { "worst", "worst", FIELD(struct count_row, worst), .unit = text_share },
    { "worst_problem", "at", FIELD(struct count_row, where) },
    { 0 },
};

/* A problem, its winner, and what it is given in its place. */
struct problem_row {
    const char *device, *types, *problem, *variant, *json;
    struct buf config;
    double winner_ns, time_ns, share;
};

static json_t *given_json(const void *row)
{
    const struct problem_row *p = row;
    return p->json ? json_stored(p->json) : json_null();
}

static void given_text(struct buf *out, const void *row)
{
    const struct problem_row *p = row;
    buf_fmt(out, "%s %s", p->variant ? p->variant : "none: no time of any of them is known here",
            p->variant ? buf_text(&p->config) : "");
}

static const struct row_column problem_columns[] = {
    { "device", FIELD(struct problem_row, device) },
    { "dtype", "types", FIELD(struct problem_row, types) },
    { "problem", "problem", FIELD(struct problem_row, problem) },
    { "winner_ns", "winner", FIELD(struct problem_row, winner_ns), .unit = text_time },
    { "time_ns", "given", FIELD(struct problem_row, time_ns), .unit = text_time },
    { "share", "speed", FIELD(struct problem_row, share), .unit = text_share },
    { "variant", FIELD(struct problem_row, variant) },
    { "config", .json = given_json },
    { .head = "configuration", .text = given_text },
    { 0 },
};

struct covering {
    struct request *request;
    struct op *op;
    struct knowledge *all;
    const char *device; /* a name, an architecture or a backend; null: all */
    int row, most, ndevices;
    struct rows counts, problems, rules;
    struct covered *covered; /* for the table */
    int ncovered;
    struct err *err;
};

/* ---- what is printed */

static void add_count(struct covering *v, struct rows *rows, const char *what, const struct known_device *d, const struct cover *c,
                      const struct cover_loss *l)
{
    struct buf title = { 0 };
    struct count_row row = { .device = d->dev.name, .kernels = c->nchosen, .covered = l->covered, .problems = c->nproblems };
    row.mean = l->covered ? exp(-l->mean) : 0;
    row.worst = l->covered ? exp(-l->worst) : 0;
    if (l->where) {
        op_row_print(&row.where, v->op, l->where->row);
        buf_fmt(&row.where, " %s", l->where->sizes);
    }
    buf_fmt(&title, "%s on %s: %s", v->op->name, d->dev.name, what);
    rows_add(rows, buf_text(&title), &row);
    buf_free(&title);
    buf_free(&row.where);
}

static int add_problem(struct covering *v, const struct known_device *d, const struct cover *c, int p)
{
    const struct tuned_problem *of = c->problems[p];
    const struct cover_kernel *k = c->given[p] < 0 ? NULL : &c->kernels[c->given[p]];
    struct buf types = { 0 }, title = { 0 };
    struct problem_row row = { .device = d->dev.name, .problem = of->sizes, .winner_ns = of->time_ns };
    op_row_print(&types, v->op, of->row);
    row.types = buf_text(&types);
    if (k) {
        row.variant = k->donor->variant;
        row.json = k->donor->json;
        row.share = exp(-cover_lost(c, p));
        row.time_ns = of->time_ns / row.share;
        config_of_json(&row.config, row.json);
    }
    buf_fmt(&title, "%s on %s: each problem", v->op->name, d->dev.name);
    rows_add(&v->problems, buf_text(&title), &row);
    buf_free(&types);
    buf_free(&title);
    buf_free(&row.config);
    if (!k)
        return 0;
    if (!mem_grow((void **)&v->covered, v->ncovered, sizeof *v->covered))
        return err_nomem(v->err);
    v->covered[v->ncovered++] = (struct covered){ of->device_id, of->id, k->donor->id, row.time_ns };
    return 0;
}

/* ---- the choice */

static int cover_device(struct covering *v, const struct known_device *d)
{
    struct cover c;
    struct cover_loss loss;
    int rc = cover_open(v->all, d, v->row, &c, v->err);
    if (!rc && c.types > v->most)
        rc = err_set(v->err, ERR_INVALID,
                     "--kernels %d: the problems on %s are of %d types, and each takes a kernel: more, or --dtype", v->most,
                     d->dev.name, c.types);
    v->ndevices += c.nproblems > 0;
    while (!rc && c.nchosen < v->most && cover_grow(&c)) {
        loss = cover_loss(&c);
        add_count(v, &v->counts, "the share of the winners' speed that this many kernels keep", d, &c, &loss);
    }
    rc = rc ?: cover_left_out(&c, v->op, &loss, v->err);
    if (!rc && c.nproblems) {
        char what[120], some[40] = "";
        if (cover_every(&c) > 1)
            snprintf(some, sizeof some, " (one in %d)", cover_every(&c));
        snprintf(what, sizeof what, "if the look-up has to choose, each problem's own record left out in turn%s", some);
        add_count(v, &v->rules, what, d, &c, &loss);
    }
    for (int p = 0; !rc && p < c.nproblems; p++)
        rc = add_problem(v, d, &c, p);
    cover_close(&c);
    return rc;
}

static bool device_chosen(const struct covering *v, const struct devspec *d)
{
    return !v->device || !strcmp(v->device, d->backend) || !strcmp(v->device, d->name) || !strcmp(v->device, d->arch);
}

static int cover_devices(struct covering *v)
{
    const struct knowledge *all = v->all;
    int rc = 0;
    for (int i = 0; !rc && i < all->ndevices; i++)
        if (device_chosen(v, &all->devices[i].dev))
            rc = cover_device(v, &all->devices[i]);
    if (!rc && !v->ndevices)
        rc = err_set(v->err, ERR_NOTFOUND, "%s: nothing of %s is tuned there%s%s%s", store_path(v->request->store), v->op->name,
                     v->device ? " on " : "", v->device ? v->device : "", v->row >= 0 ? " for these types" : "");
    if (!rc && all->cut)
        complain("note: the file has more winners or times than are read: of the first ones");
    return rc;
}

/* ---- the table */

/* Made under another name, and given its own when it is complete. */
static int write_table(struct covering *v)
{
    struct request *r = v->request;
    struct output o;
    struct stat st;
    struct store *into = NULL;
    const char *path = r->args.into;
    if (!path)
        return 0;
    if (!lstat(path, &st))
        return err_set(v->err, ERR_INVALID, "%s: is there already, and no database is written over: choose another name", path);
    int rc = output_name(path, v->err) ?: output_begin(&o, path, v->err);
    if (rc)
        return rc;
    rc = !o.target ? err_set(v->err, ERR_INVALID, "not a regular file, and a database can be nothing else")
                   : store_copy(r->store, o.beside.data, v->err);
    rc = rc ?: store_open(o.beside.data, STORE_WRITE, &into, v->err)
             ?: store_cover(into, v->op->name, v->covered, v->ncovered, r->args.defaults, v->err);
    store_close(into);
    return output_end(&o, rc, v->err);
}

static int print(struct covering *v, int rc)
{
    struct rows *const all[] = { &v->counts, &v->problems, &v->rules };
    static const char *const names[] = { "counts", "problems", "left_out" };
    json_t *root = v->request->args.json ? json_object() : NULL;
    if (!root) {
        for (int i = 0; i < 3; i++)
            rc = rows_end(all[i], rc, v->err);
        return rc;
    }
    for (int i = 0; i < 3; i++) {
        root = json_with(root, names[i], all[i]->array);
        all[i]->array = NULL;
    }
    if (!rc)
        return json_print(root, v->err);
    json_decref(root);
    return rc;
}

/* ---- the command */

static int read_words(struct covering *v)
{
    const struct args *args = &v->request->args;
    uint64_t most = USUAL_KERNELS;
    if (!args->op)
        return request_op(v->request, NULL, v->err);
    if (args->kernels && (!number_read(args->kernels, MOST_COVER, &most) || !most))
        return err_set(v->err, ERR_USAGE, "--kernels '%.40s': a whole number of 1 to %d is wanted", args->kernels, MOST_COVER);
    if (args->defaults && !args->into)
        return err_set(v->err, ERR_USAGE, "--defaults is for the table: --into FILE.db is missing");
    if (args->into && !*args->into)
        return err_set(v->err, ERR_USAGE, "--into '': the name of a file is wanted");
    v->most = (int)most;
    return 0;
}

/* The op as the database has it; a script becomes the name that it gives. */
static int read_op(struct covering *v, struct devspec *dev)
{
    struct request *r = v->request;
    const struct args *args = &r->args;
    int rc = name_ok(args->op) ? 0 : request_op(r, args->op, v->err);
    rc = rc ?: request_database(r, STORE_READ, v->err) ?: store_op(r->store, r->op ? r->op->name : args->op, &v->op, v->err);
    v->row = rc || !args->dtypes.n ? -1 : op_row(v->op, args->dtypes.at[0], v->err);
    if (!rc && args->dtypes.n && v->row < 0)
        return ERR_USAGE;
    v->device = args->device;
    if (!rc && v->device && strchr(v->device, ':')) { /* of what is there */
        rc = device_find(v->device, dev, v->err);
        v->device = dev->name;
    }
    return rc;
}

static int cover(struct request *r, struct err *err)
{
    static const struct winner_choice unpinned = { .which = WINNERS_TUNED };
    struct devspec dev;
    struct covering v = { .request = r, .err = err };
    int rc = read_words(&v);
    if (rc)
        return rc;
    v.counts = rows_of(count_columns, r->args.json);
    v.rules = rows_of(count_columns, r->args.json);
    v.problems = rows_of(problem_columns, r->args.json);
    rc = read_op(&v, &dev) ?: knowledge_load(r->store, v.op, &unpinned, &v.all, err) ?: cover_devices(&v) ?: write_table(&v);
    if (v.all)
        store_leave_out(r->store, v.all->damaged);
    rc = print(&v, rc);
    mem_free(v.covered);
    knowledge_free(v.all);
    op_free(v.op);
    return request_damage(r, rc);
}

const struct command cover_command = {
    .name = "cover",
    .summary = "few kernels for many problems, as a table to ship",
    .options = OPTIONS({ OPT_OP }, { OPT_INCLUDE },
                       { "kernels", WORD(kernels), "8", 0, "At most this many on each device; 8 without it", 0 },
                       { OPT_DTYPE("Only for these element types; without it all that are tuned") },
                       { "device", WORD(device), "cuda:0|NAME|sm_90|...", 0,
                         "Only for a device that is present, or by the name, architecture or backend that `cutune list` has", 0 },
                       { "into", WORD(into), "FILE.db", 0, "Write a table of just these kernels", 0 },
                       { "defaults", FLAG(defaults), NULL, 0,
                         "Keep the op's defaults in the table, too, for problems that none of the kernels may run for", 0 },
                       { OPT_DB }, { OPT_JSON }),
    .doc = "Chooses a few of the tuned configurations, so that the tuned problems together lose least: by the "
           "geometric mean of the speed beside each problem's winner. It measures nothing: all times are in "
           "the database, and a configuration counts only where it was timed."
           "\vIt takes winners, which have their code in the database, and what is pinned only where nothing else is tuned. A "
           "configuration for two types is two kernels. The table has the chosen kernels, each problem with its "
           "best one, and their times, so the look-up's rule picks among them for all other problems. The last "
           "table shows how well: with each problem's own record left out in turn.\n\n"
           "Examples:\n"
           "  cutune cover --op NAME --kernels 8\n"
           "  cutune cover --op NAME --kernels 8 --into few.db\n"
           "  cutune export --db few.db --format c -o few.c",
    .run = cover,
};
