/* Opening without files: there is no database, no shipped tables, no cache, and nobody to tell of misses. */
#include "export/embedded/embedded.h"

int open_database(struct cutune *c, const char *given, struct err *err)
{
    c->capture = false;
    c->refresh_ms = 0;
    return store_open(given, STORE_READ, &c->store, err);
}

int open_tables(struct cutune *c, const char *given, struct err *err)
{
    return 0;
}

struct store *tables_of(struct cutune *c)
{
    return NULL;
}

int take_cache(const char *given, char **out, struct err *err)
{
    return 0;
}
