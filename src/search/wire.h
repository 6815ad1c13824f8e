/* What a search and its child say to each other over a socket pair, private to this folder. A message is a 32-bit length and that
 * many bytes, the first of which tells its kind; the values are in the wire form of base/buf.h.
 *
 *   parent to child   TELL  i64 index, u8 outcome, f64 time_ns      no answer
 *                     ASK   u32 k                                   answered by INDICES or ERROR
 *   child to parent   READY                                         once, when the strategy is loaded (or ERROR)
 *                     INDICES  u32 n, n times i64
 *                     ERROR    text                                 one line; the child then ends */
#ifndef SEARCH_WIRE_H
#define SEARCH_WIRE_H

#include "base/buf.h"
#include "space/space.h"

enum wire_kind { WIRE_TELL = 1, WIRE_ASK, WIRE_READY, WIRE_INDICES, WIRE_ERROR };

enum { MAX_ASK = 1 << 16, MAX_MESSAGE = 16 + 8 * MAX_ASK };

/* The child's whole life: loads the strategy and answers until the socket is closed. `name` is what messages call the file. */
_Noreturn void strategy_child(int socket, const char *name, const struct buf *script, const struct space *space,
                              const struct op *op, uint64_t seed);

#endif
