/* A Lua state that a script can do little harm with: no files, no processes, no modules, no metatables, no binary chunks; memory
 * and instructions are limited. The limits stop ordinary mistakes, not every hostile script (one call into string.find can run for
 * hours without an instruction): who cannot trust a script runs this in a child process with a deadline. */
#ifndef OP_HOST_H
#define OP_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "expr/val.h"

struct host;

struct host_limits {
    size_t memory;        /* bytes */
    int64_t instructions; /* of all calls together; past it each further step raises an error */
};

int host_open(const struct host_limits *limits, struct host **out, struct err *err);
void host_close(struct host *h); /* null is fine */
lua_State *host_lua(struct host *h);

/* Runs a text chunk and leaves `results` values on the stack. `name` is how messages call it, "NAME:LINE: ...". */
int host_run(struct host *h, const char *name, const char *text, size_t bytes, int results, struct err *err);

/* Calls f(arg) where Lua may raise errors (memory, in the first place). The top `values` of the stack become the whole stack that f
 * sees, and are gone afterwards. What f returns is returned, and it sets err itself; an error that Lua raised is ERR_INVALID with its
 * message, ERR_NOMEM where memory ended. */
int host_protect(struct host *h, int values, int (*f)(lua_State *L, void *arg), void *arg, struct err *err);

/* Pushes a value of the expression language. May raise a memory error, as every push of a string. */
void host_push(lua_State *L, struct val v);

#endif
