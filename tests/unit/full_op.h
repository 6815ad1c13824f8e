/* The sample with all that came with form 4 of the bytes of an op. */
#ifndef FULL_OP_H
#define FULL_OP_H

#include "sample_op.h"

struct full {
    struct sample s;
    struct arg args[11];
    int passed[12], viewed[4], swaps[2], round_swaps[2];
    struct launch launches[3], init[1], reference[2];
    struct launch_value values[2];
    struct view views[3];
    struct template_file more[1];
    struct build_option options[2];
    struct include includes[2];
    struct metric metrics[2];
    const char *where[2], *folders[1];
};

static inline void full_args(struct full *f)
{
    struct arg *a = f->args;
    for (int i = 0; i < 5; i++)
        a[i] = f->s.args[i];
    a[0].own_check = true;
    a[0].check = (struct check){ CHECK_CLOSE, .rtol = "T == 'f16' and 1e-2 or 1e-5", .atol = "0" };
    a[1].fill = FILL_AUTO;
    a[1].data.file = (struct data_file){ "t/a.npy", "0123456789abcdef0123456789abcdef", "f4", 2, { 3, 4 }, 128, 48 };
    a[4] = (struct arg){ .name = "half", .kind = ARG_SCALAR, .type = "T", .value = "n / 2" };
    a[5] = (struct arg){ .name = "at", .kind = ARG_INPUT, .type = "i32", .rank = 1, .extent = { "m" } };
    a[5].data = (struct arg_data){ .below = "n", .sorted = true };
    a[6] = (struct arg){ .name = "in2", .kind = ARG_INPUT, .type = "T", .rank = 1, .extent = { "n" } };
    a[6].data.range[0] = "-1";
    a[6].data.range[1] = "2 * n";
    a[6].data.peaks[0] = "4 * n";
    a[6].data.peaks[1] = "5 * n";
    a[6].data.peaks[2] = "1";
    a[7] = (struct arg){ .name = "made", .kind = ARG_INPUT, .type = "T", .rank = 1, .extent = { "n" }, .data.init = true };
    a[8] = (struct arg){ .name = "taps", .kind = ARG_INPUT, .type = "f32", .rank = 1, .extent = { "7" }, .constant = "d_taps" };
    a[9] = a[3]; /* a value twice */
    a[10] = (struct arg){ .name = "tmp", .kind = ARG_OUTPUT, .type = "T", .rank = 2, .extent = { "n", "m" }, .partial = true };
    f->s.op.nargs = 11;
    f->s.op.args = a;
}

static inline void full_launches(struct full *f)
{
    static const int passed[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12 };
    for (int i = 0; i < COUNT(passed); i++)
        f->passed[i] = passed[i];
    f->swaps[1] = f->round_swaps[1] = 10;
    f->values[0] = (struct launch_value){ "j", "i32", "STEP - ROUND" };
    f->values[1] = (struct launch_value){ "k", "i64", "1 << ROUND" };
    f->launches[0] = (struct launch){ .kernel = "first<T, TILE>",
                                      .grid = { "ceildiv(n, TILE) * 2 + ROUND // 100 * 2" },
                                      .block = { "TILE" },
                                      .nargs = 12,
                                      .args = f->passed,
                                      .when = "TILE > 4",
                                      .rounds = "TILE // 8",
                                      .nswaps = 2,
                                      .swaps = f->swaps,
                                      .nround_swaps = 2,
                                      .round_swaps = f->round_swaps,
                                      .nvalues = 2,
                                      .values = f->values,
                                      .cluster = { "2" },
                                      .dependent = true };
    f->launches[1] = (struct launch){ .kernel = "second", .nargs = 10, .args = f->passed, .steps = "ROUND + 1", .together = true };
    f->viewed[1] = 11;
    f->viewed[2] = 12;
    f->viewed[3] = 13;
    f->views[0] = (struct view){ .arg = 1, .rank = 2, .box = { "8", "TILE // 2" }, .swizzle = "sizeof(T) * 32", .l2 = "128" };
    f->views[1] = (struct view){ .arg = 10,
                                 .rank = 3,
                                 .box = { "1", "2", "8" },
                                 .nextents = 3,
                                 .extent = { "2", "n // 2", "m" },
                                 .nstrides = 2,
                                 .stride = { "n // 2 * m", "m" },
                                 .nsteps = 3,
                                 .step = { "1", "ROWS // ROWS", "1" },
                                 .interleave = "0",
                                 .nan = true };
    f->views[2] = (struct view){
        .arg = 1,
        .nextents = 2,
        .extent = { "m", "n" },
        .texture = true,
        .channels = "ROWS // ROWS",
        .mode = { .array = true, .linear = true, .normalized = true, .naddress = 2, .address = { ADDRESS_WRAP, ADDRESS_BORDER } }
    };
    f->launches[2] =
        (struct launch){ .kernel = "third", .nargs = 4, .args = f->viewed, .nviews = 3, .views = f->views, .cooperative = true };
    f->s.variants[0].nlaunches = 3;
    f->s.variants[0].launches = f->launches;
    f->init[0] = (struct launch){ .kernel = "make", .grid = { "n" }, .nargs = 10, .args = f->passed, .rounds = "2" };
    f->s.op.init = (struct variant){
        .name = "init", .template_name = "make.cu", .template_text = "KERNEL void make()", .nlaunches = 1, .launches = f->init
    };
    f->reference[0] = f->s.reference_launch[0];
    f->reference[1] = (struct launch){ .kernel = "ref2", .nargs = 10, .args = f->passed, .steps = "min(m, 3)" };
    f->s.op.reference.nlaunches = 2;
    f->s.op.reference.launches = f->reference;
    f->s.op.reference.nworkspaces = 1;
    f->s.op.reference.workspaces = f->s.partial;
}

/* As sample_op. */
static inline struct op *full_op(struct full *f)
{
    *f = (struct full){ 0 };
    struct op *op = sample_op(&f->s);
    full_args(f);
    full_launches(f);
    f->s.axes[0].max = "1 << 30";
    f->s.axes[2].preset = "m > n and 1 or 0";
    f->where[0] = "m * 4096 >= n or add == 1";
    op->nwhere = 1;
    op->where = f->where;
    op->check = (struct check){ CHECK_CLOSE, .rtol = "1e-5" };
    f->more[0] = (struct template_file){ "b.cu", "// b" };
    f->options[0] = (struct build_option){ "cuda", "-maxrregcount=$(TILE)" };
    f->options[1] = (struct build_option){ "opencl", "-w" };
    f->s.variants[0].build = (struct build){ .nmore = 1, .more = f->more, .noptions = 2, .options = f->options };
    f->s.variants[1].build.language = "cuda";
    op->init.build = op->reference.build = (struct build){ .nmore = 1, .more = f->more };
    f->includes[0] = (struct include){ "sub/a.h", "// a", false, false };
    f->includes[1] = (struct include){ "cute/b.h", "", false, true };
    op->nincludes = 2;
    op->includes = f->includes;
    f->folders[0] = "sub";
    op->ninclude_dirs = 1;
    op->include_dirs = f->folders;
    f->metrics[0] = (struct metric){ "gflops", "2*m*n / time", false };
    f->metrics[1] = (struct metric){ "heat", "energy * m", true };
    op->nmetrics = 2;
    op->metrics = f->metrics;
    op->objective = "heat";
    return op;
}

#endif
