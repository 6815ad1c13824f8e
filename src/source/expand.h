/* Included files put in the place of their #include lines. */
#ifndef SOURCE_EXPAND_H
#define SOURCE_EXPAND_H

#include "base/buf.h"
#include "model/op.h"

/* Appends the text of a template with the files that it includes, which the op carries; #line lines name each file and its lines for the
 * compiler's messages. `filled`: the text came of Lua, and its lines are those of `out`. `bare`: for OpenCL C, which has no headers for
 * #include <...>. A file that is missing is an error if its #include is compiled: said here if no #if is around it, else by the compiler
 * (#error). */
int include_expand(const struct op *op, const char *name, const char *text, bool filled, bool bare, struct buf *out,
                   struct err *err);

#endif
