/* Statements, transactions and SQLite's errors for the files of the store. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "store/store.h"

enum { MAX_CACHED = 64 };

struct store {
    sqlite3 *db;
    char *path;
    char *absolute; /* the same after a change of folder */
    char *real;     /* where links led when it was opened */
    int busy_ms;    /* how long others are waited for */
    dev_t dev;      /* of the file when it was opened, as ino */
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

/* A statement on its way: values are put in the order of its question marks, then columns are taken in their order. What goes wrong
 * in between is remembered, and told by the next query_step or by query_check. */
struct query {
    struct store *store;
    sqlite3_stmt *stmt;
    bool own;        /* not one of the cached */
    int at;          /* the next question mark or column */
    int rc;          /* SQLite's, of the first put that failed */
    const char *bad; /* the first column that held what cutune would not have written */
    bool nomem;      /* a column could not be copied */
};

/* `sql` is a literal, compiled once a store. End each query, also one that failed. */
int query_begin(struct query *q, struct store *s, const char *sql, struct err *err);
void query_end(struct query *q);

void put_int(struct query *q, int64_t v);
void put_id(struct query *q, int64_t v); /* 0: NULL */
void put_real(struct query *q, double v);
void put_text(struct query *q, const char *v); /* null: NULL. Borrowed until the query's end, as a blob is */
void put_line(struct query *q, const char *v); /* words of a driver or compiler: control characters become spaces; copied */
void put_blob(struct query *q, const void *p, size_t n);

int query_step(struct query *q, struct err *err); /* 1: a row, 0: no more */
int query_run(struct query *q, struct err *err);  /* for one that gives no rows; ends it */
/* A whole statement that gives no rows, or (sql_id) one row id, 0 if there is no row. A letter for each value: i int64_t, t text, l words of
 * a driver (put_line), r double, b struct buf *, d a device's identity. */
int sql_run(struct store *s, struct err *err, const char *sql, const char *values, ...);
int sql_id(struct store *s, int64_t *id, struct err *err, const char *sql, const char *values, ...);

/* The next column of a row. One of another type, or outside what is allowed, marks the row bad and gives something harmless. Texts
 * are valid until the next step. */
int64_t col_int(struct query *q, int64_t low, int64_t high);
bool col_bool(struct query *q);
double col_real(struct query *q, double low, double high);
enum { NULLABLE = 1, MANY_LINES = 2 };
const char *col_text(struct query *q, size_t max, int flags); /* NULLABLE: null for NULL */
const char *col_name(struct query *q);                        /* a name as name_ok has it */
const void *col_blob(struct query *q, size_t max, size_t *n); /* null and 0 for NULL */
/* A text, copied; without memory, query_check tells. */
const char *copy_text(struct query *q, struct arena *a, size_t max, int flags);
int col_word(struct query *q, const char *const *words);   /* the place of the text in a null-ended list */
void col_key(struct query *q, char key[HASH_HEX]);         /* 32 hexadecimal digits */
void col_key_or_none(struct query *q, char key[HASH_HEX]); /* the same; "" for NULL */
void query_bad(struct query *q, const char *column);       /* marks the row bad for a reason of the caller's */
/* ERR_CORRUPT if a column of the row was bad, ERR_NOMEM if one could not be copied. */
int query_check(struct query *q, struct err *err);

/* The same of one row among many: 1 where it is fine, 0 where it is damaged, which is counted and costs that row. */
int row_check(struct query *q, struct err *err);

/* A column of the row is fine by itself and wrong with the others. */
int store_damaged(struct store *s, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* No statement runs for ever, whatever the file holds: a tree of pages that leads into itself has rows without end. The bound is on
 * SQLite's own steps, of an outermost statement with all within it: so many, and so many more for each byte of the file. Ours take a
 * tenth of that at the worst. */
enum { STEPS_ALWAYS = 10000000, STEPS_A_BYTE = 8 };
void store_bound(struct store *s);

/* Whether the file's definitions are those of a text like db/schema.sql; ERR_CORRUPT with a line if they are not: src/store/schema.c. */
int schema_check(struct store *s, const char *text, struct err *err);
extern const char *const newest_schema;

/* What SQLite said last, as a code and a line with the path. */
int store_failed(struct store *s, int rc, struct err *err);
/* A number that a one-line statement gives. Returns SQLite's code: callers act on some of them. */
int sql_number(struct store *s, const char *sql, int64_t *out);

/* A writing transaction: end it with the outcome, which it returns; a negative one undoes everything. Part of the caller's where
 * store_begin has begun one. */
int write_begin(struct store *s, struct err *err);
int write_end(struct store *s, int rc, struct err *err);
/* One snapshot for several queries; inside a transaction of the caller's, that one. *mine says whether read_end has to end it. */
int read_begin(struct store *s, bool *mine, struct err *err);
void read_end(struct store *s, bool mine);

/* Bounds of what is read back, beyond those of the model. */
enum {
    MAX_REASON = 255, /* of an outcome */
    MAX_SOURCE = 16 << 20,
    MAX_BINARY = 64 << 20,
    MAX_RECORD = 16 << 20, /* an op or a kernel in its serial form */
    MAX_DEFAULTS = 256,    /* of an op, for its types, on a backend */
    MAX_SAMPLES = 1 << 20,
    MAX_TYPES_TEXT = 1023, /* a problem's types and sizes */
    MAX_SIZES_TEXT = 2047,
};

/* Makes or updates the op's row, inside a writing transaction; its id goes to *id. */
int op_save(struct store *s, const struct op *op, int64_t *id, struct err *err);
/* The six columns of a device's identity, put and taken. */
void put_device(struct query *q, const struct devspec *d);
void col_device(struct query *q, struct devspec *d);
/* Makes the device's row if it is missing, inside a writing transaction; its id goes to *id. */
int device_save(struct store *s, const struct devspec *d, int64_t *id, struct err *err);
/* What tuned_take wants to find in a row of tuned, left-joined to its code; or, of the terms alone, without what is compiled. */
#define TUNED_ROW     "kernel, role, coalesce(rank, 0), key, variant, config, time_ns, copy_ns, verified, created, "
#define TUNED_COLUMNS TUNED_ROW "source, binary, format, arch, compiler, portable "
#define TUNED_TERMS   TUNED_ROW "'' AS source, NULL AS binary, NULL AS format, NULL AS arch, NULL AS compiler, NULL AS portable "
int tuned_take(struct query *q, struct tuned **out, struct err *err); /* of the row that a query is at */
/* Remembers which file the path leads to, for store_replaced; false where it leads to none. */
bool watch_file(struct store *s);
/* Forgets code that no kernel has any more; inside a writing transaction. */
int code_prune(struct store *s, struct err *err);

#endif
