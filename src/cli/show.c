/* `cutune show`: what one configuration becomes: its source, its PTX, the resources that it takes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/show.h"
#include "cli/text.h"
#include "model/plan.h"
#include "source/source.h"

enum { KEY_CONFIG = KEY_OWN, KEY_VARIANT, KEY_ARCH, KEY_SOURCE, KEY_PTX, KEY_RESOURCES };
enum { TEMPLATE_S = 10, COMPILER_S = 120 }; /* deadlines; a template that loops plainly is stopped sooner, with its line */

static const struct argp_option options[] = {
    OPT_OP,
    { "config", KEY_CONFIG, "TILE=32,...", 0,
      "The configuration; parameters left out take their default. Without it the op's default", 0 },
    { "variant", KEY_VARIANT, "NAME", 0, "Its variant, where the names do not say it", 0 },
    { "source", KEY_SOURCE, NULL, 0, "Print the text that is compiled (this is what is done without any of the three)", 0 },
    { "ptx", KEY_PTX, NULL, 0, "Print PTX: on a CUDA device, or with --arch", 0 },
    { "resources", KEY_RESOURCES, NULL, 0, "Print registers, shared and local memory of each kernel, from the device", 0 },
    OPT_SHAPE("The problem's sizes; without it the first of the op's own shapes for this device"),
    OPT_DTYPE("Its element types; without it f32, or the op's first"),
    OPT_DEVICE,
    { "arch", KEY_ARCH, "sm_90", 0, "The CUDA architecture to write and compile for; needs no device", 0 },
    OPT_JSON,
    OPT_END,
};

/* A device of an architecture, which need not be there; the backend that has such ones, or null. */
static const struct backend *device_of(const char *arch, struct devspec *out)
{
    const struct backend *b;
    for (int i = 0; (b = backend_at(i)); i++)
        if (b->compiling->arch && b->compiling->arch(arch, out))
            return b;
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct show_args *show = state->input;
    struct devspec dev;
    switch (key) {
    case KEY_CONFIG:
        show->config = arg;
        return 0;
    case KEY_VARIANT:
        show->variant = arg;
        return 0;
    case KEY_ARCH:
        if (!device_of(arg, &dev))
            args_error(state, "--arch '%s': an architecture such as sm_90 or sm_90a is wanted", arg);
        show->arch = arg;
        return 0;
    case KEY_SOURCE:
    case KEY_PTX:
    case KEY_RESOURCES:
        if (show->what && show->what != key)
            args_error(state, "--source, --ptx and --resources: one of them at a time");
        show->what = key;
        return 0;
    case ARGP_KEY_END:
        if (show->args.json && show->what == KEY_PTX)
            args_error(state, "--json goes with --source or --resources: PTX is printed as it is");
        return args_key(key, arg, &show->args, state);
    default:
        return args_key(key, arg, &show->args, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Shows what one configuration of an op becomes."
           "\vExamples:\n"
           "  cutune show --op NAME --config TILE=32,ROWS=8 --source\n"
           "  cutune show --op NAME --variant tile --dtype f64 --arch sm_90 --ptx\n"
           "  cutune show --op NAME --shape m=512,n=512,k=512 --device cuda:0 --resources",
};

static int find_device(const struct show_args *args, struct targets *t)
{
    if (args->arch && !args->args.device) {
        device_of(args->arch, &t->dev);
        return DONE;
    }
    int code = targets_device(&args->args, t);
    if (code != DONE)
        return code;
    struct devspec any;
    const struct backend *b = backend_find(t->dev.backend);
    if (args->arch && device_of(args->arch, &any) != b)
        return complain(USAGE, "--arch %s: only CUDA devices have one: leave --device %s away", args->arch, args->args.device);
    if (args->what == KEY_PTX && !b->portable)
        return complain(USAGE, "--ptx: the device here is %s, and only CUDA has PTX: add --arch sm_90, say", t->dev.name);
    return DONE;
}

static int find_config(const struct show_args *args, struct subject *s)
{
    const struct targets *t = s->t;
    struct err err = { 0 };
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    if (!args->config && !args->variant)
        return op_default(t->op, &t->problems[0], t->rows[0], &t->dev, &s->config, &err) ? complain(FAILED, "%s", err.msg) : DONE;
    if (config_parse(t->op, args->variant, args->config ? args->config : "", &s->config, &err) != 0)
        return complain(USAGE, "%s", err.msg);
    if (plan_new(t->op, s->config.variant, &plan, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    plan_slots(plan, &t->problems[0], t->rows[0], &t->dev, &s->config, slots);
    const char *refused = plan_refuses(plan, slots, &t->dev);
    if (refused) /* it can be looked at all the same */
        complain(DONE, "note: not a valid configuration for this problem here: %s", refused);
    plan_free(plan);
    return DONE;
}

static void print_text(const char *text)
{
    bool exact = !isatty(STDOUT_FILENO); /* a terminal gets it harmless, and a file as it is */
    for (size_t n; !exact && *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        text_line("%.*s", (int)n, text);
    }
    if (!exact)
        return;
    fputs(text, stdout);
    if (*text && text[strlen(text) - 1] != '\n')
        putchar('\n');
}

int subject_compile(const struct subject *s, bool portable, struct buf *out)
{
    struct err err = { 0 };
    struct compiler *compiler = NULL;
    struct buf log = { 0 };
    struct compile_job job = { .source = buf_text(&s->source), .arch = s->arch, .portable = portable };
    int rc = s->backend->compiling->open(&s->t->dev, &compiler, &err);
    if (rc == 0) {
        rc = s->backend->compiling->compile(compiler, &job, out, NULL, &log, &err);
        s->backend->compiling->close(compiler);
    }
    while (log.len && log.data[log.len - 1] == '\n')
        log.len--;
    if (log.len && rc != ERR_UNSUPPORTED) /* then the message says it all */
        fprintf(stderr, "%.*s\n", (int)log.len, log.data);
    buf_free(&log);
    return rc ? complain(FAILED, "%s", err.msg) : DONE;
}

static int show_ptx(const struct subject *s)
{
    struct buf ptx = { 0 };
    int code = subject_compile(s, true, &ptx);
    if (code == DONE)
        print_text(buf_text(&ptx));
    buf_free(&ptx);
    return code;
}

static int show_source(const struct subject *s, const struct show_args *args)
{
    if (args->args.json)
        return json_print(json_with(json_object(), "source", json_text(buf_text(&s->source))));
    print_text(buf_text(&s->source));
    return DONE;
}

/* A template may hold code of its own, and it is run here, in this process. */
static void template_late(int number)
{
    static const char line[] = "cutune show: the template's own code did not finish within 10 s\n";
    (void)number;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(FAILED);
}

static void compiler_late(int number)
{
    static const char line[] = "cutune show: the compiler did not finish within two minutes\n";
    (void)number;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(FAILED);
}

static int show(const struct show_args *args, const struct targets *t)
{
    struct err err = { 0 };
    struct subject s = { .t = t, .backend = backend_find(t->dev.backend), .arch = args->arch };
    int code = find_config(args, &s);
    signal(SIGALRM, template_late);
    alarm(TEMPLATE_S);
    if (code == DONE && source_render(t->op, &s.config, t->rows[0], &t->dev, &s.source, &err) != 0)
        code = complain(FAILED, "%s", err.msg);
    signal(SIGALRM, compiler_late);
    alarm(COMPILER_S);
    if (code == DONE)
        code = args->what == KEY_PTX         ? show_ptx(&s)
               : args->what == KEY_RESOURCES ? show_resources(&s, args)
                                             : show_source(&s, args);
    alarm(0);
    buf_free(&s.source);
    return code;
}

int cmd_show(int argc, char **argv)
{
    struct show_args args = { .args.op_needed = true };
    struct targets t = { 0 };
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    int code = targets_op(&args.args, &t);
    if (code == DONE)
        code = find_device(&args, &t);
    if (code == DONE)
        code = targets_problems(&args.args, &t);
    if (code == DONE)
        code = show(&args, &t);
    targets_free(&t);
    return code;
}
