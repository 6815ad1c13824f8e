#include "worker/child.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/process.h"

int child_send(struct child *c, struct err *err)
{
    int rc = c->out.failed ? err_nomem(err) : 0;
    size_t sent = 0;
    while (!rc && sent < c->out.len) {
        ssize_t n = send(CHILD_FD, c->out.data + sent, c->out.len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = err_set(err, ERR_IO, "the coordinator is gone: %s", strerror(errno));
        else
            sent += (size_t)n;
    }
    buf_clear(&c->out);
    return rc;
}

int child_next(struct child *c, enum frame_kind *kind, struct cursor *body, struct err *err)
{
    if (c->used) {
        memmove(c->in.data, c->in.data + c->used, c->in.len - c->used);
        c->in.len -= c->used;
        c->used = 0;
    }
    for (;;) {
        struct frame f;
        int rc = frame_take(c->in.data, c->in.len, &f, err);
        *kind = (enum frame_kind)f.kind;
        *body = f.body;
        c->used = f.bytes;
        if (rc || c->used)
            return rc;
        char part[64 << 10];
        ssize_t n = recv(CHILD_FD, part, sizeof part, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(err, ERR_IO, "the coordinator is gone");
        buf_put(&c->in, part, (size_t)n);
        if (c->in.failed)
            return err_nomem(err);
    }
}

int child_serve(struct child *c, child_answer *answer, void *arg, struct err *err)
{
    enum frame_kind kind;
    struct cursor body;
    int rc = 0;
    while (!rc) {
        rc = child_next(c, &kind, &body, err);
        if (!rc)
            rc = answer(arg, kind, &body, err);
    }
    return rc;
}

void child_say(struct child *c, enum frame_kind kind, const char *text)
{
    size_t f = frame_begin(&c->out, kind);
    if (text)
        buf_lstr(&c->out, text);
    frame_end(&c->out, f);
    child_send(c, NULL);
}

void child_alive(void *child)
{
    child_say(child, F_ALIVE, NULL);
}

int child_start(struct child *c, struct err *err)
{
    size_t f = frame_begin(&c->out, F_HELLO);
    buf_u32(&c->out, WIRE_VERSION);
    frame_end(&c->out, f);
    int rc = child_send(c, err);
    enum frame_kind kind;
    struct cursor body;
    if (!rc)
        rc = child_next(c, &kind, &body, err);
    if (!rc && kind != F_SETUP)
        rc = err_set(err, ERR_CORRUPT, "frame %d where the task was to come", kind);
    return rc ? rc : task_get(&body, &c->task, err);
}

void child_end(struct child *c)
{
    op_free(c->task.op);
    mem_free((char *)c->task.home);
    buf_free(&c->in);
    buf_free(&c->out);
}

int worker_main(const char *kind)
{
    struct child c = { 0 };
    struct err err = { 0 };
    int (*work)(struct child *, struct err *) = !strcmp(kind, "compile")   ? compile_worker
                                                : !strcmp(kind, "measure") ? measure_worker
                                                                           : NULL;
    int type;
    socklen_t len = sizeof type;
    if (!work || getsockopt(CHILD_FD, SOL_SOCKET, SO_TYPE, &type, &len)) {
        fprintf(stderr, "cutune worker: started by cutune itself only\n");
        return 2;
    }
    process_leave_signals();
    if (!process_tie(CHILD_FD)) /* a hung kernel must not outlive a killed coordinator */
        return 1;
    process_expendable();
    int rc = child_start(&c, &err);
    if (!rc)
        rc = work(&c, &err);
    if (rc != ERR_IO) {
        buf_clear(&c.out);
        child_say(&c, F_FAILED, err.msg);
        _exit(1); /* what a driver does at a usual exit may hang where a context is lost */
    }
    child_end(&c);
    return 0;
}
