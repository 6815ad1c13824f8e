/* What earlier processes read, kept in a file of its own: an application's first launch then need not open the database, where SQLite
 * would read and parse the whole schema first. It holds while the database is the same file, unchanged, with no log beside it. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "store/beside.h"
#include "store/sql.h"

enum {
    MAX_KEPT = 512 << 10,
};

/* False if the database can change without that its file's state tells. The file is not opened for this: closing it again would drop all
 * locks that this process has on it. */
static bool state_of(const struct store *s, char out[HASH_HEX])
{
    struct stat st;
    return !stat(s->absolute, &st) && !check_log(s->real, "", NULL) && file_state(&st, out);
}

bool answers_hold(const struct store *s)
{
    char now[HASH_HEX];
    return *s->state && state_of(s, now) && !strcmp(now, s->state);
}

bool answers_load(struct store *s, const char *folder)
{
    struct buf path = { 0 };
    char name[HASH_HEX];
    hash_hex(s->absolute, strlen(s->absolute), name);
    buf_fmt(&path, "%s/%s.answers", folder, name);
    s->answers = path.data;
    bool good = !path.failed && state_of(s, s->state) && file_kept(s->answers, MAX_KEPT, &s->kept) && s->kept.len > HASH_HEX &&
                !memcmp(s->kept.data, s->state, HASH_HEX);
    if (!good) { /* the first answer goes behind the state */
        buf_clear(&s->kept);
        buf_put(&s->kept, s->state, HASH_HEX);
    }
    return good;
}

void answers_close(struct store *s)
{
    if (s->learned && answers_hold(s))
        file_keep(s->answers, s->kept.data, s->kept.len);
    buf_free(&s->kept);
    mem_free(s->answers);
}

static struct cell get_cell(struct cursor *c)
{
    struct cell cell = { .type = get_u8(c) };
    if (cell.type == SQLITE_INTEGER)
        cell.i = get_i64(c);
    else if (cell.type == SQLITE_FLOAT)
        cell.r = get_f64(c);
    else if (cell.type != SQLITE_NULL)
        cell.p = get_bytes(c, &cell.n);
    if (cell.type == SQLITE_TEXT) { /* its zero byte is kept, too */
        c->bad = c->bad || !cell.n || ((const char *)cell.p)[cell.n - 1];
        cell.n -= !c->bad;
    }
    return cell;
}

/* The row that is kept for a key goes to `cells`. Returns how many they are; 0 if there is none. */
static int kept_row(const struct store *s, const struct buf *key, struct cell cells[MAX_CELLS])
{
    struct cursor c = cursor_on(s->kept.data + HASH_HEX, s->kept.len - HASH_HEX);
    bool found = false;
    int ncells = 0;
    while (!found && c.at < c.end && !c.bad) {
        size_t n;
        const char *of = get_bytes(&c, &n);
        found = n == key->len && !memcmp(of, key->data, n);
        ncells = (int)get_u32(&c);
        for (int i = 0; i < ncells && !c.bad; i++)
            cells[i < MAX_CELLS ? i : MAX_CELLS - 1] = get_cell(&c);
    }
    return found && !c.bad && ncells > 0 && ncells <= MAX_CELLS ? ncells : 0;
}

bool answer_find(struct query *q)
{
    const struct store *s = q->store;
    if (!s->db && s->kept.len > HASH_HEX && answers_hold(s))
        q->ncells = kept_row(s, &q->key, q->cells);
    return q->ncells;
}

void answer_keep(struct query *q)
{
    struct store *s = q->store;
    struct cell cells[MAX_CELLS];
    size_t before = s->kept.len;
    if (!answers_hold(s)) { /* it may come from a log, or from another file */
        *s->state = 0;
        return;
    }
    if (s->kept.failed || kept_row(s, &q->key, cells)) /* asked before */
        return;
    int n = sqlite3_column_count(q->stmt);
    buf_bytes(&s->kept, q->key.data, q->key.len);
    buf_u32(&s->kept, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        struct cell c = query_cell(q, i);
        buf_u8(&s->kept, (uint8_t)c.type);
        if (c.type == SQLITE_INTEGER)
            buf_i64(&s->kept, c.i);
        else if (c.type == SQLITE_FLOAT)
            buf_f64(&s->kept, c.r);
        else if (c.type != SQLITE_NULL)
            buf_bytes(&s->kept, c.p ?: "", c.n + (c.type == SQLITE_TEXT));
    }
    if (s->kept.len > MAX_KEPT) /* the earlier ones are enough */
        s->kept.len = before;
    else
        s->learned = !s->kept.failed;
}
