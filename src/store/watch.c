/* Whether the file has changed since, or is another one. */
#include <sys/stat.h>

#include "store/sql.h"

bool watch_file(struct store *s)
{
    struct stat st;
    if (stat(s->absolute, &st))
        return false;
    s->dev = st.st_dev;
    s->ino = st.st_ino;
    return true;
}

bool store_replaced(const struct store *s)
{
    struct stat st;
    return stat(s->absolute, &st) || st.st_dev != s->dev || st.st_ino != s->ino;
}

int store_generation(struct store *s, uint64_t *out, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, "PRAGMA data_version", err); /* moves with the commits of others, not with one's own */
    if (rc)
        return rc;
    rc = query_step(&q, err);
    uint64_t version = rc > 0 ? (uint64_t)col_int(&q, 0, INT64_MAX) : 0;
    if (rc > 0 && !(rc = query_check(&q, err)))
        *out = (version + 1) << 32 | (uint32_t)sqlite3_total_changes(s->db);
    query_end(&q);
    return rc;
}
