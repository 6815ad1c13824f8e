/* Statements, transactions and SQLite's errors for the files of the store. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

enum { MAX_CACHED = 64 };

struct store {
    sqlite3 *db;
    char *path;
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

int query_step(struct query *q, struct err *err);          /* 1: a row, 0: no more */
int query_run(struct query *q, struct err *err);           /* for one that gives no rows; ends it */
int query_rows(struct query *q, int max, struct err *err); /* how many rows there are, then back to before the first */

/* The next column of a row. One of another type, or outside what is allowed, marks the row bad and gives something harmless. Texts
 * are valid until the next step. */
int64_t col_int(struct query *q, int64_t low, int64_t high);
bool col_bool(struct query *q);
double col_real(struct query *q, double low, double high);
enum { NULLABLE = 1, MANY_LINES = 2 };
const char *col_text(struct query *q, size_t max, int flags); /* NULLABLE: null for NULL */
const char *col_name(struct query *q);                        /* a name as name_ok has it */
const void *col_blob(struct query *q, size_t max, size_t *n); /* null and 0 where NULL */
/* The same two, copied; where there is no memory, query_check tells. */
const char *copy_text(struct query *q, struct arena *a, size_t max, int flags);
const char *copy_name(struct query *q, struct arena *a);
int col_word(struct query *q, const char *const *words); /* the place of the text in a null-ended list */
void col_key(struct query *q, char key[HASH_HEX]);       /* 32 hexadecimal digits */
int col_place(struct query *q, int expected);            /* a `place`: exactly that */
void query_bad(struct query *q, const char *column);     /* marks the row bad for a reason of the caller's */
/* ERR_CORRUPT where a column of the row was bad, ERR_NOMEM where one could not be copied. */
int query_check(struct query *q, struct err *err);

/* A column of the row is fine by itself and wrong with the others. */
int store_damaged(struct store *s, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* What SQLite said last, as a code and a line with the path. */
int store_failed(struct store *s, int rc, struct err *err);

/* A writing transaction: end it with the outcome, which it returns; a negative one undoes everything. */
int write_begin(struct store *s, struct err *err);
int write_end(struct store *s, int rc, struct err *err);
/* One snapshot for several queries; inside a transaction of the caller's, that one. *mine says whether read_end has to end it. */
int read_begin(struct store *s, bool *mine, struct err *err);
void read_end(struct store *s, bool mine);

/* Bounds of what is read back, beyond those of the model. */
enum {
    MAX_TEXT = 65535, /* bytes of an expression or a configuration's text */
    MAX_REASON = 255, /* of an outcome */
    MAX_SOURCE = 16 << 20,
    MAX_BINARY = 64 << 20,
    MAX_CONDITIONS = 65536, /* constraints or preconditions of a kernel */
    MAX_DEFAULTS = 256,     /* of an op, for its types, on a backend */
    MAX_SAMPLES = 1 << 20,
};

/* Words of enumerations, in the order of the enumerations, null-ended. */
extern const char *const axis_words[], *const arg_words[], *const need_words[], *const val_words[];

/* Makes or updates the op's rows, inside a writing transaction; its id goes to *id. */
int op_save(struct store *s, const struct op *op, int64_t *id, struct err *err);
/* The six columns of a device's identity. */
void put_device(struct query *q, const struct devspec *d);
struct tuned *tuned_new(void); /* an empty one on an arena of its own; null without memory */
/* A stored kernel, and its parameters alone. */
int tuned_load(struct store *s, int64_t id, struct tuned **out, struct err *err);
int params_load(struct store *s, int64_t id, struct arena *arena, int *n, struct tuned_param **out, struct err *err);
/* Forgets code that no kernel has any more; inside a writing transaction. */
int code_prune(struct store *s, struct err *err);

/* Begins a query with one row id in it, and counts its rows. */
int query_by_id(struct query *q, struct store *s, const char *sql, int64_t id, int max, int *n, struct err *err);
/* Takes the id that a query's only column is, 0 where there is no row, and ends the query. */
int query_id(struct query *q, int64_t *id, struct err *err);

#endif
