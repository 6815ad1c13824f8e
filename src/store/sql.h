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
    size_t copied;   /* bytes of texts, */
    size_t room;     /* and how many they may be; 0: any number */
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
int col_word(struct query *q, const char *const *words);   /* the place of the text in a null-ended list */
void col_key(struct query *q, char key[HASH_HEX]);         /* 32 hexadecimal digits */
void col_key_or_none(struct query *q, char key[HASH_HEX]); /* the same; "" for NULL */
int col_place(struct query *q, int expected);              /* a `place`: exactly that */
void query_bad(struct query *q, const char *column);       /* marks the row bad for a reason of the caller's */
/* ERR_CORRUPT where a column of the row was bad, ERR_NOMEM where one could not be copied. */
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

/* Whether the schema is what cutune gives a file of the newest version, src/store/schema.c; ERR_CORRUPT with a line where it is not.
 * And for an older file: makes its tables, without what is in them, in an empty database, to be migrated and then checked. */
int schema_check(struct store *s, struct err *err);
int schema_copy(struct store *s, sqlite3 *copy, struct err *err);

/* What SQLite said last, as a code and a line with the path. */
int store_failed(struct store *s, int rc, struct err *err);

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
    MAX_CONDITIONS = 65536, /* constraints or preconditions of a kernel */
    MAX_TERMS = 4 << 20,    /* of a kernel's constraints together, or of other expressions of one kind */
    MAX_PACKED = 1 << 20,   /* of a record in one piece; what is larger has none */
    MAX_DEFAULTS = 256,     /* of an op, for its types, on a backend */
    MAX_SAMPLES = 1 << 20,
    MAX_TYPES_TEXT = 1023, /* a problem's types and sizes */
    MAX_SIZES_TEXT = 2047,
};

/* Words of enumerations, in the order of the enumerations, null-ended. */
extern const char *const axis_words[], *const arg_words[], *const need_words[], *const val_words[];

/* An op's row is found by its identity: a hash of its interface and its contract. When either changes, earlier records are stale. A
 * row of before version 3 knows no contract, "": its identity is its interface. */
int interface_hash(const struct op *op, char hash[HASH_HEX], struct err *err);
int identity_hash(const char *interface, const char *contract, char hash[HASH_HEX], struct err *err);

/* The columns `packed`, src/store/packed.c. tuned_put writes what a kernel's own tables say of it, and tuned_get reads that into t, of
 * an op with so many arguments; packed_interface_put what the op's say. packed_interface_get gives an op without what its own row says: the caller
 * adds that. Both give ERR_CORRUPT for what cutune would not have written, and the latter if it and the contract are not of this hash; or
 * ERR_NOMEM. */
void tuned_put(struct buf *out, const struct tuned *t);
int tuned_get(struct cursor *in, struct tuned *t, int nargs);
void packed_interface_put(struct buf *out, const struct op *op);
int packed_interface_get(struct cursor *in, const char *hash, const char *contract, struct op **out);
/* Puts one, or NULL where it is too long. */
void put_packed(struct query *q, const struct buf *packed);

/* Makes or updates the op's rows, inside a writing transaction; its id goes to *id. */
int op_save(struct store *s, const struct op *op, int64_t *id, struct err *err);
/* The current op of a name, 0 where there is none; and how many arguments an op has. Both quick once store_op was asked. */
int op_id(struct store *s, const char *name, int64_t *id, struct err *err);
int op_nargs(struct store *s, int64_t id, int *n, struct err *err);
/* The six columns of a device's identity, put and taken. */
void put_device(struct query *q, const struct devspec *d);
void col_device(struct query *q, struct devspec *d);
/* Makes the device's row where it is missing, inside a writing transaction; its id goes to *id. */
int device_save(struct store *s, const struct devspec *d, int64_t *id, struct err *err);
struct tuned *tuned_new(void); /* an empty one on an arena of its own; null without memory */
/* What tuned_take wants to find in a row of tuned, left-joined to its code; behind it the row id of the kernel's op. */
#define TUNED_ROW                                                                                                                  \
    "tuned.id, role, coalesce(rank, 0), key, variant, config, time_ns, copy_ns, requires_backend, requires_cc, "                   \
    "requires_arch_specific, requires_grid_order, requires_grid_progress, verified, created, "
#define TUNED_COLUMNS TUNED_ROW "source, binary, format, arch, compiler, portable, packed, "
#define TUNED_TERMS                                                                                                                \
    TUNED_ROW "'' AS source, NULL AS binary, NULL AS format, NULL AS arch, NULL AS compiler, NULL AS portable, packed, "
/* A stored kernel: of the row that a query is at, of an id, and its parameters alone. */
int tuned_take(struct query *q, struct tuned **out, struct err *err);
int tuned_load(struct store *s, int64_t id, struct tuned **out, struct err *err);
int params_load(struct store *s, int64_t id, struct arena *arena, int *n, struct tuned_param **out, struct err *err);
/* Remembers which file the path leads to, for store_replaced; false where it leads to none. */
bool watch_file(struct store *s);
/* Forgets code that no kernel has any more; inside a writing transaction. */
int code_prune(struct store *s, struct err *err);

/* Begins a query with one row id in it, and counts its rows. */
int query_by_id(struct query *q, struct store *s, const char *sql, int64_t id, int max, int *n, struct err *err);
/* Takes the id that a query's only column is, 0 where there is no row, and ends the query. */
int query_id(struct query *q, int64_t *id, struct err *err);

#endif
