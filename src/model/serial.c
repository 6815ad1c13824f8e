#include "model/serial.h"

#include <string.h>

bool serial_failed(const struct serial *s)
{
    return !s->out && (s->in->bad || s->nomem);
}

/* Notes a failure unless what was read is right. */
static bool accept(struct serial *s, bool right)
{
    if (!s->out && !right)
        s->in->bad = true;
    return !serial_failed(s);
}

void io_bool(struct serial *s, bool *v)
{
    unsigned byte = *v;
    io_enum(s, &byte, 1);
    if (!s->out)
        *v = byte;
}

void io_enum(struct serial *s, unsigned *v, unsigned most)
{
    if (s->out)
        buf_u8(s->out, (uint8_t)*v);
    else
        *v = get_u8(s->in);
    if (!accept(s, *v <= most))
        *v = 0;
}

void io_int(struct serial *s, int *v, int least, int most)
{
    if (s->out)
        buf_u32(s->out, (uint32_t)*v);
    else
        *v = (int)(int32_t)get_u32(s->in);
    if (!accept(s, *v >= least && *v <= most))
        *v = 0;
}

void io_number(struct serial *s, int64_t *v, int64_t least, int64_t most)
{
    if (s->out)
        buf_i64(s->out, *v);
    else
        *v = get_i64(s->in);
    if (!accept(s, *v >= least && *v <= most))
        *v = 0;
}

void io_text(struct serial *s, char *text, size_t room)
{
    size_t n = 0;
    if (s->out) {
        buf_lstr(s->out, text);
        return;
    }
    const char *from = get_lstr(s->in, &n);
    if (!accept(s, from && n < room))
        n = 0;
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
    accept(s, !*v || !s->lines || text_ok(*v, MAX_LINE, false));
}

void io_given(struct serial *s, const char **v)
{
    io_str(s, v);
    accept(s, *v);
}

static void io_f64(struct serial *s, double *v)
{
    if (s->out)
        buf_f64(s->out, *v);
    else
        *v = get_f64(s->in);
}

void io_time(struct serial *s, double *v)
{
    io_f64(s, v);
    if (!s->in)
        return;
    s->in->bad = s->in->bad || !(*v >= 0 && *v <= TIME_MAX); /* nor NaN */
    *v = s->in->bad ? 0 : *v;
}

void io_val(struct serial *s, struct val *v)
{
    unsigned type = v->type;
    io_enum(s, &type, VAL_STR);
    if (!s->out)
        *v = (struct val){ .type = type };
    switch (type) {
    case VAL_BOOL:
        io_bool(s, &v->b);
        break;
    case VAL_INT:
        io_number(s, &v->i, INT64_MIN, INT64_MAX);
        break;
    case VAL_FLOAT:
        io_f64(s, &v->f);
        break;
    case VAL_STR:
        io_given(s, &v->s);
        break;
    default:
        accept(s, false);
    }
    if (serial_failed(s))
        *v = (struct val){ .type = VAL_NIL };
}

void io_count(struct serial *s, int *n, int least, int most)
{
    io_int(s, n, least, most);
    if (!s->out && !accept(s, (size_t)*n <= (size_t)(s->in->end - s->in->at))) /* each takes a byte at least */
        *n = 0;
}

void io_array(struct serial *s, void *array, int *n, int least, int most, size_t bytes)
{
    io_count(s, n, least, most);
    if (s->out)
        return;
    void *p = serial_failed(s) ? NULL : arena_array(s->arena, (size_t)*n, bytes);
    memcpy(array, &p, sizeof p); /* whatever type of pointer it is */
    s->nomem = s->nomem || (!p && !s->in->bad);
    *n = p ? *n : 0;
}

void io_ints(struct serial *s, int **v, int *n, int most)
{
    io_array(s, v, n, 0, most, sizeof **v);
    for (int i = 0; i < *n; i++)
        io_int(s, &(*v)[i], 0, INT32_MAX);
}
