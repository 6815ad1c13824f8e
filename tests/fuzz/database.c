/* A database from a stranger, into libcutune and the store. 'b' and edits to the bytes of a good file; or anything else and columns
 * to overwrite: table, column, row, type of the value, and the value, text and blobs with a length in front. */
#include "fuzz.h"
#include "unit/store_sample.h"

#include <fcntl.h>

#include "exchange/exchange.h"
#include "runtime/runtime.h"

static struct buf good;
static sqlite3 *scratch;
static char folder[64], path[80];

struct column {
    char table[64], name[64];
};
static struct column columns[256];
static int ncolumns;

static void clean_up(void)
{
    sqlite3_close(scratch);
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

/* A copy of it in memory, to be written to as another program would: no constraints hold it back, only that keys are unique. */
static void make_scratch(void)
{
    unsigned char *copy = sqlite3_malloc64(good.len);
    must(copy && sqlite3_open(":memory:", &scratch) == SQLITE_OK);
    memcpy(copy, good.data, good.len);
    must(!sqlite3_deserialize(scratch, "main", copy, (sqlite3_int64)good.len, (sqlite3_int64)good.len,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE));
    must(!sqlite3_exec(scratch, "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0", NULL, NULL, NULL));
}

/* Small pages and no log: a file to write and open a thousand times a second. */
static void make_good(void)
{
    struct store *s;
    sqlite3 *db;
    sqlite3_stmt *stmt;
    strcpy(folder, "/tmp/cutune-fuzz-XXXXXX");
    must(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.db", folder);
    atexit(clean_up);
    must(store_open(path, STORE_WRITE, &s, NULL) == 0);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    must(sqlite3_open(path, &db) == SQLITE_OK);
    must(!sqlite3_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL));
    must(!sqlite3_prepare_v2(db,
                             "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' "
                             "ORDER BY m.name, c.cid",
                             -1, &stmt, NULL));
    for (; sqlite3_step(stmt) == SQLITE_ROW && ncolumns < (int)(sizeof columns / sizeof *columns); ncolumns++) {
        snprintf(columns[ncolumns].table, sizeof columns->table, "%s", sqlite3_column_text(stmt, 0));
        snprintf(columns[ncolumns].name, sizeof columns->name, "%s", sqlite3_column_text(stmt, 1));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    must(ncolumns > 50 && file_read(path, 1 << 24, &good, NULL) == 0);
    make_scratch();
}

static void bind_value(sqlite3_stmt *stmt, struct input *in)
{
    uint8_t type = input_byte(in) % 5;
    uint64_t bits = type < 3 ? input_number(in, 8) : 0;
    size_t n = type == 3 || type == 4 ? input_byte(in) : 0;
    double f;
    memcpy(&f, &bits, sizeof f);
    n = n < in->left ? n : in->left;
    if (type == 0)
        sqlite3_bind_int64(stmt, 1, (int64_t)bits);
    else if (type == 1)
        sqlite3_bind_double(stmt, 1, f);
    else if (type == 3)
        sqlite3_bind_text(stmt, 1, (const char *)in->at, (int)n, SQLITE_TRANSIENT);
    else if (type == 4)
        sqlite3_bind_blob(stmt, 1, in->at, (int)n, SQLITE_TRANSIENT);
    in->at += n;
    in->left -= n;
}

static void overwrite(sqlite3 *db, struct input *in)
{
    sqlite3_stmt *stmt;
    const struct column *c = &columns[input_byte(in) % ncolumns];
    int row = input_byte(in) % 8;
    char *sql = sqlite3_mprintf("UPDATE OR IGNORE %s SET \"%s\" = ?1 WHERE \"%s\" IS (SELECT \"%s\" FROM %s LIMIT 1 OFFSET %d)",
                                c->table, c->name, c->name, c->name, c->table, row);
    must(sql);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        bind_value(stmt, in);
        sqlite3_step(stmt);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
}

/* In memory, in a transaction that is never committed: the file gets what it sees. */
static void overwrite_columns(struct input *in)
{
    sqlite3_int64 n;
    must(!sqlite3_exec(scratch, "BEGIN", NULL, NULL, NULL));
    while (in->left > 3)
        overwrite(scratch, in);
    unsigned char *bytes = sqlite3_serialize(scratch, "main", &n, 0);
    must(bytes);
    save(bytes, (size_t)n);
    sqlite3_free(bytes);
    must(!sqlite3_exec(scratch, "ROLLBACK", NULL, NULL, NULL));
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
static void look_up(cutune *c, int64_t m, int64_t n)
{
    const cutune_device dev = device();
    const cutune_kernel *k;
    const int64_t sizes[] = { m, n };
    if (cutune_lookup(c, &dev, "transpose", "f32", sizes, 2, &k)) {
        must(*cutune_error(c));
        return;
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
}

static int each_measured(void *arg, const struct measured *m)
{
    (void)arg;
    must(m->variant && m->config && m->result.outcome < OUT_COUNT);
    return 0;
}

/* The store's other readers. */
static void read_store(struct store *s)
{
    const struct target t = { .device = 1, .problem = 1, .provenance = 1, .cold = true };
    struct err err = { 0 };
    char *text = NULL;
    size_t bytes;
    int rc = store_each_measured(s, &t, each_measured, NULL, &err);
    must_say(rc, &err);
    FILE *out = open_memstream(&text, &bytes);
    must(out);
    rc = exchange_export(s, "json", out, &err);
    must_say(rc, &err);
    rc = exchange_export(s, "csv", out, &err);
    must_say(rc, &err);
    fclose(out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    cutune *c;
    if (!good.data)
        make_good();
    if (input_byte(&in) == 'b') {
        size_t n;
        char *bytes = input_edits(&in, good.data, good.len, &n);
        save(bytes, n);
        free(bytes);
    } else {
        overwrite_columns(&in);
    }
    if (cutune_open(path, &c) == CUTUNE_OK) {
        look_up(c, 1111, 113);
        look_up(c, 4096, 4096);
        look_up(c, 2097152, 32);
        read_store(c->store);
    } else {
        must(c && *cutune_error(c));
    }
    cutune_close(c);
    return 0;
}
