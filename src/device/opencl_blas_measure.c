/* CLBlast beside kernels: its calls on a queue of ours. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/opencl_blas_api.h"

static struct {
#define X(name, parameters) cl_int(*name) parameters;
    CLBLAST_FUNCTIONS(X, S, float)
    CLBLAST_FUNCTIONS(X, D, double)
#undef X
} libclblast;

static int load(void **out, struct err *err)
{
    static void *library;
    const char *missing = NULL;
    if (!library)
        library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ERR_UNSUPPORTED, "no libclblast.so.1 is here");
#define X(name, parameters)                                                                                                        \
    if (!library_find(library, CLBLAST_NAME(name), &libclblast.name))                                                              \
        missing = CLBLAST_NAME(name);
    CLBLAST_FUNCTIONS(X, S, float)
    CLBLAST_FUNCTIONS(X, D, double)
#undef X
    *out = library;
    return missing ? err_set(err, ERR_UNSUPPORTED, "libclblast.so.1 lacks %s", missing) : 0;
}

/* It does not tell, but its file does: libclblast.so.1.5.3. */
static void version_of(void *library, char out[LIBRARY_VERSION])
{
    void *p = dlsym(library, "CLBlastSgemm");
    char real[PATH_MAX];
    Dl_info info;
    const char *at = p && dladdr(p, &info) && realpath(info.dli_fname, real) ? strstr(real, ".so.") : NULL;
    snprintf(out, LIBRARY_VERSION, "%.*s", LIBRARY_VERSION - 1, at ? at + 4 : "1");
}

/* Codes of its own are refusals; others are OpenCL's. */
static int blast_check(cl_int status, struct err *err, const char *call)
{
    return status > -1000 ? opencl_check(status, err, call)
                          : err_set(err, ERR_UNSUPPORTED, "%s: CLBlast refuses it, status %d", call, (int)status);
}

static int op_of(bool transposed)
{
    return transposed ? CLBLAST_TRANSPOSED : CLBLAST_AS_IT_IS;
}

#define CLBLAST_CALL(letter, real)                                                                                                 \
    static cl_int call_##letter(const struct library_call *c, cl_command_queue queue, cl_event *event)                             \
    {                                                                                                                              \
        const struct peer_values *v = &c->values;                                                                                  \
        const int a_op = op_of(v->t[0]), b_op = op_of(v->t[1]);                                                                    \
        const size_t m = (size_t)v->m, n = (size_t)v->n, k = (size_t)v->k;                                                         \
        const size_t lda = (size_t)v->ld[0], ldb = (size_t)v->ld[1], ldc = (size_t)v->ld[2];                                       \
        cl_mem a = c->memory[0]->at, b = c->memory[1] ? c->memory[1]->at : NULL, to = c->memory[2]->at;                            \
        if (c->call == CALL_GEAM) /* by the rows and columns of a */                                                               \
            return libclblast.CLBLAST_COPY(letter)(CLBLAST_BY_COLUMNS, a_op, v->t[0] ? n : m, v->t[0] ? m : n, (real)v->alpha, a,  \
                                                   0, lda, to, 0, ldc, &queue, event);                                             \
        if (c->call == CALL_DOT)                                                                                                   \
            return libclblast.CLBLAST_DOT(letter)(n, to, 0, a, 0, 1, b, 0, 1, &queue, event);                                      \
        return libclblast.CLBLAST_GEMM(letter)(CLBLAST_BY_COLUMNS, a_op, b_op, m, n, k, (real)v->alpha, a, 0, lda, b, 0, ldb,      \
                                               (real)v->beta, to, 0, ldc, &queue, event);                                          \
    }
CLBLAST_CALL(S, float)
CLBLAST_CALL(D, double)

int opencl_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err)
{
    const struct dtype *t = what->type[2];
    void *library = NULL;
    (void)d;
    if (what->library != LIBRARY_CLBLAST)
        return err_set(err, ERR_NOTFOUND, "it is no library for OpenCL devices");
    if (strcmp(t->name, "f32") && strcmp(t->name, "f64"))
        return err_set(err, ERR_UNSUPPORTED, "no %s of it is measured", t->name);
    for (int i = 0; i < 2; i++)
        if (what->type[i] && what->type[i] != t)
            return err_set(err, ERR_UNSUPPORTED, "all must be of one type");
    if (what->mode)
        return err_set(err, ERR_UNSUPPORTED, "it rounds no inputs");
    int rc = load(&library, err);
    if (rc)
        return rc;
    struct called *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    c->is = *what;
    c->ways = 1;
    version_of(library, c->version);
    *out = c;
    return 0;
}

/* What it queues is its own affair, but for the last event. A marker in front is where its time begins. */
int opencl_call_run(struct device *d, struct called *c, int way, struct err *err)
{
    struct opencl_context *g = (struct opencl_context *)d->guest;
    cl_event none = NULL, *event;
    (void)way;
    int rc = g->span ? OPENCL(err, clEnqueueMarkerWithWaitList, g->queue, 0, NULL, opencl_event(g)) : 0;
    if (rc)
        return rc;
    event = opencl_event(g) ?: &none;
    rc = blast_check(c->is.type[2]->bytes == 8 ? call_D(&c->is, g->queue, event) : call_S(&c->is, g->queue, event), err, "CLBlast");
    if (none)
        libopencl.clReleaseEvent(none);
    return rc;
}

void opencl_call_close(struct device *d, struct called *c)
{
    (void)d;
    mem_free(c);
}
