/* What the problems of one command share, one after another: the loop, workers that are healthy when a problem ends, code. */
#include <stdlib.h>

#include "base/mem.h"
#include "tune/run.h"

int tune_crew_open(struct tune_crew **out, struct err *err)
{
    struct tune_crew *c = mem_zalloc(sizeof *c);
    if (!c)
        return err_nomem(err);
    int rc = uv_loop_init(&c->loop);
    if (rc) {
        mem_free(c);
        return err_set(err, ERR_IO, "cannot make an event loop: %s", uv_strerror(rc));
    }
    *out = c;
    return 0;
}

void tune_crew_close(struct tune_crew *c)
{
    if (!c)
        return;
    c->run = NULL;
    for (int i = 0; i < MAX_JOBS; i++)
        if (c->slots[i].worker)
            worker_kill(c->slots[i].worker);
    if (c->meter)
        worker_kill(c->meter);
    uv_run(&c->loop, UV_RUN_DEFAULT); /* until they are gone */
    uv_loop_close(&c->loop);
    codes_free(&c->codes);
    mem_free(c);
}

void crew_begin(struct tune_crew *c, struct run *r)
{
    c->run = r;
    r->slots = c->slots;
    for (int i = 0; i < MAX_JOBS; i++) {
        struct compiler_slot *s = &c->slots[i];
        *s = (struct compiler_slot){ .crew = c, .worker = s->worker, .life = s->life, .stale = s->worker != NULL };
    }
}

/* Handles of the run are closed. Then what is kept goes on in the next run's loop; until what was killed is gone it is this one's. */
static void stop_if_over(struct tune_crew *c)
{
    bool over = c->run->phase == PHASE_END && !c->handles;
    for (int i = 0; i < MAX_JOBS; i++)
        over = over && !(c->slots[i].worker && c->slots[i].life == LIFE_LEAVES);
    if (over && !c->run->meter)
        uv_stop(&c->loop);
}

static void closed(uv_handle_t *h)
{
    struct run *r = h->data;
    r->crew->handles--;
    stop_if_over(r->crew);
}

void crew_gone(struct tune_crew *c)
{
    if (c->run)
        stop_if_over(c);
}

/* Whatever is at work, or was told something that it has not answered, is not to be trusted with another problem; nor is any after an end that
 * was none of the search's own. */
void crew_end(struct tune_crew *c, struct run *r)
{
    const bool well = !r->stopping && r->opt->crew;
    for (int i = 0; i < MAX_JOBS; i++) {
        struct compiler_slot *s = &c->slots[i];
        if (!s->worker || (well && s->life == LIFE_WORKS && !s->job))
            continue;
        s->life = LIFE_LEAVES;
        worker_kill(s->worker);
    }
    bool keep = well && r->meter && r->meter_life == LIFE_WORKS && !r->measuring && !r->playing && !r->doubt.job && !r->op->outside;
    if (keep && !c->meter) {
        c->meter = r->meter;
        r->meter = NULL;
    } else if (r->meter) {
        worker_kill(r->meter);
    }
    c->handles = 2;
    uv_close((uv_handle_t *)&r->tick, closed);
    uv_close((uv_handle_t *)&r->answers, closed);
}
