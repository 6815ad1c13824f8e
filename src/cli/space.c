/* `cutune space`: how many configurations an op has for a problem, which they are, and what removed the others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "space/space.h"

/* What is asked about: the space, and the variants that count. */
struct view {
    const struct op *op;
    const struct space *space;
    int first, end; /* variants, as a range */
    double build_ms;
};

static bool in_view(const struct view *v, const struct removal *r)
{
    if (r->count == 0)
        return false;
    return v->end - v->first == v->op->nvariants || strcmp(r->variant, v->op->variants[v->first].name) == 0;
}

/* Points before any constraint. */
static double cartesian(const struct view *v)
{
    double points = 0;
    for (int i = v->first; i < v->end; i++) {
        double of_variant = 1;
        for (int p = 0; p < v->op->variants[i].nparams; p++)
            of_variant *= v->op->variants[i].params[p].n;
        points += of_variant;
    }
    return points;
}

static int64_t valid(const struct view *v)
{
    int64_t n = 0;
    for (int i = v->first; i < v->end; i++)
        n += space_variant_count(v->space, i);
    return n;
}

static int print_json(const struct view *v, struct err *err)
{
    json_t *o = json_object(), *removed = json_array();
    int n;
    const struct removal *r = space_removals(v->space, &n);
    for (int i = 0; i < n; i++) {
        if (!in_view(v, &r[i]))
            continue;
        json_t *line = json_with(json_object(), "constraint", json_text(r[i].text));
        line = json_with(line, "count", json_count(r[i].count));
        removed = json_append(removed, json_with(line, "variant", json_text(r[i].variant)));
    }
    o = json_with(o, "cartesian", json_count(cartesian(v)));
    o = json_with(o, "valid", json_integer(valid(v)));
    o = json_with(o, "removed", removed);
    return json_print(json_with(o, "build_ms", json_real(v->build_ms)), err);
}

static int print_table(const struct view *v, const char *title, const struct devspec *dev, struct err *err)
{
    char id[32];
    struct text_table table = { .align = "rll" };
    int n;
    const struct removal *r = space_removals(v->space, &n);
    devspec_id(dev, id);
    text_line("%s on %s: %s", title, id, dev->name);
    table_cell(&table, "%.0f", cartesian(v));
    table_cell(&table, "points");
    table_cell(&table, "%s", "");
    for (int i = 0; i < n; i++) {
        if (!in_view(v, &r[i]))
            continue;
        table_cell(&table, "-%.0f", r[i].count);
        table_cell(&table, "%s", r[i].variant);
        table_cell(&table, "%s", r[i].text);
    }
    for (int i = v->first; i < v->end; i++) {
        table_cell(&table, "%" PRId64, space_variant_count(v->space, i));
        table_cell(&table, "%s", v->op->variants[i].name);
        table_cell(&table, "valid");
    }
    table_cell(&table, "%" PRId64, valid(v));
    table_cell(&table, "in all");
    table_cell(&table, "valid, found in %.3g ms", v->build_ms);
    return table_print(&table, 2, err);
}

/* The columns of the list: every parameter name of the variants in view, in the order in which they come up. */
static int columns(const struct view *v, const char *names[], int max)
{
    int n = 0;
    for (int i = v->first; i < v->end; i++)
        for (int p = 0; p < v->op->variants[i].nparams; p++) {
            const char *name = v->op->variants[i].params[p].name;
            int at = 0;
            while (at < n && strcmp(names[at], name) != 0)
                at++;
            if (at == n && n < max)
                names[n++] = name;
        }
    return n;
}

/* The place of each column among a variant's parameters; -1: it has none of that name. */
static void places(const struct variant *variant, const char *const names[], int n, int place[])
{
    for (int i = 0; i < n; i++) {
        place[i] = -1;
        for (int p = 0; p < variant->nparams; p++)
            if (strcmp(variant->params[p].name, names[i]) == 0)
                place[i] = p;
    }
}

static int print_list(const struct view *v)
{
    enum { MAX_NAMES = 4096 };
    static const char *names[MAX_NAMES];
    static int place[MAX_NAMES];
    int n = columns(v, names, MAX_NAMES), variant = -1;
    bool several = v->end - v->first > 1;
    struct buf line = { 0 };
    if (several)
        buf_str(&line, "variant");
    for (int i = 0; i < n; i++)
        buf_fmt(&line, "%s%s", line.len ? "," : "", names[i]);
    puts(buf_text(&line));
    for (int64_t i = 0; i < space_count(v->space) && !ferror(stdout); i++) {
        struct config c;
        space_at(v->space, i, &c);
        if (c.variant < v->first || c.variant >= v->end)
            continue;
        if (c.variant != variant)
            places(&v->op->variants[c.variant], names, n, place);
        variant = c.variant;
        buf_clear(&line);
        if (several)
            buf_str(&line, v->op->variants[variant].name);
        for (int k = 0; k < n; k++) {
            buf_str(&line, several || k ? "," : "");
            if (place[k] >= 0)
                val_print(&line, v->op->variants[variant].params[place[k]].values[c.at[place[k]]]);
        }
        puts(buf_text(&line));
    }
    buf_free(&line);
    return 0;
}

static int show_space(const struct args *args, const struct targets *t, struct err *err)
{
    struct space *space = NULL;
    struct view view = { .op = t->op, .end = t->op->nvariants };
    if (args->variant) {
        view.first = op_variant(t->op, args->variant);
        view.end = view.first + 1;
        if (view.first < 0)
            return err_set(err, ERR_USAGE, "--variant '%s': %s has no such variant; `cutune ops` lists them", args->variant,
                           t->op->name);
    }
    int64_t start = clock_ns();
    int rc = space_new(t->op, &t->problems[0], t->rows[0], &t->dev, &space, err);
    if (rc)
        return rc;
    view.space = space;
    view.build_ms = (clock_ns() - start) / 1e6;
    struct buf title = { 0 };
    target_print(&title, t->op, &t->problems[0], t->rows[0]);
    rc = args->list ? print_list(&view) : args->json ? print_json(&view, err) : print_table(&view, buf_text(&title), &t->dev, err);
    buf_free(&title);
    space_free(space);
    return rc;
}

static int count_space(const struct args *args, struct err *err)
{
    struct targets t = { 0 };
    if (args->list && args->json)
        return err_set(err, ERR_USAGE, "--list and --json: one of them, as each is an output of its own");
    int rc = targets_all(args, &t, err) ?: show_space(args, &t, err);
    targets_free(&t);
    return rc;
}

static const struct argp_option options[] = {
    { OPT_OP },
    { OPT_SHAPE("The problem's sizes; without it the first of the op's own shapes for this device") },
    { OPT_DTYPE("The problem's element types; without it f32, or the op's first") },
    { OPT_DEVICE },
    { "variant", WORD(variant), "NAME", 0, "This variant only", 0 },
    { "list", FLAG(list), NULL, 0, "Print CSV: a line of names, then a line for each valid configuration", 0 },
    { OPT_JSON },
    { OPT_HELP },
    { 0 },
};

const struct command space_command = {
    .name = "space",
    .summary = "an op's configurations: how many, and what removed the others",
    .options = options,
    .doc = "Counts an op's configurations for a problem: all points, the valid ones,\n"
           "and what each constraint or device limit removed."
           "\vA point is one choice of a value for each parameter, valid or not.\n"
           "A point that several constraints would remove counts for the first of them.\n\n"
           "Examples:\n"
           "  cutune space --op NAME\n"
           "  cutune space --op NAME --shape m=1111,n=113 --dtype f64 --device cuda:0 --json\n"
           "  cutune space --op NAME --variant tile --list > valid.csv",
    .needs_op = true,
    .run = count_space,
};
