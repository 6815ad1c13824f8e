/* The store: SQLite, and the only code that sees sqlite3.h. db/schema.sql is the schema, with every column's meaning.
 *
 * A handle belongs to one thread. Each saved result is committed when the call returns. Text and blobs read back are copies. A file
 * is not trusted: values that cutune would never have written are ERR_CORRUPT. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/util.h"
#include "model/config.h"
#include "model/devspec.h"
#include "model/problem.h"
#include "model/record.h"

struct store;

enum store_mode {
    STORE_READ,  /* the file must exist; nothing is written */
    STORE_WRITE, /* made where it does not exist, migrated where it is older */
};
/* Messages name the path, and say what is wrong: not a database, of a newer cutune, not cutune's, damaged, no permission. */
int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err);
void store_close(struct store *s); /* null is fine */
const char *store_path(const struct store *s);

/* The place used where none is given: $CUTUNE_DB, else $XDG_DATA_HOME/cutune/tuned.db, else ~/.local/share/cutune/tuned.db. The
 * folder is made where `create`. Owned by the caller. */
int store_default_path(bool create, char **out, struct err *err);

/* What a measurement belongs to: rows of device, op and problem, made where they are missing. The op's description is kept too;
 * where its axes, types or arguments are no longer those stored, the earlier records stay and are stale from then on. */
struct target {
    int64_t device, problem, provenance; /* row ids */
    bool cold;
};
int store_target(struct store *s, const struct devspec *dev, const struct op *op, const struct problem *prob, int row, bool cold,
                 struct target *out, struct err *err);

/* One measured configuration. */
struct measured {
    char key[HASH_HEX];
    const char *variant;
    const char *config; /* config_print's text */
    struct result result;
};

/* Replaces what is there under this key. */
int store_measured(struct store *s, const struct target *t, const struct measured *m, struct err *err);
/* Calls back for each stored measurement of the target (of this PROTOCOL), in the order of storing; stops at a non-zero return and
 * returns it. The pointers are valid inside the call only. */
int store_each_measured(struct store *s, const struct target *t, int (*each)(void *arg, const struct measured *m), void *arg,
                        struct err *err);
/* Forgets the target's measurements and its winner (--retune). */
int store_forget(struct store *s, const struct target *t, struct err *err);

/* A launch of a tuned kernel: all as expressions' text, as in model/op.h. */
struct tuned_launch {
    const char *kernel, *grid[3], *block[3], *shared; /* null where model/op.h allows it */
    int nargs, *args;
};

struct tuned_param {
    const char *name;
    struct val value;
};

struct tuned_workspace {
    const char *name, *type, *count;
    bool clear;
};

struct tuned_need {
    int kind, arg; /* enum need_kind; an argument of the op */
    const char *bytes;
};

enum tuned_role { TUNED_WINNER, TUNED_DEFAULT };

/* What libcutune needs to launch a kernel with no script and no compiler. It lies on its own arena with all that it points to; what
 * a caller fills in itself goes there too, or outlives the record. */
struct tuned {
    struct arena *arena;
    enum tuned_role role;
    int rank;           /* defaults: their place in the op's list; winners: 0 */
    char key[HASH_HEX]; /* of its measurement; a default never measured: of its source */
    const char *variant, *config;
    int nparams; /* the configuration again, typed */
    struct tuned_param *params;
    double time_ns; /* 0: not measured */
    double copy_ns; /* a device copy of the same bytes in the same run; 0: not measured */
    const char *source;
    const void *binary; /* cubin, or OpenCL program binary; null: only the source is kept */
    size_t binary_bytes;
    const char *format;   /* "cubin", "ptx", "clbin"; null without a binary, as the next two may be */
    const char *arch;     /* that the binary is for */
    const char *compiler; /* "NVRTC 13.0", "PoCL 3.1" */
    struct requires requires;
    int nlaunches;
    struct tuned_launch *launches;
    int nwhere;
    const char **where; /* constraints over params, axes, types, device.* */
    int nworkspaces;
    struct tuned_workspace *workspaces;
    int nneeds;
    struct tuned_need *needs;
    int nclear, *clear;
    const char *when; /* read back only: UTC, ISO 8601 */
};
/* A tuned record for a configuration, everything but key, times, source and binary filled in from the op; a copy, with no tie to it. */
int tuned_of(const struct op *op, const struct config *c, struct tuned **out, struct err *err);
void tuned_free(struct tuned *t); /* t and its arena; null is fine */

/* Both replace the one there: the target's winner; the backend's default of this rank. */
int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err);
int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err);

/* The key of the target's winner and the copy time kept with it; ERR_NOTFOUND where there is none. */
int store_winner_key(struct store *s, const struct target *t, char key[HASH_HEX], double *copy_ns, struct err *err);

/* A row of `cutune list` and of export: the winner of one (device, op, types, problem). */
struct listed {
    const char *device, *backend, *arch, *op, *types, *problem, *variant, *config, *cache; /* cache: "cold" or "warm" */
    double time_ns, bytes, flops, copy_ns;                                                 /* 0: unknown */
    int nparams;                                                                           /* the configuration again, typed */
    const struct tuned_param *params;
    int samples;      /* that the winner's time is the median of; 0 where its measurement is gone */
    int measured, ok; /* configurations stored, and of those right */
    bool stale;       /* the op's axes, types or arguments have changed since: not served */
    const char *when; /* UTC, ISO 8601 */
    const char *driver;
};
/* By op, types, problem, device; pointers are valid inside the call only. Stops at a non-zero return and returns it. */
int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err);

/* A row of `cutune list --measurements`: what came of one configuration. */
struct tried {
    const char *device, *backend, *arch, *op, *types, *problem, *cache, *variant, *config; /* as in struct listed */
    enum outcome outcome;
    const char *reason; /* "" for ok */
    double time_ns;     /* 0: not timed */
    bool stale;
};
/* The same way, of this PROTOCOL: of each problem first those that are right, the fastest first, then the others by outcome. */
int store_each_tried(struct store *s, int (*each)(void *arg, const struct tried *t), void *arg, struct err *err);

/* Look-up. The op is known to the store by name: axes and arguments come from there, no script is read. */
int store_op(struct store *s, const char *name, struct op **out, struct err *err); /* ERR_NOTFOUND with a line */
/* The winner for exactly this (device identity, op, types, problem), of a cold cache where there are both; ERR_NOTFOUND where there
 * is none. types and problem as op_row_print and problem_print write them. */
int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err);
/* Defaults for (backend, op, types), by rank; none is 0 of them and no error. Free each, then the array with mem_free. */
int store_find_defaults(struct store *s, const char *backend, const char *op, const char *types, struct tuned ***out, int *n,
                        struct err *err);

#endif
