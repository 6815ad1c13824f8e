#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/beside.h"
#include "store/older.h"

enum {
    APPLICATION_ID = 1668641902, /* as in db/schema.sql */
    BUSY_MS = 10000,
    BUSY_SOON_MS = 100,
    MAX_CELL = 160 << 20, /* bytes of a row */
    MAX_SQL = 1 << 20,    /* of a statement, those of the file's schema among them */
    VERIFY_STEPS = 5 << 20,
    STEPS_ALWAYS = 10000000,
    STEPS_A_BYTE = 8,
    STEPS_AT_ONCE = 1000,
    SCHEMA_STEPS = 10000, /* of reading a schema: ours takes a twentieth */
};

/* The folder that the path's last name is in. */
static int check_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat st;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &st))
        return err_set(err, ERR_NOTFOUND, "%s: the folder %s: %s", path, folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_IO, "%s: %s is not a folder", path, folder);
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS)) /* SQLite's log lies beside the file */
        return err_set(err, ERR_IO, "%s: cannot write in the folder %s: %s", path, folder, strerror(errno));
    return 0;
}

/* What SQLite would only call "unable to open database file". */
static int check_path(const char *path, const char *real, enum store_mode mode, struct err *err)
{
    struct stat st;
    if (!*path)
        return err_set(err, ERR_INVALID, "the database's path is empty");
    if (stat(path, &st)) {
        if (errno != ENOENT)
            return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
        if (!lstat(path, &st) && S_ISLNK(st.st_mode)) /* else another process makes it just now */
            return err_set(err, ERR_NOTFOUND, "%s: a link to what is not there", path);
        if (mode != STORE_WRITE)
            return err_set(err, ERR_NOTFOUND, "%s: no such database; `cutune run` makes one", path);
        return check_folder(path, err) ?: check_beside(path, err);
    }
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "%s: a folder, not a database", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INVALID, "%s: not a regular file", path);
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS))
        return err_set(err, ERR_IO, "%s: cannot read it: %s", path, strerror(errno));
    if (mode == STORE_TABLES) /* nothing beside it is opened */
        return 0;
    int rc = check_beside(real, err);
    if (rc || mode != STORE_WRITE)
        return rc;
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return err_set(err, ERR_IO, "%s: cannot write it: %s", path, strerror(errno));
    return has_names(real) ? refuse_names(path, err) : check_folder(real, err);
}

/* As a URI, so that ":memory:" and the like are plain names and `immutable` can be asked for. */
static int uri_of(const char *path, const char *parameters, struct buf *out, struct err *err)
{
    buf_str(out, *path == '/' ? "file://" : "file:./");
    for (const char *p = path; *p; p++) {
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("/._-", *p))
            buf_put(out, p, 1);
        else
            buf_fmt(out, "%%%02X", (unsigned char)*p);
    }
    buf_str(out, parameters);
    return buf_check(out, err);
}

/* No statement runs for ever, whatever the file holds: a tree of pages that leads into itself has rows without end. The bound is on
 * SQLite's own steps, of an outermost statement with all within it: so many, and so many more for each byte of the file. Ours take a
 * tenth of that at the worst. Not 0: the statement has had its share. */
static int count_steps(void *arg)
{
    struct store *s = arg;
    struct stat st;
    s->steps += STEPS_AT_ONCE;
    if (s->most)
        return s->steps > s->most;
    if (s->steps <= STEPS_ALWAYS)
        return 0;
    return s->steps > STEPS_ALWAYS + (stat(s->absolute, &st) ? 0 : STEPS_A_BYTE * (int64_t)st.st_size);
}

/* A file may come from anywhere: nothing that its schema says is run beyond its tables. */
static void restrain(struct store *s)
{
    sqlite3 *db = s->db;
    sqlite3_progress_handler(db, STEPS_AT_ONCE, count_steps, s);
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, s->busy_ms);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_CELL);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MAX_SQL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(db, "PRAGMA cell_size_check = 1", NULL, NULL, NULL);
}

static int connect(struct store *s, int flags, const char *parameters, struct err *err)
{
    struct buf uri = { 0 };
    sqlite3_close(s->db);
    s->db = NULL;
    int rc = uri_of(s->absolute, parameters, &uri, err); /* the caller may be in another folder by now */
    int code = rc ? 0 : sqlite3_open_v2(uri.data, &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    buf_free(&uri);
    if (!rc && !code)
        restrain(s);
    return rc ?: code ? store_failed(s, code, err) : 0;
}

/* Begins the transaction in which open_as reads all that it asks. Returns SQLite's code. */
static int first_read(struct store *s)
{
    int64_t id;
    sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);
    return sql_number(s, "PRAGMA application_id", &id);
}

static int connect_read(struct store *s, struct err *err)
{
    int rc = connect(s, SQLITE_OPEN_READONLY, "?mode=ro", err);
    if (rc)
        return rc;
    int code = first_read(s);
    if (code == SQLITE_READONLY_ROLLBACK && !connect(s, SQLITE_OPEN_READWRITE, "", NULL)) {
        first_read(s); /* undoes what a killed writer left half done */
        rc = connect(s, SQLITE_OPEN_READONLY, "?mode=ro", err);
        if (rc)
            return rc;
        code = first_read(s);
    }
    if ((code & 0xff) == SQLITE_BUSY && !check_folder(s->real, NULL) && check_locks(s->real, err) == ERR_UNSUPPORTED)
        return ERR_UNSUPPORTED; /* what SQLite takes for another's lock */
    if ((code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY)
        return code ? store_failed(s, code, err) : 0;
    /* A file in WAL mode wants to make its index beside it. Where that cannot be, and no log waits, nobody writes: as it stands. */
    return check_log(s->real, "and this folder is read-only: open it once where it can be written", err)
               ?: connect(s, SQLITE_OPEN_READONLY, "?mode=ro&immutable=1", err);
}

static int connect_tables(struct store *s, struct err *err)
{
    return check_log(s->real, "and it was to be read only: open it once for writing", err)
               ?: connect(s, SQLITE_OPEN_READONLY, "?mode=ro&immutable=1", err);
}

static int check_schema(struct store *s, int version, struct err *err)
{
    if (!version)
        return 0;
    return version == SCHEMA_VERSION ? schema_check(s, newest_schema, err) : older_check(s, version, err);
}

/* Whose file its head says it is. *version: 0 for an empty one. */
static int read_head(struct store *s, enum store_mode mode, int *version, struct err *err)
{
    int64_t id = 0, v = 0, things = 0;
    int code = sql_number(s, "PRAGMA application_id", &id);
    code = code ? code : sql_number(s, "PRAGMA user_version", &v);
    if (!code && id == 0 && v == 0)
        code = sql_number(s, "SELECT EXISTS (SELECT 1 FROM sqlite_master)", &things);
    if (code && (code & 0xff) != SQLITE_INTERRUPT)
        return store_failed(s, code, err);
    if (!code && id == 0 && v == 0 && !things) {
        *version = 0;
        return mode == STORE_WRITE ? 0 : err_set(err, ERR_NOTFOUND, "%s: empty: nothing was ever tuned into it", s->path);
    }
    if (id != APPLICATION_ID)
        return err_set(err, ERR_INVALID, "%s: another program's database, not cutune's", s->path);
    if (v > SCHEMA_VERSION)
        return err_set(err, ERR_INVALID, "%s: of a newer cutune: its version is %lld, this one knows up to %d", s->path,
                       (long long)v, SCHEMA_VERSION);
    if (v < 1)
        return store_damaged(s, err, "it has no version");
    *version = (int)v;
    return 0;
}

/* Whose file it is, and whether nothing in it is a program. */
static int identify(struct store *s, enum store_mode mode, int *version, struct err *err)
{
    bool mine;
    int rc = read_begin(s, &mine, err); /* one snapshot: another process may be making the file just now */
    if (rc)
        return rc;
    int64_t most = s->most;
    s->steps = 0;
    s->most = SCHEMA_STEPS;
    rc = read_head(s, mode, version, err) ?: check_schema(s, *version, err);
    s->most = most;
    read_end(s, mine);
    return rc;
}

static int make_newest(struct store *s, int version, struct err *err)
{
    if (version)
        return older_migrate(s, version, err);
    int code = sqlite3_exec(s->db, newest_schema, NULL, NULL, NULL);
    return code ? store_failed(s, code, err) : 0;
}

static int migrate(struct store *s, struct err *err)
{
    int version;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_FKEY, 0, NULL); /* a row without its parent is kept, too */
    int rc = write_begin(s, err);
    if (!rc) {
        rc = identify(s, STORE_WRITE, &version, err); /* again: another process may have been quicker */
        if (!rc && version != SCHEMA_VERSION)
            rc = make_newest(s, version, err);
        rc = write_end(s, rc, err);
    }
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    return rc;
}

/* WAL shares memory between processes, which file systems over a network cannot do. */
static bool on_local_files(const char *path)
{
    static const uint32_t remote[] = {
        0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546, /* NFS, SMB, CIFS, SMB2, FUSE */
        0x5346414f, 0x6b414653, 0x73757245, 0x00c36400, 0x01021997, /* AFS twice, Coda, Ceph, 9P */
        0x0bd00bd0, 0x47504653, 0x19830326, 0x7461636f, 0x01161970, /* Lustre, GPFS, BeeGFS, OCFS2, GFS2 */
    };
    struct statfs fs;
    if (statfs(path, &fs))
        return false;
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if ((uint32_t)fs.f_type == remote[i])
            return false;
    return true;
}

/* A mode that cannot be changed now, because another process has the file open, is that process's choice and works as well. */
static void choose_journal(struct store *s)
{
    s->logs = on_local_files(s->path);
    if (s->logs)
        sqlite3_exec(s->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    else
        sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

static int connect_write(struct store *s, struct err *err)
{
    int version = 0, rc = check_locks(s->real, err);
    rc = rc ?: connect(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", err);
    if (!rc)
        rc = identify(s, STORE_WRITE, &version, err); /* before anything is written: it may be somebody else's */
    if (rc)
        return rc;
    choose_journal(s);
    return version == SCHEMA_VERSION ? 0 : migrate(s, err);
}

/* A writer's log lies beside the name that it uses, and cannot be seen from another. */
static int check_names(struct store *s, struct err *err)
{
    struct query q;
    const char *mode = "";
    if (!has_names(s->real))
        return 0;
    query_begin(&q, s, err, "PRAGMA journal_mode", "");
    bool logs = query_step(&q) && query_take(&q, "t", &mode) && !strcmp(mode, "wal");
    return query_end(&q) ?: logs ? refuse_names(s->path, err) : 0;
}

static int open_as(struct store *s, enum store_mode mode, struct err *err)
{
    int version, rc;
    bool there = watch_file(s); /* before: a file that takes its place from here on is noticed */
    if (mode == STORE_WRITE)
        rc = connect_write(s, err);
    else if (!(rc = mode == STORE_READ ? connect_read(s, err) : connect_tables(s, err)) &&
             !(rc = identify(s, mode, &version, err)) && version < SCHEMA_VERSION)
        rc = older_read(s, version, err);
    if (!rc && mode == STORE_READ)
        rc = check_names(s, err);
    if (!rc)
        read_end(s, true);
    if (!there)
        watch_file(s);
    return rc;
}

static void disconnect(struct store *s)
{
    while (s->ncached)
        sqlite3_finalize(s->cached[--s->ncached].stmt);
    if (s->logs) {
        /* A file that nobody writes is one file, quicker to open and readable in a folder where nothing can be made. If others have it open,
         * at least its log is empty. Nobody is waited for. */
        sqlite3_busy_timeout(s->db, 0);
        sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

int store_connect(struct store *s, struct err *err)
{
    int rc = open_as(s, STORE_READ, err);
    if (rc)
        disconnect(s); /* the next one tries again */
    return rc ?: s->joined == READS_JOINED ? sql_run(s, err, "BEGIN", "") : 0;
}

int store_open_kept(const char *path, enum store_mode mode, const char *folder, struct store **out, struct err *err)
{
    int busy_ms = mode == STORE_WRITE_SOON ? BUSY_SOON_MS : BUSY_MS;
    mode = mode == STORE_WRITE_SOON ? STORE_WRITE : mode;
    struct store *s = mem_zalloc(sizeof *s);
    if (!s || !(s->path = mem_strdup(path)))
        return mem_free(s), err_nomem(err);
    s->busy_ms = busy_ms;
    int rc = real_path(path, &s->real, err) ?: check_path(path, s->real, mode, err) ?: path_absolute(path, &s->absolute, err);
    if (!rc && folder) { /* the caller may be in another folder when it is used */
        mem_free(s->real);
        rc = real_path(s->absolute, &s->real, err);
    }
    bool kept = !rc && folder && watch_file(s) && answers_load(s, folder);
    rc = rc ?: kept ? 0 : open_as(s, mode, err);
    if (rc)
        store_close(s);
    else
        *out = s;
    return rc;
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
    return store_open_kept(path, mode, NULL, out, err);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    disconnect(s);
    answers_close(s);
    mem_free(s->path);
    mem_free(s->absolute);
    mem_free(s->real);
    mem_free(s);
}

int store_seal(struct store *s, struct err *err)
{
    int rc = sqlite3_exec(s->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    return rc ? store_failed(s, rc, err) : 0;
}

int store_verify(struct store *s, struct err *err)
{
    struct query q;
    const char *said;
    query_begin(&q, s, err, "PRAGMA quick_check(1)", "");
    store_limit(s, VERIFY_STEPS);
    if (query_step(&q) && query_take(&q, "s", &said) && strcmp(said, "ok"))
        q.rc = store_damaged(s, err, "%s", said);
    store_limit(s, 0);
    int rc = query_end(&q);
    return rc == ERR_TIMEOUT ? 0 : rc;
}

const char *store_path(const struct store *s)
{
    return s->path;
}
