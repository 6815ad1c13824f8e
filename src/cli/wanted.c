#include "cli/wanted.h"

#include <inttypes.h>
#include <string.h>

#include "cli/text.h"

/* A table for each device. */
struct printing {
    const struct filter *filter;
    struct listing listing;
};

static int add_row(void *arg, const struct wanted_problem *w)
{
    struct printing *p = arg;
    struct table *table = &p->listing.table;
    const struct devspec *dev = &w->dev;
    if (!filter_is(p->filter, w->op, w->types, w->sizes))
        return 0;
    if (listing_head(&p->listing, "%s: %s (%s%s%s)", dev->backend, dev->name, dev->arch, *dev->mig ? ", " : "", dev->mig)) {
        const char *const names[] = { "op", "types", "problem", "count", "time", "in all" };
        for (int i = 0; i < 6; i++)
            table_cell(table, "%s", names[i]);
    }
    table_cell(table, "%s", w->op);
    table_cell(table, "%s", w->types);
    table_cell(table, "%s", w->sizes);
    table_cell(table, "%" PRId64, w->count);
    table_cell(table, "%s", w->time_ns > 0 ? text_time(w->time_ns) : "");
    table_cell(table, "%s", w->time_ns > 0 ? text_time(w->time_ns * (double)w->count) : "");
    return 0;
}

int wanted_print(struct store *store, const struct filter *filter, struct err *err)
{
    struct printing p = { .filter = filter, .listing.table.align = "lllrrr" };
    int rc = store_each_wanted(store, NULL, add_row, &p, err);
    if (!listing_end(&p.listing) && rc == 0)
        text_line("nothing%s is wanted in %s", filter->op.len ? " of that" : "", store_path(store));
    return rc;
}

struct gathering {
    const struct filter *filter;
    json_t **array;
};

static int add_object(void *arg, const struct wanted_problem *w)
{
    struct gathering *g = arg;
    if (!filter_is(g->filter, w->op, w->types, w->sizes))
        return 0;
    json_t *o = json_object();
    o = json_with(o, "backend", json_text(w->dev.backend));
    o = json_with(o, "device", json_text(w->dev.name));
    o = json_with(o, "arch", json_text(w->dev.arch));
    o = json_with(o, "op", json_text(w->op));
    o = json_with(o, "dtype", json_text(w->types));
    o = json_with(o, "problem", json_text(w->sizes));
    o = json_with(o, "count", json_integer(w->count));
    o = json_with(o, "time_ns", json_positive(w->time_ns));
    o = json_with(o, "total_ns", json_positive(w->time_ns * (double)w->count));
    *g->array = json_append(*g->array, json_with(o, "last", json_text(w->last)));
    return *g->array ? 0 : ERR_NOMEM;
}

int wanted_json(struct store *store, const struct filter *filter, json_t **array, struct err *err)
{
    return store_each_wanted(store, NULL, add_object, &(struct gathering){ .filter = filter, .array = array }, err);
}
