/* The base: errors, allocations that fail at any point, buffers and their wire form, hashes, files. */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/util.h"
#include "unit.h"

/* -- err -- */

static void an_error_is_a_code_and_one_line(void **state)
{
    (void)state;
    struct err err = { 0 };
    assert_int_equal(err_set(&err, ERR_IO, "%s: no such %s", "a.db", "file"), ERR_IO);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "a.db: no such file");
    err_set(&err, ERR_INVALID, "first\n\tsecond\x7f\x01third \n \n");
    assert_string_equal(err.msg, "first  second  third");
    err_set(&err, ERR_INVALID, "a bell at the end \a\t");
    assert_string_equal(err.msg, "a bell at the end");
    err_set(&err, ERR_INVALID, "\n \n");
    assert_string_equal(err.msg, "");
    err_set(&err, ERR_INVALID,
            "Gr\xc3\xb6\xc3\x9f"
            "e"); /* other bytes than control characters stay */
    assert_string_equal(err.msg, "Gr\xc3\xb6\xc3\x9f"
                                 "e");
    assert_int_equal(err_nomem(&err), ERR_NOMEM);
    assert_string_equal(err.msg, "out of memory");
}

/* UTF-8 stays but for what controls a terminal; a byte that is none of it shows as such. */
static void a_line_can_be_shown(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line;
    } cases[] = {
        { "a\xe2\x80\xae"
          "b\xe2\x81\xa6"
          "c\xd8\x9c"
          "d\xe2\x80\x8f"
          "e\xe2\x80\xa8"
          "f",
          "a b c d e f" }, /* bidi, a new line */
        { "a\xc2\x9b"
          "2Jb\x1b[0m",
          "a 2Jb [0m" }, /* C1, C0 */
        { "\xff"
          "a\xc3"
          "b\x80",
          "?a?b?" }, /* no beginning, no end */
        { "\xc0\x8a \xe0\x80\x8a \xed\xa0\x80 \xf5\x80\x80\x80 \xf4\x90\x80\x80",
          "?? ??? ??? ???? ????" }, /* too long, halves, too large */
        { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "cut \xf0\x9f\x98", "cut ???" },
        { " \xe2\x80\xae ", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        err_line(text);
        assert_string_equal(text, cases[i].line);
    }
}

static void an_error_may_be_made_of_itself(void **state)
{
    (void)state;
    struct err err = { 0 };
    err_set(&err, ERR_INVALID, "at the end");
    err_prefix(&err, "line %d: ", 7);
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.msg, "line 7: at the end");
    assert_int_equal(err_set(&err, ERR_DEVICE, "again: %s", err.msg), ERR_DEVICE);
    assert_string_equal(err.msg, "again: line 7: at the end");
    err_prefix(&err, "%s; ", err.msg);
    assert_string_equal(err.msg, "again: line 7: at the end; again: line 7: at the end");
}

static void a_long_error_is_cut(void **state)
{
    (void)state;
    struct err err = { 0 };
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    err_set(&err, ERR_INVALID, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    err_prefix(&err, "in front: ");
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_memory_equal(err.msg, "in front: xxx", 13);
    err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.msg), sizeof err.msg - 1);
    assert_memory_equal(err.msg, "xxxxxxxxxxx", 11);
}

static void nobody_has_to_listen(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_BUSY, "%d", 1), ERR_BUSY);
    assert_int_equal(err_nomem(NULL), ERR_NOMEM);
    err_prefix(NULL, "%d", 1);
}

/* -- mem -- */

static void memory_of_any_size(void **state)
{
    (void)state;
    void *none = mem_alloc(0), *nothing = mem_array(0, 8), *still = mem_resize(NULL, 0, 8);
    assert_true(none && nothing && still);
    mem_free(none);
    mem_free(nothing);
    mem_free(still);
    mem_free(NULL);
    unsigned char *clear = mem_array(100, 7);
    assert_non_null(clear);
    for (int i = 0; i < 700; i++)
        assert_int_equal(clear[i], 0);
    memset(clear, 5, 700);
    unsigned char *more = mem_resize(clear, 200, 7);
    assert_non_null(more);
    for (int i = 0; i < 700; i++)
        assert_int_equal(more[i], 5);
    assert_null(mem_resize(more, SIZE_MAX / 2, 3)); /* and `more` is untouched */
    assert_int_equal(more[699], 5);
    mem_free(more);
    assert_null(mem_array(SIZE_MAX / 2, 3));
}

static void text_is_copied(void **state)
{
    (void)state;
    char *all = mem_strdup("tile"), *part = mem_strndup("tile=32", 4), *empty = mem_strndup("x", 0);
    assert_string_equal(all, "tile");
    assert_string_equal(part, "tile");
    assert_string_equal(empty, "");
    mem_free(all);
    mem_free(part);
    mem_free(empty);
}

static void the_nth_allocation_and_all_after_it_fail(void **state)
{
    (void)state;
    mem_fail_at(2);
    void *a = mem_alloc(1), *b = mem_zalloc(1), *c = mem_alloc(1), *d = mem_strdup("d"), *e = mem_array(1, 1);
    void *grown = mem_resize(a, 100, 1);
    mem_fail_at(-1);
    assert_true(a && b && !c && !d && !e && !grown);
    mem_free(a);
    mem_free(b);
    void *f = mem_alloc(1);
    assert_non_null(f);
    mem_free(f);
}

static void an_arena_gives_clear_and_aligned_memory(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    assert_non_null(a);
    static const size_t sizes[] = { 1, 0, 3, 17, 1000, 16 << 10, 1, (16 << 10) + 1, 100000, 7 };
    unsigned char *got[10];
    for (int i = 0; i < 10; i++) {
        got[i] = arena_alloc(a, sizes[i]);
        assert_non_null(got[i]);
        assert_int_equal((uintptr_t)got[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(got[i][k], 0);
        memset(got[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < 10; i++) /* none lies on another */
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(got[i][k], i + 1);
    assert_string_equal(arena_strdup(a, "whole"), "whole");
    assert_string_equal(arena_strndup(a, "whole", 2), "wh");
    assert_string_equal(arena_strndup(a, "whole", 0), "");
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX / 2 + 1));
    assert_null(arena_array(a, SIZE_MAX / 2, 3));
    arena_free(a);
    arena_free(NULL);
}

/* Whatever is allocated, the calls before it stay good, and nothing is lost: LeakSanitizer looks. */
static void an_arena_may_run_out_anywhere(void **state)
{
    (void)state;
    bool whole = false;
    for (long nth = 0; !whole; nth++) {
        mem_fail_at(nth);
        struct arena *a = arena_new();
        char *first = a ? arena_strdup(a, "first") : NULL;
        void *large = a ? arena_alloc(a, 1 << 20) : NULL;
        char *last = a ? arena_array(a, 5000, 4) : NULL;
        mem_fail_at(-1);
        assert_true(nth != 0 || !a);
        if (first)
            assert_string_equal(first, "first");
        whole = first && large && last;
        assert_true(whole || nth < 4);
        assert_true(!whole || nth == 4); /* the arena and three chunks */
        arena_free(a);
    }
}

/* -- buf -- */

static void a_buffer_is_text(void **state)
{
    (void)state;
    struct buf b = { 0 };
    assert_string_equal(buf_text(&b), "");
    buf_put(&b, NULL, 0);
    assert_string_equal(buf_text(&b), "");
    buf_str(&b, "TILE=");
    buf_fmt(&b, "%d%s", 32, ",");
    buf_put(&b, "ROWS!", 4);
    assert_string_equal(buf_text(&b), "TILE=32,ROWS");
    assert_int_equal(b.len, 12);
    const char *kept = b.data;
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_text(&b), "");
    assert_ptr_equal(b.data, kept);
    for (int i = 0; i < 1000; i++)
        buf_fmt(&b, "%03d", i);
    assert_int_equal(b.len, 3000);
    assert_int_equal(strlen(b.data), 3000);
    assert_memory_equal(b.data + 3 * 567, "567", 3);
    buf_free(&b);
    assert_true(!b.data && !b.len && !b.cap && !b.failed);
    buf_str(&b, "again");
    assert_string_equal(buf_text(&b), "again");
    buf_free(&b);
}

/* Each length around a growth ends with its zero byte inside the memory: AddressSanitizer looks. */
static void a_buffer_has_room_for_its_zero(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'y', sizeof text);
    for (size_t n = 0; n < 300; n++) {
        struct buf once = { 0 }, by_one = { 0 }, printed = { 0 };
        buf_put(&once, text, n);
        for (size_t i = 0; i < n; i++)
            buf_put(&by_one, "y", 1);
        buf_fmt(&printed, "%.*s", (int)n, text);
        assert_int_equal(once.len, n);
        assert_int_equal(strlen(buf_text(&once)), n);
        assert_string_equal(buf_text(&once), buf_text(&by_one));
        assert_string_equal(buf_text(&once), buf_text(&printed));
        buf_free(&once);
        buf_free(&by_one);
        buf_free(&printed);
    }
}

static void fill(struct buf *b)
{
    for (int i = 0; i < 100; i++) {
        buf_str(b, "some text ");
        buf_fmt(b, "%d ", i);
        buf_u8(b, 'u');
        buf_u32(b, 0x20202020);
        buf_i64(b, 0x2020202020202020);
        buf_f64(b, 1.5);
        buf_lstr(b, "name");
        buf_lstr(b, NULL);
        buf_bytes(b, "\0\1", 2);
    }
}

/* Once failed, a buffer takes no more until it is cleared, so that what it holds has no hole in it. */
static void a_buffer_may_run_out_anywhere(void **state)
{
    (void)state;
    struct buf good = { 0 };
    fill(&good);
    assert_false(good.failed);
    bool whole = false;
    for (long nth = 0; !whole; nth++) {
        struct buf b = { 0 };
        mem_fail_at(nth);
        fill(&b);
        mem_fail_at(-1);
        whole = !b.failed;
        assert_true(b.len <= good.len);
        if (b.len)
            assert_memory_equal(b.data, good.data, b.len);
        assert_true(!whole || b.len == good.len);
        size_t len = b.len;
        buf_str(&b, "more");
        assert_int_equal(b.len, whole ? len + 4 : len);
        buf_clear(&b);
        buf_str(&b, "more");
        assert_string_equal(buf_text(&b), "more");
        buf_free(&b);
    }
    buf_free(&good);
}

static void a_length_that_nothing_holds_fails(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_str(&b, "x");
    buf_put(&b, "y", SIZE_MAX - 1); /* nothing is read */
    assert_true(b.failed);
    assert_string_equal(buf_text(&b), "x");
    buf_clear(&b);
    buf_bytes(&b, "y", UINT32_MAX); /* it would be read back as null */
    assert_true(b.failed);
    assert_int_equal(b.len, 0);
    buf_free(&b);
}

/* -- the wire form -- */

static void the_wire_form_is_little_endian(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_u8(&b, 0xfe);
    buf_u32(&b, 0x01020304);
    buf_i64(&b, -2);
    buf_f64(&b, 1.0);
    buf_lstr(&b, "ab");
    buf_lstr(&b, NULL);
    static const unsigned char want[] = { 0xfe, 4, 3, 2,    1,    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,   0,
                                          0,    0, 0, 0xf0, 0x3f, 2,    0,    0,    0,    'a',  'b',  0xff, 0xff, 0xff, 0xff };
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.data, want, sizeof want);
    buf_free(&b);
}

/* Something of each kind; what is read back, as one number of what was right. */
static void put_all(struct buf *b)
{
    buf_u8(b, 200);
    buf_u32(b, 4000000000u);
    buf_i64(b, INT64_MIN);
    buf_f64(b, -0.1);
    buf_lstr(b, "name");
    buf_lstr(b, "");
    buf_lstr(b, NULL);
    buf_bytes(b, "a\0b", 3);
}

static int get_all(struct cursor *c)
{
    size_t n;
    int right = 0;
    right += get_u8(c) == 200;
    right += get_u32(c) == 4000000000u;
    right += get_i64(c) == INT64_MIN;
    right += get_f64(c) == -0.1;
    const char *name = get_lstr(c, &n);
    right += name && n == 4 && !memcmp(name, "name", 4);
    const char *empty = get_lstr(c, &n);
    right += empty && n == 0;
    const char *null = get_lstr(c, &n);
    right += !null && n == 0 && !c->bad;
    const void *bytes = get_bytes(c, &n);
    right += bytes && n == 3 && !memcmp(bytes, "a\0b", 3);
    return right;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct buf b = { 0 };
    put_all(&b);
    struct cursor c = cursor_on(b.data, b.len);
    assert_int_equal(get_all(&c), 8);
    assert_false(c.bad);
    assert_ptr_equal(c.at, c.end);
    assert_int_equal(get_u8(&c), 0); /* past the end */
    assert_true(c.bad);
    buf_free(&b);
}

/* In memory of just that length, so that AddressSanitizer sees a step too far. */
static void a_cut_form_is_bad_at_every_length(void **state)
{
    (void)state;
    struct buf b = { 0 };
    put_all(&b);
    for (size_t n = 0; n < b.len; n++) {
        char *part = malloc(n + !n);
        assert_non_null(part);
        memcpy(part, b.data, n);
        struct cursor c = cursor_on(part, n);
        assert_true(get_all(&c) < 8);
        assert_true(c.bad);
        assert_int_equal(get_i64(&c), 0); /* and stays so */
        assert_int_equal(get_u8(&c), 0);
        size_t len = 7;
        assert_null(get_lstr(&c, &len));
        assert_int_equal(len, 0);
        free(part);
    }
    buf_free(&b);
}

static void text_with_a_zero_or_a_wild_length_is_bad(void **state)
{
    (void)state;
    size_t n = 7;
    struct cursor c = cursor_on("\3\0\0\0a\0b", 7);
    assert_null(get_lstr(&c, &n));
    assert_true(c.bad && n == 0);
    static const char *const wild[] = { "\4\0\0\0abc",
                                        "\xfe\xff\xff\xff"
                                        "abc",
                                        "\0\0\0\x80"
                                        "abc" };
    for (int i = 0; i < 3; i++) {
        c = cursor_on(wild[i], 7);
        assert_null(get_lstr(&c, &n));
        assert_true(c.bad && n == 0);
        c = cursor_on(wild[i], 7);
        assert_null(get_bytes(&c, &n));
        assert_true(c.bad && n == 0);
    }
    c = cursor_on(NULL, 100);
    assert_int_equal(get_u8(&c), 0);
    assert_true(c.bad);
}

/* -- util -- */

/* Keys in databases: they must never change. */
static void hashes_are_what_they_were(void **state)
{
    (void)state;
    char hex[HASH_HEX];
    hash_hex("", 0, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f"); /* XXH3's own test value, high half first */
    char other[HASH_HEX];
    hash_hex("a", 1, hex);
    assert_int_equal(strlen(hex), HASH_HEX - 1);
    hash_hex("a", 2, other); /* with its zero */
    assert_string_not_equal(hex, other);
    hash_hex("a", 1, other);
    assert_string_equal(hex, other);
}

/* splitmix64's published sequence is the stream's: its state after k steps is the seed and k times the golden ratio. */
static void random_numbers_are_what_they_were(void **state)
{
    (void)state;
    static const uint64_t from_1234567[] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                                             16408922859458223821u };
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(rand_at(1234567, i), from_1234567[i]);
    assert_int_equal(rand_at(0, 0), 0xe220a8397b1dcdafu);
    assert_int_equal(rand_at(0, 1), 0x6e789e6aa1b965f4u);
}

static void the_clock_goes_on(void **state)
{
    (void)state;
    int64_t before = clock_ns();
    usleep(2000);
    assert_true(clock_ns() - before >= 2000000);
}

/* -- file_read -- */

static void make_file(const char *name, size_t bytes)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(i % 251), f);
    assert_int_equal(fclose(f), 0);
}

static void a_file_is_read_whole(void **state)
{
    (void)state;
    enum { BYTES = 50000 }; /* several reads */
    struct buf b = { 0 };
    struct err err = { 0 };
    make_file("file", BYTES);
    buf_str(&b, "before");
    assert_int_equal(file_read(in_dir("file"), BYTES, &b, &err), 0);
    assert_int_equal(b.len, 6 + BYTES);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal((unsigned char)b.data[6 + i], i % 251);
    buf_free(&b);
    make_file("empty", 0);
    assert_int_equal(file_read(in_dir("empty"), 0, &b, &err), 0);
    assert_int_equal(b.len, 0);
    assert_non_null(b.data); /* a C string, even so */
    buf_free(&b);
}

static void refused(const char *name, size_t max, int code, const char *says)
{
    struct buf b = { 0 };
    struct err err = { 0 };
    assert_int_equal(file_read(in_dir(name), max, &b, &err), code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.msg, in_dir(name)));
    if (!strstr(err.msg, says))
        fail_msg("'%s' does not say '%s'", err.msg, says);
    assert_int_equal(file_read(in_dir(name), max, &b, NULL), code);
    buf_free(&b);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    make_file("file", 1000);
    assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
    refused("none", 1000, ERR_NOTFOUND, "No such file");
    refused(".", 1000, ERR_IO, "not a regular file");
    refused("fifo", 1000, ERR_IO, "not a regular file"); /* and nobody has to write first */
    refused("file/below", 1000, ERR_IO, "Not a directory");
    refused("file", 999, ERR_INVALID, "limit of 999 bytes");
    refused("file", 0, ERR_INVALID, "limit of 0 bytes");
}

static void a_file_without_memory_is_an_error(void **state)
{
    (void)state;
    struct err err = { 0 };
    make_file("file", 50000);
    int rc = ERR_NOMEM;
    for (long nth = 0; rc; nth++) {
        struct buf b = { 0 };
        mem_fail_at(nth);
        rc = file_read(in_dir("file"), 50000, &b, &err);
        mem_fail_at(-1);
        assert_true(rc == 0 || rc == ERR_NOMEM);
        assert_true(rc != 0 || b.len == 50000);
        assert_true(nth > 0 || rc);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_a_code_and_one_line),
        cmocka_unit_test(a_line_can_be_shown),
        cmocka_unit_test(an_error_may_be_made_of_itself),
        cmocka_unit_test(a_long_error_is_cut),
        cmocka_unit_test(nobody_has_to_listen),
        cmocka_unit_test(memory_of_any_size),
        cmocka_unit_test(text_is_copied),
        cmocka_unit_test(the_nth_allocation_and_all_after_it_fail),
        cmocka_unit_test(an_arena_gives_clear_and_aligned_memory),
        cmocka_unit_test(an_arena_may_run_out_anywhere),
        cmocka_unit_test(a_buffer_is_text),
        cmocka_unit_test(a_buffer_has_room_for_its_zero),
        cmocka_unit_test(a_buffer_may_run_out_anywhere),
        cmocka_unit_test(a_length_that_nothing_holds_fails),
        cmocka_unit_test(the_wire_form_is_little_endian),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_cut_form_is_bad_at_every_length),
        cmocka_unit_test(text_with_a_zero_or_a_wild_length_is_bad),
        cmocka_unit_test(hashes_are_what_they_were),
        cmocka_unit_test(random_numbers_are_what_they_were),
        cmocka_unit_test(the_clock_goes_on),
        cmocka_unit_test(a_file_is_read_whole),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_file_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
