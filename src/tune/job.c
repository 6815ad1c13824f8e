/* Configurations on their way, and the queues in which they wait. */
#include "base/mem.h"
#include "tune/run.h"

struct job *job_new(struct run *r, const struct config *c, int64_t index)
{
    struct job *j = mem_grow((void **)&r->jobs, r->njobs, sizeof(struct job *)) ? mem_zalloc(sizeof *j) : NULL;
    if (!j) {
        run_fail(r, ERR_NOMEM, "out of memory");
        return NULL;
    }
    j->config = *c;
    j->index = index;
    j->rank = -1;
    r->jobs[r->njobs++] = j;
    return j;
}

void job_drop_code(struct job *j)
{
    buf_free(&j->source);
    buf_free(&j->binary);
    buf_free(&j->portable);
}

void jobs_free(struct run *r)
{
    for (int i = 0; i < r->njobs; i++) {
        job_drop_code(r->jobs[i]);
        mem_free(r->jobs[i]);
    }
    mem_free(r->jobs);
}

void queue_put(struct queue *q, struct job *j)
{
    j->next = NULL;
    *(q->first ? q->last : &q->first) = j;
    q->last = &j->next;
    q->n++;
}

void queue_put_back(struct queue *q, struct job *j)
{
    if (!q->first)
        q->last = &j->next;
    j->next = q->first;
    q->first = j;
    q->n++;
}

struct job *queue_take(struct queue *q)
{
    struct job *j = q->first;
    if (j) {
        q->first = j->next;
        q->n--;
    }
    return j;
}
