#include "cli/measurements.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/targets.h"
#include "cli/text.h"

int filter_read(const struct args *args, struct filter *out)
{
    struct targets t = { 0 };
    bool is_name = args->op && !strchr(args->op, '/') && !strchr(args->op, '.');
    if (is_name && !args->nshapes && !args->ndtypes) { /* stored, perhaps from a script that is elsewhere */
        buf_str(&out->op, args->op);
        return DONE;
    }
    int code = args->op ? targets_op(args, &t) : DONE;
    if (code == DONE && args->op) {
        buf_str(&out->op, t.op->name);
        code = targets_words(args, &t);
    }
    if (code == DONE && args->ndtypes)
        op_row_print(&out->types, t.op, t.rows[0]);
    if (code == DONE && args->nshapes)
        problem_print(&out->problem, t.op, &t.problems[0]);
    targets_free(&t);
    return code;
}

static bool fits(const struct buf *filter, const char *text)
{
    return !filter->len || strcmp(buf_text(filter), text) == 0;
}

bool filter_is(const struct filter *w, const char *op, const char *types, const char *problem)
{
    return fits(&w->op, op) && fits(&w->types, types) && fits(&w->problem, problem);
}

void filter_free(struct filter *w)
{
    buf_free(&w->op);
    buf_free(&w->types);
    buf_free(&w->problem);
}

/* A table for each problem on each device. */
struct printing {
    const struct filter *filter;
    struct listing listing;
};

static int add_row(void *arg, const struct tried *t)
{
    struct printing *p = arg;
    struct table *table = &p->listing.table;
    if (!filter_is(p->filter, t->op, t->types, t->problem))
        return 0;
    if (listing_head(&p->listing, "%s %s %s on %s: %s (%s)%s%s", t->op, t->types, t->problem, t->backend, t->device, t->arch,
                     strcmp(t->cache, "warm") == 0 ? ", warm" : "", t->stale ? ", stale" : "")) {
        const char *const names[] = { "outcome", "time", "configuration", "reason" };
        for (int i = 0; i < 4; i++)
            table_cell(table, "%s", names[i]);
    }
    table_cell(table, "%s", outcome_name(t->outcome));
    table_cell(table, "%s", t->time_ns > 0 ? text_time(t->time_ns) : "");
    table_cell(table, "%s %s", t->variant, t->config);
    table_cell(table, "%s", t->reason);
    return 0;
}

int measurements_print(struct store *store, const struct filter *filter, struct err *err)
{
    struct printing p = { .filter = filter, .listing.table.align = "lrll" };
    int rc = store_each_tried(store, add_row, &p, err);
    if (!listing_end(&p.listing) && rc == 0)
        text_line("no such measurement in %s: `cutune run` makes them", store_path(store));
    return rc;
}

/* The parameters of a variant, whose types its kernels' records tell. */
struct known_variant {
    char *op, *variant;
    int n;
    struct tuned_param *params;
};

struct gathering {
    const struct filter *filter;
    json_t **array;
    struct store *store;
    struct arena *arena;
    struct known_variant *variants;
    int nvariants;
    struct err *err;
};

static const struct known_variant *variant_of(struct gathering *g, const char *op, const char *variant)
{
    for (int i = 0; i < g->nvariants; i++)
        if (strcmp(g->variants[i].variant, variant) == 0 && strcmp(g->variants[i].op, op) == 0)
            return &g->variants[i];
    struct known_variant new = { arena_strdup(g->arena, op), arena_strdup(g->arena, variant), 0, NULL };
    if (!new.op || !new.variant || !mem_grow((void **)&g->variants, g->nvariants, sizeof *g->variants)) {
        err_nomem(g->err);
        return NULL;
    }
    if (store_param_types(g->store, op, variant, g->arena, &new.n, &new.params, g->err))
        return NULL;
    g->variants[g->nvariants] = new;
    return &g->variants[g->nvariants++];
}

static bool is_whole(const char *text, long long *out)
{
    char back[32], *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    snprintf(back, sizeof back, "%lld", *out);
    return !errno && !*end && strcmp(back, text) == 0; /* 007 is a word */
}

static bool is_real(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && isfinite(*out) && text[strcspn(text, ".+-")]; /* words have none of these */
}

/* A value as val_print wrote it. Where no record tells its type, a word that reads like a number or a truth value is one. */
static json_t *value_json(const char *text, const struct known_variant *v, const char *name)
{
    enum val_type type = VAL_NIL;
    long long whole;
    double real;
    for (int i = 0; i < v->n; i++)
        if (strcmp(v->params[i].name, name) == 0)
            type = v->params[i].value.type;
    bool any = type == VAL_NIL;
    if ((any || type == VAL_BOOL) && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return json_boolean(*text == 't');
    if ((any || type == VAL_INT) && is_whole(text, &whole))
        return json_integer(whole);
    if ((any || type == VAL_FLOAT) && is_real(text, &real))
        return json_real(real);
    return json_text(text);
}

/* "TILE=32,GRID=xy" */
static json_t *config_json(const char *config, const struct known_variant *v)
{
    json_t *o = json_object();
    struct buf part = { 0 };
    for (size_t n; *config; config += n + (config[n] == ',')) {
        n = strcspn(config, ",");
        buf_clear(&part);
        buf_put(&part, config, n);
        char *value = part.failed ? NULL : strchr(buf_text(&part), '=');
        if (!value)
            continue;
        *value++ = 0;
        o = json_with(o, part.data, value_json(value, v, part.data));
    }
    buf_free(&part);
    return o;
}

static int add_object(void *arg, const struct tried *t)
{
    struct gathering *g = arg;
    if (!filter_is(g->filter, t->op, t->types, t->problem))
        return 0;
    const struct known_variant *v = variant_of(g, t->op, t->variant);
    if (!v)
        return g->err->code;
    json_t *o = json_object();
    o = json_with(o, "backend", json_text(t->backend));
    o = json_with(o, "device", json_text(t->device));
    o = json_with(o, "arch", json_text(t->arch));
    o = json_with(o, "op", json_text(t->op));
    o = json_with(o, "dtype", json_text(t->types));
    o = json_with(o, "problem", json_text(t->problem));
    o = json_with(o, "cache", json_text(t->cache));
    o = json_with(o, "variant", json_text(t->variant));
    o = json_with(o, "config", config_json(t->config, v));
    o = json_with(o, "outcome", json_text(outcome_name(t->outcome)));
    o = json_with(o, "reason", json_text(t->reason));
    o = json_with(o, "time_ns", json_positive(t->time_ns));
    *g->array = json_append(*g->array, json_with(o, "stale", json_boolean(t->stale)));
    return *g->array ? 0 : ERR_NOMEM;
}

int measurements_json(struct store *store, const struct filter *filter, json_t **array, struct err *err)
{
    struct gathering g = { .filter = filter, .array = array, .store = store, .arena = arena_new(), .err = err };
    int rc = g.arena ? store_each_tried(store, add_object, &g, err) : err_nomem(err);
    mem_free(g.variants);
    arena_free(g.arena);
    return rc;
}
