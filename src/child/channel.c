#include "child/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"

enum { SLICE_MS = 100 }; /* how late a stop may be noticed */

size_t frame_begin(struct buf *out, int kind)
{
    size_t begin = out->len;
    buf_u32(out, 0);
    buf_u8(out, (uint8_t)kind);
    return begin;
}

void frame_end(struct buf *out, size_t begin)
{
    size_t body = out->len - begin - 4;
    if (out->failed || body > FRAME_MAX) {
        out->failed = true;
        return;
    }
    for (int i = 0; i < 4; i++)
        out->data[begin + (size_t)i] = (char)(body >> 8 * i);
}

int frame_take(const char *data, size_t len, struct frame *out, struct err *err)
{
    *out = (struct frame){ 0 };
    if (len < 4)
        return 0;
    struct cursor head = cursor_on(data, 4);
    uint32_t size = get_u32(&head);
    if (size < 1 || size > FRAME_MAX)
        return err_set(err, ERR_CORRUPT, "a frame of %u bytes", size);
    if (len - 4 < size)
        return 0;
    *out = (struct frame){ (unsigned char)data[4], cursor_on(data + 5, size - 1), 4 + (size_t)size };
    return 0;
}

struct patience patience_of(double seconds, const volatile sig_atomic_t *stop)
{
    return (struct patience){ seconds, clock_ns() + (int64_t)(seconds * 1e9), stop };
}

static int wait_for(const struct channel *c, short events, const struct patience *p, struct err *err)
{
    for (;;) {
        int64_t left = (p->until - clock_ns()) / 1000000 + 1;
        if (left <= 0 || (p->stop && *p->stop))
            return err_set(err, ERR_TIMEOUT, "no answer within %.3g s", p->seconds);
        struct pollfd ready = { .fd = c->fd, .events = events };
        int n = poll(&ready, 1, left > SLICE_MS ? SLICE_MS : (int)left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_IO, "poll: %s", strerror(errno));
    }
}

int channel_send(struct channel *c, const struct patience *p, struct err *err)
{
    int rc = buf_check(&c->out, err);
    for (size_t sent = 0; !rc && sent < c->out.len;) {
        ssize_t n = send(c->fd, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL | (p ? MSG_DONTWAIT : 0));
        if (n >= 0)
            sent += (size_t)n;
        else if (errno == EAGAIN && p)
            rc = wait_for(c, POLLOUT, p, err);
        else if (errno != EINTR)
            rc = err_set(err, ERR_IO, "the other side is gone: %s", strerror(errno));
    }
    buf_clear(&c->out);
    return rc;
}

/* Some bytes more. */
static int receive(struct channel *c, const struct patience *p, struct err *err)
{
    char part[64 << 10];
    int rc = p ? wait_for(c, POLLIN, p, err) : 0;
    if (rc)
        return rc;
    ssize_t n = recv(c->fd, part, sizeof part, p ? MSG_DONTWAIT : 0);
    if (n < 0 && (errno == EINTR || (errno == EAGAIN && p)))
        return 0;
    if (n <= 0)
        return err_set(err, ERR_IO, "the other side is gone");
    buf_put(&c->in, part, (size_t)n);
    return buf_check(&c->in, err);
}

int channel_next(struct channel *c, const struct patience *p, struct frame *out, struct err *err)
{
    if (c->used) {
        memmove(c->in.data, c->in.data + c->used, c->in.len - c->used);
        c->in.len -= c->used;
        c->used = 0;
    }
    int rc = frame_take(c->in.data, c->in.len, out, err);
    while (!rc && !out->bytes)
        rc = receive(c, p, err) ?: frame_take(c->in.data, c->in.len, out, err);
    c->used = out->bytes;
    return rc;
}

void channel_close(struct channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_free(&c->in);
    buf_free(&c->out);
}
