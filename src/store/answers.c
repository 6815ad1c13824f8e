/* What earlier processes read, kept in a file of its own: an application's first launch then need not open the database, where SQLite
 * would read and parse the whole schema first. It holds while the database is the same file, unchanged, with no log beside it. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/beside.h"
#include "store/sql.h"

enum { MAX_KEPT = 512 << 10, HEAD = 100 /* bytes at a database's start; SQLite counts its transactions there */ };

/* False if the database can change without its file, by a log beside it. */
static bool state_of(const struct store *s, char out[HASH_HEX])
{
    struct stat st;
    struct buf b = { 0 };
    char head[HEAD], *real = NULL;
    int fd = open(s->absolute, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, head, HEAD, 0) == HEAD;
    if (fd >= 0)
        close(fd);
    good = good && !real_path(s->absolute, &real, NULL) && !check_log(real, "", NULL);
    mem_free(real);
    if (!good)
        return false;
    buf_lstr(&b, CUTUNE_VERSION);
    buf_bytes(&b, head, HEAD);
    for (const int64_t *v = (int64_t[]){ (int64_t)st.st_dev, (int64_t)st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                                         st.st_ctim.tv_sec, st.st_ctim.tv_nsec, -1 };
         *v != -1; v++)
        buf_i64(&b, *v);
    return !hash_buf(&b, 0, out, NULL);
}

static bool still_holds(const struct store *s)
{
    char now[HASH_HEX];
    return *s->state && state_of(s, now) && !strcmp(now, s->state);
}

bool answers_hold(const struct store *s)
{
    return !s->db && still_holds(s);
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
    if (s->learned && still_holds(s))
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
    if (cell.type == SQLITE_TEXT)
        cell.n -= cell.n > 0; /* its zero byte is kept, too */
    return cell;
}

bool answer_find(struct query *q)
{
    struct store *s = q->store;
    bool found = false;
    if (!s->answers || s->kept.len <= HASH_HEX || !answers_hold(s))
        return false;
    struct cursor c = cursor_on(s->kept.data + HASH_HEX, s->kept.len - HASH_HEX);
    while (!found && c.at < c.end && !c.bad) {
        size_t n;
        const char *key = get_bytes(&c, &n);
        found = n == q->key.len && !memcmp(key, q->key.data, n);
        q->ncells = (int)get_u32(&c);
        for (int i = 0; i < q->ncells && !c.bad; i++)
            q->cells[i < MAX_CELLS ? i : MAX_CELLS - 1] = get_cell(&c);
    }
    found = found && !c.bad && q->ncells <= MAX_CELLS;
    if (!found)
        q->ncells = 0;
    return found;
}

void answer_keep(struct query *q)
{
    struct store *s = q->store;
    size_t before = s->kept.len;
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
