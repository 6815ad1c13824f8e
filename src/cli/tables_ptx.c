/* The PTX of tables: one kernel takes a compiler 0.1 s, so hundreds of them are compiled on all cores. Process i of n compiles each n-th
 * source, from the i-th on, and sends what came of it; what has not been asked for waits in its socket. */
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/util.h"
#include "child/child.h"
#include "cli/tables.h"

enum { MAX_PROCESSES = 64, COMPILE_S = 60, FRAME_COMPILED = FRAME_FAILED + 1 };

struct compiled {
    int njobs, next;
    struct compile_ahead {
        const struct backend *backend;
        struct requires requires;
        char *source;
    } *jobs;
    int n, wanted; /* processes */
    struct forked processes[MAX_PROCESSES];
};

struct compiled *compiled_new(void)
{
    return mem_zalloc(sizeof(struct compiled));
}

void compiled_free(struct compiled *c)
{
    for (int i = 0; c && i < c->n; i++)
        forked_close(&c->processes[i]);
    for (int i = 0; c && i < c->njobs; i++)
        mem_free(c->jobs[i].source);
    if (c)
        mem_free(c->jobs);
    mem_free(c);
}

int compiled_add(struct compiled *c, const struct backend *b, const struct requires *requires, const char *source, struct err *err)
{
    char *own = mem_strdup(source);
    if (!own || !mem_grow((void **)&c->jobs, c->njobs, sizeof *c->jobs)) {
        mem_free(own);
        return err_nomem(err);
    }
    c->jobs[c->njobs] = (struct compile_ahead){ .backend = b, .requires = *requires, .source = own };
    c->jobs[c->njobs++].requires.backend = b->name; /* the op's text goes with the op */
    return 0;
}

/* What a process does: this one's copy of the list says which sources are its own. */
static int compile_share(struct channel *channel, void *arg, struct err *err)
{
    const struct compiled *c = arg;
    int rc = 0;
    for (int i = c->n; !rc && i < c->njobs; i += c->wanted) {
        const struct compile_ahead *job = &c->jobs[i];
        struct buf ptx = { 0 }, entries = { 0 };
        struct err why = { 0 };
        size_t f = frame_begin(&channel->out, FRAME_COMPILED);
        buf_i64(&channel->out, job->backend->compiling->ship(job->source, &job->requires, &ptx, &entries, &why));
        buf_lstr(&channel->out, why.msg);
        buf_bytes(&channel->out, ptx.data, ptx.len);
        buf_bytes(&channel->out, entries.data, entries.len);
        frame_end(&channel->out, f);
        buf_free(&ptx);
        buf_free(&entries);
        rc = channel_send(channel, NULL, err);
    }
    return rc;
}

int compiled_begin(struct compiled *c, struct err *err)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int rc = 0;
    for (c->wanted = (int)MIN(MAX(cores, 1), MIN(c->njobs, MAX_PROCESSES)); !rc && c->n < c->wanted; c->n += !rc) {
        rc = forked_start(COMPILE_S * c->njobs, compile_share, c, &c->processes[c->n], err);
        c->processes[c->n].who = "compiling";
    }
    return rc;
}

int compiled_next(struct compiled *c, const char *source, struct buf *ptx, struct buf *entries, struct err *err)
{
    struct frame frame;
    size_t why_len, ptx_len, entries_len;
    if (c->next == c->njobs || strcmp(c->jobs[c->next].source, source) != 0)
        return err_set(err, ERR_INVALID, "what is to be compiled has changed since it was first read: run this again");
    struct forked *from = &c->processes[c->next++ % c->n];
    int rc = forked_next(from, NULL, &frame, err);
    if (rc)
        return rc;
    int64_t refused = get_i64(&frame.body);
    const char *why = get_lstr(&frame.body, &why_len);
    const void *text = get_bytes(&frame.body, &ptx_len), *names = get_bytes(&frame.body, &entries_len);
    if (frame.kind != FRAME_COMPILED || frame.body.bad)
        return forked_failed(from, ERR_CORRUPT, err);
    if (refused)
        return err_set(err, (int)refused, "%.*s", (int)why_len, why);
    buf_put(ptx, text, ptx_len);
    buf_put(entries, names, entries_len);
    return buf_check(ptx, err) ?: buf_check(entries, err);
}
