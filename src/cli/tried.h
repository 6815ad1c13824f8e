/* The columns of `cutune list --measurements`: every configuration that was tried, and what came of it. */
#ifndef CLI_TRIED_H
#define CLI_TRIED_H

#include "export/columns.h"
#include "store/store.h"

struct known_variant;

struct typed_tried {
    struct tried t;
    const struct known_variant *variant; /* the types of its parameters' values, for JSON */
};
extern const struct row_column tried_columns[]; /* of struct typed_tried */

/* Looks up the types that are stored; each variant's once. */
struct tried_reader;
int tried_reader_new(struct store *store, struct tried_reader **out, struct err *err);
void tried_reader_free(struct tried_reader *r); /* null is fine */
int tried_read(struct tried_reader *r, const struct tried *t, struct typed_tried *out, struct err *err);

#endif
