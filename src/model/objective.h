/* What configurations are chosen by: the least time, energy or product of both, or the best value of a metric of the op's. */
#ifndef MODEL_OBJECTIVE_H
#define MODEL_OBJECTIVE_H

#include "model/op.h"

enum objective_by { BY_TIME, BY_ENERGY, BY_EDP /* energy times delay */, BY_METRIC };

struct objective {
    enum objective_by by;
    int metric; /* BY_METRIC: which of the op's */
};

bool objective_word(const char *name); /* it is "time", "energy" or "edp" */
/* name null: the op's own. ERR_INVALID, with all that there are, if the op has none of this name. */
int objective_find(const struct op *op, const char *name, struct objective *out, struct err *err);
const char *objective_name(const struct op *op, const struct objective *o);
/* "time", or of a metric what it is: "max 2*n / time". What is the same objective has the same text, whatever its name. */
void objective_print(struct buf *out, const struct op *op, const struct objective *o);

#endif
