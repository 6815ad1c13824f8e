/* Candidates that fail in every way do not stop a run: each has its outcome and reason, and the winner is correct. CUTUNE_TEST_DEVICE
 * chooses the device; the default is OpenCL, if there is any. */
#include "device/device.h"
#include "op/load.h"
#include "tune/tune.h"
#include "unit.h"

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
    struct buf config = { 0 };
    assert_true(config_of_json(&config, m->json));
    snprintf(s->rows[s->n].config, sizeof s->rows->config, "%s", buf_text(&config));
    buf_free(&config);
    snprintf(s->rows[s->n].reason, sizeof s->rows->reason, "%s", m->result.reason);
    s->rows[s->n++].outcome = m->result.outcome;
    return 0;
}

/* What a fault may come out as; two where backends differ in how they notice. */
static const struct {
    const char *fault;
    enum outcome one, other;
} expected[] = {
    { "FAULT=none,", OUT_OK, OUT_OK },
    { "FAULT=none_next,", OUT_OK, OUT_OK },
    { "FAULT=none_still,", OUT_OK, OUT_OK },
    { "FAULT=swaps,", OUT_WRONG, OUT_WRONG },
    { "FAULT=nothing,", OUT_WRONG, OUT_WRONG },
    { "FAULT=middle,", OUT_WRONG, OUT_WRONG },
    { "FAULT=timed_input,", OUT_WRONG, OUT_WRONG },
    { "FAULT=late_hang,", OUT_TIMEOUT, OUT_TIMEOUT },
    { "FAULT=late_trap,", OUT_CRASH, OUT_CRASH },
    { "KEPT=none", OUT_OK, OUT_OK },
    { "KEPT=none_still", OUT_OK, OUT_OK },
    { "KEPT=marks", OUT_WRONG, OUT_WRONG },
    { "KEPT=flags", OUT_WRONG, OUT_WRONG },
    { "KEPT=remembers", OUT_WRONG, OUT_WRONG },
    { "KEPT=parity", OUT_WRONG, OUT_WRONG },
    { "KEPT=input", OUT_WRONG, OUT_WRONG },
    { "KEPT=guard", OUT_WRONG, OUT_WRONG },
    { "KEPT=crash", OUT_CRASH, OUT_CRASH },
    { "KEPT=hang", OUT_TIMEOUT, OUT_TIMEOUT },
    { "KEPT=outside", OUT_WRONG, OUT_WRONG },
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
    { "FAULT=slow,", OUT_OK, OUT_TIMEOUT },
    { "FAULT=loud,", OUT_COMPILE_ERROR, OUT_TIMEOUT }, /* the latter where the machine has much else to do */
    { "FAULT=endless,", OUT_TIMEOUT, OUT_TIMEOUT },
};

/* A script of tests/fault on the device, with a database of its own. */
struct fixture {
    struct devspec dev;
    struct op *op;
    struct store *store;
    struct problem problem; /* the first of its shapes */
    char folder[32], db[64];
};

static void begin(struct fixture *f, const char *script)
{
    struct err err = { 0 };
    const char *word = getenv("CUTUNE_TEST_DEVICE");
    char path[256];
    *f = (struct fixture){ .folder = "/tmp/cutune-fault-XXXXXX" };
    if (device_find(word ? word : "opencl", &f->dev, &err)) {
        print_message("SKIPPED: %s\n", err.msg);
        skip();
    }
    snprintf(path, sizeof path, TESTS_DIR "/fault/%s", script);
    if (op_load(path, &f->op, &err))
        fail_msg("%s", err.msg);
    f->problem = f->op->shapes[0].problem;
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->db, sizeof f->db, "%s/t.db", f->folder);
    if (store_open(f->db, STORE_WRITE, &f->store, &err))
        fail_msg("%s", err.msg);
}

static void end(struct fixture *f)
{
    store_close(f->store);
    op_free(f->op);
    remove(f->db);
    rmdir(f->folder);
}

static int tune(struct fixture *f, int row, struct tune_report *report, struct err *err)
{
    const char *home;
    assert_int_equal(home_find(&home, err), 0);
    /* A step is milliseconds of work: what its kernels need is compiled by then. Each that hangs spins through it twice. */
    struct tune_options opt = { .home = home, .program = CUTUNE_PROGRAM, .strategy = "exhaustive", .deadline_ms = 10000, .step_ms = 3000 };
    opt.no_cut = true; /* or a disturbed machine ends one before its fault shows */
    return tune_run(f->op, &f->problem, row, &f->dev, f->store, &opt, report, err);
}

static void read_back(struct fixture *f, struct seen *seen)
{
    struct err err = { 0 };
    struct target target;
    assert_int_equal(store_target(f->store, &f->dev, f->op, &f->problem, 0, true, &target, &err), 0);
    assert_int_equal(store_each_measured(f->store, &target, note, seen, &err), 0);
    for (int i = 0; i < seen->n; i++)
        print_message("%-24s %-14s %s\n", seen->rows[i].config, outcome_name(seen->rows[i].outcome), seen->rows[i].reason);
}

/* Whether `config` begins with the fault, and the fault ends there. */
static bool is_fault(const char *config, const char *fault)
{
    size_t n = strlen(fault);
    return !strncmp(config, fault, n) && (fault[n - 1] == ',' || !config[n]);
}

/* PoCL 6 does not say how much local memory a kernel has, so that it can only be tried; then PoCL ends the process, and says why. */
static bool is_told_by_crash(const char *config, const char *reason)
{
    return is_fault(config, "FAULT=shared,") && strstr(reason, "fit to the local memory");
}

static void come_out_as_expected(const char *script)
{
    struct err err = { 0 };
    struct fixture f;
    struct tune_report report;
    struct seen seen = { 0 };
    int unexpected = 0;
    begin(&f, script);
    if (tune(&f, 0, &report, &err))
        fail_msg("%s", err.msg);
    read_back(&f, &seen);
    assert_int_equal(report.tried, report.valid);
    assert_int_equal(seen.n, report.valid);
    for (int i = 0; i < seen.n; i++) {
        size_t k = 0;
        while (k < sizeof expected / sizeof *expected && !is_fault(seen.rows[i].config, expected[k].fault))
            k++;
        assert_true(k < sizeof expected / sizeof *expected);
        if (seen.rows[i].outcome != expected[k].one && seen.rows[i].outcome != expected[k].other &&
            !is_told_by_crash(seen.rows[i].config, seen.rows[i].reason)) {
            print_error("%s came out as %s\n", seen.rows[i].config, outcome_name(seen.rows[i].outcome));
            unexpected++;
        }
        assert_true(seen.rows[i].outcome == OUT_OK || seen.rows[i].reason[0]);
    }
    assert_int_equal(unexpected, 0);
    assert_int_equal(report.best.outcome, OUT_OK); /* and right: what is wrong has another outcome */
    end(&f);
}

static void each_fault_costs_itself(void **state)
{
    (void)state;
    come_out_as_expected("faults.lua");
}

/* Right on a workspace that nobody has used, and wrong on the one that its own last launch has left. */
static void what_a_workspace_keeps_is_no_help(void **state)
{
    (void)state;
    come_out_as_expected("kept.lua");
}

/* However many crash in a row: those behind them are measured. */
static void crashing_ones_do_not_end_a_run(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct fixture f;
    struct tune_report report;
    struct seen seen = { 0 };
    begin(&f, "crashers.lua");
    if (tune(&f, 0, &report, &err))
        fail_msg("%s", err.msg);
    read_back(&f, &seen);
    assert_int_equal(seen.n, 14);
    for (int i = 0; i < seen.n; i++) {
        bool crashes = atoi(seen.rows[i].config + strlen("NUMBER=")) <= 11;
        assert_int_equal(seen.rows[i].outcome, crashes ? OUT_CRASH : OUT_OK);
    }
    assert_int_equal(report.best.outcome, OUT_OK);
    end(&f);
}

/* What nobody writes is not right: the line names the reference and the output. */
static void a_reference_writes_all(void **state)
{
    (void)state;
    struct fixture f;
    struct tune_report report;
    begin(&f, "unwritten.lua");
    for (int row = 0; row < f.op->nrows; row++) {
        struct err err = { 0 };
        int rc = tune(&f, row, &report, &err);
        print_message("row %d: %s\n", row, rc ? err.msg : "no message");
        if (row == 0) {
            assert_int_equal(rc, 0);
        } else {
            assert_int_not_equal(rc, 0);
            assert_non_null(strstr(err.msg, "reference"));
            assert_non_null(strstr(err.msg, "of out unwritten"));
        }
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_costs_itself),
        cmocka_unit_test(what_a_workspace_keeps_is_no_help),
        cmocka_unit_test(crashing_ones_do_not_end_a_run),
        cmocka_unit_test(a_reference_writes_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
