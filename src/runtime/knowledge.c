/* Reads what the database knows of an op: its winners on each device, and the times of all winning configurations on every tuned problem.
 *
 * The file may be a stranger's, so the amount that is read is limited: the first MOST_WINNERS winners by device and problem, and the first
 * MOST_TIMES measurements. Memory grows in proportion to what is read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/near.h"
#include "runtime/runtime.h"

enum {
    ENOUGH = 1,              /* returned by a callback: read no further */
    WINNER_STEPS = 20 << 20, /* SQLite steps to read the winners */
    TIME_STEPS = 40 << 20,   /* SQLite steps to read the measurements */
    TYPE_STEPS = 16 << 20,   /* rows of types compared with the winners' types */
};

/* A winning configuration on a device. */
struct column {
    int device;
    const char *variant, *json;
};

/* A measurement, before sorting by column. */
struct taken {
    int problem, column;
    double loss;
};

/* A device, to find it by its id. */
struct device_at {
    int64_t id;
    int at;
};

struct reading {
    const struct op *op;
    struct knowledge *k;
    struct err *err;
    struct column *columns;
    int *places; /* a hash table of column numbers, from 1; 0: free */
    size_t nplaces;
    uint64_t seed;
    size_t config_bytes;
    struct buf types; /* of the last winner */
    int row;          /* of these types */
    int64_t type_steps;
    struct device_at *by_id; /* devices */
    struct known_device *at; /* the last measurement's */
    struct taken *taken;
    int ntaken;
};

/* ---- columns */

static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

/* The place of a column, or the free one where it would be. */
static size_t place_of(const struct reading *r, int device, const char *variant, const char *json)
{
    uint64_t h = hash_text(hash_text((r->seed ^ (uint64_t)device) * UINT64_C(0x9e3779b97f4a7c15), variant), json);
    size_t at = (size_t)(h ^ h >> 32) & (r->nplaces - 1);
    for (; r->places[at]; at = (at + 1) & (r->nplaces - 1)) {
        const struct column *c = &r->columns[r->places[at] - 1];
        if (c->device == device && !strcmp(c->json, json) && !strcmp(c->variant, variant))
            break;
    }
    return at;
}

static int column_of(const struct reading *r, int device, const char *variant, const char *json)
{
    return r->nplaces ? r->places[place_of(r, device, variant, json)] - 1 : -1;
}

/* Keeps at least half of the places free. */
static bool make_places(struct reading *r)
{
    if (r->nplaces > 2 * (size_t)r->k->ncolumns)
        return true;
    size_t n = r->nplaces ? 2 * r->nplaces : 64;
    int *more = mem_array(n, sizeof *more);
    if (!more)
        return false;
    mem_free(r->places);
    r->places = more;
    r->nplaces = n;
    for (int i = 0; i < r->k->ncolumns; i++) {
        const struct column *c = &r->columns[i];
        r->places[place_of(r, c->device, c->variant, c->json)] = i + 1;
    }
    return true;
}

static int add_column(struct reading *r, int device, const char *variant, const char *json, int *out)
{
    struct knowledge *k = r->k;
    if ((*out = column_of(r, device, variant, json)) >= 0)
        return 0;
    size_t bytes = strlen(variant) + strlen(json);
    if (r->config_bytes + bytes > MOST_CONFIG_BYTES)
        return ENOUGH;
    struct column c = { device, arena_strdup(k->arena, variant), arena_strdup(k->arena, json) };
    if (!c.variant || !c.json || !make_places(r) || !mem_grow((void **)&r->columns, k->ncolumns, sizeof *r->columns))
        return err_nomem(r->err);
    r->config_bytes += bytes;
    r->places[place_of(r, device, variant, json)] = k->ncolumns + 1;
    r->columns[k->ncolumns] = c;
    *out = k->ncolumns++;
    return 0;
}

/* ---- winners */

/* Winners arrive device by device. */
static struct known_device *device_of(struct reading *r, const struct winner *w)
{
    struct knowledge *k = r->k;
    if (k->ndevices && k->devices[k->ndevices - 1].id == w->device)
        return &k->devices[k->ndevices - 1];
    if (!mem_grow((void **)&k->devices, k->ndevices, sizeof *k->devices))
        return NULL;
    k->devices[k->ndevices] = (struct known_device){ .id = w->device, .dev = w->dev };
    return &k->devices[k->ndevices++];
}

/* The op's order of magnitude of work: bytes, else operations. */
static double work_of(const struct winner *w)
{
    return w->bytes > 0 ? w->bytes : w->flops;
}

/* The op's row of types; negative if the op does not have it (any more). */
static int row_of(struct reading *r, const char *types)
{
    if (r->types.len && !strcmp(r->types.data, types))
        return r->row;
    buf_clear(&r->types);
    buf_str(&r->types, types);
    r->type_steps += r->op->nrows;
    return r->row = op_row(r->op, types, NULL);
}

static int add_problem(struct reading *r, struct known_device *d, const struct winner *w, struct tuned_problem *p)
{
    int device = (int)(d - r->k->devices), bytes[MAX_TYPES];
    int rc = add_column(r, device, w->variant, w->json, &p->column);
    if (rc)
        return rc;
    p->point = arena_alloc(r->k->arena, sizeof *p->point);
    if (!p->point || !mem_grow((void **)&d->problems, d->nproblems, sizeof *d->problems))
        return err_nomem(r->err);
    for (int t = 0; t < r->op->ntypes; t++)
        bytes[t] = r->op->rows[p->row * r->op->ntypes + t]->bytes;
    near_point_set(p->point, p->problem.size, r->op->naxes, bytes, r->op->ntypes);
    p->variant = r->columns[p->column].variant;
    p->json = r->columns[p->column].json;
    p->flags = problem_flags(r->op, &p->problem);
    d->problems[d->nproblems++] = *p;
    return 0;
}

struct winners {
    struct reading *r;
    int n;
};

static int take_winner(void *arg, const struct winner *w)
{
    struct winners *all = arg;
    struct reading *r = all->r;
    struct tuned_problem p = { .id = w->problem, .time_ns = w->time_ns, .work = work_of(w) };
    if (all->n++ == MOST_WINNERS || r->type_steps > TYPE_STEPS)
        return ENOUGH;
    p.row = row_of(r, w->types);
    if (r->types.failed)
        return err_nomem(r->err);
    if (p.row < 0 || problem_parse(r->op, w->sizes, &p.problem, NULL))
        return 0; /* damaged, or its types are no longer the op's: ignore it */
    struct known_device *d = device_of(r, w);
    return d ? add_problem(r, d, w, &p) : err_nomem(r->err);
}

/* ---- candidates */

static int by_what(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->flags != y->flags)
        return x->flags < y->flags ? -1 : 1;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

static int by_problem(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

/* One for each different (configuration, types, flags), by the first problem that it won. */
static int list_candidates(struct known_device *d, struct err *err)
{
    struct candidate *all = d->candidates = mem_array((size_t)d->nproblems, sizeof *all);
    if (!all)
        return err_nomem(err);
    for (int i = 0; i < d->nproblems; i++) {
        const struct tuned_problem *p = &d->problems[i];
        all[i] = (struct candidate){ .problem = i, .row = p->row, .column = p->column, .flags = p->flags };
    }
    qsort(all, (size_t)d->nproblems, sizeof *all, by_what);
    int n = 0;
    for (int i = 0; i < d->nproblems; i++)
        if (!n || all[i].column != all[n - 1].column || all[i].row != all[n - 1].row || all[i].flags != all[n - 1].flags)
            all[n++] = all[i];
    qsort(all, (size_t)n, sizeof *all, by_problem);
    d->ncandidates = n;
    return 0;
}

/* ---- times */

static int by_id(const void *a, const void *b)
{
    const struct device_at *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int sort_devices(struct reading *r)
{
    r->by_id = mem_array((size_t)r->k->ndevices, sizeof *r->by_id);
    if (!r->by_id)
        return err_nomem(r->err);
    for (int i = 0; i < r->k->ndevices; i++)
        r->by_id[i] = (struct device_at){ r->k->devices[i].id, i };
    qsort(r->by_id, (size_t)r->k->ndevices, sizeof *r->by_id, by_id);
    return 0;
}

static struct known_device *device_with(struct reading *r, int64_t id)
{
    int low = 0, high = r->k->ndevices;
    if (r->at && r->at->id == id) /* measurements arrive device by device */
        return r->at;
    while (low < high) {
        int mid = (low + high) / 2;
        if (r->by_id[mid].id == id)
            return r->at = &r->k->devices[r->by_id[mid].at];
        if (r->by_id[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static int problem_with(const struct known_device *d, int64_t id)
{
    int low = 0, high = d->nproblems;
    while (low < high) {
        int mid = (low + high) / 2;
        if (d->problems[mid].id == id)
            return mid;
        if (d->problems[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

static int put_time(struct reading *r, const struct known_device *d, int problem, int column, double ns)
{
    double best = d->problems[problem].time_ns;
    if (column < 0 || !(ns > 0) || !(best > 0))
        return 0;
    if (!mem_grow((void **)&r->taken, r->ntaken, sizeof *r->taken))
        return err_nomem(r->err);
    double loss = log(ns / best);
    r->taken[r->ntaken++] = (struct taken){ problem, column, loss > 0 ? loss : 0 };
    return 0;
}

static int take_time(void *arg, const struct timed *t)
{
    struct reading *r = arg;
    struct known_device *d = device_with(r, t->device);
    int problem = d ? problem_with(d, t->problem) : -1;
    if (problem < 0)
        return 0;
    if (r->ntaken == MOST_TIMES)
        return ENOUGH;
    return put_time(r, d, problem, column_of(r, (int)(d - r->k->devices), t->variant, t->json), t->median);
}

/* If a winner's measurement is gone, its own time is used. */
static int take_own_times(struct reading *r)
{
    int rc = 0;
    for (int i = 0; !rc && i < r->k->ndevices; i++) {
        const struct known_device *d = &r->k->devices[i];
        for (int j = 0; !rc && j < d->nproblems; j++)
            rc = put_time(r, d, j, d->problems[j].column, d->problems[j].time_ns);
    }
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct near_time *x = a, *y = b;
    if (x->problem != y->problem)
        return x->problem < y->problem ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sorted by column and problem. Of several times for one problem the last is kept. */
static int sort_times(struct reading *r)
{
    struct knowledge *k = r->k;
    k->first = mem_array((size_t)k->ncolumns + 1, sizeof *k->first);
    k->times = mem_array((size_t)r->ntaken, sizeof *k->times);
    if (!k->first || !k->times)
        return err_nomem(r->err);
    for (int i = 0; i < r->ntaken; i++)
        k->first[r->taken[i].column]++;
    for (int c = 0, sum = 0; c <= k->ncolumns; c++) { /* first the ends ... */
        sum += k->first[c];
        k->first[c] = sum;
    }
    for (int i = r->ntaken - 1; i >= 0; i--) { /* ... which become the beginnings */
        const struct taken *t = &r->taken[i];
        k->times[--k->first[t->column]] = (struct near_time){ t->problem, i, t->loss };
    }
    int n = 0;
    for (int c = 0; c < k->ncolumns; c++) {
        int from = k->first[c], end = k->first[c + 1];
        qsort(&k->times[from], (size_t)(end - from), sizeof *k->times, by_place);
        k->first[c] = n;
        for (int i = from; i < end; i++)
            if (i + 1 == end || k->times[i].problem != k->times[i + 1].problem)
                k->times[n++] = k->times[i];
    }
    k->first[k->ncolumns] = n;
    return 0;
}

/* ---- everything together */

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    for (int i = 0; i < k->ndevices; i++) {
        struct known_device *d = &k->devices[i];
        for (int j = 0; j < d->ncandidates; j++) {
            plan_free(d->candidates[j].plan);
            tuned_free(d->candidates[j].tuned);
        }
        mem_free(d->problems);
        mem_free(d->candidates);
    }
    mem_free(k->devices);
    mem_free(k->first);
    mem_free(k->times);
    arena_free(k->arena);
    mem_free(k);
}

/* Reaching a limit is not an error: what was read is used. */
static int end_reading(struct reading *r, struct store *s, int rc)
{
    store_limit(s, 0);
    if (rc != ENOUGH && rc != ERR_TIMEOUT)
        return rc;
    r->k->cut = true;
    if (r->err)
        r->err->msg[0] = 0; /* not an error */
    return 0;
}

static int read_winners(struct reading *r, struct store *s)
{
    struct winners all = { .r = r };
    store_limit(s, WINNER_STEPS);
    int rc = end_reading(r, s, store_each_winner_of(s, r->op->name, take_winner, &all, r->err));
    for (int i = 0; !rc && i < r->k->ndevices; i++)
        rc = list_candidates(&r->k->devices[i], r->err);
    return rc;
}

static int read_times(struct reading *r, struct store *s)
{
    int rc = sort_devices(r);
    if (rc)
        return rc;
    store_limit(s, TIME_STEPS);
    return end_reading(r, s, store_each_time(s, r->op->name, take_time, r, r->err)) ?: take_own_times(r) ?: sort_times(r);
}

int knowledge_load(struct store *s, const struct op *op, struct knowledge **out, struct err *err)
{
    struct reading r = { .op = op, .k = mem_zalloc(sizeof *r.k), .err = err, .seed = (uint64_t)clock_ns() };
    if (!r.k || !(r.k->arena = arena_new())) {
        mem_free(r.k);
        return err_nomem(err);
    }
    int rc = read_winners(&r, s);
    if (!rc && r.k->ndevices)
        rc = read_times(&r, s);
    mem_free(r.columns);
    mem_free(r.places);
    mem_free(r.by_id);
    mem_free(r.taken);
    buf_free(&r.types);
    if (rc)
        knowledge_free(r.k);
    else
        *out = r.k;
    return rc;
}
