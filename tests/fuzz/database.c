/* A database from a stranger, into libcutune and the store. 'b' and edits to the bytes of a good file; 'k' or 'o' and edits to
 * the bytes of its kernels or its op; or anything else and changes to its rows: which column of all, which row, what happens and the
 * type of the value, and the value, text and blobs with a length in front. The columns are those of the schema as it is. Odd: the file is
 * one of version 3, whose kernels lie in many tables. */
#include "fuzz.h"
#include "unit/store_sample.h"

#include <fcntl.h>

#include "export/export.h"
#include "replay/claims.h"
#include "runtime/runtime.h"

static struct buf good;
static char folder[64], path[80];

struct column {
    char table[64], name[64];
    char copied[1024]; /* all columns of the table, this one as ?1: the SELECT of a copied row */
};
/* A good file in memory, to be written to as another program would. */
static struct scratch {
    sqlite3 *db;
    struct column columns[256]; /* a byte of input says which */
    int ncolumns;
} newest, older;

static void clean_up(void)
{
    sqlite3_close(newest.db);
    sqlite3_close(older.db);
    buf_free(&good);
    unlink(path);
    rmdir(folder);
}

static void save(const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

/* A stranger's tables may hold null anywhere, and numbers for texts. REAL stays: the file holds some of its values as integers. What
 * the schema said is kept, for the file to say it again: another one is refused as a whole. */
static void drop_constraints(sqlite3 *db)
{
    must(!sqlite3_exec(db,
                       "CREATE TEMP TABLE kept AS SELECT name, sql FROM sqlite_master;"
                       "PRAGMA writable_schema = 1;"
                       "UPDATE sqlite_master SET sql = replace(sql, ' IS NOT NULL', ' NOTNULL') WHERE type = 'table';"
                       "UPDATE sqlite_master SET sql = replace(replace(replace(sql, ' NOT NULL', ''), ' TEXT', ''), "
                       "' INTEGER CHECK', ' CHECK') WHERE type = 'table';"
                       "PRAGMA writable_schema = RESET",
                       NULL, NULL, NULL));
}

static void find_columns(struct scratch *s)
{
    sqlite3_stmt *stmt;
    must(
        !sqlite3_prepare_v2(s->db,
                            "SELECT m.name, c.name, (SELECT group_concat(iif(d.cid = c.cid, '?1', d.name)) FROM "
                            "pragma_table_info(m.name) d) FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
                            "ORDER BY m.name, c.cid",
                            -1, &stmt, NULL));
    for (; sqlite3_step(stmt) == SQLITE_ROW; s->ncolumns++) {
        must(s->ncolumns < (int)(sizeof s->columns / sizeof *s->columns));
        struct column *c = &s->columns[s->ncolumns];
        snprintf(c->table, sizeof c->table, "%s", sqlite3_column_text(stmt, 0));
        snprintf(c->name, sizeof c->name, "%s", sqlite3_column_text(stmt, 1));
        must(snprintf(c->copied, sizeof c->copied, "%s", sqlite3_column_text(stmt, 2)) < (int)sizeof c->copied);
    }
    sqlite3_finalize(stmt);
    must(s->ncolumns > 50);
}

/* No constraints hold it back, only that keys are unique. */
static void make_scratch(struct scratch *s, const struct buf *file)
{
    unsigned char *copy = sqlite3_malloc64(file->len);
    must(copy && sqlite3_open(":memory:", &s->db) == SQLITE_OK);
    memcpy(copy, file->data, file->len);
    must(!sqlite3_deserialize(s->db, "main", copy, (sqlite3_int64)file->len, (sqlite3_int64)file->len,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
    must(!sqlite3_exec(s->db, "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0", NULL, NULL, NULL));
    find_columns(s);
    drop_constraints(s->db);
}

/* Small pages and no log: a file that is quick to write and open. */
static void make_good(void)
{
    struct store *s;
    sqlite3 *db;
    strcpy(folder, "/tmp/cutune-fuzz-XXXXXX");
    must(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.db", folder);
    atexit(clean_up);
    must(store_open(path, STORE_WRITE, &s, NULL) == 0);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    sample_claim(s);
    const struct devspec dev = fuzz_device();
    must(store_wanted_add(s, &dev, "transpose", "f32", "m=3,n=4", 2, 5, NULL) == 0);
    store_close(s);
    must(sqlite3_open(path, &db) == SQLITE_OK);
    must(!sqlite3_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL));
    sqlite3_close(db);
    must(file_read(path, 1 << 24, &good, NULL) == 0);
    make_scratch(&newest, &good);
}

static void make_older(void)
{
    struct buf sql = { 0 }, file = { 0 };
    sqlite3 *db;
    buf_str(&sql, "PRAGMA page_size = 512; BEGIN;");
    must(file_read(SOURCE_DIR "/tests/data/version-3.sql", 1 << 20, &sql, NULL) == 0);
    buf_str(&sql, "COMMIT");
    unlink(path);
    must(sqlite3_open(path, &db) == SQLITE_OK && !sqlite3_exec(db, buf_text(&sql), NULL, NULL, NULL));
    sqlite3_close(db);
    must(file_read(path, 1 << 24, &file, NULL) == 0);
    make_scratch(&older, &file);
    buf_free(&sql);
    buf_free(&file);
}

/* A text's or blob's bytes: as many as the first says, or, where that is 255, a few over and over, to more than any column takes. */
static size_t take_bytes(struct input *in, const char **bytes)
{
    static char many[70000];
    size_t n = input_byte(in), taken = n == 255 ? 7 : n;
    taken = taken < in->left ? taken : in->left;
    *bytes = (const char *)in->at;
    for (size_t i = 0; n == 255 && taken && i < sizeof many; i++)
        many[i] = (char)in->at[i % taken];
    if (n == 255 && taken)
        *bytes = many;
    in->at += taken;
    in->left -= taken;
    return *bytes == many ? sizeof many : taken;
}

static void bind_value(sqlite3_stmt *stmt, int type, struct input *in)
{
    uint64_t bits = type < 3 ? input_number(in, 8) : 0;
    const char *bytes = NULL;
    size_t n = type < 3 ? 0 : take_bytes(in, &bytes);
    double f;
    memcpy(&f, &bits, sizeof f);
    if (type == 0)
        sqlite3_bind_int64(stmt, 1, (int64_t)bits);
    else if (type == 1)
        sqlite3_bind_double(stmt, 1, f);
    else if (type == 3)
        sqlite3_bind_text(stmt, 1, bytes, (int)n, SQLITE_TRANSIENT);
    else if (type == 4)
        sqlite3_bind_blob(stmt, 1, bytes, (int)n, SQLITE_TRANSIENT);
}

/* A value overwritten, in all rows that have the same; the row copied with another value; or those rows deleted. */
static void change(struct scratch *s, struct input *in)
{
    sqlite3_stmt *stmt;
    const struct column *c = &s->columns[input_byte(in) % s->ncolumns];
    int row = input_byte(in), what = input_byte(in);
    char *where = sqlite3_mprintf("WHERE \"%w\" IS (SELECT \"%w\" FROM %s LIMIT 1 OFFSET %d %% (SELECT max(1, count(*)) FROM %s))",
                                  c->name, c->name, c->table, row, c->table);
    char *sql = NULL;
    must(where);
    if (what / 5 % 4 < 2)
        sql = sqlite3_mprintf("UPDATE OR IGNORE %s SET \"%w\" = ?1 %s", c->table, c->name, where);
    else if (what / 5 % 4 == 2)
        sql = sqlite3_mprintf("INSERT OR IGNORE INTO %s SELECT %s FROM %s %s", c->table, c->copied, c->table, where);
    else
        sql = sqlite3_mprintf("DELETE FROM %s %s", c->table, where);
    must(sql && sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) == SQLITE_OK);
    bind_value(stmt, what % 5, in);
    sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    sqlite3_free(where);
}

static void change_bytes(sqlite3 *db, const char *select, const char *update, struct input *in)
{
    sqlite3_stmt *stmt;
    size_t n;
    must(!sqlite3_prepare_v2(db, select, -1, &stmt, NULL) && sqlite3_step(stmt) == SQLITE_ROW);
    char *bytes = input_edits(in, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0), &n);
    sqlite3_finalize(stmt);
    must(!sqlite3_prepare_v2(db, update, -1, &stmt, NULL) && !sqlite3_bind_blob(stmt, 1, bytes, (int)n, SQLITE_TRANSIENT));
    must(sqlite3_step(stmt) == SQLITE_DONE);
    sqlite3_finalize(stmt);
    free(bytes);
}

/* In memory, in a transaction that is never committed: the file gets what it sees. */
static void change_rows(int how, struct input *in)
{
    sqlite3_int64 n;
    bool rows = how != 'k' && how != 'o';
    struct scratch *s = rows && how % 2 ? &older : &newest;
    must(!sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL));
    if (how == 'k')
        change_bytes(s->db, "SELECT kernel FROM tuned", "UPDATE tuned SET kernel = ?", in);
    else if (how == 'o')
        change_bytes(s->db, "SELECT interface FROM op", "UPDATE op SET interface = ?", in);
    while (rows && in->left > 3)
        change(s, in);
    must(!sqlite3_exec(
        s->db,
        "PRAGMA writable_schema = 1; UPDATE main.sqlite_master SET sql = (SELECT kept.sql FROM kept WHERE kept.name = "
        "sqlite_master.name); PRAGMA writable_schema = 0",
        NULL, NULL, NULL));
    unsigned char *bytes = sqlite3_serialize(s->db, "main", &n, 0);
    must(bytes);
    save(bytes, (size_t)n);
    sqlite3_free(bytes);
    must(!sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL));
}

static cutune_device device(void)
{
    struct devspec d = fuzz_device();
    cutune_device out = { .size = sizeof out,
                          .multiprocessors = d.multiprocessors,
                          .memory = d.memory,
                          .cc = d.cc,
                          .warp = d.warp,
                          .l2 = d.l2,
                          .max_threads = d.max_threads,
                          .max_shared = d.max_shared,
                          .max_static_shared = d.max_static_shared,
                          .max_alloc = d.max_alloc,
                          .fp64 = d.fp64 };
    strcpy(out.backend, d.backend);
    strcpy(out.name, d.name);
    strcpy(out.arch, d.arch);
    for (int i = 0; i < 3; i++) {
        out.max_block[i] = d.max_block[i];
        out.max_grid[i] = d.max_grid[i];
    }
    return out;
}

/* What a caller launches must be within what the device takes, wherever it came from. */
static bool look_up(cutune_handle *h, int64_t m, int64_t n)
{
    const cutune_device dev = device();
    const cutune_kernel *k;
    const int64_t sizes[] = { m, n };
    if (cutune_lookup(h, "transpose", "f32", sizes, 2, &k)) {
        must(*cutune_error());
        return false;
    }
    must(*cutune_kernel_why(k) && *cutune_kernel_variant(k) && cutune_kernel_config(k) && cutune_kernel_time_ns(k) >= 0);
    must(cutune_kernel_launches(k) >= 1);
    for (int i = 0; i < cutune_kernel_launches(k); i++) {
        cutune_geometry g = { .size = sizeof g };
        must(cutune_kernel_geometry(k, i, &g) == CUTUNE_OK && *g.entry);
        must(g.block[0] * g.block[1] * g.block[2] <= dev.max_threads && g.shared >= 0 && g.shared <= dev.max_shared);
        for (int x = 0; x < 3; x++)
            must(g.grid[x] >= 1 && g.grid[x] <= dev.max_grid[x] && g.block[x] >= 1 && g.block[x] <= dev.max_block[x]);
    }
    return true;
}

static int each_measured(void *arg, const struct measured *m)
{
    (void)arg;
    must(m->variant && m->json && m->result.outcome < OUT_COUNT);
    return 0;
}

static int each_tried(void *arg, const struct listed *t)
{
    (void)arg;
    must(t->device && t->op && t->variant && t->config && t->reason && t->outcome < OUT_COUNT);
    return 0;
}

static int each_winner(void *arg, const struct winner *w)
{
    must(w->types && w->sizes && w->variant && w->json && strlen(w->dev.name) < sizeof w->dev.name);
    *(int64_t *)arg = w->id;
    return 0;
}

static int each_time(void *arg, const struct timed *t)
{
    (void)arg;
    must(t->types && t->sizes && t->variant && t->json && t->median >= 0);
    return 0;
}

static int each_claim(void *arg, const struct record *c)
{
    (void)arg;
    must(*c->types && c->sizes && *c->measured.json && strlen(c->when) == 20);
    return 0;
}

/* A record is of another database until it was made a claim of this op. */
static int each_record(void *arg, const struct record *r)
{
    const struct claiming how = { .op = sample_op(), .file = "a.db" };
    struct err err = { 0 };
    (void)arg;
    must(r->dev.name[0] >= 0 && r->op && r->config && r->tool && r->file && r->driver && r->measured.result.outcome < OUT_COUNT);
    must(claim_state(r) <= CLAIM_FAILED);
    int rc = claim_of_record(r, &how, each_claim, NULL, &err);
    must_say(rc, &err);
    return 0;
}

static int each_wanted(void *arg, const struct wanted_problem *w)
{
    (void)arg;
    must(w->op && w->types && w->sizes && w->count > 0 && w->time_ns >= 0 && w->last);
    return 0;
}

/* What the look-up asks the store, whether or not a look-up above came to ask it. */
static void read_served(struct store *s)
{
    const struct devspec dev = fuzz_device();
    struct err err = { 0 };
    struct tuned *t = NULL;
    int64_t id = 0;
    int rc = store_each_winner_of(s, "transpose", NULL, each_winner, &id, &err);
    must_say(rc, &err);
    rc = store_each_time(s, "transpose", NULL, each_time, NULL, &err);
    must_say(rc, &err);
    rc = store_each_wanted(s, &dev, each_wanted, NULL, &err);
    must_say(rc, &err);
    rc = store_tuned(s, id, &t, &err);
    must_say(rc, &err);
    tuned_free(t);
}

/* The store's other readers. */
static void read_store(struct store *s)
{
    const struct target t = { .device = 1, .problem = 1, .provenance = 1, .cold = true };
    struct err err = { 0 };
    struct buf text = { 0 };
    struct kept_winner kept;
    int rc = store_each_measured(s, &t, each_measured, NULL, &err);
    must_say(rc, &err);
    rc = store_each_tried(s, each_tried, NULL, &err);
    must_say(rc, &err);
    for (int claims = 0; claims < 2; claims++) {
        rc = store_each_record(s, claims, NULL, NULL, NULL, each_record, NULL, &err);
        must_say(rc, &err);
    }
    rc = store_kept_winner(s, &t, &kept, &text, &err);
    must_say(rc, &err);
    rc = export_rows(s, "json", &text, &err);
    must_say(rc, &err);
    rc = export_rows(s, "csv", &text, &err);
    must_say(rc, &err);
    buf_free(&text);
}

/* Where even the good file gives nothing, no change to it shows anything. */
static void try_good(void)
{
    cutune *c;
    save(good.data, good.len);
    const cutune_device dev = device();
    cutune_handle *h;
    must(cutune_open(path, &c) == CUTUNE_OK && cutune_attach(c, &dev, &h) == CUTUNE_OK);
    must(look_up(h, 1111, 113) && look_up(h, 4096, 4096) && look_up(h, 2097152, 32));
    cutune_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    cutune *c;
    if (!good.data) {
        make_good();
        make_older();
        try_good();
    }
    int how = input_byte(&in);
    if (how == 'b') {
        size_t n;
        char *bytes = input_edits(&in, good.data, good.len, &n);
        save(bytes, n);
        free(bytes);
    } else {
        change_rows(how, &in);
    }
    if (cutune_open(path, &c) == CUTUNE_OK) {
        const cutune_device dev = device();
        cutune_handle *h;
        must(cutune_attach(c, &dev, &h) == CUTUNE_OK);
        look_up(h, 1111, 113);
        look_up(h, 4096, 4096);
        look_up(h, 2097152, 32);
        read_served(c->store);
        read_store(c->store);
        cutune_close(c);
    } else {
        must(*cutune_error());
    }
    return 0;
}
