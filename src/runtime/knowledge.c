/* Reads what the database knows of an op: its winners on each device, and the times of their configurations, and of the defaults', on every
 * tuned problem.
 *
 * The file may be a stranger's, so the amount that is read is limited: the first MOST_WINNERS winners by device and problem, and the first
 * MOST_TIMES times. Memory grows in proportion to what is read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/knowledge.h"

enum {
    ENOUGH = 1,              /* returned by a callback: read no further */
    WINNER_STEPS = 20 << 20, /* SQLite steps to read the winners */
    TIME_STEPS = 40 << 20,   /* SQLite steps to read the measurements */
    TYPE_STEPS = 16 << 20,   /* rows of types compared with the winners' types */
};

/* Gives each different key a number, from 0 on. */
struct numbers {
    int n;
    struct buf *keys;
    int *places; /* a hash table of numbers, from 1; 0: free */
    size_t nplaces;
};

struct reading {
    const struct op *op;
    struct knowledge *k;
    struct err *err;
    struct numbers columns, candidates;
    struct buf key;    /* that a number is asked for */
    uint64_t seed;     /* of its hash */
    int nwinners;      /* read, the damaged ones too */
    size_t text_bytes; /* of configurations */
    struct buf types;  /* of the last winner */
    int row;           /* of these types */
    int64_t type_steps;
};

/* ---- numbers */

/* The place of the key's number, or the free one where it would be. */
static size_t place_of(const struct reading *r, const struct numbers *all, const struct buf *key)
{
    uint64_t h = r->seed;
    for (size_t i = 0; i < key->len; i++)
        h = (h ^ (unsigned char)key->data[i]) * UINT64_C(0x100000001b3);
    size_t at = (size_t)(h ^ h >> 32) & (all->nplaces - 1);
    for (; all->places[at]; at = (at + 1) & (all->nplaces - 1)) {
        const struct buf *other = &all->keys[all->places[at] - 1];
        if (other->len == key->len && !memcmp(other->data, key->data, key->len))
            break;
    }
    return at;
}

/* Keeps at least half of the places free. */
static bool make_places(const struct reading *r, struct numbers *all)
{
    if (all->nplaces > 2 * (size_t)all->n)
        return true;
    size_t n = all->nplaces ? 2 * all->nplaces : 64;
    int *more = mem_array(n, sizeof *more);
    if (!more)
        return false;
    mem_free(all->places);
    all->places = more;
    all->nplaces = n;
    for (int i = 0; i < all->n; i++)
        all->places[place_of(r, all, &all->keys[i])] = i + 1;
    return true;
}

/* The number of r->key; negative: it has none. */
static int number_of(const struct reading *r, const struct numbers *all)
{
    return all->nplaces ? all->places[place_of(r, all, &r->key)] - 1 : -1;
}

/* Gives it one if it has none; negative without memory. */
static int number_for(struct reading *r, struct numbers *all)
{
    int number = number_of(r, all);
    if (number >= 0)
        return number;
    char *copy = r->key.failed ? NULL : arena_alloc(r->k->arena, r->key.len);
    if (!copy || !make_places(r, all) || !mem_grow((void **)&all->keys, all->n, sizeof *all->keys))
        return -1;
    memcpy(copy, r->key.data, r->key.len);
    all->places[place_of(r, all, &r->key)] = all->n + 1;
    all->keys[all->n] = (struct buf){ .data = copy, .len = r->key.len };
    return all->n++;
}

/* A configuration on a device. Its number is that of its column of times. */
static void set_key(struct reading *r, int device, const char *variant, const char *json)
{
    buf_clear(&r->key);
    buf_put(&r->key, &device, sizeof device);
    buf_put(&r->key, variant, strlen(variant) + 1);
    buf_put(&r->key, json, strlen(json) + 1);
}

/* ---- times */

static int put_time(struct reading *r, const struct tuned_problem *p, int column, double ns)
{
    struct knowledge *k = r->k;
    if (!(ns > 0) || !(p->time_ns > 0))
        return 0;
    if (k->ntimes == MOST_TIMES)
        return ENOUGH;
    if (!mem_grow((void **)&k->times, k->ntimes, sizeof *k->times))
        return err_nomem(r->err);
    double loss = log(ns / p->time_ns);
    k->times[k->ntimes] = (struct near_time){ column, p->at, k->ntimes, loss > 0 ? loss : 0 };
    k->ntimes++;
    return 0;
}

static int by_ids(const void *key, const void *at)
{
    const struct timed *t = key;
    const struct tuned_problem *p = *(struct tuned_problem *const *)at;
    if (t->device != p->device_id)
        return t->device < p->device_id ? -1 : 1;
    return (t->problem > p->id) - (t->problem < p->id);
}

/* Of a winner its own time counts, which is there already, and may be of a later measurement. */
static int take_time(void *arg, const struct timed *t)
{
    struct reading *r = arg;
    struct knowledge *k = r->k;
    struct tuned_problem **p = bsearch(t, k->problems, (size_t)k->nproblems, sizeof *k->problems, by_ids);
    if (!p)
        return 0;
    set_key(r, (*p)->device, t->variant, t->json);
    int column = r->key.failed ? -1 : number_of(r, &r->columns);
    return column < 0 || column == (*p)->column ? buf_check(&r->key, r->err) : put_time(r, *p, column, t->median);
}

static int by_place(const void *a, const void *b)
{
    const struct near_time *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->problem != y->problem)
        return x->problem < y->problem ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* By column and problem. Of several times for one problem the last is kept. */
static int sort_times(struct reading *r)
{
    struct knowledge *k = r->k;
    int n = 0, ncolumns = r->columns.n;
    k->first = mem_array((size_t)ncolumns + 1, sizeof *k->first);
    if (!k->first)
        return err_nomem(r->err);
    if (k->ntimes)
        qsort(k->times, (size_t)k->ntimes, sizeof *k->times, by_place);
    for (int i = 0; i < k->ntimes; i++) {
        const struct near_time *t = &k->times[i];
        if (i + 1 < k->ntimes && t->column == t[1].column && t->problem == t[1].problem)
            continue;
        k->first[t->column + 1] = n + 1;
        k->times[n++] = *t;
    }
    k->ntimes = n;
    for (int c = 0; c < ncolumns; c++) /* a column without times ends with the one before it */
        if (k->first[c + 1] < k->first[c])
            k->first[c + 1] = k->first[c];
    return 0;
}

/* ---- winners */

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

/* Winners arrive device by device. */
static struct known_device *device_of(struct knowledge *k, const struct winner *w)
{
    struct known_device *last = k->ndevices ? &k->devices[k->ndevices - 1] : NULL;
    if (last && last->id == w->device)
        return last;
    if (!mem_grow((void **)&k->devices, k->ndevices, sizeof *k->devices))
        return NULL;
    k->devices[k->ndevices] =
        (struct known_device){ .id = w->device, .dev = w->dev, .problems = k->nproblems, .candidates = k->ncandidates };
    return &k->devices[k->ndevices++];
}

static int take_config(struct reading *r, struct tuned_problem *p, const struct winner *w)
{
    set_key(r, p->device, w->variant, w->json);
    if (r->key.failed)
        return err_nomem(r->err);
    if (number_of(r, &r->columns) < 0 && (r->text_bytes += r->key.len) > MOST_CONFIG_BYTES)
        return ENOUGH;
    p->column = number_for(r, &r->columns);
    if (p->column < 0)
        return err_nomem(r->err);
    p->variant = r->columns.keys[p->column].data + sizeof p->device;
    p->json = p->variant + strlen(p->variant) + 1;
    return 0;
}

/* One for each different (device, configuration, types, flags), by the first problem that it won, of those it was not compared for alone. */
static int take_candidate(struct reading *r, struct known_device *d, struct tuned_problem *p, bool alone)
{
    const int64_t what[] = { p->column, p->row, p->flags };
    struct knowledge *k = r->k;
    k->alone = k->alone || alone;
    if (alone)
        return 0;
    buf_clear(&r->key);
    buf_put(&r->key, what, sizeof what);
    int number = number_for(r, &r->candidates);
    if (number >= 0 && number < k->ncandidates)
        return 0;
    if (number < 0 || !mem_grow((void **)&k->candidates, k->ncandidates, sizeof *k->candidates))
        return err_nomem(r->err);
    k->candidates[k->ncandidates++] = p;
    d->ncandidates++;
    return 0;
}

uint32_t problem_flags(const struct op *op, const struct problem *p)
{
    uint32_t flags = 0;
    for (int i = 0; i < op->naxes; i++)
        if (op->axes[i].kind == AXIS_FLAG && p->size[i])
            flags |= 1u << i;
    return flags;
}

static int take_problem(struct reading *r, const struct winner *w, int row, const struct problem *problem)
{
    struct knowledge *k = r->k;
    struct known_device *d = device_of(k, w);
    struct tuned_problem *p = arena_alloc(k->arena, sizeof *p);
    if (!d || !p || !(p->sizes = arena_strdup(k->arena, w->sizes)) ||
        !mem_grow((void **)&k->problems, k->nproblems, sizeof *k->problems))
        return err_nomem(r->err);
    p->device_id = w->device;
    p->id = w->problem;
    p->device = k->ndevices - 1;
    p->at = d->nproblems;
    p->row = row;
    p->flags = problem_flags(r->op, problem);
    p->time_ns = w->time_ns;
    p->work = w->bytes > 0 ? w->bytes : w->flops;
    near_point_set(&p->point, r->op, row, problem);
    int rc = take_config(r, p, w) ?: take_candidate(r, d, p, w->alone) ?: put_time(r, p, p->column, p->time_ns);
    if (rc)
        return rc;
    k->problems[k->nproblems++] = p;
    d->nproblems++;
    return 0;
}

static int take_winner(void *arg, const struct winner *w)
{
    struct reading *r = arg;
    struct problem problem;
    if (r->nwinners++ == MOST_WINNERS || r->type_steps > TYPE_STEPS)
        return ENOUGH;
    int row = row_of(r, w->types);
    if (r->types.failed)
        return err_nomem(r->err);
    if (row < 0) /* the op no longer has these types */
        return 0;
    int rc = problem_parse(r->op, w->sizes, &problem, NULL);
    if (rc == ERR_NOMEM)
        return err_nomem(r->err);
    r->k->damaged += rc != 0;
    return rc ? 0 : take_problem(r, w, row, &problem);
}

/* ---- defaults */

static int take_default(void *arg, const char *backend, const char *variant, const char *json)
{
    struct reading *r = arg;
    struct knowledge *k = r->k;
    for (int i = 0; i < k->ndevices; i++) {
        if (strcmp(k->devices[i].dev.backend, backend))
            continue;
        set_key(r, i, variant, json);
        if (!r->key.failed && number_of(r, &r->columns) < 0 && (r->text_bytes += r->key.len) > MOST_CONFIG_BYTES)
            return ENOUGH;
        int column = number_for(r, &r->columns);
        if (column < 0 || !mem_grow((void **)&k->defaults, k->ndefaults, sizeof *k->defaults))
            return err_nomem(r->err);
        bool known = false;
        for (int d = 0; !known && d < k->ndefaults; d++)
            known = k->defaults[d].column == column;
        if (known)
            continue;
        const char *name = r->columns.keys[column].data + sizeof i;
        k->defaults[k->ndefaults++] = (struct known_default){ i, column, name, name + strlen(name) + 1 };
    }
    return 0;
}

/* ---- everything together */

void knowledge_free(struct knowledge *k)
{
    if (!k)
        return;
    plan_free(k->plan);
    mem_free(k->devices);
    mem_free(k->problems);
    mem_free(k->candidates);
    mem_free(k->defaults);
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

static int read_all(struct reading *r, struct store *s, const struct winner_choice *choice)
{
    store_limit(s, WINNER_STEPS);
    int rc = end_reading(r, s, store_each_winner_of(s, r->op->name, choice, take_winner, r, r->err));
    if (rc || !r->k->nproblems)
        return rc;
    store_limit(s, WINNER_STEPS);
    rc = end_reading(r, s, store_each_default_config(s, r->op->name, take_default, r, r->err));
    if (rc)
        return rc;
    store_limit(s, TIME_STEPS);
    return end_reading(r, s, store_each_time(s, r->op->name, choice, take_time, r, r->err)) ?: sort_times(r);
}

int knowledge_load(struct store *s, const struct op *op, const struct winner_choice *choice, struct knowledge **out, struct err *err)
{
    struct reading r = { .op = op, .k = mem_zalloc(sizeof *r.k), .err = err, .seed = (uint64_t)clock_ns() };
    if (!r.k || !(r.k->arena = arena_new())) {
        mem_free(r.k);
        return err_nomem(err);
    }
    int rc = plan_new(op, -1, &r.k->plan, err) ?: read_all(&r, s, choice);
    mem_free(r.columns.places);
    mem_free(r.columns.keys);
    mem_free(r.candidates.places);
    mem_free(r.candidates.keys);
    buf_free(&r.key);
    buf_free(&r.types);
    if (rc)
        knowledge_free(r.k);
    else
        *out = r.k;
    return rc;
}
