/* The parent's side of a search: starts the child, asks, and believes nothing that comes back. */
#include "search/search.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/util.h"
#include "search/child.h"

enum { DEADLINE_S = 10, MAX_SCRIPT = 1 << 20, CPU_S = 3600 };

struct search {
    struct forked child; /* what is told is kept in its `out` until the next question: a child that thinks does not read */
    char *file;
    int64_t count; /* configurations of the space */
    int asked;     /* the k of the question that is not answered yet, or 0 */
    bool done;
};

/* How the child has failed, with the strategy's name in front. */
static int failed(const struct search *s, int rc, struct err *err)
{
    err_prefix(err, "strategy %s: ", s->file);
    return rc;
}

/* The next frame. A failure that the child tells of ends it. */
static int receive(struct search *s, const struct patience *p, struct frame *out, struct err *err)
{
    int rc = forked_next(&s->child, p, out, err);
    if (!rc && out->kind == WIRE_ERROR) {
        rc = failed_get(&s->child, &out->body, err);
        if (rc != ERR_CORRUPT)
            return rc; /* its message begins with the file */
    }
    return rc ? failed(s, rc, err) : 0;
}

int strategy_find(const char *home, const char *strategy, struct buf *file, struct err *err)
{
    size_t n = strlen(strategy);
    if (strchr(strategy, '/') || (n > 4 && strcmp(strategy + n - 4, ".lua") == 0))
        buf_str(file, strategy);
    else if (name_ok(strategy))
        buf_fmt(file, "%s/tuner/search/%s.lua", home, strategy);
    else
        return err_set(err, ERR_INVALID, "'%.64s' is no strategy: a name such as random, or a file that ends in .lua", strategy);
    return buf_check(file, err);
}

int search_adopt(const char *file, const struct forked *child, int64_t count, const struct space_bounds *bounds,
                 struct search **out, struct err *err)
{
    bool sooner = bounds && bounds->seconds < DEADLINE_S;
    const struct patience p = patience_of(sooner ? bounds->seconds : DEADLINE_S, bounds ? bounds->stop : NULL);
    struct frame frame;
    struct search *s = mem_zalloc(sizeof *s);
    char *name = mem_strdup(file);
    if (!s || !name) {
        struct forked dropped = *child;
        mem_free(s);
        mem_free(name);
        forked_close(&dropped);
        return err_nomem(err);
    }
    *s = (struct search){ .child = *child, .file = name, .count = count };
    int rc = receive(s, &p, &frame, err);
    if (rc == ERR_TIMEOUT)
        err_prefix(err, "loading it: ");
    if (!rc && frame.kind != WIRE_READY)
        rc = failed(s, forked_broken(&s->child, err), err);
    if (rc) {
        search_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, const struct space_bounds *bounds,
                struct search **out, struct err *err)
{
    struct buf file = { 0 };
    struct forked child;
    struct strategy what = { .space = space, .seed = seed };
    int rc = strategy_find(home, strategy, &file, err);
    if (rc)
        goto out;
    rc = file_read(buf_text(&file), MAX_SCRIPT, &what.script, err);
    if (!rc) {
        what.file = buf_text(&file);
        rc = forked_start(CPU_S, strategy_live, &what, &child, err);
    }
    if (rc)
        err_prefix(err, "strategy %s: ", strategy);
    else
        rc = search_adopt(what.file, &child, space->count, bounds, out, err);
out:
    buf_free(&what.script);
    buf_free(&file);
    return rc;
}

void search_close(struct search *s)
{
    if (!s)
        return;
    forked_close(&s->child);
    mem_free(s->file);
    mem_free(s);
}

int search_fd(const struct search *s)
{
    return s->child.channel.fd;
}

int search_ask(struct search *s, int k, struct err *err)
{
    struct buf *out = &s->child.channel.out;
    const struct patience p = patience_of(DEADLINE_S, NULL);
    if (k < 1 || k > MAX_ASK || s->asked)
        return err_set(err, ERR_INVALID, "strategy %s: a question for %d configurations: 1 to %d, one question at a time", s->file,
                       k, MAX_ASK);
    if (s->child.ended)
        return failed(s, forked_gone(&s->child, err), err);
    if (s->done)
        return err_set(err, ERR_INVALID, "strategy %s: asked again, though it was done", s->file);
    size_t f = frame_begin(out, WIRE_ASK);
    buf_u32(out, (uint32_t)k);
    frame_end(out, f);
    int rc = forked_send(&s->child, &p, err);
    if (rc)
        return failed(s, rc, err);
    s->asked = k;
    return 0;
}

/* Whether the child is gone, though nothing is waited for from it. */
static bool at_end(const struct search *s)
{
    char byte;
    ssize_t n = s->child.ended ? 0 : recv(search_fd(s), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

int search_answer(struct search *s, int64_t *index, int *n, struct err *err)
{
    const struct patience p = patience_of(DEADLINE_S, NULL);
    struct frame frame;
    int k = s->asked;
    *n = 0;
    if (!k)
        return at_end(s) ? failed(s, forked_gone(&s->child, err), err)
                         : err_set(err, ERR_INVALID, "strategy %s: an answer without a question", s->file);
    s->asked = 0;
    int rc = receive(s, &p, &frame, err);
    if (rc)
        return rc;
    struct cursor *body = &frame.body;
    s->done = frame.kind == WIRE_DONE && body->at == body->end;
    if (s->done)
        return 0;
    uint32_t count = get_u32(body);
    bool good =
        frame.kind == WIRE_INDICES && !body->bad && count <= (uint32_t)k && (size_t)(body->end - body->at) == 8 * (size_t)count;
    for (uint32_t i = 0; good && i < count; i++) {
        index[i] = get_i64(body);
        good = index[i] >= 0 && index[i] < s->count; /* its own side has checked that already */
    }
    if (!good)
        return failed(s, forked_broken(&s->child, err), err);
    *n = (int)count;
    return 0;
}

bool search_done(const struct search *s)
{
    return s->done;
}

const char *search_file(const struct search *s)
{
    return s->file;
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
