/* The service kernels: compiled, loaded, launched. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "measure/internal.h"
#include "model/include.h"
#include "source/source.h"

enum { THREADS = 256, MAX_BLOCKS = 2048 };

/* Of one type: the prelude, its definitions, the conversions of narrow numbers, the kernels. */
static int service_source(const struct bench *b, const struct dtype *t, struct buf *source, struct err *err)
{
    static const char *const files[] = { NUMBERS, "service.cu" };
    char path[4096];
    int rc = source_prelude(b->set.op, &b->set.dev, source, err);
    source_define_type(source, "T", t);
    source_define_numbers(source, "T", t);
    for (int i = 0; !rc && i < 2; i++) {
        snprintf(path, sizeof path, "%s/templates/%s", b->set.home, files[i]);
        rc = file_read(path, 1 << 20, source, err);
    }
    return rc ?: buf_check(source, err);
}

/* Whether an earlier bench has it. */
static bool find_kept(const struct bench_kept *k, struct service *s)
{
    for (int i = 0; k && i < k->n; i++)
        if (!strcmp(k->services[i].of, s->of)) {
            *s = k->services[i];
            return true;
        }
    return false;
}

static void keep(struct bench_kept *k, struct service *s)
{
    s->kept = k && mem_grow((void **)&k->services, k->n, sizeof *s);
    if (s->kept)
        k->services[k->n++] = *s;
}

static int compile(struct bench *b, struct service *s, const struct buf *source, struct err *err)
{
    static const char *const names[] = { "fill_source", "fill_peaks",   "check_source",    "check_peaks", "check_equal",
                                         "check_close", "check_guards", "check_unwritten", "digest",      "flush" };
    struct buf binary = { 0 };
    int rc = compile_once(&b->set.dev, &(struct compile_job){ .source = source->data }, &binary, err);
    if (rc)
        err_prefix(err, "service.cu for %s: ", s->type->name);
    rc = rc ?: device_load(b->dev, binary.data, binary.len, &s->module, err);
    for (int k = 0; !rc && k < NSERVICE; k++)
        rc = device_kernel(b->dev, s->module, names[k], 0, &s->kernels[k], NULL, err);
    if (!rc)
        keep(b->set.kept, s);
    buf_free(&binary);
    return rc;
}

int service_load(struct bench *b, const struct dtype *t, struct service **out, struct err *err)
{
    struct buf source = { 0 };
    int i = 0;
    while (i < b->nservices && b->services[i].type != t)
        i++;
    struct service *s = *out = &b->services[i];
    if (i < b->nservices)
        return 0;
    b->nservices++;
    s->type = t;
    int rc = service_source(b, t, &source, err);
    if (rc)
        err_prefix(err, "service.cu for %s: ", t->name);
    hash_hex(buf_text(&source), source.len, s->of);
    if (!rc && !find_kept(b->set.kept, s))
        rc = compile(b, s, &source, err);
    buf_free(&source);
    return rc;
}

void services_close(struct bench *b)
{
    for (int i = 0; i < b->nservices; i++)
        if (!b->services[i].kept)
            device_unload(b->dev, b->services[i].module);
}

void bench_kept_free(struct bench_kept *k)
{
    for (int i = 0; i < k->n; i++)
        device_unload(k->dev, k->services[i].module);
    mem_free(k->services);
    for (int i = 0; i < KEPT_CODES; i++) {
        buf_free(&k->codes[i].binary);
        buf_free(&k->codes[i].entries);
    }
    device_close(k->dev);
    *k = (struct bench_kept){ 0 };
}

static struct karg buffer(const struct memory *m)
{
    return (struct karg){ .memory = m };
}

static struct karg scalar(const void *p, int size)
{
    struct karg a = { .param.bytes = size };
    memcpy(a.param.value, p, (size_t)size);
    return a;
}

static int launch(struct bench *b, struct kernel *k, int64_t n, const struct karg *args, int nargs, struct err *err)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;
    struct geometry g = { .grid = { blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks, 1, 1 }, .block = { THREADS, 1, 1 } };
    return n <= 0 ? 0 : device_launch(b->dev, k, &g, args, nargs, err);
}

int service_begin(struct bench *b, struct err *err)
{
    return device_fill(b->dev, b->result, 0, RESULT_BYTES, 0, err);
}

int service_end(struct bench *b, int digests, struct found *out, struct err *err)
{
    uint32_t r[RESULT_BYTES / 4] = { 0 };
    int rc = device_read(b->dev, r, b->result, 0, (DIGESTS_AT + 2 * digests) * (int64_t)sizeof *r, err);
    uint32_t count = r[0] || !(r[1] | r[2]) ? r[0] : UINT32_MAX; /* 2^32 that are wrong count as 0 */
    *out = (struct found){ .count = count, .place = (int64_t)(uint32_t)~r[1] << 6, .worst = r[2] };
    memcpy(out->digests, r + DIGESTS_AT, (size_t)digests * sizeof *out->digests);
    return rc;
}

static void add_amounts(struct karg *to, const struct service *s, const struct amounts *a)
{
    int size = within_bytes(s->type);
    to[0] = scalar(a->first, size);
    to[1] = scalar(a->step, size);
    to[2] = scalar(a->last, size);
}

/* Bounds are there for any mode, since the kernel takes them. */
static void add_contents(struct karg *to, const struct service *s, const struct contents *what)
{
    to[0] = scalar(&what->seed, 8);
    to[1] = scalar(&what->mode, 4);
    add_amounts(to + 2, s, &what->within);
}

static void add_peaks(struct karg *to, const struct service *s, const struct contents *what)
{
    to[0] = scalar(&what->seed, 8);
    to[1] = scalar(&what->peaks.length, 8);
    to[2] = scalar(&what->peaks.inner, 8);
    add_amounts(to + 3, s, &what->peaks.within);
}

int service_fill(struct bench *b, const struct service *s, struct memory *m, int64_t n, struct contents what, struct err *err)
{
    struct karg args[8] = { buffer(m), scalar(&n, 8) };
    add_contents(args + 2, s, &what);
    int rc = launch(b, s->kernels[FILL_SOURCE], n, args, 7, err);
    if (rc || !what.peaks.length)
        return rc;
    add_peaks(args + 2, s, &what);
    return launch(b, s->kernels[FILL_PEAKS], n / what.peaks.length, args, 8, err);
}

int service_check_source(struct bench *b, const struct bench_arg *a, struct contents what, struct err *err)
{
    struct karg args[10] = { buffer(b->result), buffer(a->buf.inside), scalar(&a->n, 8) };
    add_contents(args + 3, a->service, &what);
    args[8] = scalar(&what.peaks.length, 8);
    args[9] = scalar(&what.peaks.inner, 8);
    int rc = launch(b, a->service->kernels[CHECK_SOURCE], a->n, args, 10, err);
    if (rc || !what.peaks.length)
        return rc;
    add_peaks(args + 3, a->service, &what);
    return launch(b, a->service->kernels[CHECK_PEAKS], a->n / what.peaks.length, args, 9, err);
}

/* In the precision that check_close computes in. */
static struct karg real(const struct service *s, double v)
{
    float f = (float)v;
    return s->type->bytes == 8 ? scalar(&v, 8) : scalar(&f, 4);
}

int service_check_same(struct bench *b, const struct bench_arg *a, int pass, uint32_t least, struct err *err)
{
    const struct tolerance *tol = &a->tolerance[pass];
    int32_t how = a->arg->partial | !tol->sum << 1;
    struct karg args[] = { buffer(b->result),           buffer(a->buf.inside),       buffer(a->expected[pass]), scalar(&a->n, 8),
                           real(a->service, tol->rtol), real(a->service, tol->atol), scalar(&how, 4),           scalar(&least, 4) };
    return tol->close ? launch(b, a->service->kernels[CHECK_WITHIN], a->n, args, 8, err)
                      : launch(b, a->service->kernels[CHECK_EQUAL], a->n, args, 4, err);
}

int service_check_guards(struct bench *b, const struct guarded *g, struct err *err)
{
    int32_t v = g->paint;
    int64_t zone = GUARD;
    struct karg args[] = { buffer(b->result), buffer(g->whole), scalar(&zone, 8), scalar(&g->bytes, 8), scalar(&v, 4) };
    return launch(b, b->services[0].kernels[CHECK_GUARDS], zone / 8, args, 5, err); /* which looks at 16 bytes at a time */
}

int service_check_unwritten(struct bench *b, const struct bench_arg *a, struct err *err)
{
    int32_t ones = 0xff, zeros = 0;
    struct karg args[] = { buffer(b->result), buffer(a->expected[TIMED]), buffer(a->buf.inside),
                           scalar(&a->n, 8),  scalar(&ones, 4),           scalar(&zeros, 4) };
    return launch(b, a->service->kernels[CHECK_UNWRITTEN], a->n, args, 6, err);
}

int service_digest(struct bench *b, const struct bench_arg *a, const struct memory *m, int which, struct err *err)
{
    int32_t at = DIGESTS_AT + 2 * which;
    int64_t words = a->n * a->service->type->bytes / 16;
    uint64_t key = rand_at(b->digest_key, (uint64_t)(a - b->args)); /* arguments that change places show */
    struct karg args[] = { buffer(b->result), buffer(m), scalar(&a->n, 8), scalar(&key, 8), scalar(&at, 4) };
    return launch(b, a->service->kernels[DIGEST], words > 0 ? words : 1, args, 5, err);
}

int service_flush(struct bench *b, struct err *err)
{
    int64_t n = b->flush_bytes / 16;
    struct karg args[] = { buffer(b->result), buffer(b->flush_buf), scalar(&n, 8) };
    return launch(b, b->services[0].kernels[FLUSH], n, args, 3, err);
}
