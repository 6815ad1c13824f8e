/* A bench on OpenCL, where there is any (PoCL will do): right candidates are timed, and wrong ones are told from them, whatever it is
 * that they do wrong. What needs no kernel to run is tried on the pretend device. */
#include "base/mem.h"
#include "measure/bench.h"
#include "op/load.h"
#include "source/source.h"
#include "unit.h"

static struct devspec opencl, pretend;
static bool have_opencl;

/* -- ops of one kernel, with a fault that its one parameter chooses -- */

struct plan_of_test {
    const char *types, *buffers, *check; /* of the script */
    const char *faults;                  /* the values of FAULT */
    const char *body;                    /* of reference and candidate, for an element i < n */
    const char *params;                  /* the kernel's, before n; NULL: out and in */
};

/* out[i] = in[i], of any bits. */
static const struct plan_of_test copy = {
    .types = "'i8', 'f32', 'c64'",
    .buffers = "output('out', 'T', { 'n' }), input('inp', 'T', { 'n' })",
    .check = "'exact'",
    .faults = "'none', 'after', 'before', 'last', 'input', 'poison'",
    .body = "    T_bits v = in[i];\n"
            "#if FAULT == FAULT_after\n    if (i == n - 1) out[n] = v;\n"
            "#elif FAULT == FAULT_before\n    if (i == 0) out[-1] = v;\n"
            "#elif FAULT == FAULT_input\n    if (i == n - 1) ((GLOBAL T_bits *)in)[i] = in[0];\n"
            "#endif\n"
            "#if FAULT == FAULT_last\n    if (i == n - 1) return;\n"
            "#elif FAULT == FAULT_poison\n    if (i == n / 2) return;\n"
            "#endif\n"
            "    out[i] = v;\n",
};

/* out[i] += in[i]. */
static const struct plan_of_test add = {
    .types = "'i32'",
    .buffers = "inout('out', 'T', { 'n' }), input('inp', 'T', { 'n' })",
    .check = "'exact'",
    .faults = "'none', 'twice', 'sets'",
    .body = "#if FAULT == FAULT_twice\n    out[i] += 2 * in[i];\n"
            "#elif FAULT == FAULT_sets\n    out[i] = in[i];\n"
            "#else\n    out[i] += in[i];\n"
            "#endif\n",
};

/* A copy of numbers, the second time none that are whole. */
static const struct plan_of_test numbers = {
    .types = "'f32'",
    .buffers = "output('out', 'T', { 'n' }), input('inp', 'T', { 'n' }, { fill = 'numbers' })",
    .check = "'exact'",
    .faults = "'none', 'rounds'",
    .body = "#if FAULT == FAULT_rounds\n    out[i] = (T)(int32)in[i];\n"
            "#else\n    out[i] = in[i];\n"
            "#endif\n",
};

/* The same as a sum of 8 products, of which f32 allows an error of 1.9e-6. */
static const struct plan_of_test sum = {
    .types = "'f32'",
    .buffers = "output('out', 'T', { 'n' }), input('inp', 'T', { 'n' })",
    .check = "{ sum = 8 }",
    .faults = "'none', 'near', 'off', 'whole'",
    .body = "    T v = in[i];\n"
            "    if (v != (T)(int32)v)\n"
            "#if FAULT == FAULT_near\n        v += 1e-6f;\n"
            "#elif FAULT == FAULT_off\n        v += 4e-6f;\n"
            "#else\n        v += 0.0f;\n"
            "#endif\n"
            "#if FAULT == FAULT_whole\n    else v += v * 1e-6f;\n"
            "#endif\n"
            "    out[i] = v;\n",
};

/* The same, of which a third is left alone: there the last poison is any bits, NaNs among them. */
static const struct plan_of_test gaps = {
    .types = "'f32'",
    .buffers = "output('out', 'T', { 'n' }, { partial = true }), input('inp', 'T', { 'n' })",
    .check = "{ sum = 8 }",
    .faults = "'none', 'near', 'last', 'fills'",
    .body = "    T v = in[i];\n"
            "#if FAULT == FAULT_fills\n    if (i == 2) out[i] = v;\n#endif\n"
            "    if (i % 3 == 2) return;\n"
            "#if FAULT == FAULT_near || FAULT == FAULT_last\n    if (v != (T)(int32)v) v += 1e-6f;\n#endif\n"
            "#if FAULT == FAULT_last\n    if (v != (T)(int32)v && i == n - 1) v += 1.0f;\n#endif\n"
            "    out[i] = v;\n",
};

/* The same as close, where the reference has a NaN and an infinity, too; and a second output that must be equal. */
static const struct plan_of_test loose = {
    .types = "'f32', 'f64', 'c128'",
    .buffers = "output('a', 'T', { 'n' }, { partial = true }), inout('b', 'i32', { 'n' }, { check = 'exact' }), "
               "output('c', 'T', { 'n' }, { rtol = 0.5, atol = 0 }), input('inp', 'T', { 'n' })",
    .check = "'close'",
    .faults = "'none', 'near', 'off', 'fills', 'nan', 'other', 'third', 'half', 'twice'",
    .params = "GLOBAL T *a, GLOBAL int32 *b, GLOBAL T *c, GLOBAL const T *in",
    .body = "#if T_is_c128\n#define OF(v) make_double2(v, -(v))\n    double v = in[i].y, w = v;\n"
            "#else\n#define OF(v) v\n    T v = in[i], w = v;\n#endif\n"
            "    if (i == 0) w = (v - v) / (v - v);\n"
            "    if (i == 1) w = 1 / (v - v);\n"
            "#if FAULT == FAULT_near\n    w += w * (T_bytes == 4 ? 1e-6f : 1e-12f);\n"
            "#elif FAULT == FAULT_off\n    if (i == 3000) w *= 1.02f;\n"
            "#elif FAULT == FAULT_nan\n    if (i == 0) w = v;\n"
            "#elif FAULT == FAULT_other\n    if (i == 1) w = -w;\n#endif\n"
            "    int32 step = 3;\n"
            "#if FAULT == FAULT_twice\n    if (i == n - 1) step++;\n#endif\n"
            "    b[i] += step;\n"
            "#if FAULT == FAULT_third\n    c[i] = OF(v * 1.3f);\n"
            "#elif FAULT == FAULT_half\n    c[i] = OF(v * 1.7f);\n"
            "#else\n    c[i] = OF(v);\n#endif\n"
            "#if FAULT == FAULT_fills\n    if (i == 5) a[i] = OF(v);\n#endif\n"
            "    if (i % 3 == 2) return;\n"
            "    a[i] = OF(w);\n",
};

/* A copy that takes long, and one that does so only where it is not done already. */
static const struct plan_of_test lazy = {
    .types = "'i32'",
    .buffers = "output('out', 'T', { 'n' }), input('inp', 'T', { 'n' })",
    .check = "'exact'",
    .faults = "'none', 'lazy'",
    .body = "    T v = in[i];\n"
            "#if FAULT == FAULT_lazy\n    if (out[i] == v) return;\n#endif\n"
            "    for (int k = 0; k < 3000; k++) v = ((volatile GLOBAL const T *)in)[i];\n"
            "    out[i] = v;\n",
};

/* Two outputs of one length, in each other's place. */
static const struct plan_of_test two = {
    .types = "'i32'",
    .buffers = "output('a', 'T', { 'n' }), output('b', 'T', { 'n' }), input('x', 'T', { 'n' }), input('y', 'T', { 'n' })",
    .check = "'exact'",
    .faults = "'none', 'exchanged', 'same'",
    .params = "GLOBAL T *a, GLOBAL T *b, GLOBAL const T *x, GLOBAL const T *y",
    .body = "#if FAULT == FAULT_exchanged\n    a[i] = y[i], b[i] = x[i];\n"
            "#elif FAULT == FAULT_same\n    a[i] = x[i], b[i] = x[i];\n"
            "#else\n    a[i] = x[i], b[i] = y[i];\n"
            "#endif\n",
};

/* An output that depends on what was there before. */
static const struct plan_of_test adds = {
    .types = "'i32'",
    .buffers = "output('out', 'T', { 'n' }), input('inp', 'T', { 'n' }, { range = { 1, 9 } })",
    .check = "'exact'",
    .faults = "'none'",
    .body = "    out[i] += in[i];\n",
};

static const char head[] = "KERNEL void %s(%s, int64 n)\n"
                           "{\n"
                           "    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;\n"
                           "    if (i >= n) return;\n%s}\n";

/* In front of the reference, which has no parameters: where nothing is defined, all is 0 and equal. */
static const char no_fault[] = "#define FAULT (-1)\n";

static const char script[] =
    "return op {\n"
    "  name = 't', problem = { size 'n' }, types = { T = { %s } }, args = { %s, value 'n' },\n"
    "  work = { bytes = '2*n*sizeof(T)' }, shapes = { { n = 5 } }, check = %s,\n"
    "  reference = { template = 'ref.cu', launch = { kernel = 'ref', block = 64, grid = 'ceildiv(n,64)' } },\n"
    "  variants = { { name = 'v', template = 'try.cu', params = { { 'FAULT', %s } },\n"
    "    launch = { kernel = 'try', block = 64, grid = 'ceildiv(n,64)' } } },\n"
    "  defaults = { { variant = 'v' } },\n"
    "}\n";

struct trial {
    struct op *op;
    struct task set;
    struct bench *bench;
    struct bench_facts facts;
    struct buf binary;
    struct result result;
    struct err err;
    int alive;
};

static void count(void *arg, int player, const char *on)
{
    (void)on;
    *(int *)arg += player < 0;
}

static void make_op(struct trial *t, const struct plan_of_test *p, const struct devspec *dev, int row, int64_t n)
{
    struct buf text = { 0 };
    struct err err = { 0 };
    const char *params = p->params                   ? p->params
                         : strstr(p->body, "T_bits") ? "GLOBAL T_bits *out, GLOBAL const T_bits *in"
                                                     : "GLOBAL T *out, GLOBAL const T *in";
    *t = (struct trial){ 0 };
    buf_fmt(&text, script, p->types, p->buffers, p->check, p->faults);
    write_file("t.lua", buf_text(&text));
    buf_clear(&text);
    buf_fmt(&text, head, "try", params, p->body);
    write_file("try.cu", buf_text(&text));
    buf_clear(&text);
    buf_str(&text, no_fault);
    buf_fmt(&text, head, "ref", params, p->body);
    write_file("ref.cu", buf_text(&text));
    buf_free(&text);
    if (home_find(&t->set.home, &err) || op_load(in_dir("t.lua"), &t->op, &err))
        fail_msg("%s", err.msg);
    t->set.op = t->op;
    t->set.problem.size[0] = n;
    t->set.row = row;
    t->set.dev = *dev;
    t->set.alive = count;
    t->set.arg = &t->alive;
}

static void open_bench(struct trial *t, const struct plan_of_test *p, int row, int64_t n)
{
    make_op(t, p, &opencl, row, n);
    if (bench_open(&t->set, &t->bench, &t->facts, &t->err))
        fail_msg("%s", t->err.msg);
}

static void close_bench(struct trial *t)
{
    bench_close(t->bench);
    op_free(t->op);
    buf_free(&t->binary);
    result_free(&t->result);
}

static struct bench_candidate candidate(struct trial *t, const char *config, struct buf *binary)
{
    struct bench_candidate c = { 0 };
    struct buf source = { 0 }, log = { 0 };
    struct compiler *compiler = NULL;
    const struct backend *be = backend_find(t->set.dev.backend);
    buf_clear(binary);
    if (config_parse(t->op, NULL, config, &c.config, &t->err) ||
        source_render(t->op, &c.config, t->set.row, &t->set.dev, &source, &t->err) ||
        be->compiling->open(&t->set.dev, &compiler, &t->err) ||
        be->compiling->compile(compiler, &(struct compile_job){ .source = source.data }, binary, NULL, &log, &t->err))
        fail_msg("%s: %s %s", config, t->err.msg, buf_text(&log));
    be->compiling->close(compiler);
    buf_free(&source);
    buf_free(&log);
    c.binary = binary->data;
    c.binary_bytes = binary->len;
    return c;
}

static int try(struct trial *t, const char *config, double cut_ns)
{
    struct bench_candidate c = candidate(t, config, &t->binary);
    result_free(&t->result);
    t->err = (struct err){ 0 };
    return bench_run(t->bench, &c, (struct limits){ .cut_ns = cut_ns }, &t->result, &t->err);
}

static void is(struct trial *t, const char *config, enum outcome outcome, const char *says)
{
    int rc = try(t, config, 0);
    if (rc || t->result.outcome != outcome || !strstr(t->result.reason, says))
        fail_msg("%s: %s '%s' (%d %s)", config, outcome_name(t->result.outcome), t->result.reason, rc, t->err.msg);
}

static void need_opencl(void)
{
    if (!have_opencl)
        skip();
}

/* -- */

static void a_right_candidate_has_its_statistics(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &copy, 1, 100003);
    assert_true(t.facts.reference_ns > 0 && t.facts.copy_ns > 0);
    assert_true(t.alive > 0);
    int before = t.alive;
    is(&t, "FAULT=none", OUT_OK, "");
    assert_true(t.alive >= before + 6); /* load, each pass twice, the samples */
    const struct result *r = &t.result;
    assert_int_equal(r->nsamples, 10);
    double most = 0, least = 1e18;
    for (int i = 0; i < r->nsamples; i++) {
        assert_true(r->samples[i] > 0);
        most = r->samples[i] > most ? r->samples[i] : most;
        least = r->samples[i] < least ? r->samples[i] : least;
    }
    assert_int_equal(r->stats.n, 10);
    assert_true(r->stats.min == least && r->stats.max == most);
    assert_true(least <= r->stats.ci_low && r->stats.ci_low <= r->stats.median);
    assert_true(r->stats.median <= r->stats.ci_high && r->stats.ci_high <= most);
    assert_true(least <= r->stats.mean && r->stats.mean <= most);
    close_bench(&t);
}

static void a_slow_one_is_cut(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &copy, 1, 1001);
    assert_int_equal(try(&t, "FAULT=none", 1), 0);
    assert_int_equal(t.result.outcome, OUT_SLOWER);
    assert_int_equal(t.result.nsamples, 1);
    assert_true(t.result.stats.median == t.result.samples[0]);
    assert_int_equal(try(&t, "FAULT=none", 1e12), 0); /* and one that is not so slow is not */
    assert_int_equal(t.result.outcome, OUT_OK);
    assert_int_equal(try(&t, "FAULT=last", 1), 0); /* wrong comes before slow */
    assert_int_equal(t.result.outcome, OUT_WRONG);
    close_bench(&t);
}

/* A wrong one harms none behind it. */
static void wrong_elements_are_found(void **state)
{
    (void)state;
    need_opencl();
    static const struct {
        int row;
        int64_t n;
        const char *part; /* of a c64 */
    } sizes[] = { { 0, 1001, "" }, { 2, 77, " (.x)" } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct trial t;
        char says[64];
        open_bench(&t, &copy, sizes[i].row, sizes[i].n);
        is(&t, "FAULT=none", OUT_OK, "");
        snprintf(says, sizeof says, "element %lld%s of out", (long long)(sizes[i].n - 1), sizes[i].part);
        is(&t, "FAULT=last", OUT_WRONG, says);
        is(&t, "FAULT=input", OUT_WRONG, "changed its input inp"); /* in[n - 1] = in[0] */
        is(&t, "FAULT=none", OUT_OK, "");
        is(&t, "FAULT=poison", OUT_WRONG, sizes[i].row == 2 ? "element 38 (.x) of out" : "of out is");
        is(&t, "FAULT=none", OUT_OK, "");
        close_bench(&t);
    }
}

/* One element before or behind, where the buffer ends on any byte. A CPU's worker is given up after it. */
static void a_step_outside_is_found(void **state)
{
    (void)state;
    need_opencl();
    static const char *const faults[] = { "FAULT=after", "FAULT=before" };
    for (int i = 0; i < 4; i++) {
        struct trial t;
        open_bench(&t, &copy, i / 2 * 2, 1001 + i); /* i8, c64 */
        assert_int_equal(try(&t, faults[i % 2], 0), opencl.shares_cores ? ERR_DEVICE : 0);
        assert_int_equal(t.result.outcome, OUT_WRONG);
        assert_string_equal(t.result.reason, "wrote outside out");
        close_bench(&t);
    }
}

/* Set back before each run, the timed ones too: the output is looked at once more after them. */
static void an_inout_begins_anew_each_time(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &add, 0, 1001);
    is(&t, "FAULT=none", OUT_OK, "");
    is(&t, "FAULT=twice", OUT_WRONG, "of out is");
    is(&t, "FAULT=sets", OUT_WRONG, "of out is");
    is(&t, "FAULT=none", OUT_OK, "");
    close_bench(&t);
}

static void an_exact_check_may_use_numbers(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &numbers, 0, 1001);
    is(&t, "FAULT=none", OUT_OK, "");
    is(&t, "FAULT=rounds", OUT_WRONG, "of out is"); /* whole numbers it copies well */
    is(&t, "FAULT=none", OUT_OK, "");
    close_bench(&t);
}

/* Whole numbers must come out exact, the others within the bound. */
static void a_sum_may_round_where_it_must(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &sum, 0, 1001);
    is(&t, "FAULT=none", OUT_OK, "");
    is(&t, "FAULT=near", OUT_OK, "");
    is(&t, "FAULT=off", OUT_WRONG, "of out is");
    is(&t, "FAULT=whole", OUT_WRONG, "of out is");
    close_bench(&t);
}

static void what_a_partial_output_leaves_alone_is_right(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &gaps, 0, 10001);
    is(&t, "FAULT=none", OUT_OK, "");
    is(&t, "FAULT=near", OUT_OK, "");
    is(&t, "FAULT=last", OUT_WRONG, "element 10000 of out"); /* not one before it that differs, but by little */
    is(&t, "FAULT=fills", OUT_WRONG, "element 2 of out");
    close_bench(&t);
}

/* Each output by its own check, in each of its elements, those that are no numbers and those that are left alone among them. */
static void close_is_not_too_close(void **state)
{
    (void)state;
    need_opencl();
    for (int row = 0; row < 3; row++) {
        struct trial t;
        open_bench(&t, &loose, row, 4001);
        is(&t, "FAULT=none", OUT_OK, "");
        is(&t, "FAULT=near", OUT_OK, "");
        is(&t, "FAULT=off", OUT_WRONG, "of a is");
        assert_non_null(strstr(t.result.reason, row == 2 ? "; 2 wrong)" : "; 1 wrong)"));
        is(&t, "FAULT=fills", OUT_WRONG, "of a is");
        is(&t, "FAULT=nan", OUT_WRONG, row == 2 ? "element 0 (.x) of a is" : "element 0 of a is");
        is(&t, "FAULT=other", OUT_WRONG, row == 2 ? "element 1 (.x) of a is" : "element 1 of a is");
        is(&t, "FAULT=twice", OUT_WRONG, "of b is");
        is(&t, "FAULT=third", OUT_OK, "");
        is(&t, "FAULT=half", OUT_WRONG, "of c is");
        is(&t, "FAULT=none", OUT_OK, "");
        close_bench(&t);
    }
}

/* Where all outputs have one length, and their digests the same sum. */
static void outputs_are_told_apart(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &two, 0, 10001);
    is(&t, "FAULT=none", OUT_OK, "");
    is(&t, "FAULT=exchanged", OUT_WRONG, "element 0 of a");
    is(&t, "FAULT=same", OUT_WRONG, "of b");
    is(&t, "FAULT=none", OUT_OK, "");
    close_bench(&t);
}

/* Before each timed run the output is poisoned: a result that is there already saves nobody work. */
static void an_old_result_saves_no_work(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    open_bench(&t, &lazy, 0, 20001);
    is(&t, "FAULT=none", OUT_OK, "");
    double honest = t.result.stats.median;
    is(&t, "FAULT=lazy", OUT_OK, "");
    if (t.result.stats.median < honest / 20) /* it would be less than a thousandth of the work */
        fail_msg("%g ns, an honest one %g", t.result.stats.median, honest);
    close_bench(&t);
}

static void a_playoff_times_each_in_each_round(void **state)
{
    (void)state;
    need_opencl();
    enum { N = 3, ROUNDS = 8 };
    struct trial t;
    struct buf binary[2] = { 0 };
    struct result out[N] = { 0 };
    open_bench(&t, &copy, 1, 1001);
    struct bench_candidate c[N];
    c[0] = candidate(&t, "FAULT=none", &binary[0]);
    c[1] = c[0];
    c[2] = candidate(&t, "FAULT=none", &binary[1]);
    c[1].binary = "no program";
    c[1].binary_bytes = 10;
    if (bench_playoff(t.bench, c, N, ROUNDS, out, &t.err))
        fail_msg("%s", t.err.msg);
    for (int i = 0; i < N; i++) {
        assert_int_equal(out[i].outcome, i == 1 ? OUT_LAUNCH_ERROR : OUT_OK);
        assert_int_equal(out[i].nsamples, i == 1 ? 0 : ROUNDS);
        assert_int_equal(out[i].stats.n, i == 1 ? 0 : ROUNDS);
        result_free(&out[i]);
    }
    buf_free(&binary[0]);
    buf_free(&binary[1]);
    close_bench(&t);
}

/* -- without a kernel that runs -- */

/* A bench on the pretend device, and what its source says there. */
static struct bench_candidate pretend_candidate(struct trial *t, const char *says, struct buf *binary)
{
    struct buf text = { 0 };
    make_op(t, &copy, &pretend, 1, 1001);
    t->set.dev.l2 = 0; /* a small flush */
    buf_fmt(&text, "//null: time=5000\n%sKERNEL void try() { }\n", says);
    write_file("try.cu", buf_text(&text));
    buf_free(&text);
    op_free(t->op);
    if (op_load(in_dir("t.lua"), &t->op, &t->err))
        fail_msg("%s", t->err.msg);
    t->set.op = t->op;
    if (bench_open(&t->set, &t->bench, &t->facts, &t->err))
        fail_msg("%s", t->err.msg);
    return candidate(t, "FAULT=none", binary);
}

enum { TIMED = 3 + 1 + 10 }; /* launches of a candidate: verified, once on another problem; looked at; sampled */

/* The last timed launch is checked, as all are. */
static void what_goes_wrong_while_it_is_timed_is_found(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct trial t;
        char says[100];
        snprintf(says, sizeof says, "//null: after=%d\n//null: wrong\n", TIMED - 1 + more);
        struct bench_candidate c = pretend_candidate(&t, says, &t.binary);
        if (bench_run(t.bench, &c, (struct limits){ 0 }, &t.result, &t.err))
            fail_msg("%s", t.err.msg);
        assert_int_equal(t.result.outcome, more ? OUT_OK : OUT_WRONG);
        assert_int_equal(t.result.nsamples, more ? 10 : 0);
        assert_int_equal(t.result.stats.n, more ? 10 : 0);
        close_bench(&t);
    }
}

/* What no launch passes is found in an array of the code's, or the code is at fault. */
static void constants_are_filled(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct trial t;
        struct bench_candidate c = pretend_candidate(&t, "// float taps[9]\n", &t.binary);
        struct launch *l = t.op->variants->launches;
        int in = 0;
        while (t.op->args[in].kind != ARG_INPUT)
            in++;
        t.op->args[in].constant = way ? "tapes" : "taps"; /* a script could not say so for this device */
        for (int i = 0, n = l->nargs, to = 0; i < n; i++)
            if (l->args[i] == in)
                l->nargs--;
            else
                l->args[to++] = l->args[i];
        if (bench_run(t.bench, &c, (struct limits){ 0 }, &t.result, &t.err))
            fail_msg("%s", t.err.msg);
        assert_int_equal(t.result.outcome, way ? OUT_LAUNCH_ERROR : OUT_OK);
        assert_true(!way || strstr(t.result.reason, "no __constant__ array 'tapes'"));
        close_bench(&t);
    }
}

static void a_playoff_is_verified_too(void **state)
{
    (void)state;
    enum { ROUNDS = 8 };
    static const struct {
        int after;
        const char *fault;
        int rc;
        enum outcome outcome;
    } late[] = { { ROUNDS + 1, "wrong", 0, OUT_WRONG },
                 { ROUNDS + 2, "wrong", 0, OUT_OK },
                 { 3, "sticky", ERR_DEVICE, OUT_CRASH } };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        struct trial t;
        struct buf right = { 0 };
        struct result out[2] = { 0 };
        char says[100];
        snprintf(says, sizeof says, "//null: after=%d\n//null: %s\n", late[i].after, late[i].fault);
        struct bench_candidate c[2] = { { .config = { 0 } }, pretend_candidate(&t, says, &t.binary) };
        buf_str(&right, "cutuneN\nKERNEL void try() { }\n");
        c[0].config = c[1].config;
        c[0].binary = right.data;
        c[0].binary_bytes = right.len;
        assert_int_equal(bench_playoff(t.bench, c, 2, ROUNDS, out, &t.err), late[i].rc);
        assert_int_equal(out[0].outcome, OUT_OK);
        assert_int_equal(out[1].outcome, late[i].outcome);
        assert_true(out[1].outcome == OUT_OK || out[1].reason[0]);
        for (int k = 0; k < 2; k++)
            result_free(&out[k]);
        buf_free(&right);
        close_bench(&t);
    }
}

static void refused(const struct trial *t, int code, const char *says)
{
    struct bench *b = NULL;
    struct bench_facts facts;
    struct err err = { 0 };
    assert_int_equal(bench_open(&t->set, &b, &facts, &err), code);
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
    assert_null(b);
}

static void a_reference_that_adds_to_its_output_is_refused(void **state)
{
    (void)state;
    need_opencl();
    struct trial t;
    make_op(&t, &adds, &opencl, 0, 1001);
    refused(&t, ERR_INVALID, "gives another out when it is run again");
    close_bench(&t);
}

static void what_does_not_fit_is_told(void **state)
{
    (void)state;
    struct trial t;
    make_op(&t, &copy, &pretend, 1, 1 << 20);
    t.set.dev.max_alloc = 1 << 22; /* the buffer alone would fit */
    refused(&t, ERR_INVALID, "argument out takes 4194304 bytes");
    t.set.dev.max_alloc = 1 << 30;
    t.set.dev.memory = 3 * (1 << 22) - 1; /* out, what it should be, in */
    refused(&t, ERR_INVALID, "the problem takes 12582912 bytes");
    t.set.dev.memory = INT64_MAX - 1;
    t.set.dev.max_alloc = INT64_MAX;
    t.set.problem.size[0] = INT64_MAX / 8;
    refused(&t, ERR_INVALID, "the problem takes 9223372036854775807 bytes");
    t.set.problem.size[0] = INT64_MAX / 2;
    refused(&t, ERR_INVALID, "out");
    close_bench(&t);
}

static void what_is_missing_is_told(void **state)
{
    (void)state;
    struct trial t;
    make_op(&t, &copy, &pretend, 0, 1001);
    snprintf(t.set.dev.backend, sizeof t.set.dev.backend, "none");
    refused(&t, ERR_NOTFOUND, "no backend none");
    t.set.dev = pretend;
    t.set.home = sample_dir; /* no templates/ */
    refused(&t, ERR_NOTFOUND, "templates/numbers.h");
    t.set.dev.index = 7;
    refused(&t, ERR_NOTFOUND, "null:7");
    close_bench(&t);
}

static void a_bench_may_run_out_of_memory_anywhere(void **state)
{
    (void)state;
    struct trial t;
    make_op(&t, &copy, &pretend, 0, 1001);
    t.set.dev.l2 = 0; /* a small flush */
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        struct err err = { 0 };
        t.bench = NULL;
        mem_fail_at(nth);
        rc = bench_open(&t.set, &t.bench, &t.facts, &err);
        mem_fail_at(-1);
        assert_true(rc == 0 || t.bench == NULL);
        assert_true(rc == 0 || err.msg[0]);
        assert_true(nth > 0 || rc);
    }
    close_bench(&t);
}

/* What is expected comes from a command, for which each try has a folder of its own. */
static void ask_outside(struct trial *t, long nth)
{
    static char folder[PATH_ROOM];
    snprintf(folder, sizeof folder, "%s/outside-%ld", sample_dir, nth);
    assert_int_equal(mkdir(folder, 0700), 0);
    t->op->args[0].data.file = (struct data_file){ 0 };
    t->set.outside = (struct outside){ "copy() { cp \"$1\"/x.npy \"$1\"/out.npy; }; copy", folder, "cutune", 60 };
}

/* The same with numbers within bounds, indices, scalars, kernels that make inputs; with files, one of them of what is expected; with a reference outside. */
static void a_bench_with_data_may_run_out_of_memory_anywhere(void **state)
{
    (void)state;
    static const char files[] =
        "return op { name = 'f', problem = { size 'n' }, types = { T = { 'i8' } }, shapes = { { n = 4 } }, check = 'exact', "
        "args = { output('out', 'T', { 'n' }, { file = 'four.bin' }), input('x', 'T', { 'n' }, { file = 'four.bin' }), value 'n' "
        "}, "
        "variants = { { name = 'v', template = 'try.cu', launch = { kernel = 'try' } } }, defaults = { { variant = 'v' } } }";
    write_file("four.bin", "abcd");
    write_file("try.cu", "KERNEL void try(GLOBAL T *out, GLOBAL const T *x, int64 n) { }");
    write_file("files.lua", files);
    const char *const scripts[] = { SOURCE_DIR "/tests/cli/ops/spmv.lua", SOURCE_DIR "/tests/cli/ops/bounds.lua",
                                    SOURCE_DIR "/docs/examples/axpby.lua", in_dir("files.lua"), in_dir("files.lua") };
    const size_t n = sizeof scripts / sizeof *scripts;
    for (size_t i = 0; i < n; i++) {
        struct trial t = { .set = { .dev = pretend, .alive = count } };
        int rc = home_find(&t.set.home, &t.err) ?: op_load(scripts[i], &t.op, &t.err);
        if (rc)
            fail_msg("%s", t.err.msg);
        t.set.op = t.op;
        t.set.problem = t.op->shapes[0].problem;
        t.set.dev.l2 = 0;
        t.set.arg = &t.alive;
        rc = ERR_NOMEM;
        for (long nth = 0; rc == ERR_NOMEM; nth += i == n - 1 ? 12 : 1 + nth / 30) { /* a command takes its time */
            if (i == n - 1)
                ask_outside(&t, nth);
            t.err = (struct err){ 0 };
            t.bench = NULL;
            mem_fail_at(nth);
            rc = bench_open(&t.set, &t.bench, &t.facts, &t.err);
            mem_fail_at(-1);
            assert_true(rc == 0 || (!t.bench && *t.err.msg));
        }
        if (rc)
            fail_msg("%s: %s", scripts[i], t.err.msg);
        close_bench(&t);
    }
}

static int set_up(void **state)
{
    (void)state;
    struct err err = { 0 };
    setenv("CUTUNE_HOME", SOURCE_DIR, 1);
    have_opencl = !device_find("opencl", &opencl, &err);
    if (!have_opencl)
        print_message("no OpenCL, so no candidate is run: %s\n", err.msg);
    return make_dir(state) || device_find("null:0", &pretend, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_candidate_has_its_statistics),
        cmocka_unit_test(a_slow_one_is_cut),
        cmocka_unit_test(wrong_elements_are_found),
        cmocka_unit_test(a_step_outside_is_found),
        cmocka_unit_test(an_inout_begins_anew_each_time),
        cmocka_unit_test(an_exact_check_may_use_numbers),
        cmocka_unit_test(a_sum_may_round_where_it_must),
        cmocka_unit_test(what_a_partial_output_leaves_alone_is_right),
        cmocka_unit_test(close_is_not_too_close),
        cmocka_unit_test(outputs_are_told_apart),
        cmocka_unit_test(an_old_result_saves_no_work),
        cmocka_unit_test(a_playoff_times_each_in_each_round),
        cmocka_unit_test(what_goes_wrong_while_it_is_timed_is_found),
        cmocka_unit_test(constants_are_filled),
        cmocka_unit_test(a_playoff_is_verified_too),
        cmocka_unit_test(a_reference_that_adds_to_its_output_is_refused),
        cmocka_unit_test(what_does_not_fit_is_told),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(a_bench_may_run_out_of_memory_anywhere),
        cmocka_unit_test(a_bench_with_data_may_run_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, set_up, remove_dir);
}
