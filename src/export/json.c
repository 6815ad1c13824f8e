#include "export/columns.h"

#include <math.h>

#include "model/op.h"

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

json_t *json_value(struct val v)
{
    switch (v.type) {
    case VAL_BOOL:
        return json_boolean(v.b);
    case VAL_INT:
        return json_integer(v.i);
    case VAL_FLOAT:
        return isfinite(v.f) ? json_real(v.f) : json_null();
    case VAL_STR:
        return json_text(v.s);
    case VAL_NIL:
        break;
    }
    return json_null();
}

json_t *json_stored(const char *json)
{
    json_t *config = json_loads(json, 0, NULL);
    return config ? config : json_null();
}

json_t *json_sizes(const char *text)
{
    struct buf json = { 0 };
    buf_str(&json, *text ? "{\"" : "{");
    for (size_t word = 0; *text && word <= MAX_NAME; text++) { /* what is cut is not JSON */
        bool ends = *text == '=' || *text == ',';
        word = ends ? 0 : word + 1;
        buf_put(&json, ends ? (*text == '=' ? "\":" : ",\"") : text, ends ? 2 : 1);
    }
    buf_str(&json, "}");
    json_t *object = json.failed ? NULL : json_stored(json.data);
    buf_free(&json);
    return object;
}

json_t *json_positive(double v)
{
    return json_value(v > 0 ? val_float(v) : (struct val){ 0 });
}

json_t *json_with(json_t *object, const char *name, json_t *value)
{
    /* Takes the value even if it fails, and fails for a null object or value. */
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
