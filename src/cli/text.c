#include "cli/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"

void table_cell(struct text_table *t, const char *fmt, ...)
{
    char cell[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(cell, sizeof cell, fmt, args);
    va_end(args);
    err_line(cell);
    buf_put(&t->cells, cell, strlen(cell) + 1);
    t->n++;
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
    if (t->cells.failed) {
        buf_free(&t->cells);
        return err_nomem(err);
    }
    const char *cell = buf_text(&t->cells);
    for (int i = 0; i < t->n; i++, cell += strlen(cell) + 1)
        if (strlen(cell) > width[i % columns])
            width[i % columns] = strlen(cell);
    cell = buf_text(&t->cells);
    for (int i = 0; i < t->n; i++, cell += strlen(cell) + 1) {
        size_t column = i % columns;
        if (column == 0)
            pending = indent;
        print_cell(cell, t->align[column], width[column], &pending);
        if (column == columns - 1)
            putchar('\n');
    }
    buf_free(&t->cells);
    t->n = 0;
    return 0;
}

/* Room that failed is remembered by the array or the cells themselves. */
struct rows rows_of(const struct row_column *columns, bool json)
{
    struct rows r = { .columns = columns, .json = json, .array = json ? json_array() : NULL };
    for (const struct row_column *c = columns; !json && (c->key || c->head); c++)
        if (c->head) {
            r.table.align[r.table.n] = column_is_right(c) ? 'r' : 'l';
            table_cell(&r.table, "%s", c->head);
        }
    return r;
}

void rows_add(struct rows *r, const void *row)
{
    if (r->json) {
        r->array = json_append(r->array, columns_json(r->columns, IN_LIST, row));
        return;
    }
    for (const struct row_column *c = r->columns; c->key || c->head; c++) {
        struct buf text = { 0 };
        if (c->head) {
            column_text(&text, c, row);
            r->table.cells.failed |= text.failed;
            table_cell(&r->table, "%s", buf_text(&text));
        }
        buf_free(&text);
    }
}

int rows_end(struct rows *r, int indent, int rc, struct err *err)
{
    if (!rc)
        return r->json ? json_print(r->array, err) : table_print(&r->table, indent, err);
    json_decref(r->array);
    buf_free(&r->table.cells);
    return rc;
}
