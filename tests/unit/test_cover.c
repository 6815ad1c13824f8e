/* Few kernels for many problems: the choice, on losses made up. */
#include <math.h>

#include "export/cover.h"
#include "unit.h"

enum { PROBLEMS = 6, KERNELS = 4 };

/* What each configuration loses on each problem; negative: not measured. Configuration `best` won each. */
static void choose(const double loss[KERNELS][PROBLEMS], const int best[PROBLEMS], int most, struct cover *c)
{
    static struct near_time times[KERNELS * PROBLEMS];
    static int first[KERNELS + 1];
    static struct tuned_problem own[PROBLEMS], *problems[PROBLEMS];
    static struct knowledge all;
    const struct known_device d = { .nproblems = PROBLEMS };
    struct err err = { 0 };
    int n = 0;
    for (int k = 0; k < KERNELS; k++) {
        first[k] = n;
        for (int p = 0; p < PROBLEMS; p++)
            if (loss[k][p] >= 0)
                times[n++] = (struct near_time){ .column = k, .problem = p, .loss = loss[k][p] };
    }
    first[KERNELS] = n;
    for (int p = 0; p < PROBLEMS; p++) {
        own[p] = (struct tuned_problem){ .at = p, .column = best[p], .sizes = "n=1", .point.size = { p } };
        problems[p] = &own[p];
    }
    all = (struct knowledge){ .problems = problems, .times = times, .first = first };
    assert_int_equal(cover_open(&all, &d, -1, c, &err), 0);
    while (c->nchosen < most && cover_grow(c))
        ;
}

static void exchanges_what_was_best_alone(void **state)
{
    (void)state;
    /* The first is the best alone; the second and the third together are better than it with any other. */
    static const double loss[KERNELS][PROBLEMS] = {
        { .3, .3, .3, .3, 0, 0 }, { 0, 0, 1, 1, .1, .1 }, { 1, 1, 0, 0, .1, .1 }, { -1, -1, -1, -1, -1, 0 }
    };
    static const int best[PROBLEMS] = { 1, 1, 2, 2, 0, 3 };
    struct cover c;
    choose(loss, best, 1, &c);
    assert_int_equal(c.nchosen, 1);
    assert_true(c.kernels[c.given[0]].column == 0 && fabs(cover_loss(&c).mean - .2) < 1e-6 &&
                fabs(cover_loss(&c).worst - .3) < 1e-6);
    cover_close(&c);
    choose(loss, best, 2, &c);
    assert_int_equal(c.kernels[c.given[0]].column, 1);
    assert_int_equal(c.kernels[c.given[2]].column, 2);
    assert_true(fabs(cover_loss(&c).mean - .2 / 6) < 1e-6);
    cover_close(&c);
    choose(loss, best, 100, &c); /* no more than are of use: the fourth is never better than the first */
    assert_int_equal(c.nchosen, 3);
    assert_true(cover_loss(&c).worst < 1e-6);
    cover_close(&c);
}

static void covers_all_first(void **state)
{
    (void)state;
    /* Only the last was measured on the last problem, and it is bad elsewhere. */
    static const double loss[KERNELS][PROBLEMS] = {
        { 0, 0, 0, .1, .1, -1 }, { .1, .1, .1, 0, 0, -1 }, { 2, 2, -1, -1, -1, -1 }, { 9, 9, 9, 9, 9, 0 }
    };
    static const int best[PROBLEMS] = { 0, 0, 0, 1, 1, 3 };
    const struct op op = { .naxes = 1 };
    struct cover_loss left;
    struct cover c;
    choose(loss, best, 1, &c);
    assert_int_equal(cover_loss(&c).covered, 6);
    cover_close(&c);
    choose(loss, best, 2, &c);
    assert_int_equal(cover_loss(&c).covered, 6);
    assert_true(fabs(cover_loss(&c).worst - .1) < 1e-6 && cover_loss(&c).where->at >= 3);
    /* Without its record, the last problem has no kernel that the look-up could give. */
    assert_int_equal(cover_left_out(&c, &op, &left, NULL), 0);
    assert_int_equal(left.covered, 5);
    assert_true(left.mean >= cover_loss(&c).mean * 6 / 5 - 1e-6);
    cover_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_what_was_best_alone),
        cmocka_unit_test(covers_all_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
