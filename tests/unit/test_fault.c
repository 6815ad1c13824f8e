/* Candidates that fail in every way cost themselves only: each has its outcome and reason in the table, and the winner is right.
 * CUTUNE_TEST_DEVICE chooses the device; left out, OpenCL where there is any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/device.h"
#include "op/load.h"
#include "tune/tune.h"

struct seen {
    int n;
    struct {
        char config[128], reason[256];
        enum outcome outcome;
    } rows[64];
};

static int note(void *arg, const struct measured *m)
{
    struct seen *s = arg;
    assert_true(s->n < 64);
    snprintf(s->rows[s->n].config, sizeof s->rows->config, "%s", m->config);
    snprintf(s->rows[s->n].reason, sizeof s->rows->reason, "%s", m->result.reason);
    s->rows[s->n++].outcome = m->result.outcome;
    return 0;
}

/* What a fault may come out as; two where backends differ in how they notice. */
static const struct {
    const char *fault;
    enum outcome one, other;
} expected[] = {
    { "FAULT=none,", OUT_OK, OUT_SLOWER },
    { "FAULT=syntax,", OUT_COMPILE_ERROR, OUT_COMPILE_ERROR },
    { "FAULT=before,", OUT_WRONG, OUT_WRONG },
    { "FAULT=after,", OUT_WRONG, OUT_WRONG },
    { "FAULT=far_write,", OUT_CRASH, OUT_CRASH },
    { "FAULT=far_read,", OUT_CRASH, OUT_CRASH },
    { "FAULT=hang,", OUT_TIMEOUT, OUT_TIMEOUT },
    { "FAULT=one,", OUT_WRONG, OUT_WRONG },
    { "FAULT=poison,", OUT_WRONG, OUT_WRONG },
    { "FAULT=later,", OUT_WRONG, OUT_WRONG },
    { "FAULT=stops,", OUT_WRONG, OUT_WRONG },
    { "FAULT=input,", OUT_WRONG, OUT_WRONG },
    { "FAULT=trap,", OUT_CRASH, OUT_CRASH },
    { "FAULT=threads,", OUT_RESOURCES, OUT_LAUNCH_ERROR },
    { "FAULT=shared,", OUT_COMPILE_ERROR, OUT_RESOURCES },
    { "FAULT=registers,", OUT_RESOURCES, OUT_LAUNCH_ERROR },
    { "FAULT=slow,", OUT_SLOWER, OUT_TIMEOUT },
    { "FAULT=loud,", OUT_COMPILE_ERROR, OUT_TIMEOUT }, /* the latter where the machine has much else to do */
    { "FAULT=endless,", OUT_TIMEOUT, OUT_TIMEOUT },
};

static void each_fault_costs_itself(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct devspec dev;
    const char *word = getenv("CUTUNE_TEST_DEVICE"), *home;
    if (device_find(word ? word : "opencl", &dev, &err)) {
        print_message("SKIPPED: %s\n", err.msg);
        skip();
    }
    struct op *op = NULL;
    assert_int_equal(home_find(&home, &err), 0);
    if (op_load(TESTS_DIR "/fault/faults.lua", &op, &err))
        fail_msg("%s", err.msg);
    char path[] = "/tmp/cutune-fault-XXXXXX", db[64];
    assert_non_null(mkdtemp(path));
    snprintf(db, sizeof db, "%s/t.db", path);
    struct store *store = NULL;
    if (store_open(db, STORE_WRITE, &store, &err))
        fail_msg("%s", err.msg);

    struct problem problem = { { 100003 } };
    struct tune_options opt = { .home = home, .program = CUTUNE_PROGRAM, .strategy = "exhaustive", .deadline_ms = 10000 };
    struct tune_report report;
    if (tune_run(op, &problem, 0, &dev, store, &opt, &report, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(report.tried, report.valid);
    assert_int_equal(report.best.outcome, OUT_OK);
    assert_int_equal(report.best.config.at[0], 0); /* FAULT none */

    struct seen seen = { 0 };
    struct target target;
    assert_int_equal(store_target(store, &dev, op, &problem, 0, true, &target, &err), 0);
    assert_int_equal(store_each_measured(store, &target, note, &seen, &err), 0);
    assert_int_equal(seen.n, report.valid);
    for (int i = 0; i < seen.n; i++) {
        size_t k = 0;
        while (k < sizeof expected / sizeof *expected && strncmp(seen.rows[i].config, expected[k].fault, strlen(expected[k].fault)))
            k++;
        assert_true(k < sizeof expected / sizeof *expected);
        print_message("%-24s %-14s %s\n", seen.rows[i].config, outcome_name(seen.rows[i].outcome), seen.rows[i].reason);
        if (seen.rows[i].outcome != expected[k].one && seen.rows[i].outcome != expected[k].other)
            fail_msg("%s came out as %s", seen.rows[i].config, outcome_name(seen.rows[i].outcome));
        assert_true(seen.rows[i].outcome == OUT_OK || seen.rows[i].reason[0]);
    }
    store_close(store);
    op_free(op);
    remove(db);
    rmdir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_fault_costs_itself) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
