/* Scalars of which the checks prove nothing: a kernel that has one built in, or leaves it out, would pass. */
#include <stdio.h>

#include "measure/internal.h"

/* Whether the reference gives something else, by the op's check, if this scalar alone keeps the value that it is tuned with. */
static int shows(struct bench *o, int arg, bool *shown, struct err *err)
{
    struct binding how = { 0 };
    struct found found = { 0 };
    bench_alive(o, DOES_ANY);
    int rc = binding_make(&o->plans, &o->set, &o->set.problem, ALL_OTHERS & ~(1u << arg), NULL, &how, err)
        ?: inputs_fill(o, 0, err)
        ?: candidate_launch(o, &o->reference, &how, err)
        ?: service_begin(o, err)
        ?: outputs_look(o, 0, 0, err)
        ?: service_end(o, 1, &found, err);
    binding_free(&how);
    *shown = found.count || found.digests[0] != o->digest[0];
    return rc;
}

static int look_at(struct bench *o, int arg, struct buf *out, struct err *err)
{
    const struct arg *a = o->args[arg].arg;
    unsigned char other[16];
    bool varies, shown = true;
    int rc = scalar_other(o, arg, other, &varies, err);
    if (!rc && varies && o->reference.module)
        rc = shows(o, arg, &shown, err);
    if (rc || (varies && shown))
        return rc;
    buf_fmt(out, "%s%s: %s", out->len ? "; " : "", a->name,
            varies ? "the reference gives the same with another value" : "it is checked with one value only");
    return 0;
}

int scalars_unproved(struct bench *o, char *out, size_t room, struct err *err)
{
    struct buf text = { 0 };
    int rc = 0;
    for (int i = 0; !rc && !o->alone && i < o->nargs; i++)
        if (o->args[i].arg->kind == ARG_SCALAR)
            rc = look_at(o, i, &text, err);
    rc = rc ?: buf_check(&text, err);
    snprintf(out, room, "%s", rc ? "" : buf_text(&text));
    buf_free(&text);
    return rc;
}
