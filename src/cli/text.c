#include "cli/text.h"

#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "cli/cli.h"

enum { MAX_COLUMNS = 16, TEXTS = 4, TEXT_BYTES = 32 };

void text_line(const char *fmt, ...)
{
    struct buf line = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vfmt(&line, fmt, args);
    va_end(args);
    if (line.data)
        err_line(line.data);
    puts(line.failed ? "out of memory" : buf_text(&line));
    buf_free(&line);
}

void table_cell(struct table *t, const char *fmt, ...)
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

static void print_cell(const char *cell, char align, size_t width, size_t *pending, FILE *out)
{
    size_t length = strlen(cell), before = align == 'r' ? width - length : 0;
    if (length) {
        fprintf(out, "%*s%s", (int)(*pending + before), "", cell);
        *pending = width - length - before;
    } else {
        *pending += width;
    }
    *pending += 2;
}

int table_print(struct table *t, int indent, FILE *out)
{
    size_t width[MAX_COLUMNS] = { 0 }, columns = strlen(t->align), pending = 0;
    if (t->cells.failed) {
        buf_free(&t->cells);
        return complain(FAILED, "out of memory");
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
        print_cell(cell, t->align[column], width[column], &pending, out);
        if (column == columns - 1)
            fputc('\n', out);
    }
    buf_free(&t->cells);
    t->n = 0;
    return DONE;
}

static void print_listed(struct listing *l)
{
    if (l->table.n) {
        if (l->any)
            text_line("%s", "");
        text_line("%s", buf_text(&l->head));
        table_print(&l->table, 2, stdout);
        l->any = true;
    }
}

bool listing_head(struct listing *l, const char *fmt, ...)
{
    struct buf head = { 0 };
    va_list args;
    va_start(args, fmt);
    buf_vfmt(&head, fmt, args);
    va_end(args);
    bool same = strcmp(buf_text(&head), buf_text(&l->head)) == 0;
    if (!same) {
        print_listed(l);
        buf_free(&l->head);
        l->head = head;
    } else {
        buf_free(&head);
    }
    return !same;
}

bool listing_end(struct listing *l)
{
    print_listed(l);
    buf_free(&l->table.cells);
    buf_free(&l->head);
    return l->any;
}

/* One of a few texts in turn, so that a line may have several. */
static char *next_text(void)
{
    static char texts[TEXTS][TEXT_BYTES];
    static int next;
    next = (next + 1) % TEXTS;
    return texts[next];
}

static const char *scaled(double value, double step, const char *const *units, int n)
{
    int i = 0;
    for (; i < n - 1 && value >= 0.9995 * step; i++)
        value /= step;
    char *text = next_text();
    int decimals = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, TEXT_BYTES, "%.*f %s", decimals, value, units[i]);
    return text;
}

const char *text_time(double ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };
    return scaled(ns, 1000, units, 4);
}

const char *text_bytes(double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    return scaled(bytes, 1024, units, 5);
}

const char *text_speed(double gb_per_s, double gflop_per_s)
{
    const double balance = 16; /* operations a byte, from which on arithmetic says more than memory does */
    if (gb_per_s > 0 && gflop_per_s < balance * gb_per_s)
        return scaled(gb_per_s, 0, (const char *const[]){ "GB/s" }, 1);
    return gflop_per_s > 0 ? scaled(gflop_per_s, 0, (const char *const[]){ "GFLOP/s" }, 1) : "";
}
