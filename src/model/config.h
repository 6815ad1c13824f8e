/* Configurations as text and JSON. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "model/op.h"

/* "TILE=32,ROWS=8,PAD=1,GRID=x" in the variant's order; "" for a variant without parameters. */
void config_print(struct buf *out, const struct op *op, const struct config *c);
/* The same as a JSON object, {"TILE":32,"ROWS":8,"PAD":true,"GRID":"x"}, as the database keeps it: with the types of the values. And from
 * there to the text; false if config_print_json would not have written it so. */
void config_print_json(struct buf *out, const struct op *op, const struct config *c);
bool config_of_json(struct buf *out, const char *json);
/* Reads the text, in any order; parameters left out take their defaults. `variant` may be null if the op has one, or if the names
 * and values fit one variant only. "variant=tile,TILE=32" names it inside. */
int config_parse(const struct op *op, const char *variant, const char *text, struct config *out, struct err *err);

#endif
