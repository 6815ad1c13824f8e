/* Runs compiled expressions. Integers and comparisons of integers are done here; what is rarer, and every failure, in operate(). */
#include "expr/code.h"

static inline bool integers(const struct val *x, const struct val *y)
{
    return x->type == VAL_INT && y->type == VAL_INT;
}

/* A case that finds its everyday operands ends in `continue`; what is left over, and every failure, goes through the end of the loop
 * to operate(). */
const struct val *expr_run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct failure *f)
{
    const struct val *const base[3] = { [IN_TEMP] = temps, [IN_SLOT] = slots, [IN_CONST] = e->consts };

    for (const struct instr *in = e->code;; in++) {
        const struct val *x = base[in->x_in] + in->x, *y = base[in->y_in] + in->y;
        struct val *dst = &temps[in->dst];
        enum fault fault = FAULT_BOOLEAN;
        int64_t r;
        switch ((enum opcode)in->op) {
        case OP_ADD:
            if (!integers(x, y) || __builtin_add_overflow(x->i, y->i, &r))
                break;
            *dst = val_int(r);
            continue;
        case OP_SUB:
            if (!integers(x, y) || __builtin_sub_overflow(x->i, y->i, &r))
                break;
            *dst = val_int(r);
            continue;
        case OP_MUL:
            if (!integers(x, y) || __builtin_mul_overflow(x->i, y->i, &r))
                break;
            *dst = val_int(r);
            continue;
        case OP_MOD:
            if (!integers(x, y) || x->i < 0 || x->i > UINT32_MAX || y->i <= 0 || y->i > UINT32_MAX)
                break;
            *dst = val_int((uint32_t)x->i % (uint32_t)y->i); /* the short division is the faster one */
            continue;
        case OP_LT:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i < y->i);
            continue;
        case OP_LE:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i <= y->i);
            continue;
        case OP_GT:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i > y->i);
            continue;
        case OP_GE:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i >= y->i);
            continue;
        case OP_EQ:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i == y->i);
            continue;
        case OP_NE:
            if (!integers(x, y))
                break;
            *dst = val_bool(x->i != y->i);
            continue;
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
        *f = (struct failure){ .fault = fault, .at = e->at[in - e->code], .x = *x, .y = *y };
        return NULL;
    }
}
