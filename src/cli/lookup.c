/* `cutune lookup`: the fastest known configuration for one problem, and why it is that one. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cutune.h"
#include "model/plan.h"
#include "store/store.h"

/* What an application would get from libcutune; if that has no answer, the default of the op's script. */
struct answer {
    const struct op *op;
    cutune *lib;
    const char *match, *variant;
    struct buf text; /* the configuration */
    bool parsed;     /* the script still has all of its names: */
    struct config config;
    double time_ns;
    struct buf why;
};

/* It is no failure if nothing is known, or if the database knows the op in another form: then *kernel stays null, and why says so. */
static int ask_library(const struct request *r, struct answer *a, const cutune_kernel **kernel, struct err *err)
{
    cutune_device device = { .size = sizeof device };
    cutune_handle *handle = NULL;
    struct buf types = { 0 };
    op_row_print(&types, r->op, r->rows[0]);
    int rc = cutune_open(r->args.db, &a->lib)
        ?: cutune_device_find(r->args.device, &device)
        ?: cutune_attach(a->lib, &device, &handle)
        ?: cutune_lookup(handle, r->op->name, buf_text(&types), r->problems[0].size, r->op->naxes, kernel);
    buf_free(&types);
    const char *strict = getenv("CUTUNE_STRICT");
    if (!rc)
        buf_str(&a->why, cutune_kernel_why(*kernel));
    else if (strict && !strcmp(strict, "error")) /* nothing is no exact answer */
        return err_set(err, rc, "%s", cutune_error());
    else if (rc == CUTUNE_ERR_NOTFOUND || (rc == CUTUNE_ERR_INVALID && handle))
        buf_fmt(&a->why, "an application gets none: %s; this is the default of the op's script, with which a run begins",
                cutune_error());
    else
        return err_set(err, rc, "%s", cutune_error());
    return 0;
}

/* The script's own default, of which the library, which did not give it, may know that it fails here. */
static int ask_script(struct request *r, struct answer *a, struct err *err)
{
    struct buf types = { 0 }, sizes = { 0 }, json = { 0 };
    bool failed = false;
    int rc = op_default(r->op, &r->problems[0], r->rows[0], &r->dev, &a->config, err) ?: request_read(r, err);
    if (!rc && r->store) {
        op_row_print(&types, r->op, r->rows[0]);
        problem_print(&sizes, r->op, &r->problems[0]);
        config_print_json(&json, r->op, &a->config);
        rc = store_failed_for(r->store, &r->dev, r->op->name, buf_text(&types), buf_text(&sizes),
                              r->op->variants[a->config.variant].name, buf_text(&json), &failed, err);
    }
    if (failed)
        buf_str(&a->why, "; it was tried for this problem and failed: `cutune list --measurements` says how");
    buf_free(&types);
    buf_free(&sizes);
    buf_free(&json);
    return rc;
}

static int find(struct request *r, struct answer *a, struct err *err)
{
    static const char *const names[] = { "exact", "near", "device", "default" };
    const cutune_kernel *k = NULL;
    int rc = ask_library(r, a, &k, err) ?: (k ? 0 : ask_script(r, a, err));
    if (rc)
        return rc;
    a->op = r->op;
    a->match = k ? names[cutune_kernel_match(k)] : "none";
    a->variant = k ? cutune_kernel_variant(k) : r->op->variants[a->config.variant].name;
    a->time_ns = k ? cutune_kernel_time_ns(k) : 0;
    if (k)
        buf_str(&a->text, cutune_kernel_config(k));
    else
        config_print(&a->text, r->op, &a->config);
    a->parsed = !k || !config_parse(r->op, a->variant, buf_text(&a->text), &a->config, NULL);
    return 0;
}

static json_t *config_json(const void *answer)
{
    const struct answer *a = answer;
    return a->parsed ? json_config(a->op, &a->config) : json_text(buf_text(&a->text));
}

static void time_text(struct buf *out, const void *answer)
{
    const struct answer *a = answer;
    bool measured = !strcmp(a->match, "exact");
    buf_fmt(out, "%s%s", a->time_ns > 0 ? text_time(a->time_ns) : "not measured", a->time_ns > 0 && !measured ? ", estimated" : "");
}

static const struct row_column columns[] = {
    { "match", "match", FIELD(struct answer, match) },
    { "variant", "variant", FIELD(struct answer, variant) },
    { "config", "config", FIELD(struct answer, text), .json = config_json },
    { "time_ns", "time", FIELD(struct answer, time_ns), .text = time_text },
    { "why", "why", FIELD(struct answer, why) },
    { 0 },
};

static int look_up(struct request *r, struct err *err)
{
    struct answer answer = { 0 };
    if (r->args.op && !r->args.shapes.n)
        return err_set(err, ERR_USAGE, "--shape is missing: the problem's sizes, such as --shape m=1111,n=113");
    int rc = request_all(r, err) ?: find(r, &answer, err) ?: row_print(columns, r->args.json, &answer, err);
    cutune_close(answer.lib);
    buf_free(&answer.text);
    buf_free(&answer.why);
    return rc;
}

const struct command lookup_command = {
    .name = "lookup",
    .summary = "the fastest known configuration for a problem",
    .options = OPTIONS({ OPT_OP }, { OPT_INCLUDE }, { OPT_SHAPE("The problem's sizes") }, { OPT_DTYPE(USUAL_DTYPE) },
                       { OPT_DEVICE }, { OPT_DB }, { OPT_JSON }),
    .doc = "Says which configuration an application gets for a problem, and why: the one that was tuned "
           "for it, else one that was tuned for a problem near it, else a default of the op's."
           "\vExamples:\n"
           "  cutune lookup --op NAME --shape m=1111,n=113 --dtype i32\n"
           "  cutune lookup --op NAME --shape n=1000003 --device opencl:0 --json",
    .run = look_up,
};
