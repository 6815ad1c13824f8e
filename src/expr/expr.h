/* The expression language: Lua expressions over integers, floats, strings and booleans, compiled once and evaluated in nanoseconds.
 *
 *   or   and   < > <= >= ~= ==   | ~ & << >>   + -   * / // %   unary: not - ~   ^      (Lua's precedence)
 *   names, device.NAME, 12, 0x1f, 1.5e3, 'text', "text", true, false, ( )
 *   ceildiv(a,b) min(a,...) max(a,...) abs(a) floor(a) sizeof(type name) log2(a) ispow2(a) alignup(a,b)
 *
 * It means what Lua 5.4 means wherever both are defined, with these differences, all errors with a position instead of values:
 * integer overflow, division or modulo by zero, comparison or arithmetic on mixed or wrong types, and / or / not over what is not a
 * boolean -- except Lua's `c and a or b`, which works where c is a boolean (a may be any value that is not false or nil).
 * `/` and `^` give floats. A float result that is not finite is an error. Shift counts are 0 to 63, else an error. Integers and
 * floats mix as in Lua. log2 is rounded down, an integer; alignup gives the first multiple of b from a on; sizeof takes a name of
 * the scope whose value is an element type, or an element type itself: sizeof(T), sizeof(f32). */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/err.h"
#include "expr/val.h"

/* Where names get their slots. Names are borrowed for the time of the compilation only. */
struct scope {
    const char *const *names; /* a dotted name such as "device.cc" is one name */
    int n;
};

struct expr; /* immutable: evaluated from any thread */

/* Compiles; the message names the place ("column 7: ...") and quotes what stands there. Nesting deeper than 200 is an error, where
 * the right side of an operator counts as much as a parenthesis; a chain such as `a and b and c` is not nested. */
int expr_compile(const char *text, const struct scope *scope, struct expr **out, struct err *err);
void expr_free(struct expr *e); /* null is fine */

/* slots[i] is the value of scope->names[i]; only slots that the text names are read. On failure *out is untouched; err may be null
 * where the caller only needs to know (no text is then formatted). The string of a result lives as long as e and the slots. */
int expr_eval(const struct expr *e, const struct val *slots, struct val *out, struct err *err);
/* The same, and the result must be an integer (a float with an integral value will do) or a boolean. */
int expr_int(const struct expr *e, const struct val *slots, int64_t *out, struct err *err);
int expr_bool(const struct expr *e, const struct val *slots, bool *out, struct err *err);

const char *expr_text(const struct expr *e);
/* The slots that it reads, ascending, each once; the array lives as long as e. */
const int *expr_slots(const struct expr *e, int *n);

#endif
