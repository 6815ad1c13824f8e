/* `cutune list --wanted`: what applications asked for and was not tuned. */
#ifndef CLI_WANTED_H
#define CLI_WANTED_H

#include "cli/measurements.h"

/* Both return 0 or a negative code. */
int wanted_print(struct store *store, const struct filter *filter, struct err *err);
int wanted_json(struct store *store, const struct filter *filter, json_t **array, struct err *err);

#endif
