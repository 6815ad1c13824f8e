/* The pretend device, and the choice of a device by the user's word. */
#include <signal.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "device/null.h"
#include "unit.h"

static const struct backend *const be = &null_backend;
static struct err err;

/* A pretend device with one source on it. */
struct rig {
    struct devspec spec;
    struct device *dev;
    struct compiler *compiler;
    struct guest_code *module;
    struct buf binary, log;
};

static int rig_up(struct rig *r, const char *source)
{
    *r = (struct rig){ 0 };
    return device_find("null:1", &r->spec, &err)
        ?: be->compiling->open(&r->spec, &r->compiler, &err)
        ?: be->compiling->compile(r->compiler, &(struct compile_job){ .source = source }, &r->binary, NULL, &r->log, &err)
        ?: device_open(&r->spec, &r->dev, &err)
        ?: device_load(r->dev, r->binary.data, r->binary.len, &r->module, &err);
}

static void rig_down(struct rig *r)
{
    device_unload(r->dev, r->module);
    device_close(r->dev);
    be->compiling->close(r->compiler);
    buf_free(&r->binary);
    buf_free(&r->log);
}

static const struct geometry shape = { .grid = { 7, 1, 1 }, .block = { 32, 8, 1 } };

static int launch(struct rig *r, const char *name, const struct geometry *g, const struct karg *args, int nargs)
{
    struct kernel *k;
    return device_kernel(r->dev, r->module, name, g->shared, &k, NULL, &err) ?: device_launch(r->dev, k, g, args, nargs, &err);
}

static double time_of(struct rig *r, const char *name, const struct geometry *g)
{
    double ns = -1;
    assert_int_equal(device_span_begin(r->dev, 0, &err), 0);
    assert_int_equal(launch(r, name, g, NULL, 0), 0);
    assert_int_equal(device_span_end(r->dev, 0, &err), 0);
    assert_int_equal(device_sync(r->dev, &err), 0);
    assert_int_equal(device_span_ns(r->dev, 0, &ns, &err), 0);
    return ns;
}

static void time_is_a_function(void **state)
{
    (void)state;
    struct rig a, b, c, told;
    assert_int_equal(rig_up(&a, "void f(); void g();"), 0);
    assert_int_equal(rig_up(&b, "void f(); void g();"), 0);
    assert_int_equal(rig_up(&c, "void f(); void g(); "), 0);
    assert_int_equal(rig_up(&told, "void f();\n  //null: time=12345\n"), 0);
    struct geometry other = shape;
    other.grid[2] = 2;
    double t = time_of(&a, "f", &shape);
    assert_true(t >= 1e3 && t <= 1e6);
    assert_true(time_of(&a, "f", &shape) == t);
    assert_true(time_of(&b, "f", &shape) == t);
    assert_true(time_of(&c, "f", &shape) != t);
    assert_true(time_of(&a, "g", &shape) != t);
    assert_true(time_of(&a, "f", &other) != t);
    assert_true(time_of(&told, "f", &shape) == 12345);
    assert_int_equal(launch(&a, "absent", &shape, NULL, 0), ERR_NOTFOUND);
    other.grid[1] = 65536;
    assert_int_equal(launch(&a, "f", &other, NULL, 0), ERR_UNSUPPORTED);
    other = (struct geometry){ .grid = { 1, 1, 1 }, .block = { 64, 32, 1 } };
    assert_int_equal(launch(&a, "f", &other, NULL, 0), ERR_UNSUPPORTED);
    rig_down(&a);
    rig_down(&b);
    rig_down(&c);
    rig_down(&told);
}

static void memory_is_real(void **state)
{
    (void)state;
    struct rig r;
    assert_int_equal(rig_up(&r, ""), 0);
    struct memory *m, *n, *view;
    unsigned char bytes[8];
    assert_int_equal(device_alloc(r.dev, 10000, &m, &err), 0);
    assert_int_equal(device_alloc(r.dev, 8, &n, &err), 0);
    assert_int_equal(device_fill(r.dev, m, 0, 10000, 7, &err), 0);
    assert_int_equal(device_view(r.dev, m, 4096, 8, &view, &err), 0);
    assert_int_equal(device_write(r.dev, view, 2, "abc", 3, &err), 0);
    assert_int_equal(device_copy(r.dev, n, view, 8, &err), 0);
    assert_int_equal(device_read(r.dev, bytes, n, 0, 8, &err), 0);
    assert_memory_equal(bytes, "\7\7abc\7\7\7", 8);
    assert_int_equal(device_fill(r.dev, view, 8, 1, 0, &err), ERR_INVALID);
    assert_int_equal(device_view(r.dev, m, 4097, 8, &view, &err), ERR_INVALID);
    assert_int_equal(device_alloc(r.dev, INT64_MAX, &view, &err), ERR_NOMEM);
    assert_int_equal(device_load(r.dev, "garbage", 7, &r.module, &err), ERR_INVALID);
    device_free(r.dev, view);
    device_free(r.dev, m);
    device_free(r.dev, n);
    rig_down(&r);
}

static void misbehaves_as_told(void **state)
{
    (void)state;
    struct rig r;
    assert_int_equal(rig_up(&r, "\n//null: compile-error\n"), ERR_INVALID);
    assert_true(strstr(r.log.data, "error"));
    rig_down(&r);

    assert_int_equal(rig_up(&r, "f // not //null: launch-error\n"), 0);
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), 0);
    rig_down(&r);
    assert_int_equal(rig_up(&r, "f\n//null: launch-error\n"), 0);
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), ERR_UNSUPPORTED);
    assert_int_equal(device_sync(r.dev, &err), 0);
    rig_down(&r);

    struct memory *m;
    assert_int_equal(rig_up(&r, "f\n//null: sticky"), 0);
    assert_int_equal(device_alloc(r.dev, 16, &m, &err), 0);
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), 0);
    assert_int_equal(device_sync(r.dev, &err), ERR_DEVICE);
    assert_int_equal(device_fill(r.dev, m, 0, 16, 0, &err), ERR_DEVICE);
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), ERR_DEVICE);
    device_free(r.dev, m);
    rig_down(&r);
}

static uint64_t differences(struct rig *r, struct memory *m)
{
    uint64_t found = 99;
    const struct karg arg = { .memory = m };
    assert_int_equal(device_fill(r->dev, m, 0, 8, 0, &err), 0);
    assert_int_equal(launch(r, "check_equal", &shape, &arg, 1), 0);
    assert_int_equal(device_read(r->dev, &found, m, 0, 8, &err), 0);
    return (uint32_t)found; /* how many; the other half says where */
}

/* The candidate is one module, the service kernels that check it another. */
static void wrong_shows_until_another_launch(void **state)
{
    (void)state;
    struct rig r;
    assert_int_equal(rig_up(&r, "check_equal"), 0);
    const char wrong[] = "cutuneN\nf\n//null: wrong\n", right[] = "cutuneN\nf\n";
    struct guest_code *service = r.module, *candidate, *other;
    struct memory *m;
    assert_int_equal(device_alloc(r.dev, 8, &m, &err), 0);
    assert_int_equal(device_load(r.dev, wrong, strlen(wrong), &candidate, &err), 0);
    assert_int_equal(differences(&r, m), 0);
    r.module = candidate;
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), 0);
    r.module = service;
    assert_int_equal(differences(&r, m), 1);
    assert_int_equal(differences(&r, m), 1);
    assert_int_equal(device_load(r.dev, right, strlen(right), &other, &err), 0);
    r.module = other;
    assert_int_equal(launch(&r, "f", &shape, NULL, 0), 0);
    r.module = service;
    assert_int_equal(differences(&r, m), 0);
    device_unload(r.dev, other);
    device_unload(r.dev, candidate);
    device_free(r.dev, m);
    rig_down(&r);
}

/* How a child that does the deed ends: its signal, 0 for a plain end. One that should hang is ended soon, the others long after any
 * machine is done. */
static int end_of(const char *source, unsigned patience_s)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        alarm(patience_s);
        struct rig r;
        int rc = rig_up(&r, source) || launch(&r, "f", &shape, NULL, 0) || device_sync(r.dev, &err);
        _exit(rc ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

enum { SOON = 1, LATE = 300 }; /* s */

static void ends_as_told(void **state)
{
    (void)state;
    assert_int_equal(end_of("f\n", LATE), 0);
    assert_int_equal(end_of("f\n//null: delay=20\n", LATE), 0);
    assert_int_equal(end_of("f\n//null: delay=60000\n", SOON), SIGALRM);
    assert_int_equal(end_of("f\n//null: crash-compile\n", LATE), SIGABRT);
    assert_int_equal(end_of("f\n//null: crash\n", LATE), SIGABRT);
    assert_int_equal(end_of("f\n//null: hang-compile\n", SOON), SIGALRM);
    assert_int_equal(end_of("f\n//null: hang\n", SOON), SIGALRM);
}

static void memory_runs_out(void **state)
{
    (void)state;
    int rc = ERR_NOMEM;
    long nth = 0;
    for (; rc; nth++) {
        struct rig r = { 0 };
        struct memory *m = NULL, *view = NULL;
        mem_fail_at(nth);
        rc = rig_up(&r, "f")
            ?: device_alloc(r.dev, 5000, &m, &err)
            ?: device_view(r.dev, m, 4096, 8, &view, &err)
            ?: launch(&r, "f", &shape, NULL, 0);
        mem_fail_at(-1);
        assert_true(rc == 0 || rc == ERR_NOMEM);
        if (r.dev) {
            device_free(r.dev, view);
            device_free(r.dev, m);
        }
        rig_down(&r);
    }
    assert_true(nth > 6);
}

static void a_word_finds_a_device(void **state)
{
    (void)state;
    struct devspec d;
    assert_int_equal(device_find("null", &d, &err), 0);
    assert_int_equal(d.index, 0);
    assert_int_equal(device_find("null:1", &d, &err), 0);
    assert_string_equal(d.backend, "null");
    assert_int_equal(d.index, 1);
    assert_int_equal(device_find("null:2", &d, &err), ERR_NOTFOUND);
    assert_non_null(strstr(err.msg, "null:2"));
    assert_non_null(strstr(err.msg, "null:0 is Pretend device"));
    static const char *const bad[] = { "",        ":",       "nul",     "nulll",      "null:", "null:x",
                                       "null:0x", "null:-1", "null: 1", "null:99999", "gpu",   ":0" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(device_find(bad[i], &d, &err), ERR_INVALID);
        assert_non_null(strstr(err.msg, bad[i]));
    }
    /* "null" is never chosen by itself */
    if (device_find(NULL, &d, &err) == 0)
        assert_string_not_equal(d.backend, "null");
    else
        assert_non_null(strstr(err.msg, "opencl: "));

    assert_ptr_equal(backend_find("cuda"), &cuda_backend);
    assert_null(backend_find("cud"));
    assert_null(backend_at(-1));
    int n = 0;
    while (backend_at(n)) {
        assert_ptr_equal(backend_find(backend_at(n)->name), backend_at(n));
        n++;
    }
    assert_int_equal(n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_as_told), /* forks: before any driver has threads */
        cmocka_unit_test(time_is_a_function), cmocka_unit_test(memory_is_real),
        cmocka_unit_test(misbehaves_as_told), cmocka_unit_test(wrong_shows_until_another_launch),
        cmocka_unit_test(memory_runs_out),    cmocka_unit_test(a_word_finds_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
