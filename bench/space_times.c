/* How long it takes to build the space of a tuning problem in the T1 format: as an indexable set, and with all its configurations written
 * into memory, each as the indices of its values. The file is read before. Best of several. bench/spaces compares it with others.
 * Usage: space_times RUNS FILE; prints JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/t1.h"
#include "space/space.h"

struct list {
    uint16_t *end;
    size_t bytes; /* of a configuration */
};

static bool write_one(void *arg, int64_t i, const struct config *c)
{
    struct list *l = arg;
    (void)i;
    memcpy(l->end, c->at, l->bytes);
    l->end += l->bytes / sizeof *l->end;
    return true;
}

/* Seconds; listed: with all configurations in memory. *count: how many these are. */
static double once(const struct op *op, bool listed, int64_t *count)
{
    static const struct devspec none = { .backend = "none", .max_threads = 1, .max_alloc = 1 };
    static const struct problem problem;
    struct space *s;
    struct err err;
    int64_t start = clock_ns();
    if (space_new(op, &problem, 0, &none, NULL, &s, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    struct list list = { .bytes = (size_t)op->variants[0].nparams * sizeof *list.end };
    uint16_t *all = list.end = listed ? malloc((size_t)s->count * list.bytes) : NULL;
    if (listed && all)
        space_walk(s, 0, NULL, NULL, &(struct space_visitor){ write_one, &list });
    double seconds = (double)(clock_ns() - start) / 1e9;
    *count = s->count;
    free(all);
    space_free(s);
    return seconds;
}

int main(int argc, char **argv)
{
    struct t1 t;
    struct err err;
    int runs = argc == 3 ? atoi(argv[1]) : 0;
    int64_t count = 0;
    double best[2] = { 1e9, 1e9 };
    if (runs < 1 || t1_read(argv[2], &t, &err)) {
        fprintf(stderr, "%s\n", runs < 1 ? "space_times RUNS FILE" : err.msg);
        return 2;
    }
    for (int i = 0; i < 2 * runs; i++) {
        double seconds = once(t.op, i % 2, &count);
        best[i % 2] = seconds < best[i % 2] ? seconds : best[i % 2];
    }
    printf("{\"valid\": %" PRId64 ", \"indexed\": %.9f, \"listed\": %.9f}\n", count, best[0], best[1]);
    t1_free(&t);
    return 0;
}
