/* Expressions as C functions (struct formula of embedded/embedded.h). For export/ only. */
#ifndef EXPORT_C_EXPR_H
#define EXPORT_C_EXPR_H

#include "base/buf.h"
#include "expr/expr.h"
#include "model/plan.h"

/* A set of expressions: the same text over the same slots is in it once. */
struct c_formulas {
    struct arena *arena;
    int n;
    struct c_formula *all;
};

struct c_formula {
    const char *text;
    const int *slots;
    const char *const *names; /* of the slots */
    int nslots;
    struct buf body; /* of its function */
};

int c_formulas_open(struct c_formulas *f, struct err *err);
void c_formulas_free(struct c_formulas *f);
int c_formulas_add(struct c_formulas *f, const struct expr *e, const struct scope *scope, struct err *err);
int c_formulas_add_plan(struct c_formulas *f, const struct plan *p, struct err *err);
/* Their functions and embedded_formulas. */
void c_formulas_write(struct buf *out, struct c_formulas *f);

/* A string literal, in several lines where the text has them or is long; null: NULL. */
void c_text(struct buf *out, const char *s);
void c_bytes(struct buf *out, const void *bytes, size_t n);
/* struct val's initializer. */
void c_val(struct buf *out, struct val v);
void c_real(struct buf *out, double v);

#endif
