/* `cutune show`: what one configuration becomes: its source, its PTX, the resources that it takes. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "device/device.h"
#include "model/head.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "source/source.h"

enum { COMPILER_S = 120 }; /* its deadline */

static int check_options(const struct args *args, struct err *err)
{
    if (args->source + args->ptx + args->resources > 1)
        return err_set(err, ERR_USAGE, "--source, --ptx and --resources: one of them at a time");
    if (args->json && args->ptx)
        return err_set(err, ERR_USAGE, "--json goes with --source or --resources: PTX is printed as it is");
    return 0;
}

static int find_device(struct request *r, struct err *err)
{
    int rc = request_device(r, err);
    if (!rc && r->args.ptx && !backend_find(r->dev.backend)->portable)
        return err_set(err, ERR_USAGE, "--ptx: the device here is %s, and only CUDA has PTX: add --arch sm_90, say", r->dev.name);
    return rc;
}

static int find_config(const struct request *r, struct config *c, struct err *err)
{
    struct buf refused = { 0 };
    if (!r->args.config && !r->args.variant)
        return op_default(r->op, &r->problems[0], r->rows[0], &r->dev, c, err);
    int rc = request_config(r, c, &refused, err);
    if (!rc && refused.len) /* it can be looked at all the same */
        complain("note: not a valid configuration for this problem here: %s", refused.data);
    buf_free(&refused);
    return rc;
}

/* portable: in place of a binary. */
static int compile(const struct request *r, const struct config *c, const char *source, bool portable, struct buf *out,
                   struct buf *entries, struct err *err)
{
    char arch[ARCH_NAME];
    const struct backend_compiling *b = backend_find(r->dev.backend)->compiling;
    struct compiler *compiler = NULL;
    struct buf log = { 0 };
    struct compile_job job = { .source = source,
                               .arch = devspec_arch(&r->dev, r->op->variants[c->variant].requires.arch_specific, arch)
                                           ?: r->args.arch,
                               .portable = portable,
                               .entries = entries,
                               .nheader_dirs = r->op->nheader_dirs,
                               .header_dirs = r->op->header_dirs };
    int rc = b->open(&r->dev, &compiler, err);
    if (!rc) {
        rc = b->compile(compiler, &job, out, NULL, &log, err);
        b->close(compiler);
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
    { "shared_bytes", "shared", FIELD(struct kernel_row, r.shared), .unit = text_bytes },
    { "dynamic_shared_bytes", "dynamic", FIELD(struct kernel_row, dynamic), .unit = text_bytes },
    { "local_bytes", "local", FIELD(struct kernel_row, r.local), .unit = text_bytes },
    { "max_threads", "threads at most", FIELD(struct kernel_row, r.max_threads) },
    { 0 },
};

/* Asks the device for each kernel of the variant; a row or an object each. */
static int read_kernels(const struct request *r, const struct config *c, struct device *d, struct guest_code *m,
                        const struct buf *entries, struct rows *rows, struct err *err)
{
    const struct variant *v = &r->op->variants[c->variant];
    struct plan *plan = NULL;
    struct val slots[MAX_SLOTS];
    int rc = plan_new(r->op, c->variant, &plan, err);
    if (!rc)
        plan_slots(plan, &r->problems[0], r->rows[0], &r->dev, c, slots);
    for (int i = 0; !rc && i < v->nlaunches; i++) {
        struct geometry g;
        struct kernel *kernel;
        struct kernel_row row = { .kernel = v->launches[i].kernel };
        char entry[MAX_ENTRY + 1];
        const char *name = list_line(entries->data, entries->len, i, entry) ? entry : row.kernel;
        rc = plan_geometry(plan, i, slots, &g, err) ?: device_kernel(d, m, name, g.shared, &kernel, &row.r, err);
        if (rc)
            break;
        row.dynamic = g.shared;
        rows_add(rows, "", &row);
    }
    plan_free(plan);
    return rc;
}

static int show_resources(const struct request *r, const struct config *c, const char *source, struct err *err)
{
    struct buf binary = { 0 }, entries = { 0 };
    struct device *d = NULL;
    struct guest_code *m = NULL;
    if (r->args.arch && !r->args.device)
        return err_set(err, ERR_UNSUPPORTED,
                       "--resources: the device's driver tells them: give a --device that is present, without --arch");
    struct rows rows = rows_of(columns, r->args.json);
    int rc = compile(r, c, source, false, &binary, &entries, err)
        ?: device_open(&r->dev, &d, err)
        ?: device_load(d, binary.data, binary.len, &m, err)
        ?: read_kernels(r, c, d, m, &entries, &rows, err);
    if (m)
        device_unload(d, m);
    if (d)
        device_close(d);
    buf_free(&binary);
    buf_free(&entries);
    return rows_end(&rows, rc, err);
}

/* A terminal gets it harmless, and a file as it is. */
static void print_text(const char *text)
{
    bool terminal = isatty(STDOUT_FILENO);
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (terminal)
            text_line("%.*s", (int)n, text);
        else
            printf("%.*s\n", (int)n, text);
    }
}

/* Says what the code calls a kernel, if that is not what the script calls it. */
static void note_entry(const char *ptx, const char *kernel, const char *entry)
{
    char named[MAX_NAME + 40], mangled[MAX_NAME + 40];
    if (entry && strcmp(entry, kernel)) {
        complain("note: %s is %s", kernel, entry);
        return;
    }
    snprintf(named, sizeof named, ".entry %.63s(", kernel);
    snprintf(mangled, sizeof mangled, ".entry _Z%zu%.63s", strlen(kernel), kernel);
    const char *at = strstr(ptx, mangled);
    if (!strstr(ptx, named) && at)
        complain("note: kernel '%s' is called %.*s in the code, as C++ does: write KERNEL, or extern \"C\", before it", kernel,
                 (int)strcspn(at + 7, "("), at + 7);
}

static int show_ptx(const struct request *r, const struct config *c, const char *source, struct err *err)
{
    const struct variant *v = &r->op->variants[c->variant];
    struct buf ptx = { 0 }, entries = { 0 };
    char entry[MAX_ENTRY + 1];
    int rc = compile(r, c, source, true, &ptx, &entries, err);
    if (!rc)
        print_text(buf_text(&ptx));
    for (int i = 0; !rc && i < v->nlaunches; i++)
        note_entry(buf_text(&ptx), v->launches[i].kernel, list_line(entries.data, entries.len, i, entry) ? entry : NULL);
    buf_free(&ptx);
    buf_free(&entries);
    return rc;
}

static int show_source(const struct request *r, const char *source, const struct buf *with, struct err *err)
{
    if (r->args.json)
        return json_print(json_pack("{s:o, s:o}", "source", json_text(source), "tuned_with", json_text(buf_text(with))), err);
    print_text(source);
    if (with->len)
        complain("note: it is tuned with %s; callers choose these values", buf_text(with));
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

static int show(struct request *r, struct err *err)
{
    struct config c;
    struct buf source = { 0 }, with = { 0 };
    int rc = check_options(&r->args, err)
        ?: request_op(r, r->args.op, err)
        ?: find_device(r, err)
        ?: request_problems(r, true, err)
        ?: find_config(r, &c, err)
        ?: source_render_apart(r->op, &c, r->rows[0], &r->dev, &source, err);
    if (!rc)
        tuned_with_print(&with, r->op);
    signal(SIGALRM, late);
    alarm(COMPILER_S);
    if (!rc)
        rc = r->args.ptx         ? show_ptx(r, &c, buf_text(&source), err)
             : r->args.resources ? show_resources(r, &c, buf_text(&source), err)
                                 : show_source(r, buf_text(&source), &with, err);
    alarm(0);
    buf_free(&source);
    buf_free(&with);
    return rc;
}

const struct command show_command = {
    .name = "show",
    .summary = "the source, PTX or resources of one configuration",
    .options = OPTIONS(
        { OPT_OP }, { OPT_INCLUDE },
        { "config", WORD(config), "TILE=32,...", 0,
          "The configuration; parameters left out take their default. Without it the op's default", 0 },
        { "variant", WORD(variant), "NAME", 0, "Its variant, if several variants have parameters of these names", 0 },
        { "source", FLAG(source), NULL, 0, "Print the text that is compiled (also without any of the three)", 0 },
        { "ptx", FLAG(ptx), NULL, 0, "Print PTX: on a CUDA device, or with --arch", 0 },
        { "resources", FLAG(resources), NULL, 0, "Print registers, shared and local memory of each kernel, from the device", 0 },
        { OPT_SHAPE(OWN_SHAPE) }, { OPT_DTYPE(USUAL_DTYPE) }, { OPT_DEVICE }, { OPT_ARCH("Write and compile") }, { OPT_JSON }),
    .doc = "Shows what one configuration of an op becomes: the source that is compiled, its PTX, or the "
           "registers and the memory that its kernels take."
           "\vExamples:\n"
           "  cutune show --op NAME --config TILE=32,ROWS=8 --source\n"
           "  cutune show --op NAME --variant tile --dtype f64 --arch sm_90 --ptx\n"
           "  cutune show --op NAME --shape m=512,n=512,k=512 --device cuda:0 --resources",
    .run = show,
};
