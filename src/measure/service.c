/* The service kernels: compiled, loaded, launched. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "measure/internal.h"
#include "source/source.h"

enum { THREADS = 256, MAX_BLOCKS = 2048 };

static int compile_service(struct bench *b, const struct dtype *t, struct buf *binary, struct err *err)
{
    struct buf text = { 0 }, src = { 0 }, log = { 0 };
    struct compiler *c = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/templates/service.cu", b->set.home);
    int rc = file_read(path, 1 << 20, &text, err);
    if (!rc)
        rc = source_prelude(b->set.op, &b->set.dev, &src, err);
    if (rc)
        goto out;
    source_define_type(&src, "T", t);
    buf_put(&src, text.data, text.len);
    if (src.failed) {
        rc = err_nomem(err);
        goto out;
    }
    rc = b->be->compiler_open(&b->set.dev, &c, err);
    if (rc)
        goto out;
    rc = b->be->compile(c, &(struct compile_job){ .source = src.data }, binary, NULL, &log, err);
    if (rc == ERR_INVALID && log.len) {
        char line[256];
        compile_log_line(&log, line);
        err_set(err, rc, "%s", line);
    }
    if (rc)
        err_prefix(err, "%s for %s: ", path, t->name);
    b->be->compiler_close(c);
out:
    buf_free(&log);
    buf_free(&src);
    buf_free(&text);
    return rc;
}

int service_load(struct bench *b, const struct dtype *t, struct service **out, struct err *err)
{
    for (int i = 0; i < b->nservices; i++)
        if (b->services[i].type == t) {
            *out = &b->services[i];
            return 0;
        }
    struct service *s = &b->services[b->nservices];
    struct buf binary = { 0 };
    int rc = compile_service(b, t, &binary, err);
    if (!rc)
        rc = b->be->load(b->dev, binary.data, binary.len, &s->module, err);
    struct {
        const char *name;
        struct kernel **kernel;
    } const entries[] = {
        { "fill_source", &s->fill_source },
        { "check_source", &s->check_source },
        { "check_equal", &s->check_equal },
        { "check_close", &s->check_close },
        { "check_guards", &s->check_guards },
        { "check_unwritten", &s->check_unwritten },
        { "digest", &s->digest },
        { "flush", &s->flush },
    };
    for (size_t i = 0; !rc && i < sizeof entries / sizeof *entries; i++)
        rc = b->be->kernel(b->dev, s->module, entries[i].name, 0, entries[i].kernel, NULL, err);
    buf_free(&binary);
    if (rc) {
        if (s->module)
            b->be->unload(b->dev, s->module);
        *s = (struct service){ 0 };
        return rc;
    }
    s->type = t;
    b->nservices++;
    *out = s;
    return 0;
}

static struct karg buffer(const struct memory *m)
{
    return (struct karg){ .memory = m };
}

static struct karg scalar(const void *p, int size)
{
    struct karg a = { .size = size };
    memcpy(a.bytes, p, (size_t)size);
    return a;
}

static int launch_over(struct bench *b, struct kernel *k, int64_t n, const struct karg *args, int nargs, struct err *err)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;
    struct geometry g = { .grid = { blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks, 1, 1 }, .block = { THREADS, 1, 1 } };
    return n <= 0 ? 0 : b->be->launch(b->dev, k, &g, args, nargs, err);
}

int service_begin(struct bench *b, struct err *err)
{
    return b->be->fill(b->dev, b->result, 0, RESULT_BYTES, 0, err);
}

int service_end(struct bench *b, int digests, struct check *out, struct err *err)
{
    uint32_t r[RESULT_BYTES / 4];
    int rc = b->be->read(b->dev, r, b->result, 0, (DIGESTS_AT + 2 * digests) * (int64_t)sizeof *r, err);
    *out = rc ? (struct check){ 0 } : (struct check){ .count = r[0], .place = (int64_t)(uint32_t)~r[1] << 6 };
    if (!rc)
        memcpy(out->digests, r + DIGESTS_AT, (size_t)digests * sizeof *out->digests);
    return rc;
}

static int32_t mode_of(int pass, bool bits)
{
    return bits ? 0 : 1 + pass;
}

int service_fill(struct bench *b, struct service *s, struct memory *m, int64_t n, int pass, uint64_t seed, bool bits,
                 struct err *err)
{
    int32_t mode = mode_of(pass, bits);
    struct karg args[] = { buffer(m), scalar(&n, 8), scalar(&seed, 8), scalar(&mode, 4) };
    return launch_over(b, s->fill_source, n, args, 4, err);
}

int service_check_source(struct bench *b, struct service *s, struct memory *m, int64_t n, int pass, uint64_t seed, bool bits,
                         struct err *err)
{
    int32_t mode = mode_of(pass, bits);
    struct karg args[] = { buffer(b->result), buffer(m), scalar(&n, 8), scalar(&seed, 8), scalar(&mode, 4) };
    return launch_over(b, s->check_source, n, args, 5, err);
}

int service_check_same(struct bench *b, struct service *s, struct memory *got, struct memory *want, int64_t n, double tolerance,
                       bool partial, struct err *err)
{
    float limit = (float)tolerance;
    int32_t some = partial;
    struct karg args[] = { buffer(b->result), buffer(got), buffer(want), scalar(&n, 8), scalar(&limit, 4), scalar(&some, 4) };
    return tolerance > 0 ? launch_over(b, s->check_close, n, args, 6, err) : launch_over(b, s->check_equal, n, args, 4, err);
}

int service_check_guards(struct bench *b, const struct guarded *g, struct err *err)
{
    int32_t v = g->paint;
    int64_t zone = GUARD;
    struct karg args[] = { buffer(b->result), buffer(g->whole), scalar(&zone, 8), scalar(&g->bytes, 8), scalar(&v, 4) };
    return launch_over(b, b->services[0].check_guards, 2 * zone, args, 5, err);
}

int service_check_unwritten(struct bench *b, struct service *s, struct memory *m, uint8_t in_m, struct memory *other,
                            uint8_t in_other, int64_t n, struct err *err)
{
    int32_t v = in_m, w = in_other;
    struct karg args[] = { buffer(b->result), buffer(m), buffer(other), scalar(&n, 8), scalar(&v, 4), scalar(&w, 4) };
    return launch_over(b, s->check_unwritten, n, args, 6, err);
}

int service_digest(struct bench *b, const struct slot *s, struct memory *m, int which, struct err *err)
{
    int32_t at = DIGESTS_AT + 2 * which;
    int64_t words = s->n * s->service->type->bytes / 16;
    uint64_t key = rand_at(b->digest_key, (uint64_t)(s - b->slots)); /* arguments that change places show */
    struct karg args[] = { buffer(b->result), buffer(m), scalar(&s->n, 8), scalar(&key, 8), scalar(&at, 4) };
    return launch_over(b, s->service->digest, words > 0 ? words : 1, args, 5, err);
}

int service_flush(struct bench *b, struct err *err)
{
    int64_t n = b->flush_bytes / 16;
    struct karg args[] = { buffer(b->result), buffer(b->flush_buf), scalar(&n, 8) };
    return launch_over(b, b->services[0].flush, n, args, 3, err);
}
