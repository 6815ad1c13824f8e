/* Code on its way to the device: as it is stored where that is for this device, else as it was compiled here before, else compiled. */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/device.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

enum { MAX_CACHED = 64 << 20 };

static bool same_code(const struct tuned *a, const struct tuned *b)
{
    return same_text(a->source, b->source) && same_text(a->format, b->format) && same_text(a->arch, b->arch) &&
           same_text(a->portable, b->portable) && a->binary_bytes == b->binary_bytes &&
           (a->binary_bytes == 0 || !memcmp(a->binary, b->binary, a->binary_bytes));
}

int code_get(cutune_handle *h, struct tuned *t, struct code **out, struct err *err)
{
    struct code *c = h->codes;
    while (c && !same_code(c->record, t))
        c = c->next;
    if (!c) {
        c = mem_zalloc(sizeof *c);
        if (!c)
            return err_nomem(err);
        c->record = t;
        c->next = h->codes;
        h->codes = c;
    }
    *out = c;
    return 0;
}

void code_free(struct code *c)
{
    tuned_free(c->record);
    mem_free(c);
}

/* A binary of CUDA is for an architecture; another driver's loads it too. One of OpenCL is for a driver. */
static bool is_for(const struct tuned *t, const struct devspec *dev, const char *format)
{
    return t->binary && same_text(t->format, format) && same_text(t->arch, dev->arch) &&
           (!dev->shared_driver || same_text(t->compiler, dev->driver));
}

/* ---- what was compiled here before: a file for each (source, architecture, driver) */

static bool cache_path(const cutune_handle *h, const struct code *c, struct buf *out)
{
    struct buf what = { 0 };
    char key[HASH_HEX];
    buf_fmt(&what, "%s %s %s\n%s", h->dev.backend, h->dev.arch, h->dev.driver, c->record->source);
    hash_hex(buf_text(&what), what.len, key);
    bool good = h->owner->cache && !what.failed;
    buf_free(&what);
    if (good)
        buf_fmt(out, "%s/%s", h->owner->cache, key);
    return good && !out->failed;
}

static bool cache_load(cutune_handle *h, struct code *c, const char *format)
{
    struct buf path = { 0 }, file = { 0 };
    bool found = cache_path(h, c, &path) && file_kept(path.data, MAX_CACHED, &file) &&
                 !guest_load(h->guest, file.data, file.len, format, &c->loaded, NULL);
    buf_free(&path);
    buf_free(&file);
    return found;
}

static void cache_save(cutune_handle *h, const struct code *c, const struct buf *binary)
{
    struct buf path = { 0 };
    if (cache_path(h, c, &path))
        file_keep(path.data, binary->data, binary->len);
    buf_free(&path);
}

static int compile_source(cutune_handle *h, struct code *c, struct err *err)
{
    char arch[ARCH_NAME];
    const struct compile_job job = { .source = c->record->source,
                                     .arch = devspec_arch(&h->dev, c->record->op->variants[0].requires.arch_specific, arch) };
    struct buf binary = { 0 };
    int rc = compile_once(&h->dev, &job, &binary, err);
    if (rc == ERR_INVALID)
        rc = err_set(err, ERR_UNSUPPORTED, "its source does not compile here: %s", err->msg);
    rc = rc ?: guest_load(h->guest, binary.data, binary.len, h->backend->format, &c->loaded, err);
    if (!rc)
        cache_save(h, c, &binary);
    buf_free(&binary);
    return rc;
}

bool code_loads(cutune_handle *h, const struct tuned *t)
{
    struct compiler *c = NULL;
    if (!h->backend || is_for(t, &h->dev, h->backend->format) || (t->portable && h->backend->portable))
        return true;
    if (h->compiler == COMPILER_UNKNOWN) {
        h->compiler = h->backend->compiling->open(&h->dev, &c, NULL) ? COMPILER_NONE : COMPILER_HERE;
        h->backend->compiling->close(c);
    }
    return h->compiler == COMPILER_HERE;
}

int code_load(cutune_handle *h, struct code *c, struct err *err)
{
    const char *format = h->backend->format, *portable = h->backend->portable;
    const struct tuned *t = c->record;
    struct err why = { 0 };
    int rc;
    if (c->loaded)
        return 0;
    if (is_for(t, &h->dev, format)) {
        rc = guest_load(h->guest, t->binary, t->binary_bytes, format, &c->loaded, &why);
        if (!rc)
            return 0;
        if (rc == ERR_NOMEM || rc == ERR_DEVICE)
            return err_set(err, rc, "%s", why.msg);
        say(h->owner, "a stored binary is refused, so it is compiled again: %s", why.msg);
    }
    if (*t->source && cache_load(h, c, format))
        return 0;
    bool can = *t->source || (t->portable && portable); /* an exported file has no source for CUDA */
    if (can && (rc = strict_compile(h, t, why.msg, err)))
        return rc;
    /* The driver compiles it, and keeps a cache of its own. */
    if (t->portable && portable && !guest_load(h->guest, t->portable, strlen(t->portable) + 1, portable, &c->loaded, &why))
        return 0;
    if (!*t->source && t->arch)
        return err_set(err, ERR_UNSUPPORTED, "its code was exported for %s only, not for %s%s%s", t->arch, h->dev.arch,
                       why.msg[0] ? "; " : "", why.msg);
    if (!*t->source)
        return err_set(err, ERR_UNSUPPORTED, "the driver does not load its PTX, which ships without source%s%s", why.msg[0] ? ": " : "",
                       why.msg);
    rc = compile_source(h, c, err);
    if (rc && why.msg[0])
        err_prefix(err, "%s; then, from source: ", why.msg);
    if (!rc)
        say(h->owner, "compiled a kernel for %s, for which none was stored%s", h->dev.name,
            h->owner->cache ? "; kept in the cache" : "");
    return rc;
}
