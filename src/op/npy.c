#include "op/npy.h"

#include <stdio.h>
#include <string.h>

static const char magic[6] = "\x93NUMPY";

bool npy_is(const void *start, size_t n)
{
    return n >= sizeof magic && !memcmp(start, magic, sizeof magic);
}

/* The header's text, a dictionary of Python: { 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. What is read of it moves
 * `at`. */
struct header {
    const char *at, *end;
    struct err *err;
};

static void skip(struct header *h)
{
    while (h->at < h->end && strchr(" \t\r\n", *h->at) && *h->at)
        h->at++;
}

static bool take(struct header *h, char c)
{
    skip(h);
    bool there = h->at < h->end && *h->at == c;
    h->at += there;
    return there;
}

static bool take_word(struct header *h, const char *word)
{
    size_t n = strlen(word);
    skip(h);
    bool there = (size_t)(h->end - h->at) >= n && !memcmp(h->at, word, n);
    h->at += there ? n : 0;
    return there;
}

static int damaged(const struct header *h)
{
    return err_set(h->err, ERR_INVALID, "its header is cut or not as NumPy writes it");
}

/* 'text', between quotes of either kind. */
static int take_text(struct header *h, char *out, size_t room)
{
    skip(h);
    char quote = h->at < h->end ? *h->at : 0;
    const char *first = h->at + 1;
    const char *last = quote == '\'' || quote == '"' ? memchr(first, quote, (size_t)(h->end - first)) : NULL;
    if (!last || (size_t)(last - first) >= room || memchr(first, 0, (size_t)(last - first)))
        return damaged(h);
    snprintf(out, room, "%.*s", (int)(last - first), first);
    h->at = last + 1;
    return 0;
}

/* '<f4'. Bytes have no order. */
static int take_element(struct header *h, char element[DATA_ELEMENT])
{
    char text[40];
    skip(h);
    if (h->at < h->end && *h->at == '[')
        return err_set(h->err, ERR_INVALID, "its elements are records: only plain numbers can be read");
    int rc = take_text(h, text, sizeof text);
    if (rc)
        return rc;
    size_t order = strchr("<>|=", *text) && *text, digits = text[0] && text[order] ? strspn(text + order + 1, "0123456789") : 0;
    bool counted = text[0] && text[order] == 'U'; /* its digits count characters, not bytes */
    if (!text_ok(text, sizeof text, false) || counted || !digits || text[order + 1 + digits] || 1 + digits >= DATA_ELEMENT)
        return err_set(h->err, ERR_INVALID,
                       "its elements are of a type that cannot be read: it should be one like float32 or int64");
    if (*text == '>')
        return err_set(h->err, ERR_INVALID, "its numbers are big-endian (%s): save it as '<%s'", text, text + 1);
    snprintf(element, DATA_ELEMENT, "%s", text + order);
    return 0;
}

static int take_number(struct header *h, int64_t *out)
{
    *out = 0;
    skip(h);
    if (h->at == h->end || *h->at < '0' || *h->at > '9')
        return damaged(h);
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *h->at - '0', out))
            return err_set(h->err, ERR_INVALID, "its shape does not fit 64 bits");
    return 0;
}

/* (3, 4), (3,), () */
static int take_shape(struct header *h, struct data_file *out)
{
    int rc = take(h, '(') ? 0 : damaged(h);
    out->rank = 0;
    while (!rc && !take(h, ')')) {
        if (out->rank == MAX_RANK)
            return err_set(h->err, ERR_INVALID, "its shape has more than %d sizes", MAX_RANK);
        rc = take_number(h, &out->shape[out->rank++]);
        skip(h);
        if (!rc && !take(h, ',') && !(h->at < h->end && *h->at == ')'))
            rc = damaged(h);
    }
    return rc;
}

static int take_header(struct header *h, char element[DATA_ELEMENT], struct data_file *out)
{
    bool fortran = false;
    int seen = 0, rc = take(h, '{') ? 0 : damaged(h);
    while (!rc && !take(h, '}')) {
        char key[16] = "";
        rc = take_text(h, key, sizeof key);
        if (!rc && !take(h, ':'))
            rc = damaged(h);
        int which = strcmp(key, "descr") == 0 ? 1 : strcmp(key, "fortran_order") == 0 ? 2 : strcmp(key, "shape") == 0 ? 4 : 0;
        if (!rc && (!which || seen & which))
            rc = damaged(h);
        seen |= which;
        if (!rc && which == 1)
            rc = take_element(h, element);
        else if (!rc && which == 2)
            rc = (fortran = take_word(h, "True")) || take_word(h, "False") ? 0 : damaged(h);
        else if (!rc)
            rc = take_shape(h, out);
        if (!rc && !take(h, ',') && !(h->at < h->end && *h->at == '}'))
            rc = damaged(h);
    }
    skip(h);
    if (!rc && (seen != 7 || h->at != h->end))
        rc = damaged(h);
    if (!rc && fortran && out->rank > 1)
        rc = err_set(h->err, ERR_INVALID, "it is in Fortran's order: save it with numpy.ascontiguousarray");
    return rc;
}

int npy_read(const void *start, size_t n, char element[DATA_ELEMENT], struct data_file *out, struct err *err)
{
    const unsigned char *p = start;
    struct header h = { .err = err };
    if (!npy_is(start, n) || n < 10)
        return damaged(&h);
    if (p[6] < 1 || p[6] > 3)
        return err_set(err, ERR_INVALID, "it is of version %d.%d of NumPy's format: 1, 2 and 3 can be read", p[6], p[7]);
    size_t at = p[6] == 1 ? 10 : 12;
    size_t length = (size_t)p[8] | (size_t)p[9] << 8;
    if (at > n)
        return damaged(&h);
    if (p[6] > 1)
        length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > n - at)
        return damaged(&h);
    h.at = (const char *)start + at;
    h.end = h.at + length;
    out->at = (int64_t)(at + length);
    return take_header(&h, element, out);
}
