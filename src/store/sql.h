/* Statements, transactions and SQLite's errors for the files of the store. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "store/store.h"

enum { MAX_CACHED = 64 };

struct store {
    sqlite3 *db; /* null: not open yet, since there are answers */
    char *path;
    char *absolute;       /* the same after a change of folder */
    char *real;           /* where links led when it was opened */
    char *answers;        /* the file of kept answers, see answers.c; null: there is none */
    char state[HASH_HEX]; /* of the database that they are of; "" if that cannot be told */
    struct buf kept;      /* the answers: for each a key, and the cells of its row */
    bool learned;         /* some that are not in the file */
    int busy_ms;          /* how long others are waited for */
    dev_t dev;            /* of the file when it was opened, as ino */
    ino_t ino;
    int active;                                         /* statements on their way, one within the other */
    int64_t steps;                                      /* that they took, */
    int64_t most;                                       /* and may take; 0: by the file's size */
    int left_out;                                       /* rows, see store_left_out */
    int older;                                          /* its version, if it is read as an older file; else 0 */
    bool logs;                                          /* opened for writing, with a log beside the file */
    enum { ALONE, READS_JOINED, WRITES_JOINED } joined; /* by store_begin */
    int ncached;
    struct {
        const char *sql; /* a literal, told apart by its address */
        sqlite3_stmt *stmt;
    } cached[MAX_CACHED];
};

/* A statement on its way. It remembers the first error: then it has no more rows, and query_end returns the error. So begin, go
 * through the rows, end; nothing in between has to be checked. */
enum { MAX_CELLS = 20 };
struct cell {
    int type; /* SQLite's */
    int64_t i;
    double r;
    const void *p; /* of a text or blob; a zero byte follows a text */
    size_t n;
};

struct query {
    struct store *store;
    sqlite3_stmt *stmt;
    struct err *err;
    int rc;              /* the first error; or set by a caller that wants no more rows */
    bool own;            /* the statement is not one of the cached */
    int at;              /* the last question mark that has a value; the next column */
    const char *bad;     /* the first column of the row that holds what cutune would not have written */
    struct arena *arena; /* texts and blobs are copied to it; null: they are valid until the next row only */
    struct buf key;      /* of a question whose answer is kept */
    int ncells;          /* of an answer that was kept: there is no statement then */
    bool served;         /* its one row */
    struct cell cells[MAX_CELLS];
};

/* `sql` is a literal, compiled once a store. `values` has a letter for each value, in the order of the question marks:
 *   i int64_t    n int    o int64_t; 0 is NULL    r double    t text; null is NULL    b bytes: a pointer and a size_t
 *   s a source: packed, if that is shorter; null is NULL
 *   l words of a driver or compiler: control characters become blanks
 *   d the six columns of a device's identity: a const struct devspec *
 *   T device, problem and cache: a const struct target *; null is three times NULL
 * Texts and bytes are borrowed until the end, but for l. End each query, also one that failed. */
void query_begin(struct query *q, struct store *s, struct err *err, const char *sql, const char *values, ...);
int query_end(struct query *q);
/* query_begin for a statement that gives at most one row, which is kept for other processes (answers.c). Letters: t, d. */
void query_ask(struct query *q, struct store *s, struct err *err, const char *sql, const char *values, ...);

/* The next row. False: there is none, or something failed. */
bool query_step(struct query *q);
/* Takes its next columns. `columns` has a letter for each, with the address that its value goes to; a value of another type or outside of
 * these bounds is damage:
 *   i int64_t from 1    j from 0    m from -1    n int from 0    u from -1    f bool    r double: a time    v double: bytes or flops
 *   t const char *: a line    w at most MAX_NAME of it    p a name as name_ok has it    s a source    y types    z sizes
 *   x an outcome's reason    a a date and time    k char[HASH_HEX]: a key    b bytes: const void ** and size_t *
 *   o enum outcome    c a configuration's JSON: a struct buf for the same as text, and const char **
 *   d the six columns of a device's identity: struct devspec *
 * A capital letter allows NULL, too, which gives a null pointer, or "" for a key; b always does.
 * False, and the query has failed, if one was damaged. */
bool query_take(struct query *q, const char *columns, ...);
/* query_step and query_take in one, for rows of which a damaged one costs itself only: it is counted and left out. */
bool query_good_row(struct query *q, const char *columns, ...);
/* packed.c. Appends nothing where that would not be shorter. */
int text_pack(const char *text, struct buf *out, struct err *err);
size_t packed_length(const void *bytes, size_t n);         /* of the text; 0 if these are none */
int text_unpack(const void *bytes, size_t n, char *text);  /* to so many bytes; ERR_CORRUPT or ERR_NOMEM, without a line */
/* What the letters mean: src/store/row.c. row_take returns the name of the first column that is bad; null: none is. */
void row_put(struct query *q, char letter, va_list *ap);
const char *row_take(struct query *q, const char *columns, va_list *ap);
/* The row is damaged for a reason of the caller's. */
int query_damaged(struct query *q, const char *column);

struct cell query_cell(struct query *q, int column);

/* answers.c. Loads those of the database as it is now, if the folder has them; then the database need not be opened yet. */
bool answers_load(struct store *s, const char *folder);
bool answers_hold(const struct store *s); /* the database is as it was when they were loaded */
bool answer_find(struct query *q);
void answer_keep(struct query *q); /* the row that the query is at */
void answers_close(struct store *s);
/* Opens a database for reading that was left closed because there are answers. */
int store_connect(struct store *s, struct err *err);

/* metrics.c. One listing's, zero at its begin. */
struct metrics {
    int64_t op_row;     /* of the row that is listed, as is */
    struct devspec dev; /* what of its device is not in struct listed */
    int64_t taken;      /* the op's row that this is of; 0: none yet */
    struct op *op;
    struct buf text;
};
const char *metrics_of(struct metrics *m, struct store *s, const struct listed *l); /* as JSON, good until the next call */
/* The op's `outside`, or "". *beside: there is one beside the op's own. */
const char *metrics_reference(struct metrics *m, struct store *s, bool *beside);
void metrics_end(struct metrics *m);

/* A whole statement: "ttr" is three values. Of one that gives a row of numbers and keys, a colon and its columns follow, "tt:ik"; then it
 * is ERR_NOTFOUND if there is no row. sql_write is a transaction of its own, if none is on its way. */
int sql_run(struct store *s, struct err *err, const char *sql, const char *letters, ...);
int sql_write(struct store *s, struct err *err, const char *sql, const char *letters, ...);

/* ERR_CORRUPT with the path and these words. */
int store_damaged(struct store *s, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

enum { SCHEMA_VERSION = 5 }; /* as in db/schema.sql */
/* Whether the file's definitions are those of a text like db/schema.sql; ERR_CORRUPT with a line if they are not: src/store/schema.c. */
int schema_check(struct store *s, const char *text, struct err *err);
extern const char *const newest_schema;

/* What SQLite said last, as a code and a line with the path. */
int store_failed(struct store *s, int rc, struct err *err);
/* A number that a one-line statement gives. Returns SQLite's code: callers act on some of them. */
int sql_number(struct store *s, const char *sql, int64_t *out);

/* A writing transaction: end it with the outcome, which it returns; a negative one undoes everything. Part of the caller's if
 * store_begin has begun one. Ending one that could not begin is fine: write_end(s, write_begin(s, err) ?: ..., err). */
int write_begin(struct store *s, struct err *err);
int write_end(struct store *s, int rc, struct err *err);
/* One snapshot for several queries; inside a transaction of the caller's, that one. *mine says whether read_end has to end it. */
int read_begin(struct store *s, bool *mine, struct err *err);
void read_end(struct store *s, bool mine);

/* What `tuned.verified` has; what is verified may be served. */
enum { UNVERIFIED, VERIFIED, VERIFIED_ALONE /* for its own problem only */ };
/* The outcomes of code that is not right, or cannot run. */
#define FAILED "'wrong', 'crash', 'timeout', 'launch-error'"
#define IS_VERIFIED "verified IN (1, 2)"

/* The `cache` of a pinned kernel, which is timed cold: it sorts before the others, so it goes first. */
#define AS_PINNED "as pinned"
#define PINS_LAST(row) row ".cache = '" AS_PINNED "', " row ".cache"
#define NOW       "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')" /* as created, last: UTC */

/* Bounds of what is read back, beyond those of the model. */
enum {
    MAX_REASON = 255, /* of an outcome */
    MAX_SOURCE = 16 << 20,
    MAX_BINARY = 64 << 20,
    MAX_RECORD = 16 << 20, /* an op or a kernel in its serial form */
    MAX_SAMPLES = 1 << 20,
    MAX_TYPES_TEXT = 1023, /* a problem's types and sizes */
    MAX_SIZES_TEXT = 2047,
};

/* Whether measurement m is of its variant as the list of an op's variants has it; as op has it now. One of before version 3 does not know. */
#define IS_OF(m, variants) "(coalesce(instr(" variants ", '\"' || " m ".variant || '\":\"' || " m ".made || '\"'), 0) > 0)"
#define OF_NOW(m)          "(op.variants IS NULL OR " IS_OF(m, "op.variants") ")"
#define IS_OF_NOW          OF_NOW("m")

/* measured.c. What came of a configuration, in this order. */
#define RESULT_COLUMNS                                                                                                             \
    "outcome, reason, n, median, min, max, mean, stddev, ci_low, ci_high, samples, compile_ms, registers, shared, local, "         \
    "max_threads, sm_mhz, mem_mhz"
/* Inside a writing transaction. when: null is now. */
int measured_save(struct store *s, const struct target *t, int protocol, const struct measured *m, const char *when,
                  struct err *err);
/* The samples' column; ERR_CORRUPT, without a line, if it is none. result_free frees them, also if it fails. */
int samples_get(const void *bytes, size_t n, struct result *r, struct err *err);

/* Makes or updates the op's row, inside a writing transaction; its id goes to *id. */
int op_save(struct store *s, const struct op *op, struct outdated *out, int64_t *id, struct err *err);
/* Whether a row of device is the one whose identity the first six values are. */
#define IS_DEVICE "backend = ?1 AND name = ?2 AND arch = ?3 AND mig = ?4 AND multiprocessors = ?5 AND memory = ?6"
/* Makes the device's row if it is missing, inside a writing transaction; its id goes to *id. */
int device_save(struct store *s, const struct devspec *d, int64_t *id, struct err *err);
/* Forgets code that no kernel has any more; inside a writing transaction. */
int code_prune(struct store *s, struct err *err);

#endif
