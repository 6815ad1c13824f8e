/* The parent's side of a search: starts the child, asks, and believes nothing that comes back. */
#include "search/search.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "op/load.h"
#include "search/child.h"

enum { DEADLINE_S = 10, MAX_SCRIPT = 1 << 20, CPU_S = 3600 };

int search_adopt(const char *file, const struct forked *child, int64_t count, const struct space_bounds *bounds,
                 struct search **out, struct err *err)
{
    bool sooner = bounds && bounds->seconds < DEADLINE_S;
    const struct patience p = patience_of(sooner ? bounds->seconds : DEADLINE_S, bounds ? bounds->stop : NULL);
    struct forked adopted = *child;
    struct frame frame;
    struct search *s = mem_zalloc(sizeof *s);
    if (!s) {
        forked_close(&adopted);
        return err_nomem(err);
    }
    snprintf(s->name, sizeof s->name, "strategy %s", file);
    s->child = adopted;
    s->child.who = s->name;
    s->count = count;
    int rc = forked_next(&s->child, &p, &frame, err);
    if (rc == ERR_TIMEOUT)
        err_prefix(err, "loading it: ");
    if (!rc && frame.kind != WIRE_READY)
        rc = forked_broken(&s->child, err);
    if (rc)
        search_close(s);
    else
        *out = s;
    return rc;
}

int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, const struct space_bounds *bounds,
                struct search **out, struct err *err)
{
    struct forked child;
    char file[PATH_MAX];
    struct strategy what = { .file = file, .space = space, .seed = seed };
    int len = script_find(home, "search", strategy, file);
    if (len < 0 || len >= PATH_MAX)
        return err_set(err, ERR_INVALID, "'%.64s' is no strategy: a name such as random, or a file that ends in .lua", strategy);
    int rc = file_read(file, MAX_SCRIPT, &what.script, err) ?: forked_start(CPU_S, strategy_live, &what, &child, err);
    buf_free(&what.script);
    if (rc)
        err_prefix(err, "strategy %s: ", strategy);
    return rc ?: search_adopt(file, &child, space->count, bounds, out, err);
}

void search_close(struct search *s)
{
    if (s)
        forked_close(&s->child);
    mem_free(s);
}

int search_ask(struct search *s, int k, struct err *err)
{
    struct buf *out = &s->child.channel.out;
    const struct patience p = patience_of(DEADLINE_S, NULL);
    if (k < 1 || k > MAX_ASK || s->asked)
        return err_set(err, ERR_INVALID, "%s: a question for %d configurations: 1 to %d, one question at a time", s->name, k,
                       MAX_ASK);
    if (s->child.ended)
        return forked_gone(&s->child, err);
    if (s->done)
        return err_set(err, ERR_INVALID, "%s: asked again, though it was done", s->name);
    size_t f = frame_begin(out, WIRE_ASK);
    buf_u32(out, (uint32_t)k);
    frame_end(out, f);
    int rc = forked_send(&s->child, &p, err);
    s->asked = rc ? 0 : k;
    return rc;
}

int search_answer(struct search *s, int64_t *index, int *n, struct err *err)
{
    const struct patience p = patience_of(s->asked ? DEADLINE_S : 0, NULL);
    struct frame frame;
    uint32_t asked = (uint32_t)s->asked;
    *n = 0;
    if (!asked && channel_next(&s->child.channel, &p, &frame, NULL) == ERR_TIMEOUT)
        return err_set(err, ERR_INVALID, "%s: an answer without a question", s->name);
    if (!asked) /* a frame that was not asked for, or the end of the child */
        return forked_gone(&s->child, err);
    s->asked = 0;
    int rc = forked_next(&s->child, &p, &frame, err);
    if (rc)
        return rc;
    struct cursor *body = &frame.body;
    s->done = frame.kind == WIRE_DONE && body->at == body->end;
    if (s->done)
        return 0;
    uint32_t count = get_u32(body);
    bool good = frame.kind == WIRE_INDICES && !body->bad && count <= asked && (size_t)(body->end - body->at) == 8 * (size_t)count;
    for (uint32_t i = 0; good && i < count; i++) {
        index[i] = get_i64(body);
        good = index[i] >= 0 && index[i] < s->count; /* its own side has checked that already */
    }
    if (!good)
        return forked_broken(&s->child, err);
    *n = (int)count;
    return 0;
}

int search_tell(struct search *s, int64_t index, enum outcome outcome, double time_ns, struct err *err)
{
    struct buf *out = &s->child.channel.out;
    size_t f = frame_begin(out, WIRE_TELL);
    buf_i64(out, index);
    buf_u8(out, (uint8_t)outcome);
    buf_f64(out, time_ns);
    frame_end(out, f);
    return buf_check(out, err);
}
