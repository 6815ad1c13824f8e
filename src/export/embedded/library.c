/* Opening without a file, and what there is nothing to do for without one. */
#include "export/embedded/embedded.h"

struct store {
    char nothing;
};

int open_database(struct cutune *c, const char *given, struct err *err)
{
    static struct store here;
    (void)given;
    (void)err;
    c->store = &here;
    return 0;
}

int open_tables(struct cutune *c, const char *given, struct err *err)
{
    (void)c;
    (void)given;
    (void)err;
    return 0;
}

struct store *tables_of(struct cutune *c)
{
    (void)c;
    return NULL;
}

int take_cache(const char *given, char **out, struct err *err)
{
    (void)given;
    (void)out;
    (void)err;
    return 0;
}

void store_close(struct store *s)
{
    (void)s;
}

int watch_start(struct cutune *c, struct err *err)
{
    (void)c;
    (void)err;
    return 0;
}

void watch_stop(struct cutune *c)
{
    (void)c;
}

void watch_forget(struct cutune *c)
{
    (void)c;
}

int watch_flush(struct cutune *c, struct err *err)
{
    (void)c;
    (void)err;
    return 0;
}

/* watch.c's: there is never anything new. */
int refresh(cutune *c, int *changed, struct err *err)
{
    (void)c;
    (void)changed;
    (void)err;
    return 0;
}

int store_each_winner(struct store *s, int (*each)(void *arg, const struct listed *l), void *arg, struct err *err)
{
    int rc = 0;
    (void)s;
    (void)err;
    for (int i = 0; !rc && i < embedded_nrecords; i++) {
        const cutune_record *r = &embedded_records[i];
        const struct listed l = {
            .device = r->device,
            .backend = r->backend,
            .arch = r->arch,
            .op = r->op,
            .types = r->types,
            .problem = r->sizes,
            .variant = r->variant,
            .config = r->config,
            .time_ns = r->time_ns,
            .stale = r->stale,
        };
        rc = each(arg, &l);
    }
    return rc;
}

int store_left_out(struct store *s)
{
    (void)s;
    return 0;
}
