/* Hashes of an op: what makes a record out of date when it changes. */
#include "base/hash.h"
#include "model/include.h"
#include "model/serial.h"

/* The text of a template with all that it is built of. Most have nothing but the text. */
static int put_built(struct buf *out, const struct op *op, const struct variant *v, struct err *err)
{
    const struct build *how = &v->build;
    int rc = put_with_includes(out, op, v->template_text, err);
    if (how->language)
        buf_lstr(out, how->language);
    for (int i = 0; i < how->nmore && !rc; i++)
        rc = put_with_includes(out, op, how->more[i].text, err);
    for (int i = 0; i < how->noptions; i++) {
        buf_lstr(out, how->options[i].backend);
        buf_lstr(out, how->options[i].text);
    }
    return rc;
}

/* Writing changes nothing of what is written. The launches before `whole` are without what a plain one has nothing of. */
static void put_launches(struct serial *s, const struct variant *v, int whole)
{
    for (int i = 0; i < v->nlaunches; i++) {
        io_launch(s, &v->launches[i]);
        if (i >= whole || !launch_plain(&v->launches[i]))
            io_launch_more(s, &v->launches[i]);
    }
}

static void put_workspaces(struct serial *s, const struct variant *v)
{
    io_workspaces(s, &(struct variant){ .nworkspaces = v->nworkspaces, .workspaces = v->workspaces });
}

static void put_check(struct buf *b, const struct check *c)
{
    buf_u32(b, c->kind);
    buf_lstr(b, c->length);
    if (c->kind == CHECK_CLOSE) {
        buf_lstr(b, c->rtol);
        buf_lstr(b, c->atol);
    }
}

/* Of a file its contents count, not its name. */
static void put_data(struct buf *b, const struct arg_data *d)
{
    buf_lstr(b, d->range[0]);
    buf_lstr(b, d->range[1]);
    buf_lstr(b, d->below);
    buf_u8(b, (uint8_t)(d->sorted | d->init << 1));
    if (d->file.name)
        buf_lstr(b, d->file.digest);
    for (int i = 0; i < 3 && d->peaks[0]; i++)
        buf_lstr(b, d->peaks[i]);
}

int op_contract(const struct op *op, char hash[HASH_HEX], struct err *err)
{
    struct buf b = { 0 };
    struct serial s = { .out = &b };
    put_check(&b, &op->check);
    for (int i = 0; i < op->nargs; i++) {
        buf_u8(&b, (uint8_t)op->args[i].fill);
        buf_u8(&b, (uint8_t)(op->args[i].partial | op->args[i].own_check << 1));
        if (op->args[i].own_check)
            put_check(&b, &op->args[i].check);
        if (op->args[i].kind == ARG_SCALAR)
            buf_lstr(&b, op->args[i].value);
        if (op->args[i].other)
            buf_lstr(&b, op->args[i].other);
        if (op->args[i].constant)
            buf_lstr(&b, op->args[i].constant);
        if (data_said(&op->args[i].data)) {
            buf_str(&b, "data");
            put_data(&b, &op->args[i].data);
        }
    }
    if (!op->reference.nlaunches)
        io_launch(&s, &(struct launch){ .kernel = NULL });
    put_launches(&s, &op->reference, 1);
    if (op->reference.nlaunches > 1 || op->reference.nworkspaces)
        put_workspaces(&s, &op->reference);
    if (op->outside_digest)
        buf_lstr(&b, op->outside_digest);
    int rc = put_built(&b, op, &op->reference, err);
    if (!rc && op->init.template_text) {
        buf_str(&b, "init");
        put_launches(&s, &op->init, 0);
        rc = put_built(&b, op, &op->init, err);
    }
    return hash_buf(&b, rc, hash, err);
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
    put_launches(&s, v, v->nlaunches);
    put_workspaces(&s, v);
    io_ints(&s, &parts.clear, &parts.nclear, 0);
    buf_u8(&b, v->requires.arch_specific);
    for (int i = 0; i < op->nargs; i++)
        if (arg_is_constant(op, v, i))
            buf_lstr(&b, op->args[i].constant);
    return hash_buf(&b, put_built(&b, op, v, err), hash, err);
}
