#include "worker/child.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child/process.h"

int child_send(struct child *c, const struct message *m, struct err *err)
{
    message_put(&c->channel.out, c->task.op, m);
    return channel_send(&c->channel, NULL, err);
}

int child_next(struct child *c, struct message *m, struct err *err)
{
    struct frame f;
    int rc = channel_next(&c->channel, NULL, &f, err);
    if (!rc && f.kind == F_SETUP) {
        *m = (struct message){ .kind = F_SETUP };
        c->next_task = f.body;
        return 0;
    }
    rc = rc ?: message_get((enum frame_kind)f.kind, &f.body, c->task.op, m, err);
    if (!rc)
        message_free(m); /* results only go the other way */
    return rc;
}

int child_take_task(struct child *c, struct err *err)
{
    op_free(c->task.op);
    return task_get(&c->next_task, &c->task, err);
}

void child_say(struct child *c, enum frame_kind kind, const char *text)
{
    struct message m = { .kind = kind };
    snprintf(m.text, sizeof m.text, "%s", text);
    child_send(c, &m, NULL);
}

void child_alive(void *child)
{
    child_say(child, F_ALIVE, "");
}

int child_start(struct child *c, struct err *err)
{
    struct frame frame;
    c->channel.fd = CHILD_FD;
    int rc = child_send(c, &(struct message){ .kind = F_HELLO, .number = WIRE_VERSION }, err)
                 ?: channel_next(&c->channel, NULL, &frame, err);
    if (!rc && frame.kind != F_SETUP)
        rc = err_set(err, ERR_CORRUPT, "frame %d where the task was to come", frame.kind);
    return rc ?: task_get(&frame.body, &c->task, err);
}

void child_end(struct child *c)
{
    op_free(c->task.op);
    buf_free(&c->channel.in);
    buf_free(&c->channel.out);
}

int worker_main(const char *kind)
{
    struct child c = { 0 };
    struct err err = { 0 };
    bool compiles = !strcmp(kind, "compile"), measures = !strcmp(kind, "measure");
    int type;
    socklen_t len = sizeof type;
    if (!(compiles || measures) || getsockopt(CHILD_FD, SOL_SOCKET, SO_TYPE, &type, &len)) {
        fprintf(stderr, "cutune worker: started by cutune itself only\n");
        return 2;
    }
    if (!process_serve(CHILD_FD)) /* a hung kernel must not outlive a killed coordinator */
        return 1;
    int rc = child_start(&c, &err) ?: (compiles ? compile_worker(&c, &err) : measure_worker(&c, &err));
    buf_clear(&c.channel.out);
    child_say(&c, F_FAILED, err.msg); /* if the run is over, nobody is there to hear it */
    if (rc != ERR_IO)
        _exit(1); /* a usual exit lets the driver clean up, which may hang if a context is lost */
    child_end(&c);
    return 0;
}
