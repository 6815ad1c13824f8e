/* Values and rows, as people read them and as programs do. */
#ifndef EXPORT_COLUMNS_H
#define EXPORT_COLUMNS_H

#include <jansson.h>
#include <stddef.h>

#include "expr/val.h"

/* ---- numbers with their units, for people: units.c */

/* "4.92 ms", three digits that matter. A text is overwritten by the fourth call after. */
const char *text_time(double ns);
const char *text_memory(double bytes); /* "7.8 GiB" */
const char *text_bytes(double bytes);  /* "48 B" */
const char *text_share(double share);  /* "97%" */
/* "42.9 GB/s, 12.3 GFLOP/s", what says more first; what is not known is left out. Good until the next call. */
const char *text_speed(double gb_per_s, double gflop_per_s);

/* "energy=0.0123 J,gflops=1234.5" of what is known: joules 0 is not, and a row's metrics are as struct listed has them. */
void metrics_text(struct buf *out, double joules, const char *metrics);

/* ---- values as JSON: json.c. The makers return null without memory */

json_t *json_text(const char *s);      /* bytes of a text that is not UTF-8 become '?' */
json_t *json_value(struct val v);      /* keeps its type; a number that JSON has no form for is null */
json_t *json_stored(const char *json); /* a configuration as the database has it; null if that is none */
json_t *json_sizes(const char *text);  /* "m=1111,n=113" as an object; JSON's null if it is not that */
json_t *json_positive(double v);       /* null if it is not above 0, which means unknown */

/* Sets a member, adds an element. If that fails, the container is freed and null comes back, so that a chain of these is checked once,
 * at its end. */
json_t *json_with(json_t *object, const char *name, json_t *value);
json_t *json_append(json_t *array, json_t *value);

/* ---- the columns of a listing, described once: what people see of a row, and what programs get of it as JSON or CSV */

/* A member of the row's struct. Negative integers and numbers that are not above 0 stand for what is unknown. */
enum field { FIELD_NONE, FIELD_TEXT, FIELD_CHARS, FIELD_INT, FIELD_INT64, FIELD_REAL, FIELD_BOOL, FIELD_BUF };
#define FIELD(row, member)                                                                                                         \
    .field = _Generic(((row *)0)->member,                                                                                          \
    const char *: FIELD_TEXT,                                                                                                      \
    char *: FIELD_CHARS,                                                                                                           \
    struct buf: FIELD_BUF,                                                                                                         \
    int: FIELD_INT,                                                                                                                \
    unsigned: FIELD_INT,                                                                                                           \
    int64_t: FIELD_INT64,                                                                                                          \
    size_t: FIELD_INT64,                                                                                                           \
    double: FIELD_REAL,                                                                                                            \
    bool: FIELD_BOOL),                                                                                                             \
    .at = offsetof(row, member)
#define OVER(row, member)      .over = offsetof(row, member)
#define JSON(row, member, how) .parse = how, .parsed = offsetof(row, member)

/* Its value is that of a field, or of the first function that is there. */
struct row_column {
    const char *key;  /* in JSON and CSV; null: it is in neither */
    const char *head; /* above it in a table for people; null: it is in none */
    enum field field;
    size_t at;
    size_t over;                                    /* the member that a real field is divided by; 0: none */
    double (*number)(const void *row);              /* not above 0: unknown */
    void (*text)(struct buf *out, const void *row); /* beside a field: what people see */
    json_t *(*parse)(const char *text);             /* beside a field: JSON has what this makes of the text that is */
    size_t parsed;                                  /* this member, or */
    json_t *(*json)(const void *row);               /* what this makes of the row. People see an array as its words */
    const char *(*unit)(double number);             /* what people see of a number; null: its digits */
    bool right;                                     /* aligned to the right; numbers are anyway */
    unsigned in;                                    /* the forms that have it, of those of JSON and CSV; 0: all */
};
enum { IN_LIST = 1, IN_EXPORT = 2 }; /* what cutune's commands print; the export */

/* Each list of columns ends with one that has neither key nor head. */
json_t *columns_json(const struct row_column *columns, unsigned in, const void *row);
void columns_csv(struct buf *out, const struct row_column *columns, unsigned in, const void *row); /* row null: the header line */
void column_text(struct buf *out, const struct row_column *column, const void *row);
bool column_is_right(const struct row_column *column);

/* For the writers: the value as a plain one, nil if it is unknown; `text` keeps what a function makes. */
struct val column_value(const struct row_column *column, const void *row, struct buf *text);
static inline bool column_is_in(const struct row_column *c, unsigned in)
{
    return c->key && (!c->in || c->in & in);
}

#endif
