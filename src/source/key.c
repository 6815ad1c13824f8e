/* The key of a measurement: all that its verdict and its time depend on. Names of arguments, comments of the script and other variants
 * have no part in it, so a change of them makes nothing stale. */
#include "base/hash.h"
#include "source/source.h"

#include "model/plan.h"
#include "model/record.h"

static int put_args(const struct op *op, const struct plan *plan, const struct val *slots, int row, struct buf *text,
                    struct err *err)
{
    int rc = 0;
    for (int i = 0; i < op->nargs && !rc; i++) {
        const struct arg *arg = &op->args[i];
        unsigned char value[16];
        int64_t bytes = 0;
        int size = 0;
        buf_u8(text, (uint8_t)arg->kind);
        buf_u8(text, (uint8_t)arg->fill);
        buf_u8(text, arg->partial);
        buf_lstr(text, op_arg_dtype(op, arg->type, row)->name);
        rc = arg->kind == ARG_VALUE ? plan_arg_value(plan, i, slots, value, &size, err)
                                    : plan_arg_bytes(plan, i, slots, row, &bytes, err);
        if (!rc && arg->kind == ARG_VALUE)
            buf_bytes(text, value, (size_t)size);
        buf_i64(text, bytes);
    }
    return rc;
}

static int put_launch(const struct plan *plan, const struct launch *l, int i, const struct val *slots, struct buf *text,
                      struct err *err)
{
    struct geometry g;
    int rc = plan_geometry(plan, i, slots, &g, err);
    if (rc)
        return rc;
    buf_lstr(text, l->kernel);
    for (int d = 0; d < 3; d++) {
        buf_i64(text, g.grid[d]);
        buf_i64(text, g.block[d]);
    }
    buf_i64(text, g.shared);
    buf_u32(text, (uint32_t)l->nargs);
    for (int a = 0; a < l->nargs; a++)
        buf_u32(text, (uint32_t)l->args[a]);
    return 0;
}

static void put_text(struct buf *text, const char *s)
{
    buf_lstr(text, s ? s : "");
}

/* A candidate is verified after a run of another problem, too. These decide which problem that is, and how it is launched. */
static void put_expressions(const struct variant *v, struct buf *text)
{
    for (int i = 0; i < v->nwhere; i++)
        put_text(text, v->where[i].text);
    for (int i = 0; i < v->nlaunches; i++) {
        for (int d = 0; d < 3; d++) {
            put_text(text, v->launches[i].grid[d]);
            put_text(text, v->launches[i].block[d]);
        }
        put_text(text, v->launches[i].shared);
    }
    for (int i = 0; i < v->nworkspaces; i++)
        put_text(text, v->workspaces[i].count);
}

static int put_variant(const struct variant *v, const struct plan *plan, const struct val *slots, int row, struct buf *text,
                       struct err *err)
{
    int rc = 0;
    buf_u8(text, v->requires.arch_specific); /* compiled for sm_NNa */
    put_expressions(v, text);
    for (int i = 0; i < v->nlaunches && !rc; i++)
        rc = put_launch(plan, &v->launches[i], i, slots, text, err);
    for (int i = 0; i < v->nworkspaces && !rc; i++) {
        int64_t bytes = 0;
        rc = plan_workspace_bytes(plan, i, slots, row, &bytes, err);
        buf_i64(text, bytes);
        buf_u8(text, v->workspaces[i].clear);
    }
    for (int i = 0; i < v->nclear && !rc; i++)
        buf_u32(text, (uint32_t)v->clear[i]);
    return rc;
}

/* What the results are compared with, and how. */
static int put_check(const struct op *op, const struct plan *plan, const struct val *slots, int row, const struct devspec *dev,
                     struct buf *text, struct err *err)
{
    struct buf source = { 0 };
    int64_t length = 0;
    int rc = plan_length(plan, slots, &length, err);
    buf_u8(text, (uint8_t)op->check);
    buf_i64(text, length);
    if (!rc && op->reference_text) {
        rc = source_render(op, NULL, row, dev, &source, err);
        buf_lstr(text, buf_text(&source));
        rc = rc ?: put_launch(plan, &op->reference, 0, slots, text, err);
    }
    buf_free(&source);
    return rc;
}

static int finish(struct buf *text, int rc, char hash[HASH_HEX], struct err *err)
{
    if (!rc && text->failed)
        rc = err_nomem(err);
    if (!rc)
        hash_hex(text->data, text->len, hash);
    buf_free(text);
    return rc;
}

int source_basis(const struct op *op, const struct problem *prob, int row, const struct devspec *dev, const char *compiler,
                 char basis[HASH_HEX], struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct buf text = { 0 };
    struct plan *plan = NULL;
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, prob, row, dev, NULL, slots);
    buf_u32(&text, PROTOCOL);
    buf_lstr(&text, compiler);
    rc = put_args(op, plan, slots, row, &text, err) ?: put_check(op, plan, slots, row, dev, &text, err);
    plan_free(plan);
    return finish(&text, rc, basis, err);
}

int source_key(const struct op *op, const struct plan *plan, const struct config *config, const struct problem *prob, int row,
               const struct devspec *dev, const char *source, const char *basis, char key[HASH_HEX], struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct buf text = { 0 };
    plan_slots(plan, prob, row, dev, config, slots);
    buf_lstr(&text, basis);
    buf_lstr(&text, source);
    int rc = put_variant(&op->variants[config->variant], plan, slots, row, &text, err);
    return finish(&text, rc, key, err);
}
