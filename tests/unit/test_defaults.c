/* The defaults of transpose and gemm are rules for classes of shapes. Where one of them asks for more than its kernel can do, shapes of its
 * class fall through to a plain tile, which may take ten times as long. */
#include "base/mem.h"
#include "device/device.h"
#include "model/plan.h"
#include "op/load.h"
#include "unit.h"

enum { SIDES = 72, APART = 8 /* what asks for aligned rows has a kernel at each second, fourth or eighth side only */ };

struct choice {
    struct served as;
    struct plan *plan;
};

struct rules {
    struct op *op;
    struct choice *defaults;
};

static struct devspec gpu; /* a sample, with what an H200 has of what rules name */
static struct rules transpose, gemm;
static struct err err;

static int load(const char *name, struct rules *r)
{
    if (op_load(name, &r->op, &err) || !(r->defaults = mem_array((size_t)r->op->ndefaults, sizeof *r->defaults)))
        return -1;
    for (int i = 0; i < r->op->ndefaults; i++) {
        struct choice *c = &r->defaults[i];
        op_as_default(r->op, &r->op->defaults[i], &c->as);
        if (plan_new(&c->as.op, c->as.config.variant, &c->plan, &err))
            return -1;
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    setenv("CUTUNE_HOME", SOURCE_DIR, 1);
    gpu = cuda_backend.sample;
    gpu.max_shared = 227 << 10;
    gpu.cc = 90;
    gpu.multiprocessors = 132;
    return load("transpose", &transpose) || load("gemm", &gemm) ? -1 : 0;
}

static void drop(struct rules *r)
{
    for (int i = 0; i < r->op->ndefaults; i++)
        plan_free(r->defaults[i].plan);
    mem_free(r->defaults);
    op_free(r->op);
}

static int tear_down(void **state)
{
    (void)state;
    drop(&transpose);
    drop(&gemm);
    return 0;
}

/* The variant of the first default that holds. */
static const char *variant_of(const struct rules *r, int row, const struct problem *p)
{
    struct val slots[MAX_SLOTS];
    for (int i = 0; i < r->op->ndefaults; i++) {
        const struct choice *c = &r->defaults[i];
        plan_slots(c->plan, p, row, &gpu, &c->as.config, slots);
        if (!plan_refuses(c->plan, slots, &gpu))
            return r->op->variants[r->op->defaults[i].config.variant].name;
    }
    fail_msg("no default of %s holds for sizes %lld, %lld, ...", r->op->name, (long long)p->size[0], (long long)p->size[1]);
    return NULL;
}

static const char *variant_for(int row, int64_t m, int64_t n)
{
    return variant_of(&transpose, row, &(struct problem){ { m, n, n, m, 1 } });
}

/* Of matrices of so many bytes, with one short side: which have the tile. */
static void walk(int row, int64_t bytes, int whole, bool few_rows, bool *tile)
{
    for (int side = 1; side < SIDES; side++) {
        int64_t other = bytes / transpose.op->rows[row * transpose.op->ntypes]->bytes / side / 16 * 16 + !whole;
        tile[side] = !strcmp(few_rows ? variant_for(row, side, other) : variant_for(row, other, side), "tile");
    }
}

static void no_short_side_falls_through(void **state)
{
    (void)state;
    static const int64_t bytes[] = { 3000000, 40000000 };
    int sizes = 0;
    const struct op *op = transpose.op;
    for (int row = 0; row < op->nrows; row++) {
        const struct dtype *t = op->rows[row * op->ntypes];
        if (sizes & t->bytes) /* the first type of each size */
            continue;
        sizes |= t->bytes;
        for (int kind = 0; kind < 8; kind++) {
            bool tile[SIDES], few_rows = kind & 1, whole = kind >> 1 & 1;
            walk(row, bytes[kind >> 2], whole, few_rows, tile);
            for (int side = 1; side + APART < SIDES; side++)
                if (tile[side] && !tile[side + APART] && (side <= APART || !tile[side - APART]))
                    fail_msg("%s, %lld bytes, %d %s, the other side %s: it has the tile, and those of %d more and less have not",
                             t->name, (long long)bytes[kind >> 2], side, few_rows ? "rows" : "columns",
                             whole ? "a multiple of 16" : "odd", APART);
        }
    }
    assert_int_equal(sizes, 31);
}

/* Long sides have a kernel for their size, however their rows lie. */
static void no_large_matrix_has_the_tile(void **state)
{
    (void)state;
    const struct op *op = transpose.op;
    for (int row = 0; row < op->nrows; row++)
        for (int odd = 0; odd < 4; odd++)
            if (!strcmp(variant_for(row, 8192 + (odd & 1), 8192 + (odd >> 1)), "tile"))
                fail_msg("%s, m=%d,n=%d: it has the tile", op->rows[row * op->ntypes]->name, 8192 + (odd & 1), 8192 + (odd >> 1));
}

/* Products of 16-bit elements have a kernel for tensor cores, or one that reads a matrix once, however their rows lie; but for what is tiny. */
static void have_tensor_cores(int step)
{
    static const int64_t sides[] = { 1, 4, 9, 17, 31, 48, 64, 105, 200, 600 }, others[] = { 104, 301, 1500, 5001 },
                         depths[] = { 8, 33, 64, 100, 145, 300, 1001, 5000, 40001 };
    int row = 0;
    while (strcmp(gemm.op->rows[row * gemm.op->ntypes]->name, "f16") != 0)
        row++;
    for (int kind = 0; kind < 32; kind++)
        for (int i = 0; i < COUNT(sides); i++)
            for (int j = kind % step; j < COUNT(others) * COUNT(depths); j += step) {
                bool few_rows = kind & 1, ta = kind >> 1 & 1, tb = kind >> 2 & 1, gaps = kind >> 3 & 1, gaps_c = kind >> 4;
                int64_t other = others[j % COUNT(others)], k = depths[j / COUNT(others)];
                int64_t m = few_rows ? sides[i] : other, n = few_rows ? other : sides[i];
                const struct problem p = { { m, n, k, ta, tb, (ta ? m : k) + gaps, (tb ? k : n) + gaps, n + gaps_c, 1 } };
                const char *name = variant_of(&gemm, row, &p);
                if (strstr(name, "mma") || !strcmp(name, "rows") || !strncmp(name, "columns", 7))
                    continue;
                if (!strcmp(name, "tile") && k <= 40 && m * n <= 1 << 15)
                    continue;
                fail_msg("cc %d, m=%lld,n=%lld,k=%lld,ta=%d,tb=%d with%s gaps, with%s in C: it has %s", gpu.cc, (long long)m,
                         (long long)n, (long long)k, ta, tb, gaps ? "" : "out", gaps_c ? "" : "out", name);
            }
}

static void products_have_tensor_cores(void **state)
{
    (void)state;
    static const struct {
        int cc, multiprocessors, shared_kib;
    } others[] = { { 80, 108, 163 }, { 89, 128, 99 }, { 100, 148, 227 }, { 120, 170, 99 } };
    const struct devspec hopper = gpu;
    have_tensor_cores(1);
    for (int i = 0; i < COUNT(others); i++) {
        gpu.cc = others[i].cc;
        gpu.multiprocessors = others[i].multiprocessors;
        gpu.max_shared = others[i].shared_kib << 10;
        have_tensor_cores(5);
    }
    gpu = hopper;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_short_side_falls_through),
        cmocka_unit_test(no_large_matrix_has_the_tile),
        cmocka_unit_test(products_have_tensor_cores),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
