/* Random expressions, compared with real Lua 5.4, and integer expressions also with a 128-bit oracle.
 *
 * If both give a value, it must be the same value of the same type. If only cutune gives an error, it must be one of the differences that
 * expr.h lists. For integers the oracle says exactly whether there is a value, and which. */
#include <lauxlib.h>
#include <lualib.h>

#include "base/mem.h"
#include "base/util.h"
#include "expr/expr.h"
#include "unit.h"

enum { ROUNDS = 100000, INTEGER_ROUNDS = 40000 };

static uint64_t place;
static int below(int n)
{
    return (int)(rand_at(54, place++) % (uint64_t)n);
}

/* -- the names that both know -- */

enum { NSLOTS = 10 };
static const char *const names[NSLOTS] = { "i", "j", "k", "big", "f", "g", "s", "t", "p", "q" };
static const struct scope scope = { .names = names, .n = NSLOTS };
static struct val slots[NSLOTS];

static int64_t random_int(void)
{
    static const int64_t edges[] = { 0,         1, -1, 2, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_C(1) << 32, INT64_C(1) << 53,
                                     3037000500 /* its square is past 64 bits */ };
    if (below(8) == 0)
        return edges[below(sizeof edges / sizeof edges[0])];
    int shift = below(2) ? 56 : 20 + below(40);
    return (int64_t)rand_at(54, place++) >> shift;
}

static void random_slots(lua_State *L)
{
    static const char *const words[] = { "x", "xy", "", "XY" };
    for (int i = 0; i < 4; i++)
        slots[i] = val_int(random_int());
    slots[4] = val_float((double)random_int() / 8);
    slots[5] = val_float((double)(below(41) - 20) / 4);
    slots[6] = val_str(words[below(4)]);
    slots[7] = val_str(words[below(4)]);
    slots[8] = val_bool(below(2));
    slots[9] = val_bool(below(2));
    for (int i = 0; i < NSLOTS; i++) {
        if (slots[i].type == VAL_INT)
            lua_pushinteger(L, slots[i].i);
        else if (slots[i].type == VAL_FLOAT)
            lua_pushnumber(L, slots[i].f);
        else if (slots[i].type == VAL_STR)
            lua_pushstring(L, slots[i].s);
        else
            lua_pushboolean(L, slots[i].b);
        lua_setglobal(L, names[i]);
    }
}

/* What Lua itself lacks, written in it for the arguments over which both are defined. */
static const char prelude[] = "min, max, abs, floor = math.min, math.max, math.abs, math.floor\n"
                              "local function int(x) return assert(math.tointeger(x)) end\n"
                              "function ceildiv(a, b) a, b = int(a), int(b)\n"
                              "  local d = a // b\n"
                              "  return a % b == 0 and d or d + 1 end\n"
                              "function alignup(a, b) a, b = int(a), int(b) assert(b > 0) \n"
                              "  return a % b == 0 and a or a - a % b + b end\n"
                              "function log2(a) a = int(a) assert(a > 0)\n"
                              "  local n = 0 while a > 1 do a = a >> 1 n = n + 1 end return n end\n"
                              "function ispow2(a) a = int(a) return a > 0 and a & (a - 1) == 0 end\n";

static lua_State *new_lua(void)
{
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    if (luaL_dostring(L, prelude))
        fail_msg("%s", lua_tostring(L, -1));
    return L;
}

/* Evaluates in Lua; false where it fails. A string of the result stays on the stack. */
static bool lua_value(lua_State *L, const char *text, struct val *out)
{
    lua_settop(L, 0);
    struct buf chunk = { 0 };
    buf_fmt(&chunk, "return %s", text);
    int loaded = luaL_loadstring(L, buf_text(&chunk));
    buf_free(&chunk);
    if (loaded)
        fail_msg("%s: %s", text, lua_tostring(L, -1)); /* what we make is Lua */
    if (lua_pcall(L, 0, 1, 0))
        return false;
    if (lua_isinteger(L, 1))
        *out = val_int(lua_tointeger(L, 1));
    else if (lua_type(L, 1) == LUA_TNUMBER)
        *out = val_float(lua_tonumber(L, 1));
    else if (lua_type(L, 1) == LUA_TSTRING)
        *out = val_str(lua_tostring(L, 1));
    else
        *out = val_bool(lua_toboolean(L, 1));
    return true;
}

static bool same(struct val a, struct val b)
{
    return a.type == b.type && val_eq(a, b);
}

/* -- expressions of every type -- */

static void number(struct buf *b, int depth);
static void boolean(struct buf *b, int depth);
static void string(struct buf *b, int depth);

static void (*const any[])(struct buf *, int) = { number, boolean, string };

/* Of any type; mostly of the one that is wanted. */
static void operand(struct buf *b, void (*wanted)(struct buf *, int), int depth)
{
    if (below(40))
        wanted(b, depth);
    else
        any[below(3)](b, depth);
}

static void binary(struct buf *b, void (*side)(struct buf *, int), const char *sign, int depth)
{
    bool parentheses = below(3) > 0; /* without, precedence is at work */
    buf_str(b, parentheses ? "(" : "");
    operand(b, side, depth - 1);
    buf_fmt(b, " %s ", sign);
    operand(b, side, depth - 1);
    buf_str(b, parentheses ? ")" : "");
}

/* condition and a or b */
static void choice(struct buf *b, void (*wanted)(struct buf *, int), int depth)
{
    buf_str(b, "(");
    boolean(b, depth - 1);
    buf_str(b, " and ");
    operand(b, wanted, depth - 1);
    buf_str(b, " or ");
    operand(b, wanted, depth - 1);
    buf_str(b, ")");
}

static void call(struct buf *b, const char *f, int arguments, int depth)
{
    buf_fmt(b, "%s(", f);
    for (int i = 0; i < arguments; i++) {
        buf_str(b, i ? ", " : "");
        operand(b, number, depth - 1);
    }
    buf_str(b, ")");
}

static void number(struct buf *b, int depth)
{
    static const char *const leaves[] = { "i", "j", "k", "big", "f",    "g",   "0",    "1",
                                          "2", "3", "7", "64",  "0xff", "1.5", "0.25", "2e3" };
    static const char *const signs[] = { "+", "-", "*", "//", "%", "/", "^", "&", "|", "~", "<<", ">>", "+", "*", "%", "//" };
    if (depth == 0) {
        buf_str(b, leaves[below(16)]);
        return;
    }
    switch (below(12)) {
    case 0:
        buf_str(b, below(3) ? "-" : "~");
        buf_str(b, "(");
        operand(b, number, depth - 1);
        buf_str(b, ")");
        break;
    case 1:
        choice(b, number, depth);
        break;
    case 2:
        call(b, below(2) ? "min" : "max", 1 + below(4), depth);
        break;
    case 3:
        call(b, below(2) ? "abs" : "floor", 1, depth);
        break;
    case 4:
        call(b, below(2) ? "ceildiv" : "alignup", 2, depth);
        break;
    case 5:
        call(b, "log2", 1, depth);
        break;
    default:
        binary(b, number, signs[below(16)], depth);
    }
}

static void boolean(struct buf *b, int depth)
{
    static const char *const signs[] = { "<", "<=", ">", ">=", "==", "~=" };
    if (depth == 0) {
        buf_str(b, (const char *const[]){ "p", "q", "true", "false" }[below(4)]);
        return;
    }
    switch (below(8)) {
    case 0:
        buf_str(b, "not ");
        buf_str(b, "(");
        operand(b, boolean, depth - 1);
        buf_str(b, ")");
        break;
    case 1:
        binary(b, boolean, "and", depth);
        break;
    case 2:
        binary(b, boolean, "or", depth);
        break;
    case 3:
        binary(b, string, signs[below(6)], depth);
        break;
    case 4:
        call(b, "ispow2", 1, depth);
        break;
    default:
        binary(b, number, signs[below(6)], depth);
    }
}

static void string(struct buf *b, int depth)
{
    if (depth > 0 && below(2))
        choice(b, string, depth);
    else
        buf_str(b, (const char *const[]){ "s", "t", "'x'", "\"xy\"", "'\\t'" }[below(5)]);
}

/* The differences to Lua that expr.h names, by the words of the messages. */
static bool stated_difference(const char *msg)
{
    static const char *const words[] = { "integer overflow",         "division by zero",
                                         "not a finite number",      "shift count",
                                         "cannot be compared",       "a boolean is needed",
                                         "arithmetic takes numbers", "an integer is needed" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(msg, words[i]))
            return true;
    return false;
}

static void test_against_lua(void **state)
{
    (void)state;
    lua_State *L = new_lua();
    struct buf text = { 0 };
    int both = 0, neither = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 50 == 0)
            random_slots(L);
        buf_clear(&text);
        int type = below(3), depth = 1 + below(4);
        any[type](&text, depth);
        struct expr *e;
        struct err err = { 0 };
        struct val ours, theirs;
        if (expr_compile(buf_text(&text), &scope, &e, &err))
            fail_msg("%s: %s", buf_text(&text), err.msg);
        bool here = expr_eval(e, slots, &ours, &err) == 0, there = lua_value(L, buf_text(&text), &theirs);
        if (here && !there)
            fail_msg("%s: Lua says %s", buf_text(&text), lua_tostring(L, -1));
        if (here && !same(ours, theirs))
            fail_msg("%s: type %d, i %lld f %.17g; Lua: type %d, i %lld f %.17g", buf_text(&text), ours.type,
                     (long long)(ours.type == VAL_INT ? ours.i : 0), ours.type == VAL_FLOAT ? ours.f : 0, theirs.type,
                     (long long)(theirs.type == VAL_INT ? theirs.i : 0), theirs.type == VAL_FLOAT ? theirs.f : 0);
        if (!here && there && !stated_difference(err.msg))
            fail_msg("%s: Lua has a value, we: %s", buf_text(&text), err.msg);
        both += here && there;
        neither += !here && !there;
        expr_free(e);
    }
    print_message("%d of %d expressions have a value in both, %d in neither\n", both, ROUNDS, neither);
    assert_true(both > ROUNDS / 2);
    buf_free(&text);
    lua_close(L);
}

/* -- integers and the oracle: the text and its value are made together -- */

typedef __int128 wide;

/* A value, or that there is none. */
struct exact {
    bool fails;
    wide v;
};

static struct exact fits(wide v)
{
    return (struct exact){ .fails = v < INT64_MIN || v > INT64_MAX, .v = v };
}

static wide floor_quotient(wide a, wide b)
{
    wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static struct exact apply(int op, wide a, wide b)
{
    const struct exact none = { .fails = true };
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case 0:
        return fits(a + b);
    case 1:
        return fits(a - b);
    case 2:
        return fits(a * b);
    case 3:
        return b ? fits(floor_quotient(a, b)) : none;
    case 4:
        return b ? fits(a - floor_quotient(a, b) * b) : none;
    case 5:
        return fits((int64_t)(x & y));
    case 6:
        return fits((int64_t)(x | y));
    case 7:
        return fits((int64_t)(x ^ y));
    case 8:
        return b < 0 || b > 63 ? none : fits((int64_t)(x << y));
    case 9:
        return b < 0 || b > 63 ? none : fits((int64_t)(x >> y));
    case 10:
        return b ? fits(-floor_quotient(-a, b)) : none;
    case 11:
        return b > 0 ? fits(-floor_quotient(-a, b) * b) : none;
    case 12:
        return fits(a < b ? a : b);
    default:
        return fits(a > b ? a : b);
    }
}

static struct exact integer(struct buf *text, int depth)
{
    static const char *const shapes[][3] = {
        { "(", " + ", ")" },       { "(", " - ", ")" },       { "(", " * ", ")" },   { "(", " // ", ")" },  { "(", " % ", ")" },
        { "(", " & ", ")" },       { "(", " | ", ")" },       { "(", " ~ ", ")" },   { "(", " << ", ")" },  { "(", " >> ", ")" },
        { "ceildiv(", ", ", ")" }, { "alignup(", ", ", ")" }, { "min(", ", ", ")" }, { "max(", ", ", ")" },
    };
    if (depth == 0) {
        int slot = below(4);
        if (below(3)) {
            buf_str(text, names[slot]);
            return fits(slots[slot].i);
        }
        int v = below(70);
        buf_fmt(text, "%d", v);
        return fits(v);
    }
    if (below(10) == 0) {
        bool negate = below(2);
        buf_str(text, negate ? "-(" : "abs(");
        struct exact x = integer(text, depth - 1);
        buf_str(text, ")");
        return x.fails ? x : fits(negate || x.v < 0 ? -x.v : x.v);
    }
    int op = below(14);
    buf_str(text, shapes[op][0]);
    struct exact a = integer(text, depth - 1);
    buf_str(text, shapes[op][1]);
    struct exact b = integer(text, below(depth));
    buf_str(text, shapes[op][2]);
    return a.fails ? a : b.fails ? b : apply(op, a.v, b.v);
}

static void test_integers_against_the_oracle(void **state)
{
    (void)state;
    lua_State *L = new_lua();
    struct buf text = { 0 };
    int values = 0, overflows = 0;
    for (int i = 0; i < INTEGER_ROUNDS; i++) {
        if (i % 20 == 0)
            random_slots(L);
        buf_clear(&text);
        struct exact expected = integer(&text, 1 + below(4));
        struct expr *e;
        struct err err = { 0 };
        struct val v, theirs;
        if (expr_compile(buf_text(&text), &scope, &e, &err))
            fail_msg("%s: %s", buf_text(&text), err.msg);
        bool here = expr_eval(e, slots, &v, &err) == 0;
        if (here == expected.fails || (here && !same(v, val_int((int64_t)expected.v))))
            fail_msg("%s: %s %lld, the oracle: %s %lld", buf_text(&text), here ? "value" : err.msg, here ? (long long)v.i : 0,
                     expected.fails ? "none" : "value", expected.fails ? 0 : (long long)expected.v);
        if (here && (!lua_value(L, buf_text(&text), &theirs) || !same(v, theirs)))
            fail_msg("%s: %lld, and not so in Lua", buf_text(&text), (long long)v.i);
        values += here;
        overflows += !here && strstr(err.msg, "integer overflow");
        expr_free(e);
    }
    print_message("%d of %d expressions have a value, %d overflow\n", values, INTEGER_ROUNDS, overflows);
    assert_true(values > INTEGER_ROUNDS / 3);
    assert_true(overflows > INTEGER_ROUNDS / 50);
    buf_free(&text);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_lua),
        cmocka_unit_test(test_integers_against_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
