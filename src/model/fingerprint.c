/* What makes a record out of date when it changes: hashes of an op's contract and of its variants. */
#include "base/hash.h"
#include "model/include.h"
#include "model/serial.h"

static int finish(struct buf *b, int rc, char hash[HASH_HEX], struct err *err)
{
    rc = rc ? rc : b->failed ? err_nomem(err) : 0;
    if (!rc)
        hash_hex(b->data, b->len, hash);
    buf_free(b);
    return rc;
}

int op_contract(const struct op *op, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    put_count(&b, op->check);
    buf_lstr(&b, op->check_length);
    for (int i = 0; i < op->nargs; i++) {
        buf_u8(&b, (uint8_t)op->args[i].fill);
        buf_u8(&b, op->args[i].partial);
    }
    put_launch(&b, &op->reference);
    return finish(&b, put_with_includes(&b, op, op->reference_text, err), hash, err);
}

/* A template sees all words that a parameter may have, and of others the value that it has. */
static void put_words(struct buf *b, const struct param *p)
{
    buf_lstr(b, p->name);
    for (int i = 0; i < p->n && p->values[i].type == VAL_STR; i++)
        put_val(b, p->values[i]);
}

int variant_made(const struct op *op, const struct variant *v, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    buf_lstr(&b, op->prelude_cuda);
    buf_lstr(&b, op->prelude_opencl);
    for (int i = 0; i < v->nparams; i++)
        put_words(&b, &v->params[i]);
    for (int i = 0; i < v->nlaunches; i++)
        put_launch(&b, &v->launches[i]);
    put_workspaces(&b, v->workspaces, v->nworkspaces);
    put_ints(&b, v->clear, v->nclear);
    buf_u8(&b, v->requires.arch_specific);
    return finish(&b, put_with_includes(&b, op, v->template_text, err), hash, err);
}
