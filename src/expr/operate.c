/* The operations. They do what Lua 5.4 does, but fail if Lua would wrap around, give inf or nan, or convert a string. */
#include <math.h>
#include <string.h>

#include "expr/code.h"

static bool number(const struct val *v)
{
    return v->type == VAL_INT || v->type == VAL_FLOAT;
}
static double as_float(const struct val *v)
{
    return v->type == VAL_INT ? (double)v->i : v->f;
}

/* All that divides: a // b and a % b, rounded towards minus infinity as in Lua, ceildiv and alignup. The processor's division of the
 * smallest integer by -1 traps, so that is done as 0 - a. */
static enum fault divide(enum opcode op, int64_t a, int64_t b, int64_t *r)
{
    if (b == 0)
        return FAULT_ZERO;
    if (op == OP_ALIGNUP && b < 0)
        return FAULT_DOMAIN;
    bool overflow = false;
    int64_t past = b == -1 ? 0 : a % b, down = b == -1 ? 0 : a / b;
    if (past && (past < 0) != (b < 0)) {
        past += b;
        down--;
    }
    if (op == OP_MOD)
        *r = past;
    else if (op == OP_ALIGNUP)
        overflow = __builtin_add_overflow(a, past ? b - past : 0, r);
    else if (b == -1)
        overflow = __builtin_sub_overflow(0, a, r);
    else
        *r = down + (op == OP_CEILDIV && past);
    return overflow ? FAULT_OVERFLOW : FAULT_NONE;
}

/* An operation whose operands and result are integers. */
static enum fault of_integers(enum opcode op, int64_t a, int64_t b, int64_t *r)
{
    bool overflow = false;
    switch (op) {
    case OP_ADD:
        overflow = __builtin_add_overflow(a, b, r);
        break;
    case OP_SUB:
        overflow = __builtin_sub_overflow(a, b, r);
        break;
    case OP_MUL:
        overflow = __builtin_mul_overflow(a, b, r);
        break;
    case OP_NEG:
        overflow = __builtin_sub_overflow(0, a, r);
        break;
    case OP_ABS:
        *r = a;
        overflow = a < 0 && __builtin_sub_overflow(0, a, r);
        break;
    case OP_FLOOR:
        *r = a;
        break;
    case OP_BAND:
        *r = a & b;
        break;
    case OP_BOR:
        *r = a | b;
        break;
    case OP_BXOR:
        *r = a ^ b;
        break;
    case OP_BNOT:
        *r = ~a;
        break;
    case OP_SHL:
    case OP_SHR:
        if (b < 0 || b > 63)
            return FAULT_SHIFT;
        *r = (int64_t)(op == OP_SHL ? (uint64_t)a << b : (uint64_t)a >> b);
        break;
    case OP_LOG2:
        if (a <= 0)
            return FAULT_DOMAIN;
        *r = 63 - __builtin_clzll((unsigned long long)a);
        break;
    default:
        return divide(op, a, b, r);
    }
    return overflow ? FAULT_OVERFLOW : FAULT_NONE;
}

static enum fault of_floats(enum opcode op, double a, double b, double *r)
{
    if ((op == OP_DIV || op == OP_IDIV || op == OP_MOD) && b == 0)
        return FAULT_ZERO;
    switch (op) {
    case OP_ADD:
        *r = a + b;
        break;
    case OP_SUB:
        *r = a - b;
        break;
    case OP_MUL:
        *r = a * b;
        break;
    case OP_DIV:
        *r = a / b;
        break;
    case OP_IDIV:
        *r = floor(a / b);
        break;
    case OP_POW:
        *r = b == 2 ? a * a : pow(a, b);
        break;
    case OP_NEG:
        *r = -a;
        break;
    case OP_ABS:
        *r = fabs(a);
        break;
    case OP_FLOOR:
        *r = floor(a);
        break;
    default: /* OP_MOD: of the divisor's sign */
        *r = fmod(a, b);
        *r = *r != 0 && (*r < 0) != (b < 0) ? *r + b : *r;
    }
    return isfinite(*r) ? FAULT_NONE : FAULT_INFINITE;
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
    int o = equality ? !val_eq(*x, *y) : order(x, y);
    bool holds = op == OP_LT   ? o < 0
                 : op == OP_LE ? o <= 0
                 : op == OP_GT ? o > 0
                 : op == OP_GE ? o >= 0
                               : (o == 0) == (op == OP_EQ);
    *out = val_bool(holds);
    return FAULT_NONE;
}

static enum fault whole(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    int64_t a, b, r;
    if (!val_whole(x, &a) || !val_whole(y, &b))
        return FAULT_WHOLE;
    if (op == OP_ISPOW2) {
        *out = val_bool(a > 0 && (a & (a - 1)) == 0);
        return FAULT_NONE;
    }
    enum fault fault = of_integers(op, a, b, &r);
    if (!fault)
        *out = val_int(r);
    return fault;
}

static enum fault arithmetic(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    double f;
    int64_t i;
    if (!number(x) || !number(y))
        return FAULT_ARITHMETIC;
    if (op == OP_MIN || op == OP_MAX) {
        int o = order(x, y);
        *out = (op == OP_MIN ? o <= 0 : o >= 0) ? *x : *y;
        return FAULT_NONE;
    }
    if (x->type == VAL_INT && y->type == VAL_INT && op != OP_DIV && op != OP_POW)
        return whole(op, x, y, out);
    enum fault fault = of_floats(op, as_float(x), as_float(y), &f);
    if (fault)
        return fault;
    *out = val_float(f);
    if (op == OP_FLOOR && val_whole(out, &i)) /* else it is too large for an integer */
        *out = val_int(i);
    return FAULT_NONE;
}

enum fault operate(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    if (op <= OP_FLOOR)
        return arithmetic(op, x, y, out);
    if (op <= OP_ISPOW2)
        return whole(op, x, y, out);
    if (op <= OP_NE)
        return compare(op, x, y, out);
    if (op == OP_NOT) {
        if (x->type != VAL_BOOL)
            return FAULT_BOOLEAN;
        *out = val_bool(!x->b);
        return FAULT_NONE;
    }
    const struct dtype *type = x->type == VAL_STR ? dtype_find(x->s) : NULL; /* OP_SIZEOF */
    if (!type)
        return FAULT_TYPE_NAME;
    *out = val_int(type->bytes);
    return FAULT_NONE;
}
