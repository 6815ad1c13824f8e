#include "worker/wire.h"

#include <string.h>

#include "base/mem.h"

void task_put(struct buf *out, const struct task *t)
{
    buf_lstr(out, t->home);
    op_put(out, t->op);
    for (int i = 0; i < t->op->naxes; i++)
        buf_i64(out, t->problem.size[i]);
    buf_u32(out, (uint32_t)t->row);
    devspec_put(out, &t->dev);
    buf_u8(out, t->warm);
    buf_i64(out, (int64_t)t->fresh);
}

int task_get(struct cursor *in, struct task *t, struct err *err)
{
    size_t n;
    *t = (struct task){ 0 };
    const char *home = get_lstr(in, &n);
    if (!home)
        return err_set(err, ERR_CORRUPT, "task without a home");
    t->home = mem_strndup(home, n);
    int rc = t->home ? op_get(in, &t->op, err) : err_nomem(err);
    if (rc)
        goto fail;
    for (int i = 0; i < t->op->naxes; i++)
        t->problem.size[i] = get_i64(in);
    uint32_t row = get_u32(in);
    devspec_get(in, &t->dev);
    t->warm = get_u8(in);
    t->fresh = (uint64_t)get_i64(in);
    if (in->bad || row >= (uint32_t)t->op->nrows) {
        rc = err_set(err, ERR_CORRUPT, "task is cut short or out of range");
        goto fail;
    }
    t->row = (int)row;
    return 0;
fail:
    op_free(t->op);
    mem_free((char *)t->home);
    *t = (struct task){ 0 };
    return rc;
}

size_t frame_begin(struct buf *out, enum frame_kind kind)
{
    size_t begin = out->len;
    buf_u32(out, 0);
    buf_u8(out, (uint8_t)kind);
    return begin;
}

void frame_end(struct buf *out, size_t begin)
{
    size_t body = out->len - begin - 4;
    if (out->failed || body > FRAME_MAX) {
        out->failed = true;
        return;
    }
    for (int i = 0; i < 4; i++)
        out->data[begin + (size_t)i] = (char)(body >> 8 * i);
}

int frame_take(const char *data, size_t len, enum frame_kind *kind, struct cursor *body, size_t *taken, struct err *err)
{
    *taken = 0;
    if (len < 4)
        return 0;
    struct cursor head = cursor_on(data, 4);
    uint32_t size = get_u32(&head);
    if (size < 1 || size > FRAME_MAX)
        return err_set(err, ERR_CORRUPT, "a frame of %u bytes", size);
    if (len - 4 < size)
        return 0;
    *kind = (enum frame_kind)(unsigned char)data[4];
    *body = cursor_on(data + 5, size - 1);
    *taken = 4 + (size_t)size;
    return 0;
}
