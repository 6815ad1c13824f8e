/* Launches with all that they can say, as data: their serial form, damaged and whole; what they come to; what is refused. */
#include "base/mem.h"
#include "device/backend.h"
#include "sample_op.h"
#include "unit.h"

static struct err err;

/* The sample, whose second variant has a workspace, with launches of every kind. */
struct rich {
    struct sample s;
    struct launch_value values[2];
    struct view views[3];
    int first[2], second[4], third[5], swaps[2];
    struct launch launches[3];
    const char *where[1];
};

static struct op *rich_op(struct rich *r)
{
    struct op *op = sample_op(&r->s);
    r->values[0] = (struct launch_value){ "far", "i64", "1 << ROUND - STEP" };
    r->values[1] = (struct launch_value){ "part", "i32", "ROUND" };
    r->views[0] = (struct view){ .arg = 1, .rank = 2, .box = { "8", "16" }, .nsteps = 2, .step = { "1", "1" }, .l2 = "128" };
    r->views[1] = (struct view){ .arg = 1, .texture = true, .nextents = 1, .extent = { "m * n" }, .channels = "2" };
    r->views[2] =
        (struct view){ .arg = 1,
                       .texture = true,
                       .mode = { .array = true, .linear = true, .naddress = 2, .address = { ADDRESS_BORDER, ADDRESS_CLAMP } } };
    memcpy(r->first, (int[]){ 0, 1 }, sizeof r->first);
    memcpy(r->second, (int[]){ 5, 2, 6, 7 }, sizeof r->second);  /* partial, sum, far, part */
    memcpy(r->third, (int[]){ 6, 2, 0, 7, 8 }, sizeof r->third); /* the map, sum, out, the textures */
    memcpy(r->swaps, (int[]){ 2, 5 }, sizeof r->swaps);
    r->s.partial[0].type = "ACC";
    r->s.partial[0].count = "1";
    r->launches[0] = (struct launch){ .kernel = "start", .nargs = 2, .args = r->first, .when = "UNROLL", .cooperative = true };
    r->launches[1] = (struct launch){ .kernel = "round",
                                      .grid = { "ROUND + 1" },
                                      .block = { "64" },
                                      .nargs = 4,
                                      .args = r->second,
                                      .rounds = "m",
                                      .steps = "ROUND + 1",
                                      .nswaps = 2,
                                      .swaps = r->swaps,
                                      .nvalues = 2,
                                      .values = r->values,
                                      .dependent = true };
    r->launches[2] = (struct launch){ .kernel = "close",
                                      .grid = { "4" },
                                      .nargs = 5,
                                      .args = r->third,
                                      .together = true,
                                      .steps = "2",
                                      .nviews = 3,
                                      .views = r->views,
                                      .cluster = { "2" } };
    op->variants[1].launches = r->launches;
    op->variants[1].nlaunches = 3;
    op->variants[1].requires = (struct requires){ 0 };
    op->axes[0].max = "1 << 40";
    r->where[0] = "m * n >= 1";
    op->where = r->where;
    op->nwhere = 1;
    return op;
}

/* What everybody does who reads an op. */
static void use(const struct op *op)
{
    struct problem prob = { .size = { 3, 64, 1 } };
    struct val slots[MAX_SLOTS];
    for (int v = 0; v < op->nvariants; v++) {
        struct plan *plan = NULL;
        const struct config config = { .variant = v };
        const struct guest_param args[2 * MAX_ARGS] = { { .kind = GUEST_VALUE } };
        struct guest_launch *launches;
        struct arena *arena = arena_new();
        int n;
        if (!plan_new(op, v, &plan, &err)) {
            plan_slots(plan, &prob, 0, &roomy, &config, slots);
            plan_refuses(plan, slots, &roomy);
            if (!guest_launches(plan, slots, args, arena, &launches, &n, NULL, &err))
                assert_true(n <= MAX_STEPS);
        }
        arena_free(arena);
        plan_free(plan);
    }
}

static void round_trips(void **state)
{
    (void)state;
    static struct rich r;
    struct buf once = { 0 }, twice = { 0 };
    struct op *again;
    op_put(&once, rich_op(&r));
    struct cursor in = cursor_on(once.data, once.len);
    OK(op_get(&in, false, &again, &err));
    assert_string_equal(again->variants[1].launches[1].values[0].value, "1 << ROUND - STEP");
    assert_string_equal(again->variants[1].launches[2].views[0].box[1], "16");
    assert_string_equal(again->axes[0].max, "1 << 40");
    op_put(&twice, again);
    assert_int_equal(once.len, twice.len);
    assert_memory_equal(once.data, twice.data, once.len);
    op_free(again);
    buf_free(&twice);
    /* Each byte changed in turn, and each length. */
    for (size_t i = 0; i < once.len; i++)
        for (int change = 0; change < 3; change++) {
            static const unsigned char by[] = { 0x01, 0x80, 0xff };
            once.data[i] = (char)(once.data[i] ^ by[change]);
            in = cursor_on(once.data, once.len);
            if (!op_get(&in, false, &again, &err)) {
                use(again);
                op_free(again);
            }
            once.data[i] = (char)(once.data[i] ^ by[change]);
        }
    for (size_t n = 0; n < once.len; n++) {
        in = cursor_on(once.data, n);
        assert_int_not_equal(op_get(&in, false, &again, &err), 0);
    }
    buf_free(&once);
}

struct made {
    struct plan *plan;
    struct arena *arena;
    struct guest_launch *launches;
    struct guest_texture *textures;
    int n;
};

static int make(const struct op *op, int64_t m, struct made *out)
{
    struct problem prob = { .size = { m, 64, 1 } };
    struct val slots[MAX_SLOTS];
    struct guest_param args[2 * MAX_ARGS] = { { .kind = GUEST_VALUE } };
    for (int i = 0; i < 6; i++)
        args[i] = (struct guest_param){ .kind = i == 5 ? GUEST_WORKSPACE : GUEST_BUFFER, .index = i };
    *out = (struct made){ .arena = arena_new() };
    OK(plan_new(op, 1, &out->plan, &err));
    plan_slots(out->plan, &prob, 0, &roomy, &(struct config){ .variant = 1 }, slots);
    return guest_launches(out->plan, slots, args, out->arena, &out->launches, &out->n, &out->textures, &err);
}

static void unmake(struct made *m)
{
    plan_free(m->plan);
    arena_free(m->arena);
}

/* 1, then in each of three rounds ROUND + 1 and 2. */
static void repeats(void **state)
{
    (void)state;
    static struct rich r;
    struct made m;
    OK(make(rich_op(&r), 3, &m));
    assert_int_equal(m.n, 1 + (1 + 2) + (2 + 2) + (3 + 2));
    int at = 1, changed = 0;
    for (int round = 0; round < 3; round++) {
        for (int step = 0; step <= round; step++, at++, changed++) {
            const struct guest_launch *l = &m.launches[at];
            int64_t far;
            assert_int_equal(l->of, 1);
            assert_int_equal(l->geometry.grid[0], round + 1);
            memcpy(&far, l->params[2].value, sizeof far);
            assert_int_equal(far, (int64_t)1 << (round - step));
            assert_int_equal(l->params[3].value[0], round);
            assert_true(l->geometry.dependent);
            bool turned = (6 - 1 - changed) % 2; /* of six the last is as it is written */
            assert_int_equal(l->params[0].kind, turned ? GUEST_BUFFER : GUEST_WORKSPACE);
            assert_int_equal(l->params[1].kind, turned ? GUEST_WORKSPACE : GUEST_BUFFER);
        }
        for (int step = 0; step < 2; step++, at++) {
            const struct guest_launch *l = &m.launches[at];
            assert_int_equal(l->of, 2);
            assert_true(l->views && l->params[0].kind == GUEST_TENSOR && l->params[0].index == 1);
            const struct tensor *t = l->params[0].tensor;
            assert_int_equal(t->rank, 2);
            assert_int_equal(t->extent[0], 64);
            assert_int_equal(t->extent[1], 3);
            assert_int_equal(t->stride[1], 64 * 4);
            assert_int_equal(t->box[0], 16);
            assert_int_equal(t->box[1], 8);
            assert_int_equal(l->geometry.cluster[0] * l->geometry.cluster[1] * l->geometry.cluster[2], 2);
        }
    }
    unmake(&m);
}

static void bounds_repetitions(void **state)
{
    (void)state;
    static struct rich r;
    struct made m;
    struct op *op = rich_op(&r);
    assert_int_equal(make(op, 1000, &m), ERR_UNSUPPORTED);
    unmake(&m);
    static const char *const rounds[] = { "1 << 62", "9223372036854775807", "-1", "16385", "0.5" };
    for (int i = 0; i < 5; i++) {
        r.launches[1].rounds = rounds[i];
        assert_int_not_equal(make(op, 3, &m), 0);
        unmake(&m);
    }
    r.launches[1].rounds = "0";
    OK(make(op, 3, &m));
    assert_int_equal(m.n, 1);
    unmake(&m);
    /* Rounds in which nothing is launched count: of two launches here, beside the one of the first group. */
    r.launches[1].steps = r.launches[2].steps = "0";
    r.launches[1].rounds = "8191";
    OK(make(op, 3, &m));
    assert_int_equal(m.n, 1);
    unmake(&m);
    r.launches[1].rounds = "8192";
    assert_int_equal(make(op, 3, &m), ERR_UNSUPPORTED);
    unmake(&m);
}

static void refuses(void **state)
{
    (void)state;
    static struct rich r;
    static const char *const says[] = {
        "kernel start: it has no rounds of its own and nothing before it",
        "swap: 1 buffers are no pairs",
        "swap: entry 1: only outputs, inouts and workspaces change places",
        "swap: entry 1: two buffers of one type are needed",
        "kernel round: its argument 3 is none of the op's or variant's",
        "value sum: the name is taken",
        "value part: `x32` is no type of a number",
        "the name ROUND is that of a repetition here",
        "tensor map: a box of 1 extents over 2",
        "tensor map: must be of a buffer",
        "tensor map: must be of a buffer",
        "tensor map: 2 strides",
        "reference: it runs on every device",
    };
    for (int i = 0; i < COUNT(says); i++) {
        struct op *op = rich_op(&r);
        switch (i) {
        case 0:
            r.launches[0].together = true;
            break;
        case 1:
            r.launches[1].nswaps = 1;
            break;
        case 2:
            r.swaps[0] = 1;
            break;
        case 3:
            r.swaps[0] = 0;
            break;
        case 4:
            r.second[2] = 8;
            break;
        case 5:
            r.values[0].name = "sum";
            break;
        case 6:
            r.values[1].type = "x32";
            break;
        case 7:
            op->axes[1].name = "ROUND";
            break;
        case 8:
            r.views[0].rank = 1;
            break;
        case 9:
            r.views[0].arg = 3;
            break;
        case 10:
            r.views[0].arg = 6;
            break;
        case 11:
            r.views[0].nstrides = 2;
            break;
        case 12:
            op->reference.launches->cooperative = true;
            break;
        }
        assert_int_equal(op_check(op, &err), ERR_INVALID);
        if (!strstr(err.msg, says[i]))
            fail_msg("%d: %s", i, err.msg);
    }
}

/* What no device takes is a limit of the configuration. */
static void limits_maps(void **state)
{
    (void)state;
    static struct rich r;
    static const struct {
        const char *box, *swizzle, *interleave, *l2;
        bool fits;
    } cases[] = {
        { "16", NULL, NULL, NULL, true },   { "16", "64", NULL, "256", true },  { "256", NULL, NULL, NULL, true },
        { "m + 254", NULL, NULL, NULL, false }, { "3", NULL, NULL, NULL, false },   { "16", "32", NULL, NULL, false },
        { "16", "16 * m", NULL, NULL, false },  { "16", NULL, NULL, "m + 97", false }, { "16", NULL, "16", NULL, false },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct op *op = rich_op(&r);
        struct plan *plan;
        struct val slots[MAX_SLOTS];
        struct problem prob = { .size = { 3, 64, 1 } };
        r.views[0].box[1] = cases[i].box;
        r.views[0].swizzle = cases[i].swizzle;
        r.views[0].interleave = cases[i].interleave;
        r.views[0].l2 = cases[i].l2;
        OK(plan_new(op, 1, &plan, &err));
        plan_slots(plan, &prob, 0, &roomy, &(struct config){ .variant = 1 }, slots);
        const char *refused = plan_refuses(plan, slots, &roomy);
        if (cases[i].fits ? refused != NULL : !refused || strcmp(refused, "limit: tensor map of in"))
            fail_msg("%d: %s", i, refused ? refused : "nothing is refused");
        prob.size[1] = 65; /* rows of 260 bytes */
        plan_slots(plan, &prob, 0, &roomy, &(struct config){ .variant = 1 }, slots);
        assert_string_equal(plan_refuses(plan, slots, &roomy), "limit: tensor map of in");
        plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips), cmocka_unit_test(repeats),     cmocka_unit_test(bounds_repetitions),
        cmocka_unit_test(refuses),     cmocka_unit_test(limits_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
