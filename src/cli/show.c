/* `cutune show`: what one configuration becomes: its source, its PTX, the resources that it takes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "device/device.h"
#include "model/config.h"
#include "model/plan.h"
#include "source/source.h"

enum { COMPILER_S = 120 }; /* its deadline */

/* A configuration of the op on the device, and its text. */
struct subject {
    const struct targets *t;
    const struct args *args;
    const struct backend *backend;
    struct config config;
    struct buf source;
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

static int check_options(const struct args *args, struct err *err)
{
    struct devspec any;
    if (args->arch && !device_of(args->arch, &any))
        return err_set(err, ERR_USAGE, "--arch '%s': an architecture such as sm_90 or sm_90a is wanted", args->arch);
    if (args->source + args->ptx + args->resources > 1)
        return err_set(err, ERR_USAGE, "--source, --ptx and --resources: one of them at a time");
    if (args->json && args->ptx)
        return err_set(err, ERR_USAGE, "--json goes with --source or --resources: PTX is printed as it is");
    return 0;
}

static int find_device(const struct args *args, struct targets *t, struct err *err)
{
    struct devspec any;
    if (args->arch && !args->device) {
        device_of(args->arch, &t->dev);
        return 0;
    }
    int rc = targets_device(args, t, err);
    if (rc)
        return rc;
    const struct backend *b = backend_find(t->dev.backend);
    if (args->arch && device_of(args->arch, &any) != b)
        return err_set(err, ERR_USAGE, "--arch %s: only CUDA devices have one: leave --device %s away", args->arch, args->device);
    if (args->ptx && !b->portable)
        return err_set(err, ERR_USAGE, "--ptx: the device here is %s, and only CUDA has PTX: add --arch sm_90, say", t->dev.name);
    return 0;
}

static int find_config(struct subject *s, struct err *err)
{
    const struct targets *t = s->t;
    const struct args *args = s->args;
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    if (!args->config && !args->variant)
        return op_default(t->op, &t->problems[0], t->rows[0], &t->dev, &s->config, err);
    if (config_parse(t->op, args->variant, args->config ? args->config : "", &s->config, err))
        return ERR_USAGE;
    int rc = plan_new(t->op, s->config.variant, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, &t->problems[0], t->rows[0], &t->dev, &s->config, slots);
    const char *refused = plan_refuses(plan, slots, &t->dev);
    if (refused) /* it can be looked at all the same */
        complain("note: not a valid configuration for this problem here: %s", refused);
    plan_free(plan);
    return 0;
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

/* portable: in place of a binary. */
static int compile(const struct subject *s, bool portable, struct buf *out, struct err *err)
{
    struct compiler *compiler = NULL;
    struct buf log = { 0 };
    struct compile_job job = { .source = buf_text(&s->source), .arch = s->args->arch, .portable = portable };
    int rc = s->backend->compiling->open(&s->t->dev, &compiler, err);
    if (!rc) {
        rc = s->backend->compiling->compile(compiler, &job, out, NULL, &log, err);
        s->backend->compiling->close(compiler);
    }
    while (log.len && log.data[log.len - 1] == '\n')
        log.len--;
    if (log.len && rc != ERR_UNSUPPORTED) /* then the message says it all */
        fprintf(stderr, "%.*s\n", (int)log.len, log.data);
    buf_free(&log);
    return rc;
}

/* What each kernel of a configuration takes, as the device's driver tells it. */
struct kernel_row {
    const char *kernel;
    struct resources r;
    int64_t dynamic;
};

static const struct row_column columns[] = {
    { "kernel", "kernel", FIELD(struct kernel_row, kernel) },
    { "registers", "registers", FIELD(struct kernel_row, r.registers) },
    { "shared_bytes", "shared", FIELD(struct kernel_row, r.shared), .unit = UNIT_BYTES },
    { "dynamic_shared_bytes", "dynamic", FIELD(struct kernel_row, dynamic), .unit = UNIT_BYTES },
    { "local_bytes", "local", FIELD(struct kernel_row, r.local), .unit = UNIT_BYTES },
    { "max_threads", "threads at most", FIELD(struct kernel_row, r.max_threads) },
    { 0 },
};

/* Asks the device for each kernel of the variant; a row or an object each. */
static int read_kernels(const struct subject *s, struct device *d, struct guest_code *m, struct rows *rows, struct err *err)
{
    const struct variant *v = &s->t->op->variants[s->config.variant];
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(s->t->op, s->config.variant, &plan, err);
    if (!rc)
        plan_slots(plan, &s->t->problems[0], s->t->rows[0], &s->t->dev, &s->config, slots);
    for (int i = 0; !rc && i < v->nlaunches; i++) {
        struct geometry g;
        struct kernel *kernel;
        struct kernel_row row = { .kernel = v->launches[i].kernel };
        rc = plan_geometry(plan, i, slots, &g, err) ?: device_kernel(d, m, row.kernel, g.shared, &kernel, &row.r, err);
        if (rc)
            break;
        row.dynamic = g.shared;
        rows_add(rows, &row);
    }
    plan_free(plan);
    return rc;
}

static int load_and_read(const struct subject *s, const struct buf *binary, struct rows *rows, struct err *err)
{
    struct device *d = NULL;
    struct guest_code *m = NULL;
    int rc = device_open(&s->t->dev, &d, err)
        ?: device_load(d, binary->data, binary->len, &m, err)
        ?: read_kernels(s, d, m, rows, err);
    if (m)
        device_unload(d, m);
    if (d)
        device_close(d);
    return rc;
}

static int show_resources(const struct subject *s, struct err *err)
{
    const struct args *args = s->args;
    struct buf binary = { 0 };
    if (args->arch && !args->device)
        return err_set(err, ERR_UNSUPPORTED,
                       "--resources: the device's driver tells them: give a --device that is present, without --arch");
    int rc = compile(s, false, &binary, err);
    struct rows rows = rows_of(columns, args->json);
    rc = rc ?: load_and_read(s, &binary, &rows, err);
    buf_free(&binary);
    return rows_end(&rows, 0, rc, err);
}

static int show_ptx(const struct subject *s, struct err *err)
{
    struct buf ptx = { 0 };
    int rc = compile(s, true, &ptx, err);
    if (!rc)
        print_text(buf_text(&ptx));
    buf_free(&ptx);
    return rc;
}

static int show_source(const struct subject *s, struct err *err)
{
    if (s->args->json)
        return json_print(json_with(json_object(), "source", json_text(buf_text(&s->source))), err);
    print_text(buf_text(&s->source));
    return 0;
}

/* The compiler runs here, in this process, and may not end. */
static void late(int number)
{
    static const char line[] = "cutune show: the compiler did not finish within two minutes\n";
    (void)number;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(FAILED);
}

static int show_config(struct subject *s, struct err *err)
{
    const struct targets *t = s->t;
    int rc = find_config(s, err) ?: source_render_apart(t->op, &s->config, t->rows[0], &t->dev, &s->source, err);
    signal(SIGALRM, late);
    alarm(COMPILER_S);
    rc = rc ?: (s->args->ptx ? show_ptx(s, err) : s->args->resources ? show_resources(s, err) : show_source(s, err));
    alarm(0);
    buf_free(&s->source);
    return rc;
}

static int show(const struct args *args, struct err *err)
{
    struct targets t = { 0 };
    int rc = check_options(args, err)
        ?: targets_op(args, &t, err)
        ?: find_device(args, &t, err)
        ?: targets_problems(args, &t, err)
        ?: show_config(&(struct subject){ .t = &t, .args = args, .backend = backend_find(t.dev.backend) }, err);
    targets_free(&t);
    return rc;
}

static const struct argp_option options[] = {
    { OPT_OP },
    { "config", WORD(config), "TILE=32,...", 0,
      "The configuration; parameters left out take their default. Without it the op's default", 0 },
    { "variant", WORD(variant), "NAME", 0, "Its variant, if several variants have parameters of these names", 0 },
    { "source", FLAG(source), NULL, 0, "Print the text that is compiled (also without any of the three)", 0 },
    { "ptx", FLAG(ptx), NULL, 0, "Print PTX: on a CUDA device, or with --arch", 0 },
    { "resources", FLAG(resources), NULL, 0, "Print registers, shared and local memory of each kernel, from the device", 0 },
    { OPT_SHAPE("The problem's sizes; without it the first of the op's own shapes for this device") },
    { OPT_DTYPE("The problem's element types; without it f32, or the op's first") },
    { OPT_DEVICE },
    { "arch", WORD(arch), "sm_90", 0, "The CUDA architecture to write and compile for; needs no device", 0 },
    { OPT_JSON },
    { OPT_HELP },
    { 0 },
};

const struct command show_command = {
    .name = "show",
    .summary = "the source, PTX or resources of one configuration",
    .options = options,
    .doc = "Shows what one configuration of an op becomes: the source that is compiled, its PTX, or the\n"
           "registers and the memory that its kernels take."
           "\vExamples:\n"
           "  cutune show --op NAME --config TILE=32,ROWS=8 --source\n"
           "  cutune show --op NAME --variant tile --dtype f64 --arch sm_90 --ptx\n"
           "  cutune show --op NAME --shape m=512,n=512,k=512 --device cuda:0 --resources",
    .needs_op = true,
    .run = show,
};
