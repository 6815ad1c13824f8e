/* `cutune pin`: a person's own choice of a configuration for one problem, which look-ups give in the place of the winner. */
#include <string.h>

#include "cli/run.h"

/* What was pinned. */
struct pinned {
    const struct op *op;
    const char *name, *device, *variant;
    struct buf types, sizes, text;
    struct config config;
    double time_ns;
};

static json_t *config_json(const void *row)
{
    const struct pinned *p = row;
    return json_config(p->op, &p->config);
}

static const struct row_column columns[] = {
    { "op", "op", FIELD(struct pinned, name) },
    { "dtype", "types", FIELD(struct pinned, types) },
    { "problem", "problem", FIELD(struct pinned, sizes) },
    { "device", "device", FIELD(struct pinned, device) },
    { "variant", "variant", FIELD(struct pinned, variant) },
    { "config", "config", FIELD(struct pinned, text), .json = config_json },
    { "time_ns", "time", FIELD(struct pinned, time_ns), .unit = text_time },
    { 0 },
};

/* Proves it right here and times it, as any run does; only then it is pinned. */
static int measure(struct request *r, struct pinned *p, struct err *err)
{
    struct progress progress = { .title = r->op->name };
    struct tune_options options = { .home = r->home, .pin = &p->config, .note = progress_note, .arg = &progress };
    struct tune_report report;
    int rc = tune_run(r->op, &r->problems[0], r->rows[0], &r->dev, r->store, &options, &report, err);
    const struct tune_entry *came = report.best.config.variant >= 0 ? &report.best : &report.deflt;
    if (rc)
        return rc;
    if (came->config.variant < 0)
        return err_set(err, ERR_INVALID, "not pinned: it could not be measured%s%s", *report.unsettled_why ? ": " : "",
                       report.unsettled_why);
    if (came->outcome != OUT_OK)
        return err_set(err, ERR_INVALID, "not pinned: %s%s%s", outcome_name(came->outcome), *came->reason ? ": " : "",
                       came->reason);
    p->time_ns = came->time_ns;
    return store_wanted_done(r->store, &r->dev, p->name, buf_text(&p->types), buf_text(&p->sizes), err);
}

static int pin(struct request *r, struct pinned *p, struct err *err)
{
    struct buf refused = { 0 };
    int rc = request_config(r, &p->config, &refused, err);
    if (!rc && refused.len)
        rc = err_set(err, ERR_INVALID, "not pinned: it is not valid for this problem on %s: %s", r->dev.name, refused.data);
    buf_free(&refused);
    rc = rc ?: request_database(r, STORE_WRITE, err) ?: measure(r, p, err);
    if (rc)
        return rc;
    p->variant = r->op->variants[p->config.variant].name;
    config_print(&p->text, r->op, &p->config);
    return buf_check(&p->text, err) ?: row_print(columns, r->args.json, p, err);
}

static int unpin(struct request *r, struct pinned *p, struct err *err)
{
    int rc = request_read(r, err); /* if there is no database, none is made */
    if (!rc && r->store) {
        store_close(r->store);
        r->store = NULL;
        rc = request_database(r, STORE_WRITE, err);
    } else if (!rc) {
        rc = err_set(err, ERR_NOTFOUND, "nothing is pinned: there is no database yet");
    }
    return rc ?: store_unpin(r->store, &r->dev, p->name, buf_text(&p->types), buf_text(&p->sizes), err);
}

static int check_words(const struct args *args, struct err *err)
{
    bool chosen = args->config || args->variant;
    if (args->op && !args->shapes.n)
        return err_set(err, ERR_USAGE, "--shape is missing: the problem's sizes, such as --shape m=1111,n=113");
    if (args->op && !args->remove && !chosen)
        return err_set(err, ERR_USAGE, "--config is missing: the configuration, such as --config TILE=32; or --remove");
    if (args->remove && (chosen || args->json))
        return err_set(err, ERR_USAGE, "--remove takes no %s: there is one pin for a problem",
                       args->json     ? "--json"
                       : args->config ? "--config"
                                      : "--variant");
    return 0;
}

static int pin_or_remove(struct request *r, struct err *err)
{
    struct pinned p = { 0 };
    int rc = check_words(&r->args, err) ?: request_all(r, err);
    if (!rc) {
        p.op = r->op;
        p.name = r->op->name;
        p.device = r->dev.name;
        op_row_print(&p.types, r->op, r->rows[0]);
        problem_print(&p.sizes, r->op, &r->problems[0]);
        rc = buf_check(&p.types, err) ?: buf_check(&p.sizes, err);
    }
    rc = rc ?: r->args.remove ? unpin(r, &p, err) : pin(r, &p, err);
    buf_free(&p.types);
    buf_free(&p.sizes);
    buf_free(&p.text);
    return rc;
}

const struct command pin_command = {
    .name = "pin",
    .summary = "give a problem a configuration of your own choice",
    .options = OPTIONS(
        { OPT_OP }, { OPT_INCLUDE }, { OPT_SHAPE("The problem's sizes") }, { OPT_DTYPE(USUAL_DTYPE) },
        { "config", WORD(config), "TILE=32,...", 0, "The configuration; parameters left out take their default", 0 },
        { "variant", WORD(variant), "NAME", 0, "Its variant, if several variants have parameters of these names", 0 },
        { "remove", FLAG(remove), NULL, 0, "Give the problem its winner again", 0 }, { OPT_DEVICE }, { OPT_DB }, { OPT_JSON }),
    .doc = "Pins a configuration to a problem on a device: look-ups give it in the place of the winner, "
           "whatever later runs find, until it is removed. First it is proved right and timed here, as by a run."
           "\vA pin stands beside the winner, which runs go on to improve. `cutune list` shows both, `cutune lookup` "
           "says 'pinned', and an exported C file has it too. If the op's check, reference or arguments change, "
           "it is stale, as a winner is: pin it again.\n\n"
           "Examples:\n"
           "  cutune pin --op NAME --shape m=1111,n=113 --variant tile --config TILE=32,ROWS=8\n"
           "  cutune pin --op NAME --shape m=1111,n=113 --remove",
    .run = pin_or_remove,
};
