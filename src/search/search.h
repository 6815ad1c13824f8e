/* A strategy chooses which configuration to try next. It is a Lua file of tuner/search, or the user's own, and runs in a child.
 * docs/strategies.md is the guide for those who write one: ask(k), tell(list), and what they can use.
 *
 * The child is forked, so it gets the space without copying it. cutune tries some first, unasked: the op's default, and what won on other
 * problems. tell() gets their outcomes then, and again if ask() gives the index. Outcomes are passed on before the next question. The same outcomes in the same order and
 * the same seed give the same proposals. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include <limits.h>

#include "child/child.h"
#include "model/record.h"
#include "space/space.h"

struct search {
    /* Its socket is readable when there is an answer, or the child is gone. What is told is kept in its `out` until the next question:
     * a child that thinks does not read. */
    struct forked child;
    char name[PATH_MAX + 16]; /* as messages call it: "strategy FILE" */
    int64_t count;            /* configurations of the space */
    int asked;                /* the k of the question that is not answered yet, or 0 */
    bool done;                /* it has said so: not to be asked again */
};

/* strategy: a name ("random": HOME/tuner/search/random.lua) or a file. Loading it has a deadline; `bounds`, if not null,
 * may end sooner: ERR_TIMEOUT. Before other threads start: it forks. */
int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, const struct patience *bounds,
                struct search **out, struct err *err);
void search_close(struct search *s); /* kills the child */

int search_ask(struct search *s, int k, struct err *err); /* sends the question; one at a time */
/* Reads the answer: n indices (at most the k asked for), already checked against the space; 0: nothing more now, or done. */
int search_answer(struct search *s, int64_t *index, int *n, struct err *err);
/* cost: by the run's objective, the less the better; NaN: none. */
int search_tell(struct search *s, int64_t index, enum outcome outcome, double time_ns, double cost, struct err *err);

/* For search_open, and for tests that answer themselves (then there is no process): a search whose child is there already. It owns the child
 * from now on, and if this fails, too. */
int search_adopt(const char *file, struct forked child, int64_t count, const struct patience *bounds, struct search **out,
                 struct err *err);
enum { WIRE_ERROR = FRAME_FAILED, WIRE_TELL, WIRE_ASK, WIRE_READY, WIRE_INDICES, WIRE_DONE };

#endif
