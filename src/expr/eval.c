/* Evaluates expressions, and says why one fails. run.c runs the code. */
#include <stdio.h>
#include <string.h>

#include "expr/code.h"

/* The name of a type, with its article. */
static const char *type_name(const struct val *v)
{
    static const char *const names[] = { "nothing", "a boolean", "an integer", "a float", "a string" };
    return names[v->type];
}

static int explain(const struct expr *e, const struct failure *f, struct err *err)
{
    if (!err) /* listing a space evaluates millions of times, and never asks why */
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

/* The value: a temporary, a slot or a constant; it is not copied, as that would take as long as the expression. Null after a failure; *rc
 * is then its code. */
static inline const struct val *run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], int *rc,
                                    struct err *err)
{
    struct failure f;
    const struct val *v = expr_run(e, slots, temps, &f);
    *rc = v ? 0 : explain(e, &f, err);
    return v;
}

int expr_eval(const struct expr *e, const struct val *slots, struct val *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    int rc;
    const struct val *v = run(e, slots, temps, &rc, err);
    if (v)
        *out = *v;
    return rc;
}

int expr_int(const struct expr *e, const struct val *slots, int64_t *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    int rc;
    const struct val *v = run(e, slots, temps, &rc, err);
    if (v && !val_whole(v, out))
        rc = err_set(err, ERR_INVALID, "an integer is needed, and '%s' is %s", e->text, type_name(v));
    return rc;
}

int expr_bool(const struct expr *e, const struct val *slots, bool *out, struct err *err)
{
    struct val temps[MAX_TEMPS];
    int rc;
    const struct val *v = run(e, slots, temps, &rc, err);
    if (v && v->type != VAL_BOOL)
        rc = err_set(err, ERR_INVALID, "a boolean is needed, and '%s' is %s", e->text, type_name(v));
    if (!rc)
        *out = v->b;
    return rc;
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
