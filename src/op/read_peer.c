/* A peer: a library's call, and what of the op it is given. */
#include <string.h>

#include "op/read.h"

static void read_buffer(struct reader *r, void *out)
{
    const char *name;
    int i = 0;
    read_text(r, &name);
    while (i < r->op->nargs && strcmp(r->op->args[i].name, name))
        i++;
    if (i == r->op->nargs)
        fail(r, "there is no argument '%.80s'", name);
    *(int *)out = i;
}

void read_peer(struct reader *r, void *out)
{
    struct peer *p = out;
    const char **n = p->number;
    for (int i = 0; i < 3; i++)
        p->buffer[i] = -1;
    read_table(r, "library call mode when a b c " PEER_NUMBERS_WORDS, "WWwxfffxxxxxxxxxx", PEER_LIBRARIES, &p->library, PEER_CALLS,
               &p->call, PEER_MODES, &p->mode, &p->when, read_buffer, &p->buffer[0], read_buffer, &p->buffer[1], read_buffer,
               &p->buffer[2], &n[PEER_M], &n[PEER_N], &n[PEER_K], &n[PEER_LDA], &n[PEER_LDB], &n[PEER_LDC], &n[PEER_TA],
               &n[PEER_TB], &n[PEER_ALPHA], &n[PEER_BETA]);
}
