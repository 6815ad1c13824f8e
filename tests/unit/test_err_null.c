/* Each call returns the same error code if the caller passes a null err. */
#include "device/device.h"
#include "measure/bench.h"
#include "op/load.h"
#include "sample_op.h"
#include "search/search.h"
#include "source/source.h"
#include "source/template.h"
#include "space/space.h"
#include "store/store.h"
#include "tune/tune.h"
#include "unit.h"
#include "worker/wire.h"

/* `call` names its err `e`. */
#define SAME(call)                                                                                                                 \
    do {                                                                                                                           \
        struct err err = { 0 }, *e = &err;                                                                                         \
        int told = (call);                                                                                                         \
        e = NULL;                                                                                                                  \
        int untold = (call);                                                                                                       \
        if (told >= 0 || untold != told || err.code != told || !err.msg[0])                                                        \
            fail_msg("%s: %d with an err that says %d, '%s'; %d without", #call, told, err.code, err.msg, untold);                 \
    } while (0)

static const char *written(const char *name, const char *text)
{
    write_file(name, text);
    return in_dir(name);
}

static void expressions(void **state)
{
    (void)state;
    const struct scope scope = { .names = (const char *const[]){ "n" }, .n = 1 };
    const struct val zero = val_int(0), word = val_str("w");
    struct expr *x;
    struct val v;
    int64_t i;
    bool b;
    SAME(expr_compile("n +", &scope, &x, e));
    assert_int_equal(expr_compile("1 // n", &scope, &x, NULL), 0);
    SAME(expr_eval(x, &zero, &v, e));
    SAME(expr_int(x, &word, &i, e));
    SAME(expr_bool(x, &zero, &b, e));
    expr_free(x);
}

static void plans(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s);
    struct plan *plan;
    struct config config;
    struct problem prob = { { (int64_t)1 << 40, (int64_t)1 << 40, 0 } };
    static const struct devspec dev = { .backend = "null" };
    struct val slots[MAX_SLOTS];
    struct geometry g;
    int64_t bytes;
    double a, b;
    SAME(problem_parse(op, "m=0", &prob, e));
    SAME(config_parse(op, "tile", "NONE=1", &config, e));
    SAME(config_parse(op, "none", "", &config, e));
    assert_int_equal(plan_new(op, -1, &plan, NULL), 0);
    plan_slots(plan, &prob, 0, &dev, NULL, slots);
    SAME(plan_geometry(plan, 0, slots, &g, e));
    SAME(plan_geometry(plan, 7, slots, &g, e));
    SAME(plan_arg_bytes(plan, 0, slots, &bytes, e));
    SAME(plan_work(plan, slots, &a, &b, e));
    plan_free(plan);
    op->work_bytes = "nobody";
    SAME(plan_new(op, -1, &plan, e));
    sample_op(&s);
    s.where[0] = "1 +";
    SAME(plan_new(op, 0, &plan, e));
    op->name = "2d";
    SAME(op_check(op, e));
}

static void bytes_from_others(void **state)
{
    (void)state;
    struct sample s;
    struct op *op = sample_op(&s), *got;
    struct message message;
    struct task task;
    struct frame f;
    struct cursor c;
    SAME((c = cursor_on("\x99", 1), op_get(&c, false, &got, e)));
    SAME((c = cursor_on("\x99", 1), message_get(F_RESULT, &c, op, &message, e)));
    SAME((c = cursor_on("\x99", 1), task_get(&c, &task, e)));
    SAME(frame_take("\xff\xff\xff\xff", 4, &f, e));
}

static void files(void **state)
{
    (void)state;
    struct buf text = { 0 };
    struct store *store;
    struct op *op = NULL;
    const char *home;
    char below[] = "/dev/null/a/b";
    char *no_database = strdup(written("text.db", "no database, but a text that is longer than its header, to be sure of it: "
                                                  "one hundred bytes are what SQLite reads first"));
    SAME(file_read("/no/such/file", 10, &text, e));
    SAME(make_folders(below, e));
    SAME(store_open("/no/such/file.db", STORE_READ, &store, e));
    SAME(store_open(no_database, STORE_READ, &store, e));
    SAME(store_open(no_database, STORE_WRITE, &store, e));
    char database[256];
    snprintf(database, sizeof database, "%s/new.db", sample_dir);
    assert_int_equal(store_open(database, STORE_WRITE, &store, NULL), 0);
    SAME(store_op(store, "none", &op, e));
    store_close(store);
    SAME(op_load("no_such_op", &op, e));
    SAME(op_load("/no/such/op.lua", &op, e));
    SAME(op_load(written("a.lua", "x ="), &op, e));
    SAME(op_load(written("b.lua", "return 5"), &op, e));
    SAME(op_load(written("c.lua", "return op { name = 'c' }"), &op, e));
    SAME(template_fill("t", "//@ x =\n", NULL, 0, &text, e));
    SAME(template_fill("t", "$(nil + 1)", NULL, 0, &text, e));
    char *before = strdup(getenv("CUTUNE_HOME"));
    setenv("CUTUNE_HOME", "/no/such/home", 1);
    SAME(home_find(&home, e));
    setenv("CUTUNE_HOME", before, 1);
    free(before);
    free(no_database);
    buf_free(&text);
}

static struct op *loaded(const char *reference, const char *where)
{
    char script[2000];
    struct err err;
    struct op *op;
    written("ref.cu", reference);
    written("copy.cu", "KERNEL void copy(GLOBAL T *out, GLOBAL const T *in, int64 n) {}\n");
    snprintf(script, sizeof script,
             "return op { name = 'c', problem = { size 'n' }, types = { T = { 'f32' } }, check = 'exact',\n"
             "args = { output('out', 'T', { 'n' }), input('inp', 'T', { 'n' }), value 'n' }, shapes = { { n = 100 } },\n"
             "reference = { template = 'ref.cu', launch = { kernel = 'ref', grid = 'ceildiv(n, 64)', block = 64 } },\n"
             "variants = { { name = 'v', template = 'copy.cu', params = { { 'B', 1, 2 } }, where = { '%s' },\n"
             "launch = { kernel = 'copy', grid = 'ceildiv(n, 64)', block = 64 } } }, defaults = { { variant = 'v' } } }",
             where);
    if (op_load(written("op.lua", script), &op, &err))
        fail_msg("%s", err.msg);
    return op;
}

/* The reference's failures had their context put in front of them, and came back as 0. */
static void runs(void **state)
{
    (void)state;
    struct devspec dev;
    struct space *space;
    struct bench *bench;
    struct bench_facts facts;
    struct search *search;
    struct buf text = { 0 };
    const struct problem prob = { { 100 } }, huge = { { INT64_C(1) << 55 } };
    SAME(device_find("null:99", &dev, e));
    SAME(device_find("no device", &dev, e));
    assert_int_equal(device_find("null:0", &dev, NULL), 0);

    struct op *op =
        loaded("//null: compile-error\nKERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) {}\n", "1 // (2 - B) > 0");
    struct task setup = { .home = getenv("CUTUNE_HOME"), .op = op, .problem = prob, .dev = dev };
    SAME(space_new(op, &prob, 0, &dev, NULL, &space, e));
    SAME(bench_open(&setup, &bench, &facts, e));
    SAME(bench_fits(op, &huge, 0, &dev, e));
    op_free(op);

    op = loaded("//@ error('no')\nKERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) {}\n", "B > 0");
    setup.op = op;
    SAME(source_render(op, NULL, 0, &dev, &text, e));
    SAME(bench_open(&setup, &bench, &facts, e));
    op_free(op);

    op = loaded("KERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) {}\n", "B > 0");
    setup.op = op;
    setup.home = "/no/such/home"; /* the service kernels are there, which an argument needs */
    SAME(bench_open(&setup, &bench, &facts, e));
    setup.problem = huge;
    SAME(bench_open(&setup, &bench, &facts, e));

    assert_int_equal(space_new(op, &prob, 0, &dev, NULL, &space, NULL), 0);
    SAME(search_open(SOURCE_DIR, "no_such", space, 1, NULL, &search, e));
    SAME(search_open(SOURCE_DIR, written("s.lua", "x ="), space, 1, NULL, &search, e));
    SAME(search_open(SOURCE_DIR, "a b", space, 1, NULL, &search, e));
    space_free(space);

    char database[256];
    struct store *store;
    struct tune_report report;
    const struct tune_options opt = { .home = getenv("CUTUNE_HOME"), .strategy = "no_such" };
    snprintf(database, sizeof database, "%s/run.db", sample_dir);
    assert_int_equal(store_open(database, STORE_WRITE, &store, NULL), 0);
    SAME(tune_run(op, &prob, 0, &dev, store, &opt, &report, e));
    store_close(store);
    op_free(op);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions), cmocka_unit_test(plans), cmocka_unit_test(bytes_from_others),
        cmocka_unit_test(files),       cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
