/* Partial evaluation: what is left of a text has the value of the whole. */
#include "base/buf.h"
#include "base/mem.h"
#include "expr/expr.h"
#include "unit.h"

/* The first have values already. */
static const char *const names[] = { "A", "B", "P", "Q", "S", "x", "y", "z", "T" };
enum { KNOWN = 5, NAMES = 9, ROUNDS = 60000 };

static const struct {
    const char *text, *left;
} examples[] = {
    { "A", "6" },
    { "x", "x" },
    { "A * B * x", "(-24) * x" },
    { "x - B", "x - B" }, /* "x - (-4)" would be longer */
    { "- B", "4" },
    { "(P and A or B) % 64 == 0 or x > 3", "x > 3" },
    { "P and x or y", "x" },
    { "Q and x or y", "y" },
    { "x > 1 and A or 48", "x > 1 and 6 or 48" },
    { "P and x > 1 or y > 2", "x > 1 or y > 2" },
    { "P or x > 1", "true" },
    { "x > 1 and P", "x > 1" },
    { "x > 1 or not P", "x > 1" },
    { "not (Q or x > 1)", "not (x > 1)" },
    { "ceildiv(x, A) * min(A, B)", "ceildiv(x, 6) * (-4)" },
    { "sizeof(T) * sizeof(f32)", "sizeof(T) * sizeof(f32)" },
    { "S == 'nn' and T == 'f16'", "T == 'f16'" },
    { "A // 0 + x", "6 // 0 + x" },             /* it fails where it is reached */
    { "x > 1 and P or A", "x > 1 and P or A" }, /* without the P it would be no choice */
    { "P and x > 1 or A", "P and x > 1 or A" },
    { "x / 2 ^ A", "x / 2 ^ 6" },
    { "P and x > 1 or (x > 0 and 5 or y > 0 and 6)", "P and x > 1 or (x > 0 and 5 or y > 0 and 6)" },
};

static struct val values[KNOWN];

static int set_up(void **state)
{
    (void)state;
    const struct val all[KNOWN] = { val_int(6), val_int(-4), val_bool(true), val_bool(false), val_str("nn") };
    memcpy(values, all, sizeof values);
    return 0;
}

static void fold(const char *text, const struct val *bound, struct buf *out)
{
    const struct bound_names known = { names, bound, KNOWN };
    buf_clear(out);
    expr_fold(text, &known, out);
}

static void leaves_what_is_not_known(void **state)
{
    (void)state;
    struct buf left = { 0 };
    for (int i = 0; i < COUNT(examples); i++) {
        fold(examples[i].text, values, &left);
        assert_string_equal(buf_text(&left), examples[i].left);
    }
    buf_free(&left);
}

static uint64_t seed = 1;

static int up_to(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)(seed >> 33) % n;
}

/* Mostly of one type each, so that many have a value. */
static void put_number(struct buf *out, int depth);

static void put_truth(struct buf *out, int depth)
{
    static const char *const leaves[] = { "P", "Q", "true", "false", "T == 'f32'", "S == 'nn'" };
    static const char *const compare[] = { " < ", " <= ", " == ", " ~= ", " > " };
    int kind = depth > 0 ? up_to(6) : 0;
    if (kind == 0) {
        buf_str(out, leaves[up_to(COUNT(leaves))]);
    } else if (kind == 1) {
        buf_str(out, "not ");
        put_truth(out, depth - 1);
    } else if (kind == 2) {
        buf_str(out, "(");
        put_truth(out, depth - 1);
        buf_str(out, ")");
    } else if (kind < 5) {
        put_truth(out, depth - 1);
        buf_str(out, kind == 3 ? " and " : " or ");
        put_truth(out, depth - 1);
    } else {
        put_number(out, depth - 1);
        buf_str(out, compare[up_to(COUNT(compare))]);
        put_number(out, depth - 1);
    }
}

static void put_number(struct buf *out, int depth)
{
    static const char *const leaves[] = { "A", "B", "x", "y", "z", "3", "sizeof(T)" };
    static const char *const operators[] = { " + ", " - ", " * ", " // ", " % ", " & ", " / " };
    static const char *const calls[] = { "min(", "ceildiv(", "max(" };
    int kind = depth > 0 ? up_to(8) : 0;
    if (kind == 0) {
        buf_str(out, leaves[up_to(COUNT(leaves))]);
    } else if (kind == 1) {
        buf_str(out, "-");
        put_number(out, depth - 1);
    } else if (kind == 2 || kind == 5) { /* a choice, which binds loosely: most need the parentheses */
        bool bare = up_to(4) == 0;
        buf_str(out, bare ? "" : "(");
        put_truth(out, depth - 1);
        buf_str(out, " and ");
        put_number(out, depth - 1);
        buf_str(out, " or ");
        put_number(out, depth - 1);
        buf_str(out, bare ? "" : ")");
    } else if (kind > 5) { /* choices whose last operand may be false, alone and within another */
        buf_str(out, "(");
        if (kind == 7) {
            put_truth(out, depth - 1);
            buf_str(out, up_to(2) ? " or (" : " and true or (");
        }
        put_truth(out, depth - 1);
        buf_str(out, " and 5 or ");
        put_truth(out, depth - 1);
        buf_str(out, kind == 7 ? " and 6))" : " and 6)");
    } else if (kind == 3) {
        put_number(out, depth - 1);
        buf_str(out, operators[up_to(COUNT(operators))]);
        put_number(out, depth - 1);
    } else {
        buf_str(out, calls[up_to(COUNT(calls))]);
        put_number(out, depth - 1);
        buf_str(out, ", ");
        put_number(out, depth - 1);
        buf_str(out, ")");
    }
}

static struct expr *compiled(const char *text)
{
    static const struct scope scope = { .names = names, .n = NAMES };
    struct expr *e;
    return expr_compile(text, &scope, &e, NULL) ? NULL : e;
}

/* Of texts drawn by chance, with values drawn by chance. */
static void has_the_value_of_the_whole(void **state)
{
    (void)state;
    struct buf text = { 0 }, left = { 0 };
    int compared = 0, shorter = 0;
    for (int round = 0; round < ROUNDS; round++) {
        buf_clear(&text);
        if (up_to(2))
            put_truth(&text, 4);
        else
            put_number(&text, 4);
        struct val slots[NAMES] = { val_int(up_to(9) - 3), val_int(up_to(40)), val_bool(up_to(2)), val_bool(up_to(2)),
                                    val_str(up_to(2) ? "nn" : "tn") };
        struct expr *whole = compiled(buf_text(&text)), *rest;
        if (!whole)
            continue;
        fold(buf_text(&text), slots, &left);
        rest = compiled(buf_text(&left));
        if (!rest)
            fail_msg("%s: what is left of it does not compile: %s", text.data, left.data);
        shorter += left.len < text.len;
        for (int i = 0; i < 8; i++) {
            struct val a, b;
            for (int n = KNOWN; n < NAMES - 1; n++)
                slots[n] = val_int(up_to(12) - 2);
            slots[NAMES - 1] = val_str(up_to(2) ? "f32" : "f64");
            if (expr_eval(whole, slots, &a, NULL))
                continue; /* then what is left may have one */
            compared++;
            if (expr_eval(rest, slots, &b, NULL) || a.type != b.type || !val_eq(a, b))
                fail_msg("%s is another value than what is left of it: %s", text.data, left.data);
        }
        expr_free(whole);
        expr_free(rest);
    }
    assert_true(compared > ROUNDS && shorter > ROUNDS / 4);
    buf_free(&text);
    buf_free(&left);
}

static void put_nested(struct buf *out, int depth, const char *inside)
{
    for (int i = 0; i < depth; i++)
        buf_str(out, "(");
    buf_str(out, inside);
    for (int i = 0; i < depth; i++)
        buf_str(out, ")");
}

static void says_that_memory_ran_out(void **state)
{
    (void)state;
    const struct bound_names known = { names, values, KNOWN };
    struct buf text = { 0 };
    buf_str(&text, "x > 1 and ");
    put_nested(&text, 170, "A * B > 3");
    bool failed = true;
    for (int n = 0; failed; n++) {
        struct buf left = { 0 };
        mem_fail_at(n);
        expr_fold(text.data, &known, &left);
        mem_fail_at(-1);
        failed = left.failed;
        if (!failed)
            assert_string_equal(buf_text(&left), "x > 1 and false");
        buf_free(&left);
        assert_true(n < 100);
    }
    buf_free(&text);
}

/* What a value adds in parentheses must not be nested too deeply. */
static void stays_within_the_depth(void **state)
{
    (void)state;
    for (int depth = 190; depth < 200; depth++) {
        struct buf text = { 0 }, left = { 0 };
        put_nested(&text, depth, "B       + x");
        struct expr *e = compiled(text.data);
        fold(text.data, values, &left);
        struct expr *rest = compiled(left.data);
        assert_int_equal(e != NULL, rest != NULL);
        expr_free(e);
        expr_free(rest);
        buf_free(&text);
        buf_free(&left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_what_is_not_known),
        cmocka_unit_test(has_the_value_of_the_whole),
        cmocka_unit_test(says_that_memory_ran_out),
        cmocka_unit_test(stays_within_the_depth),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
