/* Look-up by what the caller knows: names and text. */
#include "base/mem.h"
#include "store/sql.h"

static int winner_id(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     int64_t *id, struct err *err)
{
    struct query q;
    int rc =
        query_begin(&q, s,
                    "SELECT tuned.id FROM tuned JOIN device ON device.id = tuned.device JOIN problem ON problem.id = tuned.problem "
                    "JOIN op ON op.id = problem.op WHERE device.backend = ? AND device.name = ? AND arch = ? AND mig = ? "
                    "AND multiprocessors = ? AND memory = ? AND op.name = ? AND op.current = 1 AND problem.types = ? "
                    "AND problem.sizes = ? ORDER BY tuned.cache = 'warm' LIMIT 1",
                    err);
    if (rc)
        return rc;
    put_device(&q, dev);
    put_text(&q, op);
    put_text(&q, types);
    put_text(&q, problem);
    return query_id(&q, id, err);
}

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    bool mine;
    int64_t id;
    int rc = read_begin(s, &mine, err);
    if (rc)
        return rc;
    rc = winner_id(s, dev, op, types, problem, &id, err);
    if (!rc && !id)
        rc = err_set(err, ERR_NOTFOUND, "%s: no tuned record of %s %s %s on %s", s->path, op, types, problem, dev->name);
    if (!rc)
        rc = tuned_load(s, id, out, err);
    read_end(s, mine);
    return rc;
}

static int default_ids(struct store *s, const char *backend, const char *op, const char *types, int64_t ids[MAX_DEFAULTS], int *n,
                       struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT tuned.id FROM tuned JOIN op ON op.id = tuned.op WHERE tuned.backend = ? AND op.name = ? "
                         "AND op.current = 1 AND tuned.types = ? ORDER BY rank",
                         err);
    *n = 0;
    if (rc)
        return rc;
    put_text(&q, backend);
    put_text(&q, op);
    put_text(&q, types);
    while ((rc = query_step(&q, err)) > 0) {
        if (*n == MAX_DEFAULTS) {
            rc = store_damaged(s, err, "more than %d defaults of %s", MAX_DEFAULTS, op);
            break;
        }
        ids[(*n)++] = col_int(&q, 1, INT64_MAX);
    }
    if (!rc)
        rc = query_check(&q, err);
    query_end(&q);
    return rc;
}

int store_find_defaults(struct store *s, const char *backend, const char *op, const char *types, struct tuned ***out, int *n,
                        struct err *err)
{
    int64_t ids[MAX_DEFAULTS];
    struct tuned **all = NULL;
    bool mine;
    int count, done = 0, rc = read_begin(s, &mine, err);
    if (rc)
        return rc;
    rc = default_ids(s, backend, op, types, ids, &count, err);
    if (!rc && !(all = mem_array((size_t)count, sizeof *all)))
        rc = err_nomem(err);
    while (!rc && done < count)
        if (!(rc = tuned_load(s, ids[done], &all[done], err)))
            done++;
    read_end(s, mine);
    if (!rc) {
        *out = all;
        *n = count;
        return 0;
    }
    while (done > 0)
        tuned_free(all[--done]);
    mem_free(all);
    return rc;
}
