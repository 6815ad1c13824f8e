/* Kernels in use. Launching checks the buffers each time, and loads the code the first time. A null kernel has no properties. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

/* Call with the loading lock held. */
static int load_functions(struct cutune_kernel *k, struct err *err)
{
    const struct guest_launch *had[MAX_LAUNCHES] = { NULL };
    int rc = code_load(k->handle, k->code, err);
    for (int i = 0; !rc && i < k->work.nlaunches; i++) {
        struct guest_launch *l = &k->launches[i];
        const struct guest_launch *same = had[l->of] ?: l; /* it may have its function from a try that failed later */
        rc = same->function ? 0 : guest_function(k->guest, k->code->loaded, l, NULL, err);
        l->function = same->function;
        l->handle = same->handle;
        had[l->of] = l;
        rc = rc ?: guest_fits(k->guest, l, err);
    }
    for (int i = 0; !rc && i < k->work.nconstants; i++) {
        struct guest_constant *c = &k->constants[i];
        rc = guest_symbol(k->guest, k->code->loaded, c->symbol, c->bytes, &c->at, err);
    }
    rc = rc ?: guest_textures(k->guest, k->code->loaded, k->work.textures, err);
    if (rc)
        err_prefix(err, "%s %s %s: ", k->known->op->name, k->variant, k->config);
    else
        atomic_store_explicit(&k->ready, true, memory_order_release);
    return rc;
}

int kernel_load(const struct cutune_kernel *kernel, struct err *err)
{
    struct cutune_kernel *k = (struct cutune_kernel *)kernel; /* only its functions are set later */
    if (!k->backend)
        return err_set(err, ERR_INVALID, "this handle looks up and launches nothing: cutune_attach_cuda, cutune_attach_opencl");
    pthread_mutex_lock(&k->handle->loading);
    int rc = atomic_load_explicit(&k->ready, memory_order_relaxed) ? 0 : load_functions(k, err);
    pthread_mutex_unlock(&k->handle->loading);
    return rc;
}

static int loaded(const struct cutune_kernel *k, struct err *err)
{
    return atomic_load_explicit(&k->ready, memory_order_acquire) ? 0 : kernel_load(k, err);
}

enum fit { FITS, NEEDS_OTHER, IMPOSSIBLE };

/* Checks all addresses without a branch for each. Looks for what is wrong only if something is. */
static enum fit fit_of(const struct cutune_kernel *k, void *const *buffers)
{
    uint64_t missing = 0, askew = 0, below = 0;
    for (int i = 0; i < k->work.nbuffers; i++) {
        uint64_t at = (uint64_t)(uintptr_t)buffers[i];
        missing |= at == 0;
        askew |= at & k->buffers[i].element;
        below |= at & k->buffers[i].need;
    }
    if (missing | askew)
        return IMPOSSIBLE;
    for (int i = 0; i < k->npairs; i++) {
        const struct apart *p = &k->pairs[i];
        uint64_t a = (uint64_t)(uintptr_t)buffers[p->a], b = (uint64_t)(uintptr_t)buffers[p->b];
        if (a < b + k->buffers[p->b].span && b < a + k->buffers[p->a].span) {
            if (p->hard)
                return IMPOSSIBLE;
            below = 1;
        }
    }
    return below ? NEEDS_OTHER : FITS;
}

static int complain_of(const struct cutune_kernel *k, void *const *buffers)
{
    for (int i = 0; i < k->work.nbuffers; i++) {
        if (!buffers[i])
            return refuse(CUTUNE_ERR_INVALID, "%s: %s %s is null%s", k->known->op->name, k->buffers[i].scalar ? "scalar" : "buffer",
                          k->buffers[i].name, k->buffers[i].scalar ? ": pass the address of its value" : "");
        if ((uint64_t)(uintptr_t)buffers[i] & k->buffers[i].element)
            return refuse(CUTUNE_ERR_INVALID, "%s: buffer %s at %p is not aligned to its elements of %d bytes", k->known->op->name,
                          k->buffers[i].name, buffers[i], (int)k->buffers[i].element + 1);
    }
    return refuse(CUTUNE_ERR_INVALID, "%s: an output overlaps another buffer", k->known->op->name);
}

static int wrong_count(const struct cutune_kernel *k, int given)
{
    char scalars[40] = "";
    if (k->nscalars)
        snprintf(scalars, sizeof scalars, " and %d scalars", k->nscalars);
    return refuse(CUTUNE_ERR_INVALID, "%s takes %d buffers%s, not %d", k->known->op->name, k->work.nbuffers - k->nscalars, scalars,
                  given);
}

static int launch(const struct cutune_kernel *k, void *stream, void *const *buffers, int nbuffers, void *workspace, size_t bytes)
{
    if (!k)
        return refuse(CUTUNE_ERR_INVALID, "no kernel given");
    if (k->handle->generation != atomic_load_explicit(&fork_generation, memory_order_relaxed))
        return check_forks(k->handle->generation);
    if (nbuffers != k->work.nbuffers || !buffers)
        return wrong_count(k, buffers ? nbuffers : 0);
    enum fit fit = fit_of(k, buffers);
    if (fit == IMPOSSIBLE)
        return complain_of(k, buffers);
    if (fit == NEEDS_OTHER) {
        struct cutune_kernel *other;
        int rc = kernel_fallback(k, &other, thread_err());
        if (rc)
            return rc;
        if (!other)
            return refuse(CUTUNE_ERR_UNSUPPORTED,
                          "%s %s %s needs better aligned or separate buffers, and no other kernel may run here", k->known->op->name,
                          k->variant, k->config);
        k = other;
    }
    if (workspace && bytes < (size_t)k->work.workspace)
        return refuse(CUTUNE_ERR_INVALID, "%s needs %lld bytes of workspace (cutune_kernel_workspace), not %zu", k->known->op->name,
                      (long long)k->work.workspace, bytes);
    if (workspace && k->checks && (uintptr_t)workspace % GUEST_ALIGN)
        return refuse(CUTUNE_ERR_INVALID, "the workspace at %p is not aligned to %d bytes", workspace, GUEST_ALIGN);
    struct err *err = thread_err();
    return loaded(k, err) ?: k->backend->launch(k->guest, stream, &k->work, buffers, workspace, err);
}

int cutune_launch(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers)
{
    return launch(k, stream, buffers, nbuffers, NULL, 0);
}

int cutune_launch_in(const cutune_kernel *k, void *stream, void *const *buffers, int nbuffers, void *workspace, size_t bytes)
{
    if (k && !workspace && k->work.workspace)
        return refuse(CUTUNE_ERR_INVALID, "%s: the workspace is null; cutune_launch takes one itself", k->known->op->name);
    return launch(k, stream, buffers, nbuffers, workspace, bytes);
}

int cutune_kernel_function(const cutune_kernel *k, int i, void **out)
{
    if (!k || !out)
        return refuse(CUTUNE_ERR_INVALID, k ? "no place for the function" : "no kernel given");
    if (i < 0 || i >= k->work.nlaunches)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d: the kernel has %d, counted from 0", i, k->work.nlaunches);
    int rc = check_forks(k->handle->generation) ?: loaded(k, thread_err());
    if (!rc)
        *out = k->launches[i].handle;
    return rc;
}

/* ---- properties */

cutune_match cutune_kernel_match(const cutune_kernel *k)
{
    return k ? k->match : CUTUNE_MATCH_DEFAULT;
}

const char *cutune_kernel_why(const cutune_kernel *k)
{
    return k ? k->why : "";
}

const char *cutune_kernel_variant(const cutune_kernel *k)
{
    return k ? k->variant : "";
}

const char *cutune_kernel_config(const cutune_kernel *k)
{
    return k ? k->config : "";
}

double cutune_kernel_time_ns(const cutune_kernel *k)
{
    return k ? k->time_ns : 0;
}

const cutune_kernel *cutune_kernel_fallback(const cutune_kernel *k)
{
    struct cutune_kernel *other = NULL;
    return k && !kernel_fallback(k, &other, thread_err()) ? other : NULL;
}

size_t cutune_kernel_workspace(const cutune_kernel *k)
{
    if (!k)
        return 0;
    const struct cutune_kernel *fallback = cutune_kernel_fallback(k);
    int64_t other = fallback ? fallback->work.workspace : 0;
    return (size_t)(other > k->work.workspace ? other : k->work.workspace);
}

int cutune_kernel_launches(const cutune_kernel *k)
{
    return k ? k->work.nlaunches : 0;
}

static bool has_launch(const cutune_kernel *k, int i)
{
    return k && i >= 0 && i < k->work.nlaunches;
}

int cutune_kernel_geometry(const cutune_kernel *k, int i, cutune_geometry *out)
{
    const size_t least = offsetof(cutune_geometry, cluster); /* what it was in the first version */
    if (!has_launch(k, i) || !out || out->size < least)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d, or no cutune_geometry with its size set", i);
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    const struct geometry *g = &k->launches[i].geometry;
    const bool whole = out->size >= sizeof *out;
    if (!whole && geometry_special(g))
        return refuse(CUTUNE_ERR_UNSUPPORTED,
                      "launch %d is cooperative, dependent or has clusters, for which this cutune_geometry has no room: compile "
                      "with a newer cutune.h",
                      i);
    out->entry = k->launches[i].kernel;
    for (int d = 0; d < 3; d++) {
        out->grid[d] = g->grid[d];
        out->block[d] = g->block[d];
    }
    out->shared = g->shared;
    for (int d = 0; d < 3 && whole; d++)
        out->cluster[d] = g->cluster[d];
    if (whole) {
        out->cooperative = g->cooperative;
        out->dependent = g->dependent;
    }
    return CUTUNE_OK;
}

int cutune_kernel_params(const cutune_kernel *k, int i)
{
    return has_launch(k, i) ? k->launches[i].nparams : 0;
}

/* Null if there is none. */
static const struct guest_param *param_of(const cutune_kernel *k, int i, int param)
{
    return param >= 0 && param < cutune_kernel_params(k, i) ? &k->launches[i].params[param] : NULL;
}

_Static_assert(CUTUNE_PARAM_BUFFER == (int)GUEST_BUFFER && CUTUNE_PARAM_WORKSPACE == (int)GUEST_WORKSPACE &&
                   CUTUNE_PARAM_VALUE == (int)GUEST_VALUE && CUTUNE_PARAM_SCALAR == (int)GUEST_SCALAR &&
                   CUTUNE_PARAM_TENSOR_MAP == (int)GUEST_TENSOR && CUTUNE_PARAM_TEXTURE == (int)GUEST_TEXTURE,
               "cutune.h and device/backend.h name the same kinds");

int cutune_kernel_param(const cutune_kernel *k, int i, int param, cutune_param *out)
{
    const struct guest_param *p = param_of(k, i, param);
    if (!p || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d or parameter %d of it, or no cutune_param with its size set", i, param);
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    out->kind = (cutune_param_kind)p->kind;
    out->index = p->in_workspace ? -1 : p->index;
    out->offset = p->offset;
    out->bytes = p->bytes;
    memcpy(out->value, p->value, sizeof out->value);
    return CUTUNE_OK;
}

int cutune_kernel_tensor_map(const cutune_kernel *k, int i, int param, void *at, void *out)
{
    const struct guest_param *p = param_of(k, i, param);
    if (!p || p->kind != GUEST_TENSOR)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d or parameter %d of it, or it is no tensor map", i, param);
    if (!at || !out || (uintptr_t)out % TENSOR_ALIGN)
        return refuse(CUTUNE_ERR_INVALID, "no %s, or none aligned to %d bytes", at ? "place for a tensor map" : "buffer",
                      TENSOR_ALIGN);
    if (!k->backend || !k->backend->tensor)
        return refuse(CUTUNE_ERR_UNSUPPORTED, "this handle makes no tensor maps");
    return check_forks(k->handle->generation) ?: k->backend->tensor(p->tensor, at, out, thread_err());
}

int cutune_kernel_texture(const cutune_kernel *k, int i, int param, void *stream, void *at, uint64_t *out)
{
    const struct guest_param *p = param_of(k, i, param);
    if (!p || p->kind != GUEST_TEXTURE)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d or parameter %d of it, or it is no texture", i, param);
    struct guest_texture *t = p->texture;
    const uintptr_t align = t->is.mode.array ? (uintptr_t)t->is.type->bytes : TEXTURE_ALIGN;
    if (!at || !out || (uintptr_t)at % align)
        return refuse(CUTUNE_ERR_INVALID, "no %s, or it is not aligned to %d bytes", at ? "place for a texture object" : "buffer",
                      (int)align);
    struct err *err = thread_err();
    return check_forks(k->handle->generation)
        ?: loaded(k, err)
        ?: guest_texture_of(k->guest, t, at, out, err)
        ?: t->is.mode.array ? guest_texture_fill(k->guest, t, at, stream, err) : 0;
}

int cutune_kernel_clears(const cutune_kernel *k)
{
    return k ? k->work.nclears : 0;
}

int cutune_kernel_clear(const cutune_kernel *k, int i, cutune_clear *out)
{
    if (!k || i < 0 || i >= k->work.nclears || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no clear %d, or no cutune_clear with its size set", i);
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    const struct guest_clear *c = &k->work.clears[i];
    out->kind = c->workspace ? CUTUNE_PARAM_WORKSPACE : CUTUNE_PARAM_BUFFER;
    out->index = c->index;
    out->offset = c->offset;
    out->bytes = c->bytes;
    return CUTUNE_OK;
}

int cutune_kernel_constants(const cutune_kernel *k)
{
    return k ? k->work.nconstants : 0;
}

int cutune_kernel_constant(const cutune_kernel *k, int i, cutune_constant *out)
{
    if (!k || i < 0 || i >= k->work.nconstants || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no constant %d, or no cutune_constant with its size set", i);
    int rc = check_forks(k->handle->generation) ?: loaded(k, thread_err());
    if (rc)
        return rc;
    const struct guest_constant *c = &k->work.constants[i];
    out->symbol = c->symbol;
    out->index = c->index;
    out->bytes = c->bytes;
    out->address = c->at;
    return CUTUNE_OK;
}
