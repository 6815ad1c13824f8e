/* A device of our own to measure on: what is the same for every backend. */
#include "device/device.h"

#include <string.h>

#include "base/mem.h"
#include "device/measuring.h"

/* A function is got for the parameters that it is launched with, which are known at the first launch. */
struct kernel {
    struct guest_code *code;
    struct guest_launch launch;        /* the last; nparams is -1 before the first */
    unsigned char sizes[GUEST_PARAMS]; /* of its parameters; 0: a buffer */
    int64_t dynamic_shared;
    char name[];
};

static int use(struct device *d, struct err *err)
{
    const struct backend_measuring *m = d->backend->measuring;
    return m->use ? m->use(d, err) : 0;
}

int device_open(const struct devspec *spec, struct device **out, struct err *err)
{
    const struct backend *b = backend_find(spec->backend);
    if (!b)
        return err_set(err, ERR_NOTFOUND, "no backend %s", spec->backend);
    struct device *d = mem_zalloc(sizeof *d);
    if (!d)
        return err_nomem(err);
    d->backend = b;
    d->spec = *spec;
    int rc = b->measuring->open(d, err);
    if (rc)
        device_close(d);
    else
        *out = d;
    return rc;
}

void device_close(struct device *d)
{
    if (!d)
        return;
    if (d->guest && d->backend->measuring->close)
        d->backend->measuring->close(d);
    guest_close(d->guest);
    mem_free(d);
}

/* ---- memory */

/* A copy of *like, which `place` has given its place on the device. */
static int make(struct device *d, int (*place)(struct device *, struct memory *, struct err *), const struct memory *like,
                struct memory **out, struct err *err)
{
    struct memory *m = mem_alloc(sizeof *m);
    if (!m)
        return err_nomem(err);
    *m = *like;
    int rc = place(d, m, err);
    if (rc)
        mem_free(m);
    else
        *out = m;
    return rc;
}

int device_alloc(struct device *d, int64_t bytes, struct memory **out, struct err *err)
{
    const struct memory like = { .bytes = bytes };
    return check_alloc(&d->spec, bytes, err) ?: use(d, err) ?: make(d, d->backend->measuring->alloc, &like, out, err);
}

int view_address(struct device *d, struct memory *v, struct err *err)
{
    (void)d, (void)err;
    v->at = (unsigned char *)v->whole->at + v->offset;
    return 0;
}

int device_view(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err)
{
    int rc = check_view(offset, bytes, m->bytes, err);
    if (rc)
        return rc;
    const struct memory like = { .whole = m->whole ? m->whole : m, .bytes = bytes, .offset = m->offset + offset };
    return make(d, d->backend->measuring->view, &like, out, err);
}

void device_free(struct device *d, struct memory *m)
{
    if (m)
        d->backend->measuring->free(d, m);
    mem_free(m);
}

int device_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err)
{
    int rc = check_part("a fill", offset, bytes, m->bytes, err) ?: use(d, err);
    return rc || !bytes ? rc : d->backend->measuring->fill(d, m, offset, bytes, value, err);
}

static int copy(struct device *d, const char *what, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err)
{
    int rc = 0;
    if (to.memory)
        rc = check_part(what, to.offset, bytes, to.memory->bytes, err);
    if (from.memory)
        rc = rc ?: check_part(what, from.offset, bytes, from.memory->bytes, err);
    rc = rc ?: use(d, err);
    return rc || !bytes ? rc : d->backend->measuring->copy(d, to, from, bytes, err);
}

int device_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err)
{
    return copy(d, "a copy", (struct copy_end){ .memory = to }, (struct copy_end){ .memory = from }, bytes, err);
}

int device_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err)
{
    return copy(d, "a write", (struct copy_end){ .memory = to, .offset = offset }, (struct copy_end){ .host = (void *)from }, bytes,
                err);
}

int device_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err)
{
    return copy(d, "a read", (struct copy_end){ .host = to }, (struct copy_end){ .memory = from, .offset = offset }, bytes, err);
}

/* ---- kernels */

int device_load(struct device *d, const void *binary, size_t bytes, struct guest_code **out, struct err *err)
{
    return use(d, err) ?: guest_load(d->guest, binary, bytes, NULL, out, err);
}

void device_unload(struct device *d, struct guest_code *code)
{
    if (code)
        guest_unload(d->guest, code);
}

int device_kernel(struct device *d, struct guest_code *code, const char *name, int64_t dynamic_shared, struct kernel **out,
                  struct resources *resources, struct err *err)
{
    struct kernel *k = arena_alloc(code->arena, sizeof *k + strlen(name) + 1);
    if (!k)
        return err_nomem(err);
    strcpy(k->name, name);
    k->code = code;
    k->dynamic_shared = dynamic_shared;
    k->launch = (struct guest_launch){ .kernel = k->name, .geometry.shared = dynamic_shared };
    *out = k;
    int rc = use(d, err) ?: guest_function(d->guest, code, &k->launch, resources, err);
    k->launch.nparams = -1;
    return rc;
}

int device_constant(struct device *d, struct guest_code *code, const char *name, int64_t bytes, struct memory **out,
                    struct err *err)
{
    struct memory *m = mem_zalloc(sizeof *m);
    int rc = m ? use(d, err) ?: guest_symbol(d->guest, code, name, bytes, &m->at, err) : err_nomem(err);
    if (rc) {
        mem_free(m);
        return rc;
    }
    m->bytes = bytes;
    m->whole = m; /* it is the code's */
    *out = m;
    return 0;
}

int device_textures(struct device *d, struct guest_code *code, struct guest_texture *all, struct err *err)
{
    return all ? use(d, err) ?: guest_textures(d->guest, code, all, err) : 0;
}

int device_texture_fill(struct device *d, const struct guest_texture *t, const struct memory *from, struct err *err)
{
    return use(d, err) ?: guest_texture_fill(d->guest, t, from->at, d->stream, err);
}

int device_fits(struct device *d, struct kernel *k, const struct geometry *g, struct err *err)
{
    k->launch.geometry = *g;
    return use(d, err) ?: guest_fits(d->guest, &k->launch, err);
}

/* The kernel's function for these parameters: the one there is, unless they are of other sizes than at the last launch. */
static int take_function(struct device *d, struct kernel *k, const struct guest_param *params, int n, struct err *err)
{
    unsigned char sizes[GUEST_PARAMS];
    for (int i = 0; i < n; i++)
        sizes[i] = (unsigned char)params[i].bytes;
    k->launch.params = params;
    if (k->launch.nparams == n && memcmp(k->sizes, sizes, (size_t)n) == 0)
        return 0;
    memcpy(k->sizes, sizes, (size_t)n);
    k->launch.nparams = n;
    k->launch.geometry.shared = k->dynamic_shared;
    int rc = guest_function(d->guest, k->code, &k->launch, NULL, err);
    if (rc)
        k->launch.nparams = -1;
    return rc;
}

int device_launch(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs, struct err *err)
{
    struct guest_param params[GUEST_PARAMS];
    void *buffers[GUEST_PARAMS];
    const char *names[GUEST_PARAMS];
    struct guest_work work = { .nlaunches = 1, .launches = &k->launch };
    bool views = false;
    int rc = check_geometry(&d->spec, g, k->dynamic_shared, err) ?: use(d, err);
    if (!rc && (nargs < 0 || nargs > GUEST_PARAMS))
        rc = err_set(err, ERR_INVALID, "%d kernel arguments: at most %d are possible", nargs, GUEST_PARAMS);
    for (int i = 0; i < nargs && !rc; i++) {
        names[i] = args[i].name;
        params[i] = args[i].param;
        if (args[i].memory) {
            params[i].index = work.nbuffers;
            views = views || params[i].kind != GUEST_BUFFER;
            buffers[work.nbuffers++] = args[i].memory->at;
        } else {
            params[i].kind = GUEST_VALUE;
            rc = check_scalar(i, params[i].bytes, err);
        }
    }
    k->launch.names = names;
    rc = rc ?: take_function(d, k, params, nargs, err);
    k->launch.names = NULL;
    k->launch.geometry = *g;
    k->launch.views = views;
    return rc ?: d->backend->launch(d->guest, d->stream, &work, buffers, NULL, err);
}

/* ---- time */

static int check_slot(int slot, struct err *err)
{
    if (slot >= 0 && slot < MAX_SPANS)
        return 0;
    return err_set(err, ERR_INVALID, "span %d: 0 to %d are there", slot, MAX_SPANS - 1);
}

int device_span_begin(struct device *d, int slot, struct err *err)
{
    return check_slot(slot, err) ?: use(d, err) ?: d->backend->measuring->mark(d, slot, false, err);
}

int device_span_end(struct device *d, int slot, struct err *err)
{
    return check_slot(slot, err) ?: use(d, err) ?: d->backend->measuring->mark(d, slot, true, err);
}

int device_span_ns(struct device *d, int slot, double *ns, struct err *err)
{
    return check_slot(slot, err) ?: use(d, err) ?: d->backend->measuring->span_ns(d, slot, ns, err);
}

int device_sync(struct device *d, struct err *err)
{
    return use(d, err) ?: d->backend->measuring->sync(d, err);
}

void device_clocks(struct device *d, int *sm_mhz, int *mem_mhz)
{
    *sm_mhz = *mem_mhz = 0;
    if (d->backend->measuring->clocks)
        d->backend->measuring->clocks(d, sm_mhz, mem_mhz);
}

bool device_throttles(struct device *d)
{
    return d->backend->measuring->throttles && d->backend->measuring->throttles(d);
}

int device_energy(struct device *d, double *joules, struct err *err)
{
    if (!d->backend->measuring->energy)
        return err_set(err, ERR_UNSUPPORTED, "%s gives no energy counter: energy is measured through NVIDIA's NVML",
                       d->spec.backend);
    return device_sync(d, err) ?: d->backend->measuring->energy(d, joules, err);
}

/* ---- libraries */

int device_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err)
{
    if (!d->backend->measuring->call_open)
        return err_set(err, ERR_UNSUPPORTED, "no library is called on %s devices", d->backend->name);
    return use(d, err) ?: d->backend->measuring->call_open(d, what, out, err);
}

int device_call_run(struct device *d, struct called *c, int way, struct err *err)
{
    return use(d, err) ?: d->backend->measuring->call_run(d, c, way, err);
}

void device_call_close(struct device *d, struct called *c)
{
    if (c && !use(d, NULL))
        d->backend->measuring->call_close(d, c);
}
