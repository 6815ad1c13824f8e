/* Output for people: aligned tables, and numbers with their units. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdio.h>

#include "base/buf.h"

/* A line on the standard output. All text for people passes through here or table_cell, which make it harmless (err_line): names of
 * devices, ops and files are strangers'. */
void text_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Rows of cells; columns are as wide as their widest cell, two spaces apart. */
struct table {
    const char *align; /* a letter a column: l or r */
    struct buf cells;  /* texts, each with its zero byte */
    int n;
};
/* The next cell, row by row from the left. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each line begins with `indent` spaces and has no blanks at its end. Returns an exit code; the table is then empty. */
int table_print(struct table *t, int indent, FILE *out);

/* A listing of tables, each under a line of its own, on the standard output: one is printed when the next begins. */
struct listing {
    struct table table;
    struct buf head;
    bool any; /* was printed */
};
/* True where this line begins a table: its column names are then to be put first. */
bool listing_head(struct listing *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints the last table, and frees what the listing has; false where there was none at all. */
bool listing_end(struct listing *l);

/* "4.92 ms", three digits that matter. The text is overwritten by the fourth call after. */
const char *text_time(double ns);
const char *text_bytes(double bytes); /* "7.8 GiB" */
/* "42.9 GB/s"; where the bytes are not known "1234 GFLOP/s"; "" where neither is. */
const char *text_speed(double gb_per_s, double gflop_per_s);

#endif
