/* Code on its way to the device: as it is stored where that is for this device, else as it was compiled here before, else compiled. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "device/device.h"
#include "runtime/runtime.h"

enum { MAX_CACHED = 64 << 20 };

static char *copy_line(const char *s)
{
    return s ? mem_strdup(s) : NULL;
}

int code_get(cutune_handle *h, const struct tuned *t, struct code **out, struct err *err)
{
    struct buf all = { 0 };
    char key[HASH_HEX];
    buf_str(&all, t->source);
    buf_lstr(&all, t->format);
    buf_lstr(&all, t->arch);
    buf_lstr(&all, t->portable);
    if (t->binary)
        buf_put(&all, t->binary, t->binary_bytes);
    if (all.failed) {
        buf_free(&all);
        return err_nomem(err);
    }
    hash_hex(all.data, all.len, key);
    buf_free(&all);
    for (struct code *c = h->codes; c; c = c->next)
        if (!strcmp(c->key, key)) {
            *out = c;
            return 0;
        }
    struct code *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    memcpy(c->key, key, sizeof c->key);
    c->source = copy_line(t->source);
    c->portable = copy_line(t->portable);
    c->binary = t->binary ? mem_alloc(t->binary_bytes) : NULL;
    if (!c->source || (t->portable && !c->portable) || (t->binary && !c->binary)) {
        code_free(c);
        return err_nomem(err);
    }
    if (c->binary)
        memcpy(c->binary, t->binary, t->binary_bytes);
    c->binary_bytes = t->binary ? t->binary_bytes : 0;
    snprintf(c->format, sizeof c->format, "%s", t->format ? t->format : "");
    snprintf(c->arch, sizeof c->arch, "%s", t->arch ? t->arch : "");
    snprintf(c->compiler, sizeof c->compiler, "%s", t->compiler ? t->compiler : "");
    c->next = h->codes;
    h->codes = c;
    *out = c;
    return 0;
}

void code_free(struct code *c)
{
    mem_free(c->source);
    mem_free(c->portable);
    mem_free(c->binary);
    mem_free(c);
}

/* A binary of CUDA is for an architecture; another driver's loads it too. One of OpenCL is for a driver. */
static bool is_for(const struct code *c, const struct devspec *dev, const char *format)
{
    if (!c->binary || strcmp(c->format, format) || strcmp(c->arch, dev->arch))
        return false;
    return !dev->shared_driver || !strcmp(c->compiler, dev->driver);
}

/* ---- what was compiled here before: a file for each (source, architecture, driver) */

static int cache_path(const cutune_handle *h, const struct code *c, struct buf *out)
{
    struct buf what = { 0 };
    char key[HASH_HEX];
    buf_fmt(&what, "%s %s %s\n%s", h->dev.backend, h->dev.arch, h->dev.driver, c->source);
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
    char hash[HASH_HEX];
    bool found = false;
    if (cache_path(h, c, &path) && !file_read(path.data, MAX_CACHED, &file, NULL) && file.len > HASH_HEX - 1) {
        const char *body = file.data + HASH_HEX - 1;
        size_t n = file.len - (HASH_HEX - 1);
        hash_hex(body, n, hash); /* cut or damaged: as if it were not there */
        found = !memcmp(hash, file.data, HASH_HEX - 1) && !guest_load(h->guest, body, n, format, &c->loaded, NULL);
    }
    buf_free(&path);
    buf_free(&file);
    return found;
}

/* Written under another name first, so that nobody ever reads half of it. That it cannot be written costs the next process time only. */
static void cache_save(cutune_handle *h, const struct code *c, const struct buf *binary)
{
    struct buf path = { 0 }, mine = { 0 };
    char hash[HASH_HEX];
    if (cache_path(h, c, &path)) {
        make_folders(path.data, NULL);
        buf_fmt(&mine, "%s.XXXXXX", path.data);
        int fd = mine.failed ? -1 : mkostemp(mine.data, O_CLOEXEC);
        hash_hex(binary->data, binary->len, hash);
        if (fd >= 0) {
            bool good = write_all(fd, hash, HASH_HEX - 1) && write_all(fd, binary->data, binary->len);
            good = !close(fd) && good;
            if (!good || rename(mine.data, path.data))
                unlink(mine.data);
        }
    }
    buf_free(&path);
    buf_free(&mine);
}

static int compile_source(cutune_handle *h, struct code *c, struct err *err)
{
    const struct backend *b = h->backend;
    struct compiler *compiler = NULL;
    struct buf binary = { 0 }, log = { 0 };
    const struct compile_job job = { .source = c->source };
    int rc = b->compiling->open(&h->dev, &compiler, err);
    if (!rc) {
        rc = b->compiling->compile(compiler, &job, &binary, NULL, &log, err);
        if (rc == ERR_INVALID && log.len) {
            char line[256];
            compile_log_line(&log, line);
            err_set(err, ERR_UNSUPPORTED, "its source does not compile here: %s", line);
            rc = ERR_UNSUPPORTED;
        }
    }
    rc = rc ?: guest_load(h->guest, binary.data, binary.len, b->format, &c->loaded, err);
    if (!rc)
        cache_save(h, c, &binary);
    if (compiler)
        b->compiling->close(compiler);
    buf_free(&binary);
    buf_free(&log);
    return rc;
}

int code_load(cutune_handle *h, struct code *c, struct err *err)
{
    const char *format = h->backend->format;
    struct err why = { 0 };
    if (c->loaded)
        return 0;
    if (is_for(c, &h->dev, format)) {
        int rc = guest_load(h->guest, c->binary, c->binary_bytes, format, &c->loaded, &why);
        if (!rc)
            return 0;
        if (rc == ERR_NOMEM || rc == ERR_DEVICE)
            return err_set(err, rc, "%s", why.msg);
        say(h->owner, "a stored binary is refused, so it is compiled again: %s", why.msg);
    }
    if (cache_load(h, c, format))
        return 0;
    /* The driver compiles it, and keeps a cache of its own. */
    const char *portable = h->backend->portable;
    if (c->portable && portable && !guest_load(h->guest, c->portable, strlen(c->portable) + 1, portable, &c->loaded, &why))
        return 0;
    if (!*c->source) /* an exported file has none for CUDA */
        return err_set(err, ERR_UNSUPPORTED, "its code was exported for %s only, not for %s%s%s", c->arch, h->dev.arch,
                       why.msg[0] ? "; " : "", why.msg);
    int rc = compile_source(h, c, err);
    if (rc && why.msg[0])
        err_prefix(err, "%s; then, from source: ", why.msg);
    if (!rc)
        say(h->owner, "compiled a kernel for %s, for which none was stored%s", h->dev.name,
            h->owner->cache ? "; kept in the cache" : "");
    return rc;
}
