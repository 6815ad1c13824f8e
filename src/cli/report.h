/* What a run found, as tables or as JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "cli/targets.h"
#include "tune/tune.h"

/* One tuned problem of a run. */
struct finding {
    const struct op *op;
    const struct problem *problem;
    int row;
    struct tune_report report;
};

/* Both return an exit code. */
int report_print(const struct devspec *dev, const struct args *args, const struct store *store, const struct finding *found, int n);
int report_json(const struct devspec *dev, const struct store *store, const struct finding *found, int n);

#endif
