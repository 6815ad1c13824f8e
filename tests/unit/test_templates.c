/* Every kernel template, as NVRTC sees it: each op, each row of its types and configurations of each variant, compiled for a device
 * that is made up. No GPU is needed; where there is no NVRTC they are only filled. */
#include "base/mem.h"
#include "base/util.h"
#include "device/device.h"
#include "model/head.h"
#include "op/load.h"
#include "source/source.h"
#include "space/space.h"
#include "unit.h"

/* An H200 and an A100, but for their memory. */
#define OF_BOTH                                                                                                                    \
    .backend = "cuda", .name = "made up", .driver = "none", .warp = 32, .memory = (int64_t)1 << 36, .max_alloc = (int64_t)1 << 36, \
    .max_static_shared = 48 << 10, .max_threads = 1024, .max_block = { 1024, 1024, 64 }, .max_grid = { INT32_MAX, 65535, 65535 },  \
    .fp64 = true
static const struct devspec sm_90 = { OF_BOTH,        .arch = "sm_90",        .cc = 90, .multiprocessors = 132,
                                      .l2 = 50 << 20, .max_shared = 227 << 10 };
static const struct devspec sm_80 = { OF_BOTH,        .arch = "sm_80",        .cc = 80, .multiprocessors = 108,
                                      .l2 = 40 << 20, .max_shared = 163 << 10 };
static const struct devspec *dev = &sm_90;

enum { FIRST = 3, OTHERS = 1 }; /* how many configurations of a variant: for its first types, and for each of the others */

/* No sanitizer looks into NVRTC: where there is one, the templates are filled, and that is all. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COMPILES = 0 };
#else
enum { COMPILES = 1 };
#endif

static struct compiler *compiler;

/* What is asked is whether they compile, not how fast they would be, so NVRTC does not have to optimize; older ones know no such option. It
 * takes less than half the time. What an assembler says of code for one architecture alone rests on what was optimized. */
static bool hurries;

static void hurry(struct buf *out)
{
    if (hurries)
        head_put(out, "option", "--Ofast-compile=max");
}

static bool may_hurry(void)
{
    struct buf source = { 0 }, binary = { 0 }, log = { 0 };
    struct err err = { 0 };
    char arch[ARCH_NAME];
    hurries = true;
    hurry(&source);
    buf_fmt(&source, "extern \"C\" __global__ void nothing() {}\n");
    const struct compile_job job = { .source = buf_text(&source), .arch = devspec_arch(&sm_90, false, arch) };
    bool may = !cuda_backend.compiling->compile(compiler, &job, &binary, NULL, &log, &err);
    buf_free(&source);
    buf_free(&binary);
    buf_free(&log);
    return may;
}

static int open_compiler(void **state)
{
    (void)state;
    struct err err = { 0 };
    setenv("CUTUNE_HOME", SOURCE_DIR, 1);
    int rc = COMPILES ? cuda_backend.compiling->open(&sm_90, &compiler, &err) : 0;
    if (rc == ERR_UNSUPPORTED)
        print_message("no NVRTC, so templates are filled, but not compiled: %s\n", err.msg);
    else if (rc)
        print_error("%s\n", err.msg);
    hurries = compiler && may_hurry();
    return rc == ERR_UNSUPPORTED ? 0 : rc;
}

static int close_compiler(void **state)
{
    (void)state;
    if (compiler)
        cuda_backend.compiling->close(compiler);
    return 0;
}

/* Compiles without a word, and every kernel of the launches is there. */
static void compile(const char *what, const char *source, bool specific, const struct launch *launches, int n)
{
    struct buf binary = { 0 }, log = { 0 };
    struct err err = { 0 };
    char arch[ARCH_NAME];
    if (!COMPILES || !compiler)
        return;
    const struct compile_job job = { .source = source, .arch = devspec_arch(dev, specific, arch) };
    int rc = cuda_backend.compiling->compile(compiler, &job, &binary, NULL, &log, &err);
    if (rc || log.len)
        fail_msg("%s: %s %s", what, err.msg, buf_text(&log));
    for (int i = 0; i < n; i++) {
        char section[MAX_NAME + 16];
        snprintf(section, sizeof section, ".text.%s", launches[i].kernel);
        if (!memmem(binary.data, binary.len, section, strlen(section) + 1))
            fail_msg("%s: there is no kernel %s", what, launches[i].kernel);
    }
    buf_free(&binary);
    buf_free(&log);
}

static void compile_config(const struct op *op, int row, const struct config *c)
{
    struct buf source = { 0 }, what = { 0 };
    struct err err = { 0 };
    buf_fmt(&what, "%s ", op->name);
    op_row_print(&what, op, row);
    buf_fmt(&what, " %s%s", c ? op->variants[c->variant].name : "reference", c ? " " : "");
    if (c)
        config_print(&what, op, c);
    if (!c || !op->variants[c->variant].requires.arch_specific)
        hurry(&source);
    if (source_render(op, c, row, dev, &source, &err))
        fail_msg("%s: %s", buf_text(&what), err.msg);
    const struct variant *v = c ? &op->variants[c->variant] : NULL;
    if (v)
        compile(buf_text(&what), buf_text(&source), v->requires.arch_specific, v->launches, v->nlaunches);
    else
        compile(buf_text(&what), buf_text(&source), false, op->reference.launches, 1);
    buf_free(&source);
    buf_free(&what);
}

/* Evenly over the variant's part of the space. */
static int compile_variant(const struct op *op, int row, const struct space *space, int variant, int most)
{
    int64_t first = 0, count = space_variant_count(space, variant);
    for (int v = 0; v < variant; v++)
        first += space_variant_count(space, v);
    int64_t n = count < most ? count : most;
    for (int64_t i = 0; i < n; i++) {
        struct config c;
        space_at(space, first + (row + i * count / n) % count, &c);
        assert_int_equal(c.variant, variant);
        compile_config(op, row, &c);
    }
    return (int)n;
}

/* For a problem that most configurations allow, and for those with one small axis, with one odd or all, and for several of each what is for
 * these only; and for those with a small axis and all others odd. Flags that have a default differ from row to row. Marks the variants that have
 * something for one of them, and leaves out those that are `done`. */
static int compile_row(const struct op *op, int row, const bool *done, bool *seen)
{
    int compiled[MAX_VARIANTS] = { 0 }, n = 1;
    bool before[MAX_VARIANTS]; /* for other types */
    memcpy(before, seen, sizeof before);
    compile_config(op, row, NULL);
    const int kinds = 3 * op->naxes + 2, all_odd = op->naxes, short_and_odd = 2 * op->naxes + 1;
    for (int round = 0; round < 2 * kinds; round++) {
        const int kind = round % kinds - 1, several = 1 + round / kinds;
        /* Axes; negative: none. */
        const int small = kind < op->naxes ? kind : kind - short_and_odd, odd = kind < short_and_odd ? kind - op->naxes - 1 : -1;
        struct problem p;
        struct space *space;
        struct err err = { 0 };
        if ((small >= 0 && op->axes[small].kind != AXIS_SIZE) || (odd >= 0 && op->axes[odd].kind != AXIS_SIZE) ||
            (kind >= short_and_odd && several > 1))
            continue;
        for (int i = 0, flags = 0; i < op->naxes; i++) {
            p.size[i] = op->axes[i].kind == AXIS_BATCH  ? several
                        : op->axes[i].kind != AXIS_SIZE ? op->axes[i].kind != AXIS_FLAG
                        : i == small                    ? 16
                                                        : 4096 - (i == odd || kind == all_odd || kind >= short_and_odd);
            if (op->axes[i].kind == AXIS_FLAG && op->axes[i].preset)
                p.size[i] = row >> flags++ & 1;
            if (op->axes[i].kind == AXIS_STRIDE && op->axes[i].preset)
                assert_int_equal(axis_preset(op, i, &p, &p.size[i], &err), 0);
        }
        if (space_new(op, &p, row, dev, NULL, &space, &err))
            fail_msg("%s: %s", op->name, err.msg);
        for (int v = 0; v < op->nvariants; v++) {
            seen[v] = seen[v] || space_variant_count(space, v);
            if (!compiled[v] && !done[v])
                n += compiled[v] = compile_variant(op, row, space, v, before[v] ? OTHERS : FIRST);
        }
        space_free(space);
    }
    return n;
}

static void compiles_ops(void **state)
{
    (void)state;
    char **names;
    int n;
    struct err err = { 0 };
    assert_int_equal(script_names("ops", &names, &n, &err), 0);
    assert_true(n >= 3);
    for (int i = 0; i < n; i++) {
        struct op *op;
        if (op_load(names[i], &op, &err))
            fail_msg("%s", err.msg);
        int kernels = 0;
        bool done[MAX_VARIANTS] = { 0 }, seen[MAX_VARIANTS] = { 0 };
        for (int row = 0; row < op->nrows; row++)
            kernels += compile_row(op, row, done, seen);
        memcpy(done, seen, sizeof done);
        if (memchr(done, false, (size_t)op->nvariants)) { /* what is for older devices only */
            dev = &sm_80;
            for (int row = 0; row < op->nrows; row++)
                kernels += compile_row(op, row, done, seen);
            dev = &sm_90;
        }
        for (int v = 0; v < op->nvariants; v++)
            if (!seen[v])
                fail_msg("%s: %s has no valid configuration", op->name, op->variants[v].name);
        print_message("%s: %d rows of types, %d sources\n", op->name, op->nrows, kernels);
        op_free(op);
    }
    mem_free(names);
}

/* What checks and fills beside the candidates: for every type but the complex ones, which are handled as their parts. */
static void compiles_service(void **state)
{
    (void)state;
    if (!compiler)
        skip();
    static const struct launch launches[] = { { .kernel = "fill_source" },  { .kernel = "check_source" },
                                              { .kernel = "fill_peaks" },   { .kernel = "check_peaks" },
                                              { .kernel = "check_equal" },  { .kernel = "check_close" },
                                              { .kernel = "check_guards" }, { .kernel = "check_unwritten" },
                                              { .kernel = "digest" },       { .kernel = "flush" } };
    struct buf text = { 0 };
    struct op *op;
    struct err err = { 0 };
    if (file_read(SOURCE_DIR "/templates/numbers.h", 1 << 20, &text, &err) ||
        file_read(SOURCE_DIR "/templates/service.cu", 1 << 20, &text, &err) || op_load("transpose", &op, &err))
        fail_msg("%s", err.msg);
    for (int i = 0; dtype_at(i); i++) {
        struct buf source = { 0 };
        char what[64];
        if (dtype_at(i)->kind == DT_COMPLEX)
            continue;
        snprintf(what, sizeof what, "service.cu %s", dtype_at(i)->name);
        hurry(&source);
        assert_int_equal(source_prelude(op, dev, &source, &err), 0);
        source_define_type(&source, "T", dtype_at(i));
        source_define_numbers(&source, "T", dtype_at(i));
        buf_put(&source, text.data, text.len);
        compile(what, buf_text(&source), false, launches, sizeof launches / sizeof *launches);
        buf_free(&source);
    }
    op_free(op);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_ops),
        cmocka_unit_test(compiles_service),
    };
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
