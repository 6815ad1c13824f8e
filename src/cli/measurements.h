/* `cutune list --measurements`: every configuration that was tried, and what came of it. */
#ifndef CLI_MEASUREMENTS_H
#define CLI_MEASUREMENTS_H

#include "base/buf.h"
#include "cli/args.h"
#include "cli/json.h"
#include "store/store.h"

/* What a listing is limited to, as the database writes it; empty: any. */
struct wanted {
    struct buf op, types, problem;
};

/* From --op, --shape and --dtype; returns an exit code, having complained. wanted_free is right after either. */
int wanted_read(const struct args *args, struct wanted *out);
bool wanted_is(const struct wanted *w, const char *op, const char *types, const char *problem);
void wanted_free(struct wanted *w);

/* Both return 0 or a negative code. */
int measurements_print(struct store *store, const struct wanted *wanted, struct err *err);
int measurements_json(struct store *store, const struct wanted *wanted, json_t **array, struct err *err);

#endif
