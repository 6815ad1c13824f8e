/* JSON: one object, {"cutune": version, "winners": [...]}, a winner a line. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "export/row.h"

struct writer {
    struct buf *out;
    int n;
    struct err *err;
};

/* Adds a member, and takes the value; false where there is no memory, or a text is not UTF-8. */
static bool add(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static json_t *known(double v)
{
    return v > 0 ? json_real(v) : json_null();
}

static json_t *value_json(struct val v)
{
    switch (v.type) {
    case VAL_BOOL:
        return json_boolean(v.b);
    case VAL_INT:
        return json_integer(v.i);
    case VAL_FLOAT:
        return json_real(v.f);
    case VAL_STR:
        return json_string(v.s);
    case VAL_NIL:
        break;
    }
    return json_null();
}

static json_t *config_json(const struct listed *l)
{
    json_t *config = json_object();
    bool fine = config != NULL;
    for (int i = 0; fine && i < l->nparams; i++)
        fine = add(config, l->params[i].name, value_json(l->params[i].value));
    if (fine)
        return config;
    json_decref(config);
    return NULL;
}

/* "m=1111,n=113" as an object; JSON's null where it is not that. */
static json_t *problem_json(const char *text)
{
    json_t *problem = json_object();
    bool fine = problem != NULL;
    while (fine && *text) {
        char name[MAX_NAME + 1], *end = NULL;
        size_t n = strcspn(text, "=");
        if (!text[n] || n >= sizeof name) {
            fine = false;
            break;
        }
        memcpy(name, text, n);
        name[n] = 0;
        text += n + 1;
        errno = 0;
        long long size = strtoll(text, &end, 10);
        fine = end > text && !errno && (*end == ',' || !*end) && add(problem, name, json_integer(size));
        text = *end ? end + 1 : end;
    }
    if (fine || !problem)
        return problem;
    json_decref(problem);
    return json_null();
}

static json_t *row_json(const struct listed *l)
{
    json_t *o = json_object();
    if (o && add(o, "device", json_string(l->device)) && add(o, "backend", json_string(l->backend)) &&
        add(o, "arch", json_string(l->arch)) && add(o, "driver", json_string(l->driver)) && add(o, "op", json_string(l->op)) &&
        add(o, "dtype", json_string(l->types)) && add(o, "problem", problem_json(l->problem)) &&
        add(o, "cache", json_string(l->cache)) && add(o, "variant", json_string(l->variant)) && add(o, "config", config_json(l)) &&
        add(o, "time_ns", known(l->time_ns)) && add(o, "gb_per_s", known(gb_per_s(l))) &&
        add(o, "gflop_per_s", known(gflop_per_s(l))) && add(o, "copy_share", known(copy_share(l))) &&
        add(o, "samples", json_integer(l->samples)) && add(o, "measured", json_integer(l->measured)) &&
        add(o, "ok", json_integer(l->ok)) && add(o, "stale", json_boolean(l->stale)) && add(o, "date", json_string(l->when)))
        return o;
    json_decref(o);
    return NULL;
}

static int write_row(void *arg, const struct listed *l)
{
    struct writer *w = arg;
    json_t *row = row_json(l);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(row);
    if (!text)
        return err_nomem(w->err);
    buf_fmt(w->out, "%s\n%s", w->n++ ? "," : "", text);
    free(text); /* jansson's own */
    return 0;
}

int export_json(struct store *s, struct buf *out, struct err *err)
{
    struct writer w = { .out = out, .err = err };
    buf_fmt(out, "{\"cutune\":\"%s\",\"winners\":[", CUTUNE_VERSION);
    int rc = store_each_winner(s, write_row, &w, err);
    if (!rc)
        buf_str(out, "\n]}\n");
    return rc;
}
