/* A space as it is read, one configuration after the other. Private to this folder. */
#ifndef REPLAY_BUILD_H
#define REPLAY_BUILD_H

#include "replay/table.h"

struct recorded {
    int variant;
    size_t first; /* of its values */
    struct recorded_trial trial;
};

struct recording {
    struct op *op; /* its variants have names, and parameters without values */
    char *title;
    struct origin origin;
    bool whole; /* as in struct tables */
    int nrecorded;
    struct recorded *recorded;
    size_t nvalues;
    struct val *values;
    bool costs;
};

/* Null without memory. */
struct recording *build_new(const char *title);
void build_free(struct recording *b); /* null is fine */

/* The variant of this name, which is made if it is new: its parameters are then to be added. */
int build_variant(struct recording *b, const char *name, int *out, bool *made, struct err *err);
int build_param(struct recording *b, int variant, const char *name, struct err *err);
/* The next configuration; then a value for each parameter of its variant, in their order. Texts are copied. */
int build_add(struct recording *b, int variant, const struct recorded_trial *t, struct err *err);
int build_value(struct recording *b, struct val v, struct err *err);

/* Makes a table of all that was added. A configuration that was added twice has what was said last. The build is then to be freed. */
int build_end(struct recording *b, struct recorded_space **out, struct err *err);

#endif
