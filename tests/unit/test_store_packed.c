/* Records in one piece: they say what the columns say, and are trusted as little. */
#include "store/sql.h"
#include "store_sample.h"

/* All that hangs on the file's kernels and its op, as bytes. */
static int read_whole(struct store *s, struct buf *out, struct err *err)
{
    struct tuned *t = NULL, **all = NULL;
    struct op *op = NULL;
    int n = 0, rc = find_winner(s, "m=1111,n=113", &t, err);
    if (!rc)
        tuned_put(out, t);
    tuned_free(t);
    if (!rc)
        rc = store_find_defaults(s, "cuda", "transpose", "f32", &all, &n, err);
    for (int i = 0; i < n; i++) {
        tuned_put(out, all[i]);
        tuned_free(all[i]);
    }
    mem_free(all);
    if (!rc && !(rc = store_op(s, "transpose", &op, err))) {
        assert_string_equal(op->name, "transpose");
        assert_string_equal(op->work_bytes, sample_op()->work_bytes);
        packed_interface_put(out, op);
    }
    op_free(op);
    return rc ? rc : out->failed ? err_nomem(err) : 0;
}

static void make_file(const char *name)
{
    struct store *s = open_at(name, STORE_WRITE);
    sample_winner(s, 1111, 113);
    sample_defaults(s);
    store_close(s);
}

static const char count_packed[] = "SELECT (SELECT count(packed) FROM tuned) + (SELECT count(packed) FROM op)";

static void says_what_the_columns_say(void **state)
{
    (void)state;
    struct buf whole = { 0 }, columns = { 0 };
    struct err err = { 0 };
    make_file("a.db");
    assert_int_equal(ask_number("a.db", count_packed), 4);
    struct store *s = open_at("a.db", STORE_READ);
    if (read_whole(s, &whole, &err))
        fail_msg("%s", err.msg);
    meddle("a.db", "UPDATE tuned_where SET text = 'true' WHERE 0"); /* clears the pieces */
    assert_int_equal(ask_number("a.db", count_packed), 0);
    if (read_whole(s, &columns, &err))
        fail_msg("%s", err.msg);
    assert_true(whole.len > 1000);
    assert_int_equal(whole.len, columns.len);
    assert_memory_equal(whole.data, columns.data, whole.len);
    store_close(s);
    s = open_at("a.db", STORE_WRITE); /* stored again: in one piece again */
    sample_defaults(s);
    store_close(s);
    assert_int_equal(ask_number("a.db", count_packed), 3);
    buf_free(&whole);
    buf_free(&columns);
}

/* The row's own columns stay the truth. */
static void leaves_the_row_its_columns(void **state)
{
    (void)state;
    struct tuned *t;
    struct op *op;
    make_file("a.db");
    meddle("a.db", "UPDATE tuned SET config = 'TILE=9', time_ns = 7.0, requires_cc = 90, copy_ns = iif(packed NOTNULL, 5.0, 0.0); "
                   "UPDATE op SET work_flops = 'm*n'");
    struct store *s = open_at("a.db", STORE_READ);
    assert_int_equal(find_winner(s, "m=1111,n=113", &t, NULL), 0);
    assert_string_equal(t->config, "TILE=9");
    assert_true(t->time_ns == 7 && t->copy_ns == 5 && t->requires.cc == 90);
    tuned_free(t);
    assert_int_equal(store_op(s, "transpose", &op, NULL), 0);
    assert_string_equal(op->work_flops, "m*n");
    op_free(op);
    store_close(s);
}

/* ---- bytes from anywhere ---- */

/* On memory of just this size, so that reading past it is seen. */
static int get_kernel(const void *bytes, size_t n)
{
    struct tuned *t = tuned_new();
    char *copy = malloc(n ? n : 1);
    assert_true(t && copy);
    memcpy(copy, bytes, n);
    struct cursor in = cursor_on(copy, n);
    int rc = tuned_get(&in, t, sample_op()->nargs);
    for (int l = 0; !rc && l < t->nlaunches; l++)
        for (int i = 0; i < t->launches[l].nargs; i++)
            assert_in_range(t->launches[l].args[i], 0, sample_op()->nargs + t->nworkspaces - 1);
    for (int i = 0; !rc && i < t->nneeds; i++)
        assert_true(t->needs[i].arg >= 0 && t->needs[i].arg < sample_op()->nargs &&
                    (t->needs[i].bytes || t->needs[i].kind == NEED_NOALIAS));
    free(copy);
    tuned_free(t);
    return rc;
}

static int get_op(const void *bytes, size_t n, const char *hash)
{
    struct op *op = NULL;
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    struct cursor in = cursor_on(copy, n);
    int rc = packed_interface_get(&in, hash, "", &op);
    if (!rc)
        assert_true(op->nargs == 4 && op->nvariants == 0 && op->args[2].type);
    op_free(op);
    free(copy);
    return rc;
}

/* Every byte turned over in three ways, and every cut; what is still a record is one. */
static void survives_any_bytes(void **state)
{
    (void)state;
    static const char turns[] = { '\x01', '\x80', '\xff' };
    struct config c = sample_config(1, 0);
    struct tuned *k = sample_tuned(&c, 1000);
    struct buf kernel = { 0 }, op = { 0 };
    char hash[HASH_HEX];
    int bad = 0;
    tuned_put(&kernel, k);
    packed_interface_put(&op, sample_op());
    assert_int_equal(interface_hash(sample_op(), hash, NULL), 0);
    assert_int_equal(get_kernel(kernel.data, kernel.len) | get_op(op.data, op.len, hash), 0);
    for (size_t i = 0; i < kernel.len + op.len; i++)
        for (size_t x = 0; x < sizeof turns; x++) {
            char *byte = i < kernel.len ? &kernel.data[i] : &op.data[i - kernel.len];
            *byte ^= turns[x];
            int rc = i < kernel.len ? get_kernel(kernel.data, kernel.len) : get_op(op.data, op.len, hash);
            assert_true(rc == 0 || rc == ERR_CORRUPT);
            bad += rc != 0;
            *byte ^= turns[x];
        }
    assert_true(bad > 500);
    for (size_t n = 0; n < kernel.len; n++)
        assert_int_equal(get_kernel(kernel.data, n), ERR_CORRUPT);
    for (size_t n = 0; n < op.len; n++)
        assert_int_equal(get_op(op.data, n, hash), ERR_CORRUPT);
    hash[0] ^= 1;
    assert_int_equal(get_op(op.data, op.len, hash), ERR_CORRUPT); /* another interface's */
    buf_u8(&kernel, 0);                                           /* something behind it */
    assert_int_equal(get_kernel(kernel.data, kernel.len), ERR_CORRUPT);
    buf_free(&kernel);
    buf_free(&op);
    tuned_free(k);
}

/* Values that the columns' own readers refuse: each in a record that is right otherwise. */
static void refuses_what_columns_may_not_hold(void **state)
{
    (void)state;
    struct config c = sample_config(1, 0);
    struct buf bytes = { 0 };
    for (int i = 0; i < 14; i++) {
        struct tuned *k = sample_tuned(&c, 1000);
        switch (i) {
        case 0:
            k->params[0].name = "9lives";
            break;
        case 1:
            k->params[0].value = val_float(0.0 / 0.0);
            break;
        case 2:
            k->params[1].value = val_str("a\x1b[2J");
            break;
        case 3:
            k->params[0].value = (struct val){ .type = VAL_NIL };
            break;
        case 4:
            k->workspaces[0].type = NULL;
            break;
        case 5:
            k->workspaces[0].count = "1\n";
            break;
        case 6:
            k->launches[0].kernel = "a b";
            break;
        case 7:
            k->launches[0].args[1] = 5;
            break;
        case 8:
            k->nlaunches = 0;
            break;
        case 9:
            k->where[0] = NULL;
            break;
        case 10:
            k->needs[0].bytes = NULL;
            break;
        case 11:
            k->needs[0].kind = 2;
            break;
        case 12:
            k->needs[1].arg = 4;
            break;
        case 13:
            k->clear[0] = -1;
            break;
        }
        buf_clear(&bytes);
        tuned_put(&bytes, k);
        if (get_kernel(bytes.data, bytes.len) != ERR_CORRUPT)
            fail_msg("record %d was taken", i);
        tuned_free(k);
    }
    buf_free(&bytes);
}

/* In a file: no bytes at all, another type, another op's. */
static void refuses_foreign_pieces(void **state)
{
    (void)state;
    static const char *const attacks[] = {
        "UPDATE tuned SET packed = 'text'",
        "UPDATE tuned SET packed = 5",
        "UPDATE tuned SET packed = (SELECT packed FROM op WHERE name = 'transpose')",
        "UPDATE tuned SET packed = packed || x'00'",
        "UPDATE tuned SET packed = CAST(zeroblob(2000000) AS BLOB)",
        "UPDATE op SET packed = 'text'",
        "UPDATE op SET packed = (SELECT packed FROM op WHERE name = 'short')",
        "UPDATE op SET packed = NULL, hash = 'none' WHERE packed NOTNULL",
        "UPDATE op SET packed = (SELECT packed FROM op WHERE name = 'short'), hash = (SELECT hash FROM op WHERE name = 'short')",
    };
    make_file("a.db");
    struct store *s = open_at("a.db", STORE_WRITE);
    struct op other = *sample_op(); /* kernels of the sample name more arguments than it has */
    struct devspec dev = sample_device();
    struct config c = sample_config(0, 0);
    struct tuned *k = sample_tuned(&c, 0), **all = NULL;
    struct err err = { 0 };
    struct buf good = { 0 }, ignored = { 0 };
    int n = 0;
    other.name = "short";
    other.nargs = 2;
    assert_int_equal(store_default(s, &dev, &other, 0, k, NULL), 0);
    assert_int_equal(store_find_defaults(s, "cuda", "short", "f32", &all, &n, &err), ERR_CORRUPT);
    tuned_free(k);
    store_close(s);
    assert_int_equal(file_read(in_dir("a.db"), 1 << 24, &good, NULL), 0);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        put_file("bad.db", good.data, good.len);
        meddle("bad.db", attacks[i]);
        s = open_at("bad.db", STORE_READ);
        memset(&err, 0, sizeof err);
        if (read_whole(s, &ignored, &err) != ERR_CORRUPT || strncmp(err.msg, in_dir("bad.db"), strlen(sample_path)) != 0)
            fail_msg("%s: %s", attacks[i], err.msg);
        store_close(s);
    }
    buf_free(&good);
    buf_free(&ignored);
}

/* Both ways. */
static void reads_without_memory(void **state)
{
    (void)state;
    make_file("a.db");
    for (int way = 0; way < 2; way++) {
        struct store *s = open_at("a.db", STORE_READ);
        int rc = ERR_NOMEM;
        long n = 0;
        while (rc) {
            struct buf out = { 0 };
            struct err err = { 0 };
            mem_fail_at(n++);
            rc = read_whole(s, &out, &err);
            mem_fail_at(-1);
            if (rc && rc != ERR_NOMEM)
                fail_msg("allocation %ld: %d %s", n, rc, err.msg);
            buf_free(&out);
        }
        assert_true(n > 10);
        store_close(s);
        meddle("a.db", "SELECT 1"); /* clears the pieces */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(says_what_the_columns_say), in_folder(leaves_the_row_its_columns),
        cmocka_unit_test(survives_any_bytes), cmocka_unit_test(refuses_what_columns_may_not_hold),
        in_folder(refuses_foreign_pieces),    in_folder(reads_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
