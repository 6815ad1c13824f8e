/* Runs compiled expressions. What is frequent, arithmetic and comparisons of integers, is done here; all the rest, and every failure, by
 * operate(). */
#include "expr/code.h"

static inline bool integers(const struct val *x, const struct val *y)
{
    return x->type == VAL_INT && y->type == VAL_INT;
}

#define ARITHMETIC(operation, overflows)                                                                                           \
    case operation:                                                                                                                \
        if (!integers(x, y) || overflows(x->i, y->i, &r))                                                                          \
            break;                                                                                                                 \
        *dst = val_int(r);                                                                                                         \
        continue;
#define COMPARISON(operation, sign)                                                                                                \
    case operation:                                                                                                                \
        if (!integers(x, y))                                                                                                       \
            break;                                                                                                                 \
        *dst = val_bool(x->i sign y->i);                                                                                           \
        continue;

/* A case that can do the operation itself ends in `continue`; else `break` leads to operate(). */
const struct val *expr_run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct failure *f)
{
    const struct val *const base[3] = { [IN_TEMP] = temps, [IN_SLOT] = slots, [IN_CONST] = e->consts };

    for (const struct instr *in = e->code;; in++) {
        const struct val *x = base[in->x_in] + in->x, *y = base[in->y_in] + in->y;
        struct val *dst = &temps[in->dst];
        enum fault fault = FAULT_BOOLEAN;
        int64_t r;
        switch ((enum opcode)in->op) {
            ARITHMETIC(OP_ADD, __builtin_add_overflow)
            ARITHMETIC(OP_SUB, __builtin_sub_overflow)
            ARITHMETIC(OP_MUL, __builtin_mul_overflow)
        case OP_MOD:
            if (!integers(x, y) || x->i < 0 || x->i > UINT32_MAX || y->i <= 0 || y->i > UINT32_MAX)
                break;
            *dst = val_int((uint32_t)x->i % (uint32_t)y->i); /* the short division is the faster one */
            continue;
            COMPARISON(OP_LT, <)
            COMPARISON(OP_LE, <=)
            COMPARISON(OP_GT, >)
            COMPARISON(OP_GE, >=)
            COMPARISON(OP_EQ, ==)
            COMPARISON(OP_NE, !=)
        case OP_AND:
        case OP_OR:
            if (x->type != VAL_BOOL)
                goto failed;
            if (x->b == (in->op == OP_OR)) {
                *dst = val_bool(x->b);
                in = e->code + in->to - 1;
            }
            continue;
        case OP_OR_ANY:
            if (x->type != VAL_BOOL || x->b) {
                *dst = *x;
                in = e->code + in->to - 1;
            }
            continue;
        case OP_BOOL:
            if (x->type != VAL_BOOL)
                goto failed;
            *dst = val_bool(x->b);
            continue;
        case OP_MOVE:
            *dst = *x;
            continue;
        case OP_RETURN:
            return x;
        default:
            break;
        }
        fault = operate((enum opcode)in->op, x, y, dst);
        if (fault == FAULT_NONE)
            continue;
    failed:
        *f = (struct failure){ .fault = fault, .at = in->at, .x = *x, .y = *y };
        return NULL;
    }
}
#undef ARITHMETIC
#undef COMPARISON
