/* What a database knows of an op, and in what order its winners are to be preferred for a problem that has none of its own: for a look-up
 * (find.c), and for what a tuning run tries first (tune/portfolio.c). */
#ifndef RUNTIME_KNOWLEDGE_H
#define RUNTIME_KNOWLEDGE_H

#include "model/plan.h"
#include "runtime/near.h"
#include "store/store.h"

/* A tuned problem. */
struct tuned_problem {
    int64_t device_id, id;              /* row ids */
    int device;                         /* place in `devices` of its device, */
    int at;                             /* and of it among the device's problems */
    int row;                            /* types */
    int column;                         /* of the times of its winner's configuration */
    uint32_t flags;                     /* values of the flag axes, a bit each: neighbours have the same */
    const char *sizes, *variant, *json; /* the last two are the configuration, as in struct tuned */
    double time_ns, work;               /* bytes or operations, as the op counts; 0: unknown */
    struct near_point point;
    bool unusable; /* its winner's record is damaged */
};

struct known_device {
    int64_t id;
    struct devspec dev;                               /* identity */
    int problems, nproblems, candidates, ncandidates; /* the first one of its, and how many */
};

/* A default's configuration, on a device that may run it: its times count, too. */
struct known_default {
    int device, column;
    const char *variant, *json;
};

/* The default of a problem: what is known of it on a device, or null, and its place among the op's. */
struct problem_default {
    const struct known_default *known;
    int rank;
};

/* What is known of an op: everything that was tuned. */
struct knowledge {
    struct arena *arena;
    int ndevices, nproblems, ncandidates, ntimes;
    struct known_device *devices;
    struct tuned_problem **problems;   /* by device and id */
    struct tuned_problem **candidates; /* the first that a configuration won, for each types and flags; by device */
    struct known_default *defaults;
    int ndefaults;
    struct near_time *times;           /* a column of them for each configuration of a winner or default, on each device, */
    int *first;                        /* [column] begins here, and ends where the next one begins */
    int damaged;                       /* winners whose sizes are none, and which are left out */
    bool cut;                          /* the file has more than a look-up reads */
    bool alone;                        /* a winner is for its own problem only, and so no candidate */
    struct plan *plan;                 /* of the op's own expressions */
};

/* What is read of a file, at most: docs/library.md tells what that costs a look-up. */
enum {
    MOST_WINNERS = 1 << 17,
    MOST_TIMES = 1 << 20,
    MOST_CONFIG_BYTES = 16 << 20,
};

/* choice: null for a look-up, as in store_each_winner_of. */
int knowledge_load(struct store *s, const struct op *op, const struct winner_choice *choice, struct knowledge **out, struct err *err);
void knowledge_free(struct knowledge *k);
uint32_t problem_flags(const struct op *op, const struct problem *p);

/* Where the shipped tables are (place.c); the caller's to free. Null: there are none. */
int tables_find(const char *given, char **out, struct err *err);

/* ---- the order of preference: prefer.c. Arrays are the caller's to free; null: no memory */

/* From a problem to a device's problems; negative where flags differ, so that they do not compare. */
double *problem_distances(const struct knowledge *k, const struct known_device *d, const struct op *op, int row,
                          const struct problem *problem);
/* What each of a device's candidates of the row's types should lose there; infinite: it is not to be taken. Those of the default's
 * configuration, if that is known, lose what the default does. */
double *candidate_losses(const struct knowledge *k, const struct known_device *d, const double *distance, int row,
                         const struct problem_default *deflt);
/* What is known of a default's configuration on a device; null: it is none of the file's. */
const struct known_default *default_known(const struct knowledge *k, const struct known_device *d, const char *variant, const char *json);
/* What a configuration should lose where nothing is known: near_loss. A default that is not the op's first, nothing. */
double unknown_loss(const struct problem_default *deflt, int column);
/* What the default should lose there; `untimed` if it was timed on no such problem. */
double default_loss(const struct knowledge *k, const struct problem_default *p, const double *distance, double untimed);
/* How far a device is: the same is nearest, then backend counts, then architecture, then size. */
double device_distance(const struct devspec *here, const struct devspec *other);
/* The place of the least number, which becomes infinite; -1 if all are infinite. */
int take_least(double *all, int n, double *least);

#endif
