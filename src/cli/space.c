/* `cutune space`: how many configurations an op has for a problem, which they are, and what removed the others. */
#include <inttypes.h>
#include <string.h>

#include "base/util.h"
#include "cli/cli.h"
#include "export/t1.h"
#include "space/space.h"

/* An integer, if 64 bits hold it. */
static json_t *json_count(double v)
{
    return v < 0x1p63 ? json_integer((json_int_t)v) : json_real(v);
}

/* All points, to the last digit; -1 if 64 bits do not hold them. */
static json_int_t all_points(const struct op *op)
{
    int64_t sum = 0;
    for (const struct variant *v = op->variants; v < op->variants + op->nvariants; v++) {
        int64_t points = 1;
        for (int p = 0; p < v->nparams; p++)
            if (__builtin_mul_overflow(points, v->params[p].n, &points))
                return -1;
        if (__builtin_add_overflow(sum, points, &sum))
            return -1;
    }
    return sum;
}

static int print_json(const struct space *s, double build_ms, struct err *err)
{
    json_t *removed = json_array();
    for (const struct removal *r = s->removals; r < s->removals + s->nremoving; r++)
        removed = json_append(removed, json_pack("{s:o, s:o, s:o}", "constraint", json_text(r->text), "count", json_count(r->count),
                                                 "variant", json_text(r->variant)));
    json_int_t points = all_points(s->op);
    json_t *cartesian = points >= 0 ? json_integer(points) : json_real(s->cartesian);
    return json_print(json_pack("{s:o, s:I, s:o, s:f}", "cartesian", cartesian, "valid", (json_int_t)s->count,
                                "removed", removed, "build_ms", build_ms),
                      err);
}

/* Of what it is: of an op's problem on a device. */
static void print_head(const struct request *q, const struct space *s)
{
    char id[32];
    struct buf types = { 0 }, sizes = { 0 };
    devspec_id(&q->dev, id);
    op_row_print(&types, s->op, q->rows[0]);
    problem_print(&sizes, s->op, &q->problems[0]);
    text_line("%s %s %s on %s: %s", s->op->name, buf_text(&types), buf_text(&sizes), id, q->dev.name);
    buf_free(&types);
    buf_free(&sizes);
}

static int print_table(const struct space *s, double build_ms, struct err *err)
{
    struct text_table table = { .align = "rll" };
    json_int_t points = all_points(s->op);
    if (points >= 0)
        table_row(&table, "%" PRId64 "\tpoints", (int64_t)points);
    else
        table_row(&table, "%.0f\tpoints", s->cartesian);
    for (const struct removal *r = s->removals; r < s->removals + s->nremoving; r++)
        table_row(&table, "-%.0f\t%s\t%s", r->count, r->variant, r->text);
    for (int i = 0; i < s->op->nvariants; i++)
        table_row(&table, "%" PRId64 "\t%s\tvalid", space_variant_count(s, i), s->op->variants[i].name);
    table_row(&table, "%" PRId64 "\tin all\tvalid, found in %.3g ms", s->count, build_ms);
    return table_print(&table, 2, err);
}

/* The columns of the list: every parameter name of the variants, in the order in which they come up. */
static int columns(const struct op *op, const char *names[], int max)
{
    int n = 0;
    for (int i = 0; i < op->nvariants; i++)
        for (int p = 0; p < op->variants[i].nparams; p++) {
            const char *name = op->variants[i].params[p].name;
            int at = 0;
            while (at < n && strcmp(names[at], name))
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
            if (!strcmp(variant->params[p].name, names[i]))
                place[i] = p;
    }
}

/* As CSV has it: a text with a comma or a quote stands in quotes. */
static void print_value(struct buf *line, struct val v)
{
    if (v.type != VAL_STR || !strpbrk(v.s, ",\"")) {
        val_print(line, v);
        return;
    }
    buf_str(line, "\"");
    for (const char *p = v.s; *p; p++)
        buf_fmt(line, *p == '"' ? "\"%c" : "%c", *p);
    buf_str(line, "\"");
}

static void print_list(const struct space *s)
{
    enum { MAX_NAMES = 4096 };
    static const char *names[MAX_NAMES];
    static int place[MAX_NAMES];
    int n = columns(s->op, names, MAX_NAMES);
    const struct variant *variant = NULL;
    bool several = s->op->nvariants > 1;
    struct buf line = { 0 };
    if (several)
        buf_str(&line, "variant");
    for (int i = 0; i < n; i++)
        buf_fmt(&line, "%s%s", line.len ? "," : "", names[i]);
    puts(buf_text(&line));
    for (int64_t i = 0; i < s->count && !ferror(stdout); i++) {
        struct config c;
        space_at(s, i, &c);
        if (variant != &s->op->variants[c.variant])
            places(&s->op->variants[c.variant], names, n, place);
        variant = &s->op->variants[c.variant];
        buf_clear(&line);
        if (several)
            buf_str(&line, variant->name);
        for (int k = 0; k < n; k++) {
            buf_str(&line, several || k ? "," : "");
            if (place[k] >= 0)
                print_value(&line, variant->params[place[k]].values[c.at[place[k]]]);
        }
        puts(buf_text(&line));
    }
    buf_free(&line);
}

/* Takes the op's other variants away. */
static int only_variant(struct op *op, const char *name, struct err *err)
{
    int i = op_variant(op, name);
    if (i < 0)
        return err_set(err, ERR_USAGE, "--variant '%s': %s has no such variant; `cutune ops` lists them", name, op->name);
    op->variants += i;
    op->nvariants = 1;
    op->ndefaults = 0; /* they count the variants */
    return 0;
}

static int print_space(const struct space *s, const struct args *args, double build_ms, struct err *err)
{
    if (!args->list)
        return args->json ? print_json(s, build_ms, err) : print_table(s, build_ms, err);
    print_list(s);
    return 0;
}

/* What removed points, as the file says it. */
static void name_conditions(struct space *s, const struct t1 *t)
{
    const struct variant *v = &t->op->variants[0];
    for (struct removal *r = s->removals; r < s->removals + s->nremoving; r++)
        for (int i = v->nwhere - 1; i >= 0; i--)
            if (r->text == v->where[i] || !strcmp(r->text, v->where[i])) {
                r->text = t->conditions[i];
                break;
            }
}

/* What could not be computed, as the file says it: the message is of what it became in our language. */
static void name_condition(const struct t1 *t, struct err *err)
{
    const struct variant *v = &t->op->variants[0];
    for (int i = 0; i < v->nwhere; i++) {
        char label[320];
        snprintf(label, sizeof label, "variant %s, constraint `%.120s`: column ", v->name, v->where[i]);
        char *at = strstr(err->msg, label);
        if (!at)
            continue;
        const char *why = at + strlen(label), *quoted = strstr(why, " at '");
        why += strspn(why, "0123456789: ");
        struct err said = { 0 };
        err_set(&said, err->code, "%.*scondition %d: `%.200s`: %.*s", (int)(at - err->msg), err->msg, i + 1, t->conditions[i],
                quoted > why ? (int)(quoted - why) : (int)strlen(why), why);
        *err = said;
        return;
    }
}

/* A tuning problem of another tuner's: its constraints know no device, and it has no sizes. */
static int show_t1(const struct args *args, struct err *err)
{
    const struct devspec none = { .backend = "none", .max_threads = 1, .max_alloc = 1 };
    const struct problem problem = { .size = { 0 } };
    struct space *space = NULL;
    struct t1 t;
    if (args->op || args->shapes.n || args->dtypes.n || args->device || args->arch || args->variant)
        return err_set(err, ERR_USAGE, "--t1 %s: a file says all there is to say: --list or --json may stand beside it", args->t1);
    int rc = t1_read(args->t1, &t, err);
    if (rc)
        return rc;
    int64_t start = clock_ns();
    rc = space_new(t.op, &problem, 0, &none, NULL, &space, err);
    double build_ms = (clock_ns() - start) / 1e6;
    if (rc) {
        name_condition(&t, err);
        err_prefix(err, "%s: ", args->t1);
    } else {
        name_conditions(space, &t);
        rc = print_space(space, args, build_ms, err);
    }
    space_free(space);
    t1_free(&t);
    return rc;
}

static int show_space(struct request *r, struct err *err)
{
    const struct args *args = &r->args;
    struct space *space = NULL;
    if (args->list && args->json)
        return err_set(err, ERR_USAGE, "--list and --json: one of them, as each is an output of its own");
    if (args->t1)
        return show_t1(args, err);
    int rc = request_all(r, err) ?: (args->variant ? only_variant(r->op, args->variant, err) : 0);
    int64_t start = clock_ns();
    rc = rc ?: space_new(r->op, &r->problems[0], r->rows[0], &r->dev, NULL, &space, err);
    if (rc)
        return rc;
    if (!args->list && !args->json)
        print_head(r, space);
    rc = print_space(space, args, (clock_ns() - start) / 1e6, err);
    space_free(space);
    return rc;
}

const struct command space_command = {
    .name = "space",
    .summary = "an op's configurations: how many, and what removed the others",
    .options = OPTIONS(
        { OPT_OP }, { OPT_INCLUDE }, { OPT_SHAPE(OWN_SHAPE) }, { OPT_DTYPE(USUAL_DTYPE) }, { OPT_DEVICE }, { OPT_ARCH("Count") },
        { "t1", WORD(t1), "FILE.json", 0,
          "A tuning problem in the T1 format instead of an op: "
          "its constraints are in Python",
          0 },
        { "variant", WORD(variant), "NAME", 0, "This variant only", 0 },
        { "list", FLAG(list), NULL, 0, "Print CSV: a line of names, then a line for each valid configuration", 0 }, { OPT_JSON }),
    .doc = "Counts an op's configurations for a problem: all points, the valid ones, "
           "and what each constraint or device limit removed."
           "\vA point is one choice of a value for each parameter, valid or not. "
           "A point that several constraints would remove counts for the first of them.\n\n"
           "Examples:\n"
           "  cutune space --op NAME\n"
           "  cutune space --op NAME --shape m=1111,n=113 --dtype f64 --device cuda:0 --json\n"
           "  cutune space --op NAME --arch sm_90\n"
           "  cutune space --op NAME --variant tile --list > valid.csv\n"
           "  cutune space --t1 FILE.json",
    .run = show_space,
};
