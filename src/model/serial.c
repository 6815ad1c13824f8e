#include "model/serial.h"

#include <string.h>

bool serial_reads(const struct serial *s)
{
    return !s->out;
}

bool serial_failed(const struct serial *s)
{
    return !s->out && (s->in->bad || s->nomem);
}

void io_bool(struct serial *s, bool *v)
{
    unsigned byte = *v;
    io_enum(s, &byte);
    if (s->out)
        return;
    s->in->bad = s->in->bad || byte > 1;
    *v = byte == 1;
}

void io_enum(struct serial *s, unsigned *v)
{
    if (s->out)
        buf_u8(s->out, (uint8_t)*v);
    else
        *v = get_u8(s->in);
}

void io_int(struct serial *s, int *v)
{
    if (s->out)
        buf_u32(s->out, (uint32_t)*v);
    else
        *v = (int)(int32_t)get_u32(s->in);
}

void io_i64(struct serial *s, int64_t *v)
{
    if (s->out)
        buf_i64(s->out, *v);
    else
        *v = get_i64(s->in);
}

void io_number(struct serial *s, int64_t *v, int64_t least, int64_t most)
{
    io_i64(s, v);
    if (s->out)
        return;
    s->in->bad = s->in->bad || *v < least || *v > most;
    *v = s->in->bad ? 0 : *v;
}

void io_text(struct serial *s, char *text, size_t room)
{
    size_t n = 0;
    if (s->out) {
        buf_lstr(s->out, text);
        return;
    }
    const char *from = get_lstr(s->in, &n);
    s->in->bad = s->in->bad || !from || n >= room;
    n = s->in->bad ? 0 : n;
    if (n)
        memcpy(text, from, n);
    text[n] = 0;
}

void io_str(struct serial *s, const char **v)
{
    size_t n;
    if (s->out) {
        buf_lstr(s->out, *v);
        return;
    }
    const char *text = serial_failed(s) ? NULL : get_lstr(s->in, &n);
    *v = text ? arena_strndup(s->arena, text, n) : NULL;
    s->nomem = s->nomem || (text && !*v);
    if (*v && s->lines && !text_ok(*v, MAX_LINE, false))
        s->in->bad = true;
}

void io_f64(struct serial *s, double *v)
{
    if (s->out)
        buf_f64(s->out, *v);
    else
        *v = get_f64(s->in);
}

void io_val(struct serial *s, struct val *v)
{
    unsigned type = v->type;
    io_enum(s, &type);
    if (!s->out)
        *v = (struct val){ .type = type };
    switch (type) {
    case VAL_BOOL:
        io_bool(s, &v->b);
        break;
    case VAL_INT:
        io_i64(s, &v->i);
        break;
    case VAL_FLOAT:
        io_f64(s, &v->f);
        break;
    case VAL_STR:
        io_str(s, &v->s);
        if (!s->out && !v->s)
            s->in->bad = true;
        break;
    default:
        if (!s->out)
            s->in->bad = true;
        break;
    }
    if (serial_failed(s))
        *v = (struct val){ .type = VAL_NIL };
}

void io_count(struct serial *s, int *n, int most)
{
    io_int(s, n);
    if (s->out)
        return;
    if (*n < 0 || *n > most || (size_t)*n > (size_t)(s->in->end - s->in->at)) /* each takes a byte at least */
        s->in->bad = true;
    *n = serial_failed(s) ? 0 : *n;
}

void io_array(struct serial *s, void *array, int *n, int most, size_t bytes)
{
    io_count(s, n, most);
    if (s->out)
        return;
    void *p = serial_failed(s) ? NULL : arena_array(s->arena, (size_t)*n, bytes);
    memcpy(array, &p, sizeof p); /* whatever type of pointer it is */
    if (!p) {
        s->nomem = s->nomem || !s->in->bad;
        *n = 0;
    }
}

void io_ints(struct serial *s, int **v, int *n, int most)
{
    io_array(s, v, n, most, sizeof **v);
    for (int i = 0; i < *n; i++)
        io_int(s, &(*v)[i]);
}
