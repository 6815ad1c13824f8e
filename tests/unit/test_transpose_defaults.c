/* The defaults of transpose are rules for classes of shapes. Where one of them asks for more than its kernel can do, shapes of its class fall
 * through to the plain tile, which may take ten times as long. */
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

static struct devspec gpu; /* a sample, with the shared memory of an H200 */
static struct op *op;
static struct choice *defaults;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    setenv("CUTUNE_HOME", SOURCE_DIR, 1);
    gpu = cuda_backend.sample;
    gpu.max_shared = 227 << 10;
    if (op_load("transpose", &op, &err) || !(defaults = mem_array((size_t)op->ndefaults, sizeof *defaults)))
        return -1;
    for (int i = 0; i < op->ndefaults; i++) {
        op_as_default(op, &op->defaults[i], &defaults[i].as);
        if (plan_new(&defaults[i].as.op, defaults[i].as.config.variant, &defaults[i].plan, &err))
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < op->ndefaults; i++)
        plan_free(defaults[i].plan);
    mem_free(defaults);
    op_free(op);
    return 0;
}

/* The variant of the first default that holds. */
static const char *variant_for(int row, int64_t m, int64_t n)
{
    const struct problem p = { { m, n, n, m, 1 } };
    struct val slots[MAX_SLOTS];
    for (int i = 0; i < op->ndefaults; i++) {
        const struct choice *c = &defaults[i];
        plan_slots(c->plan, &p, row, &gpu, &c->as.config, slots);
        if (!plan_refuses(c->plan, slots, &gpu))
            return op->variants[op->defaults[i].config.variant].name;
    }
    fail_msg("no default holds for m=%lld,n=%lld", (long long)m, (long long)n);
    return NULL;
}

/* Of matrices of so many bytes, with one short side: which have the tile. */
static void walk(int row, int64_t bytes, int whole, bool few_rows, bool *tile)
{
    for (int side = 1; side < SIDES; side++) {
        int64_t other = bytes / op->rows[row * op->ntypes]->bytes / side / 16 * 16 + !whole;
        tile[side] = !strcmp(few_rows ? variant_for(row, side, other) : variant_for(row, other, side), "tile");
    }
}

static void no_short_side_falls_through(void **state)
{
    (void)state;
    static const int64_t bytes[] = { 3000000, 40000000 };
    int sizes = 0;
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
                    fail_msg("%s, %lld bytes, %d %s, the other side %s: it has the tile, and those of %d more and less have not", t->name,
                             (long long)bytes[kind >> 2], side, few_rows ? "rows" : "columns", whole ? "a multiple of 16" : "odd", APART);
        }
    }
    assert_int_equal(sizes, 31);
}

/* Long sides have a kernel for their size, however their rows lie. */
static void no_large_matrix_has_the_tile(void **state)
{
    (void)state;
    for (int row = 0; row < op->nrows; row++)
        for (int odd = 0; odd < 4; odd++)
            if (!strcmp(variant_for(row, 8192 + (odd & 1), 8192 + (odd >> 1)), "tile"))
                fail_msg("%s, m=%d,n=%d: it has the tile", op->rows[row * op->ntypes]->name, 8192 + (odd & 1), 8192 + (odd >> 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_short_side_falls_through),
        cmocka_unit_test(no_large_matrix_has_the_tile),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
