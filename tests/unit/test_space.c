/* The space, compared with brute force over the cartesian product and with published counts. */
#include <math.h>

#include "base/mem.h"
#include "base/util.h"
#include "expr/expr.h"
#include "space/group.h"
#include "space/space.h"
#include "unit.h"

/* -- ops made by hand -- */

static struct op *new_op(int nvariants)
{
    static const struct axis axis = { .name = "m", .kind = AXIS_SIZE };
    struct op *op = op_new();
    assert_non_null(op);
    op->name = "test";
    op->file = "test.lua";
    op->naxes = 1;
    op->axes = arena_alloc(op->arena, sizeof axis);
    op->axes[0] = axis;
    op->ntypes = 1;
    op->types = arena_alloc(op->arena, sizeof *op->types);
    op->types[0] = "T";
    op->nrows = 1;
    op->rows = arena_alloc(op->arena, sizeof *op->rows);
    op->rows[0] = dtype_find("f32");
    op->nvariants = nvariants;
    op->variants = arena_array(op->arena, (size_t)nvariants, sizeof *op->variants);
    for (int v = 0; v < nvariants; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        op->variants[v].name = arena_strdup(op->arena, name);
        op->variants[v].params = arena_array(op->arena, MAX_PARAMS, sizeof(struct param));
        op->variants[v].where = arena_array(op->arena, 64, sizeof(const char *));
    }
    return op;
}

static struct param *add_param(struct op *op, int v, const char *name)
{
    struct variant *variant = &op->variants[v];
    struct param *p = &variant->params[variant->nparams++];
    p->name = arena_strdup(op->arena, name);
    p->values = arena_array(op->arena, 200, sizeof *p->values);
    return p;
}

static void add_values(struct param *p, int64_t from, int64_t to, int64_t step)
{
    for (int64_t i = from; i <= to; i += step)
        p->values[p->n++] = val_int(i);
}

static void add_where(struct op *op, int v, const char *text)
{
    struct variant *variant = &op->variants[v];
    variant->where[variant->nwhere++] = arena_strdup(op->arena, text);
}

static void add_block(struct op *op, int v, const char *x, const char *y)
{
    struct variant *variant = &op->variants[v];
    variant->nlaunches = 1;
    variant->launches = arena_alloc(op->arena, sizeof *variant->launches);
    variant->launches[0].kernel = "k";
    variant->launches[0].block[0] = x;
    variant->launches[0].block[1] = y;
}

static const struct devspec device = {
    .backend = "null",
    .name = "test",
    .multiprocessors = 1,
    .memory = 1 << 30,
    .max_threads = 12,
    .max_block = { 12, 12, 12 },
    .max_grid = { 65535, 65535, 65535 },
    .max_shared = 49152,
    .max_alloc = 1 << 30,
    .warp = 1,
};
static const struct problem problem = { .size = { 7 } };

static struct space *build(const struct op *op)
{
    struct err err = { 0 };
    struct space *s = NULL;
    if (space_new(op, &problem, 0, &device, NULL, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

static double removed(const struct space *s)
{
    double sum = 0;
    const struct removal *r = s->removals;
    for (int i = 0; i < s->nremovals; i++) {
        sum += r[i].count;
        assert_true(i == 0 || r[i].count <= 0 || r[i - 1].count > 0); /* those that removed come first */
    }
    return sum;
}

/* -- brute force -- */

static uint64_t place;
static int64_t below(int64_t n)
{
    return (int64_t)(rand_at(20240601, place++) % (uint64_t)n);
}

static bool holds(const struct variant *v, const struct config *c, const char *text)
{
    const char *names[MAX_PARAMS + 1];
    struct val slots[MAX_PARAMS + 1];
    for (int p = 0; p < v->nparams; p++) {
        names[p] = v->params[p].name;
        slots[p] = v->params[p].values[c->at[p]];
    }
    names[v->nparams] = "m";
    slots[v->nparams] = val_int(problem.size[0]);
    struct scope scope = { .names = names, .n = v->nparams + 1 };
    struct err err;
    struct expr *e;
    bool b = false;
    if (expr_compile(text, &scope, &e, &err) || expr_bool(e, slots, &b, &err))
        fail_msg("%s: %s", text, err.msg);
    expr_free(e);
    return b;
}

static bool valid(const struct variant *v, const struct config *c)
{
    for (int i = 0; i < v->nwhere; i++)
        if (!holds(v, c, v->where[i]))
            return false;
    if (!v->nlaunches)
        return true;
    char threads[64]; /* what the device's limits come to, by hand */
    snprintf(threads, sizeof threads, "(%s) * (%s) <= 12", v->launches[0].block[0], v->launches[0].block[1]);
    return holds(v, c, threads);
}

static bool next_point(const struct variant *v, struct config *c)
{
    for (int p = v->nparams - 1; p >= 0; p--) {
        if (++c->at[p] < v->params[p].n)
            return true;
        c->at[p] = 0;
    }
    return false;
}

/* A constraint over two random parameters, written x and y in these shapes. */
static void add_random_where(struct op *op, int v, int nparams)
{
    static const char *const shapes[] = { "x * y <= 9",    "x % y == 0", "x + y ~= 5", "y == 1 or x > 2",
                                          "x + m > y * 2", "y - 1 < x",  "m > 3",      "x ~= 3" };
    char text[32];
    snprintf(text, sizeof text, "%s", shapes[below(sizeof shapes / sizeof shapes[0])]);
    for (char *c = text; *c; c++)
        if (*c == 'x' || *c == 'y')
            *c = (char)('A' + below(nparams));
    add_where(op, v, text);
}

static struct op *random_op(void)
{
    struct op *op = new_op(1 + (int)below(3));
    for (int v = 0; v < op->nvariants; v++) {
        int nparams = 1 + (int)below(6);
        for (int p = 0; p < nparams; p++) {
            int64_t first = 1 + below(3);
            add_values(add_param(op, v, (char[]){ (char)('A' + p), 0 }), first, first + below(4), 1);
        }
        for (int64_t i = below(5); i > 0; i--)
            add_random_where(op, v, nparams);
        if (below(2))
            add_block(op, v, "A", nparams > 1 ? "B + 1" : "3");
    }
    return op;
}

/* A walk through all of a variant, or through a box, gives what is in it, in order. */
struct walked {
    const struct space *s;
    const int *least, *most;
    int64_t next, n;
};

static bool step(void *arg, int64_t i, const struct config *c)
{
    struct walked *w = arg;
    struct config there;
    space_at(w->s, i, &there);
    assert_memory_equal(&there, c, sizeof there);
    assert_true(i >= w->next);
    w->next = i + 1;
    w->n++;
    for (int p = 0; w->least && p < w->s->op->variants[c->variant].nparams; p++)
        assert_in_range(c->at[p], w->least[p], w->most[p]);
    return true;
}

static void compare_walks(const struct space *s, int v)
{
    int least[MAX_PARAMS], most[MAX_PARAMS];
    struct walked all = { s, NULL, NULL, 0, 0 }, some = { s, least, most, 0, 0 };
    int64_t first = 0, within = 0;
    for (int i = 0; i < v; i++)
        first += space_variant_count(s, i);
    for (int p = 0; p < MAX_PARAMS; p++) {
        least[p] = (int)below(3);
        most[p] = least[p] + (int)below(3);
    }
    space_walk(s, v, NULL, NULL, &(struct space_visitor){ step, &all });
    space_walk(s, v, least, most, &(struct space_visitor){ step, &some });
    assert_int_equal(all.n, space_variant_count(s, v));
    for (int64_t i = first; i < first + all.n; i++) {
        struct config c;
        bool in = true;
        space_at(s, i, &c);
        for (int p = 0; p < s->op->variants[v].nparams; p++)
            in = in && c.at[p] >= least[p] && c.at[p] <= most[p];
        within += in;
    }
    assert_int_equal(some.n, within);
}

/* By the definition, for numbers above 0. */
static double differ(const struct variant *v, const struct config *a, const struct config *b)
{
    double sum = 0;
    for (int p = 0; p < v->nparams; p++)
        sum += fmin(2, fabs(log2((double)v->params[p].values[a->at[p]].i / (double)v->params[p].values[b->at[p]].i)));
    return sum;
}

static void compare_nearest(const struct space *s, const struct variant *v, const struct config *c)
{
    double far, least = INFINITY;
    struct config valid_one;
    int64_t nearest = space_nearest(s, c, &far);
    for (int64_t i = 0; i < s->count; i++) {
        space_at(s, i, &valid_one);
        if (valid_one.variant == c->variant)
            least = fmin(least, differ(v, c, &valid_one));
    }
    assert_int_equal(nearest < 0, isinf(least));
    if (nearest < 0)
        return;
    space_at(s, nearest, &valid_one);
    assert_int_equal(valid_one.variant, c->variant);
    assert_true(fabs(far - least) < 1e-9 && fabs(differ(v, c, &valid_one) - least) < 1e-9);
}

static void compare_with_brute_force(const struct op *op)
{
    struct space *s = build(op);
    int64_t total = 0;
    double points = 0;
    for (int v = 0; v < op->nvariants; v++) {
        struct config c = { .variant = v };
        int64_t count = 0;
        do {
            bool ok = valid(&op->variants[v], &c);
            int64_t at = space_find(s, &c);
            assert_int_equal(at >= 0, ok);
            points++;
            if (below(8) == 0)
                compare_nearest(s, &op->variants[v], &c);
            if (!ok)
                continue;
            struct config back;
            memset(&back, 0xff, sizeof back);
            space_at(s, at, &back);
            assert_memory_equal(&back, &c, sizeof c);
            assert_true(at >= total && at < s->count);
            count++;
        } while (next_point(&op->variants[v], &c));
        assert_int_equal(space_variant_count(s, v), count);
        compare_walks(s, v);
        total += count;
    }
    assert_int_equal(s->count, total);
    assert_true(s->cartesian == points);
    assert_true(removed(s) + (double)total == points);
    for (int64_t i = 0; i < total; i++) {
        struct config c;
        space_at(s, i, &c);
        assert_int_equal(space_find(s, &c), i);
    }
    space_free(s);
}

static void test_random_spaces(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct op *op = random_op();
        compare_with_brute_force(op);
        op_free(op);
    }
}

/* -- published spaces -- */

/* "4", "1..10", "32..256/8" */
static void read_values(struct param *p, char *words)
{
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
        long long from, to, step = 1;
        int n = sscanf(w, "%lld..%lld/%lld", &from, &to, &step);
        assert_true(n >= 1);
        add_values(p, from, n > 1 ? to : from, step);
    }
}

/* Reads one space of the file from *text on, up to the next or the end. */
static struct op *read_space(char **text, char name[64], long long *valid_points, double *points)
{
    struct op *op = NULL;
    for (char *line; (line = strsep(text, "\n"));) {
        char param[64];
        int at = 0;
        if (!op && sscanf(line, "space %63s %lld %lf", name, valid_points, points) == 3)
            op = new_op(1);
        else if (op && strncmp(line, "where ", 6) == 0)
            add_where(op, 0, line + 6);
        else if (op && sscanf(line, "%63s = %n", param, &at) == 1 && at > 0)
            read_values(add_param(op, 0, param), line + at);
        else if (op && !*line)
            break;
    }
    return op;
}

static void test_published_spaces(void **state)
{
    (void)state;
    struct buf file = { 0 };
    struct err err = { 0 };
    if (file_read(TESTS_DIR "/data/spaces.txt", 1 << 20, &file, &err))
        fail_msg("%s", err.msg);
    char *text = file.data, name[64];
    long long valid_points;
    double points;
    int n = 0;
    for (struct op *op; (op = read_space(&text, name, &valid_points, &points)); n++) {
        int64_t start = clock_ns();
        struct space *s = build(op);
        print_message("%s: %.1f ms\n", name, (double)(clock_ns() - start) / 1e6); /* to be seen, not judged */
        assert_int_equal(s->count, valid_points);
        assert_true(s->cartesian == points);
        assert_true(removed(s) + (double)valid_points == points);
        for (int64_t i = 0; i < s->count; i += 97) {
            struct config c;
            space_at(s, i, &c);
            assert_int_equal(space_find(s, &c), i);
        }
        space_free(s);
        op_free(op);
    }
    assert_int_equal(n, 3);
    buf_free(&file);
}

/* -- the corners -- */

/* 24 parameters, 2^24 * 144 points: twelve pairs that depend on each other, and nothing else. */
static void test_large_product(void **state)
{
    (void)state;
    struct op *op = new_op(1);
    for (int p = 0; p < 24; p++)
        add_values(add_param(op, 0, (char[]){ (char)('a' + p / 2), p % 2 ? 'y' : 'x', 0 }), 1, p < 4 ? 8 : 2, 1);
    for (int p = 0; p < 12; p++) {
        char text[32];
        snprintf(text, sizeof text, "%cx <= %cy", 'a' + p, 'a' + p);
        add_where(op, 0, text);
    }
    struct space *s = build(op);
    assert_int_equal(s->count, 36 * 36 * 59049); /* pairs x <= y: of 8 values 36, of 2 values 3 */
    assert_true(s->cartesian == 4096.0 * 1048576.0);
    assert_true(removed(s) + (double)s->count == s->cartesian);
    for (int64_t i = 0; i < s->count; i += 1000003) {
        struct config c;
        space_at(s, i, &c);
        assert_int_equal(space_find(s, &c), i);
    }
    space_free(s);
    op_free(op);
}

/* 10^15 points, twelve constraints that tie all parameters together, in an order that is bad for them; counted and sampled. What every
 * constraint says holds for each sample, and indices lead back. */
static void test_huge(void **state)
{
    (void)state;
    static const int ties[12][3] = { { 0, 8, 1 },  { 1, 9, 2 },  { 2, 10, 3 }, { 3, 11, 4 }, { 4, 12, 5 },  { 5, 13, 6 },
                                     { 6, 14, 7 }, { 7, 0, 13 }, { 8, 1, 9 },  { 9, 2, 10 }, { 10, 3, 11 }, { 12, 5, 14 } };
    static const char *const shapes[] = { "%c * %c <= 10 * %c", "(%c + %c) %% %c ~= 1" };
    struct op *op = new_op(1);
    for (int p = 0; p < 15; p++)
        add_values(add_param(op, 0, (char[]){ (char)('a' + p), 0 }), 1, 10, 1);
    for (int i = 0; i < 12; i++) {
        char text[64];
        snprintf(text, sizeof text, shapes[i % 2], 'a' + ties[i][0], 'a' + ties[i][1], 'a' + ties[i][2]);
        add_where(op, 0, text);
    }
    int64_t start = clock_ns();
    struct space *s = build(op);
    print_message("10^15 points: %lld valid, %.1f ms\n", (long long)s->count, (double)(clock_ns() - start) / 1e6);
    assert_true(s->cartesian == 1e15);
    assert_true(s->count > (int64_t)1e12);
    for (int i = 0; i < 1000; i++) {
        struct config c;
        int64_t at = below(s->count);
        space_at(s, at, &c);
        assert_int_equal(space_find(s, &c), at);
        for (int k = 0; k < 12; k++)
            assert_true(i > 20 || holds(&op->variants[0], &c, op->variants[0].where[k]));
    }
    space_free(s);
    op_free(op);
}

static void expect_error(const struct op *op, const char *part)
{
    struct err err = { 0 };
    struct space *s = NULL;
    assert_int_equal(space_new(op, &problem, 0, &device, NULL, &s, &err), ERR_INVALID);
    assert_null(s);
    if (!strstr(err.msg, part))
        fail_msg("'%s' lacks '%s'", err.msg, part);
    assert_int_equal(space_new(op, &problem, 0, &device, NULL, &s, NULL), ERR_INVALID);
}

static void test_too_many(void **state)
{
    (void)state;
    struct op *op = new_op(1);
    for (int p = 0; p < 10; p++)
        add_values(add_param(op, 0, (char[]){ (char)('a' + p), 0 }), 1, 100, 1);
    expect_error(op, "2^62");
    op_free(op);
}

/* More work than anybody has time for ends when its bounds do. */
static void test_endless(void **state)
{
    (void)state;
    static const volatile sig_atomic_t on = 1;
    const struct patience brief = patience_of(0.05, NULL), stopped = patience_of(1e6, &on);
    struct space *s = NULL;
    struct err err = { 0 };
    struct op *op = new_op(1);
    for (int p = 0; p < 10; p++)
        add_values(add_param(op, 0, (char[]){ (char)('a' + p), 0 }), 1, 200, 1);
    add_where(op, 0, "a + b * 211 + c * 44521 + d * 9393931 + e * 1982119441 + (f + g + h + i + j) ~= 10");
    assert_int_equal(space_new(op, &problem, 0, &device, &brief, &s, &err), ERR_TIMEOUT);
    assert_non_null(strstr(err.msg, "more than 0.05 seconds"));
    assert_int_equal(space_new(op, &problem, 0, &device, &stopped, &s, &err), ERR_TIMEOUT);
    assert_non_null(strstr(err.msg, "interrupted"));
    assert_null(s);
    op_free(op);
}

/* What cannot be evaluated is an error, but not where another constraint removes the point, whatever their order. */
static void test_undecidable(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        struct op *op = new_op(1);
        add_values(add_param(op, 0, "ROWS"), 0, 4, 1);
        add_values(add_param(op, 0, "TILE"), 8, 8, 1);
        add_values(add_param(op, 0, "DEEP"), 1, 2, 1);
        if (order == 1)
            add_where(op, 0, "ROWS > 0");
        add_where(op, 0, "TILE % ROWS == 0");
        if (order == 2)
            add_where(op, 0, "ROWS >= DEEP");
        if (order == 0) {
            expect_error(op, "division by zero");
            expect_error(op, "ROWS=0,TILE=8");
        } else {
            struct space *s = build(op);
            assert_int_equal(s->count, order == 1 ? 6 : 5);
            assert_true(removed(s) + (double)s->count == 10);
            space_free(s);
        }
        op_free(op);
    }
}

static void test_whole_variant(void **state)
{
    (void)state;
    struct op *op = new_op(3);
    add_values(add_param(op, 0, "A"), 1, 5, 1);
    op->variants[0].requires.backend = "cuda";
    add_where(op, 0, "m % (m - 7) == 0"); /* never asked: there is no such device */
    add_where(op, 2, "m == 7");
    add_values(add_param(op, 1, "A"), 1, 3, 1);
    add_where(op, 1, "m == 8");
    struct space *s = build(op);
    assert_int_equal(space_variant_count(s, 0), 0);
    assert_int_equal(space_variant_count(s, 1), 0);
    assert_int_equal(s->count, 1); /* a variant without parameters is one configuration */
    const struct removal *r = s->removals;
    assert_true(s->nremovals >= 2);
    assert_string_equal(r[0].text, "requires: backend cuda");
    assert_true(r[0].count == 5);
    assert_string_equal(r[1].text, "m == 8");
    assert_string_equal(r[1].variant, "v1");
    struct config c = { .variant = 0 };
    assert_int_equal(space_find(s, &c), -1);
    c.variant = 3;
    assert_int_equal(space_find(s, &c), -1);
    c.variant = 2;
    assert_int_equal(space_find(s, &c), 0);
    space_free(s);
    op->variants[0].requires.backend = "null";
    expect_error(op, "division by zero");
    op_free(op);
}

/* A group that cannot be built within its bounds says so, and names its parameters. A deadline long past shows at the first look. */
static void test_group_bounds(void **state)
{
    (void)state;
    struct op *op = new_op(1);
    for (int p = 0; p < 3; p++)
        add_values(add_param(op, 0, (char[]){ (char)('A' + p), 0 }), 1, 100, 1);
    add_where(op, 0, "(A + B * 101) % (C + 7) > 0");
    struct err err = { 0 };
    struct plan *plan;
    assert_int_equal(plan_new(op, 0, &plan, &err), 0);
    struct val slots[MAX_SLOTS];
    plan_slots(plan, &problem, 0, &device, &(struct config){ 0 }, slots);
    double gone[8] = { 0 };
    static const volatile sig_atomic_t on = 1, off = 0;
    const struct {
        int64_t bytes, deadline;
        const volatile sig_atomic_t *stop;
        int code;
        const char *part;
    } cases[] = { { 1 << 16, INT64_MAX, &off, ERR_INVALID,
                    "A, B, C depend on each other, and counting their values takes more than 65536 bytes" },
                  { 1 << 30, 0, &off, ERR_TIMEOUT,
                    "A, B, C depend on each other, and counting their values takes more than 2.5 seconds" },
                  { 1 << 30, INT64_MAX, &on, ERR_TIMEOUT, "interrupted" },
                  { 1 << 30, INT64_MAX, &off, 0, NULL },
                  { 1 << 30, INT64_MAX, NULL, 0, NULL } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct group g = { .n = 3, .param = { 0, 1, 2 } };
        struct checker with = { &op->variants[0], plan, &device, slots, cases[i].bytes, { 2.5, cases[i].deadline, cases[i].stop } };
        assert_int_equal(group_build(&g, &with, gone, &err), cases[i].code);
        if (cases[i].part && !strstr(err.msg, cases[i].part))
            fail_msg("'%s' lacks '%s'", err.msg, cases[i].part);
        group_free(&g);
    }
    /* In another order of the parameters the same tuples are valid, and as many are removed. */
    struct group g = { .n = 3, .param = { 0, 1, 2 }, .weight = 1 }, other = { .n = 3, .param = { 2, 0, 1 }, .weight = 1 };
    struct checker with = { &op->variants[0], plan, &device, slots, 1 << 30, { 1e6, INT64_MAX, NULL } };
    double in_order[8] = { 0 }, in_other[8] = { 0 };
    assert_int_equal(group_build(&g, &with, in_order, &err), 0);
    assert_int_equal(group_build(&other, &with, in_other, &err), 0);
    assert_int_equal(g.count, other.count);
    assert_true(in_order[0] == in_other[0] && (double)g.count + in_order[0] == 1e6);
    for (int64_t i = 0; i < g.count; i += 997) {
        uint16_t at[MAX_PARAMS] = { 0 };
        group_at(&other, i, at);
        assert_true(group_find(&g, at) >= 0);
        assert_int_equal(group_find(&other, at), i);
    }
    group_free(&g);
    group_free(&other);
    plan_free(plan);
    op_free(op);
}

static void test_without_memory(void **state)
{
    (void)state;
    struct op *op = new_op(2);
    for (int v = 0; v < 2; v++) {
        add_values(add_param(op, v, "A"), 1, 20, 1);
        add_values(add_param(op, v, "B"), 1, 20, 1);
        add_where(op, v, "A % B == 0");
    }
    int rc = ERR_NOMEM, n = 0;
    for (; rc == ERR_NOMEM; n++) {
        struct space *s = NULL;
        mem_fail_at(n);
        rc = space_new(op, &problem, 0, &device, NULL, &s, NULL);
        mem_fail_at(-1);
        assert_int_equal(s != NULL, rc == 0);
        space_free(s);
    }
    assert_int_equal(rc, 0);
    assert_true(n > 20);
    op_free(op);
}

/* Given as a list: the same order whatever the list's, what is given twice once, and what was not given is not there. */
static void test_listed(void **state)
{
    (void)state;
    struct op *op = new_op(3);
    add_values(add_param(op, 0, "A"), 0, 3, 1);
    add_values(add_param(op, 0, "B"), 0, 1, 1);
    add_values(add_param(op, 2, "C"), 0, 9, 1);
    const struct config list[] = { { 2, { 7 } }, { 0, { 3, 1 } }, { 1, { 0 } }, { 0, { 1, 0 } }, { 0, { 3, 1 } }, { 2, { 2 } } };
    static const int order[] = { 3, 1, 2, 5, 0 };
    struct space *s;
    assert_int_equal(space_listed(op, list, 6, &s, NULL), 0);
    assert_int_equal(s->count, 5);
    for (int i = 0; i < 5; i++) {
        struct config c;
        space_at(s, i, &c);
        assert_memory_equal(&c, &list[order[i]], sizeof c);
        assert_int_equal(space_find(s, &c), i);
    }
    assert_int_equal(space_find(s, &(struct config){ 0, { 2, 1 } }), -1);
    space_free(s);
    assert_int_equal(space_listed(op, list, 1, &s, NULL), 0); /* of one variant only */
    assert_int_equal(s->count, 1);
    assert_int_equal(space_find(s, &list[1]), -1);
    space_free(s);
    for (long nth = 0; nth < 6; nth++) {
        s = NULL;
        mem_fail_at(nth);
        int rc = space_listed(op, list, 6, &s, NULL);
        mem_fail_at(-1);
        assert_int_equal(rc == 0, s != NULL);
        space_free(s);
    }
    op_free(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_spaces), cmocka_unit_test(test_published_spaces), cmocka_unit_test(test_large_product),
        cmocka_unit_test(test_huge),          cmocka_unit_test(test_too_many),         cmocka_unit_test(test_endless),
        cmocka_unit_test(test_undecidable),   cmocka_unit_test(test_whole_variant),    cmocka_unit_test(test_listed),
        cmocka_unit_test(test_group_bounds),  cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
