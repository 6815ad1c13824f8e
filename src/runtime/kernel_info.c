/* The getters of kernels. A null kernel has no properties. */
#include <string.h>

#include "runtime/runtime.h"

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
    if (!has_launch(k, i) || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d, or no cutune_geometry with its size set", i);
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    const struct geometry *g = &k->launches[i].geometry;
    out->entry = k->launches[i].kernel;
    for (int d = 0; d < 3; d++) {
        out->grid[d] = g->grid[d];
        out->block[d] = g->block[d];
    }
    out->shared = g->shared;
    return CUTUNE_OK;
}

int cutune_kernel_params(const cutune_kernel *k, int i)
{
    return has_launch(k, i) ? k->launches[i].nparams : 0;
}

_Static_assert(CUTUNE_PARAM_BUFFER == (int)GUEST_BUFFER && CUTUNE_PARAM_WORKSPACE == (int)GUEST_WORKSPACE &&
                   CUTUNE_PARAM_VALUE == (int)GUEST_VALUE,
               "cutune.h and device/backend.h name the same kinds");

int cutune_kernel_param(const cutune_kernel *k, int i, int param, cutune_param *out)
{
    if (param < 0 || param >= cutune_kernel_params(k, i) || !out || out->size < sizeof *out)
        return refuse(CUTUNE_ERR_INVALID, "no launch %d or parameter %d of it, or no cutune_param with its size set", i, param);
    if (check_forks(k->handle->generation))
        return CUTUNE_ERR_INVALID;
    const struct guest_param *p = &k->launches[i].params[param];
    out->kind = (cutune_param_kind)p->kind;
    out->index = p->index;
    out->offset = p->offset;
    out->bytes = p->bytes;
    memcpy(out->value, p->value, sizeof out->value);
    return CUTUNE_OK;
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
