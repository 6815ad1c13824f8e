/* An op that uses every feature, as plain data, for the tests of the model. */
#ifndef SAMPLE_OP_H
#define SAMPLE_OP_H

#include "model/devspec.h"
#include "model/op.h"
#include "unit.h"

/* A device with room for these ops. */
static const struct devspec roomy = {
    .backend = "null",
    .multiprocessors = 4,
    .memory = INT64_MAX,
    .max_threads = 1024,
    .max_block = { 1024, 1024, 64 },
    .max_grid = { INT32_MAX, 65535, 65535 },
    .max_shared = 1 << 20,
    .max_alloc = INT64_MAX,
};

/* `static` data is copied by sample_op, so that a test may bend what it got. */
struct sample {
    struct axis axes[3];
    struct template_file preludes[1];
    const char *types[2];
    const struct dtype *rows[6];
    struct arg args[5];
    struct shape shapes[2];
    struct launch reference_launch[1];
    int reference_args[5], tile_args[6], walk_args[6], clear[1];
    struct val tile[4], rows_[4], pad[3], layout[2], scale[2], unroll[2];
    struct param tile_params[4], walk_params[2];
    const char *where[2];
    struct launch tile_launch[1], walk_launch[2];
    struct workspace partial[1];
    struct need needs[2];
    struct variant variants[2];
    struct op_default defaults[3];
    struct op op;
};

static inline void sample_problem(struct sample *s)
{
    s->preludes[0] = (struct template_file){ "prelude_cuda.h", "#define BACKEND_CUDA 1\n" };
    s->axes[0] = (struct axis){ "m", AXIS_SIZE, NULL, NULL };
    s->axes[1] = (struct axis){ "n", AXIS_SIZE, NULL, NULL };
    s->axes[2] = (struct axis){ "add", AXIS_FLAG, NULL, NULL };
    s->types[0] = "T";
    s->types[1] = "ACC";
    const char *const rows[] = { "f32", "f32", "f16", "f32", "i32", "i64" };
    for (int i = 0; i < COUNT(rows); i++)
        s->rows[i] = dtype_find(rows[i]);
    s->args[0] = (struct arg){ .name = "out", .kind = ARG_OUTPUT, .type = "T", .rank = 2, .extent = { "n", "m" } };
    s->args[1] = (struct arg){ .name = "in", .kind = ARG_INPUT, .type = "T", .rank = 2, .extent = { "m", "n" }, .fill = FILL_BITS };
    s->args[2] = (struct arg){ .name = "sum", .kind = ARG_INOUT, .type = "ACC" };
    s->args[3] = (struct arg){ .name = "m", .kind = ARG_VALUE, .value = "m" };
    s->args[4] = (struct arg){ .name = "half", .kind = ARG_VALUE, .type = "T", .value = "m * n // 2" };
    s->shapes[0] = (struct shape){ .problem = { { 1111, 113, 0 } } };
    s->shapes[1] = (struct shape){ .problem = { { 4096, 4096, 1 } }, .when = "device.memory > 1 << 30" };
}

static inline void sample_tile(struct sample *s)
{
    const int64_t tile[] = { 32, 8, 16, 64 }, rows[] = { 8, 1, 32, 5 }, pad[] = { 1, 0, 2 };
    for (int i = 0; i < 4; i++) {
        s->tile[i] = val_int(tile[i]);
        s->rows_[i] = val_int(rows[i]);
    }
    for (int i = 0; i < 3; i++)
        s->pad[i] = val_int(pad[i]);
    s->layout[0] = val_str("xy");
    s->layout[1] = val_str("x");
    s->tile_params[0] = (struct param){ "TILE", 4, s->tile };
    s->tile_params[1] = (struct param){ "ROWS", 4, s->rows_ };
    s->tile_params[2] = (struct param){ "PAD", 3, s->pad };
    s->tile_params[3] = (struct param){ "GRID", 2, s->layout };
    s->where[0] = "TILE % ROWS == 0";
    s->where[1] = "device.warp == 1 or TILE * ROWS >= device.warp";
    for (int i = 0; i < 5; i++)
        s->tile_args[i] = i;
    s->tile_launch[0] = (struct launch){
        .kernel = "transpose",
        .grid = { "GRID == 'xy' and ceildiv(n, TILE) or ceildiv(n, TILE) * ceildiv(m, TILE)",
                  "GRID == 'xy' and ceildiv(m, TILE) or 1" },
        .block = { "TILE", "ROWS" },
        .shared = "TILE * (TILE + PAD) * sizeof(T)",
        .nargs = 5,
        .args = s->tile_args,
    };
    s->needs[0] = (struct need){ NEED_ALIGN, 1, "TILE // 2 * sizeof(T)" };
    s->needs[1] = (struct need){ NEED_NOALIAS, 0, NULL };
    s->variants[0] = (struct variant){
        .name = "tile",
        .template_name = "tile.cu",
        .template_text = "KERNEL void transpose()",
        .nparams = 4,
        .params = s->tile_params,
        .nwhere = 2,
        .where = s->where,
        .nlaunches = 1,
        .launches = s->tile_launch,
        .nneeds = 2,
        .needs = s->needs,
        .nclear = 1,
        .clear = s->clear,
    };
}

static inline void sample_walk(struct sample *s)
{
    s->scale[0] = val_float(0.5);
    s->scale[1] = val_float(2);
    s->unroll[0] = val_bool(true);
    s->unroll[1] = val_bool(false);
    s->walk_params[0] = (struct param){ "SCALE", 2, s->scale };
    s->walk_params[1] = (struct param){ "UNROLL", 2, s->unroll };
    s->partial[0] = (struct workspace){ "partial", "ACC", "ceildiv(m * n, 256)", true };
    for (int i = 0; i < 6; i++)
        s->walk_args[i] = i;
    s->walk_launch[0] = (struct launch){
        .kernel = "walk", .grid = { "ceildiv(m * n, 256)" }, .block = { "256" }, .nargs = 6, .args = s->walk_args
    };
    s->walk_launch[1] =
        (struct launch){ .kernel = "gather", .block = { "device.max_threads" }, .nargs = 2, .args = s->walk_args + 4 };
    s->variants[1] = (struct variant){
        .name = "walk",
        .template_name = "walk.cu",
        .template_text = "//@ generated",
        .nparams = 2,
        .params = s->walk_params,
        .nlaunches = 2,
        .launches = s->walk_launch,
        .nworkspaces = 1,
        .workspaces = s->partial,
        .requires = { .backend = "cuda", .cc = 70, .grid_order = true, .grid_progress = true },
    };
}

/* The op points into *s, which must stay where it is. */
static inline struct op *sample_op(struct sample *s)
{
    *s = (struct sample){ 0 };
    sample_problem(s);
    sample_tile(s);
    sample_walk(s);
    s->defaults[0].config.variant = 1;
    s->defaults[1].when[s->defaults[1].nwhen++] = "m <= 1 << 30 or T == 'i32'";
    s->defaults[2].config.at[3] = 1;
    for (int i = 0; i < 5; i++)
        s->reference_args[i] = i;
    s->reference_launch[0] = (struct launch){
        .kernel = "ref", .grid = { "ceildiv(m * n, 64)" }, .block = { "64" }, .nargs = 5, .args = s->reference_args
    };
    s->op = (struct op){
        .name = "sample",
        .file = "sample.lua",
        .naxes = 3,
        .axes = s->axes,
        .ntypes = 2,
        .types = s->types,
        .nrows = 3,
        .rows = s->rows,
        .nargs = 5,
        .args = s->args,
        .work_bytes = "2 * m * n * sizeof(T)",
        .nshapes = 2,
        .shapes = s->shapes,
        .reference = { .template_name = "ref.cu",
                       .template_text = "KERNEL void ref()",
                       .nlaunches = 1,
                       .launches = s->reference_launch },
        .check = { CHECK_SUM, .length = "m" },
        .nvariants = 2,
        .variants = s->variants,
        .ndefaults = 3,
        .defaults = s->defaults,
        .npreludes = 1,
        .preludes = s->preludes,
    };
    return &s->op;
}

#endif
