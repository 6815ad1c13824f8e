/* check_ops: compares every op with plain C, on any device: op x types x problem x configuration.
 *
 * For each op in cases.c and each row of its types, the reference and some configurations of each variant are compiled once. They run twice
 * on each of several small problems with awkward sizes, between guard zones, over poisoned outputs. Prints a line per failure, a summary
 * per op, and last "N passed, N failed". It needs only the device's driver, so it can be copied to other machines. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "candidate.h"
#include "op/load.h"
#include "space/space.h"

enum { RIGHT = 0, FAILED = 1, USAGE = 2, NO_DEVICE = 77 };

struct options {
    const char *device, *op, *variant, *dtype, *shape;
    int64_t each, seed;
    bool all;
};

/* A problem, and what may run on it. */
struct problem_case {
    struct data data;
    struct space *space;
};

struct run {
    struct options o;
    struct session session;
    const struct known_op *known;
    struct op *op;
    int row;
    int ncases;
    struct problem_case *cases;
    int64_t passed, failed, skipped, configurations; /* of this op */
};

static void report(const struct run *r, const char *what, const struct problem *p, const struct config *c, const char *why)
{
    struct buf line = { 0 };
    buf_fmt(&line, "%s %s ", what, r->op->name);
    op_row_print(&line, r->op, r->row);
    buf_str(&line, " ");
    if (p)
        problem_print(&line, r->op, p);
    buf_fmt(&line, "%s%s%s", p ? " " : "", c ? r->op->variants[c->variant].name : "reference", c ? " " : "");
    if (c)
        config_print(&line, r->op, c);
    printf("%s: %s\n", buf_text(&line), why);
    buf_free(&line);
}

/* What a driver is known to compile wrongly of ours. A run finds it out, and goes on; here it would take the process down. */
static const struct known_fault {
    const char *arch, *driver, *op, *variant, *why; /* variant null: all, where they are compiled without optimizing */
} known_faults[] = {
    { "pocl", "6.0", "transpose", NULL, "LLVM 18 aborts in PoCL 6.0 (pocl issue 1608)" },
    { "pocl", "6.0", "transpose_inplace", "naive", "PoCL 6.0 makes code of it that reads outside the matrix" },
};

static const char *known_fault(const struct run *r, const char *variant)
{
    const struct devspec *d = &r->session.spec;
    for (size_t i = 0; i < sizeof known_faults / sizeof *known_faults; i++) {
        const struct known_fault *f = &known_faults[i];
        if (!strcmp(d->arch, f->arch) && !strncmp(d->driver, f->driver, strlen(f->driver)) && !strcmp(r->op->name, f->op) &&
            (f->variant ? variant && !strcmp(variant, f->variant) : !variant))
            return f->why;
    }
    return NULL;
}

static bool may_run(const struct run *r, int i, const struct config *c)
{
    return !c || space_find(r->cases[i].space, c) >= 0;
}

/* c null: the reference. Fails only where the device is of no more use. */
static int check_config(struct run *r, const struct config *c, struct err *err)
{
    struct candidate candidate;
    struct err why = { 0 };
    int first = 0, lost = 0;
    const char *fault = c ? known_fault(r, r->op->variants[c->variant].name) : NULL;
    if (fault) {
        r->skipped++;
        report(r, "skipped", NULL, c, fault);
        return 0;
    }
    while (!may_run(r, first, c))
        first++;
    r->configurations++;
    int rc = candidate_begin(&r->session, r->op, c, r->row, &r->cases[first].data.problem, &candidate, &why);
    if (rc) {
        r->failed++;
        report(r, "FAILED", NULL, c, why.msg);
    }
    for (int i = first; !rc && !lost && i < r->ncases; i++) {
        char wrong[WRONG];
        if (!may_run(r, i, c))
            continue;
        int ran = candidate_run(&candidate, &r->cases[i].data, wrong, &why);
        if (!ran && !*wrong) {
            r->passed++;
        } else if (ran == ERR_UNSUPPORTED) {
            r->skipped++;
            report(r, "skipped", &r->cases[i].data.problem, c, why.msg);
        } else {
            r->failed++;
            report(r, "FAILED", &r->cases[i].data.problem, c, ran ? why.msg : wrong);
            lost = ran ? device_sync(r->session.dev, err) : 0;
        }
    }
    candidate_end(&candidate);
    return lost;
}

/* The configurations of a variant that any of the problems allows, each once. */
static int list_valid(const struct run *r, int variant, struct config **out, int *n, struct err *err)
{
    int64_t room = 0;
    for (int i = 0; i < r->ncases; i++)
        room += space_variant_count(r->cases[i].space, variant);
    struct config *list = mem_array((size_t)room, sizeof *list);
    if (!list)
        return err_nomem(err);
    *n = 0;
    for (int i = 0; i < r->ncases; i++) {
        for (int64_t j = 0; j < r->cases[i].space->count; j++) {
            struct config c;
            bool known = false;
            space_at(r->cases[i].space, j, &c);
            for (int k = 0; k < i && !known; k++)
                known = may_run(r, k, &c);
            if (!known && c.variant == variant)
                list[(*n)++] = c;
        }
    }
    *out = list;
    return 0;
}

/* What moves bits is the same code for all types of one size: the first of them is checked with the defaults, too, and with each variant; the
 * others with every second one. */
static bool is_like_earlier(const struct run *r)
{
    const struct dtype *const *rows = r->op->rows;
    int n = r->op->ntypes;
    for (int row = 0; row < r->row && r->op->check.kind == CHECK_EXACT && !r->o.dtype; row++) {
        int t = 0;
        while (t < n && rows[row * n + t]->bytes == rows[r->row * n + t]->bytes)
            t++;
        if (t == n)
            return true;
    }
    return false;
}

static void to_front(struct config *list, int i, int *front)
{
    struct config c = list[i];
    list[i] = list[*front];
    list[(*front)++] = c;
}

/* Reorders the list so that the first *picked are the ones to check: the defaults of the problems, then any, by the seed. */
static int pick(const struct run *r, int variant, struct config *list, int n, int *picked, struct err *err)
{
    const bool like = is_like_earlier(r);
    *picked = 0;
    if (like && (r->row + variant) % 2 && !r->o.all)
        return 0;
    for (int i = 0; i < r->ncases && !like; i++) {
        struct config c;
        int rc = op_default(r->op, &r->cases[i].data.problem, r->row, &r->session.spec, &c, err);
        if (rc)
            return rc;
        for (int j = *picked; j < n; j++)
            if (!memcmp(&list[j], &c, sizeof c))
                to_front(list, j, picked);
    }
    uint64_t place = (uint64_t)(r->row * r->op->nvariants + variant) << 32;
    int defaults = *picked;
    while (*picked < n && (r->o.all || *picked - defaults < r->o.each))
        to_front(list, *picked + (int)(rand_at((uint64_t)r->o.seed, place++) % (uint64_t)(n - *picked)), picked);
    return 0;
}

static int check_variant(struct run *r, int variant, struct err *err)
{
    struct config *list = NULL;
    int n = 0, picked = 0;
    int rc = list_valid(r, variant, &list, &n, err) ?: pick(r, variant, list, n, &picked, err);
    for (int i = 0; !rc && i < picked; i++)
        rc = check_config(r, &list[i], err);
    mem_free(list);
    return rc;
}

static int begin_case(struct run *r, const char *shape, struct err *err)
{
    struct problem p;
    struct problem_case *c = &r->cases[r->ncases];
    int rc = problem_parse(r->op, shape, &p, err);
    if (rc)
        return rc;
    r->ncases++;
    return data_begin(&r->session, r->known, r->op, r->row, &p, (uint64_t)r->o.seed, &c->data, err)
               ?: space_new(r->op, &p, r->row, &r->session.spec, NULL, &c->space, err);
}

static int begin_cases(struct run *r, struct err *err)
{
    static const char *const none[] = { NULL };
    const char *const *large = r->known->gpu_shapes && r->session.spec.max_grid[1] <= UINT16_MAX ? r->known->gpu_shapes : none;
    size_t most = 1; /* the user's */
    for (int i = 0; r->known->shapes[i]; i++)
        most++;
    for (int i = 0; large[i]; i++)
        most++;
    r->ncases = 0;
    r->cases = mem_array(most, sizeof *r->cases);
    if (!r->cases)
        return err_nomem(err);
    if (r->o.shape)
        return begin_case(r, r->o.shape, err);
    int rc = 0;
    for (int i = 0; !rc && r->known->shapes[i]; i++)
        rc = begin_case(r, r->known->shapes[i], err);
    for (int i = 0; !rc && large[i]; i++)
        rc = begin_case(r, large[i], err);
    return rc;
}

static int check_row(struct run *r, struct err *err)
{
    int rc = begin_cases(r, err) ?: check_config(r, NULL, err);
    for (int v = 0; !rc && v < r->op->nvariants; v++)
        if (!r->o.variant || !strcmp(r->o.variant, r->op->variants[v].name))
            rc = check_variant(r, v, err);
    for (int i = 0; i < r->ncases; i++) {
        data_end(&r->cases[i].data);
        space_free(r->cases[i].space);
    }
    mem_free(r->cases);
    return rc;
}

/* Sums in f64 need it in the device; a transpose moves bits. */
static bool has_types(const struct run *r)
{
    for (int t = 0; t < r->op->ntypes; t++)
        if (r->op->check.kind != CHECK_EXACT && r->op->rows[r->row * r->op->ntypes + t]->eps == 0x1p-53 && !r->session.spec.fp64)
            return false;
    return true;
}

static int load(const struct known_op *known, struct op **out, struct err *err)
{
    struct buf path = { 0 };
    const char *home;
    if (!known->folder)
        return op_load(known->name, out, err);
    int rc = home_find(&home, err);
    if (!rc)
        buf_fmt(&path, "%s/%s/%s.lua", home, known->folder, known->name);
    rc = rc ?: buf_check(&path, err) ?: op_load(buf_text(&path), out, err);
    buf_free(&path);
    return rc;
}

static int check_op(struct run *r, struct err *err)
{
    int only = -1;
    int64_t start = clock_ns();
    r->passed = r->failed = r->skipped = r->configurations = 0;
    int rc = load(r->known, &r->op, err);
    if (!rc && r->o.dtype && (only = op_row(r->op, r->o.dtype, err)) < 0)
        rc = ERR_INVALID;
    if (!rc && r->o.variant && op_variant(r->op, r->o.variant) < 0)
        rc = err_set(err, ERR_NOTFOUND, "--variant %s: %s has no such variant", r->o.variant, r->op->name);
    if (!rc && known_fault(r, NULL))
        unsetenv("POCL_EXTRA_BUILD_FLAGS"); /* which says not to optimize: CMakeLists.txt */
    for (r->row = 0; !rc && r->row < r->op->nrows; r->row++) {
        if (only >= 0 && r->row != only)
            continue;
        if (has_types(r)) {
            rc = check_row(r, err);
        } else {
            r->skipped++;
            report(r, "skipped", NULL, NULL, "the device has no f64");
        }
    }
    if (!rc)
        printf("%s: %lld kernels, %lld checks right, %lld wrong, %lld skipped, in %.1f s\n", r->known->name,
               (long long)r->configurations, (long long)r->passed, (long long)r->failed, (long long)r->skipped,
               (double)(clock_ns() - start) / 1e9);
    op_free(r->op);
    r->op = NULL;
    return rc;
}

static int check_all(struct run *r, struct err *err)
{
    int64_t passed = 0, failed = 0, skipped = 0, ops = 0;
    int rc = 0;
    for (int i = 0; !rc && known_op_at(i); i++) {
        r->known = known_op_at(i);
        if (r->o.op && strcmp(r->o.op, r->known->name))
            continue;
        ops++;
        rc = check_op(r, err);
        passed += r->passed;
        failed += r->failed;
        skipped += r->skipped;
    }
    if (!ops)
        rc = err_set(err, ERR_NOTFOUND, "--op %s: tests/ops/cases.c does not know it", r->o.op);
    if (rc) {
        failed++;
        fprintf(stderr, "check_ops: %s\n", err->msg);
    }
    printf("%lld passed, %lld failed", (long long)passed, (long long)failed);
    printf(skipped ? ", %lld skipped\n" : "\n", (long long)skipped);
    return failed ? FAILED : RIGHT;
}

static int session_begin(struct session *s, const char *word, struct err *err)
{
    int rc = device_find(word, &s->spec, err);
    if (rc)
        return rc;
    s->be = backend_find(s->spec.backend);
    return s->be->compiling->open(&s->spec, &s->compiler, err) ?: device_open(&s->spec, &s->dev, err);
}

static void session_end(struct session *s)
{
    if (s->dev)
        device_close(s->dev);
    if (s->compiler)
        s->be->compiling->close(s->compiler);
}

static int usage(void)
{
    fputs("usage: check_ops [--device WORD] [--op NAME] [--variant V] [--dtype D] [--shape m=..,n=..] [--each N] [--all] [--seed S]\n"
          "--each: configurations of each variant, beside the defaults (2); --all: every one; --shape and --variant need --op\n",
          stderr);
    return USAGE;
}

static bool read_count(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    *out = v;
    return *text && !*end && !errno && v >= 0;
}

static bool read_options(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {
        { "device", required_argument, NULL, 'd' },  { "op", required_argument, NULL, 'o' },
        { "variant", required_argument, NULL, 'v' }, { "dtype", required_argument, NULL, 't' },
        { "shape", required_argument, NULL, 's' },   { "each", required_argument, NULL, 'n' },
        { "all", no_argument, NULL, 'a' },           { "seed", required_argument, NULL, 'r' },
        { NULL, 0, NULL, 0 },
    };
    int c;
    bool good = true;
    *o = (struct options){ .each = 2, .seed = 1 };
    while (good && (c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == 'd')
            o->device = optarg;
        else if (c == 'o')
            o->op = optarg;
        else if (c == 'v')
            o->variant = optarg;
        else if (c == 't')
            o->dtype = optarg;
        else if (c == 's')
            o->shape = optarg;
        else if (c == 'a')
            o->all = true;
        else
            good = c != '?' && read_count(optarg, c == 'n' ? &o->each : &o->seed);
    }
    return good && optind == argc && (o->op || (!o->shape && !o->variant));
}

int main(int argc, char **argv)
{
    struct run r = { 0 };
    struct err err = { 0 };
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was found is told before a wrong kernel takes this process down */
    if (!read_options(argc, argv, &r.o))
        return usage();
    int rc = session_begin(&r.session, r.o.device, &err), code;
    if (rc) {
        fprintf(stderr, "check_ops: %s\n", err.msg);
        code = rc == ERR_NOTFOUND ? NO_DEVICE : rc == ERR_INVALID ? USAGE : FAILED;
    } else {
        printf("on %s:%d, %s\n", r.session.spec.backend, r.session.spec.index, r.session.spec.name);
        code = check_all(&r, &err);
    }
    session_end(&r.session);
    return code;
}
