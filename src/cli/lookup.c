/* `cutune lookup`: the fastest known configuration for one problem, and why it is that one. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "model/plan.h"

static const struct argp_option options[] = {
    OPT_OP,
    OPT_SHAPE("The problem's sizes"),
    OPT_DTYPE("Its element types; without it f32, or the op's first"),
    OPT_DEVICE,
    OPT_DB,
    OPT_JSON,
    { 0 },
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
    .doc = "Says which configuration to use for a problem: the one tuned for exactly it on this device, else the op's default."
           "\vExamples:\n"
           "  cutune lookup --op NAME --shape m=1111,n=113 --dtype i32\n"
           "  cutune lookup --op NAME --shape n=1000003 --device opencl:0 --json",
};

struct answer {
    const char *match;    /* "exact", "default" */
    struct tuned *tuned;  /* exact */
    struct config config; /* default */
    struct buf why;
};

/* Asks the store. Nothing there is no failure: then why says so and tuned stays null. */
static int ask_store(const struct args *args, const struct targets *t, struct answer *a, struct err *err)
{
    struct store *store = NULL;
    struct buf types = { 0 }, problem = { 0 };
    op_row_print(&types, t->op, t->rows[0]);
    problem_print(&problem, t->op, &t->problems[0]);
    int rc = database_open(args, STORE_READ, &store, err);
    if (rc == 0)
        rc = store_find_winner(store, &t->dev, t->op->name, buf_text(&types), buf_text(&problem), &a->tuned, err);
    if (rc == 0)
        buf_fmt(&a->why, "tuned on %s for exactly this problem, %s", t->dev.name, a->tuned->when ? a->tuned->when : "");
    else if (rc == ERR_NOTFOUND)
        buf_fmt(&a->why, "nothing is tuned for this problem on %s (%s): the op's default for it", t->dev.name, err->msg);
    store_close(store);
    buf_free(&types);
    buf_free(&problem);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

static int find(const struct args *args, const struct targets *t, struct answer *a)
{
    struct err err = { 0 };
    int rc = ask_store(args, t, a, &err);
    a->match = a->tuned ? "exact" : "default";
    if (rc == 0 && !a->tuned)
        rc = op_default(t->op, &t->problems[0], t->rows[0], &t->dev, &a->config, &err);
    return rc ? complain(FAILED, "%s", err.msg) : DONE;
}

static json_t *tuned_config_json(const struct tuned *k)
{
    json_t *o = json_object();
    for (int i = 0; i < k->nparams; i++)
        o = json_with(o, k->params[i].name, json_val(k->params[i].value));
    return o;
}

static int answer_json(const struct op *op, const struct answer *a)
{
    const struct tuned *k = a->tuned;
    json_t *o = json_object();
    o = json_with(o, "match", json_text(a->match));
    o = json_with(o, "variant", json_text(k ? k->variant : op->variants[a->config.variant].name));
    o = json_with(o, "config", k ? tuned_config_json(k) : json_config(op, &a->config));
    o = json_with(o, "time_ns", json_positive(k ? k->time_ns : 0));
    return json_print(json_with(o, "why", json_text(buf_text(&a->why))));
}

static void answer_print(const struct op *op, const struct answer *a)
{
    const struct tuned *k = a->tuned;
    struct buf config = { 0 };
    if (!k)
        config_print(&config, op, &a->config);
    printf("match    %s\n", a->match);
    printf("variant  %s\n", k ? k->variant : op->variants[a->config.variant].name);
    printf("config   %s\n", k ? k->config : buf_text(&config));
    printf("time     %s\n", k && k->time_ns > 0 ? text_time(k->time_ns) : "not measured");
    printf("why      %s\n", buf_text(&a->why));
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
    tuned_free(answer.tuned);
    buf_free(&answer.why);
    targets_free(&t);
    return code;
}
