/* What makes a record out of date when it changes: hashes of an op's contract and of its variants. */
#include "base/hash.h"
#include "model/include.h"
#include "model/serial.h"

int op_contract(const struct op *op, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    struct serial s = { .out = &b };
    buf_u32(&b, op->check);
    buf_lstr(&b, op->check_length);
    for (int i = 0; i < op->nargs; i++) {
        buf_u8(&b, (uint8_t)op->args[i].fill);
        buf_u8(&b, op->args[i].partial);
    }
    io_launch(&s, (struct launch *)&op->reference); /* writing changes nothing, as below */
    return hash_buf(&b, put_with_includes(&b, op, op->reference_text, err), hash, err);
}

/* A template sees all words that a parameter may have, and of other parameters the one value. */
static void put_words(struct serial *s, const struct param *p)
{
    buf_lstr(s->out, p->name);
    for (int i = 0; i < p->n && p->values[i].type == VAL_STR; i++)
        io_val(s, &p->values[i]);
}

int variant_made(const struct op *op, const struct variant *v, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    struct serial s = { .out = &b };
    struct variant parts = *v;
    for (int i = 0; i < op->npreludes; i++)
        buf_lstr(&b, op->preludes[i].text);
    for (int i = 0; i < v->nparams; i++)
        put_words(&s, &v->params[i]);
    for (int i = 0; i < v->nlaunches; i++)
        io_launch(&s, &v->launches[i]);
    io_workspaces(&s, &parts);
    io_ints(&s, &parts.clear, &parts.nclear, 0);
    buf_u8(&b, v->requires.arch_specific);
    return hash_buf(&b, put_with_includes(&b, op, v->template_text, err), hash, err);
}
