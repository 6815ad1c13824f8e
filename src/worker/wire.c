#include "worker/wire.h"

#include "model/serial.h"

static void io_bytes(struct serial *s, const void **at, size_t *n)
{
    if (!s->in)
        buf_bytes(s->out, *at, *n);
    else
        *at = get_bytes(s->in, n);
}

static void io_message(struct serial *s, const struct op *op, struct message *m)
{
    io_int(s, &m->number, INT32_MIN, INT32_MAX);
    io_enum(s, &m->outcome, OUT_COUNT - 1);
    io_enum(s, &m->standing, NO_VERDICT);
    io_text(s, m->text, sizeof m->text);
    io_text(s, m->key, sizeof m->key);
    io_text(s, m->compiler, sizeof m->compiler);
    io_text(s, m->code, sizeof m->code);
    io_time(s, &m->ms);
    io_time(s, &m->behind.cut_ns);
    io_time(s, &m->behind.few_ns);
    io_time(s, &m->facts.reference_ns);
    io_time(s, &m->facts.copy_ns);
    io_text(s, m->facts.alone, sizeof m->facts.alone);
    io_text(s, m->facts.unproved, sizeof m->facts.unproved);
    io_text(s, m->facts.constant, sizeof m->facts.constant);
    io_bytes(s, &m->source.at, &m->source.n);
    io_bytes(s, &m->binary.at, &m->binary.n);
    io_bytes(s, &m->portable.at, &m->portable.n);
    io_bytes(s, &m->entries.at, &m->entries.n);
    io_count(s, &m->ncandidates, 0, MAX_PLAYERS);
    for (int i = 0; i < m->ncandidates; i++) {
        io_enum(s, &m->candidates[i].kind, BENCH_PEER);
        io_int(s, &m->candidates[i].peer, 0, op->npeers ? op->npeers - 1 : 0);
        io_config(s, op, &m->candidates[i].config);
        io_bytes(s, &m->candidates[i].binary, &m->candidates[i].binary_bytes);
        io_bytes(s, &m->candidates[i].entries, &m->candidates[i].entries_bytes);
    }
    io_count(s, &m->nresults, 0, MAX_PLAYERS);
    for (int i = 0; i < m->nresults; i++)
        io_result(s, &m->results[i]);
}

void message_put(struct buf *out, const struct op *op, const struct message *m)
{
    size_t f = frame_begin(out, (int)m->kind);
    io_message(&(struct serial){ .out = out }, op, (struct message *)m); /* writing changes nothing */
    frame_end(out, f);
}

int message_get(enum frame_kind kind, struct cursor *body, const struct op *op, struct message *m, struct err *err)
{
    *m = (struct message){ .kind = kind };
    struct serial s = { .in = body };
    io_message(&s, op, m);
    if (!serial_failed(&s))
        return 0;
    message_free(m);
    return s.nomem ? err_nomem(err) : err_set(err, ERR_CORRUPT, "frame %d: not as cutune writes it", (int)kind);
}

void message_free(struct message *m)
{
    for (int i = 0; i < m->nresults; i++)
        result_free(&m->results[i]);
    m->nresults = 0;
}
