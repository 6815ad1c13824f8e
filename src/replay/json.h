/* JSON as the readers of this folder share it. */
#ifndef REPLAY_JSON_H
#define REPLAY_JSON_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "expr/val.h"

/* As json_loadb, of what others write: a byte order mark may stand before it, and Python's NaN and Infinity are null. */
json_t *json_read(const char *text, size_t n, json_error_t *why);
/* A cache of Kernel Tuner that nobody has closed ends behind a configuration, maybe with a comma, and lacks two braces: they are added. */
int json_parse(const char *path, const struct buf *text, json_t **out, struct err *err);
/* A number, a text, true or false; false for what is none of these. A text lives as long as the JSON. */
bool json_to_val(const json_t *value, struct val *out);

#endif
