/* Tables for people: columns as wide as their widest cell, two spaces apart. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/err.h"
#include "cli/messages.h"
#include "export/columns.h"
#include "export/units.h"

enum { MAX_COLUMNS = 16 };

struct text_table {
    char align[MAX_COLUMNS + 1]; /* a letter a column: l or r */
    struct buf cells;            /* texts, each with its zero byte */
    int n;
};
/* The next cell, row by row from the left; made harmless, as text_line does. */
void table_cell(struct text_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each line begins with `indent` spaces and has no blanks at its end. The table is empty then, and has no memory. */
int table_print(struct text_table *t, int indent, struct err *err);

/* Rows by their columns: a table with their heads as its first line, or a JSON array. */
struct rows {
    const struct row_column *columns;
    bool json;
    json_t *array; /* null: there was no memory */
    struct text_table table;
};
struct rows rows_of(const struct row_column *columns, bool json);
void rows_add(struct rows *r, const void *row);
/* Prints, if `rc` is 0, and frees. Returns the rc, or what the printing failed with. */
int rows_end(struct rows *r, int indent, int rc, struct err *err);

#endif
