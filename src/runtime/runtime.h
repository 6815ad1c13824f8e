/* The parts of libcutune. The contract is include/cutune.h.
 *
 * Who may touch what: a handle's table and a kernel are read without a lock; all else of a cutune is under its lock, but for the
 * watcher's own stores. Ops, kernels and code live until their handle or cutune ends, whatever a refresh brings, so that nobody who
 * reads without a lock ever reads freed memory. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "cutune.h"
#include "device/backend.h"
#include "model/plan.h"
#include "runtime/defaults.h"
#include "runtime/knowledge.h"

/* ---- ops and what is known of them: known.c */

enum { MOST_TRIED = 256, MOST_TRIED_BYTES = 64 << 20 }; /* records that a look-up reads, and what they are of in all */

/* An op as the database or else the tables have it. */
struct known_op {
    struct known_op *next;
    struct op *op;
    bool in_store;                                               /* else in the tables only */
    enum { SHIPPED_UNKNOWN, SHIPPED_SAME, SHIPPED_NOT } shipped; /* see known_op_shipped */
    uint64_t checked;                                            /* at this generation of the store its form was still this one */
    bool current;          /* a form that a refresh found changed stays for its kernels only */
    struct knowledge *all;       /* null until a look-up is not exact */
    struct knowledge *in_tables; /* the same of what ships */
    struct defaults *defaults;   /* of its types and backends, as far as they were asked for */
};
/* The op by name, as it is now in the store; made known if it is not yet. Under the lock. */
int known_op_get(struct cutune *c, const char *name, struct known_op **out, struct err *err);
/* For a refresh: its form, and what is known of it if that was asked for. If that fails, it stays as it was. */
int known_op_renew(struct cutune *c, struct known_op *k, struct err *err);
/* Reads what is known of it, k->all, unless that was done before. */
int known_op_all(struct known_op *k, struct store *s, struct err *err);
/* The same of the shipped tables, k->in_tables, which must know it in the same form. */
int known_op_in_tables(struct cutune *c, struct known_op *k, struct err *err);
/* Whether the tables know it in the same form, so that their kernels fit. */
bool known_op_shipped(struct cutune *c, struct known_op *k);
void known_op_free(struct known_op *k);

/* Frees what cutune_op_find gave: ops.c. */
void ops_forget(struct cutune *c);

/* What is asked, checked and in the store's words. */
struct question {
    struct known_op *known;
    const struct op *op;
    int row;
    uint32_t flags;
    struct problem problem;
    struct buf types, sizes; /* as the store writes them */
};
int question_ask(cutune_handle *h, const char *op, const char *types, const int64_t *sizes, int nsizes, struct question *q,
                 struct err *err);
int question_of(struct known_op *known, int row, const struct problem *problem, struct question *q, struct err *err);
void question_free(struct question *q);

/* ---- code: code.c */

/* The code of a record, shared by all kernels of a handle that have the same. */
struct code {
    struct code *next;
    struct tuned *record;      /* the first with this code */
    struct guest_code *loaded; /* under the handle's loading lock */
};
/* Takes the record over if it is (*out)->record then. Under the cutune's lock. */
int code_get(cutune_handle *h, struct tuned *t, struct code **out, struct err *err);
/* Loads it: as it is stored where that is for this device, else as it was compiled here before, else compiled now. Under the
 * handle's loading lock. */
int code_load(cutune_handle *h, struct code *c, struct err *err);
/* Whether it could be loaded, as a binary, as PTX or by a compiler that is here. */
bool code_loads(cutune_handle *h, const struct tuned *t);
void code_free(struct code *c); /* what was loaded is the guest's to unload */

/* ---- kernels: kernel.c, launch.c */

/* If buffers are no addresses, only two that are the same overlap: no alignments, a span of 1. */
struct kernel_buffer {
    uint64_t element, need; /* alignments less one: of its elements, and what this kernel needs */
    uint64_t span;          /* bytes */
    int64_t bytes;          /* whatever buffers are */
    const char *name;
    bool scalar; /* in host memory: nothing to check */
    bool written;
};

/* Two buffers that must not overlap. */
struct apart {
    uint8_t a, b;
    bool hard; /* one is written: wrong in any kernel; else only this kernel minds */
};

struct cutune_kernel {
    const struct backend *backend; /* null: a handle that launches nothing */
    struct guest *guest;
    struct cutune_handle *handle;
    struct guest_constant *constants; /* the work's, to be set when the code is loaded */
    struct guest_work work;
    atomic_bool ready; /* its functions are loaded */
    atomic_bool holds; /* it is its entry's, which counts nothing */
    bool checks;       /* buffers are addresses */
    int npairs, nscalars;
    struct kernel_buffer *buffers; /* and scalars, in the op's order */
    struct apart *pairs;

    struct arena *arena; /* all of it */
    cutune_match match;
    const char *why, *variant, *config, *json;
    double time_ns;
    struct guest_launch *launches;
    struct code *code;
    struct known_op *known; /* the form of the op that it is of, */
    int row;                /* and the question that it answers */
    struct problem problem;
    _Atomic(struct cutune_kernel *) fallback; /* see kernel_fallback; null: not looked for yet; itself: there is none */
    int rank;                                 /* of the record that it was made of, */
    double record_ns;                         /* and its time */
    bool from_tables, pinned;
    struct cutune_kernel *next; /* of its handle */
};

/* Makes a kernel of a record, which it takes over, for the question, and links it to the handle. The record is joined to the question's
 * op. ERR_UNSUPPORTED if its constraints or the device refuse it: the message is the constraint. */
int kernel_new(cutune_handle *h, const struct question *q, struct tuned *t, struct cutune_kernel **out, struct err *err);
/* Joins a kernel's record to the op, which must outlive it, and makes its plan, by plan_new or plan_constraints; ERR_CORRUPT if it is
 * damaged. */
int kernel_plan(struct op *kernel, const struct op *op, int (*make)(const struct op *, int, struct plan **, struct err *),
                struct plan **out, struct err *err);
void kernel_free(struct cutune_kernel *k);
int kernel_load(const struct cutune_kernel *k, struct err *err);
/* What stands in for a kernel that asks something of its buffers; null if it asks nothing, or nothing does. Found when first asked
 * for: an application whose buffers are aligned never pays for it. Takes the cutune's lock. */
int kernel_fallback(const struct cutune_kernel *k, struct cutune_kernel **out, struct err *err);

/* ---- the order of the look-up: find.c */

/* The kernel for the question; `now`, unless null, is given back if it is still the one. */
int find_kernel(cutune_handle *h, const struct question *q, struct cutune_kernel *now, struct cutune_kernel **out, struct err *err);

/* ---- strict mode: strict.c */

/* From the options, or else the environment. */
int strict_take(struct cutune *c, const cutune_options *o, struct err *err);
/* Of a look-up without an exact answer: ERR_STRICT, or a line in the log that ends with what is given instead. */
int strict_miss(cutune_handle *h, const struct question *q, const char *given, struct err *err);
/* The same of one that has no kernel, for which *err says why; null q: the op is nowhere known. Without ERR_STRICT *err stays, and its code is
 * returned. */
int strict_none(cutune_handle *h, const struct question *q, const char *op, struct err *err);
/* Of a record whose code would now be compiled; `why` is what became of its binary, "" if none is for this device. */
int strict_compile(cutune_handle *h, const struct tuned *t, const char *why, struct err *err);

/* ---- the table: table.c */

enum { ENTRY_ALIGN = 64, COUNTED = 1 };

/* A problem that was asked for. */
struct entry {
    struct entry *next;     /* of the handle's */
    const char *op, *types; /* as the caller writes them */
    int nsizes;
    uint32_t told; /* look-ups that were taken from the counts, under the lock */
    uint64_t hash;
    _Atomic uint32_t others; /* look-ups while it is COUNTED, by other threads than the handle's */
    /* From here on it is what looking it up again touches: one line of memory, for most. */
    _Alignas(ENTRY_ALIGN)
        atomic_uintptr_t kernel; /* 0: there is none (now): asked again each time; | COUNTED if this is a miss, and
                                                      misses are captured */
    uint64_t word[4];            /* op and types, packed (table.c), */
    uint32_t lengths;            /* of what lengths, and how many sizes */
    _Atomic uint32_t own;        /* look-ups while it is COUNTED, by the handle's thread: only that one writes it */
    int64_t sizes[];
};

static inline struct cutune_kernel *entry_kernel(const struct entry *e)
{
    return (struct cutune_kernel *)(atomic_load_explicit(&e->kernel, memory_order_relaxed) & ~(uintptr_t)COUNTED);
}

/* Makes the handle's table, or one twice as large for the same entries. */
int table_grow(cutune_handle *h, struct err *err);
/* Finds the kernels of all entries again; counts those that got another. Goes on after a failure; `first` is the first so far, which is
 * returned. Under the lock. */
int table_refresh(struct cutune *c, int first, int *changed, struct err *err);

struct cutune_handle {
    _Atomic(struct table *) table;
    struct entry *entries; /* under the cutune's lock */
    int generation;        /* of forks */
    pthread_t thread;      /* that attached: counts without a locked instruction, which takes a fifth of a look-up */
    struct cutune *owner;
    struct cutune_handle *next;
    const struct backend *backend; /* null: launches nothing */
    struct guest *guest;
    struct devspec dev;
    struct cutune_kernel *kernels; /* all that were ever handed out */
    struct code *codes;
    struct arena *arena; /* of entries and tables */
    enum { COMPILER_UNKNOWN, COMPILER_NONE, COMPILER_HERE } compiler;
    pthread_mutex_t loading;
    struct own *own;               /* a device that the library opened itself, whose guest it is: host.c; null: none */
    void (*own_close)(struct own *own, bool here);
};

/* ---- the whole: context.c, watch.c */

struct cutune {
    int generation;
    pthread_mutex_t lock;
    struct store *store;  /* null: there is no database (yet) */
    char *tables_path;    /* null: none */
    struct store *tables; /* see tables_of */
    bool tables_tried;
    char *path, *cache; /* null: none */
    bool capture;
    int refresh_ms;
    cutune_log *log;
    void *log_arg;
    cutune_strict strict; /* never as the environment says: that is read when it is opened */
    pthread_mutex_t logging;
    struct known_op *ops;
    struct cutune_op *described; /* those that callers asked for: ops.c */
    struct cutune_handle *handles;
    uint64_t seen;           /* the store's generation that ops and kernels are of */
    bool complained;         /* that the database cannot be opened anew: once is enough */
    struct watcher *watcher; /* null: no thread */
};

extern atomic_int fork_generation; /* counts how deep in forks this process is */

struct err *thread_err(void); /* the calling thread's last failure: what cutune_error tells */
/* The end of a call that may come to its answer past failures: `why` is told if rc is one. */
int outcome(int rc, const struct err *why);
/* ---- forks: forks.c */
void watch_forks(void); /* from the first open on */
/* Refuses what is of the parent of a process that forked. */
int check_forks(int generation);
/* Around whatever may call SQLite; taken before any of the locks here. A thread may be within several times. */
void store_enter(void);
void store_leave(void);

int refuse(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say(struct cutune *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Around what reads the database: under the lock, and all that is read is of one moment. The end returns rc. */
int reading_begin(struct cutune *c, struct err *err);
int reading_end(struct cutune *c, int rc, struct err *err);
/* The same where a function is called for each of what there is: checks what came from outside, too. */
int listing_begin(struct cutune *c, bool has_function);

/* Where things lie: place.c. What the options name, or else the usual place; null is not named. */
int take_cache(const char *given, char **out, struct err *err);
int open_tables(struct cutune *c, const char *given, struct err *err);
int open_database(struct cutune *c, const char *given, struct err *err);
/* The shipped tables, opened when something first asks for them; null if there are none. Under the lock. */
struct store *tables_of(struct cutune *c);

int watch_start(struct cutune *c, struct err *err);
/* After a last flush; in a child (not `here`) it only frees memory. */
void watch_end(struct cutune *c, bool here);
int watch_flush(struct cutune *c, struct err *err); /* writes the misses; 0 if none are captured */

/* A handle in a context of any backend's, as its `open` takes it; tests attach to the pretend device. */
int attach_to(cutune *c, const struct backend *backend, void *native, cutune_handle **out);
/* A handle that is there already as a guest, which its own_close gives back; whatever comes of it, it is taken over. */
int attach_own(cutune *c, struct guest *guest, struct own *own, void (*own_close)(struct own *own, bool here), cutune_handle **out);

#endif
