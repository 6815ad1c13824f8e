/* Files from strangers, and memory that runs out: each gives a code and a message, never a crash. */
#include "base/hash.h"
#include "store_sample.h"

#include <fcntl.h>

static int keep_id(void *arg, const struct winner *w)
{
    *(int64_t *)arg = w->id;
    return 0;
}

static int read_default(void *arg, struct tuned *t)
{
    struct tuned *whole = NULL;
    int rc = store_tuned(arg, t->id, &whole, NULL);
    tuned_free(whole);
    tuned_free(t);
    if (rc == ERR_CORRUPT)
        store_leave_out(arg, 1);
    return rc == ERR_CORRUPT ? 0 : rc;
}

static int ignore_time(void *arg, const struct timed *t)
{
    (void)arg;
    (void)t;
    return 0;
}

static int ignore_wanted(void *arg, const struct wanted_problem *w)
{
    (void)arg;
    (void)w;
    return 0;
}

/* What libcutune reads besides. */
static int read_served(struct store *s, struct err *err)
{
    struct devspec dev = sample_device();
    struct tuned *t = NULL;
    uint64_t generation;
    int64_t id = 0;
    int rc = store_begin(s, false, err);
    if (rc)
        return rc;
    if (!(rc = store_generation(s, &generation, err)) && !(rc = store_each_winner_of(s, "transpose", NULL, keep_id, &id, err)) &&
        !(rc = store_each_time(s, "transpose", NULL, ignore_time, NULL, err)) && !(rc = store_tuned(s, id, &t, err)))
        rc = store_each_wanted(s, &dev, ignore_wanted, NULL, err);
    tuned_free(t);
    return store_end(s, rc, err);
}

static void survives_damage(void **state)
{
    (void)state;
    struct store *s = open_at("whole.db", STORE_WRITE);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
    struct buf whole = { 0 };
    assert_int_equal(file_read(in_dir("whole.db"), 1 << 24, &whole, NULL), 0);

    put_file("cut.db", whole.data, whole.len / 2);
    for (int mode = STORE_READ; mode <= STORE_TABLES; mode++) {
        struct err err = { 0 };
        assert_int_equal(store_open(in_dir("cut.db"), (enum store_mode)mode, &s, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.msg, "cut.db: damaged"));
    }

    /* Bytes turned over all along it: an answer or a line, each time. */
    int lines = 0;
    for (uint64_t round = 0; round < 400; round++) {
        struct err err = { 0 };
        struct tuned *t = NULL;
        int rc;
        size_t at = rand_at(round, 0) % whole.len, bytes = 1 + rand_at(round, 1) % 64;
        put_file("bad.db", whole.data, whole.len);
        int fd = open(in_dir("bad.db"), O_WRONLY);
        for (size_t i = 0; i < bytes && at + i < whole.len; i++) {
            unsigned char byte = (unsigned char)rand_at(round, 2 + i);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)(at + i)), 1);
        }
        close(fd);
        rc = store_open(in_dir("bad.db"), STORE_READ, &s, &err);
        if (!rc) {
            rc = find_winner(s, "m=1111,n=113", &t, &err);
            tuned_free(t);
            rc = rc ?: store_each_default(s, "cuda", "transpose", "f32", 0, read_default, s, &err);
            rc = rc ?: read_served(s, &err);
            store_close(s);
        }
        lines += rc != 0;
        if (rc)
            assert_true(*err.msg);
    }
    assert_true(lines > 10); /* the rounds did hit something */
    buf_free(&whole);
}

/* ---- a file from anywhere ---- */

static int ignore_measured(void *arg, const struct measured *m)
{
    (void)arg;
    (void)m;
    return 0;
}

static int ignore_listed(void *arg, const struct listed *l)
{
    (void)arg;
    (void)l;
    return 0;
}

/* What reading everything gives: 0, or the first code with its line in err. */
static int read_all(struct store *s, const struct target *t, struct err *err)
{
    struct tuned *winner = NULL;
    struct op *op = NULL;
    int rc = find_winner(s, "m=1111,n=113", &winner, err);
    tuned_free(winner);
    rc = rc ?: store_each_default(s, "cuda", "transpose", "f32", 0, read_default, s, err);
    rc = rc ?: store_op(s, "transpose", &op, err);
    if (!rc)
        op_free(op);
    return rc
        ?: store_each_measured(s, t, ignore_measured, NULL, err)
        ?: store_each_winner(s, ignore_listed, NULL, err)
        ?: read_served(s, err);
}

/* Each attack on the file is a line that names it, or costs the row. */
static void notices(const char *name, const char *const *attacks, int n)
{
    const struct target t = { .device = 1, .problem = 1, .cold = true };
    struct buf good = { 0 };
    struct err err = { 0 };
    int failed = 0;
    struct store *s = open_at(name, STORE_READ);
    if (read_all(s, &t, &err))
        fail_msg("%s", err.msg);
    store_close(s);
    assert_int_equal(file_read(in_dir(name), 1 << 24, &good, NULL), 0);
    for (int i = 0; i < n; i++) {
        put_file("hostile.db", good.data, good.len);
        meddle("hostile.db", attacks[i]);
        s = open_at("hostile.db", STORE_READ);
        memset(&err, 0, sizeof err);
        int rc = read_all(s, &t, &err);
        bool away = strstr(attacks[i], "device SET arch"); /* then the winner is another device's */
        bool left_out = store_left_out(s);                 /* of many rows, which costs those */
        bool noticed =
            rc == (away ? ERR_NOTFOUND : ERR_CORRUPT) && !strncmp(err.msg, in_dir("hostile.db"), strlen(in_dir("hostile.db")));
        if (!noticed && (!left_out || (rc && rc != ERR_NOTFOUND)))
            print_error("%s: %d %s\n", attacks[i], rc, err.msg), failed++;
        store_close(s);
    }
    buf_free(&good);
    assert_int_equal(failed, 0);
}

static void reads_hostile_values(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "UPDATE tuned SET variant = x'00ff'",
        "UPDATE tuned SET variant = 'a b'",
        "UPDATE tuned SET variant = CAST(x'7469006c65' AS TEXT)",
        "UPDATE tuned SET config = x'37'",
        "UPDATE tuned SET config = CAST(zeroblob(70000) AS TEXT)",
        "UPDATE tuned SET config = char(27) || '[2J'",
        "UPDATE tuned SET config = 'TILE=8'",
        "UPDATE tuned SET config = '{\"TILE\":8'",
        "UPDATE tuned SET config = '{\"TILE\":\"' || char(27) || '[2J\"}'",
        "UPDATE tuned SET key = 'short'",
        "UPDATE tuned SET key = replace(hex(zeroblob(16)), '0', 'z')",
        "UPDATE tuned SET time_ns = 'fast'",
        "UPDATE tuned SET time_ns = -1.0",
        "UPDATE tuned SET time_ns = 9e999",
        "UPDATE tuned SET role = 'boss'",
        "UPDATE tuned SET rank = rank + 1000000",
        "UPDATE tuned SET created = 5",
        "UPDATE tuned SET code = 99",
        "UPDATE code SET source = zeroblob(8)",
        "UPDATE code SET source = printf('%.*c', 17000000, 'a')",
        /* packed texts: no stream; of other lengths than they say; cut; with a zero byte; with more behind */
        "UPDATE code SET source = x'ffffff00789c'",
        "UPDATE code SET portable = x'63000000789c4b4ca43d00007a4725e5'",
        "UPDATE code SET source = x'65000000789c4b4ca43d00007a4725e5'",
        "UPDATE code SET portable = x'00000000789c4b4ca43d00007a4725e5'",
        "UPDATE code SET source = x'64000000789c4b4ca43d00007a4725'",
        "UPDATE code SET portable = x'ffffffff789c4b4ca43d00007a4725e5'",
        "UPDATE code SET source = x'65000000789c2bcbcf4c29a32266c8c6020080372a45'",
        "UPDATE code SET source = x'64000000789c4b4ca43d00007a4725e500'",
        "UPDATE code SET binary = 'text'",
        "UPDATE code SET format = 'no format'",
        "UPDATE code SET portable = x'00'",
        "UPDATE code SET portable = CAST(x'610062' AS TEXT)",
        "UPDATE code SET portable = printf('%.*c', 17000000, 'a')",
        "UPDATE tuned SET verified = 2 WHERE role = 'default'",
        "UPDATE tuned SET verified = 'yes' WHERE role = 'default'",
        "UPDATE problem SET types = printf('%.*c', 1100, 'a'); INSERT INTO problem SELECT 99, op, 'f32', sizes, bytes, flops FROM "
        "problem; INSERT INTO tuned SELECT 99, role, device, 99, cache, op, types, backend, rank, key, variant, config, time_ns, "
        "copy_ns, code, provenance, created, verified, kernel FROM tuned WHERE role = 'winner'",
        "UPDATE wanted SET op = 'a b'",
        "UPDATE wanted SET op = x'6f70'",
        "UPDATE wanted SET types = char(27) || '[2J'",
        "UPDATE wanted SET types = printf('%.*c', 1100, 'a')",
        "UPDATE wanted SET sizes = printf('%.*c', 2100, 'a')",
        "UPDATE wanted SET sizes = x'37'",
        "UPDATE wanted SET count = 0",
        "UPDATE wanted SET count = -9223372036854775807 - 1",
        "UPDATE wanted SET count = 'many'",
        "UPDATE wanted SET time_ns = -1.0",
        "UPDATE wanted SET time_ns = 9e999",
        "UPDATE wanted SET time_ns = 'long'",
        "UPDATE wanted SET last = 'yesterday'",
        "UPDATE wanted SET last = 5",
        "INSERT INTO device SELECT 2, backend, name || 'x', arch, mig, multiprocessors, 'much' FROM device; "
        "INSERT INTO tuned SELECT 99, role, 2, problem, cache, op, types, backend, rank, key, variant, config, time_ns, "
        "copy_ns, code, provenance, created, verified, kernel FROM tuned WHERE role = 'winner'",
        "INSERT INTO device SELECT 2, backend, printf('%.*c', 128, 'n'), arch, mig, multiprocessors, memory FROM device; "
        "INSERT INTO tuned SELECT 99, role, 2, problem, cache, op, types, backend, rank, key, variant, config, time_ns, "
        "copy_ns, code, provenance, created, verified, kernel FROM tuned WHERE role = 'winner'",
        "UPDATE tuned SET kernel = 'text'",
        "UPDATE tuned SET kernel = 5",
        "UPDATE tuned SET kernel = x''",
        "UPDATE tuned SET kernel = (SELECT interface FROM op)",
        "UPDATE tuned SET kernel = kernel || x'00'",
        "UPDATE tuned SET kernel = substr(kernel, 1, length(kernel) - 1)",
        "UPDATE tuned SET kernel = zeroblob(20000000)",
        "UPDATE tuned SET kernel = bend(kernel, 'params', '9lives')",
        "UPDATE tuned SET kernel = bend(kernel, 'param 0', 'm')",
        "UPDATE tuned SET kernel = bend(kernel, 'words', char(27) || '[2J')",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', CAST(x'31ff' AS TEXT))",
        "UPDATE tuned SET kernel = bend(kernel, 'grid', printf('%.*c', 70000, '1'))",
        "UPDATE tuned SET kernel = bend(kernel, 'launch args', '5')",
        "UPDATE tuned SET kernel = bend(kernel, 'launch args', '-1')",
        "UPDATE tuned SET kernel = bend(kernel, 'workspace.type', 'U')",
        "UPDATE tuned SET kernel = bend(kernel, 'workspace.count', '1' || char(9))",
        "UPDATE tuned SET kernel = bend(kernel, 'need.arg', '4')",
        "UPDATE tuned SET kernel = bend(kernel, 'need.arg', '-1')",
        "UPDATE tuned SET kernel = bend(kernel, 'clear', '-1')",
        /* form 4 */
        "UPDATE tuned SET kernel = bend(kernel, 'swap', '3')",
        "UPDATE tuned SET kernel = bend(kernel, 'swap', '0')",
        "UPDATE tuned SET kernel = bend(kernel, 'swap', '-1')",
        "UPDATE tuned SET kernel = bend(kernel, 'swap', '99')",
        "UPDATE tuned SET kernel = bend(kernel, 'swaps of one', '0')",
        "UPDATE tuned SET kernel = bend(kernel, 'value name', 'm')",
        "UPDATE tuned SET kernel = bend(kernel, 'value name', '9k')",
        "UPDATE tuned SET kernel = bend(kernel, 'value type', 'T')",
        "UPDATE tuned SET kernel = bend(kernel, 'value type', 'c64')",
        "UPDATE tuned SET kernel = bend(kernel, 'value type', '')",
        "UPDATE tuned SET kernel = bend(kernel, 'view arg', '2')",
        "UPDATE tuned SET kernel = bend(kernel, 'view arg', '-1')",
        "UPDATE tuned SET kernel = bend(kernel, 'view arg', '9')",
        "UPDATE tuned SET kernel = bend(kernel, 'view rank', '0')",
        "UPDATE tuned SET kernel = bend(kernel, 'view rank', '1')",
        "UPDATE tuned SET kernel = bend(kernel, 'view rank', '6')",
        "UPDATE tuned SET kernel = bend(kernel, 'together', '')",
        "UPDATE tuned SET kernel = bend(kernel, 'times', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'when', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'cluster', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'value of', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'view box', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'takes', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'axis 0 max', '1' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'times', printf('%.*c', 70000, '1'))",
        "UPDATE tuned SET kernel = bend(kernel, 'constant', 'a' || char(10))",
        "UPDATE tuned SET kernel = bend(kernel, 'objective', 'a b')",
        "UPDATE op SET interface = bend(interface, 'axis 0 max', 'm +')",
        "UPDATE op SET interface = bend(interface, 'axis 0 max', 'secret')",
        "UPDATE op SET interface = bend(interface, 'takes', 'm +')",
        "UPDATE op SET interface = bend(interface, 'takes', 'TILE == 1')",
        "UPDATE op SET interface = bend(interface, 'objective', 'none')",
        "UPDATE op SET interface = 'text'",
        "UPDATE op SET interface = x''",
        "UPDATE op SET interface = (SELECT kernel FROM tuned)",
        "UPDATE op SET interface = interface || x'00'",
        "UPDATE op SET interface = bend(interface, 'axis 0', 'n')",
        "UPDATE op SET interface = bend(interface, 'axis 0', '')",
        "UPDATE op SET interface = bend(interface, 'axis 0 kind', '9')",
        "UPDATE op SET interface = bend(interface, 'rows', '0')",
        "UPDATE op SET interface = bend(interface, 'arg types', 'U')",
        "UPDATE op SET interface = bend(interface, 'values', 'm +')",
        "UPDATE op SET interface = bend(interface, 'values', 'secret')",
        "UPDATE op SET interface = bend(interface, 'arg 0 kind', '3')",
        "UPDATE op SET interface = bend(interface, 'arg 0 kind', '4')", /* scalars that are not: an output, an input, a size */
        "UPDATE tuned SET kernel = bend(kernel, 'arg 1 kind', '4')",
        "UPDATE op SET interface = bend(interface, 'arg 2 kind', '4')",
        "UPDATE tuned SET kernel = bend(kernel, 'arg 2 kind', '5')",
        "UPDATE op SET interface = bend(interface, 'arg 2', 'out')",
        "UPDATE op SET interface = bend(interface, 'extent 0', 'm' || char(10))",
        "UPDATE op SET interface = bend(interface, 'work', '(')",
        "UPDATE op SET contract = 'none'",
        "UPDATE measurement SET samples = x'010203'",
        "UPDATE measurement SET samples = x'ffffffffffffffff'",
        "UPDATE measurement SET samples = 'text'",
        "UPDATE measurement SET outcome = 'great'",
        "UPDATE measurement SET reason = printf('%.*c', 300, 'r')",
        "UPDATE measurement SET median = 'x'",
        "UPDATE measurement SET registers = 5000000000",
        "UPDATE measurement SET n = -1",
        "UPDATE problem SET bytes = 'x'",
        "UPDATE device SET arch = 'a' || char(10) || 'b'; UPDATE tuned SET device = device",
        "UPDATE provenance SET driver = x'00'",
    };
    struct store *s = open_at("good.db", STORE_WRITE);
    struct devspec dev = sample_device();
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    assert_int_equal(store_wanted_add(s, &dev, "transpose", "f32", "m=3,n=4", 2, 5, NULL), 0);
    store_close(s);
    notices("good.db", attacks, (int)(sizeof attacks / sizeof *attacks));
}

/* A kernel in the tables of versions 1 to 3. */
static void reads_older_hostile_values(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "DELETE FROM tuned_launch",
        "UPDATE tuned_launch SET place = place + 1 WHERE place = 1",
        "UPDATE tuned_launch SET kernel = '9lives'",
        "UPDATE tuned_launch SET grid_x = x'31'",
        "UPDATE tuned_launch SET shared = x'33'",
        "UPDATE tuned_launch_arg SET arg = 5 WHERE place = 0",
        "UPDATE tuned_launch_arg SET arg = -1 WHERE place = 0",
        "UPDATE tuned_launch_arg SET launch = 4 WHERE launch = 1",
        "UPDATE tuned_launch_arg SET place = 7 WHERE place = 4",
        "DELETE FROM tuned_launch_arg WHERE place = 0",
        "UPDATE tuned_param SET type = 'quaternion'",
        "UPDATE tuned_param SET value = 'x' WHERE type = 'int'",
        "UPDATE tuned_param SET value = 2 WHERE type = 'bool'",
        "UPDATE tuned_param SET value = x'00' WHERE type = 'string'",
        "UPDATE tuned_param SET name = ''",
        "WITH RECURSIVE c(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM c WHERE i < 99) "
        "INSERT INTO tuned_param SELECT tuned.id, i, 'p', 'int', 1 FROM c, tuned",
        "UPDATE tuned_where SET text = x'37'",
        "UPDATE tuned_workspace SET clear = 9",
        "UPDATE tuned_workspace SET count = x'00'",
        "UPDATE tuned_need SET kind = 'luck'",
        "UPDATE tuned_need SET arg = 4",
        "UPDATE tuned_need SET bytes = x'00' WHERE kind = 'align'",
        "UPDATE tuned_clear SET arg = -1",
        "UPDATE op_axis SET kind = 'soup'",
        "UPDATE op_axis SET name = 'm'",
        "UPDATE op_axis SET place = 9 WHERE place = 1",
        "DELETE FROM op_axis",
        "DELETE FROM op_type",
        "UPDATE op_binding SET dtype = 'f33'",
        "DELETE FROM op_binding WHERE line = 0",
        "DELETE FROM op_binding",
        "UPDATE op_arg SET type = 'U'",
        "UPDATE op_arg SET value = 'm +' WHERE kind = 'value'",
        "UPDATE op_arg SET value = 'secret' WHERE kind = 'value'",
        "UPDATE op_arg SET kind = 'value'",
        "DELETE FROM op_arg",
        "UPDATE op_extent SET arg = 77 WHERE arg = 1",
        "UPDATE op_extent SET extent = x'6d'",
        "UPDATE op SET work_bytes = '('",
        "UPDATE tuned SET config = x'37'",
        "UPDATE tuned SET config = 'TILE'",
        "UPDATE tuned SET config = 'TILE=8,' || char(27) || '[2J=1'",
        "UPDATE tuned SET variant = 'a b'",
        "UPDATE op SET packed = NULL, work_bytes = x'00'",
    };
    struct buf sql = { 0 };
    buf_str(&sql, "BEGIN;");
    assert_int_equal(file_read(SOURCE_DIR "/tests/data/version-3.sql", 1 << 20, &sql, NULL), 0);
    buf_str(&sql, "COMMIT");
    meddle("good.db", buf_text(&sql));
    buf_free(&sql);
    notices("good.db", attacks, (int)(sizeof attacks / sizeof *attacks));
}

/* ---- no memory ---- */

static int want_all(struct store *s, const struct devspec *dev, struct err *err)
{
    int rc = store_begin(s, true, err);
    if (rc)
        return rc;
    for (int i = 0; !rc && i < 2; i++)
        rc = store_wanted_add(s, dev, "dot", "f32", "n=5", 1, 10, err);
    if (!(rc = store_end(s, rc, err)) && !(rc = store_wanted_add(s, dev, "dot", "f32", "n=6", 1, 10, err)))
        rc = store_wanted_done(s, dev, "dot", "f32", "n=5", err);
    return rc;
}

static int write_each(const char *path, struct err *err)
{
    struct store *s;
    struct devspec dev = sample_device();
    struct problem p = { { 1111, 113 } };
    struct config c = sample_config(0, 0);
    struct target t;
    struct tuned *k = NULL;
    double samples[] = { 1, 2, 3 };
    struct measured m = measurement('a', "{\"TILE\":8}");
    m.result.nsamples = 3;
    m.result.samples = samples;
    int rc = store_open(path, STORE_WRITE, &s, err);
    if (rc)
        return rc;
    if (!(rc = store_target(s, &dev, sample_op(), &p, 0, true, &t, err)) && !(rc = store_measured(s, &t, &m, err)) &&
        !(rc = tuned_of(sample_op(), &c, &k, err))) {
        hash_hex("", 0, k->key);
        k->source = "source";
        k->portable = "portable";
        if (!(rc = store_winner(s, &t, k, err)) && !(rc = store_default(s, &dev, sample_op(), 0, k, err)) &&
            !(rc = want_all(s, &dev, err)))
            rc = read_all(s, &t, err);
    }
    tuned_free(k);
    store_close(s);
    if (rc || (rc = store_open(path, STORE_TABLES, &s, err)))
        return rc;
    rc = read_served(s, err);
    store_close(s);
    return rc;
}

static void survives_failed_allocations(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, in_dir("memory.db"));
    int rc = ERR_NOMEM;
    long n = 0;
    while (rc) {
        struct err err = { 0 };
        mem_fail_at(n++);
        rc = write_each(path, &err);
        mem_fail_at(-1);
        if (rc && rc != ERR_NOMEM)
            fail_msg("allocation %ld: %d %s", n, rc, err.msg);
    }
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(survives_damage),
        in_folder(reads_hostile_values),
        in_folder(reads_older_hostile_values),
        in_folder(survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
