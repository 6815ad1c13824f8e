#include "cli/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static void add_cell(struct text_table *t, const char *text, size_t n)
{
    char cell[512];
    snprintf(cell, sizeof cell, "%.*s", (int)n, text);
    err_line(cell);
    buf_put(&t->cells, cell, strlen(cell) + 1);
    t->n++;
}

void table_row(struct text_table *t, const char *fmt, ...)
{
    struct buf row = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vfmt(&row, fmt, args);
    va_end(args);
    const char *at = buf_text(&row);
    for (size_t left = strlen(t->align); left; left--) {
        size_t n = left > 1 ? strcspn(at, "\t") : strlen(at);
        add_cell(t, at, n);
        at += n + (at[n] == '\t');
    }
    t->cells.failed |= row.failed;
    buf_free(&row);
}

static void print_cell(const char *cell, char align, size_t width, size_t *pending)
{
    size_t length = strlen(cell), before = align == 'r' ? width - length : 0;
    if (length) {
        printf("%*s%s", (int)(*pending + before), "", cell);
        *pending = width - length - before;
    } else {
        *pending += width;
    }
    *pending += 2;
}

int table_print(struct text_table *t, int indent, struct err *err)
{
    size_t width[MAX_COLUMNS] = { 0 }, columns = strlen(t->align), pending = 0;
    int rc = buf_check(&t->cells, err), n = rc ? 0 : t->n;
    const char *cell = buf_text(&t->cells);
    for (int i = 0; i < n; i++, cell += strlen(cell) + 1)
        if (strlen(cell) > width[i % columns])
            width[i % columns] = strlen(cell);
    cell = buf_text(&t->cells);
    for (int i = 0; i < n; i++, cell += strlen(cell) + 1) {
        size_t column = i % columns, row = i / columns;
        enum style s = !row && t->heads ? STRONG : row && (int)row == t->good ? GOOD : PLAIN;
        if (column == 0) {
            pending = indent;
            fputs(s ? style(STDOUT_FILENO, s) : "", stdout);
        }
        print_cell(cell, t->align[column], width[column], &pending);
        if (column == columns - 1)
            printf("%s\n", s ? style(STDOUT_FILENO, PLAIN) : "");
    }
    buf_free(&t->cells);
    return rc;
}

struct rows rows_of(const struct row_column *columns, bool json)
{
    return (struct rows){ .columns = columns, .json = json, .array = json ? json_array() : NULL };
}

/* The table of this title, new ones with the heads of the columns. Rows of one table need not follow each other, though most do. */
static struct text_table *table_of(struct rows *r, const char *title)
{
    for (int i = r->n - 1; i >= 0; i--)
        if (!strcmp(r->tables[i].title, title))
            return &r->tables[i];
    struct text_table t = { .title = mem_strdup(title), .heads = true };
    if (!t.title || !mem_grow((void **)&r->tables, r->n, sizeof t)) {
        mem_free(t.title);
        r->failed = true;
        return NULL;
    }
    for (const struct row_column *c = r->columns; c->key || c->head; c++)
        if (c->head) {
            t.align[t.n] = column_is_right(c) ? 'r' : 'l';
            add_cell(&t, c->head, strlen(c->head));
        }
    r->tables[r->n] = t;
    return &r->tables[r->n++];
}

void rows_add(struct rows *r, const char *title, const void *row)
{
    if (r->json) {
        r->array = json_append(r->array, columns_json(r->columns, IN_LIST, row));
        return;
    }
    struct text_table *t = table_of(r, title);
    for (const struct row_column *c = r->columns; t && (c->key || c->head); c++) {
        struct buf text = { 0 };
        if (!c->head)
            continue;
        column_text(&text, c, row);
        t->cells.failed |= text.failed;
        add_cell(t, buf_text(&text), text.len);
        buf_free(&text);
    }
}

int rows_end(struct rows *r, int rc, struct err *err)
{
    if (r->json && !rc)
        return json_print(r->array, err);
    json_decref(r->array);
    if (!rc && !r->n)
        table_of(r, "");
    rc = rc ?: (r->failed ? err_nomem(err) : 0);
    for (int i = 0; i < r->n; i++) {
        struct text_table *t = &r->tables[i];
        if (i && !rc)
            puts("");
        if (*t->title && !rc)
            text_line("%s", t->title);
        rc = rc ?: table_print(t, *t->title ? 2 : 0, err);
        buf_free(&t->cells);
        mem_free(t->title);
    }
    mem_free(r->tables);
    return rc;
}

int row_print(const struct row_column *columns, bool json, const void *row, struct err *err)
{
    if (json)
        return json_print(columns_json(columns, 0, row), err);
    for (const struct row_column *c = columns; c->key || c->head; c++) {
        struct buf text = { 0 };
        column_text(&text, c, row);
        text_line("%-7s  %s", c->head, buf_text(&text));
        buf_free(&text);
    }
    return 0;
}

int json_print(json_t *root, struct err *err)
{
    if (!root)
        return err_nomem(err);
    int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    json_decref(root);
    putchar('\n');
    return failed ? err_set(err, ERR_IO, "could not write the output: %s", strerror(errno)) : 0;
}

json_t *json_config(const struct op *op, const struct config *c)
{
    const struct variant *v = &op->variants[c->variant];
    json_t *object = json_object();
    for (int i = 0; i < v->nparams; i++)
        object = json_with(object, v->params[i].name, json_value(v->params[i].values[c->at[i]]));
    return object;
}
