#include "cli/tried.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The parameters of a variant, whose types its kernels' records tell. */
struct known_variant {
    char *op, *variant;
    int n;
    struct tuned_param *params;
};

struct tried_reader {
    struct store *store;
    struct arena *arena;
    struct known_variant *variants;
    int n;
};

int tried_reader_new(struct store *store, struct tried_reader **out, struct err *err)
{
    struct tried_reader *r = mem_zalloc(sizeof *r);
    struct arena *arena = arena_new();
    if (!r || !arena) {
        mem_free(r);
        arena_free(arena);
        return err_nomem(err);
    }
    r->store = store;
    r->arena = arena;
    *out = r;
    return 0;
}

void tried_reader_free(struct tried_reader *r)
{
    if (!r)
        return;
    mem_free(r->variants);
    arena_free(r->arena);
    mem_free(r);
}

int tried_read(struct tried_reader *r, const struct tried *t, struct typed_tried *out, struct err *err)
{
    *out = (struct typed_tried){ .t = *t };
    for (int i = 0; i < r->n && !out->variant; i++)
        if (strcmp(r->variants[i].variant, t->variant) == 0 && strcmp(r->variants[i].op, t->op) == 0)
            out->variant = &r->variants[i];
    if (out->variant)
        return 0;
    struct known_variant new = { arena_strdup(r->arena, t->op), arena_strdup(r->arena, t->variant), 0, NULL };
    if (!new.op || !new.variant || !mem_grow((void **)&r->variants, r->n, sizeof *r->variants))
        return err_nomem(err);
    int rc = store_param_types(r->store, t->op, t->variant, r->arena, &new.n, &new.params, err);
    if (rc)
        return rc;
    r->variants[r->n] = new;
    out->variant = &r->variants[r->n++];
    return 0;
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
static json_t *typed_value(const char *text, const struct known_variant *v, const char *name)
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
static json_t *config_json(const void *row)
{
    const struct typed_tried *r = row;
    json_t *o = json_object();
    struct buf part = { 0 };
    const char *config = r->t.config;
    for (size_t n; *config; config += n + (config[n] == ',')) {
        n = strcspn(config, ",");
        buf_clear(&part);
        buf_put(&part, config, n);
        char *value = part.failed ? NULL : strchr(buf_text(&part), '=');
        if (!value)
            continue;
        *value++ = 0;
        o = json_with(o, part.data, typed_value(value, r->variant, part.data));
    }
    buf_free(&part);
    return o;
}

static void outcome(struct buf *out, const void *row)
{
    const struct typed_tried *r = row;
    buf_str(out, outcome_name(r->t.outcome));
}

static void configuration(struct buf *out, const void *row)
{
    const struct typed_tried *r = row;
    buf_fmt(out, "%s %s", r->t.variant, r->t.config);
}

const struct row_column tried_columns[] = {
    { "backend", FIELD(struct typed_tried, t.backend) },
    { "device", FIELD(struct typed_tried, t.device) },
    { "arch", FIELD(struct typed_tried, t.arch) },
    { "op", FIELD(struct typed_tried, t.op) },
    { "dtype", FIELD(struct typed_tried, t.types) },
    { "problem", FIELD(struct typed_tried, t.problem) },
    { "cache", FIELD(struct typed_tried, t.cache) },
    { "variant", FIELD(struct typed_tried, t.variant) },
    { "config", .json = config_json },
    { "outcome", "outcome", .text = outcome },
    { .head = "time", FIELD(struct typed_tried, t.time_ns), .unit = UNIT_NS },
    { .head = "configuration", .text = configuration },
    { "reason", "reason", FIELD(struct typed_tried, t.reason) },
    { "time_ns", FIELD(struct typed_tried, t.time_ns) },
    { "stale", FIELD(struct typed_tried, t.stale) },
    { 0 },
};
