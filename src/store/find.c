/* Look-up by what the caller knows: names and text. */
#include "base/mem.h"
#include "store/sql.h"

#define FROM_WINNERS                                                                                                               \
    "FROM tuned LEFT JOIN code ON code.id = tuned.code WHERE tuned.device = (SELECT id FROM device WHERE backend = ? "             \
    "AND name = ? AND arch = ? AND mig = ? AND multiprocessors = ? AND memory = ?) AND tuned.problem = (SELECT problem.id "        \
    "FROM op CROSS JOIN problem ON problem.op = op.id WHERE op.name = ? AND op.current = 1 AND problem.types = ? "                 \
    "AND problem.sizes = ?) AND tuned.verified = 1 ORDER BY tuned.cache LIMIT 1" /* cold before warm, as the index has them */

static int find_winner(struct store *s, const char *sql, const struct devspec *dev, const char *op, const char *types,
                       const char *problem, struct tuned **out, struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s, sql, err);
    if (rc)
        return rc;
    put_device(&q, dev);
    put_text(&q, op);
    put_text(&q, types);
    put_text(&q, problem);
    rc = query_step(&q, err);
    if (rc > 0)
        rc = tuned_take(&q, out, err);
    else if (!rc)
        rc = err_set(err, ERR_NOTFOUND, "%s: no tuned record of %s %s %s on %s", s->path, op, types, problem, dev->name);
    query_end(&q);
    return rc;
}

int store_find_winner(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                      struct tuned **out, struct err *err)
{
    return find_winner(s, "SELECT " TUNED_COLUMNS FROM_WINNERS, dev, op, types, problem, out, err);
}

int store_find_terms(struct store *s, const struct devspec *dev, const char *op, const char *types, const char *problem,
                     struct tuned **out, struct err *err)
{
    return find_winner(s, "SELECT " TUNED_TERMS FROM_WINNERS, dev, op, types, problem, out, err);
}

static int default_ids(struct store *s, const char *backend, const char *op, const char *types, int64_t ids[MAX_DEFAULTS], int *n,
                       struct err *err)
{
    struct query q;
    int rc = query_begin(&q, s,
                         "SELECT tuned.id FROM tuned JOIN op ON op.id = tuned.op WHERE tuned.backend = ? AND op.name = ? "
                         "AND op.current = 1 AND tuned.verified <> 0 AND tuned.types = ? ORDER BY rank",
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
    rc = rc ?: query_check(&q, err);
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
    while (!rc && done < count) {
        rc = store_tuned(s, ids[done], &all[done], err);
        done += !rc;
    }
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

int store_each_default(struct store *s, const char *backend, const char *op, const char *types,
                       int (*each)(void *arg, struct tuned *t), void *arg, struct err *err)
{
    int64_t ids[MAX_DEFAULTS];
    bool mine;
    int n, rc = read_begin(s, &mine, err);
    if (rc)
        return rc;
    rc = default_ids(s, backend, op, types, ids, &n, err);
    for (int i = 0; !rc && i < n; i++) {
        struct tuned *t = NULL;
        struct err why = { 0 };
        rc = store_tuned(s, ids[i], &t, &why);
        s->left_out += rc == ERR_CORRUPT;
        if (!rc)
            rc = each(arg, t);
        else
            rc = rc == ERR_CORRUPT ? 0 : err_set(err, rc, "%s", why.msg);
        tuned_free(t);
    }
    read_end(s, mine);
    return rc;
}
