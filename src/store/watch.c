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
    int64_t version;
    int rc = sql_run(s, err, "PRAGMA data_version", ":j", &version); /* moves with the commits of others, not with one's own */
    if (!rc)
        *out = ((uint64_t)version + 1) << 32 | (uint32_t)sqlite3_total_changes(s->db);
    return rc;
}
