/* Objectives and metrics: as an op's members, in bytes that may be anybody's; and the energy of a measurement as a text. */
#include <math.h>

#include "model/kernel.h"
#include "model/objective.h"
#include "model/plan.h"
#include "store_sample.h"
#include "unit.h"

static struct metric metrics[] = { { "pace", "time * TILE * 1e3", true }, { "per_joule", "m * n / energy", false } };

static struct op with_metrics(const char *objective)
{
    struct op op = *sample_op();
    op.nmetrics = 2;
    op.metrics = metrics;
    op.objective = objective;
    return op;
}

static struct op *through_bytes(const struct op *op, struct err *err)
{
    struct buf b = { 0 };
    struct op *back = NULL;
    op_put(&b, op);
    struct cursor in = cursor_on(b.data, b.len);
    if (op_get(&in, true, &back, err))
        back = NULL;
    buf_free(&b);
    return back;
}

static void are_members_of_an_op(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct op op = with_metrics("pace"), *back = through_bytes(&op, &err), *kernel = NULL;
    struct config c = sample_config(1, 0);
    struct objective o;
    struct buf b = { 0 };
    assert_non_null(back);
    assert_int_equal(back->nmetrics, 2);
    assert_true(back->metrics[0].minimize && !back->metrics[1].minimize);
    assert_int_equal(objective_find(back, NULL, &o, &err), 0);
    assert_int_equal(o.by, BY_METRIC);
    assert_string_equal(objective_name(back, &o), "pace");
    objective_print(&b, back, &o);
    assert_string_equal(buf_text(&b), "min time * TILE * 1e3");
    buf_clear(&b);
    op_free(back);
    kernel_put(&b, &op, &c); /* a kernel says what it was chosen by */
    assert_int_equal(kernel_get(b.data, b.len, &kernel, &err), 0);
    assert_string_equal(kernel->objective, "pace");
    op_free(kernel);
    buf_free(&b);
    assert_int_equal(objective_find(&op, "edp", &o, &err), 0);
    assert_int_equal(o.by, BY_EDP);
    assert_int_equal(objective_find(&op, "nothing", &o, &err), ERR_INVALID);
    assert_non_null(strstr(err.msg, "it has time, energy, edp, pace, per_joule"));
}

static void are_checked(void **state)
{
    (void)state;
    static struct metric bad[][2] = {
        { { "b", "1", false }, { "a", "1", false } },   { { "a", "1", false }, { "a", "1", false } },
        { { "edp", "1", false }, { "z", "1", false } }, { { "a b", "1", false }, { "z", "1", false } },
        { { NULL, "1", false }, { "z", "1", false } },
    };
    struct err err = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct op op = with_metrics(NULL);
        op.metrics = bad[i];
        assert_null(through_bytes(&op, &err));
    }
    struct op op = with_metrics("none");
    assert_null(through_bytes(&op, &err));
    struct axis axes[] = { { "time", AXIS_SIZE, NULL, NULL }, { "n", AXIS_SIZE, NULL, NULL } };
    op = with_metrics(NULL);
    op.axes = axes;
    assert_null(through_bytes(&op, &err));
    assert_non_null(strstr(err.msg, "the name time is what metrics call a measurement of a run"));
}

static void are_evaluated(void **state)
{
    (void)state;
    struct op op = with_metrics(NULL);
    struct plan *plan;
    struct val slots[MAX_SLOTS];
    struct problem p = { { 10, 20 } };
    struct config c = sample_config(1, 0);
    struct devspec dev = sample_device();
    struct err err = { 0 };
    double value;
    assert_int_equal(plan_new(&op, 0, &plan, &err), 0);
    plan_slots(plan, &p, 0, &dev, &c, slots);
    assert_int_equal(plan_metric(plan, 0, slots, 0.5, 0, &value, &err), 0);
    assert_true(value == 0.5 * 8 * 1e3);
    assert_int_equal(plan_metric(plan, 1, slots, 0.5, 4, &value, &err), 0);
    assert_true(value == 50);
    assert_int_equal(plan_metric(plan, 1, slots, 0.5, 0, &value, &err), ERR_UNSUPPORTED);
    assert_true(!plan_metric_reads_energy(plan, 0) && plan_metric_reads_energy(plan, 1));
    plan_free(plan);
    assert_int_equal(plan_new(&op, -1, &plan, &err), 0); /* the op itself has no parameters to speak of */
    assert_int_equal(plan_metric(plan, 0, slots, 1, 1, &value, &err), ERR_INVALID);
    plan_free(plan);
}

static void more_of_what_is_ok_is_a_text(void **state)
{
    (void)state;
    static const char *const bad[] = { "energy",
                                       REASON_ALONE " ",
                                       "; " REASON_ALONE,
                                       "energy 1 J; " REASON_ALONE,
                                       "energy 1 J, 0.5 to 2" REASON_ALONE,
                                       REASON_ALONE "; energy 1 J, 0.5 to 2",
                                       "energy 1 J",
                                       "energy 1 J, 2 to 3",
                                       "energy 1 J, 0.5 to 0.9",
                                       "energy 1 J, 0 to 2",
                                       "energy -1 J, -2 to 2",
                                       "energy nan J, nan to nan",
                                       "energy inf J, 1 to inf",
                                       "energy 1 J, 0.5 to 2 ",
                                       "energy 1.0 J, 0.5 to 2",
                                       "energy 1e400 J, 1 to 1e400" };
    char text[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct result r = { .energy.joules = 1, .alone = true };
        assert_false(ok_read(bad[i], &r));
        assert_true(r.energy.joules == 0 && !r.alone);
    }
    for (int i = 0; i < 4; i++) {
        struct result in = { .alone = i & 1 }, out = { .alone = !in.alone };
        if (i & 2)
            in.energy = (struct energy){ 0.0123456789, 0.0123, 0.0125 };
        ok_print(&in, text);
        assert_true(ok_read(text, &out));
        assert_true(out.alone == in.alone && out.energy.low == in.energy.low && out.energy.high == in.energy.high);
        assert_true(fabs(out.energy.joules - in.energy.joules) < 1e-10);
    }
}

/* -- listed from a database, which may be anybody's -- */

static struct buf said;

static int say(void *arg, const struct listed *l)
{
    (void)arg;
    buf_fmt(&said, "%s %s %g;", l->objective, l->metrics, l->joules);
    return 0;
}

static const char *listed(const char *sql)
{
    struct err err = { 0 };
    if (sql)
        meddle("a.db", sql);
    struct store *s = open_at("a.db", STORE_READ);
    buf_clear(&said);
    buf_str(&said, "");
    if (store_each_winner(s, say, NULL, &err))
        fail_msg("%s", err.msg);
    store_close(s);
    return buf_text(&said);
}

static void are_listed(void **state)
{
    (void)state;
    struct op op = with_metrics("pace");
    struct devspec dev = sample_device();
    struct problem p = { { 11, 13 } };
    struct config c = sample_config(1, 0);
    struct target t;
    struct err err = { 0 };
    struct store *s = open_at("a.db", STORE_WRITE);
    struct tuned *k;
    assert_int_equal(store_target(s, &dev, &op, &p, 0, true, &t, &err), 0);
    assert_int_equal(tuned_of(&op, &c, &k, &err), 0);
    hash_hex("k", 1, k->key);
    k->time_ns = 1000;
    k->source = "source";
    struct measured m = { .variant = "tile", .json = k->json, .made = sample_made() };
    m.result = (struct result){ .outcome = OUT_OK, .energy = { 2, 1.5, 3 }, .resources = { -1, -1, -1, -1 } };
    memcpy(m.key, k->key, HASH_HEX);
    assert_int_equal(store_measured(s, &t, &m, &err), 0);
    assert_int_equal(store_winner(s, &t, k, &err), 0);
    struct buf by = { 0 };
    assert_int_equal(store_winner_objective(s, &t, &by, &err), 0);
    assert_string_equal(buf_text(&by), "min time * TILE * 1e3");
    buf_free(&by);
    tuned_free(k);
    store_close(s);
    assert_string_equal(listed(NULL), "pace {\"pace\":0.008,\"per_joule\":71.5} 2;");
    assert_string_equal(listed("UPDATE measurement SET reason = 'energy 2 J'"), "pace {\"pace\":0.008} 0;");
    assert_string_equal(listed("UPDATE tuned SET kernel = x'00'"), " {\"pace\":0.008} 0;");
    assert_string_equal(listed("UPDATE tuned SET kernel = 'text'"), " {\"pace\":0.008} 0;");
    assert_string_equal(listed("UPDATE tuned SET config = '{\"TILE\":\"x\"}'"), " {} 0;");
    assert_string_equal(listed("UPDATE tuned SET config = '{\"m\":1,\"n\":2,\"T\":3}'"), " {} 0;");
    assert_string_equal(listed("UPDATE tuned SET config = '{\"TILE\":8}'; UPDATE problem SET sizes = 'm=1'"), " {} 0;");
    assert_string_equal(listed("UPDATE op SET interface = x'0102'"), " {} 0;");
    buf_free(&said);
    said = (struct buf){ 0 };
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_members_of_an_op), cmocka_unit_test(are_checked), cmocka_unit_test(are_evaluated),
        cmocka_unit_test(more_of_what_is_ok_is_a_text),     in_folder(are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
