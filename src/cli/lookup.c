/* `cutune lookup`: the fastest known configuration for one problem, and why it is that one. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "cutune.h"
#include "model/plan.h"

/* What an application would get from libcutune; if that has no answer, the default of the op's script. */
struct answer {
    cutune *lib;
    const cutune_kernel *kernel; /* null: there is none, and `config` is the default */
    struct config config;
    struct buf why;
};

/* It is no failure if nothing is known, or if the database knows the op in another form: then kernel stays null, and why says so. */
static int ask_library(const struct args *args, const struct targets *t, struct answer *a, struct err *err)
{
    cutune_device device = { .size = sizeof device };
    cutune_handle *handle = NULL;
    struct buf types = { 0 };
    op_row_print(&types, t->op, t->rows[0]);
    int rc = cutune_open(args->db, &a->lib)
        ?: cutune_device_find(args->device, &device)
        ?: cutune_attach(a->lib, &device, &handle)
        ?: cutune_lookup(handle, t->op->name, buf_text(&types), t->problems[0].size, t->op->naxes, &a->kernel);
    buf_free(&types);
    if (!rc)
        buf_str(&a->why, cutune_kernel_why(a->kernel));
    else if (rc == CUTUNE_ERR_NOTFOUND || (rc == CUTUNE_ERR_INVALID && handle))
        buf_fmt(&a->why, "default: the first of the op script's that holds here; %s", cutune_error());
    else
        return err_set(err, rc, "%s", cutune_error());
    return 0;
}

static int find(const struct args *args, const struct targets *t, struct answer *a, struct err *err)
{
    int rc = ask_library(args, t, a, err);
    return rc || a->kernel ? rc : op_default(t->op, &t->problems[0], t->rows[0], &t->dev, &a->config, err);
}

static const char *match_name(const struct answer *a)
{
    static const char *const names[] = { "exact", "near", "device", "default" };
    return names[a->kernel ? cutune_kernel_match(a->kernel) : CUTUNE_MATCH_DEFAULT];
}

/* The configuration as an object if the script still has all of its names, else as text. */
static json_t *kernel_config_json(const struct op *op, const cutune_kernel *k)
{
    struct config c;
    if (config_parse(op, cutune_kernel_variant(k), cutune_kernel_config(k), &c, NULL))
        return json_text(cutune_kernel_config(k));
    return json_config(op, &c);
}

static int answer_json(const struct op *op, const struct answer *a, struct err *err)
{
    const cutune_kernel *k = a->kernel;
    json_t *o = json_object();
    o = json_with(o, "match", json_text(match_name(a)));
    o = json_with(o, "variant", json_text(k ? cutune_kernel_variant(k) : op->variants[a->config.variant].name));
    o = json_with(o, "config", k ? kernel_config_json(op, k) : json_config(op, &a->config));
    o = json_with(o, "time_ns", json_positive(k ? cutune_kernel_time_ns(k) : 0));
    return json_print(json_with(o, "why", json_text(buf_text(&a->why))), err);
}

static void answer_print(const struct op *op, const struct answer *a)
{
    const cutune_kernel *k = a->kernel;
    double time_ns = k ? cutune_kernel_time_ns(k) : 0;
    struct buf config = { 0 };
    if (!k)
        config_print(&config, op, &a->config);
    text_line("match    %s", match_name(a));
    text_line("variant  %s", k ? cutune_kernel_variant(k) : op->variants[a->config.variant].name);
    text_line("config   %s", k ? cutune_kernel_config(k) : buf_text(&config));
    text_line("time     %s", time_ns > 0 ? text_time(time_ns) : "not measured");
    text_line("why      %s", buf_text(&a->why));
    buf_free(&config);
}

static int look_up(const struct args *args, struct err *err)
{
    struct targets t = { 0 };
    struct answer answer = { 0 };
    if (!args->shapes.n)
        return err_set(err, ERR_USAGE, "--shape is missing: the problem's sizes, such as --shape m=1111,n=113");
    int rc = targets_all(args, &t, err) ?: find(args, &t, &answer, err);
    if (!rc && args->json)
        rc = answer_json(t.op, &answer, err);
    else if (!rc)
        answer_print(t.op, &answer);
    cutune_close(answer.lib);
    buf_free(&answer.why);
    targets_free(&t);
    return rc;
}

static const struct argp_option options[] = {
    { OPT_OP },
    { OPT_SHAPE("The problem's sizes") },
    { OPT_DTYPE("The problem's element types; without it f32, or the op's first") },
    { OPT_DEVICE },
    { OPT_DB },
    { OPT_JSON },
    { OPT_HELP },
    { 0 },
};

const struct command lookup_command = {
    .name = "lookup",
    .summary = "the fastest known configuration for a problem",
    .options = options,
    .doc = "Says which configuration an application gets for a problem, and why: the one that was tuned\n"
           "for it, else one that was tuned for a problem near it, else a default of the op's."
           "\vExamples:\n"
           "  cutune lookup --op NAME --shape m=1111,n=113 --dtype i32\n"
           "  cutune lookup --op NAME --shape n=1000003 --device opencl:0 --json",
    .needs_op = true,
    .run = look_up,
};
