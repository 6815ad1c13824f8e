/* Output for programs. The makers return null without memory. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>

#include "model/config.h"
#include "model/devspec.h"
#include "model/problem.h"

json_t *json_text(const char *s); /* bytes that are not UTF-8 become '?' */
json_t *json_positive(double v);  /* null where it is not above 0, not known, or without end */
json_t *json_count(double v);     /* an integer below 2^53, a real from there */
json_t *json_val(struct val v);   /* keeps its type */
json_t *json_config(const struct op *op, const struct config *c);
json_t *json_problem(const struct op *op, const struct problem *p);
json_t *json_device(const struct devspec *d);

/* Sets a member, adds an element. Where that fails the container is freed and null comes back, so that a chain of these is checked
 * once, by json_print. */
json_t *json_with(json_t *object, const char *name, json_t *value);
json_t *json_append(json_t *array, json_t *value);

/* Prints and frees; returns an exit code. */
int json_print(json_t *root);

#endif
