/* What is written for other programs. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "export/columns.h"
#include "store/store.h"

/* ---- the winners: winners.c */

extern const struct row_column winner_columns[], tried_columns[]; /* of struct listed; for `cutune list`, too */

extern const struct row_column claim_columns[];                   /* of struct record, a claim: claims.c */

/* Writes every winner, stale ones marked: format "json" or "csv". JSON is one object, {"cutune": version, "winners": [...]}, with a winner
 * a line. Columns and members are the same; both say `null` (CSV: nothing) for what is unknown. */
int export_rows(struct store *s, const char *format, struct buf *out, struct err *err);

/* ---- all that was tried for one problem on one device, as T4: t4.c */

struct t4_choice {
    const char *op, *types, *sizes; /* null: any, if it is the only one */
    const char *device;             /* as in struct c_choice */
    bool warm;                      /* what was timed with a warm cache, not a cold one */
};
int t4_export(struct store *s, const struct t4_choice *choice, struct buf *out, struct err *err);

/* ---- tuned kernels as one C file, the look-up of libcutune with tables in place of a database: c.c */

struct c_choice {
    const char *const *ops; /* null: all that the file knows */
    int nops;
    const char *device; /* a device's name, architecture or backend, as `cutune list` has them; null: all */
};

/* ERR_NOTFOUND, with a line, if the file has nothing of a chosen op or of the chosen device. */
int c_export(struct store *s, const struct c_choice *choice, struct buf *out, struct err *err);

/* ---- a page that shows what databases hold: report.c, report_json.c; the page itself is in the folder `report` */

struct report_source {
    struct store *store;
    const char *name; /* in the page */
    int damaged;      /* out: rows that were left out */
};
struct report_choice {
    const char *const *ops; /* none: all */
    int nops;
    const char *device; /* as in struct c_choice */
};
struct report_found {
    int64_t measurements;
    int problems; /* 0: there is nothing that was chosen, and nothing is written */
};
int report_data(struct report_source *sources, int n, const struct report_choice *choice, struct report_found *found, struct buf *out,
                struct err *err);
/* The page with such data in it. ERR_UNSUPPORTED with a line if the program was built without what draws it: not report_drawn(). */
bool report_drawn(void);
int report_page(const struct buf *data, struct buf *out, struct err *err);

/* ---- typed calls, a C header with a function for each op that looks up and launches (see include/cutune.h): header.c */

/* ERR_INVALID, with a line, if two ops have the same name, or if an op has the name of a call of libcutune's. */
int header_write(struct buf *out, struct op *const *ops, int n, struct err *err);

#endif
