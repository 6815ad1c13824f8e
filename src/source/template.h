/* The template language. A line that begins with //@ is Lua. In other lines $(EXPRESSION) is replaced by its value. */
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

/* Whether the text has any Lua to run or replace. */
bool template_has_lua(const char *text);
/* Writes the filled template to out. Error messages begin with "NAME:LINE: ". */
int template_fill(const char *name, const char *text, const struct template_var *vars, int nvars, struct buf *out, struct err *err);

#endif
