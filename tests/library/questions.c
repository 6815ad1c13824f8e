/* questions DATABASE DEVICES QUESTIONS: writes input for `ask`: the devices of a database and similar ones; every problem that was tuned,
 * on its own device, and 1,000 others. The output is always the same for the same database. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "cutune.h"
#include "store/store.h"

enum { RANDOM = 1000, MAX_DEVICES = 64, MAX_OPS = 64 };

static struct err err;
static struct op *ops[MAX_OPS];
static struct devspec identities[MAX_DEVICES];
static int64_t ids[MAX_DEVICES];
static int nops, ndevices;
/* What winners are of, to be asked for again. */
static struct {
    const struct op *op;
    int row;
} tuned[1024];
static int ntuned;
static FILE *questions;
static uint64_t place; /* of the random numbers */

static uint64_t below(uint64_t n)
{
    return rand_at(5, place++) % n;
}

static int take_op(void *store, const char *name)
{
    return nops < MAX_OPS ? store_op(store, name, &ops[nops++], &err) : 1;
}

static void ask(int device, const char *op, const char *types, const int64_t *sizes, int n)
{
    fprintf(questions, "%d %s %s", device, op, types);
    for (int i = 0; i < n; i++)
        fprintf(questions, " %lld", (long long)sizes[i]);
    fprintf(questions, "\n");
}

static int take_winner(void *arg, const struct winner *w)
{
    const struct op *op = arg;
    struct problem p = { 0 };
    int device = 0;
    while (device < ndevices && ids[device] != w->device)
        device++;
    if (device == ndevices) {
        if (ndevices == MAX_DEVICES / 4)
            return 1;
        ids[ndevices] = w->device;
        identities[ndevices++] = w->dev;
    }
    if (problem_parse(op, w->sizes, &p, &err))
        return -1;
    if (ntuned < 1024) {
        tuned[ntuned].op = op;
        tuned[ntuned++].row = op_row(op, w->types, &err);
    }
    ask(4 * device, op->name, w->types, p.size, op->naxes);
    return 0;
}

/* Of every magnitude: mostly ordinary ones, now and then one that cannot be, or at which products overflow. */
static int64_t random_size(enum axis_kind kind)
{
    static const int64_t odd[] = { 0, -1, (int64_t)1 << 40, INT64_MAX };
    if (kind == AXIS_FLAG)
        return (int64_t)below(2);
    if (below(50) == 0)
        return odd[below(4)];
    uint64_t most = kind == AXIS_SIZE ? 13 : 5; /* binary digits */
    int64_t size = (int64_t)(1 + below((uint64_t)1 << (1 + below(most))));
    return below(2) ? size : (size + 31) / 32 * 32;
}

static void ask_random(void)
{
    int like = (int)below((uint64_t)ntuned);
    const struct op *op = tuned[like].op;
    struct buf types = { 0 };
    int64_t sizes[MAX_AXES];
    op_row_print(&types, op, below(10) ? tuned[like].row : (int)below((uint64_t)op->nrows));
    for (int i = 0; i < op->naxes; i++)
        sizes[i] = random_size(op->axes[i].kind);
    ask((int)below((uint64_t)(4 * ndevices)), op->name, below(200) ? buf_text(&types) : "none", sizes,
        below(200) ? op->naxes : op->naxes - 1);
    buf_free(&types);
}

/* A device with limits as a large GPU has them; then one of another size, one with small limits, one of another architecture. */
static cutune_device device_of(const struct devspec *d, int which)
{
    cutune_device out = {
        .size = sizeof out,
        .multiprocessors = d->multiprocessors + (which == 1),
        .memory = d->memory,
        .cc = 90,
        .warp = 32,
        .l2 = 50 << 20,
        .max_threads = which == 2 ? 128 : 1024,
        .max_block = { 1024, 1024, 64 },
        .max_grid = { INT32_MAX, 65535, 65535 },
        .max_shared = which == 2 ? 4096 : 232448,
        .max_static_shared = 49152,
        .max_alloc = which == 2 ? 1 << 20 : d->memory / 2,
        .fp64 = 1,
    };
    strcpy(out.backend, d->backend);
    strcpy(out.name, d->name);
    strcpy(out.arch, which == 3 ? "other" : d->arch);
    strcpy(out.mig, d->mig);
    return out;
}

int main(int argc, char **argv)
{
    struct store *store = NULL;
    if (argc != 4 || store_open(argv[1], STORE_READ, &store, &err))
        return fprintf(stderr, "questions: %s\n", err.msg), 1;
    FILE *devices = fopen(argv[2], "wb");
    questions = fopen(argv[3], "w");
    if (!devices || !questions || store_each_op(store, take_op, store, &err))
        return fprintf(stderr, "questions: %s\n", err.msg), 1;
    for (int i = 0; i < nops; i++)
        if (store_each_winner_of(store, ops[i]->name, NULL, take_winner, ops[i], &err))
            return fprintf(stderr, "questions: %s\n", err.msg), 1;
    for (int i = 0; i < RANDOM && ntuned; i++)
        ask_random();
    ask(0, "no_such_op", "f32", (int64_t[]){ 1 }, 1);
    for (int i = 0; i < 4 * ndevices; i++) {
        const cutune_device d = device_of(&identities[i / 4], i % 4);
        fwrite(&d, sizeof d, 1, devices);
    }
    fclose(devices);
    fclose(questions);
    while (nops)
        op_free(ops[--nops]);
    store_close(store);
    return 0;
}
