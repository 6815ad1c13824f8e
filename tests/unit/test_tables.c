/* The tables that ship, made by the build: `cutune tables` from what is in the tree. */
#include <sys/stat.h>

#include <sqlite3.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "device/device.h"
#include "model/plan.h"
#include "op/load.h"
#include "runtime/defaults.h"
#include "source/source.h"
#include "store/store.h"
#include "unit.h"

enum {
    EACH = 16,                     /* of so many kernels one is compiled and assembled here, which takes 0.2 s */
    MAX_BYTES = 40 << 20,          /* without PTX, */
    MAX_BYTES_WITH_PTX = 54 << 20, /* and with it */
    MAX_PTX = 56 << 10,            /* bytes of a kernel, in the mean */
};

static const char path[] = TABLES;
static struct store *store;
static char **names;
static int nnames, nptx;
static size_t ptx_bytes;
static bool nvrtc; /* is here */
static bool ships; /* the kernels for CUDA have PTX, as NVRTC was there for the build */
static struct err err;

static bool find_nvrtc(void)
{
    struct compiler *c;
    bool found = !cuda_backend.compiling->open(&(struct devspec){ .backend = "cuda", .cc = 75 }, &c, NULL);
    if (found)
        cuda_backend.compiling->close(c);
    return found;
}

static int set_up(void **state)
{
    nvrtc = find_nvrtc();
    ships = nvrtc && strcmp(TABLES_PTX, "no") != 0;
    if (make_dir(state))
        return -1;
    if (store_open(path, STORE_TABLES, &store, &err) || script_names("ops", &names, &nnames, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    mem_free(names);
    store_close(store);
    return remove_dir(state);
}

static struct op *load(const char *name)
{
    struct op *op = NULL;
    if (op_load(name, &op, &err))
        fail_msg("%s", err.msg);
    return op;
}

/* For the assembler. */
static void keep_ptx(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%d.ptx", nptx++);
    write_file(name, text);
}

/* PTX for the oldest architecture that has what is required, in the oldest version of the language that has the architecture; with the
 * entries that are launched. */
static void check_ptx(const char *what, const struct variant *v, const char *ptx)
{
    static const struct {
        int cc;
        bool specific;
        const char *head;
    } known[] = { { 0, false, ".version 6.3\n.target sm_75\n" },
                  { 80, false, ".version 7.0\n.target sm_80\n" },
                  { 90, false, ".version 8.1\n.target sm_90\n" },
                  { 90, true, ".version 8.1\n.target sm_90a\n" } };
    const char *head = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].cc == v->requires.cc && known[i].specific == v->requires.arch_specific)
            head = known[i].head;
    assert_non_null(head);
    if (strncmp(ptx, head, strlen(head)))
        fail_msg("%s: its PTX has another head than %s", what, head);
    for (int i = 0; i < v->nlaunches; i++) {
        char entry[MAX_NAME + 16];
        snprintf(entry, sizeof entry, ".entry %s(", v->launches[i].kernel);
        if (!strstr(ptx, entry))
            fail_msg("%s: its PTX has no %s", what, entry);
    }
}

/* That of the tables; if they have none, such as they would have. */
static void check_portable(const char *what, int row, const struct tuned *t, const char *source)
{
    const struct variant *v = t->op->variants;
    struct buf made = { 0 }, entries = { 0 };
    const char *ptx = t->portable;
    bool sampled = nvrtc && (t->rank + row) % EACH == 0; /* other ranks for other types */
    if (ships && !ptx)
        fail_msg("%s has no PTX", what);
    if (!ships)
        assert_null(ptx);
    if (!ships && sampled) {
        if (cuda_backend.compiling->ship(source, &v->requires, &made, &entries, &err))
            fail_msg("%s: %s", what, err.msg);
        ptx = buf_text(&made);
    }
    if (ptx)
        check_ptx(what, v, ptx);
    if (sampled) {
        keep_ptx(ptx);
        ptx_bytes += strlen(ptx);
    }
    buf_free(&made);
    buf_free(&entries);
}

/* Any kernel of the tables. */
static void check_kernel(const struct op *op, int row, const struct devspec *dev, int rank, const struct tuned *t)
{
    struct buf source = { 0 }, config = { 0 }, what = { 0 };
    struct config c;
    if (config_parse(op, t->variant, t->config, &c, &err))
        fail_msg("%s", err.msg);
    config_print(&config, op, &c);
    buf_fmt(&what, "%s ", op->name);
    op_row_print(&what, op, row);
    buf_fmt(&what, ", default %d for %s", rank + 1, dev->backend);
    if (source_render(op, &c, row, dev, &source, &err))
        fail_msg("%s: %s", what.data, err.msg);
    assert_int_equal(t->role, TUNED_DEFAULT);
    assert_int_equal(t->rank, rank);
    assert_string_equal(t->config, buf_text(&config));
    char key[HASH_HEX];
    hash_hex(source.data, source.len, key);
    assert_string_equal(t->key, key);
    assert_string_equal(t->source, t->portable && t->op->variants->requires.cc >= 75 ? "" : source.data);
    assert_null(t->binary);
    assert_false(t->unverified);
    if (strcmp(dev->backend, "cuda") == 0)
        check_portable(what.data, row, t, source.data);
    else
        assert_null(t->portable);
    buf_free(&source);
    buf_free(&config);
    buf_free(&what);
}

/* The defaults of an op for a row of types on a backend, which are there. */
struct walk {
    const struct op *op;
    int row;
    const struct devspec *dev;
    int n;
    size_t bytes;     /* of their records */
    struct buf lines; /* the variant and configuration of each, between newlines */
};

/* The script's last default, which holds for every problem, is the last of the kernels. The others are there for the types that they are
 * for, one at the least: each_default_of_each_op_is_there. */
static void check_listed(const struct walk *d, int rank, bool *seen)
{
    const struct config c = d->op->defaults[rank].config;
    struct buf config = { 0 }, line = { 0 };
    config_print(&config, d->op, &c);
    const char *variant = d->op->variants[c.variant].name, *lines = buf_text(&d->lines);
    buf_fmt(&line, "\n%s %s\n", variant, buf_text(&config));
    if (rank == d->op->ndefaults - 1 && d->lines.len >= line.len)
        lines += d->lines.len - line.len;
    *seen = *seen || strstr(lines, line.data);
    if (!strstr(lines, line.data) && rank == d->op->ndefaults - 1)
        fail_msg("the last default of %s is not the last in the tables: variant=%s,%s", d->op->name, variant,
                 buf_text(&config));
    buf_free(&config);
    buf_free(&line);
}

static int check_default(void *arg, struct tuned *t)
{
    struct walk *d = arg;
    struct tuned *whole;
    if (store_tuned(store, t->id, &whole, &err))
        fail_msg("%s", err.msg);
    check_kernel(d->op, d->row, d->dev, d->n++, whole);
    d->bytes += t->bytes;
    buf_fmt(&d->lines, "\n%s %s\n", t->variant, t->config);
    tuned_free(whole);
    tuned_free(t);
    return 0;
}

static void check_defaults(const struct op *op, int row, const struct devspec *dev, bool *seen)
{
    struct buf types = { 0 };
    struct walk d = { .op = op, .row = row, .dev = dev };
    op_row_print(&types, op, row);
    assert_int_equal(store_each_default(store, dev->backend, op->name, buf_text(&types), 0, check_default, &d, &err), 0);
    assert_int_equal(store_left_out(store), 0);
    if (d.bytes >= MOST_DEFAULT_BYTES)
        fail_msg("the defaults of %s for %s take %zu bytes, of which a look-up reads %d", op->name, buf_text(&types), d.bytes,
                 MOST_DEFAULT_BYTES);
    for (int rank = 0; rank < op->ndefaults; rank++)
        check_listed(&d, rank, &seen[rank]);
    buf_free(&d.lines);
    buf_free(&types);
}

static void each_default_of_each_op_is_there(void **state)
{
    (void)state;
    static const struct devspec devices[] = { { .backend = "cuda" }, { .backend = "opencl" } };
    assert_true(nnames >= 3);
    for (int i = 0; i < nnames; i++) {
        struct op *op = load(names[i]);
        bool *seen = mem_zalloc((size_t)op->ndefaults + 1);
        assert_non_null(seen);
        for (int n = 0; n < op->nrows * 2; n++)
            check_defaults(op, n / 2, &devices[n % 2], seen);
        for (int rank = 0; rank < op->ndefaults; rank++)
            if (!seen[rank])
                fail_msg("default %d of %s, of variant %s, is in no table", rank + 1, op->name,
                         op->variants[op->defaults[rank].config.variant].name);
        mem_free(seen);
        op_free(op);
    }
}

/* What every device has at least: OpenCL's smallest that cutune is used with, and CUDA's. */
static const struct devspec weak[] = {
    { .backend = "cuda",
      .arch = "sm_75",
      .multiprocessors = 1,
      .warp = 32,
      .cc = 75,
      .l2 = 1 << 20,
      .max_threads = 1024,
      .max_block = { 1024, 1024, 64 },
      .max_grid = { INT32_MAX, 65535, 65535 },
      .max_shared = 48 << 10,
      .max_static_shared = 48 << 10,
      .memory = INT64_C(1) << 50,
      .max_alloc = INT64_C(1) << 50,
      .fp64 = true },
    { .backend = "opencl",
      .arch = "any",
      .multiprocessors = 1,
      .warp = 1,
      .l2 = 1 << 20,
      .max_threads = 256,
      .max_block = { 256, 256, 256 },
      .max_grid = { INT32_MAX, INT32_MAX, INT32_MAX },
      .max_shared = 32 << 10,
      .max_static_shared = 32 << 10,
      .memory = INT64_C(1) << 50,
      .max_alloc = INT64_C(1) << 50,
      .fp64 = true },
};

/* Each axis is 1 or large, as the bits of `which` say; several are not as large as one alone may be. */
static struct problem large_problem(const struct op *op, int which, int64_t size)
{
    struct problem p = { { 0 } };
    bool several = which & (which - 1);
    for (int a = 0; a < op->naxes; a++) {
        p.size[a] = which >> a & 1 && op->axes[a].kind == AXIS_SIZE ? several && size > 1 << 20 ? 1 << 20 : size : 1;
        if (op->axes[a].kind == AXIS_STRIDE && op->axes[a].preset)
            assert_int_equal(axis_preset(op, a, &p, &p.size[a], NULL), 0);
    }
    return p;
}

/* A look-up that finds nothing better always has the last one. */
static void the_last_default_holds_for_any_problem(void **state)
{
    (void)state;
    static const int64_t sizes[] = { 2, 1000, 1 << 20, INT64_C(1) << 30 };
    for (int i = 0; i < nnames; i++) {
        struct op *op = load(names[i]);
        int naxes = 0; /* that have no default */
        while (naxes < op->naxes && !op->axes[naxes].preset)
            naxes++;
        for (int n = 0; n < op->nrows * (4 << naxes); n++) {
            struct problem p = large_problem(op, n / op->nrows / 4, sizes[n / op->nrows % 4]);
            struct config c;
            if (op_takes(op, &p, n % op->nrows, &err))
                continue;
            for (int d = 0; d < 2; d++)
                if (op_default(op, &p, n % op->nrows, &weak[d], &c, &err))
                    fail_msg("%s", err.msg);
        }
        op_free(op);
    }
}

static int is_delete(void *arg, int n, char **text, char **column)
{
    (void)column;
    *(bool *)arg = n == 1 && strcmp(text[0], "delete") == 0;
    return 0;
}

static int count_errors(void *arg, int n, char **text, char **column)
{
    (void)column;
    *(int *)arg += n != 1 || strcmp(text[0], "ok") != 0;
    return 0;
}

/* Sound, small, and with nothing beside it: it lies where nobody may write. */
static void the_file_is_fit_to_ship(void **state)
{
    (void)state;
    sqlite3 *db = NULL;
    struct stat st;
    int errors = 0;
    bool sealed = false;
    char beside[PATH_ROOM + 8];
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA integrity_check; PRAGMA foreign_key_check", count_errors, &errors, NULL), SQLITE_OK);
    assert_int_equal(errors, 0);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode", is_delete, &sealed, NULL), SQLITE_OK);
    assert_true(sealed);
    sqlite3_close(db);
    assert_int_equal(stat(path, &st), 0);
    print_message("tables.db: %lld bytes\n", (long long)st.st_size);
    assert_true(st.st_size > 0 && st.st_size < (ships ? MAX_BYTES_WITH_PTX : MAX_BYTES));
    snprintf(beside, sizeof beside, "%s-wal", path);
    assert_int_equal(access(beside, F_OK), -1);
    snprintf(beside, sizeof beside, "%s.part", path);
    assert_int_equal(access(beside, F_OK), -1);
}

/* Where an assembler is: what NVRTC wrote is within the older version of the language that its text says. */
static void the_ptx_assembles(void **state)
{
    (void)state;
    if (!*PTXAS || !nvrtc)
        skip();
    assert_true(nptx > 0);
    print_message("PTX of %d kernels: %zu bytes in the mean\n", nptx, ptx_bytes / (size_t)nptx);
    assert_true(ptx_bytes / (size_t)nptx < MAX_PTX);
    char command[600];
    snprintf(command, sizeof command,
             "for f in '%s'/*.ptx; do '%s' -O1 --gpu-name $(sed -n 's/^.target //p' \"$f\") \"$f\" --output-file '%s/out' || exit 1; done",
             sample_dir, PTXAS, sample_dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_default_of_each_op_is_there),
        cmocka_unit_test(the_last_default_holds_for_any_problem),
        cmocka_unit_test(the_file_is_fit_to_ship),
        cmocka_unit_test(the_ptx_assembles),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
