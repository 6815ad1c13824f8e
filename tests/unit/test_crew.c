/* Runs that share workers, one after another: how many are started, and that what one problem's candidates did costs the next nothing. On the
 * pretend device. The workers are this program itself, started again as `test_crew worker KIND`. */
#include <signal.h>
#include <sys/wait.h>

#include "base/util.h"
#include "device/device.h"
#include "op/load.h"
#include "tune/tune.h"
#include "unit.h"
#include "worker/child.h"

static const char script[] = "return op {\n"
                             "  name = 'acts', problem = { size 'n' }, types = { T = { 'f32' } },\n"
                             "  args = { output('out', 'T', { 'n' }), input('inp', 'T', { 'n' }), value 'n' },\n"
                             "  shapes = { { n = 1000 } }, check = 'exact',\n"
                             "  reference = { template = 'ref.cu', launch = { kernel = 'ref' } },\n"
                             "  variants = { { name = 'v', template = 'acts.cu',\n"
                             "    params = { { 'P', 1, 2, 3 } }, launch = { kernel = 'acts' } } },\n"
                             "  defaults = { { variant = 'v' } },\n"
                             "}\n";

struct stage {
    struct op *op;
    struct devspec dev;
    struct store *store;
    struct tune_options opt;
    struct tune_report report;
    struct err err;
};

/* second: what the configuration P=2 does; reference: what the reference does. The cache of the runs is empty. */
static void raise_stage(struct stage *s, const char *second, const char *reference)
{
    char text[300];
    const char *home;
    struct err err = { 0 };
    *s = (struct stage){ 0 };
    write_file("acts.lua", script);
    snprintf(text, sizeof text, "//null: %s\nKERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) { }\n", reference);
    write_file("ref.cu", text);
    snprintf(text, sizeof text, "//@ local acts = { 'time=5000', '%s', 'time=7000' }\n//null: $(acts[P])\nKERNEL void acts() { }\n", second);
    write_file("acts.cu", text);
    write_file("log", "");
    setenv("TEST_CREW_LOG", in_dir("log"), 1);
    unlink(in_dir("t.db"));
    if (home_find(&home, &err) || op_load(in_dir("acts.lua"), &s->op, &err) || device_find("null:0", &s->dev, &err) ||
        store_open(in_dir("t.db"), STORE_WRITE, &s->store, &err))
        fail_msg("%s", err.msg);
    s->dev.l2 = 1 << 20; /* a smaller flush */
    snprintf(s->dev.uuid, sizeof s->dev.uuid, "test-crew-%d", (int)getpid()); /* a lock of its own */
    s->opt = (struct tune_options){ .home = home, .strategy = "exhaustive", .jobs = 1 };
    assert_int_equal(tune_crew_open(&s->opt.crew, &err), 0);
}

static void strike_stage(struct stage *s)
{
    tune_crew_close(s->opt.crew);
    store_close(s->store);
    op_free(s->op);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* every child was waited for */
}

static int tune(struct stage *s, int64_t n)
{
    s->err = (struct err){ 0 };
    return tune_run(s->op, &(struct problem){ .size = { n } }, 0, &s->dev, s->store, &s->opt, &s->report, &s->err);
}

static void tune_well(struct stage *s, int64_t n)
{
    if (tune(s, n))
        fail_msg("%s", s->err.msg);
}

/* Workers that were started so far, of a kind. */
static int started(const char *kind)
{
    char line[64];
    int n = 0;
    FILE *f = fopen(in_dir("log"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += !strncmp(line, kind, strlen(kind));
    fclose(f);
    return n;
}

static void workers_live_on(void **state)
{
    (void)state;
    struct stage s;
    struct tune_entry alone[3];
    raise_stage(&s, "time=6000", "time=4000");
    struct tune_crew *crew = s.opt.crew;
    s.opt.crew = NULL;
    for (int i = 0; i < 3; i++) {
        tune_well(&s, 1000 * (i + 1));
        alone[i] = s.report.best;
    }
    assert_int_equal(started("measure"), 3);
    assert_int_equal(started("compile"), 3);
    write_file("log", "");
    s.opt.crew = crew;
    s.opt.retune = true;
    for (int i = 0; i < 3; i++) {
        tune_well(&s, 1000 * (i + 1));
        assert_int_equal(s.report.outcomes[OUT_OK], 3);
        assert_int_equal(s.report.best.config.at[0], alone[i].config.at[0]);
        assert_true(s.report.best.time_ns > alone[i].time_ns - 1 && s.report.best.time_ns < alone[i].time_ns + 1);
        assert_int_equal(s.report.compiled, i ? 0 : 3); /* the source is the same */
        assert_int_equal(s.report.shared, i ? 4 : 1); /* one more for the tables */
    }
    assert_int_equal(started("measure"), 1);
    assert_int_equal(started("compile"), 1);
    strike_stage(&s);
}

/* What is known is not measured: then the measuring worker waits for a problem that needs it. */
static void a_problem_between_may_need_none(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "time=6000", "time=4000");
    tune_well(&s, 1000);
    tune_well(&s, 1000);
    assert_int_equal(s.report.measured, 0);
    tune_well(&s, 2000);
    assert_int_equal(s.report.measured, 3);
    assert_int_equal(started("measure"), 1);
    strike_stage(&s);
}

/* Two workers die of it in each problem; the one that is there at the end goes on. */
static void a_crash_costs_its_own_problem(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "crash", "time=4000");
    for (int i = 0; i < 2; i++) {
        tune_well(&s, 1000 * (i + 1));
        assert_int_equal(s.report.outcomes[OUT_OK], 2);
        assert_int_equal(s.report.outcomes[OUT_CRASH], 1);
        assert_int_equal((int)(s.report.best.time_ns / 100 + 0.5), 50);
        assert_int_equal(started("measure"), 3 + 2 * i);
    }
    strike_stage(&s);
}

/* The reference, which passes in a new worker, takes the one down that an earlier problem has used, or finds the context lost: a new one takes its
 * place, and nobody is at fault. It is launched some seven times for a problem. */
static void a_worker_that_wears_out_is_replaced(void **state)
{
    (void)state;
    struct stage s;
    static const char *const acts[] = { "crash\n//null: after=9", "sticky\n//null: after=9" };
    for (int i = 0; i < 2; i++) {
        raise_stage(&s, "time=6000", acts[i]);
        tune_well(&s, 1000);
        assert_int_equal(started("measure"), 1);
        tune_well(&s, 2000);
        assert_int_equal(s.report.outcomes[OUT_OK], 3);
        assert_int_equal(started("measure"), 2);
        strike_stage(&s);
    }
}

/* A reference that really fails for the second problem ends that one, with its message; the third starts anew. */
static void a_start_that_fails_counts(void **state)
{
    (void)state;
    struct stage s;
    char reference[PATH_ROOM + 32];
    snprintf(reference, sizeof reference, "crash\n//null: if=%s", in_dir("broken"));
    raise_stage(&s, "time=6000", reference);
    tune_well(&s, 1000);
    write_file("broken", "");
    assert_int_not_equal(tune(&s, 2000), 0);
    assert_non_null(strstr(s.err.msg, "took down two workers"));
    assert_int_equal(started("measure"), 3); /* the old one, which does not count, and two new */
    unlink(in_dir("broken"));
    tune_well(&s, 3000);
    assert_int_equal(s.report.outcomes[OUT_OK], 3);
    assert_int_equal(started("measure"), 4);
    strike_stage(&s);
}

/* A worker of each kind is killed from outside between two problems. */
static void what_dies_between_is_replaced(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "time=6000", "time=4000");
    tune_well(&s, 1000);
    int pid, n = 0;
    FILE *f = fopen(in_dir("log"), "r");
    assert_non_null(f);
    while (fscanf(f, "%*s %d", &pid) == 1)
        n += kill(pid, SIGKILL) == 0;
    fclose(f);
    assert_int_equal(n, 2);
    tune_well(&s, 2000);
    assert_int_equal(s.report.outcomes[OUT_OK], 3);
    strike_stage(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        in_folder(workers_live_on),
        in_folder(a_problem_between_may_need_none),
        in_folder(a_crash_costs_its_own_problem),
        in_folder(a_worker_that_wears_out_is_replaced),
        in_folder(a_start_that_fails_counts),
        in_folder(what_dies_between_is_replaced),
    };
    if (argc > 2 && !strcmp(argv[1], "worker")) {
        FILE *f = fopen(getenv("TEST_CREW_LOG"), "a");
        fprintf(f, "%s %d\n", argv[2], (int)getpid());
        fclose(f);
        return worker_main(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
