/* The expression language: Lua expressions over integers, floats, strings and booleans. They are compiled once, and evaluated in
 * nanoseconds.
 *
 *   or   and   < > <= >= ~= ==   | ~ & << >>   + -   * / // %   unary: not - ~   ^      (Lua's precedence)
 *   names, device.NAME, 12, 0x1f, 1.5e3, 'text', "text", true, false, ( )
 *   ceildiv(a,b) min(a,...) max(a,...) abs(a) floor(a) sizeof(type name) log2(a) ispow2(a) alignup(a,b)
 *
 * An expression has the value that Lua 5.4 gives it. But these are errors, with their position: integer overflow; division or modulo by
 * zero; a float result that is not finite; a shift count that is not 0 to 63; comparison or arithmetic on values of the wrong types; and
 * `and`, `or`, `not` over what is not a boolean. Lua's `c and a or b` works if c is a boolean; a may be any value but false and nil.
 *
 * `/` and `^` give floats, and integers and floats mix, as in Lua. log2 is an integer, rounded down. alignup(a,b) is the first multiple of b
 * that is not less than a. sizeof takes an element type, or a name in the scope whose value is one: sizeof(f32), sizeof(T). */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/err.h"
#include "expr/val.h"

/* The names that an expression may use; the i-th has slot i. They are needed only while it is compiled. */
struct scope {
    const char *const *names; /* a dotted name such as "device.cc" is one name */
    int n;
    const char *const *late; /* names of what callers give only at a launch, for the message */
    int nlate;
};

struct expr; /* does not change, so any thread may evaluate it */

/* Compiles a text; the message of an error names the place ("column 7: ...") and quotes what stands there. Nesting deeper than 200 is an
 * error: parentheses and right sides of operators are nested, a chain such as `a and b and c` is not. */
int expr_compile(const char *text, const struct scope *scope, struct expr **out, struct err *err);
void expr_free(struct expr *e); /* null is fine */

/* slots[i] is the value of scope->names[i]; only slots that the text names are read. A failure leaves *out as it is. If err is null, no
 * message is made, which is faster. The string of a result lives as long as e and the slots. */
int expr_eval(const struct expr *e, const struct val *slots, struct val *out, struct err *err);
/* The same, and the result must be an integer (a float with an integral value will do) or a boolean. */
int expr_int(const struct expr *e, const struct val *slots, int64_t *out, struct err *err);
int expr_bool(const struct expr *e, const struct val *slots, bool *out, struct err *err);

bool expr_function(const char *name); /* whether it is one of the language's */

/* Names that have a value already. */
struct bound_names {
    const char *const *names;
    const struct val *values;
    int n;
};
/* Appends what is left of a text that compiles: `SWAP and TILE_N or TILE_M` is 64. Where the text has a value for the other names, what is left
 * has the same. A text that would be longer stays as it is. */
void expr_fold(const char *text, const struct bound_names *known, struct buf *out);

const char *expr_text(const struct expr *e);
/* The slots that it reads, ascending, each once; the array lives as long as e. */
const int *expr_slots(const struct expr *e, int *n);

#endif
