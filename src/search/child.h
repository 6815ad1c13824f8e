/* The child's side of a search, private to this folder: a strategy in its Lua state, and the frames between a search and its child:
 *   parent to child   TELL     i64 index, u8 outcome, f64 time_ns    not answered
 *                     ASK      u32 k                                 answered by INDICES, DONE or ERROR
 *   child to parent   READY                                          once, when the strategy is loaded; or ERROR
 *                     INDICES  u32 n, then n times i64
 *                     DONE
 *                     ERROR    as failed_put writes it               and the child ends */
#ifndef SEARCH_CHILD_H
#define SEARCH_CHILD_H

#include "child/child.h"
#include "search/search.h"

enum message { WIRE_ERROR = FRAME_FAILED, WIRE_TELL, WIRE_ASK, WIRE_READY, WIRE_INDICES, WIRE_DONE };

enum { MAX_ASK = 1 << 16 };

struct strategy {
    const char *file; /* as messages name it */
    struct buf script;
    const struct space *space;
    uint64_t seed;
};

/* The whole life of the child: loads the strategy (a struct strategy), then answers until the channel is closed. */
void strategy_live(struct channel *c, void *strategy);

/* A search whose child is there already. It owns both from now on, and if this fails, too. For search_open, and for tests that
 * answer themselves (then there is no process). */
int search_adopt(const char *file, const struct forked *child, int64_t count, const struct space_bounds *bounds,
                 struct search **out, struct err *err);

#endif
