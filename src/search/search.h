/* Which configuration next: a strategy (one Lua file of tuner/search) that runs in a child of its own.
 *
 * The child is forked, so that it has the space for free. The strategy file returns a function(space, seed) giving a table with
 *   ask(k)      -> up to k indices of configurations (0-based integers), never the same twice
 *                  {}: nothing more now. It is asked again when another outcome has been told, and once more when none is pending:
 *                  {} is then the end of the search
 *                  "done": nothing more ever. It is not asked again; what is pending is still measured
 *   tell(list)  -> outcomes, each { index =, outcome = "ok", time_ns = }, in any order, with others still pending   (optional).
 *                  The op's default is always tried, so its outcome comes without a question, and once more if the strategy gives
 *                  its index
 * and may read space:count(), space:config(index) -> { variant =, NAME = value }, space:find(config) -> index or nil,
 * space:variants() -> { { name =, first =, count = }, ... }, and random(n) -> an integer 0..n-1 from the seed.
 * The same outcomes told in the same order give the same proposals for the same seed (so a strategy does not rely on the order of
 * pairs() over strings, which Lua changes from run to run). Outcomes are passed on before the next question. */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "model/record.h"
#include "space/space.h"

struct search;

/* strategy: a name ("random": HOME/tuner/search/random.lua) or a file. Loading it has a deadline; `bounds`, if not null, are
 * others besides it: ERR_TIMEOUT. Before other threads start: it forks. */
int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, const struct space_bounds *bounds,
                struct search **out, struct err *err);
void search_close(struct search *s); /* kills the child */

int search_ask(struct search *s, int k, struct err *err); /* sends the question; one at a time */
int search_fd(const struct search *s);                    /* readable when there is an answer, or the child is gone */
/* Reads the answer: n indices (at most the k asked for), already checked against the space; 0: nothing more now, or done. */
int search_answer(struct search *s, int64_t *index, int *n, struct err *err);
bool search_done(const struct search *s);        /* it has said so: not to be asked again */
const char *search_file(const struct search *s); /* as messages name it */
int search_tell(struct search *s, int64_t index, enum outcome outcome, double time_ns, struct err *err);

#endif
