/* A table of few kernels: a copy of a database in which each problem has one of those that were chosen, and all else is gone. */
#include "store/sql.h"

/* For SQLite the copy is a second database, which is refused otherwise. */
static int vacuum(struct store *s, const char *sql, const char *letters, const char *path, struct err *err)
{
    int most = sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 1);
    int rc = sql_run(s, err, sql, letters, path);
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, most);
    return rc;
}

int store_copy(struct store *s, const char *path, struct err *err)
{
    if (s->older)
        return err_set(err, ERR_UNSUPPORTED, "%s: is of an older version: the next `cutune run` with it migrates it", s->path);
    return vacuum(s, "VACUUM INTO ?", "t", path, err);
}

/* Under a word of its own, until the winners are gone. */
static int give(struct store *s, const struct covered *c, struct err *err)
{
    return sql_run(
        s, err,
        "INSERT INTO tuned (role, device, problem, cache, key, variant, config, time_ns, copy_ns, code, provenance, created, "
        "verified, "
        "kernel) SELECT 'winner', ?1, ?2, 'cover', coalesce((SELECT m.key FROM measurement AS m WHERE m.device = ?1 AND m.problem "
        "= ?2 "
        "AND m.variant = d.variant AND m.config = d.config AND m.protocol = ?5 AND m.outcome IN ('ok', 'slower') ORDER BY m.cache, "
        "m.id DESC LIMIT 1), "
        "d.key), d.variant, d.config, ?3, coalesce((SELECT w.copy_ns FROM tuned AS w WHERE w.device = ?1 AND w.problem = ?2 "
        "AND w.cache <> 'cover' ORDER BY " PINS_LAST(
            "w") " LIMIT 1), 0), d.code, d.provenance, d.created, 1, d.kernel FROM tuned AS d "
                 "WHERE d.device = ?1 AND d.problem = ?4 AND d.verified = 1 AND d.cache <> 'cover' "
                 "ORDER BY " PINS_LAST("d") " LIMIT 1",
        "iirin", c->device, c->problem, c->time_ns, c->donor, PROTOCOL);
}

int store_cover(struct store *s, const char *op, const struct covered *all, int n, bool defaults, struct err *err)
{
    static const char *const rest[] = {
        /* One that was timed with a warm cache only stays one of those. */
        "UPDATE tuned SET cache = iif(EXISTS (SELECT 1 FROM measurement AS m WHERE m.device = tuned.device AND m.problem = "
        "tuned.problem AND m.key = tuned.key AND m.cache = 'warm') AND NOT EXISTS (SELECT 1 FROM measurement AS m WHERE "
        "m.device = tuned.device AND m.problem = tuned.problem AND m.key = tuned.key AND m.cache = 'cold'), 'warm', 'cold') "
        "WHERE role = 'winner'",
        "DELETE FROM wanted",
        "DELETE FROM problem WHERE id NOT IN (SELECT problem FROM tuned WHERE role = 'winner')",
        "DELETE FROM provenance WHERE id NOT IN (SELECT provenance FROM tuned WHERE provenance IS NOT NULL UNION "
        "SELECT provenance FROM measurement)",
        "DELETE FROM device WHERE id NOT IN (SELECT device FROM tuned WHERE device IS NOT NULL)",
    };
    int rc = write_begin(s, err);
    for (int i = 0; !rc && i < n; i++)
        rc = give(s, &all[i], err);
    rc = rc
             ?: sql_run(s, err,
                        "DELETE FROM tuned WHERE iif(role = 'winner', cache <> 'cover', NOT ? OR "
                        "op NOT IN (SELECT id FROM op WHERE name = ? AND current = 1))",
                        "nt", (int)defaults, op);
    rc = rc
             ?: sql_run(s, err, /* claims and times of another PROTOCOL, too */
                        "DELETE FROM measurement WHERE protocol <> ? OR (device, variant, config) NOT IN "
                        "(SELECT device, variant, config FROM tuned WHERE role = 'winner') "
                        "OR (device, problem) NOT IN (SELECT device, problem FROM tuned WHERE role = 'winner')",
                        "n", PROTOCOL);
    for (size_t i = 0; !rc && i < sizeof rest / sizeof *rest; i++)
        rc = sql_run(s, err, rest[i], "");
    rc = rc ?: sql_run(s, err, "DELETE FROM op WHERE name <> ? OR current = 0", "t", op);
    rc = write_end(s, rc ?: code_prune(s, err), err);
    return rc ?: vacuum(s, "VACUUM", "", NULL, err) ?: store_seal(s, err);
}
