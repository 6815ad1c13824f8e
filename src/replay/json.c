#include "replay/json.h"

#include <string.h>

int json_parse(const char *path, const struct buf *text, json_t **out, struct err *err)
{
    json_error_t why;
    json_t *root = json_loadb(text->data ?: "", text->len, 0, &why);
    struct buf closed = { 0 };
    size_t n = text->len;
    while (n && strchr(" \t\r\n,", text->data[n - 1]))
        n--;
    if (!root && n && json_error_code(&why) == json_error_premature_end_of_input) {
        buf_put(&closed, text->data, n);
        for (int brace = 0; brace < 2 && !root && !closed.failed; brace++) {
            buf_str(&closed, "}");
            root = json_loadb(closed.data, closed.len, 0, NULL);
        }
    }
    buf_free(&closed);
    if (!root) {
        err_set(err, ERR_INVALID, "%s: line %d: this is no JSON: %s", path, why.line, why.text);
        if (err)
            err_line(err->msg);
    }
    *out = root;
    return root ? 0 : ERR_INVALID;
}

bool json_to_val(const json_t *value, struct val *out)
{
    if (json_is_boolean(value))
        *out = val_bool(json_is_true(value));
    else if (json_is_integer(value))
        *out = val_int(json_integer_value(value));
    else if (json_is_real(value))
        *out = val_float(json_real_value(value));
    else if (json_is_string(value))
        *out = val_str(json_string_value(value));
    else
        return false;
    return true;
}
