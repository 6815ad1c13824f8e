/* From a template to the text of a kernel: its Lua is run, then the lines that include files are replaced by their text. */
#ifndef SOURCE_TEMPLATE_H
#define SOURCE_TEMPLATE_H

#include "base/buf.h"
#include "base/err.h"
#include "expr/val.h"
#include "model/op.h"

/* A global variable of the template's Lua. */
struct template_var {
    const char *name;
    struct val value;
};

/* A line that begins with //@ is Lua. In other lines $(EXPRESSION) is replaced by its value. Whether the text has any of this. */
bool template_has_lua(const char *text);
/* Writes the filled template to out. Error messages begin with "NAME:LINE: ". */
int template_fill(const char *name, const char *text, const struct template_var *vars, int nvars, struct buf *out, struct err *err);

/* How the text of a template is put into a source. */
struct expanding {
    const struct op *op; /* carries the files that are included */
    const char *name;    /* the template's */
    bool filled;         /* Lua made the text, so its lines are those of the source */
    bool first;          /* of a source's files: then lines that Lua made need no #line */
    bool bare;           /* for OpenCL C, which has no headers for #include <...> */
    /* #define lines: undefined before an #include <...>, so that they hit nothing in it, and defined again after it. */
    const char *macros;
    const char *numbers; /* likewise, put in behind NUMBERS, and left there; may be null */
};

/* Appends the text of a template, with the text of the files that it includes. #line lines keep the compiler's messages at the lines of
 * each file. A missing file is an error if its #include is compiled: this function reports it if there is no #if around it, else the
 * compiler does (#error). */
int include_expand(const struct expanding *how, const char *text, struct buf *out, struct err *err);

#endif
