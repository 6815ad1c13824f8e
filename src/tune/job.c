/* Configurations on their way, the queues in which they wait, and what is known of those before them. */
#include <search.h>
#include <string.h>

#include "base/mem.h"
#include "tune/run.h"

struct job *job_new(struct run *r, const struct config *c, int64_t index)
{
    struct job *j = mem_grow((void **)&r->jobs, r->njobs, sizeof(struct job *)) ? mem_zalloc(sizeof *j) : NULL;
    if (!j) {
        run_check(r, err_nomem(&r->err));
        return NULL;
    }
    j->config = *c;
    j->index = index;
    j->serial = r->njobs;
    r->jobs[r->njobs++] = j;
    return j;
}

void job_drop_code(struct job *j)
{
    buf_free(&j->source);
    buf_free(&j->binary);
    buf_free(&j->portable);
    buf_free(&j->entries);
}

void job_again(struct run *r, struct job *job)
{
    if (job->cached) {
        job_drop_code(job);
        job->past_cache = true;
    }
    queue_put_in_order(job->cached ? &r->queued : &r->ready, job);
}

void jobs_free(struct run *r)
{
    for (int i = 0; i < r->njobs; i++) {
        job_drop_code(r->jobs[i]);
        mem_free(r->jobs[i]);
    }
    mem_free(r->jobs);
    plans_free(&r->plans);
    tdestroy(r->known, mem_free);
}

void queue_put(struct queue *q, struct job *j)
{
    j->next = NULL;
    *(q->first ? q->last : &q->first) = j;
    q->last = &j->next;
    q->n++;
}

void queue_put_in_order(struct queue *q, struct job *j)
{
    struct job **at = &q->first;
    while (*at && (*at)->serial < j->serial)
        at = &(*at)->next;
    j->next = *at;
    *at = j;
    if (!j->next)
        q->last = &j->next;
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

/* Of two struct known, or of a key and one: they begin with their keys. */
static int by_key(const void *a, const void *b)
{
    return strcmp(a, b);
}

struct known *known_find(const struct run *r, const char *key)
{
    struct known **at = tfind(key, &r->known, by_key);
    return at ? *at : NULL;
}

struct known *known_settled(const struct run *r, const char *key)
{
    struct known *k = known_find(r, key);
    return k && !k->unsettled ? k : NULL;
}

struct known *known_add(struct run *r, const char *key, const struct result *result, bool of_now)
{
    struct known *k = known_find(r, key) ?: mem_zalloc(sizeof *k);
    if (k)
        memcpy(k->key, key, HASH_HEX);
    if (!k || !tsearch(k, &r->known, by_key)) {
        mem_free(k);
        return NULL;
    }
    k->outcome = result->outcome;
    k->stats = result->stats;
    k->energy = result->energy;
    memcpy(k->reason, result->reason, sizeof k->reason);
    err_line(k->reason);
    k->alone = result->alone;
    k->grown = result->grown;
    k->of_now = of_now;
    k->unsettled = !goal_settled(r, result->outcome, result->reason, &result->energy);
    return k;
}
