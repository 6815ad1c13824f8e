/* What a run found, as tables or as JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/targets.h"
#include "tune/tune.h"

/* One problem of a run, and what came of it. */
struct finding {
    const struct op *op;
    const struct problem *problem;
    int row;
    const char *types, *sizes; /* as an application asked for it; null: it was not asked for */
    struct tune_report report;
};

int report_print(const struct devspec *dev, const struct args *args, const struct store *store, const struct finding *found, int n,
                 struct err *err);
int report_json(const struct devspec *dev, const struct store *store, const struct finding *found, int n, struct err *err);

#endif
