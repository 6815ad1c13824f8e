/* A Lua state that a script can do little harm with: no files, no processes, no modules, no binary chunks; memory and instructions are
 * limited. The limits stop ordinary mistakes, not every hostile script (one call of string.find can run for hours without an
 * instruction). If a script cannot be trusted, run this in a child process with a deadline. */
#ifndef LUA_SANDBOX_H
#define LUA_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "base/err.h"
#include "expr/val.h"

struct sandbox_rules {
    const char *what;     /* "script", as messages call it */
    size_t memory;        /* bytes */
    int64_t instructions; /* past it each further step raises an error; 0: no limit */
    bool program;         /* it may use coroutines and metatables, too */
    bool expressions;     /* what it says are expressions, as texts: messages tell who forgets the quotes */
};

/* Runs f(L, arg) in a new state. Whatever raises a Lua error in f ends it, with the error in err: ERR_NOMEM if memory ended, what
 * sandbox_check was given, else ERR_INVALID. Messages begin with the path, and the line if Lua knows it. */
int sandbox_run(const struct sandbox_rules *rules, const char *path, void (*f)(lua_State *L, void *arg), void *arg,
                struct err *err);

/* What f calls: it runs a text chunk and leaves `results` values on the stack. `name` is how messages call it; null: as the path. */
void sandbox_text(lua_State *L, const char *name, const char *text, size_t bytes, int results);
/* For f's calls of functions that return codes: the err to give them; and unless rc is 0, what is in it is raised as a Lua error. */
struct err *sandbox_err(lua_State *L);
void sandbox_check(lua_State *L, int rc);

/* Values of the expression language. A string that was read lives as long as Lua's value; what is no value of it is read as nil. */
void sandbox_push(lua_State *L, struct val v);
struct val sandbox_val(lua_State *L, int at);

/* Puts the path in front of a message that does not begin with it, or with the file's name in it. */
void script_place(const char *path, struct err *err);

#endif
