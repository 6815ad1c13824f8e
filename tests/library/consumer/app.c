/* An application that uses libcutune. Some of its functions have the same names as functions inside the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutune.h>
#include <cutune_ops.h>

void buf_put(void);
void err_set(void);
void *mem_alloc(size_t bytes);
void store_open(void);

void buf_put(void)
{
    abort();
}

void err_set(void)
{
    abort();
}

void *mem_alloc(size_t bytes)
{
    (void)bytes;
    abort();
}

void store_open(void)
{
    abort();
}

int main(void)
{
    cutune *c = NULL;
    int version = cutune_version();
    if (version != CUTUNE_VERSION_NUMBER || strcmp(cutune_version_text(), VERSION) != 0) {
        printf("header %d, expected %s, library %d (%s)\n", CUTUNE_VERSION_NUMBER, VERSION, version, cutune_version_text());
        return 1;
    }
    int rc = cutune_open("/nowhere/there/is/no.db", &c); /* goes through those functions */
    if (rc == CUTUNE_OK)
        printf("a database that is not there was opened\n");
    cutune_close(c);
    return rc == CUTUNE_OK;
}
