/* What commands print: lines, tables and commands for people, with nothing in them that could harm a terminal, as names of devices, ops
 * and files are strangers'; and JSON for programs. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdio.h>

#include "base/err.h"
#include "export/columns.h"
#include "model/op.h"

/* ---- lines: messages.c */

/* A line on the standard output; and one on stderr, "cutune NAME: ...", which is FAILED. */
#define text_line(...) (void)print_line(stdout, __VA_ARGS__)
#define complain(...)  print_line(stderr, __VA_ARGS__)
int print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* From now on whatever this process prints on stderr, also a library's words or a strategy's, is made harmless line by line (err_line).
 * To be called before anything is printed. */
void messages_start(void);
/* What begins and ends a style on a terminal, where a person may want it: "" elsewhere, with $NO_COLOR and on a dumb terminal. */
enum style { PLAIN, STRONG, GOOD, BAD };
const char *style(int fd, enum style s);

/* The command that complains from now on: "cutune NAME", which is returned. */
char *messages_name(const char *command);

/* ---- commands to be copied into a shell: shell.c */

/* Adds a word to a command, with a blank before it unless it is the first. A POSIX shell reads back exactly this text. What is added is
 * harmless to print: control characters and bytes that are not UTF-8 are spelled out, except newlines at the end of a word. */
void shell_word(struct buf *command, const char *word);

/* ---- tables: columns as wide as their widest cell, two spaces apart */

enum { MAX_COLUMNS = 16 };

struct text_table {
    char align[MAX_COLUMNS + 1]; /* a letter a column: l or r */
    struct buf cells;            /* texts, each with its zero byte */
    int n;
    char *title; /* of rows only */
    bool heads;  /* the first row is one of heads */
    int good;    /* a row to point out; 0: none */
};
/* The next row, its cells between tabs: a missing one is empty, and the last one takes the rest. They are made harmless. */
void table_row(struct text_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Each line begins with `indent` spaces and has no blanks at its end. Frees the cells. */
int table_print(struct text_table *t, int indent, struct err *err);

/* Rows by their columns: a JSON array, or tables with the columns' heads as the first line, one for each title. */
struct rows {
    const struct row_column *columns;
    bool json;
    json_t *array; /* null: there was no memory */
    struct text_table *tables;
    int n;
    bool failed; /* there was no memory for a table */
};
struct rows rows_of(const struct row_column *columns, bool json);
void rows_add(struct rows *r, const char *title, const void *row); /* title "": the table has none, and is not indented */
/* Prints, if `rc` is 0, and frees. Returns the rc, or what the printing failed with. */
int rows_end(struct rows *r, int rc, struct err *err);
/* One row: a line for each of its columns that have a head, after it; or a JSON object. */
int row_print(const struct row_column *columns, bool json, const void *row, struct err *err);

/* ---- JSON */

/* Prints and frees. */
int json_print(json_t *root, struct err *err);
json_t *json_config(const struct op *op, const struct config *c);

extern const struct row_column device_columns[]; /* of struct devspec */

#endif
