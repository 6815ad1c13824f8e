#include "replay/json.h"

#include <string.h>

static json_t *without_nan(const char *text, size_t n, json_error_t *why)
{
    static const char *const words[] = { "-Infinity", "Infinity", "NaN" };
    struct buf plain = { 0 };
    bool quoted = false;
    for (size_t i = 0, len; i < n; i += len) {
        const char *word = text + i, *put = NULL;
        len = 1;
        for (size_t w = 0; w < sizeof words / sizeof *words && !quoted && !put; w++) {
            len = strlen(words[w]);
            put = len <= n - i && !memcmp(word, words[w], len) ? "null" : NULL;
        }
        len = put ? len : quoted && *word == '\\' && i + 1 < n ? 2 : 1;
        quoted ^= *word == '"';
        buf_put(&plain, put ? put : word, put ? 4 : len);
    }
    json_t *root = plain.failed ? NULL : json_loadb(plain.data ?: "", plain.len, 0, why);
    buf_free(&plain);
    return root;
}

json_t *json_read(const char *text, size_t n, json_error_t *why)
{
    size_t mark = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    json_error_t at;
    json_t *root = json_loadb(text + mark, n - mark, 0, &at);
    if (!root && json_error_code(&at) == json_error_invalid_syntax)
        root = without_nan(text + mark, n - mark, &at);
    if (why)
        *why = at;
    return root;
}

int json_parse(const char *path, const struct buf *text, json_t **out, struct err *err)
{
    json_error_t why;
    json_t *root = json_read(text->data ?: "", text->len, &why);
    struct buf closed = { 0 };
    size_t n = text->len;
    while (n && strchr(" \t\r\n,", text->data[n - 1]))
        n--;
    if (!root && n && json_error_code(&why) == json_error_premature_end_of_input) {
        buf_put(&closed, text->data, n);
        for (int brace = 0; brace < 2 && !root && !closed.failed; brace++) {
            buf_str(&closed, "}");
            root = json_read(closed.data, closed.len, NULL);
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
