/* The serial form of a task: for workers, and for the process that calls a reference in a shared library. */
#include "measure/bench.h"
#include "model/serial.h"

static void io_task(struct serial *s, struct task *t)
{
    io_given(s, &t->home);
    for (int i = 0; i < t->op->naxes; i++)
        io_number(s, &t->problem.size[i], 0, INT64_MAX);
    io_int(s, &t->row, 0, t->op->nrows - 1);
    io_devspec(s, &t->dev);
    io_str(s, &t->outside.command);
    io_str(s, &t->outside.folder);
    io_str(s, &t->outside.program);
    io_time(s, &t->outside.seconds);
    io_str(s, &t->cache);
    io_bool(s, &t->energy);
    io_bool(s, &t->warm);
    io_bool(s, &t->other_scalars);
    io_number(s, &t->fresh, INT64_MIN, INT64_MAX);
    io_bool(s, &t->proven);
}

void task_put(struct buf *out, const struct task *t)
{
    op_put(out, t->op);
    io_task(&(struct serial){ .out = out }, (struct task *)t);
}

int task_get(struct cursor *in, struct task *t, struct err *err)
{
    *t = (struct task){ 0 };
    int rc = op_get(in, false, &t->op, err);
    if (rc)
        return rc;
    struct serial s = { .in = in, .arena = t->op->arena };
    io_task(&s, t);
    if (!serial_failed(&s))
        return 0;
    op_free(t->op);
    *t = (struct task){ 0 };
    return s.nomem ? err_nomem(err) : err_set(err, ERR_CORRUPT, "task is cut short or out of range");
}
