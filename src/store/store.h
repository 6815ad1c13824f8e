/* The store: SQLite, and the only code that sees sqlite3.h. db/schema.sql is the schema, with every column's meaning.
 *
 * A handle belongs to one thread. Each saved result is committed when the call returns, unless store_begin joined several. Text and
 * blobs read back are copies. A file is not trusted: values that cutune would never have written are ERR_CORRUPT. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/util.h"
#include "model/devspec.h"
#include "model/op.h"
#include "model/record.h"

struct store;

enum store_mode {
    STORE_READ,       /* the file must exist; nothing is written. One of an older version is read as it is */
    STORE_WRITE,      /* made if it does not exist, migrated if it is older */
    STORE_WRITE_SOON, /* the same; gives up at once if another process is writing */
    STORE_TABLES,     /* read, of a file that nobody writes: no locks, and nothing is made beside it */
};
/* Messages name the path, and say what is wrong: not a database, of a newer cutune, not cutune's, damaged, no permission. */
int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err);
/* The same. What is asked through it is kept in a file of the folder when it is closed; while the database stays as it is, another process
 * gets the same answers without opening it. So that the file is damaged may show later than at once. */
int store_open_kept(const char *path, enum store_mode mode, const char *folder, struct store **out, struct err *err);
void store_close(struct store *s); /* null is fine */
const char *store_path(const struct store *s);
/* After writing: whether what is in the file holds together; ERR_CORRUPT with a line if it does not. All pages are looked
 * at, and as many rows as take no time that anybody notices. */
int store_verify(struct store *s, struct err *err);
/* The file can lie where nothing may be made beside it from now on; for tables that are written once. */
int store_seal(struct store *s, struct err *err);

/* How many rows the calls below that call back (store_each_..., but for store_each_measured) have left out since this was last asked:
 * one that holds what cutune would not have written costs itself only. */
int store_left_out(struct store *s);
void store_leave_out(struct store *s, int n); /* counts those that a caller leaves out */

/* Several calls as one: what they read is of one moment, and what they write is committed together by store_end; or not at all,
 * if `rc`, which it returns, is negative. Begin with `write` before anything is written. */
int store_begin(struct store *s, bool write, struct err *err);
int store_end(struct store *s, int rc, struct err *err);

/* A number, never 0, that is another one after a change of what is in the file, by whomever. Quick; numbers of different handles do
 * not compare. */
int store_generation(struct store *s, uint64_t *out, struct err *err);
/* Whether the path no longer leads to the file that was opened: it was removed, or another one is there. Open that anew. */
bool store_replaced(const struct store *s);

/* The place used where none is given: $CUTUNE_DB, else $XDG_DATA_HOME/cutune/tuned.db, else ~/.local/share/cutune/tuned.db. The
 * folder is made if `create`. Owned by the caller. */
int store_default_path(bool create, char **out, struct err *err);

/* What a measurement belongs to: rows of device, op and problem, made if they are missing. The op's description is kept too; if its
 * interface (axes, types, arguments) or its contract (op_contract) is no longer that stored, the earlier records stay and are stale
 * from then on. So are measurements of variants that are no longer what they were (variant_made). */
struct outdated {
    int64_t results, winners; /* measurements that became stale; winners that are given no more, */
    bool other;               /* since it has another interface or contract now; else the variants have changed */
};
struct target {
    int64_t device, problem, provenance; /* row ids */
    bool cold;
    bool pinned;         /* for a kernel: it is pinned to the problem, in the place of the winner */
    double bytes, flops; /* work of the problem; 0: unknown */
    struct outdated outdated; /* by making this target, of all problems of the op */
};
int store_target(struct store *s, const struct devspec *dev, const struct op *op, const struct problem *prob, int row, bool cold,
                 struct target *out, struct err *err);

/* One measured configuration. */
struct measured {
    char key[HASH_HEX];
    const char *variant;
    const char *json; /* the configuration, as config_print_json writes it */
    const char *made; /* variant_made of the variant as it was; null: unknown */
    struct result result;
};

/* Replaces what is there under this key. */
int store_measured(struct store *s, const struct target *t, const struct measured *m, struct err *err);
/* Calls back for each stored measurement of the target (of this PROTOCOL), in the order of storing; stops at a non-zero return and
 * returns it. The pointers are valid inside the call only. */
int store_each_measured(struct store *s, const struct target *t, int (*each)(void *arg, const struct measured *m), void *arg,
                        struct err *err);
/* What came of a configuration on some problem, as a tuning run of another one wants to know it. */
struct tried {
    const char *variant, *config; /* as config_parse reads it */
    enum outcome outcome;
    double median; /* ns; 0: it was not timed */
};
enum { MOST_OUTCOMES = 4096 };
/* The same of any problem and device (row ids), and less: of the cache that its winner is for, a cold one if there are two; stored first before
 * `before`, as store_first_measured tells; the fastest first, at most MOST_OUTCOMES. As store_each_winner does. */
int store_each_outcome(struct store *s, int64_t device, int64_t problem, int64_t before, int (*each)(void *arg, const struct tried *t),
                       void *arg, struct err *err);
/* When the first of these was stored, as a number that grows in the order of first storing; INT64_MAX: there is none yet. */
int store_first_measured(struct store *s, const struct target *t, int64_t *out, struct err *err);
/* One of this key was found again and is what `made` makes now, so it is no longer stale. */
int store_found_again(struct store *s, const struct target *t, const char *key, const char *made, struct err *err);
/* Forgets the target's measurements and its winner (--retune). */
int store_forget(struct store *s, const struct target *t, struct err *err);
/* Forgets winners of the target's problem whose code has failed there, of a cold and of a warm cache; if `own`, the target's in any case. */
int store_forget_failed(struct store *s, const struct target *t, bool own, struct err *err);

enum tuned_role { TUNED_WINNER, TUNED_DEFAULT };

/* What libcutune needs to launch a kernel with no script and no compiler. It lies on the arena of its op, with all that it points to; what
 * a caller fills in itself goes there too, or outlives the record. */
struct tuned {
    struct op *op; /* with one variant, whose parameters have one value each: model/kernel.h */
    enum tuned_role role;
    int rank;                  /* defaults: their place in the op's list; winners: 0 */
    char key[HASH_HEX];        /* of its measurement; a default never measured: of its source */
    const char *variant;       /* the op's only one */
    const char *config, *json; /* its configuration, as config_print and config_print_json write it */
    double time_ns;            /* 0: not measured */
    double copy_ns;            /* a device copy of the same bytes in the same run; 0: not measured */
    const char *source;        /* null: the code was not read (store_each_default) */
    const void *binary; /* cubin, or OpenCL program binary; null: only the source is kept */
    size_t binary_bytes;
    const char *format;   /* as a backend names it: "cubin"; null without a binary, as the next two may be */
    const char *arch;     /* that the binary is for */
    const char *compiler; /* "NVRTC 13.0", "PoCL 3.1" */
    const char *portable; /* PTX of the source, for the binary's compute capability or a lower one; null: none */
    int64_t id;           /* read back only: for store_tuned, under the same store_begin: after a change of the file it may be another's */
    bool pinned;          /* read back only: by a person, in the place of the winner */
    bool unverified;      /* brought from elsewhere, not yet found right on this machine: no look-up serves it */
    bool alone;           /* a winner that was compared with the reference for its own problem only: no look-up serves it for another */
    const char *when;     /* read back only: UTC, ISO 8601 */
    size_t bytes;         /* read back only: of the op and the code as they are stored */
};
/* A record for a configuration, everything but key, times, source and binary filled in from the op; a copy, with no tie to it. */
int tuned_of(const struct op *op, const struct config *c, struct tuned **out, struct err *err);
/* The same on a kernel as kernel_get gives it, which it takes over, also if it fails. */
int tuned_on(struct op *kernel, struct tuned **out, struct err *err);
void tuned_free(struct tuned *t); /* t, its op and its arena; null is fine */

/* Both replace the one there: the target's winner, or its pin, which stands beside the winner and is served in its place; the backend's
 * default of this rank. */
int store_winner(struct store *s, const struct target *t, const struct tuned *k, struct err *err);
int store_default(struct store *s, const struct devspec *dev, const struct op *op, int row, const struct tuned *k, struct err *err);

/* Forgets a pin, of whatever form of the op; ERR_NOTFOUND with a line if there is none. */
int store_unpin(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                struct err *err);

/* What a run asks of a target's verified winner. */
struct kept_winner {
    char key[HASH_HEX];
    double copy_ns; /* the copy measured beside it */
    bool alone;     /* for this problem only */
};
/* With its configuration, as config_parse reads it, which is appended; ERR_NOTFOUND if there is none. */
int store_kept_winner(struct store *s, const struct target *t, struct kept_winner *out, struct buf *config, struct err *err);

/* What the target's winner was chosen by, as objective_print writes it; "" if that cannot be told. */
int store_winner_objective(struct store *s, const struct target *t, struct buf *out, struct err *err);

/* A row of `cutune list`: the winner of one (device, op, types, problem), which is exported, too; or what came of one configuration. */
struct listed {
    const char *device, *backend, *arch, *op, *types, *problem, *variant, *config, *cache; /* cache: "cold" or "warm" */
    const char *json;    /* the configuration as config_print_json has it */
    double time_ns;      /* 0: not timed */
    double joules;       /* of a run; 0: not measured, or its measurement is gone */
    const char *metrics; /* the op's that have a value, {"gflops":1234.5}; "{}" if none has */
    bool stale;          /* the op's interface or contract has changed since: not served. Of a measurement: or its variant has */
    int samples;         /* that its time is the median of; 0: none, or a winner's measurement is gone */

    /* Of a winner: */
    const struct devspec *dev; /* identity; device, backend and arch above are of it */
    const char *key;           /* of its measurement */
    double bytes, flops, copy_ns; /* 0: unknown */
    const char *objective;        /* that it was chosen by; "" unknown */
    int measured, ok;             /* configurations stored of the variants as they are now, and of those right */
    bool beside;      /* proved by a reference that was there beside the op's own: a winner is stale then; also of a measurement */
    bool changed;     /* the source of its variant has: it is right still, and served until its problem is tuned again */
    bool pinned;      /* to its problem, by a person: served in the winner's place */
    bool unverified;  /* as in struct tuned */
    bool alone;       /* likewise; also of a measurement that is ok */
    const char *when; /* UTC, ISO 8601 */
    const char *driver;
    const char *tuned_with; /* as tuned_with_print has it; "" too if its kernel is damaged */

    /* Of a measurement: */
    enum outcome outcome;
    const char *reason;    /* "" for ok */
    const char *reference; /* outside of the op, that it was proved by; "": the op's own */
    double compile_ms;     /* 0: it came to no compiler */
    bool winner;           /* the winner of its problem was taken from it, by `objective`; */
    int faster;            /* then: how many others are right and have a shorter time, */
    int faster_ties;       /* and how many of these cannot be told from it: each median lies within the other's interval */
};
/* By op, types, problem, device; pointers are valid inside the call only. Stops at a non-zero return and returns it. */
int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err);
/* The same way each measurement of this PROTOCOL: of a problem the stale ones last; of both first those that are right, the fastest first,
 * then the others by outcome. */
int store_each_tried(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err);

/* ---- results with all that belongs to them, to exchange them with other databases and tools: claims.c
 *
 * A claim is what a file from elsewhere says of a configuration. It is a row of `measurement` whose protocol is CLAIMS, so nothing that
 * serves, lists or counts what was measured here sees it. */
enum { CLAIMS = 0 };

struct record {
    struct devspec dev; /* identity; of a claim what its file says, maybe only a name */
    const char *op, *types, *sizes, *cache;
    int64_t id;               /* grows in the order of first storing */
    double bytes, flops;      /* of the problem; 0: unknown */
    const char *file;         /* of a claim: that it came from; else the device's uuid */
    const char *tool;         /* that measured it: "cutune 0.1.0", "Kernel Tuner" */
    const char *driver;       /* "": unknown */
    const char *when;         /* UTC, ISO 8601 */
    const char *config;       /* as struct listed has it */
    struct measured measured; /* key and made: the store's own, which store_claim does not ask for */
    bool stale;               /* as in struct listed; a claim never is */
    /* What came last of a claim's configuration when it was measured for this problem, whatever the device: */
    bool checked;
    enum outcome here;
    double here_ns;
    const char *here_device;
};
/* Calls back for each measurement of this PROTOCOL, or for each claim; of an op, for its types, of a problem, unless they are null. By op,
 * types, problem, device, cache; what is right first, the fastest before all; stale ones last. As store_each_winner does. */
int store_each_record(struct store *s, bool claims, const char *op, const char *types, const char *sizes,
                      int (*each)(void *arg, const struct record *r), void *arg, struct err *err);

/* What is known of a claim here. It holds if its configuration is right and takes at most so many times what it says; one of a failure, if
 * that fails here, too. */
#define CLAIM_SLACK 1.1
enum claim_state { CLAIM_UNVERIFIED, CLAIM_HOLDS, CLAIM_SLOWER, CLAIM_FAILED };
enum claim_state claim_state(const struct record *claim);

/* What became of a claim that was to be stored: one of the same device, problem and configuration stays if it is newer, or faster. */
enum claim_fate { CLAIM_ADDED, CLAIM_REPLACED, CLAIM_KNOWN, CLAIM_KEPT };
/* The op is for a file that does not know it. */
int store_claim(struct store *s, const struct op *op, const struct record *claim, enum claim_fate *fate, struct err *err);

/* The uuid in the provenance of what ships. */
#define SHIPPED_TABLES "shipped tables"
/* Whether anything was measured or asked for, so that there is more in it than tables that `cutune tables` makes again. */
int store_has_results(struct store *s, bool *has, struct err *err);

/* Look-up. The op is known to the store by name: axes and arguments come from there, no script is read. */
int store_op(struct store *s, const char *name, struct op **out, struct err *err); /* ERR_NOTFOUND with a line */
/* Calls back with the name of each op that the file knows, in the order of names; stops at a non-zero return and returns it. */
int store_each_op(struct store *s, int (*each)(void *arg, const char *name), void *arg, struct err *err);
/* The verified winner for exactly this (device identity, op, types, problem): what is pinned, else of a cold cache if there are both;
 * ERR_NOTFOUND if there is none. types and problem as op_row_print and problem_print write them. */
int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err);
/* Whether this configuration was found wrong for exactly this, or crashed, hung or was not launched there: it is served to nobody who
 * asks for it. */
int store_failed_for(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     const char *variant, const char *json, bool *failed, struct err *err);
/* Calls back with each default for (backend, op, types) of this rank or a later one, by rank, without its code: store_tuned gives it with that.
 * The callback takes it over. Stops at a non-zero return and returns it. */
int store_each_default(struct store *s, const char *backend, const char *op, const char *types, int from,
                       int (*each)(void *arg, struct tuned *t), void *arg, struct err *err);

/* Calls back with each configuration that is a default of the op's current interface, for whatever types, once or more often. Pointers are valid inside
 * the call only. Stops at a non-zero return and returns it. */
int store_each_default_config(struct store *s, const char *op,
                              int (*each)(void *arg, const char *backend, const char *variant, const char *json), void *arg,
                              struct err *err);

/* What a look-up chooses from if nothing fits exactly: a winner that may be served. */
struct winner {
    int64_t id; /* for store_tuned, under the same store_begin: after a change of the file it may be another record's */
    int64_t device, problem;                    /* row ids, as in struct timed */
    const char *types, *sizes, *variant, *json; /* json: the configuration, as in struct tuned */
    double time_ns, bytes, flops;               /* bytes and flops of its problem; 0: unknown */
    bool alone;                                 /* as in struct tuned: not for another problem */
    struct devspec dev;                         /* identity only */
};
/* Which winners. */
struct winner_choice {
    enum {
        WINNERS_SERVED, /* what look-ups give: a pin in the place of its problem's winner */
        WINNERS_TUNED,  /* a pin only where its problem has no winner */
        WINNERS_ANY     /* the same for a run that is about to tune: stale and unverified ones, too, but */
    } which;
    int64_t device, problem; /* row ids: none of this problem, */
    int64_t before;          /* nor any that was measured later than this (store_first_measured) */
};
/* Calls back for each verified winner of the op's current interface, whatever its device and types, by device and problem; of several
 * for one problem that which store_find_winner gives. choice: null: WINNERS_SERVED. Pointers are valid inside the call only. Stops at a
 * non-zero return and returns it. */
int store_each_winner_of(struct store *s, const char *op, const struct winner_choice *choice,
                         int (*each)(void *arg, const struct winner *w), void *arg, struct err *err);
/* Why a winner of exactly this that the file has is not served: the op's interface or contract has changed since, or it is not verified.
 * Null: there is none. */
int store_unserved(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                   const char **why, struct err *err);
/* How many winners of the op are not served because it has another interface or contract by now. */
int store_stale_winners(struct store *s, const char *op, int64_t *n, struct err *err);
/* Statements from now on end with ERR_TIMEOUT after so many of SQLite's own steps, which any machine counts alike; 0: after as many as
 * the file's size excuses, with ERR_CORRUPT. */
void store_limit(struct store *s, int64_t steps);
/* The kernel of a row; ERR_NOTFOUND if there is none. */
int store_tuned(struct store *s, int64_t id, struct tuned **out, struct err *err);

/* What a winner's configuration took on a problem, its own or another. */
struct timed {
    int64_t device, problem; /* row ids */
    const char *types, *sizes, *variant, *json;
    double median; /* ns */
};
/* The same way, each right measurement (ok or slower, of this PROTOCOL) of the op's current interface of a (variant, config) that is a
 * verified winner's somewhere on the same device, or a default's; for a cold cache, but of a problem whose only winner of `choice` is for a warm
 * one, those. In the order of storing: where a configuration of a problem comes twice, because its source has changed, the later one counts. */
int store_each_time(struct store *s, const char *op, const struct winner_choice *choice, int (*each)(void *arg, const struct timed *t), void *arg, struct err *err);

/* A whole copy at a path where nothing or an empty file is. */
int store_copy(struct store *s, const char *path, struct err *err);
/* A problem of a table of few kernels; row ids. */
struct covered {
    int64_t device, problem;
    int64_t donor; /* the problem whose kernel it gets, */
    double time_ns; /* and what that takes here */
};
/* Leaves of a copy what these problems need: a kernel each, and the times of these kernels on them; with `defaults` the op's, too. */
int store_cover(struct store *s, const char *op, const struct covered *all, int n, bool defaults, struct err *err);

/* What applications asked for and got no exact answer to. Adds to the count that is there, makes the device's row, and replaces the
 * time if it is known (not 0). The op may be one that the file does not know. Many are quick under one store_begin. */
int store_wanted_add(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                     int64_t count, double time_ns, struct err *err);
/* Keeps so many, the most expensive ones. */
int store_wanted_trim(struct store *s, int most, struct err *err);
struct wanted_problem {
    struct devspec dev; /* identity only */
    const char *op, *types, *sizes;
    int64_t count;    /* times asked for */
    double time_ns;   /* what one call is expected to take; 0: unknown */
    const char *last; /* UTC, ISO 8601 */
};
/* Calls back for each of the device's, what costs the most first, those of unknown times by count after the others; with dev null for
 * those of all devices, one device after another. As above; the callback writes nothing. */
int store_each_wanted(struct store *s, const struct devspec *dev, int (*each)(void *arg, const struct wanted_problem *w), void *arg,
                      struct err *err);
/* Forgets one; one that is not there is fine. */
int store_wanted_done(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                      struct err *err);

#endif
