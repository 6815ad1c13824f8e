/* Runs compiled expressions. Integers and comparisons of integers are done here; what is rarer, and every failure, in operate(). */
#include <stdio.h>
#include <string.h>

#include "expr/code.h"

/* What a failed evaluation leaves behind, to make a message of where one is wanted. */
struct failure {
    enum fault fault;
    size_t at;
    struct val x, y;
};

static inline bool integers(const struct val *x, const struct val *y)
{
    return x->type == VAL_INT && y->type == VAL_INT;
}

/* Runs e. The result is a temporary, a slot or a constant; null with *f filled where it fails. A case that finds its everyday
 * operands ends in `continue`; what is left over, and every failure, goes through the end of the loop to operate(). */
static const struct val *run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct failure *f)
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

/* With its article. */
static const char *type_name(const struct val *v)
{
    static const char *const names[] = { "nothing", "a boolean", "an integer", "a float", "a string" };
    return names[v->type];
}

static int explain(const struct expr *e, const struct failure *f, struct err *err)
{
    if (!err) /* an enumeration asks millions of times, and never why */
        return ERR_INVALID;
    char what[128];
    int64_t whole;
    const char *x = type_name(&f->x), *y = type_name(&f->y);
    static const char *const fixed[] = {
        [FAULT_OVERFLOW] = "integer overflow",
        [FAULT_ZERO] = "division by zero",
        [FAULT_INFINITE] = "the result is not a finite number",
        [FAULT_SHIFT] = "a shift count has to be 0 to 63",
        [FAULT_DOMAIN] = "the last argument has to be positive",
        [FAULT_TYPE_NAME] = "sizeof takes an element type, such as f32",
    };
    switch (f->fault) {
    case FAULT_ARITHMETIC:
        snprintf(what, sizeof what, "arithmetic takes numbers, not %s", f->x.type == VAL_INT || f->x.type == VAL_FLOAT ? y : x);
        break;
    case FAULT_COMPARISON:
        snprintf(what, sizeof what, "%s cannot be compared with %s", x, y);
        break;
    case FAULT_BOOLEAN:
        snprintf(what, sizeof what, "a boolean is needed, not %s", x);
        break;
    case FAULT_WHOLE:
        snprintf(what, sizeof what, "an integer is needed, not %s", val_whole(&f->x, &whole) ? y : x);
        break;
    default:
        snprintf(what, sizeof what, "%s", fixed[f->fault]);
    }
    return fault_at(err, e->text, f->at, what);
}

int expr_eval(const struct expr *e, const struct val *slots, struct val *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    struct failure f;
    const struct val *v = run(e, slots, temps, &f);
    if (!v)
        return explain(e, &f, err);
    *out = *v;
    return 0;
}

int expr_int(const struct expr *e, const struct val *slots, int64_t *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    struct failure f;
    const struct val *v = run(e, slots, temps, &f);
    if (!v)
        return explain(e, &f, err);
    if (!val_whole(v, out))
        return err_set(err, ERR_INVALID, "an integer is needed, and '%s' is %s", e->text, type_name(v));
    return 0;
}

int expr_bool(const struct expr *e, const struct val *slots, bool *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    struct failure f;
    const struct val *v = run(e, slots, temps, &f);
    if (!v)
        return explain(e, &f, err);
    if (v->type != VAL_BOOL)
        return err_set(err, ERR_INVALID, "a boolean is needed, and '%s' is %s", e->text, type_name(v));
    *out = v->b;
    return 0;
}

const char *expr_text(const struct expr *e)
{
    return e->text;
}

const int *expr_slots(const struct expr *e, int *n)
{
    *n = e->nslots;
    return e->slots;
}
