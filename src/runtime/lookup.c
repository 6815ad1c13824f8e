/* Questions: checked, put into the store's words, and answered once. */
#include <string.h>

#include "base/mem.h"
#include "runtime/runtime.h"

static int take_text(char *to, size_t room, const char *from, const char *what, struct err *err)
{
    size_t n = strnlen(from, room);
    if (n == room)
        return err_set(err, ERR_INVALID, "the device's %s has no end", what);
    memcpy(to, from, n + 1);
    return 0;
}

static int take_device(const cutune_device *d, struct devspec *out, struct err *err)
{
    if (!d)
        return err_set(err, ERR_INVALID, "no device given: cutune_device_find describes one");
    if (d->size < sizeof *d)
        return err_set(err, ERR_INVALID, "the device's size is %zu: set it to sizeof(cutune_device), %zu", d->size, sizeof *d);
    *out = (struct devspec){
        .multiprocessors = d->multiprocessors,
        .memory = d->memory,
        .cc = d->cc,
        .warp = d->warp,
        .l2 = d->l2,
        .max_threads = d->max_threads,
        .max_block = { d->max_block[0], d->max_block[1], d->max_block[2] },
        .max_grid = { d->max_grid[0], d->max_grid[1], d->max_grid[2] },
        .max_shared = d->max_shared,
        .max_static_shared = d->max_static_shared,
        .max_alloc = d->max_alloc,
        .fp64 = d->fp64,
        .shares_cores = d->cpu,
    };
    int rc;
    if ((rc = take_text(out->backend, sizeof out->backend, d->backend, "backend", err)) ||
        (rc = take_text(out->name, sizeof out->name, d->name, "name", err)) ||
        (rc = take_text(out->arch, sizeof out->arch, d->arch, "arch", err)))
        return rc;
    return take_text(out->mig, sizeof out->mig, d->mig, "mig", err);
}

/* The op by name, read from the store once. */
static int known_op(struct cutune *c, const char *name, const struct op **out, struct err *err)
{
    for (const struct known_op *k = c->ops; k; k = k->next)
        if (!strcmp(k->op->name, name)) {
            *out = k->op;
            return 0;
        }
    struct known_op *k = mem_zalloc(sizeof *k);
    if (!k)
        return err_nomem(err);
    int rc = store_op(c->store, name, &k->op, err);
    if (rc) {
        mem_free(k);
        return rc;
    }
    k->next = c->ops;
    c->ops = k;
    *out = k->op;
    return 0;
}

static int take_sizes(const struct op *op, const int64_t *sizes, int n, struct problem *out, struct err *err)
{
    if (n != op->naxes || !sizes) {
        struct buf axes = { 0 };
        for (int i = 0; i < op->naxes; i++)
            buf_fmt(&axes, "%s%s", i ? ", " : "", op->axes[i].name);
        err_set(err, ERR_INVALID, "%s takes %d sizes (%s), not %d", op->name, op->naxes, buf_text(&axes), sizes ? n : 0);
        buf_free(&axes);
        return ERR_INVALID;
    }
    for (int i = 0; i < n; i++) {
        if (!axis_takes(&op->axes[i], sizes[i]))
            return err_set(err, ERR_INVALID, "%s: %s cannot be %lld: %s", op->name, op->axes[i].name, (long long)sizes[i],
                           op->axes[i].kind == AXIS_FLAG ? "a flag is 0 or 1" : "it is at least 1");
        out->size[i] = sizes[i];
    }
    return 0;
}

static int ask(struct cutune *c, const cutune_device *device, const char *op, const char *types, const int64_t *sizes, int nsizes,
               struct question *q, struct err *err)
{
    int rc = take_device(device, &q->dev, err);
    if (rc)
        return rc;
    if (!op || !types)
        return err_set(err, ERR_INVALID, "no %s given", op ? "types" : "op");
    if ((rc = known_op(c, op, &q->op, err)))
        return rc;
    q->row = op_row(q->op, types, err);
    if (q->row < 0)
        return err ? err->code : ERR_NOTFOUND;
    if ((rc = take_sizes(q->op, sizes, nsizes, &q->problem, err)))
        return rc;
    op_row_print(&q->types, q->op, q->row);
    problem_print(&q->sizes, q->op, &q->problem);
    devspec_put(&q->text, &q->dev); /* all of it: limits decide too */
    buf_fmt(&q->text, "%s %s %s", q->op->name, buf_text(&q->types), buf_text(&q->sizes));
    return q->types.failed || q->sizes.failed || q->text.failed ? err_nomem(err) : 0;
}

static struct cutune_kernel **bucket(struct cutune *c, const struct buf *question, char key[HASH_HEX])
{
    unsigned long place = 0;
    hash_hex(question->data, question->len, key);
    for (int i = 0; i < 4; i++)
        place = place * 16 + (unsigned long)(key[i] <= '9' ? key[i] - '0' : key[i] - 'a' + 10);
    return &c->kernels[place % BUCKETS];
}

static int answer(struct cutune *c, const struct question *q, const cutune_kernel **out, struct err *err)
{
    char key[HASH_HEX];
    struct cutune_kernel **first = bucket(c, &q->text, key), *k;
    for (k = *first; k; k = k->next)
        if (!strcmp(k->question, key)) {
            *out = k;
            return 0;
        }
    int rc = find_kernel(c->store, q, &k, err);
    if (rc)
        return rc;
    k->question = arena_strdup(k->tuned->arena, key);
    if (!k->question) {
        kernel_free(k);
        return err_nomem(err);
    }
    k->next = *first;
    *first = k;
    *out = k;
    return 0;
}

int cutune_lookup(cutune *c, const cutune_device *device, const char *op, const char *types, const int64_t *sizes, int nsizes,
                  const cutune_kernel **out)
{
    if (!c)
        return CUTUNE_ERR_INVALID;
    if (!c->store)
        return err_set(&c->err, ERR_INVALID, "the database is not open");
    if (!out)
        return err_set(&c->err, ERR_INVALID, "no place for the kernel given");
    struct question q = { 0 };
    int rc = ask(c, device, op, types, sizes, nsizes, &q, &c->err);
    if (!rc)
        rc = answer(c, &q, out, &c->err);
    buf_free(&q.types);
    buf_free(&q.sizes);
    buf_free(&q.text);
    return rc;
}
