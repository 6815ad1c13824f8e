/* Expressions: found among the translated ones instead of compiled. */
#include "export/embedded/embedded.h"

#include <string.h>

#include "base/mem.h"

/* What callers hold: the part that eval.c reads, and what runs. */
struct translated {
    struct expr e;
    const struct formula *formula;
};

static bool fits(const struct formula *f, const struct scope *scope)
{
    for (int i = 0; i < f->nslots; i++)
        if (f->slots[i] >= scope->n || strcmp(scope->names[f->slots[i]], f->names[i]))
            return false;
    return true;
}

/* The first of those with the text, -1: there is none. */
static int first_of(const char *text)
{
    int low = 0, high = embedded_nformulas;
    while (low < high) {
        int mid = (low + high) / 2;
        if (strcmp(embedded_formulas[mid].text, text) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < embedded_nformulas && !strcmp(embedded_formulas[low].text, text) ? low : -1;
}

int expr_compile(const char *text, const struct scope *scope, struct expr **out, struct err *err)
{
    int i = first_of(text);
    while (i >= 0 && i < embedded_nformulas && !strcmp(embedded_formulas[i].text, text) && !fits(&embedded_formulas[i], scope))
        i++;
    if (i < 0 || i == embedded_nformulas || strcmp(embedded_formulas[i].text, text))
        return err_set(err, ERR_CORRUPT, "`%s` was not exported", text);
    struct translated *t = mem_zalloc(sizeof *t);
    if (!t)
        return err_nomem(err);
    const struct formula *f = &embedded_formulas[i];
    *t = (struct translated){ { .text = (char *)f->text, .slots = (int *)f->slots, .nslots = f->nslots }, f };
    *out = &t->e;
    return 0;
}

void expr_free(struct expr *e)
{
    mem_free(e); /* it begins its struct translated */
}

const struct val *expr_run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct failure *f)
{
    const struct translated *t = (const struct translated *)e;
    return t->formula->run(slots, temps, f) ? temps : NULL;
}
