/* The template language: a line whose first characters are //@ is a line of Lua, elsewhere $(EXPRESSION) is replaced by its value. */
#ifndef SOURCE_TEMPLATE_H
#define SOURCE_TEMPLATE_H

#include "base/buf.h"
#include "base/err.h"
#include "expr/val.h"

/* A global variable of the template's Lua. */
struct template_var {
    const char *name;
    struct val value;
};

/* Whether there is anything to run or replace. */
bool template_has_lua(const char *text);
/* Puts the filled template into out. Messages begin with "NAME:LINE: ". */
int template_fill(const char *name, const char *text, const struct template_var *vars, int nvars, struct buf *out, struct err *err);

#endif
