/* What several commands print as JSON. The makers return null without memory. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "base/err.h"
#include "export/columns.h"
#include "model/config.h"
#include "model/devspec.h"
#include "model/problem.h"

json_t *json_count(double v); /* an integer below 2^53, a real from there */
json_t *json_config(const struct op *op, const struct config *c);
json_t *json_problem(const struct op *op, const struct problem *p);

extern const struct row_column device_columns[]; /* of struct devspec */

/* Prints and frees. */
int json_print(json_t *root, struct err *err);

#endif
