/* `cutune list --measurements`: every configuration that was tried, and what came of it. */
#ifndef CLI_MEASUREMENTS_H
#define CLI_MEASUREMENTS_H

#include "base/buf.h"
#include "cli/args.h"
#include "cli/json.h"
#include "store/store.h"

/* What a listing is limited to, as the database writes it; empty: any. */
struct filter {
    struct buf op, types, problem;
};

/* From --op, --shape and --dtype; returns an exit code, having complained. filter_free is right after either. */
int filter_read(const struct args *args, struct filter *out);
bool filter_is(const struct filter *w, const char *op, const char *types, const char *problem);
void filter_free(struct filter *w);

/* Both return 0 or a negative code. */
int measurements_print(struct store *store, const struct filter *filter, struct err *err);
int measurements_json(struct store *store, const struct filter *filter, json_t **array, struct err *err);

#endif
