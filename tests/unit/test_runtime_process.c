/* Forks, several libraries and handles in one process, and the application's own allocator. */
#include <dlfcn.h>
#include <sys/wait.h>

#include "runtime_sample.h"

static void *const buffers[] = { (void *)0x10000000, (void *)0x20000000 };

/* ---- forks */

/* Whether a call was refused for the fork. */
static bool forked(int rc)
{
    return rc == CUTUNE_ERR_INVALID && strstr(cutune_error(), "opened before a fork");
}

/* In the child: the first step that does not go as the header says; 0 for none. */
static int child_steps(cutune *c, cutune_handle *h, const cutune_kernel *k)
{
    const int64_t sizes[] = { 1111, 113 };
    const cutune_problem problem = { sizeof problem, "transpose", "f32", sizes, 2 };
    const cutune_kernel *other = NULL;
    cutune_handle *attached_here = NULL;
    struct devspec spec = pretend();
    cutune_device dev = public_device(&spec);
    cutune_geometry g = { .size = sizeof g };
    cutune_param p = { .size = sizeof p };
    cutune_clear clear = { .size = sizeof clear };
    void *function = NULL;
    const bool fine[] = {
        forked(cutune_lookup(h, "transpose", "f32", sizes, 2, &other)),
        forked(cutune_lookup(h, "transpose", "i32", sizes, 2, &other)),
        forked(cutune_prefetch(h, &problem, 1)),
        forked(cutune_prefetch(h, NULL, 0)),
        forked(cutune_launch(k, NULL, buffers, 2)),
        forked(cutune_launch_in(k, NULL, buffers, 2, (void *)0x30000000, 1 << 20)),
        forked(cutune_kernel_function(k, 0, &function)),
        forked(cutune_kernel_geometry(k, 0, &g)),
        forked(cutune_kernel_param(k, 0, 0, &p)),
        forked(cutune_kernel_clear(k, 0, &clear)),
        forked(cutune_attach(c, &dev, &attached_here)),
        forked(cutune_attach_cuda(c, NULL, &attached_here)),
        forked(cutune_attach_opencl(c, &dev, &attached_here)),
        forked(cutune_handle_device(h, &dev)),
        forked(cutune_refresh(c, NULL)),
        forked(cutune_flush(c)),
        forked(cutune_each(c, never, NULL)),
        !cutune_kernel_fallback(k) && cutune_kernel_workspace(k) > 0,
        !other && !function && !attached_here,
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (!fine[i])
            return (int)i + 1;
    cutune_close(c);
    return 0;
}

/* The child opens its own. */
static int child_opens(const char *path, int64_t n)
{
    cutune *c = NULL;
    cutune_handle *h = NULL;
    const cutune_kernel *k = NULL;
    int changed = 0;
    const cutune_options o = { .size = sizeof o, .path = path };
    if (cutune_open_with(&o, &c) || attach_null(c, 0, &h) || try_find(h, 64, n, &k) || cutune_launch(k, NULL, buffers, 2))
        return 100;
    tune("a.db", (struct recipe){ .m = 64, .n = n });
    if (cutune_refresh(c, &changed) || changed != 1)
        return 101;
    cutune_close(c);
    return 0;
}

static int child_opens_only(const char *path)
{
    cutune *c = NULL;
    cutune_handle *h = NULL;
    const cutune_kernel *k = NULL;
    if (cutune_open(path, &c) || attach_null(c, 0, &h) || try_find(h, 1111, 113, &k) || cutune_launch(k, NULL, buffers, 2))
        return 1;
    cutune_close(c);
    return 0;
}

static void refuses_in_a_child(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    strcpy(path, in_dir("a.db"));
    #ifdef __SANITIZE_ADDRESS__ /* its allocator, unlike glibc's, may stay locked in a child that is made while another thread allocates */
    const int refresh_ms = 0;
#else
    const int refresh_ms = 1;
#endif
    cutune *c = open_pretend((cutune_options){ .capture = 1, .refresh_ms = refresh_ms });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 1111, 113);
    find(h, 64, 64);
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            int rc = i % 2 ? 0 : child_steps(c, h, k);
            if (i % 4 == 1)
                cutune_detach(h);
            _exit(rc ? rc : i < 4 ? child_opens(path, 65 + i) : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            fail_msg("the child ended with %d, signal %d", WEXITSTATUS(status), WTERMSIG(status));
    }
    assert_ptr_equal(find(h, 1111, 113), k); /* the parent goes on */
    find(h, 64, 99);
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    assert_int_equal(cutune_refresh(c, NULL), CUTUNE_OK);
    assert_is(find(h, 64, 65), CUTUNE_MATCH_EXACT, "TILE=32");
    cutune_close(c);
    assert_int_equal(ask_number("a.db", "SELECT sum(count) FROM wanted"), 2); /* the parent's alone */
}

/* What the parent's other threads do while it forks: each on its own, and all may be within SQLite. */
struct busy {
    cutune *c;
    cutune_handle *h;
    char path[PATH_ROOM];
    atomic_bool stop;
    atomic_int turns, failed;
};

static void *looks_up(void *arg)
{
    struct busy *b = arg;
    for (int64_t m = 1; !b->stop; m++, b->turns++) {
        const cutune_kernel *k;
        b->failed += try_find(b->h, m % 5000 + 1, 77, &k) != 0;
    }
    return NULL;
}

static void *looks_around(void *arg)
{
    struct busy *b = arg;
    for (; !b->stop; b->turns++)
        b->failed += cutune_refresh(b->c, NULL) || cutune_flush(b->c) || cutune_each(b->c, never, NULL);
    return NULL;
}

static void *opens_and_closes(void *arg)
{
    struct busy *b = arg;
    for (; !b->stop; b->turns++) {
        cutune *c = NULL;
        cutune_handle *h = NULL;
        const cutune_kernel *k;
        b->failed += cutune_open(b->path, &c) || attach_null(c, 0, &h) || try_find(h, 7, 7, &k);
        cutune_close(c);
    }
    return NULL;
}

/* A fork copies what a sanitizer notes of all memory: the plain build does the many. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FORKS = 15 };
#else
enum { FORKS = 60 };
#endif

static void forks_beside_busy_threads(void **state)
{
    (void)state;
    void *(*const work[])(void *) = { looks_up, looks_around, opens_and_closes };
    struct busy b = { .c = open_pretend((cutune_options){ .capture = 1 }) };
    pthread_t threads[3];
    b.h = attached(b.c);
    strcpy(b.path, in_dir("a.db"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work[i], &b), 0);
    for (int i = 0; i < FORKS; i++) {
        for (int at = b.turns; b.turns == at;)
            sched_yield();
        pid_t child = fork();
        if (child == 0) {
            alarm(120); /* else it would wait for ever */
            cutune_close(b.c);
            _exit(child_opens_only(b.path));
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            fail_msg("child %d ended with %d, signal %d", i, WEXITSTATUS(status), WTERMSIG(status));
    }
    b.stop = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(b.failed, 0);
    cutune_close(b.c);
}

static void step(int to, int from)
{
    char c = 0;
    assert_int_equal(write(to, &c, 1) + read(from, &c, 1), 2);
}

/* The child: closes what it inherited, opens its own, and must see what others write once its parent has closed, too. */
static int outlive(cutune *inherited, const char *path, int to, int from)
{
    cutune *c = NULL;
    cutune_handle *h = NULL;
    const cutune_kernel *k = NULL;
    cutune_close(inherited);
    if (cutune_open(path, &c) || attach_null(c, 0, &h))
        return 1;
    for (int n = 65; n < 68; n++) {
        if (try_find(h, 64, n, &k) || cutune_kernel_match(k) == CUTUNE_MATCH_EXACT)
            return 2;
        step(to, from);
        if (cutune_refresh(c, NULL) || try_find(h, 64, n, &k) || cutune_kernel_match(k) != CUTUNE_MATCH_EXACT)
            return 3;
    }
    cutune_close(c);
    return 0;
}

static void opens_its_own_in_a_child(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    int down[2], up[2], status;
    strcpy(path, in_dir("a.db"));
    assert_int_equal(pipe(down) | pipe(up), 0);
    cutune *c = open_pretend((cutune_options){ 0 });
    find(attached(c), 1111, 113);
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        _exit(outlive(c, path, up[1], down[0]));
    }
    close(up[1]), close(down[0]); /* a child that ends is noticed */
    for (int n = 65; n < 68; n++) {
        char ready;
        assert_int_equal(read(up[0], &ready, 1), 1);
        cutune_close(c);
        c = NULL;
        tune("a.db", (struct recipe){ .m = 64, .n = n });
        assert_int_equal(write(down[1], &ready, 1), 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(down[1]), close(up[0]);
}

/* ---- several of them */

static void keeps_handles_apart(void **state)
{
    (void)state;
    struct devspec other = pretend();
    other.max_threads = 16;
    cutune *c = open_pretend((cutune_options){ 0 });
    cutune_handle *one = attached(c), *two = attached(c), *weak = attached_to(c, &other);
    const cutune_kernel *k = find(one, 1111, 113), *same = find(two, 1111, 113), *none = NULL;
    assert_ptr_not_equal(k, same);
    assert_int_equal(try_find(weak, 1111, 113, &none), CUTUNE_ERR_NOTFOUND);
    cutune_detach(one);
    assert_int_equal(cutune_launch(same, NULL, buffers, 2), CUTUNE_OK);
    cutune_detach(weak);
    assert_ptr_equal(find(two, 1111, 113), same);
    cutune_close(c);
}

static void keeps_databases_apart(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    tune("b.db", (struct recipe){ .m = 1111, .n = 113, .tile = 2 });
    strcpy(path, in_dir("b.db"));
    cutune *a = open_pretend((cutune_options){ .refresh_ms = 5, .capture = 1 }), *again = open_pretend((cutune_options){ 0 }),
           *b = open_pretend((cutune_options){ .path = path, .refresh_ms = 5 });
    cutune_handle *in_a = attached(a), *in_b = attached(b), *in_again = attached(again);
    assert_is(find(in_a, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    assert_is(find(in_b, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=64");
    cutune_close(a);
    assert_is(find(in_again, 1111, 113), CUTUNE_MATCH_EXACT, "TILE=8");
    assert_is(find(in_b, 1111, 114), CUTUNE_MATCH_NEAR, "TILE=64");
    cutune_close(b);
    cutune_close(again);
}

#ifdef CUTUNE_LIBRARY
/* Calls of a library opened at run time; what a function is has to be believed. */
struct library {
    void *handle;
    int (*open)(const char *path, cutune **out);
    void (*close)(cutune *c);
    int (*attach)(cutune *c, const cutune_device *device, cutune_handle **out);
    int (*lookup)(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes, const cutune_kernel **out);
    const char *(*config)(const cutune_kernel *k);
    const char *(*error)(void);
    int (*set_allocator)(const cutune_allocator *a);
};

static void *symbol(const struct library *l, const char *name)
{
    void *at = dlsym(l->handle, name);
    if (!at)
        fail_msg("%s", dlerror());
    return at;
}

static struct library load_copy(const char *name)
{
    char command[1024];
    struct library l;
    snprintf(command, sizeof command, "cp '%s' '%s'", CUTUNE_LIBRARY, in_dir(name));
    assert_int_equal(system(command), 0);
    l.handle = dlopen(in_dir(name), RTLD_NOW | RTLD_LOCAL);
    if (!l.handle)
        fail_msg("%s", dlerror());
    *(void **)&l.open = symbol(&l, "cutune_open");
    *(void **)&l.close = symbol(&l, "cutune_close");
    *(void **)&l.attach = symbol(&l, "cutune_attach");
    *(void **)&l.lookup = symbol(&l, "cutune_lookup");
    *(void **)&l.config = symbol(&l, "cutune_kernel_config");
    *(void **)&l.error = symbol(&l, "cutune_error");
    *(void **)&l.set_allocator = symbol(&l, "cutune_set_allocator");
    return l;
}

static void lives_twice_in_a_process(void **state)
{
    (void)state;
    struct devspec spec = pretend();
    const cutune_device dev = public_device(&spec);
    const int64_t sizes[] = { 1111, 113 };
    struct library all[] = { load_copy("one.so"), load_copy("two.so") };
    cutune *c[2];
    assert_ptr_not_equal(all[0].open, all[1].open);
    for (int i = 0; i < 2; i++) {
        cutune_handle *h;
        const cutune_kernel *k;
        assert_int_equal(all[i].set_allocator(NULL), CUTUNE_OK); /* nothing of this one is open */
        assert_int_equal(all[i].open(in_dir("a.db"), &c[i]), CUTUNE_OK);
        assert_int_equal(all[i].attach(c[i], &dev, &h), CUTUNE_OK);
        assert_int_equal(all[i].lookup(h, "transpose", "f32", sizes, 2, &k), CUTUNE_OK);
        assert_non_null(strstr(all[i].config(k), "TILE=8"));
        assert_int_equal(all[i].lookup(h, "transpose", "f32", sizes, i, &k), CUTUNE_ERR_INVALID);
    }
    assert_non_null(strstr(all[0].error(), "not 0"));
    assert_non_null(strstr(all[1].error(), "not 1"));
    all[0].close(c[0]);
    dlclose(all[0].handle);
    pid_t child = fork(); /* what it hung on forks is gone with it */
    if (child == 0)
        _exit(0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    all[1].close(c[1]);
    dlclose(all[1].handle);
}
#else
static void lives_twice_in_a_process(void **state)
{
    (void)state;
    skip(); /* there is no shared library in this build */
}
#endif

/* ---- memory of the application's own */

enum { MARK = 0x6d61726b };

struct counts {
    atomic_long blocks, calls;
    atomic_bool foreign;
};

struct block {
    max_align_t mark; /* room, and the mark in it */
};

static void *count_alloc(void *arg, size_t bytes)
{
    struct counts *n = arg;
    struct block *b = malloc(sizeof *b + bytes);
    if (!b)
        return NULL;
    memcpy(b, &(int){ MARK }, sizeof(int));
    atomic_fetch_add(&n->blocks, 1);
    atomic_fetch_add(&n->calls, 1);
    return b + 1;
}

static bool is_ours(const void *p)
{
    int mark;
    memcpy(&mark, (const struct block *)p - 1, sizeof mark);
    return mark == MARK;
}

static void *count_resize(void *arg, void *p, size_t bytes)
{
    struct counts *n = arg;
    if (!p)
        return count_alloc(arg, bytes);
    if (!is_ours(p))
        atomic_store(&n->foreign, true);
    atomic_fetch_add(&n->calls, 1);
    struct block *b = realloc((struct block *)p - 1, sizeof *b + bytes);
    return b ? b + 1 : NULL;
}

static void count_free(void *arg, void *p)
{
    struct counts *n = arg;
    if (!is_ours(p))
        atomic_store(&n->foreign, true);
    atomic_fetch_sub(&n->blocks, 1);
    free((struct block *)p - 1);
}

static void takes_memory_where_it_is_told(void **state)
{
    (void)state;
    struct counts n = { 0 };
    cutune_allocator a = { sizeof a, count_alloc, count_resize, count_free, &n }, half = a;
    half.resize = NULL;
    assert_int_equal(cutune_set_allocator(&half), CUTUNE_ERR_INVALID);
    assert_says("all of alloc, resize and free, or none");
    assert_int_equal(cutune_set_allocator(&a), CUTUNE_OK);
    cutune *c = open_pretend((cutune_options){ .capture = 1, .refresh_ms = 1 });
    cutune_handle *h = attached(c);
    const cutune_kernel *k = find(h, 64, 64);
    assert_true(is_ours(c) && is_ours(h));
    assert_true(atomic_load(&n.blocks) > 10);
    assert_int_equal(cutune_launch(k, NULL, buffers, 2), CUTUNE_OK);
    assert_int_equal(cutune_set_allocator(NULL), CUTUNE_ERR_INVALID);
    assert_says("a database is open");
    cutune_close(c);
    assert_int_equal(atomic_load(&n.blocks), 0);
    assert_false(atomic_load(&n.foreign));
    long calls = atomic_load(&n.calls);
    assert_int_equal(cutune_open(in_dir("none.db"), &c), CUTUNE_ERR_NOTFOUND);
    assert_int_equal(atomic_load(&n.blocks), 0);
    assert_true(atomic_load(&n.calls) > calls);
    calls = atomic_load(&n.calls);
    assert_int_equal(cutune_set_allocator(NULL), CUTUNE_OK);
    cutune_close(open_pretend((cutune_options){ 0 }));
    assert_int_equal(atomic_load(&n.calls), calls);
    const cutune_allocator none = { .size = sizeof none };
    assert_int_equal(cutune_set_allocator(&none), CUTUNE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_pretend(refuses_in_a_child),
        with_pretend(forks_beside_busy_threads),
        with_pretend(opens_its_own_in_a_child),
        with_pretend(keeps_handles_apart),
        with_pretend(keeps_databases_apart),
        with_pretend(lives_twice_in_a_process),
        with_pretend(takes_memory_where_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
