/* Energy: from the device's counter, over a batch of runs without a pause. The counter moves but a few times a second, so a batch begins and ends
 * where it moves, and is long enough for the moment between its moving and our seeing it not to count. The cache holds what a run before
 * left: a flush between runs would be counted, too. */
#include "base/mem.h"
#include "measure/internal.h"

static const double BATCH_NS = 0.25e9, /* at least */
    CHUNK_NS = 4e6,                    /* of runs between two looks at the counter: about so long is it unseen */
    PATIENCE_NS = 2e9;                 /* of work in which the counter does not move: it will not */
enum { MAX_CHUNK = 4096, ENERGY_ROUNDS = 3 };

/* Some runs, waited for; *ns is what they took. */
static int chunk(struct bench *b, struct loaded *l, int n, double *ns, struct err *err)
{
    int rc = device_span_begin(b->dev, 0, err);
    for (int i = 0; !rc && i < n; i++)
        rc = candidate_launch(b, l, &l->own, err);
    return rc ?: device_span_end(b->dev, 0, err) ?: device_sync(b->dev, err) ?: device_span_ns(b->dev, 0, ns, err);
}

/* Runs until the counter moves, after `least` at the earliest. *joules is what it says then, and before the call what it said last. */
static int until_moved(struct bench *b, struct loaded *l, int player, int n, double least, double *joules, double *runs,
                       struct err *err)
{
    double spent = 0, before, ns = 0;
    *runs = 0;
    do {
        before = *joules;
        bench_alive(b, player);
        int rc = chunk(b, l, n, &ns, err) ?: device_energy(b->dev, joules, err);
        if (rc)
            return rc;
        spent += ns;
        *runs += n;
        if (*joules <= before && spent > least + PATIENCE_NS)
            return err_set(err, ERR_UNSUPPORTED, "its energy counter does not move");
    } while (spent < least || *joules <= before);
    return 0;
}

static int energy_of(struct bench *b, struct loaded *l, int player, double each_ns, double *joules, struct result *r,
                     struct err *err)
{
    double runs, begin = 0;
    int n = each_ns * MAX_CHUNK < CHUNK_NS ? MAX_CHUNK : (int)(CHUNK_NS / each_ns) + 1;
    int rc = b->inputs_pass == TIMED ? 0 : inputs_fill(b, TIMED, err);
    rc = rc ?: timed_set_back(b, l, TIMED, false, err) ?: device_energy(b->dev, &begin, err);
    rc = rc ?: until_moved(b, l, player, n, 0, &begin, &runs, err);
    double end = begin;
    rc = rc ?: until_moved(b, l, player, n, BATCH_NS, &end, &runs, err);
    if (!rc)
        *joules = (end - begin) / runs;
    return rc ?: service_begin(b, err) ?: outputs_look(b, TIMED, 0, err) ?: look_back(b, l, TIMED, 1, false, r, err);
}

/* What some batches say together: the middle one, and how far off it may be. */
static int energy_from(const double *joules, int n, struct energy *out, struct err *err)
{
    const double error = 0.02; /* of one batch: the counter is seen to move up to two chunks late */
    struct stats s;
    int rc = stats_of(joules, n, &s, err);
    if (!rc)
        *out = (struct energy){ s.median, s.min * (1 - error), s.max * (1 + error) };
    return rc;
}

int energy_take(struct bench *b, struct loaded *l, struct result *r, struct err *err)
{
    double joules = 0;
    return energy_of(b, l, -1, r->stats.median, &joules, r, err) ?: energy_from(&joules, 1, &r->energy, err);
}

/* Round by round, as times are taken. */
int energy_play(struct bench *b, struct loaded *l, int n, struct result *out, struct err *err)
{
    double(*joules)[ENERGY_ROUNDS] = mem_array((size_t)n, sizeof *joules);
    int rc = joules ? 0 : err_nomem(err);
    for (int round = 0; !rc && round < ENERGY_ROUNDS; round++)
        for (int i = 0; !rc && i < n; i++) {
            if (out[i].outcome != OUT_OK || l[i].sits_out)
                continue;
            for (int k = 0; !rc && k < l[i].nwork; k++)
                rc = guarded_paint(b, &l[i].work[k], TIMED, err);
            rc = rc ?: energy_of(b, &l[i], i, out[i].stats.median, &joules[i][round], &out[i], err);
            rc = rc == VERDICT ? bench_control(b, err) : rc;
            if (rc)
                bench_blame(&out[i], err);
        }
    for (int i = 0; !rc && i < n; i++)
        if (out[i].outcome == OUT_OK && !l[i].sits_out)
            rc = energy_from(joules[i], ENERGY_ROUNDS, &out[i].energy, err);
    mem_free(joules);
    return rc;
}

int energy_ready(struct bench *b, double reference_ns, struct err *err)
{
    struct result r = { 0 };
    double joules;
    const struct arg *inout = NULL;
    int rc = energy_of(b, &b->reference, -1, reference_ns, &joules, &r, err);
    for (int i = 0; i < b->nargs; i++)
        inout = b->args[i].arg->kind == ARG_INOUT ? b->args[i].arg : inout;
    if (rc == VERDICT && inout) /* runs without a pause do not set it back; it is fine where they give the same all the same */
        rc = err_set(err, ERR_UNSUPPORTED, "its argument %s is an inout, which each run of a batch changes: %s", inout->name,
                     r.reason);
    else if (rc == VERDICT)
        rc = err_set(err, ERR_DEVICE, "the reference, in a batch of runs: %s", r.reason);
    if (rc)
        err_prefix(err, "the energy of %s cannot be measured on %s: ", b->set.op->name, b->set.dev.name);
    return rc;
}
