/* `cutune report`: gathers what databases hold. Different things are listed once, and rows have their places. */
#include "export/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { MAX_REPORTED = 1000000 };

/* ---- lists */

/* The place of a thing in its list, by a key: *at, and whether it is new. Parts of keys have no line breaks. */
static int place(struct report *r, const struct buf *key, int next, int *at, bool *new)
{
    int rc = buf_check(key, r->err);
    const json_t *there = rc ? NULL : json_object_get(r->places, key->data);
    *new = !there;
    *at = there ? (int)json_integer_value(there) : next;
    if (!rc && *new &&json_object_set_new_nocheck(r->places, key->data, json_integer(next)))
        rc = err_nomem(r->err);
    return rc;
}

/* The same of a list of JSON. Takes the key's memory and the value. */
static int list_place(struct report *r, json_t *list, struct buf *key, json_t *value, int *at)
{
    bool new = false;
    int rc = place(r, key, (int)json_array_size(list), at, &new);
    if (!rc && new &&json_array_append(list, value))
        rc = err_nomem(r->err);
    json_decref(value);
    buf_free(key);
    return rc;
}

#define KEY(key, ...)                                                                                                              \
    struct buf key = { 0 };                                                                                                        \
    buf_fmt(&(key), __VA_ARGS__)

static int add_device(struct report *r, const struct devspec *d, int *at)
{
    KEY(key, "device\n%s\n%s\n%s\n%s\n%d\n%lld", d->backend, d->name, d->arch, d->mig, d->multiprocessors, (long long)d->memory);
    return list_place(r, r->devices, &key,
                      json_pack("{s:o, s:o, s:o, s:o, s:i, s:I}", "name", json_text(d->name), "backend", json_text(d->backend),
                                "arch", json_text(d->arch), "mig", json_text(d->mig), "multiprocessors", d->multiprocessors,
                                "memory", (json_int_t)d->memory),
                      at);
}

static int add_provenance(struct report *r, const struct record *m, int device, int *at)
{
    KEY(key, "provenance\n%d\n%s\n%s\n%s", device, m->driver, m->tool, m->file);
    return list_place(r, r->provenances, &key,
                      json_pack("{s:i, s:o, s:o, s:o}", "device", device, "driver", json_text(m->driver), "cutune",
                                json_text(m->tool), "uuid", json_text(m->file)),
                      at);
}

static int add_resources(struct report *r, const struct resources *u, int *at)
{
    KEY(key, "resources\n%d\n%lld\n%lld\n%d", u->registers, (long long)u->shared, (long long)u->local, u->max_threads);
    return list_place(r, r->resources, &key,
                      json_pack("[i, I, I, i]", u->registers, (json_int_t)u->shared, (json_int_t)u->local, u->max_threads), at);
}

static int add_reason(struct report *r, const char *reason, int *at)
{
    KEY(key, "reason\n%s", reason);
    return list_place(r, r->reasons, &key, json_text(reason), at);
}

static int add_op(struct report *r, const char *name, int *at)
{
    KEY(key, "op\n%s", name);
    return list_place(r, r->ops, &key, json_pack("{s:o, s:[]}", "name", json_text(name), "variants"), at);
}

static int add_problem(struct report *r, int op, const char *types, const char *sizes, double bytes, double flops, int *at)
{
    KEY(key, "problem\n%d\n%s\n%s", op, types, sizes);
    return list_place(r, r->problems, &key,
                      json_pack("{s:i, s:o, s:o, s:f, s:f}", "op", op, "types", json_text(types), "sizes", json_text(sizes), "bytes",
                                bytes, "flops", flops),
                      at);
}

/* ---- configurations */

static int add_param(struct report *r, int variant, const char *name, int *at)
{
    struct report_variant *v = &r->variants[variant];
    json_t *params = json_object_get(v->json, "params");
    bool new = false;
    KEY(key, "param\n%d\n%s", variant, name);
    int rc = place(r, &key, v->nparams, at, &new);
    buf_free(&key);
    if (rc || !new)
        return rc;
    json_t *values = json_array();
    if (!mem_grow((void **)&r->params, r->nparams, sizeof *r->params) ||
        !mem_grow((void **)&v->params, v->nparams, sizeof *v->params) ||
        json_array_append_new(params, json_pack("{s:o, s:O}", "name", json_text(name), "values", values))) {
        json_decref(values);
        return err_nomem(r->err);
    }
    json_decref(values); /* the list has it */
    v->params[v->nparams++] = r->nparams;
    r->params[r->nparams++] = (struct report_param){ .values = values };
    return 0;
}

static int add_value(struct report *r, int param, json_t *value, int *at)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    KEY(key, "value\n%d\n%s", param, text ? text : "");
    free(text); /* jansson's own */
    return list_place(r, r->params[param].values, &key, json_incref(value), at);
}

static int add_values(struct report *r, struct report_config *c, const char *json)
{
    json_t *members = json_loads(json, 0, NULL), *value;
    const char *name;
    int rc = 0, n = (int)json_object_size(members), known = r->variants[c->variant].nparams;
    c->values = arena_array(r->arena, (size_t)(known + n) + 1, sizeof *c->values);
    if (!members || !c->values)
        rc = err_nomem(r->err);
    for (int i = 0; !rc && i < known + n; i++)
        c->values[i] = -1;
    json_object_foreach(members, name, value)
    {
        int param = 0;
        rc = rc ?: add_param(r, c->variant, name, &param);
        rc = rc ?: add_value(r, r->variants[c->variant].params[param], value, &c->values[param]);
    }
    c->nvalues = rc ? 0 : r->variants[c->variant].nparams;
    json_decref(members);
    return rc;
}

static int add_variant(struct report *r, int op, const char *name, struct report_config *c)
{
    json_t *variants = json_object_get(json_array_get(r->ops, (size_t)op), "variants");
    bool new = false;
    KEY(key, "variant\n%d\n%s", op, name);
    int rc = place(r, &key, r->nvariants, &c->variant, &new);
    buf_free(&key);
    if (!rc && new) {
        json_t *json = json_pack("{s:o, s:[]}", "name", json_text(name), "params");
        if (!mem_grow((void **)&r->variants, r->nvariants, sizeof *r->variants) || json_array_append_new(variants, json))
            return err_nomem(r->err);
        r->variants[r->nvariants++] = (struct report_variant){ .json = json };
    }
    for (size_t i = 0; !rc && i < json_array_size(variants); i++)
        if (json_array_get(variants, i) == r->variants[c->variant].json)
            c->at = (int)i;
    return rc;
}

static int add_config(struct report *r, int op, const char *variant, const char *json, int *at)
{
    struct report_config c = { 0 };
    bool new = false;
    KEY(key, "config\n%d\n%s\n%s", op, variant, json);
    int rc = place(r, &key, r->nconfigs, at, &new);
    buf_free(&key);
    if (rc || !new)
        return rc;
    rc = add_variant(r, op, variant, &c) ?: add_values(r, &c, json);
    if (!rc && !mem_grow((void **)&r->configs, r->nconfigs, sizeof *r->configs))
        rc = err_nomem(r->err);
    if (!rc)
        r->configs[r->nconfigs++] = c;
    return rc;
}

/* ---- runs */

static bool chosen(const struct report *r, const char *op, const struct devspec *dev)
{
    bool is = !r->choice->nops;
    for (int i = 0; i < r->choice->nops && !is; i++)
        is = !strcmp(r->choice->ops[i], op);
    return is && devspec_called(dev, r->choice->device);
}

static int add_run(struct report *r, const struct report_run *like, struct report_run **run)
{
    int at;
    bool new = false;
    KEY(key, "run\n%d\n%d\n%d\n%d\n%d", like->source, like->device, like->problem, like->warm, like->claims);
    int rc = place(r, &key, r->nruns, &at, &new);
    buf_free(&key);
    if (!rc && new && !mem_grow((void **)&r->runs, r->nruns, sizeof *r->runs))
        rc = err_nomem(r->err);
    if (rc)
        return rc;
    if (new)
        r->runs[r->nruns++] = *like;
    *run = &r->runs[at];
    return 0;
}

static int64_t seconds_of(const char *when)
{
    struct tm t = { 0 };
    const char *end = strptime(when, "%Y-%m-%dT%H:%M:%SZ", &t);
    return end && !*end ? timegm(&t) : 0;
}

/* Records come the fastest first, of those that are right and not stale. */
static bool is_shown(struct report_run *run, const struct record *m)
{
    bool shown = !run->claims && m->measured.result.outcome == OUT_OK && !m->stale && run->best < SHOWN_BEST;
    run->best += shown;
    for (int i = 0; i < run->nwinners; i++)
        shown = shown || !strcmp(run->winners[i].key, m->measured.key);
    return shown;
}

static int add_row(struct report *r, struct report_run *run, const struct record *m, const struct report_row *like)
{
    const struct result *of = &m->measured.result;
    if (r->nrows++ == MAX_REPORTED)
        return err_set(r->err, ERR_INVALID, "%s: more than %d measurements, which no page shows: choose with --op and --device",
                       store_path(r->store), MAX_REPORTED);
    if (!mem_grow((void **)&run->rows, run->n, sizeof *run->rows))
        return err_nomem(r->err);
    struct report_row *row = &run->rows[run->n++];
    *row = *like;
    row->id = m->id;
    row->created = seconds_of(m->when);
    row->outcome = of->outcome;
    row->stats = of->stats;
    row->compile_ms = of->compile_ms;
    row->joules = of->energy.joules;
    row->stale = m->stale;
    row->state = run->claims ? claim_state(m) : CLAIM_UNVERIFIED;
    memcpy(row->key, m->measured.key, sizeof row->key);
    r->nmeasured += !run->claims;
    if (!is_shown(run, m))
        return 0;
    row->samples = arena_array(r->arena, (size_t)of->nsamples + 1, sizeof *row->samples);
    if (!row->samples)
        return err_nomem(r->err);
    memcpy(row->samples, of->samples, (size_t)of->nsamples * sizeof *row->samples);
    row->nsamples = of->nsamples;
    return 0;
}

static int take_record(struct report *r, const struct record *m, bool claims)
{
    struct report_run like = { .source = r->source, .warm = !strcmp(m->cache, "warm"), .claims = claims }, *run;
    struct report_row row = { 0 };
    int op = 0;
    if (!chosen(r, m->op, &m->dev))
        return 0;
    return add_op(r, m->op, &op)
        ?: add_problem(r, op, m->types, m->sizes, m->bytes, m->flops, &like.problem)
        ?: add_device(r, &m->dev, &like.device)
        ?: add_provenance(r, m, like.device, &row.provenance)
        ?: add_reason(r, m->measured.result.reason, &row.reason)
        ?: add_resources(r, &m->measured.result.resources, &row.resources)
        ?: add_config(r, op, m->measured.variant, m->measured.json, &row.config)
        ?: add_run(r, &like, &run)
        ?: add_row(r, run, m, &row);
}

static int take_measured(void *arg, const struct record *m)
{
    return take_record(arg, m, false);
}

static int take_claim(void *arg, const struct record *m)
{
    return take_record(arg, m, true);
}

static int take_winner(void *arg, const struct listed *l)
{
    struct report *r = arg;
    struct report_run like = { .source = r->source, .warm = !strcmp(l->cache, "warm") }, *run;
    int op = 0;
    if (!chosen(r, l->op, l->dev))
        return 0;
    int rc = add_op(r, l->op, &op)
        ?: add_problem(r, op, l->types, l->problem, l->bytes, l->flops, &like.problem)
        ?: add_device(r, l->dev, &like.device)
        ?: add_run(r, &like, &run);
    if (rc)
        return rc;
    json_t *json = json_pack("{s:o, s:o, s:o, s:f, s:f}", "variant", json_text(l->variant), "config", json_stored(l->json), "driver",
                             json_text(l->driver), "time", l->time_ns, "copy", l->copy_ns);
    const struct {
        const char *name;
        bool is;
    } marks[] = {
        { "pinned", l->pinned }, { "stale", l->stale }, { "changed", l->changed }, { "unverified", l->unverified }, { "alone", l->alone },
    };
    for (size_t i = 0; json && i < sizeof marks / sizeof *marks; i++)
        json = marks[i].is ? json_with(json, marks[i].name, json_true()) : json;
    if (json && *l->objective && strcmp(l->objective, "time") != 0)
        json = json_with(json, "objective", json_text(l->objective));
    if (!json || !mem_grow((void **)&run->winners, run->nwinners, sizeof *run->winners)) {
        json_decref(json);
        return err_nomem(r->err);
    }
    struct report_winner *w = &run->winners[run->nwinners++];
    *w = (struct report_winner){ .json = json };
    snprintf(w->key, sizeof w->key, "%s", l->key);
    return 0;
}

/* ---- a page */

static int read_source(struct report *r, struct report_source *from)
{
    struct store *s = r->store = from->store;
    int rc = store_begin(s, false, r->err) ?: store_end(s,
                                                        store_each_winner(s, take_winner, r, r->err)
                                                            ?: store_each_record(s, false, NULL, NULL, NULL, take_measured, r, r->err)
                                                            ?: store_each_record(s, true, NULL, NULL, NULL, take_claim, r, r->err),
                                                        r->err);
    r->source++;
    from->damaged = store_left_out(s);
    if (!rc && json_array_append_new(r->sources, json_pack("{s:o, s:i}", "name", json_text(from->name), "damaged", from->damaged)))
        rc = err_nomem(r->err);
    return rc;
}

static int begin(struct report *r)
{
    json_t **const lists[] = { &r->sources, &r->devices, &r->provenances, &r->ops, &r->problems, &r->reasons, &r->resources };
    bool there = (r->arena = arena_new()) && (r->places = json_object());
    int none;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        there = (*lists[i] = json_array()) && there;
    return there ? add_reason(r, "", &none) : err_nomem(r->err);
}

static void end(struct report *r)
{
    json_t *const lists[] = { r->sources, r->devices, r->provenances, r->ops, r->problems, r->reasons, r->resources, r->places };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_decref(lists[i]);
    for (int i = 0; i < r->nruns; i++) {
        while (r->runs[i].nwinners)
            json_decref(r->runs[i].winners[--r->runs[i].nwinners].json);
        mem_free(r->runs[i].winners);
        mem_free(r->runs[i].rows);
    }
    for (int i = 0; i < r->nvariants; i++)
        mem_free(r->variants[i].params);
    mem_free(r->params);
    mem_free(r->variants);
    mem_free(r->configs);
    mem_free(r->runs);
    arena_free(r->arena);
}

int report_data(struct report_source *sources, int n, const struct report_choice *choice, struct report_found *found,
                struct buf *out, struct err *err)
{
    struct report r = { .choice = choice, .err = err };
    int rc = begin(&r);
    for (int i = 0; !rc && i < n; i++)
        rc = read_source(&r, &sources[i]);
    *found = (struct report_found){ r.nmeasured, (int)json_array_size(r.problems) };
    if (!rc && r.nruns)
        rc = report_json(&r, out, err);
    end(&r);
    return rc;
}
