/* Runs compiled expressions, and says why one fails. The flow is done here, all the rest, and every failure, by operate(). */
#include <stdio.h>
#include <string.h>

#include "expr/code.h"

int fault_at(struct err *err, const char *text, size_t at, const char *what)
{
    enum { QUOTE = 24 };
    if (!text[at])
        return err_set(err, ERR_INVALID, "column %zu: %s at the end", at + 1, what);
    bool longer = strlen(text + at) > QUOTE;
    return err_set(err, ERR_INVALID, "column %zu: %s at '%.*s%s'", at + 1, what, QUOTE, text + at, longer ? "..." : "");
}

/* The name of a type, with its article. */
static const char *type_name(const struct val *v)
{
    static const char *const names[] = { "nothing", "a boolean", "an integer", "a float", "a string" };
    return names[v->type];
}

/* Why instruction `in` fails over x and y. Listing a space evaluates millions of times, and never asks why: then err is null. */
static void explain(const struct expr *e, const struct instr *in, enum fault fault, const struct val *x, const struct val *y,
                    struct err *err)
{
    static const char *const texts[] = {
        [FAULT_OVERFLOW] = "integer overflow",
        [FAULT_ZERO] = "division by zero",
        [FAULT_INFINITE] = "the result is not a finite number",
        [FAULT_SHIFT] = "a shift count has to be 0 to 63",
        [FAULT_DOMAIN] = "the last argument has to be positive",
        [FAULT_TYPE_NAME] = "sizeof takes an element type, such as f32",
        [FAULT_ARITHMETIC] = "arithmetic takes numbers, not %s",
        [FAULT_BOOLEAN] = "a boolean is needed, not %s",
        [FAULT_WHOLE] = "an integer is needed, not %s",
        [FAULT_COMPARISON] = "%s cannot be compared with %s",
    };
    char what[128];
    int64_t whole;
    if (!err)
        return;
    bool x_fits =
        fault == FAULT_WHOLE ? val_whole(x, &whole) : fault == FAULT_ARITHMETIC && (x->type == VAL_INT || x->type == VAL_FLOAT);
    snprintf(what, sizeof what, texts[fault], type_name(x_fits ? y : x), type_name(y));
    if (fault == FAULT_COMPARISON && x->type == VAL_BOOL && y->type != VAL_BOOL) /* Python's chain */
        strcat(what, " (a < b < c is written a < b and b < c)");
    fault_at(err, e->text, in->at, what);
}

/* The value is a temporary, a slot or a constant; it is not copied, as that would take as long as the expression. Null if it fails, which
 * is always ERR_INVALID. A case that can do the operation itself ends in `continue`; else `break` leads to operate(). */
static const struct val *run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct err *err)
{
    const struct val *const base[3] = { [IN_TEMP] = temps, [IN_SLOT] = slots, [IN_CONST] = e->consts };

    for (const struct instr *in = e->code;; in++) {
        const struct val *x = base[in->x_in] + in->x, *y = base[in->y_in] + in->y;
        struct val *dst = &temps[in->dst];
        enum fault fault = FAULT_BOOLEAN;
        if (operate_quickly((enum opcode)in->op, x, y, dst))
            continue;
        switch ((enum opcode)in->op) {
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
        explain(e, in, fault, x, y, err);
        return NULL;
    }
}

int expr_eval(const struct expr *e, const struct val *slots, struct val *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    const struct val *v = run(e, slots, temps, err);
    if (!v)
        return ERR_INVALID;
    *out = *v;
    return 0;
}

int expr_int(const struct expr *e, const struct val *slots, int64_t *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    const struct val *v = run(e, slots, temps, err);
    if (v && !val_whole(v, out))
        return err_set(err, ERR_INVALID, "an integer is needed, and '%s' is %s", e->text, type_name(v));
    return v ? 0 : ERR_INVALID;
}

int expr_bool(const struct expr *e, const struct val *slots, bool *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    const struct val *v = run(e, slots, temps, err);
    if (v && v->type != VAL_BOOL)
        return err_set(err, ERR_INVALID, "a boolean is needed, and '%s' is %s", e->text, type_name(v));
    if (v)
        *out = v->b;
    return v ? 0 : ERR_INVALID;
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
