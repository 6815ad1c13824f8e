/* Replaces #include lines by the text of the files. */
#ifndef SOURCE_EXPAND_H
#define SOURCE_EXPAND_H

#include "base/buf.h"
#include "model/op.h"

/* Appends the text of a template, with the text of the files that it includes. The op carries those. #line lines keep the compiler's
 * messages at the lines of each file. `filled`: Lua made the text, so its lines are those of `out`. `bare`: for OpenCL C, which has no
 * headers for #include <...>. A missing file is an error if its #include is compiled: this function reports it if there is no #if around
 * it, else the compiler does (#error). */
int include_expand(const struct op *op, const char *name, const char *text, bool filled, bool bare, struct buf *out,
                   struct err *err);

#endif
