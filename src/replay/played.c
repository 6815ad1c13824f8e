#include "replay/played.h"

#include <jansson.h>

#include "base/mem.h"
#include "replay/json.h"
#include "replay/play.h"

enum { MAX_RUNS = 10000 };

/* Of several variants the first value is the name of one. */
static int64_t find(const struct recorded_space *t, const json_t *values)
{
    const int named = t->op->nvariants > 1;
    const char *name = json_string_value(json_array_get(values, 0));
    struct config c = { .variant = !named ? 0 : name ? op_variant(t->op, name) : -1 };
    const struct variant *v = c.variant < 0 ? NULL : &t->op->variants[c.variant];
    struct val value;
    if (!v || (int)json_array_size(values) != named + v->nparams)
        return -1;
    for (int p = 0; p < v->nparams; p++) {
        int at = json_to_val(json_array_get(values, (size_t)(named + p)), &value) ? param_value(&v->params[p], value) : -1;
        if (at < 0)
            return -1;
        c.at[p] = (uint16_t)at;
    }
    return space_find(t->space, &c);
}

static int read_run(const struct recorded_space *t, json_t *run, struct tries *out, struct err *err)
{
    size_t i;
    json_t *config;
    out->index = mem_array(json_array_size(run), sizeof *out->index);
    if (!out->index)
        return err_nomem(err);
    json_array_foreach(run, i, config)
    {
        int64_t index = find(t, config);
        if (index < 0)
            return err_set(err, ERR_INVALID, "configuration %zu: %s has none like it", i + 1, t->title);
        out->index[out->n++] = index;
    }
    return 0;
}

static int read_entry(const struct tables *tables, json_t *entry, struct played *out, struct err *err)
{
    const char *name = json_string_value(json_object_get(entry, "strategy"));
    json_t *number = json_object_get(entry, "table"), *runs = json_object_get(entry, "runs"), *run;
    json_int_t table = json_is_integer(number) ? json_integer_value(number) : -1;
    size_t n = json_array_size(runs), i;
    if (!name || table < 0 || table >= tables->n || n < 1 || n > MAX_RUNS)
        return err_set(err, ERR_INVALID,
                       "\"strategy\", a text, \"table\", a number of 0 to %d, and \"runs\", a list of 1 to %d, are wanted",
                       tables->n - 1, MAX_RUNS);
    out->strategy = mem_strdup(name);
    out->table = (int)table;
    out->runs = mem_array(n, sizeof *out->runs);
    if (!out->strategy || !out->runs)
        return err_nomem(err);
    out->nruns = (int)n;
    int rc = 0;
    json_array_foreach(runs, i, run)
    {
        rc = rc ?: read_run(tables->at[table], run, &out->runs[i], err);
        if (rc) {
            err_prefix(err, "run %zu: ", i + 1);
            break;
        }
    }
    return rc;
}

int played_read(const char *path, const struct tables *tables, struct played **out, int *n, struct err *err)
{
    struct buf text = { 0 };
    json_t *root = NULL, *entry;
    size_t i;
    int rc = text_read(path, &text, err) ?: json_parse(path, &text, &root, err);
    buf_free(&text);
    *n = 0;
    *out = NULL;
    if (!rc && !json_array_size(root))
        rc = err_set(err, ERR_INVALID, "%s: a list of what was tried is wanted", path);
    if (!rc && !(*out = mem_array(json_array_size(root), sizeof **out)))
        rc = err_nomem(err);
    json_array_foreach(root, i, entry)
    {
        if (rc)
            break;
        rc = read_entry(tables, entry, &(*out)[(*n)++], err);
        if (rc && rc != ERR_NOMEM)
            err_prefix(err, "%s: entry %zu: ", path, i + 1);
    }
    json_decref(root);
    if (rc) {
        played_free(*out, *n);
        *n = 0;
        *out = NULL;
    }
    return rc;
}

void played_free(struct played *p, int n)
{
    for (int i = 0; i < n; i++) {
        tries_free(p[i].runs, p[i].nruns);
        mem_free(p[i].runs);
        mem_free(p[i].strategy);
    }
    mem_free(p);
}
