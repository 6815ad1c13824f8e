/* Values as JSON, for all that is printed as JSON. The makers return null without memory. */
#ifndef EXPORT_JSON_H
#define EXPORT_JSON_H

#include <jansson.h>

#include "expr/val.h"

json_t *json_text(const char *s);      /* bytes of a text that is not UTF-8 become '?' */
json_t *json_value(struct val v);      /* keeps its type; a number that JSON has no form for is null */
json_t *json_stored(const char *json); /* a configuration as the database has it; null if that is none */
json_t *json_positive(double v);       /* null if it is not above 0, which means unknown */

/* Sets a member, adds an element. If that fails, the container is freed and null comes back, so that a chain of these is checked once,
 * at its end. */
json_t *json_with(json_t *object, const char *name, json_t *value);
json_t *json_append(json_t *array, json_t *value);

#endif
