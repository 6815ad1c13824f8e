/* `cutune run`: tunes an op, one problem after another. */
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "measure/bench.h"
#include "op/load.h"

enum { KEY_STRATEGY = KEY_OWN, KEY_BUDGET, KEY_SEED, KEY_JOBS, KEY_RETUNE, KEY_WARM, KEY_WANTED, KEY_QUIET };
enum { MAX_JOBS = 1024 };
static const double MAX_SECONDS = 30 * 86400.0;
static const uint64_t MAX_CONFIGURATIONS = 1000000000000;

static const struct argp_option options[] = {
    OPT_OP,
    OPT_SHAPE("A problem's sizes, once for each problem; without it the op's own shapes for this device"),
    OPT_DTYPE("Element types, once for each; without it f32, or the op's first"),
    OPT_DEVICE,
    OPT_DB,
    { "strategy", KEY_STRATEGY, "NAME|FILE.lua", 0, "Which configurations next: random, exhaustive; random without it", 0 },
    { "budget", KEY_BUDGET, "200|60s", 0,
      "Stop after that many configurations or seconds, for each problem; without it after 32 on a CPU, 5000 elsewhere", 0 },
    { "seed", KEY_SEED, "N", 0, "Of the choices of the random strategy; 0 without it", 0 },
    { "jobs", KEY_JOBS, "N", 0, "Compile workers; without it one a processor core", 0 },
    { "retune", KEY_RETUNE, NULL, 0, "Forget what is stored for these problems and measure again", 0 },
    { "warm", KEY_WARM, NULL, 0, "Time with the data in the device's cache; without it from memory", 0 },
    { "wanted", KEY_WANTED, NULL, 0,
      "Tune what applications asked for and got no exact answer to, what costs them the most first; of all ops, or of --op's", 0 },
    OPT_JSON,
    { "quiet", KEY_QUIET, NULL, 0, "Show no progress", 0 },
    OPT_END,
};

/* "200": configurations; "60s", "0.5s": seconds. The last one given counts. */
static void read_budget(const char *text, struct tune_options *tune, struct argp_state *state)
{
    size_t n = strlen(text);
    uint64_t count = 0;
    char *end = NULL;
    double seconds = n && strspn(text, "0123456789.") == n - 1 ? strtod(text, &end) : 0;
    if (!end || strcmp(end, "s") != 0 || !(seconds <= MAX_SECONDS))
        seconds = 0;
    if (seconds == 0 && (!number_read(text, MAX_CONFIGURATIONS, &count) || count == 0))
        args_error(state,
                   "--budget '%.40s': a number of configurations (200) or of seconds (60s, at most 30 days) above 0 is wanted",
                   text);
    tune->budget_count = (int64_t)count;
    tune->budget_seconds = seconds;
}

static void read_seed(const char *text, struct tune_options *tune, struct argp_state *state)
{
    if (!number_read(text, UINT64_MAX, &tune->seed))
        args_error(state, "--seed '%.40s': a whole number of 0 to %" PRIu64 " is wanted", text, UINT64_MAX);
}

static void read_jobs(const char *text, struct tune_options *tune, struct argp_state *state)
{
    uint64_t jobs = 0;
    if (!number_read(text, MAX_JOBS, &jobs) || jobs == 0)
        args_error(state, "--jobs '%.40s': a whole number of 1 to %d is wanted", text, MAX_JOBS);
    tune->jobs = (int)jobs;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_args *run = state->input;
    switch (key) {
    case KEY_STRATEGY:
        run->tune.strategy = arg;
        return 0;
    case KEY_BUDGET:
        read_budget(arg, &run->tune, state);
        return 0;
    case KEY_SEED:
        read_seed(arg, &run->tune, state);
        return 0;
    case KEY_JOBS:
        read_jobs(arg, &run->tune, state);
        return 0;
    case KEY_RETUNE:
        run->tune.retune = true;
        return 0;
    case KEY_WARM:
        run->tune.warm = true;
        return 0;
    case KEY_WANTED:
        run->wanted = true;
        run->args.op_needed = false;
        return 0;
    case KEY_QUIET:
        run->quiet = true;
        return 0;
    case ARGP_KEY_END:
        if (run->wanted && (run->args.nshapes || run->args.ndtypes))
            args_error(state, "--wanted brings its own problems: leave %s away", run->args.nshapes ? "--shape" : "--dtype");
        return args_key(key, arg, &run->args, state);
    default:
        return args_key(key, arg, &run->args, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Tunes an op: compiles each configuration, proves it right, times it, and stores every measurement.\n"
           "The same command goes on where an earlier one was stopped, and measures nothing twice."
           "\vWith --op alone the op's own shapes are tuned for one element type, in about a minute.\n"
           "What is wanted is forgotten once it has a winner, and where its op or the device cannot have it;\n"
           "it stays where its op is not installed here.\n\n"
           "Examples:\n"
           "  cutune run --op NAME\n"
           "  cutune run --op NAME --shape m=1111,n=113 --dtype i32 --device opencl:0\n"
           "  cutune run --op NAME --shape m=512,n=512,k=512 --strategy random --budget 60s\n"
           "  cutune run --op ./my_op.lua --shape n=1000000 --json > result.json\n"
           "  cutune run --wanted --budget 60s",
};

volatile sig_atomic_t run_stop;
static int64_t stopped_at;

/* The first signal asks for an orderly end. A later one ends the process, unless it comes with the first: shells and `timeout` send
 * theirs to the process and again to its group. */
static void on_signal(int number)
{
    int64_t now = clock_ns();
    if (!run_stop) {
        stopped_at = now;
        run_stop = 1;
    } else if (now > stopped_at + 1000000000) {
        sigset_t this;
        sigemptyset(&this);
        sigaddset(&this, number);
        signal(number, SIG_DFL);
        raise(number);
        sigprocmask(SIG_UNBLOCK, &this, NULL);
        _exit(128 + number); /* process 1 lives on */
    }
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    if (hangup.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
}

static int strategy_unknown(const char *home, const char *name)
{
    struct buf pattern = { 0 }, names = { 0 };
    glob_t found = { 0 };
    buf_fmt(&pattern, "%s/tuner/search/*.lua", home);
    glob(buf_text(&pattern), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        buf_fmt(&names, "%s%.*s", names.len ? ", " : "", (int)(strlen(file) - strlen(".lua")), file);
    }
    complain(USAGE, "--strategy '%s': there is no such strategy; there are: %s; or a FILE.lua", name, buf_text(&names));
    globfree(&found);
    buf_free(&pattern);
    buf_free(&names);
    return USAGE;
}

/* Asked before anything is tuned, so that a slip of the finger is a wrong command line and not a failed run. */
static int check_strategy(const char *home, const char *name)
{
    struct buf path = { 0 };
    if (!name)
        return DONE;
    size_t n = strlen(name);
    bool file = strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".lua") == 0);
    if (file)
        buf_str(&path, name);
    else
        buf_fmt(&path, "%s/tuner/search/%s.lua", home, name);
    struct stat st = { 0 };
    bool there = n && access(buf_text(&path), R_OK) == 0 && stat(buf_text(&path), &st) == 0;
    buf_free(&path);
    if (there && !S_ISREG(st.st_mode))
        return complain(USAGE, "--strategy %s: not a regular file", name);
    return there ? DONE : strategy_unknown(home, name);
}

bool found_nothing(const struct tune_report *report)
{
    return report->best.config.variant < 0 && !report->interrupted;
}

/* Whoever asked for it gets an exact answer from now on. */
static int want_no_more(struct store *store, const struct devspec *dev, const struct finding *f, struct err *err)
{
    struct buf types = { 0 }, sizes = { 0 };
    op_row_print(&types, f->op, f->row);
    problem_print(&sizes, f->op, f->problem);
    int rc = types.failed || sizes.failed ? err_nomem(err)
                                          : store_wanted_done(store, dev, f->op->name, types.data, buf_text(&sizes), err);
    buf_free(&types);
    buf_free(&sizes);
    return rc;
}

static const char *why_nothing(const struct tune_report *report, const struct tune_options *tune)
{
    if (report->tried)
        return "no configuration was right";
    bool over = tune->budget_seconds > 0 && report->seconds >= tune->budget_seconds;
    return over ? "the budget ended before anything was tried" : "the strategy gave nothing to try";
}

int run_problem(struct store *store, struct run_args *run, const struct devspec *dev, struct finding *f)
{
    struct err err = { 0 };
    struct buf title = { 0 };
    struct progress progress = progress_start(run->quiet);
    target_print(&title, f->op, f->problem, f->row);
    progress.title = buf_text(&title);
    run->tune.progress = progress_show;
    run->tune.note = run->quiet ? NULL : progress_note;
    run->tune.arg = &progress;
    int rc = bench_fits(f->op, f->problem, f->row, dev, &err);
    if (rc == 0)
        rc = tune_run(f->op, f->problem, f->row, dev, store, &run->tune, &f->report, &err);
    if (rc == 0 && f->report.best.config.variant >= 0 && !f->report.interrupted)
        rc = want_no_more(store, dev, f, &err);
    progress_end(&progress, rc ? NULL : &f->report);
    if (rc)
        complain(FAILED, "%s: %s", progress.title, err.msg);
    else if (found_nothing(&f->report))
        complain(FAILED, "%s: %s", progress.title, why_nothing(&f->report, &run->tune));
    buf_free(&title);
    return rc;
}

/* A problem that fails leaves the others to go on, unless it was the database or the machine, which fail them all. */
static int tune_all(const struct targets *t, struct store *store, struct run_args *run, struct finding *found, int *n)
{
    int code = DONE, rc = 0;
    for (int i = 0; i < t->nproblems * t->nrows && !run_stop && rc != ERR_IO; i++) {
        struct finding *f = &found[*n];
        f->op = t->op;
        f->problem = &t->problems[i / t->nrows];
        f->row = t->rows[i % t->nrows];
        rc = run_problem(store, run, &t->dev, f);
        if (rc || found_nothing(&f->report))
            code = FAILED;
        *n += rc == 0;
    }
    return code;
}

static int say_interrupted(const struct finding *found, int n)
{
    int64_t kept = 0;
    for (int i = 0; i < n; i++)
        kept += found[i].report.measured;
    fflush(stdout);
    return complain(FAILED, "interrupted: %" PRId64 " measurements kept; the same command goes on", kept);
}

int run_report(const struct devspec *dev, const struct run_args *run, const struct store *store, const struct finding *found, int n,
               int code)
{
    if (run->args.json && report_json(dev, store, found, n) != DONE)
        code = FAILED;
    if (!run->args.json && n && report_print(dev, &run->args, store, found, n) != DONE)
        code = FAILED;
    return run_stop ? say_interrupted(found, n) : code;
}

int run_verify(struct store *store, int code)
{
    struct err err = { 0 };
    return code == DONE && store && store_verify(store, &err) == ERR_CORRUPT ? complain(FAILED, "%s", err.msg) : code;
}

/* No database is made for problems that the device cannot hold. */
static bool none_fits(const struct targets *t)
{
    for (int i = 0; i < t->nproblems * t->nrows; i++)
        if (bench_fits(t->op, &t->problems[i / t->nrows], t->rows[i % t->nrows], &t->dev, NULL) == 0)
            return false;
    return true;
}

static int run_targets(const struct targets *t, struct run_args *run)
{
    struct err err = { 0 };
    struct store *store = NULL;
    struct finding *found = mem_array((size_t)t->nproblems * t->nrows, sizeof *found);
    int n = 0, code = FAILED;
    if (!found) {
        complain(FAILED, "out of memory");
        goto out;
    }
    if (none_fits(t)) {
        code = tune_all(t, NULL, run, found, &n); /* which says so of each */
        goto out;
    }
    if (database_open(&run->args, STORE_WRITE, &store, &err) != 0) {
        complain(FAILED, "%s", err.msg);
        goto out;
    }
    code = tune_all(t, store, run, found, &n);
    code = run_report(&t->dev, run, store, found, n, code);
    code = run_verify(store, code);
out:
    store_close(store);
    mem_free(found);
    return code;
}

/* The op only where one is given; the home always. */
static int targets_of_wanted(const struct args *args, struct targets *t)
{
    struct err err = { 0 };
    if (home_find(&t->home, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    int code = args->op ? targets_op(args, t) : DONE;
    return code == DONE ? targets_device(args, t) : code;
}

int cmd_run(int argc, char **argv)
{
    struct run_args run = { .args = { .op_needed = true, .several = true }, .tune = { .stop = &run_stop } };
    struct targets t = { 0 };
    argp_parse(&argp, argc, argv, 0, NULL, &run);
    int code = run.wanted ? targets_of_wanted(&run.args, &t) : targets_all(&run.args, &t);
    if (code == DONE)
        code = check_strategy(t.home, run.tune.strategy);
    if (code == DONE) {
        run.tune.home = t.home;
        catch_signals();
        code = run.wanted ? run_wanted(&t, &run) : run_targets(&t, &run);
    }
    targets_free(&t);
    return code;
}
