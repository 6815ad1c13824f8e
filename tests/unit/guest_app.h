/* An application that launches kernels of ours, for the tests of src/device/backend.h. */
#ifndef GUEST_APP_H
#define GUEST_APP_H

#include <pthread.h>

#include "base/mem.h"
#include "device/cuda_part.h"
#include "device/null.h"
#include "device/opencl_part.h"
#include "unit.h"

#define FAILS(with, words, call)                                                                                                   \
    do {                                                                                                                           \
        err = (struct err){ 0 };                                                                                                   \
        assert_int_equal(call, with);                                                                                              \
        assert_int_equal(err.code, with);                                                                                          \
        if (!strstr(err.msg, words))                                                                                               \
            fail_msg("'%s' is not in: %s", words, err.msg);                                                                        \
    } while (0)

static _Thread_local struct err err;

enum { N = 3000, BLOCK = 64, BYTES = N * 4, TOTAL_AT = 3 * GUEST_ALIGN, WORKSPACE = TOTAL_AT + GUEST_ALIGN };

/* The application, and what it attached to; backend null: there is no device. */
struct app {
    const struct backend *backend;
    struct guest *guest;
    struct devspec spec;
    void *handle;     /* what was attached to */
    void *streams[2]; /* of its context */
    const char *format;
    struct buf image;
    struct guest_code *code;
    void *(*make)(struct app *a, size_t bytes); /* device memory */
    void (*drop)(struct app *a, void *buffer);
    void (*put)(struct app *a, void *stream, void *to, const void *from, size_t bytes); /* in stream order; waits */
    void (*get)(struct app *a, void *stream, void *to, void *from, size_t bytes);
    const struct opencl_api *cl;
    cl_context context;
    const struct cuda_api *cu;
};

static inline struct guest_param buffer(int index)
{
    return (struct guest_param){ .kind = GUEST_BUFFER, .index = index };
}

static inline struct guest_param number(uint32_t v)
{
    struct guest_param p = { .kind = GUEST_VALUE, .bytes = sizeof v };
    memcpy(p.value, &v, sizeof v);
    return p;
}

static inline struct guest_param part(int64_t offset, int64_t room)
{
    return (struct guest_param){ .kind = GUEST_WORKSPACE, .offset = offset, .room = room };
}

/* A kernel's work with room for what it points to. */
struct job {
    struct guest_work work;
    struct guest_launch launches[2];
    struct guest_param params[2][4];
    struct guest_clear clears[2];
};

static inline struct guest_launch launch_of(struct app *a, const char *kernel, const struct guest_param *params, int n)
{
    struct guest_launch l = {
        .kernel = kernel, .geometry = { { (N + BLOCK - 1) / BLOCK, 1, 1 }, { BLOCK, 1, 1 } }, .nparams = n, .params = params
    };
    OK(guest_function(a->guest, a->code, &l, NULL, &err));
    assert_non_null(l.function);
    assert_non_null(l.handle);
    return l;
}

static inline int get_function(struct guest *g, struct guest_code *code, const char *kernel, int64_t shared,
                               const struct guest_param *params, int n)
{
    struct guest_launch l = { .kernel = kernel, .geometry.shared = shared, .nparams = n, .params = params };
    return guest_function(g, code, &l, NULL, &err);
}

/* out = in + by for the first n; 20 bytes from byte `clear_at` of out are zeroed before. */
static inline void make_add(struct app *a, uint32_t by, uint32_t n, int64_t clear_at, struct job *j)
{
    struct guest_param params[] = { buffer(0), buffer(1), number(by), number(n) };
    memcpy(j->params[0], params, sizeof params);
    j->launches[0] = launch_of(a, "add", j->params[0], 4);
    j->clears[0] = (struct guest_clear){ .index = 0, .offset = clear_at, .bytes = 20 };
    j->work = (struct guest_work){ .nclears = 1, .nlaunches = 1, .nbuffers = 2, .clears = j->clears, .launches = j->launches };
}

/* out = 2 * in + the sum of in, through a workspace; out and the sum are cleared before. */
static inline void make_sum(struct app *a, struct job *j)
{
    struct guest_param first[] = { part(0, BYTES), part(TOTAL_AT, 4), buffer(1), number(N) };
    struct guest_param second[] = { buffer(0), part(0, BYTES), part(TOTAL_AT, 4), number(N) };
    memcpy(j->params[0], first, sizeof first);
    memcpy(j->params[1], second, sizeof second);
    j->launches[0] = launch_of(a, "twice", j->params[0], 4);
    j->launches[1] = launch_of(a, "collect", j->params[1], 4);
    j->clears[0] = (struct guest_clear){ .workspace = true, .offset = TOTAL_AT, .bytes = 4 };
    j->clears[1] = (struct guest_clear){ .index = 0, .bytes = BYTES };
    j->work = (struct guest_work){
        .nclears = 2, .nlaunches = 2, .nbuffers = 2, .clears = j->clears, .launches = j->launches, .workspace = WORKSPACE
    };
}

struct thread {
    pthread_t id;
    struct app *a;
    const struct job *job;
    int number, failed, wrong;
};

/* Each allocation fails in turn: opening, loading, a function. */
static inline void memory_runs_out(void **state)
{
    struct app *a = *state;
    if (!a->backend)
        skip();
    const struct guest_param params[] = { buffer(0), buffer(1), number(1), number(N) };
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        err = (struct err){ 0 };
        struct devspec spec;
        struct guest *g = NULL;
        struct guest_code *code;
        struct guest_launch l = { .kernel = "add", .nparams = 4, .params = params };
        mem_fail_at(nth);
        rc = guest_open(a->backend, a->handle, &spec, &g, &err);
        if (!rc)
            rc = guest_load(g, a->image.data, a->image.len, a->format, &code, &err);
        if (!rc)
            rc = guest_function(g, code, &l, NULL, &err);
        mem_fail_at(-1);
        guest_close(g);
        if (rc)
            assert_int_equal(rc, ERR_NOMEM);
        assert_true(nth < 50);
    }
}

#endif
