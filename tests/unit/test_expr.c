/* The expression language by example: values, errors with their place, and what no text may do to it. */
#include "base/mem.h"
#include "base/util.h"
#include "expr/expr.h"
#include "unit.h"

static const char *const names[] = { "TILE", "ROWS", "GRID", "FAST", "HALF", "T", "device.cc", "EMPTY" };
static const struct scope scope = { .names = names, .n = 8 };
static struct val slots[8];

static int set_up(void **state)
{
    (void)state;
    slots[0] = val_int(32);
    slots[1] = val_int(8);
    slots[2] = val_str("xy");
    slots[3] = val_bool(true);
    slots[4] = val_float(0.5);
    slots[5] = val_str("f32");
    slots[6] = val_int(90);
    slots[7] = (struct val){ .type = VAL_NIL };
    return 0;
}

/* The value in print, or the message. */
static void outcome_of(const char *text, struct buf *out)
{
    struct expr *e = NULL;
    struct err err = { 0 };
    struct val v;
    buf_clear(out);
    if (expr_compile(text, &scope, &e, &err)) {
        assert_null(e);
        buf_fmt(out, "! %s", err.msg);
    } else if (expr_eval(e, slots, &v, &err)) {
        assert_int_equal(err.code, ERR_INVALID);
        assert_int_equal(expr_eval(e, slots, &v, NULL), ERR_INVALID);
        buf_fmt(out, "? %s", err.msg);
    } else {
        val_print(out, v);
    }
    expr_free(e);
}

static void test_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text, *outcome;
    } cases[] = {
        /* numbers */
        { "12", "12" },
        { "0x1F", "31" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775808", "! column 1: integer past 64 bits at '9223372036854775808'" },
        { "0x8000000000000000", "! column 1: integer past 64 bits at '0x8000000000000000'" },
        { "1.5e3", "1500.0" },
        { "1e5", "100000.0" },
        { ".5", "0.5" },
        { "5.", "5.0" },
        { "0.1 + 0.2", "0.30000000000000004" },
        { "1e400", "! column 1: number too large at '1e400'" },
        { "3x", "! column 1: malformed number at '3x'" },
        { "3..2", "! column 1: malformed number at '3..2'" },
        { "0x", "! column 1: malformed number at '0x'" },
        { "1e", "! column 1: malformed number at '1e'" },
        /* precedence and grouping */
        { "1 + 2 * 3", "7" },
        { "(1 + 2) * 3", "9" },
        { "2 ^ 3 ^ 2", "512.0" },
        { "-2 ^ 2", "-4.0" },
        { "2 ^ -1", "0.5" },
        { "10 - 4 - 3", "3" },
        { "1 << 2 + 1", "8" },
        { "5 & 3 | 8 ~ 1", "9" },
        { "not FAST == false", "true" },
        { "1 + 1 == 2 and 3 > 2", "true" },
        { "- - 3", "3" },
        { "TILE // ROWS % 3", "1" },
        /* arithmetic */
        { "7 // 2", "3" },
        { "-7 // 2", "-4" },
        { "7 // -2", "-4" },
        { "-7 % 3", "2" },
        { "7 % -3", "-2" },
        { "-7.5 % 2", "0.5" },
        { "7.5 // 2", "3.0" },
        { "6 / 2", "3.0" },
        { "TILE * HALF", "16.0" },
        { "9223372036854775807 + 1", "? column 21: integer overflow at '+ 1'" },
        { "-9223372036854775807 - 2", "? column 22: integer overflow at '- 2'" },
        { "4294967296 * 4294967296", "? column 12: integer overflow at '* 4294967296'" },
        { "-(-9223372036854775807 - 1)", "? column 1: integer overflow at '-(-9223372036854775807 -...'" },
        { "(-9223372036854775807 - 1) // -1", "? column 28: integer overflow at '// -1'" },
        { "(-9223372036854775807 - 1) % -1", "0" },
        { "1 // 0", "? column 3: division by zero at '// 0'" },
        { "1 % 0", "? column 3: division by zero at '% 0'" },
        { "1 / 0", "? column 3: division by zero at '/ 0'" },
        { "1.5 // 0.0", "? column 5: division by zero at '// 0.0'" },
        { "0 ^ -1", "? column 3: the result is not a finite number at '^ -1'" },
        { "(-8) ^ 0.5", "? column 6: the result is not a finite number at '^ 0.5'" },
        { "1e308 * 10", "? column 7: the result is not a finite number at '* 10'" },
        { "GRID + 1", "? column 6: arithmetic takes numbers, not a string at '+ 1'" },
        { "1 + FAST", "? column 3: arithmetic takes numbers, not a boolean at '+ FAST'" },
        { "1 + EMPTY", "? column 3: arithmetic takes numbers, not nothing at '+ EMPTY'" },
        { "-GRID", "? column 1: arithmetic takes numbers, not a string at '-GRID'" },
        /* bits */
        { "0xF0 & 0x3C", "48" },
        { "~0", "-1" },
        { "1 << 63", "-9223372036854775808" },
        { "-1 >> 63", "1" },
        { "1 << 64", "? column 3: a shift count has to be 0 to 63 at '<< 64'" },
        { "1 >> -1", "? column 3: a shift count has to be 0 to 63 at '>> -1'" },
        { "2.0 | 1", "3" },
        { "HALF | 1", "? column 6: an integer is needed, not a float at '| 1'" },
        { "1 | HALF", "? column 3: an integer is needed, not a float at '| HALF'" },
        /* comparison */
        { "1 == 1.0", "true" },
        { "9007199254740993 == 9007199254740992.0", "false" },
        { "9007199254740993 > 9007199254740992.0", "true" },
        { "-1 < 0.5", "true" },
        { "1e300 > 9223372036854775807", "true" },
        { "GRID == 'xy'", "true" },
        { "GRID ~= \"x\"", "true" },
        { "'a' < 'b'", "true" },
        { "FAST == true", "true" },
        { "GRID == 1", "? column 6: a string cannot be compared with an integer at '== 1'" },
        { "FAST < true", "? column 6: a boolean cannot be compared with a boolean at '< true'" },
        { "1 < 2 < 3", "? column 7: a boolean cannot be compared with an integer (a < b < c is written a < b and b < c) at '< 3'" },
        { "EMPTY == EMPTY", "? column 7: nothing cannot be compared with nothing at '== EMPTY'" },
        /* and, or, not */
        { "true and false or true", "true" },
        { "false and 1 // 0 == 1", "false" },
        { "true or 1 // 0 == 1", "true" },
        { "GRID == 'xy' and ceildiv(100, TILE) or 1", "4" },
        { "GRID == 'x' and ceildiv(100, TILE) or 1", "1" },
        { "FAST and GRID or 'none'", "xy" },
        { "TILE > 64 and 'a' or TILE > 16 and 'b' or 'c'", "b" },
        { "FAST and (TILE > 64 and 1 or 2) or 3", "2" },
        { "FAST and (FAST and 5) or 3", "5" },
        { "FAST and false or 3", "3" },
        { "not FAST or FAST and 4 or 3", "4" },
        { "(FAST and TILE or ROWS) + 1", "33" },
        { "FAST and 5", "? column 6: a boolean is needed, not an integer at 'and 5'" },
        { "false or 5", "? column 7: a boolean is needed, not an integer at 'or 5'" },
        { "TILE and FAST", "? column 6: a boolean is needed, not an integer at 'and FAST'" },
        { "TILE or 1", "? column 6: a boolean is needed, not an integer at 'or 1'" },
        { "TILE and 1 or 2", "? column 6: a boolean is needed, not an integer at 'and 1 or 2'" },
        { "FAST and 5 and FAST or 1", "? column 6: a boolean is needed, not an integer at 'and 5 and FAST or 1'" },
        { "not 0", "? column 1: a boolean is needed, not an integer at 'not 0'" },
        /* functions */
        { "ceildiv(10, 4)", "3" },
        { "ceildiv(-10, 4)", "-2" },
        { "ceildiv(10, -4)", "-2" },
        { "ceildiv(1, 0)", "? column 1: division by zero at 'ceildiv(1, 0)'" },
        { "alignup(33, 32)", "64" },
        { "alignup(-33, 32)", "-32" },
        { "alignup(64, 32)", "64" },
        { "alignup(9223372036854775807, 2)", "? column 1: integer overflow at 'alignup(9223372036854775...'" },
        { "alignup(1, -2)", "? column 1: the last argument has to be positive at 'alignup(1, -2)'" },
        { "min(3)", "3" },
        { "min(3, 2.5, 4)", "2.5" },
        { "max(1, 1.0)", "1" },
        { "max(TILE, ROWS, 40, 39)", "40" },
        { "min(GRID)", "? column 1: arithmetic takes numbers, not a string at 'min(GRID)'" },
        { "abs(-3) + abs(-0.5) + abs(2)", "5.5" },
        { "abs(-9223372036854775807 - 1)", "? column 1: integer overflow at 'abs(-9223372036854775807...'" },
        { "floor(-1.5)", "-2" },
        { "floor(7)", "7" },
        { "floor(1e300)", "1e+300" },
        { "log2(1)", "0" },
        { "log2(1023)", "9" },
        { "log2(0)", "? column 1: the last argument has to be positive at 'log2(0)'" },
        { "ispow2(64)", "true" },
        { "ispow2(0) or ispow2(-64) or ispow2(96)", "false" },
        { "sizeof(T)", "4" },
        { "sizeof(bf16) + sizeof('c128')", "18" },
        { "sizeof(GRID)", "? column 1: sizeof takes an element type, such as f32 at 'sizeof(GRID)'" },
        { "sizeof(4)", "? column 1: sizeof takes an element type, such as f32 at 'sizeof(4)'" },
        { "ceildiv(1)", "! column 10: ceildiv(a, b) takes two arguments at ')'" },
        { "abs(1, 2)", "! column 6: abs(a) takes one argument at ', 2)'" },
        { "max()", "! column 5: max(a, ...) takes one argument or more at ')'" },
        { "device.cc >= 90", "true" },
        /* strings */
        { "'a\\'b\\\\\\n\\t'", "a'b\\\n\t" },
        { "'abc", "! column 1: string without its end at ''abc'" },
        { "'\\", "! column 1: unknown escape in this string: there are \\n \\t \\\\ \\' \\\" at ''\\'" },
        { "'\\q'", "! column 1: unknown escape in this string: there are \\n \\t \\\\ \\' \\\" at ''\\q''" },
        /* what does not parse */
        { "", "! column 1: a value is missing at the end" },
        { " \t\n", "! column 4: a value is missing at the end" },
        { "1 +", "! column 4: a value is missing at the end" },
        { "(1", "! column 3: a closing parenthesis is missing at the end" },
        { "1)", "! column 2: an operator is missing at ')'" },
        { "TILE in [1, 2]", "! column 6: an operator is missing (x in [1, 2] is written x == 1 or x == 2) at 'in [1, 2]'" },
        { "TILE ROWS", "! column 6: an operator is missing at 'ROWS'" },
        { "TILE != 3", "! column 6: unknown sign (Lua's is ~=) at '!= 3'" },
        { "TILE > 3 && TILE < 5", "! column 10: unknown sign (Lua's is and) at '&& TILE < 5'" },
        { "TILE > 3 || TILE < 5", "! column 10: unknown sign (Lua's is or) at '|| TILE < 5'" },
        { "!(TILE == 3)", "! column 1: unknown sign (Lua's is not) at '!(TILE == 3)'" },
        { "TILE ** 2", "! column 6: unknown sign (Lua's is ^) at '** 2'" },
        { "TILE > 3 ? 1 : 2", "! column 10: unknown sign (Lua's for a ? b : c is a and b or c) at '? 1 : 2'" },
        { "TILE = 3", "! column 6: unknown sign (Lua compares with ==) at '= 3'" },
        { "3 --2", "! column 3: there are no comments here; a minus of a minus is written - - at '--2'" },
        { "WIDTH", "! column 1: unknown name 'WIDTH'; known are TILE, ROWS, GRID, FAST, HALF, T, device.cc, EMPTY" },
        { "device", "! column 1: unknown name 'device'; known are TILE, ROWS, GRID, FAST, HALF, T, device.cc, EMPTY" },
        { "os.exit()", "! column 1: unknown function (there are ceildiv, min, max, abs, floor, sizeof, log2, ispow2, alignup) at "
                       "'os.exit()'" },
        { "\x80", "! column 1: unknown sign at '?'" },
    };
    struct buf out = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome_of(cases[i].text, &out);
        if (strcmp(buf_text(&out), cases[i].outcome) != 0)
            fail_msg("%s\n   gives %s\ninstead of %s", cases[i].text, buf_text(&out), cases[i].outcome);
    }
    buf_free(&out);
}

static struct expr *compile(const char *text)
{
    struct expr *e = NULL;
    struct err err;
    if (expr_compile(text, &scope, &e, &err))
        fail_msg("%s: %s", text, err.msg);
    return e;
}

static void test_results_of_a_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t i; /* or -1: no integer; -2: a boolean */
    } cases[] = { { "TILE", 32 }, { "TILE / 2", 16 }, { "HALF", -1 }, { "GRID", -1 }, { "2 ^ 63", -1 }, { "TILE > 1", -2 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct expr *e = compile(cases[i].text);
        struct err err = { 0 };
        int64_t whole = -77;
        bool b = false;
        assert_int_equal(expr_int(e, slots, &whole, &err), cases[i].i < 0 ? ERR_INVALID : 0);
        assert_int_equal(whole, cases[i].i < 0 ? -77 : cases[i].i); /* untouched on failure */
        assert_int_equal(expr_bool(e, slots, &b, &err), cases[i].i == -2 ? 0 : ERR_INVALID);
        assert_int_equal(b, cases[i].i == -2);
        assert_int_equal(expr_int(e, slots, &whole, NULL) != 0, cases[i].i < 0);
        assert_string_equal(expr_text(e), cases[i].text);
        expr_free(e);
    }
}

static void test_slots(void **state)
{
    (void)state;
    struct expr *e = compile("FAST and ROWS + TILE or ROWS * device.cc + TILE");
    int n;
    const int *read = expr_slots(e, &n);
    assert_int_equal(n, 4);
    const int expected[] = { 0, 1, 3, 6 };
    assert_memory_equal(read, expected, sizeof expected);
    expr_free(e);
    e = compile("1 + 2");
    expr_slots(e, &n);
    assert_int_equal(n, 0);
    expr_free(e);
}

/* The sizes that sizeof knows are those of the model. */
static void test_sizes_of_types(void **state)
{
    (void)state;
    const struct dtype *d;
    int i = 0;
    for (; (d = dtype_at(i)); i++) {
        char text[32];
        int64_t bytes;
        snprintf(text, sizeof text, "sizeof(%s)", d->name);
        struct expr *e = compile(text);
        assert_int_equal(expr_int(e, slots, &bytes, NULL), 0);
        assert_int_equal(bytes, d->bytes);
        expr_free(e);
    }
    assert_int_equal(i, 16);
}

/* n times before, x, n times after. */
static char *nested(const char *before, const char *x, const char *after, int n)
{
    struct buf b = { 0 };
    for (int i = 0; i < n; i++)
        buf_str(&b, before);
    buf_str(&b, x);
    for (int i = 0; i < n; i++)
        buf_str(&b, after);
    assert_false(b.failed);
    return b.data;
}

static void test_depth(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        int n;
        bool compiles;
    } cases[] = {
        { "(", ")", 150, true },        { "(", ")", 20000, false },     { "- ", "", 150, true },    { "- ", "", 20000, false },
        { "1 + (", ")", 95, true },     { "1 + (", ")", 5000, false },  { "1 ^ ", "", 150, true },  { "1 ^ ", "", 9000, false },
        { "max(1, ", ")", 150, true },  { "max(1,", ")", 5000, false }, { "1 + ", "", 9000, true }, { "true and ", "", 5000, true },
        { "true or ", "", 5000, true }, { "1 + ", "", 30000, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *x = strstr(cases[i].before, "true") ? "FAST" : "1";
        char *text = nested(cases[i].before, x, cases[i].after, cases[i].n);
        struct expr *e = NULL;
        struct err err;
        struct val v;
        bool compiles = expr_compile(text, &scope, &e, &err) == 0;
        if (compiles != cases[i].compiles)
            fail_msg("%d times '%s': %s", cases[i].n, cases[i].before, compiles ? "compiles" : err.msg);
        if (e)
            assert_int_equal(expr_eval(e, slots, &v, &err), 0);
        expr_free(e);
        mem_free(text);
    }
}

/* Texts of random pieces, and random bytes: an answer or an error, and nothing else. */
static void test_random_texts(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "TILE", "ROWS", "GRID", "FAST", "HALF", "EMPTY", "1",     "0",    "2.5",  "'xy'", "true",  "0x7fff",  "1e9",    "f32", "\"",
        "(",    ")",    ",",    ".",    "\\",   " ",     "+",     "-",    "*",    "/",    "//",    "%",       "^",      "<",   "<<",
        ">>",   "==",   "~=",   "~",    "&",    "|",     " and ", " or ", "not ", "max(", "log2(", "ceildiv", "sizeof",
    };
    uint64_t place = 0;
    int fine = 0;
    struct buf text = { 0 }, out = { 0 };
    for (int i = 0; i < 60000; i++) {
        buf_clear(&text);
        for (uint64_t n = 1 + rand_at(9, place++) % 12; n > 0; n--) {
            uint64_t r = rand_at(9, place++);
            if (r % 64 == 0)
                buf_put(&text, (char[]){ (char)(1 + (r >> 8) % 255) }, 1);
            else
                buf_str(&text, pieces[(r >> 8) % (sizeof pieces / sizeof pieces[0])]);
        }
        outcome_of(buf_text(&text), &out);
        fine += out.data[0] != '!' && out.data[0] != '?';
    }
    assert_in_range(fine, 500, 60000);
    buf_free(&text);
    buf_free(&out);
}

static void test_without_memory(void **state)
{
    (void)state;
    const char *text = "GRID == 'xy' and ceildiv(100, TILE) + 1 * 2 + ROWS * 4 + TILE * 6 + 7 * ROWS or min(1, 2, 3) << 4 | 5";
    int rc = ERR_NOMEM, n = 0;
    for (; rc == ERR_NOMEM; n++) {
        struct expr *e = NULL;
        mem_fail_at(n);
        rc = expr_compile(text, &scope, &e, NULL);
        mem_fail_at(-1);
        assert_int_equal(e != NULL, rc == 0);
        expr_free(e);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(n, 3); /* two allocations, of which each has failed in turn */
}

static void test_values(void **state)
{
    (void)state;
    assert_true(val_eq(val_int(1), val_float(1)));
    assert_true(val_eq(val_float(-0x1p63), val_int(INT64_MIN)));
    assert_false(val_eq(val_int(INT64_MAX), val_float(0x1p63)));
    assert_false(val_eq(val_int(1), val_bool(true)));
    assert_false(val_eq(val_str("1"), val_int(1)));
    assert_true(val_eq(val_str("a"), val_str((char[]){ 'a', 0 })));
    static const double floats[] = { 0.1, 1e22, 5e-324, 1.7976931348623157e308, -0.0, 3.0, 123456789012345678.0 };
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        struct buf b = { 0 };
        val_print(&b, val_float(floats[i]));
        double back = strtod(buf_text(&b), NULL);
        assert_memory_equal(&back, &floats[i], sizeof back);
        assert_non_null(strpbrk(buf_text(&b), ".e"));
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),       cmocka_unit_test(test_results_of_a_type),
        cmocka_unit_test(test_slots),          cmocka_unit_test(test_sizes_of_types),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
