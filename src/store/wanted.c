/* What applications asked for and got no exact answer to. */
#include <string.h>

#include "model/op.h"
#include "store/sql.h"

/* Canonical texts of types and sizes are made of printable characters, with no spaces. */
static bool plain(const char *s)
{
    while (*s > ' ' && *s < 0x7f)
        s++;
    return !*s;
}

#define MOST_WANTED INT64_C(1000000000000000000) /* times that a problem was asked for; the count stays there */

static int check(struct store *s, const char *op, const char *types, const char *sizes, int64_t count, double time_ns,
                 struct err *err)
{
    bool words =
        name_ok(op) && *types && plain(types) && strlen(types) <= MAX_TYPES_TEXT && plain(sizes) && strlen(sizes) <= MAX_SIZES_TEXT;
    if (words && count > 0 && count <= MOST_WANTED && time_ns >= 0 && time_ns <= TIME_MAX)
        return 0;
    return err_set(err, ERR_INVALID, "%s: not stored as wanted: op, types or sizes are no names and numbers, or too long", s->path);
}

static int add(struct store *s, int64_t device, const char *op, const char *types, const char *sizes, int64_t count, double time_ns,
               struct err *err)
{
    return sql_run(s, err,
                   "INSERT INTO wanted (device, op, types, sizes, count, time_ns, last) "
                   "VALUES (?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) "
                   "ON CONFLICT (device, op, types, sizes) DO UPDATE SET "
                   "count = min(wanted.count + excluded.count, 1000000000000000000), "
                   "time_ns = iif(excluded.time_ns > 0, excluded.time_ns, wanted.time_ns), last = excluded.last",
                   "itttir", device, op, types, sizes, count, time_ns);
}

int store_wanted_add(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                     int64_t count, double time_ns, struct err *err)
{
    int64_t device;
    int rc = check(s, op, types, sizes, count, time_ns, err) ?: write_begin(s, err);
    if (rc)
        return rc;
    rc = device_save(s, dev, &device, err) ?: add(s, device, op, types, sizes, count, time_ns, err);
    return write_end(s, rc, err);
}

int store_wanted_trim(struct store *s, int most, struct err *err)
{
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    rc = sql_run(s, err,
                 "DELETE FROM wanted WHERE (device, op, types, sizes) IN (SELECT device, op, types, sizes FROM wanted "
                 "ORDER BY count * time_ns DESC, count DESC, last DESC LIMIT -1 OFFSET ?)",
                 "i", (int64_t)most);
    return write_end(s, rc, err);
}

static int take(struct query *q, int (*each)(void *arg, const struct wanted_problem *w), void *arg, struct err *err)
{
    struct wanted_problem w = { 0 };
    w.op = col_name(q);
    w.types = col_text(q, MAX_TYPES_TEXT, 0);
    w.sizes = col_text(q, MAX_SIZES_TEXT, 0);
    w.count = col_int(q, 1, INT64_MAX);
    w.time_ns = col_real(q, 0, 1e18);
    w.last = col_text(q, MAX_NAME, 0);
    col_device(q, &w.dev);
    if (strlen(w.last) != strlen("2026-01-01T00:00:00Z"))
        query_bad(q, "last");
    int rc = row_check(q, err);
    return rc > 0 ? each(arg, &w) : rc;
}

int store_each_wanted(struct store *s, const struct devspec *dev, int (*each)(void *arg, const struct wanted_problem *w), void *arg,
                      struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT op, types, sizes, count, time_ns, last, backend, name, arch, mig, multiprocessors, memory "
                         "FROM wanted JOIN device ON device.id = wanted.device WHERE ?1 IS NULL OR (backend = ?1 AND name = ?2 "
                         "AND arch = ?3 AND mig = ?4 AND multiprocessors = ?5 AND memory = ?6) "
                         "ORDER BY device.id, count * time_ns DESC, count DESC, op, types, sizes",
                         err);
    if (rc)
        return rc;
    if (dev)
        put_device(&q, dev);
    while ((rc = query_step(&q, err)) > 0)
        if ((rc = take(&q, each, arg, err)))
            break;
    query_end(&q);
    return rc;
}

int store_wanted_done(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                      struct err *err)
{
    int rc = write_begin(s, err);
    if (rc)
        return rc;
    rc = sql_run(s, err,
                 "DELETE FROM wanted WHERE device = (SELECT id FROM device WHERE backend = ? AND name = ? AND arch = ? "
                 "AND mig = ? AND multiprocessors = ? AND memory = ?) AND op = ? AND types = ? AND sizes = ?",
                 "dttt", dev, op, types, sizes);
    return write_end(s, rc, err);
}
