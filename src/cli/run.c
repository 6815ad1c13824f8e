/* `cutune run`: tunes an op, one problem after another. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/process.h"
#include "cli/run.h"
#include "measure/bench.h"
#include "model/objective.h"
#include "op/load.h"
#include "runtime/runtime.h"

enum { MAX_JOBS = 1024, PROGRESS_S = 30 };

struct tuning {
    struct request *request;
    struct tune_options tune;
    struct trace trace;
    struct finding *found;
    int n;
    struct arena *texts; /* of the findings */
    struct buf cache;    /* the folder for compiled code; "": none */
    struct err *err;
};

static volatile sig_atomic_t run_stop; /* the user asked for an end */
static int64_t stopped_at;

/* ---- the command line */

static int read_options(const struct args *args, struct tune_options *tune, struct err *err)
{
    uint64_t jobs = 0;
    *tune = (struct tune_options){ .strategy = args->strategy, .retune = args->retune, .warm = args->warm };
    tune->objective = args->objective;
    tune->no_cut = args->no_cut;
    tune->no_neighbours = args->no_neighbours;
    tune->stop = &run_stop;
    if (args->seed && !number_read(args->seed, UINT64_MAX, &tune->seed))
        return err_set(err, ERR_USAGE, "--seed '%.40s': a whole number of 0 to %" PRIu64 " is wanted", args->seed, UINT64_MAX);
    if (args->jobs && (!number_read(args->jobs, MAX_JOBS, &jobs) || !jobs))
        return err_set(err, ERR_USAGE, "--jobs '%.40s': a whole number of 1 to %d is wanted", args->jobs, MAX_JOBS);
    tune->jobs = (int)jobs;
    double seconds;
    if (args->progress && !seconds_read(args->progress, &seconds))
        return err_set(err, ERR_USAGE, "--progress '%.40s': a time (60s, 10m) is wanted", args->progress);
    if (args->wanted && args->reference)
        return err_set(err, ERR_USAGE, "--wanted and --reference: a reference is of one op");
    if (args->reference_time && (!args->reference || !seconds_read(args->reference_time, &tune->reference_seconds)))
        return err_set(err, ERR_USAGE, "--reference-time '%.40s': %s", args->reference_time,
                       args->reference ? "a time (60s, 10m) is wanted" : "there is no --reference that it could be of");
    if (args->wanted && (args->shapes.n || args->dtypes.n))
        return err_set(err, ERR_USAGE, "--wanted brings its own problems: leave %s away", args->shapes.n ? "--shape" : "--dtype");
    return budgets_read(args, tune, err);
}

/* The first signal asks for an orderly end. A later one ends the process. One that comes within a second of the first does not count:
 * shells and `timeout` send a signal to the process and again to its group. */
static void on_signal(int number)
{
    int64_t now = clock_ns();
    if (!run_stop) {
        stopped_at = now;
        run_stop = 1;
    } else if (now > stopped_at + 1000000000) {
        signal(number, SIG_DFL);
        raise(number);
        _exit(128 + number); /* process 1 lives on */
    }
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_NODEFER /* for raise */ };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    if (hangup.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
}

/* Whoever started the run wants its end, too. */
static int follow_parent(const char *parent, struct err *err)
{
    uint64_t pid = 0;
    if (parent && !number_read(parent, INT_MAX, &pid))
        return err_set(err, ERR_USAGE, "--parent '%.40s': the number of a process is wanted", parent);
    if (parent && !process_ends_with((pid_t)pid, SIGTERM))
        return err_set(err, ERR_USAGE, "--parent %s: that process did not start this one, or has ended", parent);
    return 0;
}

int strategy_named(const char *home, const char *name, struct err *err)
{
    char path[PATH_MAX] = "", **names;
    struct stat st;
    struct buf list = { 0 };
    if (!name)
        return 0;
    int len = script_find(home, "search", name, path);
    if (len >= 0 && len < PATH_MAX && !access(path, R_OK) && !stat(path, &st))
        return S_ISREG(st.st_mode) ? 0 : err_set(err, ERR_USAGE, "--strategy %s: not a regular file", name);
    if (len >= 0 && !strncmp(path, name, PATH_MAX - 1)) /* a file, and not the name of one */
        return err_set(err, ERR_USAGE, "--strategy %.200s: %s", name, strerror(len < PATH_MAX ? errno : ENAMETOOLONG));
    int n, rc = script_names("search", &names, &n, err);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        buf_fmt(&list, "%s%s", i ? ", " : "", names[i]);
    rc = err_set(err, ERR_USAGE, "--strategy '%s': there is no such strategy; there are: %s; or a FILE.lua", name, buf_text(&list));
    buf_free(&list);
    mem_free(names);
    return rc;
}

/* ---- one problem after another */

static int name_finding(struct tuning *t, struct finding *f)
{
    struct buf types = { 0 }, sizes = { 0 }, title = { 0 };
    op_row_print(&types, f->op, f->row);
    problem_print(&sizes, f->op, &f->problem);
    buf_fmt(&title, "%s %s %s", f->op->name, buf_text(&types), buf_text(&sizes));
    bool failed = types.failed || sizes.failed || title.failed;
    f->types = arena_strdup(t->texts, buf_text(&types));
    f->sizes = arena_strdup(t->texts, buf_text(&sizes));
    f->title = arena_strdup(t->texts, buf_text(&title));
    buf_free(&types);
    buf_free(&sizes);
    buf_free(&title);
    return !failed && f->types && f->sizes && f->title ? 0 : err_nomem(t->err);
}

/* From now on the applications that asked for it get an exact answer. */
static int want_no_more(const struct request *r, const struct finding *f, struct err *err)
{
    int rc = store_wanted_done(r->store, &r->dev, f->op->name, f->types, f->sizes, err);
    if (!rc && f->asked.op) /* which may be written in another order */
        rc = store_wanted_done(r->store, &r->dev, f->op->name, f->asked.types, f->asked.sizes, err);
    return rc;
}

static int tell_nothing(const struct tuning *t, const struct finding *f)
{
    struct buf list = { 0 }, why = { 0 };
    const char *db = t->request->args.db;
    bool over = t->tune.budget_seconds > 0 && f->report.seconds >= t->tune.budget_seconds;
    if (!f->report.tried)
        return complain("%s: %s", f->title,
                        over ? "the budget ended before anything was tried" : "the strategy gave nothing to try");
    buf_str(&list, "cutune list --measurements");
    shell_word(&list, "--op");
    shell_word(&list, f->op->name);
    if (db) {
        shell_word(&list, "--db");
        shell_word(&list, db);
    }
    const struct tune_entry *deflt = &f->report.deflt;
    if (deflt->config.variant >= 0 && deflt->reason[0])
        buf_fmt(&why, " (the default: %s: %s)", outcome_name(deflt->outcome), deflt->reason);
    int rc = complain("%s: no configuration was right%s: `%s` says of each what is wrong", f->title, buf_text(&why), buf_text(&list));
    buf_free(&list);
    buf_free(&why);
    return rc;
}

/* Returns what tune_run does, or FAILED if nothing was right; both are told. */
static int run_problem(struct tuning *t, struct finding *f)
{
    struct request *r = t->request;
    struct tune_report *report = &f->report;
    struct err err = { 0 };
    bool quiet = r->args.quiet;
    struct progress progress = {
        .terminal = !quiet && isatty(STDERR_FILENO), .seconds = PROGRESS_S, .shown_ns = clock_ns(), .title = f->title
    };
    if (r->args.progress)
        (void)seconds_read(r->args.progress, &progress.seconds);
    t->tune.progress = quiet ? NULL : progress_show;
    t->tune.note = quiet ? NULL : progress_note;
    t->tune.arg = &progress;
    t->trace.finding = f;
    int rc = bench_fits(f->op, &f->problem, f->row, &r->dev, &err)
                 ?: r->args.verify ? claims_run(r, f, &t->tune, &err)
                                   : tune_run(f->op, &f->problem, f->row, &r->dev, r->store, &t->tune, report, &err);
    bool won = !rc && report->best.config.variant >= 0;
    if (won && !report->interrupted && !f->op->outside_beside)
        rc = want_no_more(r, f, &err);
    if (!quiet)
        progress_end(&progress, rc ? NULL : report);
    if (rc)
        complain("%s: %s", f->title, err.msg);
    else if (!won && !report->interrupted)
        rc = tell_nothing(t, f);
    return rc;
}

/* Afterwards only the findings that were tuned are left. */
static int tune_all(struct tuning *t)
{
    int failed = 0, tuned = 0, rc = tune_crew_open(&t->tune.crew, t->err);
    if (rc)
        return rc;
    for (int i = 0; i < t->n && !run_stop && rc != ERR_IO; i++) { /* the database or the machine fails them all */
        rc = run_problem(t, &t->found[i]);
        failed = rc ? FAILED : failed;
        if (rc >= 0)
            t->found[tuned++] = t->found[i];
    }
    tune_crew_close(t->tune.crew);
    t->n = tuned;
    return failed;
}

/* Within the library's own. Without a home there is none. */
static int find_cache(struct tuning *t)
{
    char *folder = NULL;
    int rc = t->request->args.no_cache ? 0 : take_cache(NULL, &folder, t->err);
    if (folder)
        buf_fmt(&t->cache, "%s/compiled", folder);
    mem_free(folder);
    t->tune.cache = t->cache.data;
    return rc ?: buf_check(&t->cache, t->err);
}

/* Tunes one problem after another, and forgets that it was wanted once it has a winner. Prints what was found, and checks the database.
 * A problem that fails is told here, and leaves the others to go on. */
static int run_problems(struct tuning *t)
{
    struct request *r = t->request;
    const char *path = r->args.trace;
    int rc = path ? trace_open(&t->trace, path, &r->dev, r->args.warm, t->err) : 0;
    if (rc)
        return rc;
    t->tune.trial = path ? trace_row : NULL;
    t->tune.trial_arg = &t->trace;
    rc = tune_all(t);
    rc = path ? trace_close(&t->trace, rc) : rc;
    int printed = run_report(r, t->found, t->n, t->err);
    if (run_stop) {
        int64_t kept = 0;
        for (int i = 0; i < t->n; i++)
            kept += t->found[i].report.measured;
        fflush(stdout);
        return complain("interrupted: %" PRId64 " measurements kept; the same command%s goes on", kept,
                        t->tune.retune ? " without --retune" : "");
    }
    rc = request_damage(r, printed ?: rc);
    bool damaged = !rc && r->store && store_verify(r->store, t->err) == ERR_CORRUPT;
    return damaged ? ERR_CORRUPT : rc;
}

static int run_targets(struct tuning *t)
{
    struct request *r = t->request;
    bool fits = false;
    int rc = 0;
    t->n = r->nproblems * r->nrows;
    t->found = mem_array((size_t)t->n, sizeof *t->found);
    if (!t->found)
        return err_nomem(t->err);
    for (int i = 0; !rc && i < t->n; i++) {
        struct finding *f = &t->found[i];
        *f = (struct finding){ .op = r->op, .problem = r->problems[i / r->nrows], .row = r->rows[i % r->nrows] };
        fits = !bench_fits(f->op, &f->problem, f->row, &r->dev, t->err) || fits;
        rc = name_finding(t, f);
    }
    if (!rc && !fits) /* each is told of, and no database is made */
        return tune_all(t);
    return rc ?: request_database(r, STORE_WRITE, t->err) ?: run_problems(t);
}

/* The problems that have claims. */
static int run_claimed(struct tuning *t)
{
    struct request *r = t->request;
    int rc = request_database(r, STORE_WRITE, t->err) ?: claims_problems(r, &t->found, &t->n, t->texts, t->err);
    for (int i = 0; !rc && i < t->n; i++)
        rc = name_finding(t, &t->found[i]);
    return rc ?: run_problems(t);
}

/* ---- what applications asked for and got no exact answer to, the most expensive problems first */

static int keep_row(void *arg, const struct wanted_problem *w)
{
    struct tuning *t = arg;
    const char *op = arena_strdup(t->texts, w->op), *types = arena_strdup(t->texts, w->types);
    const char *sizes = arena_strdup(t->texts, w->sizes);
    if (!op || !types || !sizes || !mem_grow((void **)&t->found, t->n, sizeof *t->found))
        return err_nomem(t->err);
    t->found[t->n++] = (struct finding){ .row = -1, .asked = { op, types, sizes } };
    return 0;
}

/* Reads the op of a row, once for all rows of one op. Null: it is not installed, or cannot be read. */
static const struct op *op_of_row(struct tuning *t, const struct finding *f)
{
    struct err err = { 0 };
    for (const struct finding *g = t->found; g < f; g++)
        if (!strcmp(g->asked.op, f->asked.op))
            return g->op;
    int rc = request_op(t->request, f->asked.op, &err);
    if (rc == ERR_USAGE)
        complain(
            "%s is wanted, and stays so: no op of that name is installed; if it is of a script of your own: --wanted --op ./%s.lua",
            f->asked.op, f->asked.op);
    else if (rc)
        complain("%s is wanted, and stays so: %s", f->asked.op, err.msg);
    return t->request->op;
}

/* A problem that the op or the device cannot have will never be tuned here, so it is forgotten: its row is then -1. If an application
 * asks for it again, it is back. */
static int read_row(struct tuning *t, struct finding *f)
{
    struct request *r = t->request;
    struct err why = { 0 };
    f->row = op_row(f->op, f->asked.types, &why);
    if (f->row >= 0 && !problem_parse(f->op, f->asked.sizes, &f->problem, &why) && !op_takes(f->op, &f->problem, f->row, &why) &&
        !bench_fits(f->op, &f->problem, f->row, &r->dev, &why))
        return name_finding(t, f);
    f->row = -1;
    complain("%s %s %s is wanted no more: %s", f->asked.op, f->asked.types, f->asked.sizes, why.msg);
    return store_wanted_done(r->store, &r->dev, f->asked.op, f->asked.types, f->asked.sizes, t->err);
}

/* Afterwards only the rows that can be tuned are left; only those of one op, unless it is null. */
static int choose(struct tuning *t, const struct op *only)
{
    int n = 0, rc = 0;
    for (struct finding *f = t->found; !rc && f < t->found + t->n && !run_stop; f++) {
        if (!only)
            f->op = op_of_row(t, f);
        else if (!strcmp(only->name, f->asked.op))
            f->op = only;
        rc = f->op ? read_row(t, f) : 0;
    }
    for (int i = 0; i < t->n; i++)
        if (t->found[i].row >= 0)
            t->found[n++] = t->found[i];
    t->n = n;
    return rc;
}

static int run_wanted(struct tuning *t)
{
    struct request *r = t->request;
    const struct op *only = r->op;
    int rc = request_read(r, t->err);
    if (!rc && r->store) { /* for writing; but if there is no database nothing is wanted, and none is made */
        store_close(r->store);
        r->store = NULL;
        rc = request_database(r, STORE_WRITE, t->err) ?: store_each_wanted(r->store, &r->dev, keep_row, t, t->err);
    }
    bool any = t->n;
    rc = rc ?: choose(t, only);
    if (!rc && !t->n && !run_stop && !r->args.json)
        text_line("nothing%s is wanted on %s", only || any ? " that can be tuned" : "", r->dev.name);
    return rc ?: run_problems(t);
}

/* ---- the command */

static int tune(struct request *r, struct err *err)
{
    struct tuning t = { .request = r, .err = err };
    struct objective objective;
    bool wanted = r->args.wanted; /* then it is enough if there is a device; --op limits it */
    bool claimed = r->args.verify && !r->args.shapes.n && !r->args.dtypes.n;
    if (wanted && r->args.verify)
        return err_set(err, ERR_USAGE, "--wanted and --verify: one of them at a time");
    int rc = read_options(&r->args, &t.tune, err)
        ?: (wanted && !r->args.op ? home_find(&r->home, err) : request_op(r, r->args.op, err))
        ?: (wanted ? 0 : request_reference(r, err))
        ?: request_device(r, err)
        ?: (wanted || claimed ? 0 : request_problems(r, true, err))
        ?: strategy_named(r->home, r->args.strategy, err);
    if (!rc && r->op && objective_find(r->op, t.tune.objective, &objective, err))
        rc = err_set(err, ERR_USAGE, "--%s", err->msg);
    if (rc)
        return rc;
    t.tune.home = r->home;
    catch_signals();
    rc = follow_parent(r->args.parent, err);
    if (rc)
        return rc;
    t.texts = arena_new();
    rc = !t.texts ? err_nomem(err) : find_cache(&t) ?: wanted ? run_wanted(&t) : claimed ? run_claimed(&t) : run_targets(&t);
    buf_free(&t.cache);
    for (int i = 0; i < t.n; i++)
        json_decref(t.found[i].claims);
    mem_free(t.found);
    arena_free(t.texts);
    return rc;
}

const struct command run_command = {
    .name = "run",
    .summary = "tune an op on a device and store every measurement",
    .options = OPTIONS(
        { OPT_OP }, { OPT_INCLUDE },
        { "shape", EACH(shapes), "m=1111,n=113", 0,
          "A problem's sizes, once for each problem; without it the op's own shapes for this device", 0 },
        { "dtype", EACH(dtypes), "i32|T=f16,...", 0, "Element types, once for each; without it f32, or the op's first", 0 },
        { OPT_DEVICE }, { OPT_DB },
        { "strategy", WORD(strategy), "NAME|FILE.lua", 0,
          "What picks the configurations to try: a name such as evolution (docs/strategies.md has them) or a file; without it "
          "forest, or random where all are tried",
          0 },
        { "budget", EACH(budgets), "200|60s|10m", 0,
          "Stop after that many configurations or that time, whichever comes first, for each problem, whatever the --effort", 0 },
        { "effort", WORD(effort), "quick|normal|thorough", 0,
          "How long to search where no budget says it: 8, 32 or 200 configurations on a CPU; elsewhere 500, 5000 or 50000, or past "
          "5s, 40s or 300s once nothing was better for a third of the time; normal without it",
          0 },
        { "target", WORD(target), "900GB/s|9TFLOP/s|90%", 0,
          "Stop once the best reaches this speed: by the bytes or operations of the op's work, or beside the device's own copy "
          "of the bytes",
          0 },
        { "patience", WORD(patience), "100", 0, "Stop after that many configurations in a row of which none was better by 1%", 0 },
        { "objective", WORD(objective), "time|energy|edp|METRIC", 0,
          "What to optimise in this run; look-ups keep to the op's own objective", 0 },
        { "reference", WORD(reference), "./ref.so|COMMAND", 0,
          "What is right, for this run: a shared library, or a command that gets a folder with the inputs; in place of the op's "
          "own "
          "reference",
          0 },
        { "reference-time", WORD(reference_time), "60s", 0, "What that may take for one set of inputs; 600s without it", 0 },
        { "seed", WORD(seed), "N", 0,
          "Starts the strategy's random choices: the same number and the same outcomes give the same configurations; 0 without it",
          0 },
        { "jobs", WORD(jobs), "N", 0,
          "Compile workers; without it one for each processor core, but on a processor fewer for few configurations", 0 },
        { "retune", FLAG(retune), NULL, 0, "Forget what is stored for these problems and measure again", 0 },
        { "warm", FLAG(warm), NULL, 0, "Time with the data in the device's cache; without it from memory", 0 },
        { "no-cut", FLAG(no_cut), NULL, 0,
          "Time in full what is clearly slower than the best, too, such as for a table that others replay", 0 },
        { "trace", WORD(trace), "FILE.csv", 0,
          "Write a row for each configuration as it ends: when, what came of it, and what it cost; an existing one is appended to",
          0 },
        { "no-cache", FLAG(no_cache), NULL, 0, "Compile all, and keep no compiled code in the cache folder for later runs", 0 },
        { "no-neighbours", FLAG(no_neighbours), NULL, 0,
          "After the default begin with what the strategy proposes, not with what won on other problems, such as to measure "
          "strategies",
          0 },
        { "wanted", FLAG(wanted), NULL, 0,
          "Tune what applications asked for and got no exact answer to, what costs them the most first; of all ops, or of --op's",
          0 },
        { "verify", FLAG(verify), NULL, 0,
          "First measure what imported files claim of these problems, or of all; and tune only where the fastest claim does not "
          "hold",
          0 },
        { OPT_JSON },
        { "progress", WORD(progress), "60s", 0, "The interval between lines of progress where there is no terminal; 30s without it",
          0 },
        { "quiet", FLAG(quiet), NULL, 0, "Show no progress", 0 },
        { "parent", WORD(parent), "PID", 0,
          "End as at an interrupt when this process ends, which has to be the one that started the run", 0 }),
    .doc = "Tunes an op: compiles each configuration, proves it right, times it, and stores every measurement. "
           "The same command goes on where an earlier one stopped, and measures nothing twice."
           "\vWith --op alone the op's own shapes are tuned for one element type, in about a minute. "
           "With --wanted a problem is taken off the list once it has a winner, or if its op or the device "
           "cannot have it; it stays on the list if its op is not installed here. "
           "With --verify the 32 fastest claims of a problem that were timed in full are measured like any configuration. A claim "
           "holds "
           "if it is right here and takes at most 10% longer than it says.\n\n"
           "Examples:\n"
           "  cutune run --op NAME\n"
           "  cutune run --op NAME --shape m=1111,n=113 --dtype i32 --device opencl:0\n"
           "  cutune run --op NAME --shape m=512,n=512,k=512 --strategy random --budget 60s\n"
           "  cutune run --op ./my_op.lua --shape n=1000000 --json > result.json\n"
           "  cutune run --wanted --budget 60s",
    .run = tune,
};
