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

int store_wanted_add(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                     int64_t count, double time_ns, struct err *err)
{
    static const char insert[] =
        "INSERT INTO wanted (device, op, types, sizes, count, time_ns, last) VALUES (?, ?, ?, ?, ?, ?, " NOW ") "
        "ON CONFLICT DO UPDATE SET count = min(wanted.count + excluded.count, 1000000000000000000), "
        "time_ns = iif(excluded.time_ns > 0, excluded.time_ns, wanted.time_ns), last = excluded.last";
    int64_t device;
    int rc = check(s, op, types, sizes, count, time_ns, err);
    if (rc)
        return rc;
    rc = write_begin(s, err) ?: device_save(s, dev, &device, err);
    rc = rc ?: sql_run(s, err, insert, "itttir", device, op, types, sizes, count, time_ns);
    return write_end(s, rc, err);
}

int store_wanted_trim(struct store *s, int most, struct err *err)
{
    return sql_write(s, err,
                     "DELETE FROM wanted WHERE (device, op, types, sizes) IN (SELECT device, op, types, sizes FROM wanted "
                     "ORDER BY count * time_ns DESC, count DESC, last DESC LIMIT -1 OFFSET ?)",
                     "n", most);
}

int store_each_wanted(struct store *s, const struct devspec *dev, int (*each)(void *arg, const struct wanted_problem *w), void *arg,
                      struct err *err)
{
    struct query q;
    struct wanted_problem w = { 0 };
    query_begin(&q, s, err,
                "SELECT op, types, sizes, count, time_ns, last, backend, name, arch, mig, multiprocessors, memory "
                "FROM wanted JOIN device ON device.id = wanted.device WHERE ?1 IS NULL OR (" IS_DEVICE ") "
                "ORDER BY device.id, count * time_ns DESC, count DESC, op, types, sizes",
                dev ? "d" : "", dev);
    while (query_good_row(&q, "pyzirad", &w.op, &w.types, &w.sizes, &w.count, &w.time_ns, &w.last, &w.dev))
        q.rc = each(arg, &w);
    return query_end(&q);
}

int store_wanted_done(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *sizes,
                      struct err *err)
{
    return sql_write(s, err,
                     "DELETE FROM wanted WHERE device = (SELECT id FROM device WHERE " IS_DEVICE ") "
                     "AND op = ? AND types = ? AND sizes = ?",
                     "dttt", dev, op, types, sizes);
}
