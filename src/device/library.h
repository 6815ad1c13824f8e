/* Calls of other libraries, loaded at run time, on memory and the queue of a device that is measured on. They are peers of kernels: the
 * library may not be there, may be wrong, and may take the process down. */
#ifndef DEVICE_LIBRARY_H
#define DEVICE_LIBRARY_H

#include "device/device.h"
#include "model/peer.h"

enum { LIBRARY_VERSION = 48, LIBRARY_WORKSPACE = 32 << 20 };

struct library_call {
    enum peer_library library;
    enum peer_call call;
    enum peer_mode mode;
    struct peer_values values;
    const struct dtype *type[3];    /* of a, b and c; null: there is none */
    const struct memory *memory[3]; /* likewise */
    const struct memory *workspace; /* LIBRARY_WORKSPACE bytes, that it may use */
};

/* A call that is ready. The backend's own struct begins with it. */
struct called {
    struct library_call is;
    int ways;                      /* algorithms that the library names for it, the one that it would take first; 1 at least */
    char version[LIBRARY_VERSION]; /* "13.0.2" */
};

/* ERR_UNSUPPORTED, with a line: the library is not here, or has no such call of these types or sizes. ERR_NOTFOUND: it is for other devices. */
int device_call_open(struct device *d, const struct library_call *what, struct called **out, struct err *err);
int device_call_run(struct device *d, struct called *c, int way, struct err *err); /* queued */
void device_call_close(struct device *d, struct called *c);                        /* null is fine */

#endif
