/* The model's plain data: types, devices, ops and their bytes, problems, configurations. */
#include "full_op.h"
#include "model/devspec.h"
#include "model/op.h"
#include "model/serial.h"
#include "unit.h"

static void dtypes(void **state)
{
    (void)state;
    int n = 0;
    for (; dtype_at(n); n++)
        assert_ptr_equal(dtype_find(dtype_at(n)->name), dtype_at(n));
    assert_int_equal(n, 16);
    assert_null(dtype_at(-1));
    assert_null(dtype_find("f33"));
    assert_int_equal(dtype_find("c128")->bytes, 16);
    assert_int_equal(dtype_find("u16")->kind, DT_UINT);
    assert_true(dtype_find("f16")->eps == 0x1p-11 && dtype_find("i8")->eps == 0);
}

static const struct devspec gpu = {
    .backend = "cuda",
    .name = "Some GPU",
    .arch = "sm_90",
    .multiprocessors = 132,
    .memory = (int64_t)80 << 30,
    .index = 1,
    .uuid = "GPU-1",
    .driver = "1.2",
    .cc = 90,
    .warp = 32,
    .l2 = 50 << 20,
    .max_threads = 1024,
    .max_block = { 1024, 1024, 64 },
    .max_grid = { INT32_MAX, 65535, 65535 },
    .max_shared = 232448,
    .max_static_shared = 49152,
    .max_alloc = (int64_t)80 << 30,
    .fp64 = true,
};

static void devices(void **state)
{
    (void)state;
    char id[32];
    devspec_id(&gpu, id);
    assert_string_equal(id, "cuda:1");
    int n = 0;
    for (; devspec_name(n); n++)
        assert_int_not_equal(devspec_val(&gpu, n).type, VAL_NIL);
    assert_int_equal(n, 8);
    assert_string_equal(devspec_name(1), "device.cc");
    assert_int_equal(devspec_val(&gpu, 1).i, 90);
    assert_string_equal(devspec_val(&gpu, 0).s, "cuda");

    struct devspec other = gpu;
    strcpy(other.uuid, "GPU-2");
    other.index = 0;
    assert_true(devspec_same(&gpu, &other));
    strcpy(other.mig, "1g.10gb");
    assert_false(devspec_same(&gpu, &other));
}

static void devspec_put(struct buf *out, const struct devspec *d)
{
    io_devspec(&(struct serial){ .out = out }, (struct devspec *)d);
}

static void devspec_get(struct cursor *in, struct devspec *d)
{
    *d = (struct devspec){ 0 };
    io_devspec(&(struct serial){ .in = in }, d);
}

static void device_bytes(void **state)
{
    (void)state;
    struct buf b = { 0 };
    devspec_put(&b, &gpu);
    struct devspec back;
    struct cursor c = cursor_on(b.data, b.len);
    devspec_get(&c, &back);
    assert_false(c.bad);
    assert_ptr_equal(c.at, c.end);
    assert_memory_equal(&back, &gpu, sizeof gpu);
    for (size_t n = 0; n < b.len; n++) {
        c = cursor_on(b.data, n);
        devspec_get(&c, &back);
        assert_true(c.bad);
    }
    buf_clear(&b);
    buf_lstr(&b, "a backend's name that is too long");
    c = cursor_on(b.data, b.len);
    devspec_get(&c, &back);
    assert_true(c.bad);
    buf_free(&b);
}

static void names(void **state)
{
    (void)state;
    assert_true(name_ok("_") && name_ok("TILE_2"));
    assert_false(name_ok("") || name_ok("2D") || name_ok("a-b") || name_ok("\xc3\xa4"));
    char name[MAX_NAME + 2];
    memset(name, 'a', sizeof name);
    name[MAX_NAME + 1] = 0;
    assert_false(name_ok(name));
    name[MAX_NAME] = 0;
    assert_true(name_ok(name));
}

static void finds(void **state)
{
    (void)state;
    struct sample s;
    const struct op *op = sample_op(&s);
    assert_int_equal(op_variant(op, "walk"), 1);
    assert_int_equal(op_variant(op, "run"), -1);
    assert_int_equal(op_type(op, "ACC"), 1);
    assert_int_equal(param_value(&s.tile_params[3], val_str("x")), 1);
    assert_int_equal(param_value(&s.tile_params[0], val_int(7)), -1);
    assert_string_equal(op_arg_dtype(op, "ACC", 2)->name, "i64");
    assert_string_equal(op_arg_dtype(op, "u8", 0)->name, "u8");
    assert_string_equal(op_arg_dtype(op, NULL, 0)->name, "i64");
    assert_true(axis_takes(&op->axes[0], 1) && axis_takes(&op->axes[2], 0));
    assert_false(axis_takes(&op->axes[0], 0) || axis_takes(&op->axes[2], 2));
}

static void fails_with(int rc, const struct err *err, const char *part)
{
    if (rc >= 0 || !strstr(err->msg, part))
        fail_msg("got %d, `%s`; expected `%s`", rc, err->msg, part);
}

static void rows(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    assert_int_equal(op_row(op, "f32", &err), 0);
    assert_int_equal(op_row(op, "f16", &err), 1);
    assert_int_equal(op_row(op, "ACC=i64, T=i32", &err), 2);
    assert_int_equal(op_row(op, "ACC=i64", &err), 2);
    fails_with(op_row(op, "f64", &err), &err, "sample does not take f64: it takes T=f32,ACC=f32, T=f16,ACC=f32, T=i32,ACC=i64");
    fails_with(op_row(op, "", &err), &err, "does not take nothing");
    fails_with(op_row(op, "T=f16,ACC=i64", &err), &err, "does not take T=f16,ACC=i64");
    fails_with(op_row(op, "S=f16", &err), &err, "no type S: its types are T, ACC");
    fails_with(op_row(op, "T=f15", &err), &err, "T=f15 is no element type");
    fails_with(op_row(op, "T=f16,T=f16", &err), &err, "T is given twice");
    struct buf b = { 0 };
    op_row_print(&b, op, 1);
    assert_string_equal(buf_text(&b), "T=f16,ACC=f32");
    op->ntypes = 1;
    buf_clear(&b);
    op_row_print(&b, op, 2);
    assert_string_equal(buf_text(&b), "f16");
    buf_free(&b);
}

static void problems(void **state)
{
    (void)state;
    struct sample s;
    const struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct problem p;
    assert_int_equal(problem_parse(op, " n = 113,add=1,m=9223372036854775807", &p, &err), 0);
    assert_true(p.size[0] == INT64_MAX && p.size[1] == 113 && p.size[2] == 1);
    struct buf b = { 0 };
    problem_print(&b, op, &p);
    assert_string_equal(buf_text(&b), "m=9223372036854775807,n=113,add=1");
    buf_free(&b);

    static const char *const wrong[][2] = {
        { "q=1", "sample has no axis q: its axes are m, n, add" },
        { "m=1,add=0", "shape: n missing: give every axis of sample: m=N, n=N, add=N" },
        { "", "m, n, add missing" },
        { "m=1,m=1", "m is given twice" },
        { "m", "`m` should be NAME=VALUE" },
        { "m=", "`m=` lacks its value" },
        { "=1", "`=1` lacks its name" },
        { "m=1,,n=1", "should be NAME=VALUE" },
        { "m=1,", "ends with a comma" },
        { "m=12x", "m=12x is not a number: a size is a whole number from 1" },
        { "m=1.5", "m=1.5 is not a number" },
        { "m=-", "m=- is not a number" },
        { "m=+1", "m=+1 is not a number" },
        { "m=0x10", "m=0x10 is not a number" },
        { "m=0", "m=0 is zero: a size is a whole number from 1" },
        { "m=-3", "m=-3 is negative: a size is a whole number from 1" },
        { "m=-99999999999999999999", "is negative" },
        { "m=9223372036854775808", "is too large: the largest is 9223372036854775807" },
        { "add=2", "add=2 is neither: a flag is 0 or 1" },
        { "add=-1", "add=-1 is negative: a flag is 0 or 1" },
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        p.size[0] = 42;
        fails_with(problem_parse(op, wrong[i][0], &p, &err), &err, wrong[i][1]);
        assert_int_equal(p.size[0], 42);
        assert_int_equal(problem_parse(op, wrong[i][0], &p, NULL), ERR_INVALID);
    }
    char endless[5000];
    memset(endless, 'm', sizeof endless);
    endless[sizeof endless - 1] = 0;
    fails_with(problem_parse(op, endless, &p, &err), &err, "is too long");
}

static void configs(void **state)
{
    (void)state;
    struct sample s;
    const struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct config c, d;
    assert_int_equal(config_parse(op, NULL, "GRID=x, TILE=64", &c, &err), 0); /* only tile has these */
    assert_int_equal(c.variant, 0);
    struct buf b = { 0 };
    config_print(&b, op, &c);
    assert_string_equal(buf_text(&b), "TILE=64,ROWS=8,PAD=1,GRID=x");
    assert_int_equal(config_parse(op, "tile", buf_text(&b), &d, &err), 0);
    assert_memory_equal(&c, &d, sizeof c);
    d.at[1] = 1;
    assert_memory_not_equal(&c, &d, sizeof c);

    assert_int_equal(config_parse(op, NULL, "UNROLL=false,variant=walk,SCALE=2.0", &c, &err), 0);
    assert_int_equal(c.variant, 1);
    buf_clear(&b);
    config_print(&b, op, &c);
    assert_string_equal(buf_text(&b), "SCALE=2.0,UNROLL=false");
    static const char *const same[] = { "SCALE=2,UNROLL=false", "UNROLL=false,SCALE=20e-1", "SCALE=2.00,UNROLL=false" };
    for (int i = 0; i < COUNT(same); i++) { /* the same number */
        assert_int_equal(config_parse(op, "walk", same[i], &d, &err), 0);
        assert_memory_equal(&c, &d, sizeof c);
    }
    assert_int_equal(config_parse(op, "walk", "", &c, &err), 0);
    assert_true(c.at[0] == 0 && c.at[1] == 0);
    buf_free(&b);
}

static void wrong_configs(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct config c;
    static const struct {
        const char *variant, *text, *part;
    } wrong[] = {
        { NULL, "", "could be of several variants: add variant=NAME, one of tile, walk" },
        { NULL, "TILE=32,SCALE=2.0",
          "no variant of sample has all parameters of `TILE=32,SCALE=2.0`: its variants are tile, walk" },
        { "run", "TILE=32", "sample has no variant 'run': its variants are tile, walk" },
        { NULL, "variant=run", "no variant 'run'" },
        { "tile", "variant=walk", "both variant tile and variant walk" },
        { "tile", "TIL=32", "variant tile has no parameter TIL: it has TILE, ROWS, PAD, GRID" },
        { NULL, "TILE=33", "TILE=33 is not among its values: 32, 8, 16, 64" },
        { NULL, "TILE=032", "TILE=032 is not among" },
        { "walk", "SCALE=2.0001", "SCALE=2.0001 is not among" },
        { "walk", "SCALE=0x2", "SCALE=0x2 is not among" },
        { "walk", "SCALE=2f", "SCALE=2f is not among" },
        { NULL, "GRID=y", "GRID=y is not among its values: xy, x" },
        { NULL, "TILE=32,TILE=32", "TILE is given twice" },
        { NULL, "TILE", "should be NAME=VALUE" },
        { "tile", "TILE=32,", "ends with a comma" },
    };
    for (int i = 0; i < COUNT(wrong); i++)
        fails_with(config_parse(op, wrong[i].variant, wrong[i].text, &c, &err), &err, wrong[i].part);
    op->nvariants = 1; /* now it needs no name, and says what the one has */
    assert_int_equal(config_parse(op, NULL, "", &c, &err), 0);
    fails_with(config_parse(op, NULL, "SCALE=2.0", &c, &err), &err, "variant tile has no parameter SCALE");
}

static int config_get(struct cursor *in, const struct op *op, struct config *c)
{
    *c = (struct config){ 0 };
    io_config(&(struct serial){ .in = in }, op, c);
    return in->bad ? ERR_CORRUPT : 0;
}

static void config_bytes(void **state)
{
    (void)state;
    struct sample s;
    const struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct config c, d;
    assert_int_equal(config_parse(op, NULL, "TILE=16,GRID=x", &c, &err), 0);
    struct buf b = { 0 };
    io_config(&(struct serial){ .out = &b }, op, &c);
    struct cursor in = cursor_on(b.data, b.len);
    assert_int_equal(config_get(&in, op, &d), 0);
    assert_memory_equal(&c, &d, sizeof c);
    for (size_t n = 0; n < b.len; n++) {
        in = cursor_on(b.data, n);
        assert_int_equal(config_get(&in, op, &d), ERR_CORRUPT);
    }
    b.data[0] = 2;
    in = cursor_on(b.data, b.len);
    assert_int_equal(config_get(&in, op, &d), ERR_CORRUPT); /* a variant that sample does not have */
    b.data[0] = 0, b.data[4] = 4;
    in = cursor_on(b.data, b.len);
    assert_int_equal(config_get(&in, op, &d), ERR_CORRUPT); /* a value that TILE does not have */
    buf_free(&b);
}

static void op_bytes(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct buf b = { 0 }, again = { 0 };
    s.args[0].partial = true;
    s.variants[0].nclear = 0;
    static struct include files[] = { { "sub/a.h", "// a", false, false }, { "sub/a.h", "", true, false } };
    op->includes = files;
    op->nincludes = 2;
    op->check = (struct check){ CHECK_EXACT, NULL, NULL, NULL };
    s.args[2].data = (struct arg_data){ .range = { "-1", "n" }, .sorted = true };
    s.args[1].fill = FILL_AUTO;
    op->init = s.variants[0];
    op->init.launches = op->reference.launches;
    s.args[3] = (struct arg){ .name = "made", .kind = ARG_INPUT, .type = "T", .rank = 1, .extent = { "n" }, .data.init = true };
    s.args[1].data.file = (struct data_file){ "t/a.npy", "0123456789abcdef0123456789abcdef", "f4", 2, { 3, 4 }, 128, 48 };
    op_put(&b, op);
    struct cursor in = cursor_on(b.data, b.len);
    struct op *back = NULL;
    assert_int_equal(op_get(&in, false, &back, &err), 0);
    assert_ptr_equal(in.at, in.end);
    op_put(&again, back); /* everything is in the bytes: so equal bytes are equal ops */
    assert_int_equal(b.len, again.len);
    assert_memory_equal(b.data, again.data, b.len);
    assert_true(back->args[0].partial && !back->args[1].partial);
    assert_true(back->args[2].data.sorted && !data_given(&back->args[0].data));
    assert_true(back->args[1].data.file.shape[1] == 4 && back->args[1].data.file.bytes == 48);
    assert_true(back->init.nlaunches == 1 && back->args[3].data.init && !strcmp(back->init.launches[0].kernel, "ref"));
    assert_string_equal(back->args[2].data.range[1], "n");
    assert_true(back->nincludes == 2 && back->includes[1].shared && !back->includes[0].shared);
    assert_string_equal(back->includes[0].text, "// a");
    assert_string_equal(back->variants[0].params[3].values[1].s, "x");
    assert_ptr_equal(back->rows[5], dtype_find("i64"));
    assert_int_equal(back->npreludes, 1);
    assert_string_equal(back->preludes[0].name, "prelude_cuda.h");
    assert_int_equal(back->shapes[1].problem.size[2], 1);
    assert_true(back->variants[1].requires.grid_progress && !back->variants[1].requires.arch_specific);
    op_free(back);
    op_free(NULL);
    buf_free(&b);
    buf_free(&again);
}

/* Bytes of a broken or hostile child: refused or read, never a crash, and never an op that op_check would not pass. */
static void hostile_op_bytes(void **state)
{
    (void)state;
    static struct full f;
    struct err err = { 0 };
    struct buf b = { 0 };
    op_put(&b, full_op(&f));
    struct op *back;
    for (size_t n = 0; n < b.len; n++) {
        struct cursor in = cursor_on(b.data, n);
        assert_int_equal(op_get(&in, false, &back, &err), ERR_CORRUPT);
    }
    static const unsigned char bend[] = { 0x00, 0x01, 0x02, 0x7f, 0x80, 0xff };
    for (size_t at = 0; at < b.len; at++)
        for (int k = 0; k < COUNT(bend); k++) {
            char was = b.data[at];
            b.data[at] = (char)bend[k];
            struct cursor in = cursor_on(b.data, b.len);
            if (op_get(&in, false, &back, &err) == 0) {
                assert_int_equal(op_check(back, &err), 0);
                op_free(back);
            }
            b.data[at] = was;
        }
    buf_free(&b);
}

/* What op_check says to an op with everything that is bent in one place. */
/* clang-format off */
static void bend_full(struct full *f, int way)
{
    struct op *op = &f->s.op;
    struct data_file *file = &f->args[1].data.file;
    switch (way) {
    case 0: file->element = ""; break;
    case 1: file->element = "f"; break;
    case 2: file->element = "f4x"; break;
    case 3: file->element = "f1234567"; break;
    case 4: file->at = 1; file->bytes = INT64_MAX; break;
    case 5: file->digest = "0"; break;
    case 6: file->name = "../a"; break;
    case 7: f->args[1].data.sorted = true; break;
    case 8: op->reference.template_text = NULL; break;
    case 9: f->launches[0].together = true; break;
    case 10: f->launches[1].rounds = "2"; break;
    case 11: f->launches[0].nswaps = 1; break;
    case 12: f->swaps[0] = 1; break;
    case 13: f->swaps[1] = 11; break;
    case 14: f->round_swaps[0] = 10; break;
    case 15: f->values[0].type = "c64"; break;
    case 16: f->values[1].name = "j"; break;
    case 17: f->values[1].type = "T"; break;
    case 18: f->passed[11] = 13; break;
    case 19: f->s.tile_params[0].name = "ROUND"; break;
    case 20: op->metrics[0].name = "time"; break;
    case 21: op->metrics[1].name = "gflops"; break;
    case 22: op->objective = "none"; break;
    case 23: f->args[5].data.range[0] = f->args[5].data.range[1] = "1"; break;
    case 24: f->args[6].data.range[1] = NULL; break;
    case 25: f->args[5].constant = "a\nb"; break;
    case 26: f->args[0].constant = "a"; break;
    case 27: f->args[7].data.init = false; break;
    case 28: op->init.template_text = NULL; break;
    case 29: f->reference[1].cluster[2] = "2"; break;
    case 30: f->s.partial[0].type = "x"; break;
    case 31: f->folders[0] = "/etc"; break;
    case 32: f->options[1].backend = ""; break;
    case 33: f->args[0].check.length = "m"; break;
    case 34: f->init[0].nargs = 12; break;
    case 35: op->outside_beside = true; break;
    case 36: f->args[10].data.file = *file; break;
    case 37: f->args[9].value = "n"; break;
    case 38: f->launches[0].kernel = "a\"b"; break;
    case 39: f->reference[0].together = true; break;
    case 40: f->s.axes[2].name = "energy"; break;
    case 41: f->s.variants[0].nworkspaces = 1; f->s.variants[0].workspaces = f->s.partial; f->values[1].name = "partial"; break;
    case 42: f->views[0].arg = 3; break;
    case 43: f->views[0].arg = 11; break;
    case 44: f->views[0].rank = 1; break;
    case 45: f->views[1].nextents = 0; break;
    case 46: f->views[1].nstrides = 1; break;
    case 47: f->views[1].nsteps = 2; break;
    case 48: f->viewed[2] = 14; break;
    }
}
/* clang-format on */

static void op_check_says_why_of_the_new(void **state)
{
    (void)state;
    static const char *const says[] = {
        "damaged",     "damaged",     "damaged",     "damaged",   "damaged",   "damaged",           "no path",
        "leave range", "no template", "no rounds",   "no rounds", "no pairs",  "change places",     "change places",
        "one type",    "no type",     "taken",       "no type",   "none of",   "repetition",        "without being",
        "twice",       "none",        "says it all", "two ends",  "constant",  "constant",          "no input",
        "no init",     "clusters",    "no type",     "no path",   "no name",   "belongs",           "none of",
        "outside",     "partial",     "taken",       "function",  "no rounds", "what metrics call", "taken",
        "of a buffer", "of a buffer", "a box of",    "a box of",  "1 strides", "2 steps",           "none of",
    };
    static struct full f;
    struct err err = { 0 };
    if (op_check(full_op(&f), &err))
        fail_msg("%s", err.msg);
    for (int way = 0; way < COUNT(says); way++) {
        full_op(&f);
        bend_full(&f, way);
        if (op_check(&f.s.op, &err) != ERR_INVALID || !strstr(err.msg, says[way]))
            fail_msg("way %d: %s", way, err.msg);
    }
}

static void op_without_memory(void **state)
{
    (void)state;
    static struct full f;
    struct err err = { 0 };
    struct buf b = { 0 };
    op_put(&b, full_op(&f));
    int rc = ERR_NOMEM;
    long nth = 0;
    for (; rc == ERR_NOMEM; nth++) {
        struct op *back = NULL;
        struct cursor in = cursor_on(b.data, b.len);
        mem_fail_at(nth);
        rc = op_get(&in, false, &back, &err);
        mem_fail_at(-1);
        if (rc == 0)
            op_free(back);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 3);
    buf_free(&b);
}

/* Each way to bend a right op, and what op_check says to it. */
/* clang-format off */
static void bend(struct sample *s, int way)
{
    static struct val many[2];
    static struct include files[2];
    struct op *op = &s->op;
    switch (way) {
    case 0: op->name = "2d"; break;
    case 1: s->axes[1].name = "m"; break;
    case 2: s->types[0] = "m"; break;
    case 3: s->tile_params[0].name = "n"; break;
    case 4: s->tile_params[0].name = "ACC"; break;
    case 5: s->axes[0].name = "sizeof"; break;
    case 6: s->types[0] = "f32"; break;
    case 7: s->tile_params[1].name = "variant"; break;
    case 8: s->variants[1].name = "tile"; break;
    case 9: s->partial[0].name = "in"; break;
    case 10: s->args[1].name = "out"; break;
    case 11: s->args[0].type = "f31"; break;
    case 12: s->args[0].value = "1"; break;
    case 13: s->tile[1] = val_float(8); break;
    case 14: s->tile[1] = val_int(64); break;
    case 15: s->scale[0].f = 1.0 / 0.0; break;
    case 16: s->layout[0].s = "x y"; break;
    case 17: s->tile_args[0] = 5; break;
    case 18: s->walk_args[0] = 6; break;
    case 19: s->reference_args[0] = 5; break;
    case 20: s->needs[0].arg = 3; break;
    case 21: s->needs[1].bytes = "16"; break;
    case 22: s->clear[0] = 1; break;
    case 23: s->variants[1].requires.backend = "no name"; break;
    case 24: s->variants[0].requires.arch_specific = true; break;
    case 25: s->shapes[0].problem.size[0] = 0; break;
    case 26: s->shapes[0].problem.size[2] = 2; break;
    case 27: s->tile_launch[0].kernel = "a b"; break;
    case 28: many[0] = many[1] = val_bool(true); s->walk_params[1].values = many; break;
    case 29: s->args[1].partial = true; break;
    case 30: s->args[0].partial = true; break;
    case 31: op->includes = files; op->nincludes = 1; files[0] = (struct include){ "../a.h", "", false, false }; break;
    case 32: op->includes = files; op->nincludes = 1; files[0] = (struct include){ "/etc/passwd", "", false, false }; break;
    case 33: op->includes = files; op->nincludes = 2; files[0] = files[1] = (struct include){ "a.h", "", true, false }; break;
    case 34: op->includes = files; op->nincludes = 1; files[0] = (struct include){ "a\".h", "", false, false }; break;
    case 35: s->args[2].data.sorted = true; break;
    case 36: op->check.kind = CHECK_EXACT; s->args[0].data.below = "n"; break;
    case 37: op->check.kind = CHECK_EXACT; s->args[2].data.range[1] = "n"; break;
    case 38: op->check.kind = CHECK_EXACT; s->args[1].data.sorted = true; break;
    case 39: s->args[1].data.init = true; break;
    case 40: op->init = s->variants[1]; break;
    case 41: op->check = (struct check){ CHECK_EXACT, NULL, NULL, NULL }; op->init = s->variants[1]; s->args[1].data.init = true; s->walk_args[3] = 17; break;
    case 42: op->check.kind = CHECK_EXACT; s->args[1].fill = FILL_AUTO; s->args[1].data.file.name = "../x"; break;
    case 43: op->check.kind = CHECK_EXACT; s->args[1].fill = FILL_AUTO; s->args[1].data.file = (struct data_file){ .name = "x", .digest = "y" }; break;
    case 44: s->args[1].own_check = true; break;
    case 45: s->args[3].own_check = true; break;
    case 46: op->check.rtol = "1"; break;
    case 47: op->check.kind = CHECK_CLOSE; break; /* with a length */
    case 48: s->args[0].own_check = true; s->args[0].check = (struct check){ .atol = "1" }; break;
    }
}
/* clang-format on */

static void bent_ops(void **state)
{
    (void)state;
    static const char *const says[] = {
        "op `2d` is no name",
        "axis m: the name is taken",
        "type m: the name is taken",
        "parameter n: the name is taken",
        "variant tile: parameter ACC: the name is taken",
        "axis sizeof: a word of the expression",
        "type f32: a word",
        "parameter variant: a word",
        "variant tile is there twice",
        "workspace in: the name is taken",
        "argument out: the name",
        "argument out: `f31` is no type",
        "argument out: a value has an expression",
        "parameter TILE: value 2 is of another type",
        "parameter TILE: the value 64 is there twice",
        "parameter SCALE: value 1 is not finite",
        "`x y` should be a word",
        "kernel transpose: its argument 1 is none",
        "kernel walk: its argument 1",
        "reference: kernel ref: its argument 1",
        "precondition 1: 'm' is no buffer",
        "precondition 2: an alignment has bytes",
        "must be an output",
        "backend `no name` is no name",
        "must say its cc",
        "shape 1: m cannot be 0",
        "shape 1: add cannot be 2",
        "kernel `a b` is no name",
        "parameter UNROLL: the value true is there twice",
        "argument in: only an output can be partial",
        "cleared argument out: is partial",
        "included file 1: `../a.h` is no path below a folder",
        "`/etc/passwd` is no path",
        "included file a.h is there twice",
        "is no path below",
        "argument sum: a sum is checked with floating-point numbers of cutune's choice",
        "argument out: of an output, only a file",
        "argument sum: a range has two ends",
        "argument in: is filled with bits",
        "argument in: the op has no init",
        "init: there is no input that it writes",
        "init: kernel walk: its argument 4 is none",
        "argument in: `../x` is no path of a file",
        "argument in: what is said of its file is damaged",
        "argument in: only what is written has a check",
        "argument m: only what is written has a check",
        "check: its check has what belongs to another",
        "check: its check has what belongs to another",
        "out: its check has what belongs to another",
    };
    struct sample s;
    struct err err = { 0 };
    assert_int_equal(op_check(sample_op(&s), &err), 0);
    for (int way = 0; way < COUNT(says); way++) {
        sample_op(&s);
        bend(&s, way);
        fails_with(op_check(&s.op, &err), &err, says[way]);
        assert_true(op_check(&s.op, NULL) < 0);
    }
}

/* What must be there, and bounds: whoever makes an op keeps to them, so they are seen to where its bytes are read. */
/* clang-format off */
static void bend_bytes(struct sample *s, int way)
{
    static const struct dtype odd = { .name = "f31" };
    static struct axis axes[MAX_AXES + 1];
    static struct launch launches[MAX_LAUNCHES + 1];
    static struct include files[MAX_INCLUDES + 1];
    struct op *op = &s->op;
    for (int i = 0; i < COUNT(files); i++)
        files[i] = (struct include){ "a.h", "", false, false };
    op->includes = files;
    switch (way) {
    case 0: s->tile_params[2].n = 0; break;
    case 1: op->axes = axes; op->naxes = COUNT(axes); break;
    case 2: op->nrows = 0; break;
    case 3: s->rows[3] = &odd; break;
    case 4: s->variants[0].launches = launches; s->variants[0].nlaunches = COUNT(launches); break;
    case 5: s->partial[0].count = NULL; break;
    case 6: s->where[1] = NULL; break;
    case 7: s->variants[0].template_text = NULL; break;
    case 8: s->variants[1].requires.cc = -1; break;
    case 9: op->nincludes = 1; files[0].text = NULL; break;
    case 10: op->nincludes = COUNT(files); break;
    case 11: s->reference_args[0] = -1; break;
    case 12: s->needs[0].arg = -1; break;
    case 13: s->axes[0].kind = AXIS_FLAG + 1; break;
    case 14: s->args[0].kind = ARG_SCALAR + 1; break;
    case 15: s->args[0].fill = FILL_NUMBERS + 1; break;
    case 16: op->check.kind = CHECK_CLOSE + 1; break;
    case 17: s->args[0].extent[1] = NULL; break;
    case 18: s->preludes[0].text = NULL; break;
    case 19: s->variants[0].nlaunches = 0; break;
    case 20: s->needs[0].kind = NEED_NOALIAS + 1; break;
    case 21: s->variants[0].template_name = NULL; break;
    case 22: s->tile[0].type = VAL_NIL; break;
    case 23: s->walk_args[0] = -1; break;
    case 24: s->clear[0] = -1; break;
    case 25: s->shapes[0].problem.size[0] = -1; break;
    case 26: op->nargs = 0; break;
    case 27: op->nincludes = 1; files[0].name = NULL; break;
    case 28: s->preludes[0].name = NULL; break;
    case 29: op->naxes = 0; break;
    case 30: op->ntypes = 0; break;
    case 31: s->defaults[1].config.at[0] = 3; s->tile_params[0].n = 3; break; /* a value that is not among them */
    case 32: op->nvariants = 1; break; /* the variant of a default is not there */
    case 33: s->args[0].own_check = true; s->args[0].check.kind = CHECK_CLOSE + 1; break;
    }
}
/* clang-format on */

static void bent_bytes(void **state)
{
    (void)state;
    for (int way = -1; way <= 33; way++) {
        struct sample s;
        struct err err = { 0 };
        struct buf b = { 0 };
        struct op *back;
        sample_op(&s);
        bend_bytes(&s, way);
        op_put(&b, &s.op);
        struct cursor in = cursor_on(b.data, b.len);
        int rc = op_get(&in, false, &back, &err);
        if (way < 0) {
            assert_int_equal(rc, 0);
            op_free(back);
        } else if (rc != ERR_CORRUPT || !strstr(err.msg, "not as cutune writes them")) {
            fail_msg("way %d: got %d, `%s`", way, rc, err.msg);
        }
        buf_free(&b);
    }
}

static void distinct_of_many_values(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct val *values = mem_array(MAX_VALUES, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < MAX_VALUES; i++)
        values[i] = val_int(i);
    values[MAX_VALUES - 1] = val_int(32);
    op->variants[0].params[0] = (struct param){ "TILE", MAX_VALUES, values };
    struct err err = { 0 };
    fails_with(op_check(op, &err), &err, "the value 32 is there twice");
    mem_free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes),
        cmocka_unit_test(devices),
        cmocka_unit_test(device_bytes),
        cmocka_unit_test(names),
        cmocka_unit_test(finds),
        cmocka_unit_test(rows),
        cmocka_unit_test(problems),
        cmocka_unit_test(configs),
        cmocka_unit_test(wrong_configs),
        cmocka_unit_test(config_bytes),
        cmocka_unit_test(op_bytes),
        cmocka_unit_test(hostile_op_bytes),
        cmocka_unit_test(op_check_says_why_of_the_new),
        cmocka_unit_test(op_without_memory),
        cmocka_unit_test(bent_ops),
        cmocka_unit_test(bent_bytes),
        cmocka_unit_test(distinct_of_many_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
