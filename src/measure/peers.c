/* What is timed beside kernels: a library's call, and a copy. To the rest of the bench they are candidates without code. */
#include <string.h>

#include "measure/internal.h"

int copy_load(struct bench *b, struct loaded *l, double bytes, struct err *err)
{
    const double most = 4.0 * (1 << 30); /* past that the bandwidth no longer changes, and memory may be short */
    double half = bytes / 2 > most ? most : bytes / 2;
    if (half < 1)
        return err_set(err, ERR_INVALID, "the op does not say how many bytes it moves");
    l->copy_bytes = (int64_t)half;
    l->copy_scale = bytes / 2 / half;
    return device_alloc(b->dev, l->copy_bytes, &l->from, err)
               ?: device_alloc(b->dev, l->copy_bytes, &l->to, err)
               ?: device_fill(b->dev, l->from, 0, l->copy_bytes, 1, err);
}

/* Its own, as the reference has: what it leaves there is nobody else's business. */
static int take_workspace(struct bench *b, struct loaded *l, struct err *err)
{
    struct guarded *g = &l->work[0];
    *g = (struct guarded){ .bytes = LIBRARY_WORKSPACE, .tint = TINT_WORKSPACE };
    l->nwork = 1;
    l->keeps = true;
    return device_alloc(b->dev, g->bytes + 2 * GUARD, &g->whole, err)
               ?: device_view(b->dev, g->whole, GUARD, g->bytes, &g->inside, err);
}

int peer_load(struct bench *b, int peer, struct loaded *l, struct result *r, struct err *err)
{
    const struct op *op = b->set.op;
    const struct peer *p = &op->peers[peer];
    struct library_call call = { .library = p->library, .call = p->call, .mode = p->mode };
    *l = (struct loaded){ .slack = peer_slack(p) };
    int rc = peer_evaluate(b->plan, p, b->vals, &call.values, err);
    if (rc || !call.values.applies)
        return rc == ERR_NOMEM ? rc : condemn(r, OUT_INVALID, "%s", rc ? err->msg : "not for this problem");
    for (int i = 0; i < 3; i++)
        if (p->buffer[i] >= 0) {
            call.type[i] = op_arg_dtype(op, op->args[p->buffer[i]].type, b->set.row);
            call.memory[i] = b->args[p->buffer[i]].buf.inside;
        }
    rc = take_workspace(b, l, err);
    call.workspace = l->work[0].inside;
    rc = rc ?: device_call_open(b->dev, &call, &l->call, err);
    if (rc == ERR_NOTFOUND) /* which nobody needs to be told */
        return condemn(r, OUT_INVALID, "%s", "");
    return rc == ERR_UNSUPPORTED ? condemn(r, OUT_INVALID, "%s", err->msg) : rc;
}

void peer_unload(struct bench *b, struct loaded *l)
{
    device_call_close(b->dev, l->call);
    device_free(b->dev, l->from);
    device_free(b->dev, l->to);
}

int peer_launch(struct bench *b, const struct loaded *l, struct err *err)
{
    return l->call ? device_call_run(b->dev, l->call, l->way, err) : device_copy(b->dev, l->to, l->from, l->copy_bytes, err);
}

/* By a power of two, so that what is taken back is what there was. */
static void widen(struct bench *b, double by)
{
    for (int i = 0; i < b->nargs; i++)
        for (int p = 0; p < PASSES; p++) {
            b->args[i].tolerance[p].atol *= by;
            b->args[i].tolerance[p].rtol *= by;
        }
}

void slack_begin(struct bench *b, const struct loaded *l)
{
    if (l->slack > 0)
        widen(b, l->slack);
}

void slack_end(struct bench *b, const struct loaded *l)
{
    if (l->slack > 0)
        widen(b, 1 / l->slack);
}
