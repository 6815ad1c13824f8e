/* The operations. They do what Lua 5.4 does, but fail if Lua would wrap around, give inf or nan, or convert a string. */
#include <math.h>
#include <string.h>

#include "expr/code.h"
#include "expr/dtype.h"

static bool number(const struct val *v)
{
    return v->type == VAL_INT || v->type == VAL_FLOAT;
}
static double as_float(const struct val *v)
{
    return v->type == VAL_INT ? (double)v->i : v->f;
}

static enum fault give_float(double f, struct val *out)
{
    if (!isfinite(f))
        return FAULT_INFINITE;
    *out = val_float(f);
    return FAULT_NONE;
}

static enum fault give_int(bool overflow, int64_t i, struct val *out)
{
    if (overflow)
        return FAULT_OVERFLOW;
    *out = val_int(i);
    return FAULT_NONE;
}

/* Rounds towards minus infinity. b must not be 0, and a / b must fit. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t m = a % b;
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

/* 0 - a. It is used for a / -1, too, because the division of the smallest integer by -1 traps. */
static enum fault negative(int64_t a, struct val *out)
{
    int64_t r;
    bool overflow = __builtin_sub_overflow(0, a, &r);
    return give_int(overflow, r, out);
}

static enum fault int_arithmetic(enum opcode op, int64_t a, int64_t b, struct val *out)
{
    int64_t r = 0;
    bool overflow = false;
    if ((op == OP_IDIV || op == OP_MOD) && b == 0)
        return FAULT_ZERO;
    switch (op) {
    case OP_ADD:
        overflow = __builtin_add_overflow(a, b, &r);
        break;
    case OP_SUB:
        overflow = __builtin_sub_overflow(a, b, &r);
        break;
    case OP_MUL:
        overflow = __builtin_mul_overflow(a, b, &r);
        break;
    case OP_IDIV:
        if (b == -1)
            return negative(a, out);
        r = floor_div(a, b);
        break;
    default: /* OP_MOD */
        r = b == -1 ? 0 : floor_mod(a, b);
        break;
    }
    return give_int(overflow, r, out);
}

static enum fault float_arithmetic(enum opcode op, double a, double b, struct val *out)
{
    double m;
    if ((op == OP_DIV || op == OP_IDIV || op == OP_MOD) && b == 0)
        return FAULT_ZERO;
    switch (op) {
    case OP_ADD:
        return give_float(a + b, out);
    case OP_SUB:
        return give_float(a - b, out);
    case OP_MUL:
        return give_float(a * b, out);
    case OP_DIV:
        return give_float(a / b, out);
    case OP_IDIV:
        return give_float(floor(a / b), out);
    case OP_POW:
        return give_float(b == 2 ? a * a : pow(a, b), out);
    default: /* OP_MOD: of the divisor's sign */
        m = fmod(a, b);
        return give_float(m != 0 && (m < 0) != (b < 0) ? m + b : m, out);
    }
}

static enum fault arithmetic(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    if (!number(x) || !number(y))
        return FAULT_ARITHMETIC;
    if (x->type == VAL_INT && y->type == VAL_INT && op != OP_DIV && op != OP_POW)
        return int_arithmetic(op, x->i, y->i, out);
    return float_arithmetic(op, as_float(x), as_float(y), out);
}

static enum fault bits(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    int64_t a, b;
    if (!val_whole(x, &a) || !val_whole(y, &b))
        return FAULT_WHOLE;
    if ((op == OP_SHL || op == OP_SHR) && (b < 0 || b > 63))
        return FAULT_SHIFT;
    uint64_t u = (uint64_t)a, v = (uint64_t)b, r;
    switch (op) {
    case OP_BAND:
        r = u & v;
        break;
    case OP_BOR:
        r = u | v;
        break;
    case OP_BXOR:
        r = u ^ v;
        break;
    case OP_SHL:
        r = u << v;
        break;
    default: /* OP_SHR */
        r = u >> v;
        break;
    }
    *out = val_int((int64_t)r);
    return FAULT_NONE;
}

/* The order of an integer and a float, exactly: no integer is rounded. There are no nans here. */
static int order_int_float(int64_t i, double f)
{
    if (f >= 0x1p63)
        return -1;
    if (!(f >= -0x1p63))
        return 1;
    int64_t whole = (int64_t)floor(f);
    if (i != whole)
        return i < whole ? -1 : 1;
    return floor(f) < f ? -1 : 0;
}

/* -1, 0, 1; both are numbers, or both strings. */
static int order(const struct val *x, const struct val *y)
{
    if (x->type == VAL_STR) {
        int d = strcmp(x->s, y->s);
        return (d > 0) - (d < 0);
    }
    if (x->type == VAL_INT && y->type == VAL_INT)
        return (x->i > y->i) - (x->i < y->i);
    if (x->type == VAL_INT)
        return order_int_float(x->i, y->f);
    if (y->type == VAL_INT)
        return -order_int_float(y->i, x->f);
    return (x->f > y->f) - (x->f < y->f);
}

static enum fault compare(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    bool alike = x->type == y->type || (number(x) && number(y));
    bool ordered = number(x) || x->type == VAL_STR;
    bool equality = op == OP_EQ || op == OP_NE;
    if (!alike || x->type == VAL_NIL || (!equality && !ordered))
        return FAULT_COMPARISON;
    if (equality) {
        *out = val_bool(val_eq(*x, *y) == (op == OP_EQ));
        return FAULT_NONE;
    }
    int o = order(x, y);
    *out = val_bool(op == OP_LT ? o < 0 : op == OP_LE ? o <= 0 : op == OP_GT ? o > 0 : o >= 0);
    return FAULT_NONE;
}

static enum fault smaller_or_larger(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    if (!number(x) || !number(y))
        return FAULT_ARITHMETIC;
    int o = order(x, y);
    *out = (op == OP_MIN ? o <= 0 : o >= 0) ? *x : *y;
    return FAULT_NONE;
}

/* ceildiv(a, b), and alignup(a, b): the first multiple of b from a on. */
static enum fault round_up(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    int64_t a, b, r;
    if (!val_whole(x, &a) || !val_whole(y, &b))
        return FAULT_WHOLE;
    if (b == 0)
        return FAULT_ZERO;
    if (op == OP_CEILDIV) {
        if (b == -1)
            return negative(a, out);
        return give_int(false, a / b + (a % b != 0 && (a < 0) == (b < 0)), out);
    }
    if (b < 0)
        return FAULT_DOMAIN;
    int64_t past = floor_mod(a, b);
    bool overflow = __builtin_add_overflow(a, past ? b - past : 0, &r);
    return give_int(overflow, r, out);
}

static enum fault negate(const struct val *x, struct val *out)
{
    if (x->type == VAL_INT)
        return negative(x->i, out);
    if (x->type != VAL_FLOAT)
        return FAULT_ARITHMETIC;
    *out = val_float(-x->f);
    return FAULT_NONE;
}

static enum fault absolute(const struct val *x, struct val *out)
{
    if (x->type == VAL_INT ? x->i < 0 : x->type != VAL_FLOAT)
        return negate(x, out);
    *out = x->type == VAL_INT ? *x : val_float(fabs(x->f));
    return FAULT_NONE;
}

static enum fault round_down(const struct val *x, struct val *out)
{
    if (!number(x))
        return FAULT_ARITHMETIC;
    struct val f = x->type == VAL_FLOAT ? val_float(floor(x->f)) : *x;
    int64_t i;
    *out = val_whole(&f, &i) ? val_int(i) : f;
    return FAULT_NONE;
}

static enum fault powers_of_two(enum opcode op, const struct val *x, struct val *out)
{
    int64_t i;
    if (!val_whole(x, &i))
        return FAULT_WHOLE;
    if (op == OP_ISPOW2) {
        *out = val_bool(i > 0 && (i & (i - 1)) == 0);
        return FAULT_NONE;
    }
    if (i <= 0)
        return FAULT_DOMAIN;
    *out = val_int(63 - __builtin_clzll((unsigned long long)i));
    return FAULT_NONE;
}

static enum fault type_size(const struct val *x, struct val *out)
{
    const struct dtype *type = x->type == VAL_STR ? dtype_find(x->s) : NULL;
    if (!type)
        return FAULT_TYPE_NAME;
    *out = val_int(type->bytes);
    return FAULT_NONE;
}

enum fault operate(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    int64_t i;
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_IDIV:
    case OP_MOD:
    case OP_POW:
        return arithmetic(op, x, y, out);
    case OP_BAND:
    case OP_BOR:
    case OP_BXOR:
    case OP_SHL:
    case OP_SHR:
        return bits(op, x, y, out);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE:
        return compare(op, x, y, out);
    case OP_CEILDIV:
    case OP_ALIGNUP:
        return round_up(op, x, y, out);
    case OP_MIN:
    case OP_MAX:
        return smaller_or_larger(op, x, y, out);
    case OP_NEG:
        return negate(x, out);
    case OP_NOT:
        if (x->type != VAL_BOOL)
            return FAULT_BOOLEAN;
        *out = val_bool(!x->b);
        return FAULT_NONE;
    case OP_BNOT:
        if (!val_whole(x, &i))
            return FAULT_WHOLE;
        *out = val_int(~i);
        return FAULT_NONE;
    case OP_ABS:
        return absolute(x, out);
    case OP_FLOOR:
        return round_down(x, out);
    case OP_SIZEOF:
        return type_size(x, out);
    case OP_LOG2:
    case OP_ISPOW2:
        return powers_of_two(op, x, out);
    default: /* the flow is run.c's */
        return FAULT_DOMAIN;
    }
}
