/* Strict mode, for servers: an answer that is not exact, and code that would have to be compiled, is an error or a line in the log, which
 * says in what part of its key the nearest record differs. Nothing here is on the way of a problem that was looked up before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/kernel.h"
#include "runtime/runtime.h"

static void to_stderr(void *arg, const char *line)
{
    (void)arg;
    fprintf(stderr, "cutune: %s\n", line);
}

int strict_take(struct cutune *c, const cutune_options *o, struct err *err)
{
    const char *word = getenv("CUTUNE_STRICT");
    bool given = o->size >= sizeof *o && o->strict != CUTUNE_STRICT_ENV;
    if (given && (o->strict < CUTUNE_STRICT_OFF || o->strict > CUTUNE_STRICT_ERROR))
        return err_set(err, ERR_INVALID, "strict is %d: it is one of enum cutune_strict", (int)o->strict);
    c->strict = given ? o->strict : CUTUNE_STRICT_OFF;
    if (given || !word || !*word)
        return 0;
    bool log = !strcmp(word, "log");
    if (!log && strcmp(word, "error"))
        return err_set(err, ERR_INVALID, "CUTUNE_STRICT is '%.40s': log or error is wanted", word);
    c->strict = log ? CUTUNE_STRICT_LOG : CUTUNE_STRICT_ERROR;
    if (log && !c->log)
        c->log = to_stderr; /* who sets it wants to see it */
    return 0;
}

/* The error, or the line in the log. */
static int tell(struct cutune *c, struct buf *line, struct err *err)
{
    int rc = buf_check(line, err);
    if (!rc && c->strict == CUTUNE_STRICT_ERROR)
        rc = err_set(err, ERR_STRICT, "%s", buf_text(line));
    else if (!rc)
        say(c, "%s", buf_text(line));
    buf_free(line);
    return rc;
}

/* ---- the nearest record */

/* What both have by default differs only because something else does. */
static bool size_differs(const struct question *q, const struct problem *its, int axis)
{
    return its->size[axis] != q->problem.size[axis] &&
           !(axis_is_preset(q->op, axis, its) && axis_is_preset(q->op, axis, &q->problem));
}

static int sizes_apart(const struct question *q, const struct problem *p)
{
    int n = 0;
    for (int i = 0; i < q->op->naxes; i++)
        n += size_differs(q, p, i);
    return n;
}

/* That which differs in the fewest parts; among those that of this device, and then the nearest by sizes and types. */
static const struct tuned_problem *nearest(const cutune_handle *h, const struct question *q, struct problem *its)
{
    const struct knowledge *all = q->known->all;
    const struct tuned_problem *best = NULL;
    struct near_point here = { 0 };
    double least = INFINITY;
    near_point_set(&here, q->op, q->row, &q->problem);
    for (int i = 0; all && i < all->nproblems; i++) {
        const struct tuned_problem *p = all->problems[i];
        struct problem sizes;
        if (problem_parse(q->op, p->sizes, &sizes, NULL))
            continue;
        double parts =
            sizes_apart(q, &sizes) + (p->row != q->row) + (devspec_same(&all->devices[p->device].dev, &h->dev) ? 0 : 1.5);
        double far = parts + 0.5 * (1 - 1 / (1 + near_distance(&here, &p->point, q->op))); /* below any part */
        if (far < least) {
            least = far;
            best = p;
            *its = sizes;
        }
    }
    return best;
}

static void name_part(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void name_part(struct buf *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_str(out, out->len ? "; " : "");
    buf_vfmt(out, fmt, args);
    va_end(args);
}

/* In what members of their identity two devices differ. */
static void name_device(struct buf *out, const struct devspec *there, const struct devspec *here)
{
    const struct {
        const char *what, *there, *here;
    } texts[] = { { "backend", there->backend, here->backend },
                  { "device", there->name, here->name },
                  { "architecture", there->arch, here->arch },
                  { "MIG slice", there->mig, here->mig } };
    const struct {
        const char *what;
        int64_t there, here;
    } numbers[] = { { "multiprocessors", there->multiprocessors, here->multiprocessors },
                    { "memory", devspec_memory(there), devspec_memory(here) } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i].there, texts[i].here))
            name_part(out, "%s: '%s', not '%s'", texts[i].what, texts[i].there, texts[i].here);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !strcmp(there->backend, here->backend); i++)
        if (numbers[i].there != numbers[i].here)
            name_part(out, "%s of the device: %lld, not %lld", numbers[i].what, (long long)numbers[i].there,
                      (long long)numbers[i].here);
}

/* What differs, each with what the record has and what was asked for; nothing if it is the problem's own. */
static int name_parts(struct buf *out, const cutune_handle *h, const struct question *q, const struct tuned_problem *p,
                      const struct problem *its, struct err *err)
{
    struct buf types = { 0 };
    op_row_print(&types, q->op, p->row);
    name_device(out, &q->known->all->devices[p->device].dev, &h->dev);
    if (p->row != q->row)
        name_part(out, "types: %s, not %s", buf_text(&types), buf_text(&q->types));
    for (int i = 0; i < q->op->naxes; i++)
        if (size_differs(q, its, i))
            name_part(out, "size %s: %lld, not %lld", q->op->axes[i].name, (long long)its->size[i], (long long)q->problem.size[i]);
    int rc = buf_check(&types, err);
    buf_free(&types);
    return rc ?: buf_check(out, err);
}

/* Why there is no exact answer. */
static int explain(struct buf *out, const cutune_handle *h, const struct question *q, struct err *err)
{
    const char *op = q->op->name, *why = NULL;
    struct store *s = h->owner->store;
    struct problem its = { 0 };
    struct buf parts = { 0 };
    if (!s || !q->known->in_store) {
        buf_fmt(out, s ? "the database does not know the op" : "there is no database");
        return 0;
    }
    int rc = known_op_all(q->known, s, err) ?: store_unserved(s, &h->dev, op, buf_text(&q->types), buf_text(&q->sizes), &why, err);
    if (rc)
        return rc;
    const struct tuned_problem *p = why ? NULL : nearest(h, q, &its);
    rc = p ? name_parts(&parts, h, q, p, &its, err) : 0;
    if (parts.len)
        buf_fmt(out, "the nearest record differs in %s", parts.data);
    else
        buf_str(out, why ? why : p ? "its record does not hold for it, and is passed over" : "no problem of the op is tuned");
    buf_free(&parts);
    return rc;
}

int strict_miss(cutune_handle *h, const struct question *q, const char *given, struct err *err)
{
    struct cutune *c = h->owner;
    struct buf line = { 0 };
    if (c->strict == CUTUNE_STRICT_OFF)
        return 0;
    buf_fmt(&line, "strict: no exact answer for %s %s %s on %s: ", q->op->name, buf_text(&q->types), buf_text(&q->sizes),
            h->dev.name);
    int rc = explain(&line, h, q, err);
    if (c->strict == CUTUNE_STRICT_LOG)
        buf_fmt(&line, "; given instead, %s", given);
    if (!rc)
        return tell(c, &line, err);
    buf_free(&line);
    return rc;
}

static int unknown(cutune_handle *h, const char *op, const char *why, struct err *err)
{
    struct cutune *c = h->owner;
    struct buf line = { 0 };
    if (c->strict == CUTUNE_STRICT_OFF)
        return 0;
    buf_fmt(&line, "strict: no exact answer for %.64s on %s: %s", op, h->dev.name, why);
    if (c->strict == CUTUNE_STRICT_LOG)
        buf_str(&line, "; given instead, nothing");
    return tell(c, &line, err);
}

int strict_none(cutune_handle *h, const struct question *q, const char *op, struct err *err)
{
    struct err miss = { 0 };
    if (q ? strict_miss(h, q, "nothing", &miss) : unknown(h, op, err->msg, &miss))
        *err = miss;
    return err->code;
}

/* ---- code */

int strict_compile(cutune_handle *h, const struct tuned *t, const char *why, struct err *err)
{
    const struct devspec *dev = &h->dev;
    struct buf line = { 0 };
    if (h->owner->strict == CUTUNE_STRICT_OFF)
        return 0;
    buf_fmt(&line, "strict: %s %s%s%s would be compiled for %s: ", t->op->name, t->variant, *t->config ? " " : "", t->config,
            dev->name);
    if (!t->binary)
        buf_str(&line, "no binary of it is stored");
    else if (*why)
        buf_fmt(&line, "its binary is refused: %s", why);
    else if (!same_text(t->format, h->backend->format))
        buf_fmt(&line, "the format of its binary differs: %s, not %s", t->format, h->backend->format);
    else if (!same_text(t->arch, dev->arch))
        buf_fmt(&line, "the architecture of its binary differs: %s, not %s", t->arch ?: "unknown", dev->arch);
    else
        buf_fmt(&line, "the driver of its binary differs: %s, not %s", t->compiler ?: "unknown", dev->driver);
    return tell(h->owner, &line, err);
}
