#include "cli/json.h"

#include <math.h>

#include "cli/cli.h"

json_t *json_text(const char *s)
{
    json_t *text = json_string(s);
    if (text)
        return text;
    struct buf ascii = { 0 };
    for (; *s; s++)
        buf_put(&ascii, (unsigned char)*s < 0x80 ? s : "?", 1);
    text = ascii.failed ? NULL : json_string(buf_text(&ascii));
    buf_free(&ascii);
    return text;
}

json_t *json_positive(double v)
{
    return v > 0 && isfinite(v) ? json_real(v) : json_null();
}

json_t *json_count(double v)
{
    return v < 9007199254740992.0 ? json_integer((json_int_t)v) : json_real(v);
}

json_t *json_val(struct val v)
{
    switch (v.type) {
    case VAL_NIL:
        break;
    case VAL_BOOL:
        return json_boolean(v.b);
    case VAL_INT:
        return json_integer(v.i);
    case VAL_FLOAT:
        return isfinite(v.f) ? json_real(v.f) : json_null();
    case VAL_STR:
        return json_text(v.s);
    }
    return json_null();
}

json_t *json_with(json_t *object, const char *name, json_t *value)
{
    /* Takes the value even where it fails, and fails for a null object or value. */
    if (json_object_set_new(object, name, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

json_t *json_config(const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    json_t *object = json_object();
    for (int i = 0; i < v->nparams; i++)
        object = json_with(object, v->params[i].name, json_val(v->params[i].values[c->at[i]]));
    return object;
}

json_t *json_problem(const struct op *op, const struct problem *p)
{
    json_t *object = json_object();
    for (int i = 0; i < op->naxes; i++)
        object = json_with(object, op->axes[i].name, json_integer(p->size[i]));
    return object;
}

json_t *json_device(const struct devspec *d)
{
    char id[32];
    devspec_id(d, id);
    json_t *o = json_object();
    o = json_with(o, "id", json_text(id));
    o = json_with(o, "backend", json_text(d->backend));
    o = json_with(o, "name", json_text(d->name));
    o = json_with(o, "arch", json_text(d->arch));
    o = json_with(o, "mig", json_text(d->mig));
    o = json_with(o, "multiprocessors", json_integer(d->multiprocessors));
    o = json_with(o, "memory", json_integer(d->memory));
    o = json_with(o, "driver", json_text(d->driver));
    return json_with(o, "uuid", json_text(d->uuid));
}

int json_print(json_t *root)
{
    if (!root)
        return complain(FAILED, "out of memory");
    int rc = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    json_decref(root);
    putchar('\n');
    return rc ? complain(FAILED, "could not write the output: %m") : DONE;
}
