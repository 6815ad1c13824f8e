/* The loop on the pretend device: what comes of candidates that fail in every way, who wins, what a second run still does, and what
 * ends a run. The workers are this program itself, started again as `test_tune worker KIND`. */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/util.h"
#include "device/device.h"
#include "op/load.h"
#include "tune/tune.h"
#include "unit.h"
#include "worker/child.h"

/* ms, instead of up to a minute: what a hang costs. For tests in which something hangs that was well under way: it has milliseconds of
 * work to do. Nobody's start is judged by it, which takes seconds on a busy machine. */
enum { DEADLINE = 3000 };

/* -- an op of which each configuration behaves as it is told -- */

/* P = 1 .. n; with P the template says the P-th of `acts`, a Lua list of texts: directives of src/device/null.c. P's default is its
 * first value. */
static const char script[] = "return op {\n"
                             "  name = 'acts', problem = { size 'n' }, types = { T = { 'f32', 'i8' } },\n"
                             "  args = { output('out', 'T', { 'n' }), input('inp', 'T', { 'n' }), value 'n' },\n"
                             "  work = { bytes = '2*n*sizeof(T)' }, shapes = { { n = 1000 } }, check = 'exact',\n"
                             "  reference = { template = 'ref.cu', launch = { kernel = 'ref' } },\n"
                             "  variants = { { name = 'v', template = 'acts.cu',\n"
                             "    params = { { 'P', %s } }, launch = { kernel = 'acts', grid = 'ceildiv(n, 1000)' } } },\n"
                             "  defaults = { { variant = 'v' } },\n"
                             "}\n";

struct stage {
    struct op *op;
    struct devspec dev;
    struct problem problem;
    struct store *store;
    struct tune_options opt;
    struct tune_report report;
    struct err err;
    const char *home;
};

static void raise_stage(struct stage *s, const char *values, const char *acts)
{
    char text[sizeof script + 200];
    struct buf template = { 0 };
    struct err err = { 0 };
    *s = (struct stage){ .problem = { .size = { 1000 } } };
    snprintf(text, sizeof text, script, values);
    write_file("acts.lua", text);
    write_file("ref.cu", "KERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) { }\n");
    buf_fmt(&template, "//@ local acts = { %s }\n//null: $(acts[P] or 'nothing')\nKERNEL void acts() { }\n", acts);
    write_file("acts.cu", buf_text(&template));
    buf_free(&template);
    unlink(in_dir("t.db"));
    if (home_find(&s->home, &err) || op_load(in_dir("acts.lua"), &s->op, &err) || device_find("null:0", &s->dev, &err) ||
        store_open(in_dir("t.db"), STORE_WRITE, &s->store, &err))
        fail_msg("%s", err.msg);
    s->dev.l2 = 1 << 20; /* a smaller flush */
    snprintf(s->dev.uuid, sizeof s->dev.uuid, "test-tune-%d",
             (int)getpid()); /* no wait for the lock of whatever runs beside this */
    s->opt = (struct tune_options){ .home = s->home, .strategy = "exhaustive", .jobs = 1 };
}

/* Reads the op again, after one of its files was written anew. */
static void change(struct stage *s, const char *name, const char *text)
{
    struct err err = { 0 };
    write_file(name, text);
    op_free(s->op);
    if (op_load(in_dir("acts.lua"), &s->op, &err))
        fail_msg("%s", err.msg);
}

static void strike_stage(struct stage *s)
{
    store_close(s->store);
    op_free(s->op);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* every child was waited for */
}

static int tune(struct stage *s)
{
    s->err = (struct err){ 0 };
    return tune_run(s->op, &s->problem, 0, &s->dev, s->store, &s->opt, &s->report, &s->err);
}

static void tune_well(struct stage *s)
{
    if (tune(s))
        fail_msg("%s", s->err.msg);
}

/* What is stored, by P. */
enum { STORED = 128 };

struct stored {
    int n;
    bool there[STORED];
    struct measured_of {
        enum outcome outcome;
        char reason[256];
        double median;
        int samples;
    } by[STORED];
};

static int note(void *arg, const struct measured *m)
{
    struct stored *all = arg;
    int p = atoi(m->json + strlen("{\"P\":"));
    assert_true(p > 0 && p < STORED && !all->there[p]);
    all->n++;
    all->there[p] = true;
    all->by[p].outcome = m->result.outcome;
    all->by[p].median = m->result.stats.median;
    all->by[p].samples = m->result.stats.n;
    snprintf(all->by[p].reason, sizeof all->by[p].reason, "%s", m->result.reason);
    return 0;
}

static struct target target_of(const struct stage *s, int row)
{
    struct target t;
    assert_int_equal(store_target(s->store, &s->dev, s->op, &s->problem, row, true, &t, NULL), 0);
    return t;
}

static struct stored stored_of(const struct stage *s, int row)
{
    struct stored all = { 0 };
    struct target t = target_of(s, row);
    assert_int_equal(store_each_measured(s->store, &t, note, &all, NULL), 0);
    return all;
}

/* The stored winner; null where there is none. */
static struct tuned *find_winner(const struct stage *s, int row)
{
    struct tuned *t = NULL;
    struct buf types = { 0 };
    op_row_print(&types, s->op, row);
    int rc = store_find_winner(s->store, &s->dev, "acts", buf_text(&types), "n=1000", &t, NULL);
    assert_true(rc == 0 || rc == ERR_NOTFOUND);
    buf_free(&types);
    return t;
}

/* Its P; 0 where there is none. */
static int winner_of(const struct stage *s, int row)
{
    struct tuned *t = find_winner(s, row);
    int p = 0;
    if (t) {
        p = atoi(t->config + strlen("P="));
        assert_non_null(t->source);
        assert_true(t->binary_bytes > 0);
        assert_string_equal(t->portable, t->source); /* as the pretend compiler has it */
        assert_string_equal(t->compiler, "1");
    }
    tuned_free(t);
    return p;
}

/* The stored default has all that a winner has. */
static int is_whole(void *arg, struct tuned *d)
{
    const struct stage *s = arg;
    struct tuned *t;
    assert_int_equal(store_tuned(s->store, d->id, &t, NULL), 0);
    assert_true(t->binary_bytes > 0);
    assert_string_equal(t->portable, t->source);
    assert_string_equal(t->compiler, "1");
    tuned_free(t);
    tuned_free(d);
    return 1;
}

static void default_is_whole(struct stage *s)
{
    assert_int_equal(store_each_default(s->store, "null", "acts", "f32", 0, is_whole, s, NULL), 1);
}

static int p_of(const struct stage *s, const struct tune_entry *e)
{
    return e->config.variant < 0 ? 0 : (int)s->op->variants[0].params[0].values[e->config.at[0]].i;
}

/* -- outcomes -- */

static void every_act_has_its_outcome(void **state)
{
    (void)state;
    static const struct {
        enum outcome outcome;
        const char *says;
    } want[] = {
        { OUT_OK, "" },
        { OUT_COMPILE_ERROR, "the source asks for it" },
        { OUT_CRASH, "signal 6" },
        { OUT_TIMEOUT, "past its deadline" },
        { OUT_TIMEOUT, "past its deadline" },
        { OUT_CRASH, "signal 6" },
        { OUT_LAUNCH_ERROR, "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES" },
        { OUT_CRASH, "the context is lost" },
        { OUT_WRONG, " of out is " },
        { OUT_SLOWER, "first sample over" },
        { OUT_OK, "" },
        { OUT_COMPILE_ERROR, "acts.cu:2: " },
        { OUT_CRASH, "signal 6" },
    };
    enum { N = sizeof want / sizeof *want };
    struct stage s;
    raise_stage(
        &s, "table.unpack(range(1, 13))",
        "'time=5000', 'compile-error', 'crash-compile', 'hang-compile', 'hang', 'crash', 'launch-error', 'sticky', 'wrong', "
        "'time=900000', 'time=4000', {}, 'hoard-compile'");
    s.opt.deadline_ms = DEADLINE;
    tune_well(&s);
    struct stored all = stored_of(&s, 0);
    int64_t outcomes[OUT_COUNT] = { 0 };
    assert_int_equal(all.n, N);
    for (int i = 0; i < N; i++) {
        if (all.by[i + 1].outcome != want[i].outcome || !strstr(all.by[i + 1].reason, want[i].says))
            fail_msg("P=%d: %s, '%s'", i + 1, outcome_name(all.by[i + 1].outcome), all.by[i + 1].reason);
        outcomes[want[i].outcome]++;
    }
    for (int o = 0; o < OUT_COUNT; o++)
        assert_int_equal(s.report.outcomes[o], outcomes[o]);
    assert_int_equal(s.report.valid, N);
    assert_int_equal(s.report.tried, N);
    assert_int_equal(s.report.measured, N);
    assert_int_equal(winner_of(&s, 0), 11);
    assert_int_equal(p_of(&s, &s.report.best), 11);
    assert_int_equal(p_of(&s, &s.report.deflt), 1);
    assert_int_equal(p_of(&s, &s.report.worst), 10);
    strike_stage(&s);
}

static void the_fastest_wins(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "3, 1, 2, 4, 5, 6, 7, 8",
                "'time=4000', 'time=7000', 'time=5000', 'time=3000', 'time=3001', 'time=2900\\n//null: "
                "wrong', 'time=6000', 'time=2999'");
    s.opt.jobs = 3;
    s.opt.strategy = "random";
    tune_well(&s);
    assert_int_equal(s.report.tried, 8);
    assert_int_equal(s.report.outcomes[OUT_WRONG], 1);
    assert_int_equal(winner_of(&s, 0), 8);
    default_is_whole(&s);
    assert_int_equal(p_of(&s, &s.report.best), 8);
    assert_true(s.report.best.time_ns == 2999);
    assert_true(s.report.best.gb_per_s == 8000 / s.report.best.time_ns);
    assert_true(s.report.deflt.time_ns == 5000); /* its first value is 3 */
    assert_true(s.report.worst.time_ns == 7000);
    assert_int_equal(s.report.ties, 0);
    assert_true(s.report.copy_ns > 0);
    struct stored all = stored_of(&s, 0);
    assert_true(all.by[8].samples > 10); /* of the play-off */
    assert_in_range(all.by[2].samples, 3, 10); /* not; ten, unless a busy machine makes them take long */
    strike_stage(&s);
}

/* By the order of the space, whatever the order of measuring: the default is measured first. */
static void a_tie_goes_to_the_first(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "5, 1, 2, 3, 4", "'time=9000', 'time=3000', 'time=8000', 'time=3000', 'time=3000'");
    write_file("last.lua", "return function(space)\n"
                           "  local i = space:count()\n"
                           "  return { ask = function() i = i - 1; return i >= 0 and { i } or {} end }\n"
                           "end\n");
    char text[sizeof script + 200];
    snprintf(text, sizeof text, script, "1, 2, 3, 4, 5");
    change(&s, "acts.lua", text);
    s.opt.strategy = in_dir("last.lua");
    tune_well(&s);
    assert_int_equal(s.report.tried, 5);
    assert_int_equal(s.report.ties, 2);
    assert_int_equal(winner_of(&s, 0), 2);
    assert_int_equal(p_of(&s, &s.report.best), 2);
    strike_stage(&s);
}

static void nothing_right_is_no_winner(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3", "'wrong', 'compile-error', 'launch-error'");
    tune_well(&s);
    assert_int_equal(s.report.measured, 3);
    assert_int_equal(s.report.best.config.variant, -1);
    assert_int_equal(winner_of(&s, 0), 0);
    tune_well(&s);
    assert_int_equal(s.report.measured, 0);
    strike_stage(&s);
}

/* -- the play-off -- */

/* Of a candidate that is right: verified, looked at, sampled, verified; for a larger problem, before it plays. */
enum { ALONE = 2 + 1 + 10 + 1, LAUNCHES = ALONE + 2 };

/* P=2 is the fastest until the play-off; there it does as `act` says. The worker has launched it LAUNCHES times by then. */
static void raise_late_stage(struct stage *s, int after, const char *act)
{
    char acts[200];
    snprintf(acts, sizeof acts, "'time=9000', 'time=3000\\n//null: after=%d\\n//null: %s', 'time=8000', 'time=5000'", after, act);
    raise_stage(s, "1, 2, 3, 4", acts);
}

static void what_fails_in_the_playoff_does_not_win(void **state)
{
    (void)state;
    static const struct {
        const char *act;
        int after;
        enum outcome outcome;
        const char *says;
    } late[] = {
        { "wrong", ALONE - 1, OUT_WRONG, "in a timed run: " }, /* found before it */
        { "wrong", ALONE, OUT_WRONG, "for n=" },
        { "wrong", LAUNCHES, OUT_WRONG, "in a timed run: " },
        { "wrong", LAUNCHES + 5, OUT_WRONG, "in a timed run: " },
        { "crash", LAUNCHES, OUT_CRASH, "signal 6 (Aborted), in the play-off" },
        { "crash", LAUNCHES + 5, OUT_CRASH, "signal 6 (Aborted), in the play-off" },
        { "hang", LAUNCHES, OUT_TIMEOUT, "past its deadline of 2.0 s, in the play-off" },
        { "sticky", LAUNCHES + 5, OUT_CRASH, "the context is lost" },
        { "launch-error", LAUNCHES, OUT_CRASH, "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES" },
    };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct stage s;
        raise_late_stage(&s, late[i].after, late[i].act);
        tune_well(&s);
        struct stored all = stored_of(&s, 0);
        if (all.by[2].outcome != late[i].outcome || !strstr(all.by[2].reason, late[i].says))
            fail_msg("%s after %d: %s, '%s'", late[i].act, late[i].after, outcome_name(all.by[2].outcome), all.by[2].reason);
        assert_int_equal(all.n, 4);
        assert_int_equal(winner_of(&s, 0), 4);
        assert_int_equal(p_of(&s, &s.report.best), 4);
        assert_true(all.by[4].samples > 10); /* it has been played for */
        assert_int_equal(s.report.outcomes[OUT_OK], 3);
        assert_int_equal(s.report.outcomes[late[i].outcome], 1);
        default_is_whole(&s);
        tune_well(&s);
        assert_int_equal(s.report.measured, 0);
        assert_int_equal(p_of(&s, &s.report.best), 4);
        assert_int_equal(winner_of(&s, 0), 4);
        strike_stage(&s);
    }
}

/* All that play fail, each in a worker of its own; then the next best play. The ones that fail sooner are there so that no worker gets
 * through the 30 launches before. */
static void where_all_of_the_playoff_fail_the_next_best_play(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "table.unpack(range(1, 12))", "");
    change(&s, "acts.cu",
           "//null: time=$(5000 + P)\n"
           "//@ if P < 10 then\n//null: crash\n//@ end\n"
           "//@ if P < 10 and P % 2 == 1 then\n//null: after=30\n//@ end\n"
           "KERNEL void acts() { }\n");
    tune_well(&s);
    struct stored all = stored_of(&s, 0);
    for (int p = 1; p <= 12; p++) {
        assert_int_equal(all.by[p].outcome, p < 10 ? OUT_CRASH : OUT_OK);
        assert_int_equal(strstr(all.by[p].reason, "in the play-off") != NULL, p < 10 && p % 2);
    }
    assert_int_equal(winner_of(&s, 0), 10);
    assert_int_equal(p_of(&s, &s.report.best), 10);
    strike_stage(&s);
}

/* More of the best are wrong for a larger problem than are run for one. They were right for this one, and so is the winner: it is for no other. */
static void where_many_are_wrong_for_larger_problems_the_winner_is_for_this_one_only(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "table.unpack(range(1, 120))", "");
    change(&s, "acts.cu", "//null: time=$(5000 + P)\n//null: wrong\n//null: above=1\nKERNEL void acts() { }\n");
    tune_well(&s);
    struct stored all = stored_of(&s, 0);
    int first = 1;
    while (all.by[first].outcome == OUT_WRONG && strstr(all.by[first].reason, "for n="))
        first++;
    assert_in_range(first, 20, 119);
    for (int p = first; p <= 120; p++)
        assert_int_equal(all.by[p].outcome, OUT_OK);
    assert_int_equal(winner_of(&s, 0), first);
    assert_true(s.report.own_only && s.report.best.alone);
    struct tuned *winner = find_winner(&s, 0);
    assert_true(winner->alone);
    tuned_free(winner);
    tune_well(&s); /* again: it stands */
    assert_int_equal(s.report.measured, 0);
    assert_int_equal(winner_of(&s, 0), first);
    strike_stage(&s);
}

/* -- again -- */

static const char five[] = "'time=9000', 'time=3000', 'time=8000', 'wrong', 'time=5000'";

static void a_second_run_measures_nothing(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    tune_well(&s);
    assert_int_equal(s.report.measured, 5);
    struct tune_report first = s.report;
    tune_well(&s);
    assert_int_equal(s.report.measured, 0);
    assert_int_equal(s.report.tried, 5);
    assert_memory_equal(s.report.outcomes, first.outcomes, sizeof first.outcomes);
    assert_int_equal(p_of(&s, &s.report.best), 2);
    assert_true(s.report.best.time_ns == first.best.time_ns);
    assert_true(s.report.copy_ns == first.copy_ns);
    assert_int_equal(winner_of(&s, 0), 2);
    s.opt.retune = true;
    tune_well(&s);
    assert_int_equal(s.report.measured, 5);
    assert_int_equal(stored_of(&s, 0).n, 5);
    s.opt.retune = false;
    s.opt.warm = true; /* another kind of time */
    tune_well(&s);
    assert_int_equal(s.report.measured, 5);
    strike_stage(&s);
}

static void a_budget_is_kept_and_the_rest_follows(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    s.opt.budget_count = 1;
    tune_well(&s);
    assert_int_equal(s.report.measured, 1);
    assert_int_equal(winner_of(&s, 0), 1); /* the default comes first */
    s.opt.budget_count = 3;
    tune_well(&s);
    assert_int_equal(s.report.tried, 3);
    assert_int_equal(s.report.measured, 2);
    assert_int_equal(winner_of(&s, 0), 2);
    s.opt.budget_count = 0;
    tune_well(&s);
    assert_int_equal(s.report.tried, 5);
    assert_int_equal(s.report.measured, 2);
    assert_int_equal(winner_of(&s, 0), 2);
    assert_int_equal(stored_of(&s, 0).n, 5);
    strike_stage(&s);
}

/* What an earlier run measured wins again over what is new and slower; its binary is made again for the play-off. */
static void an_earlier_winner_stays(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3", "'time=3000', 'time=4000', 'time=5000'");
    s.opt.budget_count = 1;
    tune_well(&s);
    assert_int_equal(winner_of(&s, 0), 1);
    s.opt.budget_count = 0;
    tune_well(&s);
    assert_int_equal(s.report.measured, 2);
    assert_int_equal(winner_of(&s, 0), 1);
    assert_int_equal(p_of(&s, &s.report.best), 1);
    strike_stage(&s);
}

static void a_changed_template_makes_stale_what_it_changes(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    tune_well(&s);
    change(&s, "acts.cu",
           "//@ local acts = { 'time=9000', 'time=3000', 'time=8000', 'time=2000', 'time=5000' }\n"
           "//null: $(acts[P] or 'nothing')\nKERNEL void acts() { }\n");
    tune_well(&s);
    assert_int_equal(s.report.tried, 5);
    assert_int_equal(s.report.measured, 1); /* P=4 */
    assert_int_equal(winner_of(&s, 0), 4);
    strike_stage(&s);
}

/* A verdict is found again only with all that it was reached with. */
static void what_proves_is_in_the_key(void **state)
{
    (void)state;
    struct stage s;
    static const struct {
        const char *name, *from, *to;
    } changes[] = {
        { "acts.lua", "check = 'exact'", "check = { sum = 1000000000 }" },
        { "acts.lua", "check = { sum = 1000000000 }", "check = { sum = 2 }" },
        { "acts.lua", "input('inp', 'T', { 'n' })", "input('inp', 'T', { 'n' }, { fill = 'bits' })" },
        { "acts.lua", "fill = 'bits'", "fill = 'numbers'" },
        { "acts.lua", "output('out', 'T', { 'n' })", "output('out', 'T', { 'n' }, { partial = true })" },
        { "acts.lua", "kernel = 'ref'", "kernel = 'ref', block = 2" },
        { "ref.cu", "{ }", "{ int sum; }" },
    };
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    tune_well(&s);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct buf text = { 0 };
        assert_int_equal(file_read(in_dir(changes[i].name), 1 << 16, &text, NULL), 0);
        const char *at = strstr(buf_text(&text), changes[i].from);
        assert_non_null(at);
        struct buf changed = { 0 };
        buf_put(&changed, buf_text(&text), (size_t)(at - buf_text(&text)));
        buf_fmt(&changed, "%s%s", changes[i].to, at + strlen(changes[i].from));
        change(&s, changes[i].name, buf_text(&changed));
        tune_well(&s);
        if (s.report.tried != 5 || s.report.measured != 5)
            fail_msg("%s: %d measured anew", changes[i].to, (int)s.report.measured);
        tune_well(&s);
        assert_int_equal(s.report.measured, 0);
        buf_free(&text);
        buf_free(&changed);
    }
    strike_stage(&s);
}

struct listed_of {
    int fresh, stale;
};

static int count_listed(void *arg, const struct listed *t)
{
    struct listed_of *n = arg;
    n->fresh += !t->stale;
    n->stale += t->stale;
    return 0;
}

static struct listed_of listed_of(struct stage *s)
{
    struct listed_of n = { 0 };
    assert_int_equal(store_each_tried(s->store, count_listed, &n, NULL), 0);
    return n;
}

static int has_changed(void *arg, const struct listed *l)
{
    if (!strcmp(l->problem, "n=1000"))
        *(bool *)arg = l->changed;
    return 0;
}

static bool winner_has_changed(struct stage *s)
{
    bool changed = false;
    assert_int_equal(store_each_winner(s->store, has_changed, &changed, NULL), 0);
    return changed;
}

/* What was measured from an earlier source is not shown as of now, also if the run got no further than to a part of it. */
static void an_earlier_source_is_stale(void **state)
{
    (void)state;
    struct stage s;
    static const char other[] = "//@ local acts = { 'time=9000', 'time=3000', 'time=8000', 'time=2000', 'time=5001' }\n"
                                "//null: $(acts[P] or 'nothing')\nKERNEL void acts() { }\n";
    struct buf first = { 0 };
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    assert_int_equal(file_read(in_dir("acts.cu"), 1 << 16, &first, NULL), 0);
    tune_well(&s);
    assert_true(listed_of(&s).fresh == 5 && listed_of(&s).stale == 0);
    int was = winner_of(&s, 0);
    change(&s, "acts.cu", other);
    s.problem.size[0] = 2000;
    s.opt.budget_count = 1;
    tune_well(&s); /* on another problem */
    assert_true(listed_of(&s).fresh == 1 && listed_of(&s).stale == 5);
    s.problem.size[0] = 1000;
    s.opt.budget_count = 3;
    tune_well(&s); /* P=1, 2, 3: their keys are the same */
    assert_int_equal(s.report.measured, 0);
    assert_true(listed_of(&s).fresh == 4 && listed_of(&s).stale == 2);
    s.opt.budget_count = 0;
    tune_well(&s);
    assert_int_equal(s.report.measured, 2);
    assert_int_equal(winner_of(&s, 0), 4);
    assert_true(listed_of(&s).fresh == 6 && listed_of(&s).stale == 2);
    assert_false(winner_has_changed(&s));

    change(&s, "acts.cu", buf_text(&first)); /* and back */
    tune_well(&s);
    assert_int_equal(s.report.measured, 0);
    assert_true(listed_of(&s).fresh == 5 && listed_of(&s).stale == 3);
    assert_int_equal(winner_of(&s, 0), was);
    assert_false(winner_has_changed(&s));
    buf_free(&first);
    strike_stage(&s);
}

static void types_are_tuned_apart(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3", "T == 'i8' and 'time=2000' or 'time=9000', 'time=4000', 'time=5000'");
    tune_well(&s);
    assert_int_equal(tune_run(s.op, &s.problem, 1, &s.dev, s.store, &s.opt, &s.report, &s.err), 0);
    assert_int_equal(s.report.measured, 3);
    assert_int_equal(winner_of(&s, 0), 2);
    assert_int_equal(winner_of(&s, 1), 1);
    assert_int_equal(stored_of(&s, 0).n, 3);
    assert_int_equal(stored_of(&s, 1).n, 3);
    tune_well(&s);
    assert_int_equal(s.report.measured, 0);
    strike_stage(&s);
}

/* -- what ends a run -- */

/* Forty configurations that take a while. */
static void raise_slow_stage(struct stage *s)
{
    raise_stage(s, "table.unpack(range(1, 40))", "");
    change(s, "acts.cu", "//null: delay=20\n//null: time=$(10000 + P)\nKERNEL void acts() { }\n");
}

static void seconds_are_a_budget_too(void **state)
{
    (void)state;
    struct stage s;
    raise_slow_stage(&s);
    s.opt.budget_seconds = 1;
    tune_well(&s);
    assert_true(s.report.measured <= 14); /* each waits for 0.08 s at least; one was on its way at the end */
    assert_false(s.report.interrupted);
    assert_int_equal(stored_of(&s, 0).n, s.report.measured);
    strike_stage(&s);
}

static volatile sig_atomic_t stop;

static void stop_after_two(void *arg, const struct tune_progress *p)
{
    (void)arg;
    assert_int_equal(p->total, 40);
    stop = stop || p->done >= 2;
}

static void a_stop_keeps_what_is_measured(void **state)
{
    (void)state;
    struct stage s;
    raise_slow_stage(&s);
    stop = 0;
    s.opt.stop = &stop;
    s.opt.progress = stop_after_two;
    tune_well(&s);
    int64_t first = s.report.measured;
    assert_true(s.report.interrupted);
    assert_true(first >= 2 && first < 40);
    assert_int_equal(stored_of(&s, 0).n, first);
    assert_int_equal(winner_of(&s, 0), 1); /* of those measured */
    s.opt.progress = NULL;
    stop = 0;
    write_file("acts.cu", "nothing of this is read"); /* the op has it already */
    s.opt.budget_count = first + 3;
    tune_well(&s);
    assert_false(s.report.interrupted);
    assert_int_equal(s.report.measured, 3);
    assert_int_equal(s.report.tried, first + 3);
    strike_stage(&s);
}

static void stop_at_once(void *arg, const struct tune_progress *p)
{
    (void)arg, (void)p;
    stop = 1;
}

/* The first look at a run's progress comes before the first outcome. */
static void what_comes_to_nothing_forgets_nothing(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    tune_well(&s);
    stop = 0;
    s.opt.stop = &stop;
    s.opt.progress = stop_at_once;
    s.opt.retune = true;
    tune_well(&s);
    assert_true(s.report.interrupted);
    assert_int_equal(s.report.measured, 0);
    assert_int_equal(stored_of(&s, 0).n, 5);
    assert_int_equal(winner_of(&s, 0), 2);
    strike_stage(&s);
}

/* However many candidates die in a row, the right ones are measured. */
static void deaths_in_a_row_cost_themselves(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "table.unpack(range(1, 14))",
                "'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', 'crash', "
                "'time=3000', 'time=4000'");
    tune_well(&s);
    struct stored all = stored_of(&s, 0);
    assert_int_equal(all.n, 14);
    assert_int_equal(s.report.outcomes[OUT_CRASH], 12);
    assert_int_equal(winner_of(&s, 0), 13);
    tune_well(&s); /* they are not tried again */
    assert_int_equal(s.report.measured, 0);
    strike_stage(&s);
}

static void deaths_of_the_compiler_cost_themselves(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "table.unpack(range(1, 12))",
                "'crash-compile', 'crash-compile', 'crash-compile', 'crash-compile', 'crash-compile', 'crash-compile', "
                "'crash-compile', 'crash-compile', 'crash-compile', 'crash-compile', 'crash-compile', 'time=3000'");
    tune_well(&s);
    assert_int_equal(stored_of(&s, 0).n, 12);
    assert_int_equal(s.report.outcomes[OUT_CRASH], 11);
    assert_int_equal(winner_of(&s, 0), 12);
    strike_stage(&s);
}

/* The compile worker is at most ten configurations ahead, so there is something left for it to be attacked in while the first twelve
 * are measured. The times are so long that a play-off has few rounds: nothing but each wait's delay is slept. */
static const char slow[] = "//@ if P <= 12 then\n//null: delay=10\n//@ end\n"
                           "//null: time=$(50000000 + P)\nKERNEL void acts() { }\n";

static void raise_long_stage(struct stage *s)
{
    raise_stage(s, "table.unpack(range(1, 24))", "");
    change(s, "acts.cu", slow);
}

static void break_machine(void *arg, const struct tune_progress *p)
{
    if (p->done >= 2)
        write_file(arg, "");
}

/* From the third configuration on nothing works, the reference included: what fails then fails for no fault of its own. */
static void a_broken_machine_condemns_nobody(void **state)
{
    (void)state;
    static const char *const faults[] = { "crash",         "hang",         "launch-error",  "sticky",
                                          "crash-compile", "hang-compile", "compile-error", "large-compile" };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct stage s;
        char text[600];
        raise_long_stage(&s);
        snprintf(text, sizeof text, "//null: if=%s\n//null: %s\nKERNEL void ref() { }\n", in_dir("broken"), faults[i]);
        write_file("ref.cu", text);
        snprintf(text, sizeof text, "//null: if=%s\n//null: %s\n%s", in_dir("broken"), faults[i], slow);
        change(&s, "acts.cu", text);
        if (strstr(faults[i], "hang"))
            s.opt.deadline_ms = s.opt.start_ms = DEADLINE;
        s.opt.progress = break_machine;
        s.opt.arg = "broken";
        int rc = tune(&s);
        if ((rc != ERR_DEVICE && rc != ERR_TIMEOUT) || !strstr(s.err.msg, "reference ref.cu"))
            fail_msg("%s: %d %s", faults[i], rc, s.err.msg);
        if (s.report.outcomes[OUT_OK] != s.report.tried || s.report.tried < 2)
            fail_msg("%s: %lld of %lld right", faults[i], (long long)s.report.outcomes[OUT_OK], (long long)s.report.tried);
        unlink(in_dir("broken"));
        s.opt.progress = NULL;
        tune_well(&s);
        assert_int_equal(s.report.outcomes[OUT_OK], 24);
        strike_stage(&s);
    }
}

/* A workspace that the device could hold, if others left it the room. */
static void memory_that_others_hold_is_no_verdict(void **state)
{
    (void)state;
    struct stage s;
    char text[sizeof script + 300], *at;
    raise_stage(&s, "1, 2, 3", "");
    snprintf(text, sizeof text, script, "1, 2, 3");
    at = strstr(text, "launch = { kernel = 'acts', ");
    assert_non_null(at);
    snprintf(at, (size_t)(text + sizeof text - at),
             "workspaces = { workspace('w', 'i8', 'P * (4 << 20)') }, launch = { kernel = 'acts' } } },\n"
             "  defaults = { { variant = 'v' } },\n}\n");
    write_file("acts.cu", "//null: time=$(10000 + P)\nKERNEL void acts() { }\n");
    change(&s, "acts.lua", text);
    s.dev.memory = 24 << 20;                   /* of which the flush takes 8 */
    setenv("CUTUNE_NULL_TAKEN", "6000000", 1); /* others have that much */
    tune_well(&s);
    unsetenv("CUTUNE_NULL_TAKEN");
    struct stored all = stored_of(&s, 0);
    assert_true(all.there[1] && !all.there[3]);
    assert_int_equal(s.report.unsettled, 3 - all.n);
    assert_non_null(strstr(s.report.unsettled_why, "bytes are free"));
    int64_t first = s.report.measured;
    tune_well(&s); /* they are gone */
    assert_int_equal(s.report.measured, 3 - first);
    assert_int_equal(s.report.outcomes[OUT_OK], 3);
    strike_stage(&s);
}

/* The play-off finds fault with the only right one, which an earlier run had made the winner. */
static void a_winner_at_fault_is_dropped(void **state)
{
    (void)state;
    struct stage s;
    char text[300];
    raise_stage(&s, "1, 2", "");
    snprintf(text, sizeof text, "//null: if=%s\n//null: wrong\n//null: time=$(10000 + P)\nKERNEL void acts() { }\n",
             in_dir("broken"));
    change(&s, "acts.cu", text);
    s.opt.budget_count = 1;
    tune_well(&s);
    assert_int_equal(winner_of(&s, 0), 1);
    write_file("broken", "");
    s.opt.budget_count = 0;
    tune_well(&s); /* P=2 is wrong; the play-off of P=1 alone finds it wrong, too */
    unlink(in_dir("broken"));
    assert_int_equal(s.report.outcomes[OUT_WRONG], 2);
    assert_int_equal(s.report.best.config.variant, -1);
    assert_int_equal(winner_of(&s, 0), 0);
    strike_stage(&s);
}

/* Lua that no instruction count ends, in the template of P > 1. */
static const char bomb[] = "//@ if P > %d then string.find(string.rep('a', 60), string.rep('a*', 60) .. 'b') end\n"
                           "//null: time=$(5000 + P)\nKERNEL void acts() { }\n";

static void a_template_without_end_costs_itself(void **state)
{
    (void)state;
    struct stage s;
    char text[sizeof bomb + 20];
    raise_stage(&s, "table.unpack(range(1, 3))", "");
    snprintf(text, sizeof text, bomb, 2);
    change(&s, "acts.cu", text);
    s.opt.deadline_ms = DEADLINE;
    tune_well(&s);
    struct stored all = stored_of(&s, 0);
    assert_int_equal(all.n, 3);
    assert_int_equal(all.by[3].outcome, OUT_TIMEOUT);
    assert_string_equal(all.by[3].reason, "rendering acts.cu did not end within 3 s");
    assert_int_equal(winner_of(&s, 0), 1);
    strike_stage(&s);

    /* One that never ends is given up after two of its configurations; the next run spends no time on it. */
    raise_stage(&s, "table.unpack(range(1, 20))", "");
    snprintf(text, sizeof text, bomb, 0);
    change(&s, "acts.cu", text);
    s.opt.deadline_ms = DEADLINE;
    s.opt.jobs = 2;
    for (int run = 0; run < 2; run++) {
        tune_well(&s);
        assert_true(run ? s.report.measured == 0 : s.report.measured <= 3); /* a third may be begun before the second is given up */
        assert_int_equal(s.report.outcomes[OUT_TIMEOUT], s.report.tried);
        assert_int_equal(s.report.tried + s.report.unsettled, 20);
        assert_non_null(strstr(s.report.unsettled_why, "rendering acts.cu did not end"));
    }
    strike_stage(&s);
}

/* -- what happens to a worker from outside -- */

/* The children of a process: those that are `kind` of worker, or all where it is null. */
static int children_of(pid_t parent, const char *kind, pid_t pids[8])
{
    char path[64], args[64];
    int n = 0, pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (n < 8 && fscanf(list, "%d", &pid) == 1) {
        struct buf line = { 0 };
        snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
        bool there = file_read(path, 1 << 16, &line, NULL) == 0;
        snprintf(args, sizeof args, "worker%c%s", 0, kind ? kind : "");
        if (there && (!kind || memmem(line.data, line.len, args, strlen("worker") + 1 + strlen(kind))))
            pids[n++] = pid;
        buf_free(&line);
    }
    fclose(list);
    return n;
}

struct attack {
    const char *kind;
    int signal; /* SIGUSR1 makes a worker of be_worker speak garbage */
    pid_t victim;
};

static void attack(void *arg, const struct tune_progress *p)
{
    struct attack *a = arg;
    pid_t pids[8];
    if (a->victim || p->done < 1)
        return;
    assert_int_equal(children_of(getpid(), a->kind, pids), 1);
    a->victim = pids[0];
    assert_int_equal(kill(a->victim, a->signal), 0);
}

static void a_worker_that_is_attacked_costs_no_configuration(void **state)
{
    (void)state;
    struct attack attacks[] = {
        { "measure", SIGKILL, 0 }, { "measure", SIGSTOP, 0 }, { "measure", SIGUSR1, 0 },
        { "compile", SIGKILL, 0 }, { "compile", SIGSTOP, 0 }, { "compile", SIGUSR1, 0 },
    };
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct stage s;
        raise_long_stage(&s);
        s.opt.deadline_ms = DEADLINE;
        s.opt.progress = attack;
        s.opt.arg = &attacks[i];
        tune_well(&s);
        assert_true(attacks[i].victim > 0);
        struct stored all = stored_of(&s, 0);
        assert_int_equal(all.n, 24);
        if (s.report.outcomes[OUT_OK] != 24)
            fail_msg("%s worker, signal %d: %lld right", attacks[i].kind, attacks[i].signal, (long long)s.report.outcomes[OUT_OK]);
        assert_int_equal(winner_of(&s, 0), 1);
        strike_stage(&s);
    }
}

struct strikes {
    int signal, left, seen;
    pid_t last;
};

/* Strikes one measuring worker after the other while they are at the same configuration. */
static void strike(void *arg, const struct tune_progress *p)
{
    struct strikes *a = arg;
    pid_t pids[8];
    if (p->done != 1 || !a->left || children_of(getpid(), "measure", pids) != 1)
        return;
    a->seen = pids[0] == a->last ? a->seen + 1 : 0;
    a->last = pids[0];
    if (a->seen < 5) /* let it come to the configuration */
        return;
    assert_int_equal(kill(pids[0], a->signal), 0);
    a->left--;
}

/* Who is killed or stopped twice at one configuration, by somebody else, has no verdict of it. */
static void strikes_from_outside_condemn_nobody(void **state)
{
    (void)state;
    struct strikes strikes[] = { { .signal = SIGKILL, .left = 2 }, { .signal = SIGSTOP, .left = 2 } };
    for (size_t i = 0; i < sizeof strikes / sizeof *strikes; i++) {
        struct stage s;
        raise_stage(&s, "1, 2, 3", "");
        change(&s, "acts.cu",
               "//@ if P == 2 then\n//null: delay=250\n//@ end\n//null: time=$(10000 + P)\nKERNEL void acts() { }\n");
        s.opt.progress = strike;
        s.opt.arg = &strikes[i];
        s.opt.deadline_ms = DEADLINE;
        s.opt.budget_count = 2; /* the play-off would take long */
        tune_well(&s);
        assert_int_equal(strikes[i].left, 0);
        assert_int_equal(s.report.outcomes[OUT_OK], s.report.tried);
        assert_true(s.report.unsettled <= 1);
        strike_stage(&s);
    }
}

static int oom_score(pid_t pid)
{
    char path[64];
    int score = -9999;
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &score), 1);
    fclose(f);
    return score;
}

static int raised(int score)
{
    return score < 500 ? score + 500 : 1000;
}

static void compare_scores(void *arg, const struct tune_progress *p)
{
    int *looks = arg;
    pid_t pids[8];
    if (p->done < 1 || *looks)
        return;
    assert_int_equal(children_of(getpid(), NULL, pids), 3); /* the strategy, two workers */
    for (int i = 0; i < 3; i++)
        assert_int_equal(oom_score(pids[i]), raised(oom_score(getpid())));
    ++*looks;
}

static void memory_is_taken_from_the_children_first(void **state)
{
    (void)state;
    struct stage s;
    int looks = 0;
    raise_long_stage(&s);
    s.opt.progress = compare_scores;
    s.opt.arg = &looks;
    s.opt.budget_count = 6;
    tune_well(&s);
    assert_int_equal(looks, 1);
    strike_stage(&s);

    write_file("loop.lua", "string.find(string.rep('a', 60), string.rep('a*', 60) .. 'b')");
    pid_t caller = fork(), reader[8];
    if (caller == 0)
        _exit(op_load(in_dir("loop.lua"), &s.op, NULL) == ERR_TIMEOUT ? 0 : 1);
    while (children_of(caller, NULL, reader) == 0)
        usleep(1000);
    while (oom_score(reader[0]) != raised(oom_score(getpid()))) /* or the reader has ended */
        usleep(1000);
    int status;
    assert_int_equal(waitpid(caller, &status, 0), caller);
    assert_int_equal(status, 0);
}

/* Deadlines of a reference are the set-up's. */
static void a_reference_that_fails_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *act, *says;
    } refs[] = {
        { "compile-error", "the source asks for it" },
        { "launch-error", "NULL_ERROR_LAUNCH_OUT_OF_RESOURCES" },
        { "sticky", "the context is lost" },
        { "crash",
          "the reference ref.cu, or setting up for it, took down two workers; the last: its worker was killed by signal 6 (Aborted); does its grid fit" },
        { "hang", "the reference ref.cu, or setting up for it, did not end within 3 s" },
    };
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++) {
        struct stage s;
        char text[100];
        raise_stage(&s, "1, 2", "'time=1000'");
        snprintf(text, sizeof text, "//null: %s\nKERNEL void ref() { }\n", refs[i].act);
        change(&s, "ref.cu", text);
        s.opt.start_ms = strcmp(refs[i].act, "hang") ? 0 : DEADLINE;
        assert_int_equal(tune(&s), strcmp(refs[i].act, "hang") ? ERR_DEVICE : ERR_TIMEOUT);
        if (!strstr(s.err.msg, refs[i].says))
            fail_msg("%s: '%s'", refs[i].act, s.err.msg);
        assert_int_equal(s.report.measured, 0);
        strike_stage(&s);
    }
}

/* No configuration is blamed for a reference whose Lua has no end. */
static void a_reference_that_cannot_be_filled_ends_a_run(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2", "'time=1000'");
    change(&s, "ref.cu", "//@ error 'not today'\nKERNEL void ref() { }\n");
    assert_int_equal(tune(&s), ERR_DEVICE);
    assert_non_null(strstr(s.err.msg, "reference ref.cu: ref.cu:1: not today"));
    s.opt.start_ms = DEADLINE;
    change(&s, "ref.cu", "//@ string.find(string.rep('a', 60), string.rep('a*', 60) .. 'b')\nKERNEL void ref() { }\n");
    assert_int_equal(tune(&s), ERR_TIMEOUT);
    assert_non_null(strstr(s.err.msg, "filling the reference ref.cu, did not end within 3 s"));
    assert_int_equal(s.report.measured, 0);
    strike_stage(&s);
}

static void a_program_that_is_no_worker_ends_a_run(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3", five);
    s.opt.program = "/no/such/program";
    assert_int_equal(tune(&s), ERR_IO);
    assert_non_null(strstr(s.err.msg, "cannot start /no/such/program worker compile"));
    s.opt.program = NULL;
    setenv("CUTUNE_TEST_WORKER", "newer", 1);
    assert_int_equal(tune(&s), ERR_DEVICE);
    assert_string_equal(s.err.msg, "10 compile workers died in a row; the last: its worker spoke garbage");
    setenv("CUTUNE_TEST_WORKER", "silent", 1);
    s.opt.start_ms = 100;
    assert_int_equal(tune(&s), ERR_DEVICE);
    assert_string_equal(s.err.msg, "10 compile workers died in a row; the last: past its deadline of 0.1 s");
    unsetenv("CUTUNE_TEST_WORKER");
    s.opt.start_ms = 0;
    s.opt.retune = true;
    tune_well(&s);
    strike_stage(&s);
}

/* Its task is larger than what a socket holds, so there is more to send when it has gone: no SIGPIPE. */
static void a_worker_that_reads_nothing_ends_a_run(void **state)
{
    (void)state;
    struct stage s;
    struct buf text = { 0 };
    raise_stage(&s, "1, 2, 3", five);
    for (int i = 0; i < 20000; i++)
        buf_str(&text, "// a long template, of which nobody reads a word\n");
    buf_str(&text, "KERNEL void acts() { }\n");
    change(&s, "acts.cu", buf_text(&text));
    buf_free(&text);
    setenv("CUTUNE_TEST_WORKER", "gone", 1);
    assert_int_equal(tune(&s), ERR_DEVICE);
    unsetenv("CUTUNE_TEST_WORKER");
    assert_string_equal(s.err.msg, "10 compile workers died in a row; the last: its worker exited with 5");
    strike_stage(&s);
}

static void a_strategy_may_fail(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
        int measured;
    } files[] = {
        { "return 5", "has to return a function", 0 },
        { "return function() return { ask = function() error('no idea') end } end", "no idea", -1 },
        { "return function() local n = 0\nreturn { ask = function() n = n + 1; return n < 3 and { n } or { 99 } end } end",
          "99, which is no index", -1 },
        { "return function() return { ask = function() while true do end end } end", "bad.lua: no answer within", -1 },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stage s;
        raise_stage(&s, "1, 2, 3, 4, 5", five);
        write_file("bad.lua", files[i].text);
        s.opt.strategy = in_dir("bad.lua");
        s.opt.deadline_ms = i == 3 ? DEADLINE : 0; /* the one that never answers */
        assert_true(tune(&s) < 0);
        if (!strstr(s.err.msg, files[i].says))
            fail_msg("'%s' does not say '%s'", s.err.msg, files[i].says);
        assert_int_equal(stored_of(&s, 0).n, s.report.measured);
        strike_stage(&s);
    }
    struct stage s;
    raise_stage(&s, "1, 2", five);
    s.opt.strategy = "no_such_strategy";
    assert_true(tune(&s) < 0);
    assert_non_null(strstr(s.err.msg, "no_such_strategy"));
    strike_stage(&s);
}

static void a_strategy_may_end_early(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2, 3, 4, 5", five);
    write_file("one.lua", "return function(space) local n = 0\n"
                          "return { ask = function() n = n + 1; return ({ { 4 }, { 0 } })[n] or {} end } end");
    s.opt.strategy = in_dir("one.lua");
    tune_well(&s);
    assert_int_equal(s.report.measured, 2); /* the default, which it names again, and the last */
    assert_int_equal(winner_of(&s, 0), 5);
    strike_stage(&s);
}

static void a_space_without_a_point_is_an_error(void **state)
{
    (void)state;
    struct stage s;
    raise_stage(&s, "1, 2", five);
    s.dev.max_threads = 0;
    assert_int_equal(tune(&s), ERR_INVALID);
    assert_non_null(strstr(s.err.msg, "no configuration of acts is valid"));
    strike_stage(&s);
}

/* -- */

static void speak_garbage(int number)
{
    static const char length_of_no_frame[4] = "\xff\xff\xff\xff";
    (void)number;
    if (send(CHILD_FD, length_of_no_frame, sizeof length_of_no_frame, MSG_NOSIGNAL) < 0)
        _exit(9);
}

static int be_worker(const char *kind)
{
    const char *how = getenv("CUTUNE_TEST_WORKER");
    const struct rlimit no_core = { 0, 0 };
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGUSR1, speak_garbage);
    if (!how)
        return worker_main(kind);
    if (!strcmp(how, "gone"))
        return 5;
    if (!strcmp(how, "silent"))
        pause();
    struct channel c = { .fd = CHILD_FD };
    size_t f = frame_begin(&c.out, F_HELLO);
    buf_u32(&c.out, WIRE_VERSION + 1);
    frame_end(&c.out, f);
    channel_send(&c, NULL, NULL);
    pause();
    return 0;
}

static int set_up(void **state)
{
    return make_dir(state) || setenv("CUTUNE_HOME", SOURCE_DIR, 1) ? -1 : 0;
}

static int tear_down(void **state)
{
    char lock[64];
    snprintf(lock, sizeof lock, "/tmp/cutune-null-test-tune-%d.lock", (int)getpid());
    unlink(lock);
    return remove_dir(state);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "worker"))
        return be_worker(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_act_has_its_outcome),
        cmocka_unit_test(the_fastest_wins),
        cmocka_unit_test(a_tie_goes_to_the_first),
        cmocka_unit_test(nothing_right_is_no_winner),
        cmocka_unit_test(what_fails_in_the_playoff_does_not_win),
        cmocka_unit_test(where_all_of_the_playoff_fail_the_next_best_play),
        cmocka_unit_test(where_many_are_wrong_for_larger_problems_the_winner_is_for_this_one_only),
        cmocka_unit_test(a_second_run_measures_nothing),
        cmocka_unit_test(a_budget_is_kept_and_the_rest_follows),
        cmocka_unit_test(an_earlier_winner_stays),
        cmocka_unit_test(a_changed_template_makes_stale_what_it_changes),
        cmocka_unit_test(what_proves_is_in_the_key),
        cmocka_unit_test(an_earlier_source_is_stale),
        cmocka_unit_test(types_are_tuned_apart),
        cmocka_unit_test(seconds_are_a_budget_too),
        cmocka_unit_test(a_stop_keeps_what_is_measured),
        cmocka_unit_test(what_comes_to_nothing_forgets_nothing),
        cmocka_unit_test(deaths_in_a_row_cost_themselves),
        cmocka_unit_test(deaths_of_the_compiler_cost_themselves),
        cmocka_unit_test(a_broken_machine_condemns_nobody),
        cmocka_unit_test(memory_that_others_hold_is_no_verdict),
        cmocka_unit_test(a_winner_at_fault_is_dropped),
        cmocka_unit_test(a_template_without_end_costs_itself),
        cmocka_unit_test(a_worker_that_is_attacked_costs_no_configuration),
        cmocka_unit_test(strikes_from_outside_condemn_nobody),
        cmocka_unit_test(memory_is_taken_from_the_children_first),
        cmocka_unit_test(a_reference_that_fails_is_told),
        cmocka_unit_test(a_reference_that_cannot_be_filled_ends_a_run),
        cmocka_unit_test(a_program_that_is_no_worker_ends_a_run),
        cmocka_unit_test(a_worker_that_reads_nothing_ends_a_run),
        cmocka_unit_test(a_strategy_may_fail),
        cmocka_unit_test(a_strategy_may_end_early),
        cmocka_unit_test(a_space_without_a_point_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
