/* The report on the way from databases to the page: report.c gathers it, report_json.c writes it as the page reads it. */
#ifndef EXPORT_REPORT_H
#define EXPORT_REPORT_H

#include "export/export.h"

enum { SHOWN_BEST = 5 }; /* of a run, with their samples */

struct report_param {
    json_t *values; /* those that were tried, in the order in which they came */
    int *rank;      /* of each, in the order in which people look for them; null: they are in it */
};
struct report_variant {
    json_t *json;
    int *params; /* of report.params */
    int nparams;
};
struct report_config {
    int variant; /* of report.variants */
    int at;      /* of the op's variants */
    int *values; /* of the variant's parameters: places among their values, -1: it has none */
    int nvalues;
};

struct report_row {
    int64_t id, created; /* created: seconds */
    int config, reason, resources, provenance;
    enum outcome outcome;
    enum claim_state state;
    struct stats stats;
    double compile_ms, joules;
    bool stale;
    char key[HASH_HEX];
    double *samples; /* null: they are not shown */
    int nsamples;
};
struct report_winner {
    char key[HASH_HEX];
    json_t *json; /* what the database says of it */
};
/* All that was tried for a problem on a device, in a file. */
struct report_run {
    int source, device, problem;
    bool warm, claims;
    struct report_row *rows;
    int n, best; /* best: rows that are shown for being among those */
    struct report_winner *winners;
    int nwinners;
};

struct report {
    const struct report_choice *choice;
    struct store *store; /* that is read */
    int source;
    struct err *err;
    struct arena *arena; /* samples and small arrays */
    json_t *places;      /* of what was seen: by its key, its place in its list */
    json_t *sources, *devices, *provenances, *ops, *problems, *reasons, *resources;
    struct report_param *params;
    struct report_variant *variants;
    struct report_config *configs;
    struct report_run *runs;
    int nparams, nvariants, nconfigs, nruns;
    int64_t nrows, nmeasured;
};

int report_json(struct report *r, struct buf *out, struct err *err);

#endif
