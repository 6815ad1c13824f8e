/* Plans: what a variant's expressions give, and what they refuse. */
#include "full_op.h"
#include "model/plan.h"
#include "unit.h"

static const struct devspec gpu = {
    .backend = "cuda",
    .cc = 90,
    .warp = 32,
    .memory = (int64_t)80 << 30,
    .max_threads = 1024,
    .max_block = { 1024, 1024, 64 },
    .max_grid = { INT32_MAX, 65535, 65535 },
    .max_shared = 48 << 10,
    .max_alloc = (int64_t)80 << 30,
};
static const struct devspec cpu = {
    .backend = "opencl",
    .warp = 1,
    .memory = (int64_t)8 << 30,
    .max_threads = 4096,
    .max_block = { 4096, 4096, 4096 },
    .max_grid = { INT32_MAX, INT32_MAX, INT32_MAX },
    .max_shared = 1 << 20,
    .max_alloc = (int64_t)2 << 30,
    .unordered = true,
};

static void fails_with(int rc, const struct err *err, const char *part)
{
    if (rc >= 0 || !strstr(err->msg, part))
        fail_msg("got %d, `%s`; expected `%s`", rc, err->msg, part);
}

/* A sample op, one of its plans, and slots for a problem, a binding and a configuration. */
struct setting {
    struct sample s;
    struct plan *plan;
    struct problem prob;
    struct config config;
    struct val slots[MAX_SLOTS];
    struct err err;
};

static void set(struct setting *t, int variant, int64_t m, int64_t n, int row, const struct devspec *dev, const char *config)
{
    t->prob = (struct problem){ { m, n, 0 } };
    if (variant >= 0)
        assert_int_equal(config_parse(&t->s.op, t->s.variants[variant].name, config, &t->config, &t->err), 0);
    plan_slots(t->plan, &t->prob, row, dev, &t->config, t->slots);
}

static void start(struct setting *t, int variant)
{
    if (plan_new(sample_op(&t->s), variant, &t->plan, &t->err) < 0)
        fail_msg("%s", t->err.msg);
}

static void scopes(void **state)
{
    (void)state;
    struct setting t = { 0 };
    start(&t, 0);
    static const char *const first[] = { "TILE", "ROWS", "PAD", "GRID", "m", "n", "add", "T", "ACC", "device.backend" };
    const struct scope *scope = plan_scope(t.plan);
    assert_int_equal(scope->n, 4 + 3 + 2 + 8);
    for (int i = 0; i < COUNT(first); i++)
        assert_string_equal(scope->names[i], first[i]);
    set(&t, 0, 7, 9, 1, &gpu, "TILE=64");
    assert_int_equal(t.slots[0].i, 64);
    assert_string_equal(t.slots[3].s, "xy");
    assert_int_equal(t.slots[5].i, 9);
    assert_string_equal(t.slots[7].s, "f16");
    assert_string_equal(t.slots[9].s, "cuda");
    plan_free(t.plan);
    plan_free(NULL);
}

static void geometries(void **state)
{
    (void)state;
    struct setting t = { 0 };
    struct geometry g;
    start(&t, 0);
    set(&t, 0, 1111, 113, 0, &gpu, "TILE=32,ROWS=8,PAD=1,GRID=xy");
    assert_int_equal(plan_geometry(t.plan, 0, t.slots, &g, &t.err), 0);
    assert_true(g.grid[0] == 4 && g.grid[1] == 35 && g.grid[2] == 1);
    assert_true(g.block[0] == 32 && g.block[1] == 8 && g.block[2] == 1);
    assert_int_equal(g.shared, 32 * 33 * 4);
    set(&t, 0, 1111, 113, 1, &gpu, "TILE=32,PAD=0,GRID=x");
    assert_int_equal(plan_geometry(t.plan, 0, t.slots, &g, &t.err), 0);
    assert_true(g.grid[0] == 140 && g.grid[1] == 1 && g.shared == 32 * 32 * 2);
    fails_with(plan_geometry(t.plan, 1, t.slots, &g, &t.err), &t.err, "no such launch");
    plan_free(t.plan);

    start(&t, 1);
    set(&t, 1, 100, 100, 0, &gpu, "");
    assert_int_equal(plan_geometry(t.plan, 1, t.slots, &g, &t.err), 0);
    assert_true(g.grid[0] == 1 && g.block[0] == 1024 && g.shared == 0);
    plan_free(t.plan);

    start(&t, -1);
    set(&t, -1, 100, 100, 0, &gpu, "");
    assert_int_equal(plan_geometry(t.plan, 0, t.slots, &g, &t.err), 0);
    assert_true(g.grid[0] == 157 && g.block[0] == 64);
    assert_null(plan_refuses(t.plan, t.slots, &gpu));
    plan_free(t.plan);
}

static void sizes(void **state)
{
    (void)state;
    struct setting t = { 0 };
    int64_t v;
    double bytes, flops;
    start(&t, 1);
    set(&t, 1, 1111, 113, 2, &gpu, "");
    assert_int_equal(plan_arg_bytes(t.plan, 0, t.slots, &v, &t.err), 0);
    assert_int_equal(v, 1111 * 113 * 4);
    assert_int_equal(plan_arg_bytes(t.plan, 2, t.slots, &v, &t.err), 0);
    assert_int_equal(v, 8); /* no dimensions: one i64 */
    assert_int_equal(plan_arg_bytes(t.plan, 3, t.slots, &v, &t.err), 0);
    assert_int_equal(v, 0); /* a scalar */
    assert_int_equal(plan_workspace_bytes(t.plan, 0, t.slots, &v, &t.err), 0);
    assert_int_equal(v, 491 * 8);
    assert_int_equal(plan_work(t.plan, t.slots, &bytes, &flops, &t.err), 0);
    assert_true(bytes == 2.0 * 1111 * 113 * 4 && flops == 0);
    struct bounds bounds;
    assert_int_equal(plan_bounds(t.plan, -1, t.slots, &bounds, &t.err), 0);
    assert_true(bounds.kind == CHECK_SUM && bounds.length == 1111 && bounds.rtol < 0 && bounds.atol < 0);

    set(&t, 1, (int64_t)1 << 40, (int64_t)1 << 22, 0, &gpu, "");
    fails_with(plan_arg_bytes(t.plan, 0, t.slots, &v, &t.err), &t.err, "the bytes of out do not fit 64 bits");
    set(&t, 1, (int64_t)1 << 40, (int64_t)1 << 40, 0, &gpu, "");
    fails_with(plan_workspace_bytes(t.plan, 0, t.slots, &v, &t.err), &t.err, "variant walk, workspace partial, count: column ");
    fails_with(plan_work(t.plan, t.slots, &bytes, &flops, &t.err), &t.err, "work.bytes: column ");
    assert_true(plan_work(t.plan, t.slots, &bytes, &flops, NULL) < 0);
    plan_free(t.plan);
}

static void needs(void **state)
{
    (void)state;
    struct setting t = { 0 };
    int64_t v;
    start(&t, 0);
    set(&t, 0, 1, 1, 1, &gpu, "TILE=16");
    assert_int_equal(plan_need(t.plan, 0, t.slots, &v, &t.err), 0);
    assert_int_equal(v, 16);
    fails_with(plan_need(t.plan, 1, t.slots, &v, &t.err), &t.err, "needs[2]: is no alignment");
    plan_free(t.plan);
}

/* The scalar `half` with this type and expression: its bytes as one integer, or the message. */
static uint64_t scalar(const char *type, const char *value, int *bytes, struct err *err)
{
    struct setting t = { 0 };
    sample_op(&t.s);
    t.s.args[4].type = type;
    t.s.args[4].value = value;
    unsigned char out[16];
    uint64_t bits = 0;
    assert_int_equal(plan_new(&t.s.op, -1, &t.plan, &t.err), 0);
    set(&t, -1, 3, 5, 0, &gpu, "");
    *bytes = plan_arg_value(t.plan, 4, t.slots, out, bytes, err) < 0 ? -1 : *bytes;
    for (int i = 0; i < *bytes && i < 8; i++)
        bits |= (uint64_t)out[i] << 8 * i;
    plan_free(t.plan);
    return bits;
}

static void scalars(void **state)
{
    (void)state;
    static const struct {
        const char *type, *value;
        int bytes; /* -1: does not fit */
        uint64_t bits;
    } cases[] = {
        { "i64", "-m", 8, (uint64_t)-3 },
        { NULL, "m * n", 8, 15 },
        { "i8", "-128", 1, 0x80 },
        { "i8", "128", -1, 0 },
        { "u8", "255", 1, 0xff },
        { "u8", "256", -1, 0 },
        { "u16", "-1", -1, 0 },
        { "u64", "-1", -1, 0 },
        { "i32", "-1", 4, 0xffffffff },
        { "i32", "1 << 31", -1, 0 },
        { "u32", "(1 << 32) - 1", 4, 0xffffffff },
        { "f32", "0.5", 4, 0x3f000000 },
        { "f32", "1e39", -1, 0 },
        { "f64", "1", 8, 0x3ff0000000000000 },
        { "c64", "2", 8, 0x40000000 },
        { "f16", "1.0 / 3", 2, 0x3555 },
        { "f16", "-2", 2, 0xc000 },
        { "f16", "0", 2, 0 },
        { "f16", "2049", 2, 0x6800 },   /* a tie: to even, down */
        { "f16", "2051", 2, 0x6802 },   /* and up */
        { "f16", "4095.9", 2, 0x6c00 }, /* carries into the exponent */
        { "f16", "65519", 2, 0x7bff },
        { "f16", "65520", -1, 0 },
        { "f16", "131072", -1, 0 },
        { "f16", "2.0^-24", 2, 1 }, /* the smallest subnormal */
        { "f16", "2.0^-25", 2, 0 },
        { "f16", "2.0^-14 - 2.0^-24", 2, 0x03ff },
        { "f16", "2.0^-14 - 2.0^-26", 2, 0x0400 },
        { "bf16", "1.0 / 3", 2, 0x3eab },
        { "bf16", "3.38e38", 2, 0x7f7e },
        { "bf16", "3.4e38", -1, 0 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct err err = { 0 };
        int bytes = 0;
        uint64_t bits = scalar(cases[i].type, cases[i].value, &bytes, &err);
        if (bytes != cases[i].bytes || bits != cases[i].bits)
            fail_msg("%s as %s: %d bytes %#llx", cases[i].value, cases[i].type, bytes, (unsigned long long)bits);
        if (bytes < 0)
            fails_with(err.code, &err, "does not fit");
    }
    struct err err = { 0 };
    int bytes = 0;
    scalar("f32", "true", &bytes, &err);
    fails_with(err.code, &err, "value half: `true` is no number");
    scalar("i32", "1.5", &bytes, &err);
    fails_with(err.code, &err, "value half: an integer is needed");
}

static void wrong_expressions(void **state)
{
    (void)state;
    struct setting t = { 0 };
    struct op *op;
    op = sample_op(&t.s);
    t.s.tile_launch[0].grid[1] = "ceildiv(m, )";
    fails_with(plan_new(op, 0, &t.plan, &t.err), &t.err, "variant tile, grid[2]: column ");
    op = sample_op(&t.s);
    t.s.walk_launch[1].block[0] = "TILE";
    fails_with(plan_new(op, 1, &t.plan, &t.err), &t.err, "variant walk, launch 2, block[1]: column ");
    op = sample_op(&t.s);
    t.s.where[0] = "TILE %% 2";
    fails_with(plan_new(op, 0, &t.plan, &t.err), &t.err, "variant tile, constraint `TILE %% 2`: column ");
    op = sample_op(&t.s);
    t.s.args[0].extent[1] = "TILE";
    fails_with(plan_new(op, 0, &t.plan, &t.err), &t.err, "argument out, extent[2]: TILE cannot be used here: only axes and types");
    fails_with(plan_new(op, -1, &t.plan, &t.err), &t.err, "argument out, extent[2]: column ");
    op = sample_op(&t.s);
    t.s.needs[0].bytes = "m";
    fails_with(plan_new(op, 0, &t.plan, &t.err), &t.err, "needs[1]: m cannot be used here: only parameters and types");
    op = sample_op(&t.s);
    op->check.length = "device.cc";
    fails_with(plan_new(op, 0, &t.plan, &t.err), &t.err, "check.sum: device.cc cannot be used here");
    fails_with(plan_new(op, 2, &t.plan, &t.err), &t.err, "has no variant 2");
}

static void checks(void **state)
{
    (void)state;
    struct setting t = { 0 };
    start(&t, 0);
    static const struct {
        const char *text;
        int n, slots[4];
    } want[] = {
        { "TILE % ROWS == 0", 2, { 0, 1 } },
        { "device.warp == 1 or TILE * ROWS >= device.warp", 3, { 0, 1, 11 } },
        { "limit: threads a block", 2, { 0, 1 } },
        { "limit: block x", 1, { 0 } },
        { "limit: block y", 1, { 1 } },
        { "limit: grid x", 4, { 0, 3, 4, 5 } },
        { "limit: grid y", 3, { 0, 3, 4 } },
        { "limit: shared memory", 3, { 0, 2, 7 } },
        { "limit: bytes of out", 3, { 4, 5, 7 } },
        { "limit: bytes of in", 3, { 4, 5, 7 } },
        { "limit: bytes of sum", 1, { 8 } },
    };
    assert_int_equal(plan_checks(t.plan), COUNT(want));
    for (int i = 0; i < COUNT(want); i++) {
        int n;
        const int *slots = plan_check_slots(t.plan, i, &n);
        assert_string_equal(plan_check_text(t.plan, i), want[i].text);
        assert_int_equal(n, want[i].n);
        for (int k = 0; k < n; k++)
            assert_int_equal(slots[k], want[i].slots[k]);
    }
    plan_free(t.plan);

    start(&t, 1);
    static const char *const texts[] = { "requires: backend cuda", "requires: cc 70", "requires: grid_order",
                                         "requires: grid_progress", "limit: threads a block" };
    for (int i = 0; i < COUNT(texts); i++)
        assert_string_equal(plan_check_text(t.plan, i), texts[i]);
    assert_string_equal(plan_check_text(t.plan, plan_checks(t.plan) - 1), "limit: bytes of partial");
    int n = -1;
    plan_check_slots(t.plan, 0, &n);
    assert_int_equal(n, 0);
    plan_free(t.plan);
}

/* One configuration against a device that lacks one thing each time. */
static void refusals(void **state)
{
    (void)state;
    struct setting t = { 0 };
    start(&t, 0);
    struct devspec dev = gpu;
#define REFUSED(m, n, config, text)                                                                                                \
    do {                                                                                                                           \
        set(&t, 0, m, n, 0, &dev, config);                                                                                         \
        const char *got = plan_refuses(t.plan, t.slots, &dev);                                                                     \
        if (!got || strcmp(got, text))                                                                                             \
            fail_msg("%s: %s", text, got ? got : "accepted");                                                                      \
    } while (0)
    set(&t, 0, 4096, 4096, 0, &dev, "");
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    REFUSED(4096, 4096, "ROWS=5", "TILE % ROWS == 0");
    REFUSED(4096, 4096, "TILE=8,ROWS=1", "device.warp == 1 or TILE * ROWS >= device.warp");
    REFUSED(4096, 4096, "TILE=64,ROWS=32", "limit: threads a block");
    REFUSED((int64_t)32 * 65535 + 1, 4, "", "limit: grid y");
    set(&t, 0, (int64_t)32 * 65535, 4, 0, &dev, "");
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    set(&t, 0, (int64_t)32 * 65535 + 1, 4, 0, &dev, "GRID=x");
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    dev.max_block[0] = 31;
    REFUSED(64, 64, "", "limit: block x");
    dev.max_block[0] = 32, dev.max_block[1] = 7;
    REFUSED(64, 64, "", "limit: block y");
    dev = gpu, dev.max_grid[0] = 3;
    REFUSED(97, 97, "GRID=x", "limit: grid x");
    dev = gpu, dev.max_shared = 32 * 33 * 4 - 1;
    REFUSED(64, 64, "", "limit: shared memory");
    dev = gpu, dev.max_alloc = 64 * 64 * 4 - 1;
    REFUSED(64, 64, "", "limit: bytes of out");
    REFUSED((int64_t)1 << 40, (int64_t)1 << 40, "", "limit: grid x"); /* what cannot be evaluated counts as failing */
    plan_free(t.plan);
#undef REFUSED
}

static void requirements(void **state)
{
    (void)state;
    struct setting t = { 0 };
    start(&t, 1);
    struct devspec dev = gpu;
    set(&t, 1, 64, 64, 0, &dev, "");
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    dev.cc = 69;
    assert_string_equal(plan_refuses(t.plan, t.slots, &dev), "requires: cc 70");
    assert_string_equal(plan_refuses(t.plan, t.slots, &cpu), "requires: backend cuda");
    dev = gpu, dev.max_alloc = 64 * 64 * 4;
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    plan_free(t.plan);

    sample_op(&t.s);
    t.s.variants[1].requires = (struct requires){ .grid_order = true };
    t.s.partial[0].count = "m * n * 2";
    assert_int_equal(plan_new(&t.s.op, 1, &t.plan, &t.err), 0);
    set(&t, 1, 64, 64, 0, &dev, "");
    assert_string_equal(plan_refuses(t.plan, t.slots, &cpu), "requires: grid_order");
    assert_string_equal(plan_refuses(t.plan, t.slots, &dev), "limit: bytes of partial");
    plan_free(t.plan);

    sample_op(&t.s);
    t.s.variants[1].requires = (struct requires){ .cc = 90, .arch_specific = true };
    assert_int_equal(plan_new(&t.s.op, 1, &t.plan, &t.err), 0);
    dev = gpu;
    set(&t, 1, 64, 64, 0, &dev, "");
    assert_null(plan_refuses(t.plan, t.slots, &dev));
    dev.cc = 100;
    assert_string_equal(plan_refuses(t.plan, t.slots, &dev), "requires: sm_90a");
    plan_free(t.plan);
}

/* What is the script's own mistake is an error; what only does not fit a device is a refusal. */
static void mistakes(void **state)
{
    (void)state;
    struct setting t = { 0 };
    sample_op(&t.s);
    t.s.tile_launch[0].grid[1] = "m // TILE";
    t.s.tile_launch[0].block[1] = "ROWS - 8";
    t.s.tile_launch[0].shared = "TILE - 33";
    assert_int_equal(plan_new(&t.s.op, 0, &t.plan, &t.err), 0);
    struct geometry g;
    set(&t, 0, 31, 31, 0, &gpu, "");
    fails_with(plan_geometry(t.plan, 0, t.slots, &g, &t.err), &t.err,
               "variant tile, grid[2]: `m // TILE` is 0: it must be at least 1");
    int errors = 0, refused = 0;
    for (int i = 0; i < plan_checks(t.plan); i++) {
        bool holds = true;
        const char *text = plan_check_text(t.plan, i);
        int rc = plan_check(t.plan, i, t.slots, &gpu, &holds, &t.err);
        assert_int_equal(rc < 0, !strcmp(text, "limit: grid y") || !strcmp(text, "limit: shared memory"));
        assert_int_equal(rc == 0 && !holds, !strcmp(text, "limit: block y"));
        assert_int_equal(rc, plan_check(t.plan, i, t.slots, &gpu, &holds, NULL));
        errors += rc < 0;
        refused += rc == 0 && !holds;
    }
    assert_int_equal(errors, 2);
    assert_int_equal(refused, 1);
    plan_free(t.plan);

    sample_op(&t.s);
    t.s.where[0] = "TILE % (ROWS - 8) == 0";
    assert_int_equal(plan_new(&t.s.op, 0, &t.plan, &t.err), 0);
    bool holds;
    set(&t, 0, 64, 64, 0, &gpu, "");
    fails_with(plan_check(t.plan, 0, t.slots, &gpu, &holds, &t.err), &t.err,
               "variant tile, constraint `TILE % (ROWS - 8) == 0`: column ");
    assert_string_equal(plan_refuses(t.plan, t.slots, &gpu), "TILE % (ROWS - 8) == 0");
    plan_free(t.plan);
}

static void defaults(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct config c;
    struct problem small = { { 64, 64, 0 } }, tall = { { (int64_t)32 * 65536, 2, 0 } };
    assert_int_equal(op_default(op, &small, 0, &gpu, &c, &err), 0);
    assert_int_equal(c.variant, 1);
    assert_int_equal(op_default(op, &small, 0, &cpu, &c, &err), 0); /* the first requires CUDA */
    assert_true(c.variant == 0 && c.at[3] == 0);
    struct devspec old = gpu;
    old.cc = 60;
    assert_int_equal(op_default(op, &tall, 0, &old, &c, &err), 0); /* the second passes the limit of the grid's y */
    assert_true(c.variant == 0 && c.at[3] == 1);
    old.max_threads = 100;
    fails_with(op_default(op, &small, 0, &old, &c, &err), &err, "no default configuration may run here: limit: threads a block");
    op->defaults[0].nwhen = 1;
    op->defaults[0].when[0] = "m > 64";
    assert_int_equal(op_default(op, &small, 0, &gpu, &c, &err), 0);
    assert_true(c.variant == 0 && c.at[3] == 0);
    op->defaults[1].nwhen = 2;
    op->defaults[1].when[0] = "device.backend == 'cuda'";
    op->defaults[1].when[1] = "m > 64";
    assert_int_equal(op_default(op, &small, 0, &gpu, &c, &err), 0);
    assert_true(c.variant == 0 && c.at[3] == 1);
    op->ndefaults = 0;
    fails_with(op_default(op, &small, 0, &gpu, &c, &err), &err, "there are no defaults");
}

/* What reads no size tells which types and backends a default is for at all. */
static void defaults_that_can_serve(void **state)
{
    (void)state;
    static const struct {
        const char *when;
        bool on_gpu, on_cpu;
    } cases[] = { { NULL, true, true },
                  { "T == 'f32'", true, true },
                  { "T ~= 'f32'", false, false },
                  { "device.backend == 'cuda'", true, false },
                  { "device.backend == 'cuda' and m > 5", true, true }, /* it reads a size */
                  { "device.multiprocessors < 0", true, true },         /* another device may have them */
                  { "TILE // 0 == 1", false, false } };
    struct sample s;
    struct op *op = sample_op(&s);
    struct served as;
    struct err err = { 0 };
    bool serves;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        op->defaults[2].nwhen = cases[i].when != NULL;
        op->defaults[2].when[0] = cases[i].when;
        op_as_default(op, &op->defaults[2], &as);
        assert_int_equal(default_serves(&as, 0, &gpu, &serves, &err), 0);
        assert_int_equal(serves, cases[i].on_gpu);
        assert_int_equal(default_serves(&as, 0, &cpu, &serves, &err), 0);
        assert_int_equal(serves, cases[i].on_cpu);
    }
    op_as_default(op, &op->defaults[0], &as); /* requires CUDA */
    assert_int_equal(default_serves(&as, 0, &cpu, &serves, &err), 0);
    assert_false(serves);
}

static void without_memory(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct config c;
    struct problem prob = { { 64, 64, 0 } };
    int rc = ERR_NOMEM;
    long nth = 0;
    for (; rc == ERR_NOMEM; nth++) {
        mem_fail_at(nth);
        rc = op_default(op, &prob, 0, &cpu, &c, &err);
        mem_fail_at(-1);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 10);
}

/* What a stranger's table may cost: repetitions without a launch count, and what is repeated is short. */
static void repetitions_are_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *rounds, *steps;
    } too_many[] = { { "1 << 62", NULL }, { "16385", "0" }, { "2", "8193" }, { "129", "128" }, { "n * n * n * n * n", "0" } };
    struct sample s;
    struct op *op = sample_op(&s);
    struct err err = { 0 };
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    static char text[MAX_REPEATED + 2];
    memset(text, '1', 3);
    memset(text + 3, ' ', MAX_REPEATED - 2);
    for (int i = 0; i < COUNT(too_many); i++) {
        s.walk_launch[1].rounds = too_many[i].rounds;
        s.walk_launch[1].steps = too_many[i].steps;
        s.walk_launch[1].nvalues = 0;
        assert_int_equal(plan_new(op, 1, &plan, &err), 0);
        plan_slots(plan, &(struct problem){ { 64, 64, 0 } }, 0, &gpu, &(struct config){ .variant = 1 }, slots);
        assert_string_equal(plan_refuses(plan, slots, &gpu) ?: "", "limit: launches in all");
        plan_free(plan);
    }
    s.walk_launch[1].rounds = "2";
    s.walk_launch[1].shared = text;
    fails_with(plan_new(op, 1, &plan, &err), &err,
               "launch 2, shared: of a launch that repeats an expression has at most 1024 bytes");
    s.walk_launch[1].rounds = s.walk_launch[1].steps = NULL;
    assert_int_equal(plan_new(op, 1, &plan, &err), 0);
    plan_free(plan);
}

/* A plan with everything, and the launches that come of it. */
static void everything_without_memory(void **state)
{
    (void)state;
    static struct full f;
    struct op *op = full_op(&f);
    struct err err = { 0 };
    struct problem prob = { { 64, 64, 0 } };
    struct config c = { .variant = 0 };
    assert_int_equal(op_check(op, &err), 0);
    int rc = ERR_NOMEM;
    long nth = 0;
    for (; rc == ERR_NOMEM; nth++) {
        struct arena *arena = NULL;
        struct plan *plan = NULL;
        struct val slots[MAX_SLOTS];
        struct step *steps;
        int n = 0;
        mem_fail_at(nth);
        rc = (arena = arena_new()) ? plan_new(op, 0, &plan, &err) : ERR_NOMEM;
        if (!rc) {
            plan_slots(plan, &prob, 0, &gpu, &c, slots);
            rc = plan_steps(plan, slots, arena, &steps, &n, &err);
        }
        mem_fail_at(-1);
        assert_true(rc == ERR_NOMEM || (!rc && n == 4 + 1 + 2 + 3 + 4 + 1));
        plan_free(plan);
        arena_free(arena);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 10);
}

/* The enumeration asks checks and formats nothing: no allocation, whatever comes of it. */
static void checks_allocate_nothing(void **state)
{
    (void)state;
    struct setting t = { 0 };
    start(&t, 0);
    set(&t, 0, 4096, 4096, 0, &gpu, "");
    mem_fail_at(0);
    const char *text = plan_refuses(t.plan, t.slots, &gpu);
    mem_fail_at(-1);
    assert_null(text);
    plan_free(t.plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes),
        cmocka_unit_test(geometries),
        cmocka_unit_test(sizes),
        cmocka_unit_test(needs),
        cmocka_unit_test(scalars),
        cmocka_unit_test(wrong_expressions),
        cmocka_unit_test(checks),
        cmocka_unit_test(refusals),
        cmocka_unit_test(requirements),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(defaults),
        cmocka_unit_test(defaults_that_can_serve),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(repetitions_are_bounded),
        cmocka_unit_test(everything_without_memory),
        cmocka_unit_test(checks_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
