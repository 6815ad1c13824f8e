/* The store: SQLite, and the only code that sees sqlite3.h. db/schema.sql is the schema, with every column's meaning.
 *
 * A handle belongs to one thread. Each saved result is committed when the call returns. Text and blobs read back are copies. */
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
    STORE_READ,   /* the file must exist; nothing is written */
    STORE_WRITE,  /* made where it does not exist, migrated where it is older */
};
/* Messages name the path, and say what is wrong: not a database, of a newer cutune, not cutune's, damaged, no permission. */
int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err);
void store_close(struct store *s); /* null is fine */
const char *store_path(const struct store *s);

/* The place used where none is given: $CUTUNE_DB, else $XDG_DATA_HOME/cutune/tuned.db, else ~/.local/share/cutune/tuned.db. The
 * folder is made where `create`. Owned by the caller. */
int store_default_path(bool create, char **out, struct err *err);

/* What a measurement belongs to: rows of device, op and problem, made where they are missing. */
struct target {
    int64_t device, problem; /* row ids */
};
int store_target(struct store *s, const struct devspec *dev, const struct op *op, const struct problem *prob, int row, bool cold,
                 struct target *out, struct err *err);

/* One measured configuration, as stored or as listed. */
struct measured {
    char key[HASH_HEX];
    const char *variant;  /* owned where read back: store_measured_free */
    const char *config;   /* config_print's text */
    struct result result;
};

int store_measured(struct store *s, const struct target *t, const struct measured *m, struct err *err);
/* Calls back for each stored measurement of the target (of this PROTOCOL), in the order of storing; stops at a non-zero return and
 * returns it. The pointers are valid inside the call only. */
int store_each_measured(struct store *s, const struct target *t, int (*each)(void *arg, const struct measured *m), void *arg,
                        struct err *err);
/* Forgets the target's measurements and its winner (--retune). */
int store_forget(struct store *s, const struct target *t, struct err *err);

/* A launch of a tuned kernel, and what must hold: all as expressions' text. */
struct tuned_launch {
    char *kernel, *grid[3], *block[3], *shared;
    int nargs, *args;     /* as in model/op.h */
};

enum tuned_role { TUNED_WINNER, TUNED_DEFAULT };

/* What libcutune needs to launch a kernel with no script and no compiler. */
struct tuned {
    enum tuned_role role;
    int rank;             /* defaults: their place in the op's list; winners: 0 */
    char key[HASH_HEX];   /* of its measurement; a default never measured: of its source */
    char *variant, *config;
    int nparams;          /* the configuration again, typed; strings owned */
    struct { char *name; struct val value; } *params;
    double time_ns;       /* 0: not measured */
    double copy_ns;       /* a device copy of the same bytes in the same run; 0: not measured */
    char *source;
    void *binary;         /* cubin, or OpenCL program binary */
    size_t binary_bytes;
    char *format;         /* "cubin", "ptx", "clbin" */
    char *arch;           /* that the binary is for */
    char *compiler;       /* "NVRTC 13.0", "PoCL 3.1" */
    int nlaunches;
    struct tuned_launch *launches;
    int nwhere;
    char **where;         /* constraints over params, axes, types, device.* */
    int nworkspaces;
    struct { char *name, *type, *count; bool clear; } *workspaces;
    int nneeds;
    struct { int kind, arg; char *bytes; } *needs;
    int nclear, *clear;
};
void tuned_free(struct tuned *t); /* members and t */
/* A tuned record for a configuration, everything but key, times, source and binary filled in from the op. */
int tuned_of(const struct op *op, const struct config *c, struct tuned **out, struct err *err);

int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err); /* replaces the one there */
int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err);

/* A row of `cutune list` and of export: the winner of one (device, op, types, problem). */
struct listed {
    const char *device, *backend, *arch, *op, *types, *problem, *variant, *config, *cache; /* cache: "cold" or "warm" */
    double time_ns, bytes, flops, copy_ns;
    int measured, ok;     /* configurations stored, and of those right */
    const char *when;     /* UTC, ISO 8601 */
    const char *driver;
};
int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err);

/* Look-up. The op is known to the store by name: axes and arguments come from there, no script is read. */
int store_op(struct store *s, const char *name, struct op **out, struct err *err); /* ERR_NOTFOUND with a line */
/* The winner for exactly this (device identity, op, types, problem); ERR_NOTFOUND where there is none. */
int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err);
/* Defaults for (backend, op, types), by rank. */
int store_find_defaults(struct store *s, const char *backend, const char *op, const char *types, struct tuned ***out, int *n,
                        struct err *err);

#endif
