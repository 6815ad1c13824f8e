/* Pieces of records as bytes and back: what op_serial.c and the store share. Over the wire form of base/buf.h. */
#ifndef MODEL_SERIAL_H
#define MODEL_SERIAL_H

#include "base/buf.h"
#include "base/mem.h"
#include "model/op.h"

void put_count(struct buf *out, int n);
void put_ints(struct buf *out, const int *v, int n);
void put_val(struct buf *out, struct val v);
void put_launch(struct buf *out, const struct launch *l);
void put_workspaces(struct buf *out, const struct workspace *w, int n);
void put_needs(struct buf *out, const struct need *v, int n);

/* Reading goes on with zeros after the first failure, as the cursor's does, and is asked once at its end. What is read is copied to
 * the arena, and what is allocated is bounded by the bytes that are left. */
struct serial {
    struct cursor *in;
    struct arena *arena;
    bool nomem;
};

bool serial_failed(const struct serial *r);
int read_count(struct serial *r);                           /* how many things follow */
void *serial_array(struct serial *r, int *n, size_t bytes); /* for *n things; with a failure there are none of them */
const char *read_str(struct serial *r);                     /* null where null was written, or with a failure */
int read_int(struct serial *r);                             /* for the caller to judge */
bool read_bool(struct serial *r);
int *read_ints(struct serial *r, int *n);
struct val read_val(struct serial *r);

#endif
