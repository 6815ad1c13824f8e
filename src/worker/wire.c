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

bool frame_text(struct cursor *body, char *out, size_t room)
{
    size_t n;
    const char *s = get_lstr(body, &n);
    if (!s || n >= room)
        return false;
    memcpy(out, s, n);
    out[n] = 0;
    return true;
}
