/* The PTX of tables: one kernel takes a compiler 0.1 s, so hundreds of them are compiled on all cores. Process i of n compiles each n-th of
 * the queue, from the i-th on, and sends what came of it; what has not been asked for waits in its socket. */
#include <sys/param.h>

#include "base/mem.h"
#include "base/util.h"
#include "child/child.h"
#include "child/process.h"
#include "cli/tables.h"

enum { MAX_PROCESSES = 64, COMPILE_S = 60, FRAME_COMPILED = FRAME_FAILED + 1 };
static const int64_t MAX_MEMORY = INT64_C(4) << 30; /* of a process */

struct compiling {
    const struct shipped *queue;
    int n;
    int nprocesses, wanted;
    struct forked processes[MAX_PROCESSES];
};

static int send_ptx(struct channel *channel, const struct shipped *s, struct err *err)
{
    struct buf ptx = { 0 }, entries = { 0 };
    struct err why = { 0 };
    size_t f = frame_begin(&channel->out, FRAME_COMPILED);
    buf_i64(&channel->out, s->backend->compiling->ship(s->source, &s->requires, &ptx, &entries, &why));
    buf_lstr(&channel->out, why.msg);
    buf_bytes(&channel->out, ptx.data, ptx.len);
    buf_bytes(&channel->out, entries.data, entries.len);
    frame_end(&channel->out, f);
    buf_free(&ptx);
    buf_free(&entries);
    return channel_send(channel, NULL, err);
}

/* What a process does: by its copy of the list it is the one that is being started. */
static int compile_share(struct channel *channel, void *arg, struct err *err)
{
    const struct compiling *c = arg;
    int rc = 0;
    process_bound_growth(MAX_MEMORY);
    for (int i = c->nprocesses; !rc && i < c->n; i += c->wanted)
        rc = c->queue[i].compiled ? send_ptx(channel, &c->queue[i], err) : 0;
    return rc;
}

int compiling_begin(const struct shipped *queue, int n, struct compiling **out, struct err *err)
{
    struct compiling *c = *out = mem_zalloc(sizeof *c);
    int rc = c ? 0 : err_nomem(err);
    if (rc)
        return rc;
    c->queue = queue;
    c->n = n;
    c->wanted = MAX(1, MIN(MIN(core_count(), MAX_PROCESSES), n));
    for (; !rc && c->nprocesses < c->wanted; c->nprocesses += !rc) {
        rc = forked_start(COMPILE_S * (n / c->wanted + 1), compile_share, c, &c->processes[c->nprocesses], err);
        c->processes[c->nprocesses].who = "compiling";
    }
    return rc;
}

int compiling_next(struct compiling *c, int i, struct buf *ptx, struct buf *entries, struct err *err)
{
    const struct patience p = patience_of(COMPILE_S, NULL);
    struct forked *from = &c->processes[i % c->wanted];
    struct frame frame;
    size_t why_len, ptx_len, entries_len;
    int rc = forked_next(from, &p, &frame, err);
    if (rc)
        return rc;
    int64_t refused = get_i64(&frame.body);
    const char *why = get_lstr(&frame.body, &why_len);
    const void *text = get_bytes(&frame.body, &ptx_len), *names = get_bytes(&frame.body, &entries_len);
    if (frame.kind != FRAME_COMPILED || frame.body.bad)
        return forked_failed(from, ERR_CORRUPT, err);
    if (refused)
        return err_set(err, (int)refused, "%.*s", (int)why_len, why);
    buf_put(ptx, text, ptx_len);
    buf_put(entries, names, entries_len);
    return buf_check(ptx, err) ?: buf_check(entries, err);
}

void compiling_end(struct compiling *c)
{
    for (int i = 0; c && i < c->nprocesses; i++)
        forked_close(&c->processes[i]);
    mem_free(c);
}
