/* The kernels of an op beside its peers: all on the same buffers, each verified, then timed in turns. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "measure/internal.h"

enum { WAY_SAMPLES = 3 };
static const int64_t PLAY_NS = 10000000000; /* after that only LEAST_ROUNDS are played */

static int verify(struct bench *b, struct loaded *l, struct result *r, struct err *err)
{
    int rc = 0;
    slack_begin(b, l);
    for (enum way way = WAY_FIRST; !rc && way <= (l->keeps ? WAY_LEFT : WAY_OTHER); way++)
        rc = verify_pass(b, l, way, r, err);
    slack_end(b, l);
    return rc;
}

/* ---- libraries */

/* Each of the algorithms that the library names, the fastest that is right. None is: the verdict on the last. */
static int choose_way(struct bench *b, struct loaded *l, int player, struct result *r, struct err *err)
{
    double best_ns = 0;
    int best = -1, rc = 0;
    for (l->way = 0; rc >= 0 && l->way < l->call->ways; l->way++) {
        double ns[WAY_SAMPLES];
        struct stats stats;
        r->outcome = OUT_OK;
        bench_alive(b, player);
        slack_begin(b, l);
        rc = verify_pass(b, l, WAY_FIRST, r, err);
        slack_end(b, l);
        rc = rc ?: take_samples(b, l, TIMED, WAY_SAMPLES, false, ns, r, err) ?: stats_of(ns, WAY_SAMPLES, &stats, err);
        if (rc) {
            b->inputs_pass = -1; /* what it did to inputs is not the next one's fault */
        } else if (best < 0 || stats.median < best_ns) {
            best = l->way;
            best_ns = stats.median;
        }
    }
    l->way = best < 0 ? 0 : best;
    if (rc < 0 || best < 0)
        return rc;
    r->outcome = OUT_OK;
    return 0;
}

/* Says by how many times its bound the result is off, of a call that may be less exact. */
static int measure_error(struct bench *b, struct loaded *l, char *out, size_t room, struct err *err)
{
    struct found found = { 0 };
    float worst;
    int rc = inputs_fill(b, TIMED, err) ?: candidate_launch(b, l, &l->own, err) ?: service_begin(b, err);
    for (int i = 0; !rc && i < b->nargs; i++)
        if (b->args[i].written && b->args[i].tolerance[TIMED].close)
            rc = service_check_same(b, &b->args[i], TIMED, 0, err);
    rc = rc ?: service_end(b, 0, &found, err);
    memcpy(&worst, &found.worst, sizeof worst);
    if (!rc && found.count)
        snprintf(out, room, "less exact: off by up to %.3g times the bound", (double)worst);
    else
        snprintf(out, room, "within the bound");
    return rc;
}

static int load_peer(struct bench *b, int peer, int player, struct loaded *l, struct result *r, struct err *err)
{
    char error[80] = "", way[64] = "";
    int rc = peer_load(b, peer, l, r, err)
        ?: (l->call->ways > 1 ? choose_way(b, l, player, r, err) : 0)
        ?: verify(b, l, r, err)
        ?: (l->slack > 1 ? measure_error(b, l, error, sizeof error, err) : 0);
    if (rc)
        return rc;
    if (l->call->ways > 1)
        snprintf(way, sizeof way, ", algorithm %d of %d", l->way + 1, l->call->ways);
    snprintf(r->reason, sizeof r->reason, "%s%s%s%s", l->call->version, way, *error ? "; " : "", error);
    return 0;
}

/* ---- all */

/* What does not compile here, or is refused, is its own fault. */
static int load_kernel(struct bench *b, const struct config *config, struct loaded *l, struct result *r, struct err *err)
{
    int rc = candidate_build(b, &b->plans, config, l, err);
    if (rc && rc != ERR_NOMEM)
        return condemn(r, OUT_COMPILE_ERROR, "%s", err->msg);
    return rc ?: config ? other_choose(b, config, l, err) ?: verify(b, l, r, err) : verify(b, l, r, err);
}

static int load_one(struct bench *b, const struct bench_candidate *c, int player, struct loaded *l, struct result *r,
                    struct err *err)
{
    double bytes, flops;
    int rc;
    bench_alive(b, player);
    switch (c->kind) {
    case BENCH_PEER:
        return load_peer(b, c->peer, player, l, r, err);
    case BENCH_COPY:
        rc = plan_work(b->plan, b->vals, &bytes, &flops, err) ?: copy_load(b, l, bytes, err);
        return rc == ERR_INVALID ? condemn(r, OUT_INVALID, "%s", err->msg) : rc;
    default:
        return load_kernel(b, c->kind == BENCH_KERNEL ? &c->config : NULL, l, r, err);
    }
}

static int load_players(struct bench *b, const struct bench_candidate *c, int n, struct loaded *l, struct result *out,
                        struct err *err)
{
    int rc = inputs_fill(b, TIMED, err);
    for (int i = 0; rc >= 0 && i < n; i++) {
        if (l[i].sits_out) {
            condemn(&out[i], OUT_RESOURCES, "there is no memory for its workspaces");
            continue;
        }
        rc = load_one(b, &c[i], i, &l[i], &out[i], err);
        if (rc == ERR_NOMEM)
            rc = condemn(&out[i], OUT_RESOURCES, "%s", err->msg);
        if (rc)
            candidate_unload(b, &l[i]);
        if (rc == VERDICT && out[i].outcome != OUT_INVALID) { /* nothing of it is left, and the reference still passes */
            b->inputs_pass = -1;
            rc = bench_control(b, err);
        }
        if (rc < 0)
            bench_blame(&out[i], err);
    }
    return rc < 0 ? rc : 0;
}

int bench_compare(struct bench *b, const struct bench_candidate *c, int n, int rounds, struct result *out, struct err *err)
{
    struct loaded *l;
    int rc = players_make(b, n, rounds, &l, out, err);
    rc = rc ?: play_reserve(b, c, n, l, err)
            ?: load_players(b, c, n, l, out, err)
            ?: play_rounds(b, l, n, rounds, NULL, clock_ns() + PLAY_NS, out, err);
    players_drop(b, l, n);
    return rc;
}
