/* The order of the look-up. */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "runtime/runtime.h"

/* Sets the kernel's reason, on its record's arena. */
__attribute__((format(printf, 3, 4))) static int explain(struct cutune_kernel *k, struct err *err, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    k->why = arena_strdup(k->tuned->arena, text);
    return k->why ? 0 : err_nomem(err);
}

static int exact(const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err)
{
    struct cutune_kernel *k;
    int rc = kernel_new(q, t, &k, err);
    if (rc == ERR_UNSUPPORTED) { /* it was tuned for this: whatever changed, the record is not to be trusted */
        char why[256];
        snprintf(why, sizeof why, "%.255s", err ? err->msg : "");
        return err_set(err, ERR_CORRUPT, "the record of %s %s does not hold for its own problem: %s", q->op->name,
                       buf_text(&q->sizes), why);
    }
    if (rc)
        return rc;
    k->match = CUTUNE_MATCH_EXACT;
    rc = explain(k, err, "exact: tuned on %s for %s, %.10s", q->dev.name, buf_text(&q->sizes), k->tuned->when);
    if (rc)
        kernel_free(k);
    else
        *out = k;
    return rc;
}

/* The first of the records that may run here; takes them all. */
static int first_that_holds(const struct question *q, struct tuned **records, int n, struct cutune_kernel **out, struct err *err)
{
    struct cutune_kernel *k = NULL;
    struct err why = { 0 };
    int i = 0, rc = ERR_UNSUPPORTED;
    while (i < n && rc == ERR_UNSUPPORTED)
        rc = kernel_new(q, records[i++], &k, &why);
    while (i < n)
        tuned_free(records[i++]);
    if (rc == ERR_UNSUPPORTED && n)
        return err_set(err, ERR_NOTFOUND,
                       "no tuned record of %s %s %s on %s, and none of the %d defaults may run: the last fails `%s`", q->op->name,
                       buf_text(&q->types), buf_text(&q->sizes), q->dev.name, n, why.msg);
    if (rc == ERR_UNSUPPORTED)
        return err_set(err, ERR_NOTFOUND, "no tuned record of %s %s %s on %s, and no default for %s: `cutune run` there makes both",
                       q->op->name, buf_text(&q->types), buf_text(&q->sizes), q->dev.name, q->dev.backend);
    if (rc)
        return err_set(err, rc, "%s", why.msg);
    k->match = CUTUNE_MATCH_DEFAULT;
    rc = explain(k, err, "default: no tuned record of %s %s %s on %s; %s", q->op->name, buf_text(&q->types), buf_text(&q->sizes),
                 q->dev.name, n == 1 ? "the only default" : "the first default whose constraints hold");
    if (rc)
        kernel_free(k);
    else
        *out = k;
    return rc;
}

/* What a record gives: the store names its file itself, what is made of it does not. */
static int in_file(const struct store *s, int rc, struct err *err)
{
    if (rc == ERR_CORRUPT)
        err_prefix(err, "%s: ", store_path(s));
    return rc;
}

int find_kernel(struct store *s, const struct question *q, struct cutune_kernel **out, struct err *err)
{
    struct tuned *winner, **defaults;
    int n;
    int rc = store_find_winner(s, &q->dev, q->op->name, buf_text(&q->types), buf_text(&q->sizes), &winner, err);
    if (!rc)
        return in_file(s, exact(q, winner, out, err), err);
    if (rc != ERR_NOTFOUND)
        return rc;
    rc = store_find_defaults(s, q->dev.backend, q->op->name, buf_text(&q->types), &defaults, &n, err);
    if (rc)
        return rc;
    rc = first_that_holds(q, defaults, n, out, err);
    mem_free(defaults);
    return in_file(s, rc, err);
}
