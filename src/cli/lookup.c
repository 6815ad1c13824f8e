/* `cutune lookup`: the fastest known configuration for one problem, and why it is that one. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "cutune.h"
#include "model/plan.h"

static const struct argp_option options[] = {
    OPT_OP,
    OPT_SHAPE("The problem's sizes"),
    OPT_DTYPE("Its element types; without it f32, or the op's first"),
    OPT_DEVICE,
    OPT_DB,
    OPT_JSON,
    OPT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const struct args *args = state->input;
    if (key == ARGP_KEY_END && args->op && !args->nshapes)
        args_error(state, "--shape is missing: the problem's sizes, such as --shape m=1111,n=113");
    return args_key(key, arg, state->input, state);
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Says which configuration an application gets for a problem, and why: the one tuned for it, else the op's default."
           "\vExamples:\n"
           "  cutune lookup --op NAME --shape m=1111,n=113 --dtype i32\n"
           "  cutune lookup --op NAME --shape n=1000003 --device opencl:0 --json",
};

/* What an application would get from libcutune; where that has no answer, the op script's default. */
struct answer {
    cutune *lib;
    const cutune_kernel *kernel; /* null: the default, */
    struct config config;        /* which is this */
    struct buf why;
};

/* Nothing known is no failure: then why says so, and kernel stays null. Nor is an op that the database knows in another form. */
static int ask_library(const struct args *args, const struct targets *t, struct answer *a)
{
    cutune_device device = { .size = sizeof device };
    cutune_handle *handle;
    struct buf types = { 0 };
    op_row_print(&types, t->op, t->rows[0]);
    bool asked = false;
    int rc = cutune_open(args->db, &a->lib);
    if (rc == 0)
        rc = cutune_device_find(args->device, &device);
    if (rc == 0)
        rc = cutune_attach(a->lib, &device, &handle);
    if (rc == 0) {
        asked = true;
        rc = cutune_lookup(handle, t->op->name, buf_text(&types), t->problems[0].size, t->op->naxes, &a->kernel);
    }
    buf_free(&types);
    if (rc == 0)
        buf_str(&a->why, cutune_kernel_why(a->kernel));
    else if (rc == CUTUNE_ERR_NOTFOUND || (rc == CUTUNE_ERR_INVALID && asked))
        buf_fmt(&a->why, "default: the first of the op script's that holds here; %s", cutune_error());
    else
        return complain(FAILED, "%s", cutune_error());
    return DONE;
}

static int find(const struct args *args, const struct targets *t, struct answer *a)
{
    struct err err = { 0 };
    int code = ask_library(args, t, a);
    if (code == DONE && !a->kernel && op_default(t->op, &t->problems[0], t->rows[0], &t->dev, &a->config, &err) != 0)
        code = complain(FAILED, "%s", err.msg);
    return code;
}

static const char *match_name(const struct answer *a)
{
    static const char *const names[] = { "exact", "near", "device", "default" };
    return names[a->kernel ? cutune_kernel_match(a->kernel) : CUTUNE_MATCH_DEFAULT];
}

/* The configuration by its names, where the script still has them all; else as text. */
static json_t *kernel_config_json(const struct op *op, const cutune_kernel *k)
{
    struct config c;
    if (config_parse(op, cutune_kernel_variant(k), cutune_kernel_config(k), &c, NULL))
        return json_text(cutune_kernel_config(k));
    return json_config(op, &c);
}

static int answer_json(const struct op *op, const struct answer *a)
{
    const cutune_kernel *k = a->kernel;
    json_t *o = json_object();
    o = json_with(o, "match", json_text(match_name(a)));
    o = json_with(o, "variant", json_text(k ? cutune_kernel_variant(k) : op->variants[a->config.variant].name));
    o = json_with(o, "config", k ? kernel_config_json(op, k) : json_config(op, &a->config));
    o = json_with(o, "time_ns", json_positive(k ? cutune_kernel_time_ns(k) : 0));
    return json_print(json_with(o, "why", json_text(buf_text(&a->why))));
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

int cmd_lookup(int argc, char **argv)
{
    struct args args = { .op_needed = true };
    struct targets t = { 0 };
    struct answer answer = { 0 };
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    int code = targets_all(&args, &t);
    if (code == DONE)
        code = find(&args, &t, &answer);
    if (code == DONE && args.json)
        code = answer_json(t.op, &answer);
    else if (code == DONE)
        answer_print(t.op, &answer);
    cutune_close(answer.lib);
    buf_free(&answer.why);
    targets_free(&t);
    return code;
}
