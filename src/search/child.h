/* The child's side of a search, private to this folder: a strategy in its Lua state, and what a search and its child say to each
 * other over a socket pair.
 *
 * A message is a 32-bit length and that many bytes, in the wire form of base/buf.h; the first tells its kind:
 *   parent to child   TELL     i64 index, u8 outcome, f64 time_ns    not answered
 *                     ASK      u32 k                                 answered by INDICES, DONE or ERROR
 *   child to parent   READY                                          once, when the strategy is loaded; or ERROR
 *                     INDICES  u32 n, then n times i64
 *                     DONE
 *                     ERROR    u8 whether memory ran out, a line     and the child ends */
#ifndef SEARCH_CHILD_H
#define SEARCH_CHILD_H

#include <lua.h>
#include <sys/types.h>

#include "base/buf.h"
#include "search/search.h"

enum message { WIRE_TELL = 1, WIRE_ASK, WIRE_READY, WIRE_INDICES, WIRE_ERROR, WIRE_DONE };

enum { MAX_ASK = 1 << 16, MAX_MESSAGE = 16 + 8 * MAX_ASK };

struct strategy {
    const char *file; /* as messages name it */
    const char *script;
    size_t script_len;
    const struct space *space;
    uint64_t seed;
};

/* The whole life of the child: loads the strategy, then answers until the socket is closed. */
_Noreturn void child_main(int socket, const struct strategy *s);

/* A search on a socket at whose other end a child is. It owns both from now on, also where this fails. For search_open, and for
 * tests that answer themselves (pid 0: there is no process to end). */
int search_adopt(const char *file, pid_t pid, int fd, int64_t count, const struct space_bounds *bounds, struct search **out,
                 struct err *err);

/* lua_space.c: pushes the object `space` of search.h, and sets the global random(n). */
void lua_push_space(lua_State *L, const struct space *space);
void lua_set_random(lua_State *L, uint64_t seed);

#endif
