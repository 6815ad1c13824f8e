/* What a backend adds to being a guest, so that kernels can be measured on it. device.c has checked what it hands down. */
#ifndef DEVICE_MEASURING_H
#define DEVICE_MEASURING_H

#include "device/device.h"

struct device {
    const struct backend *backend;
    struct devspec spec;
    struct guest *guest; /* in a context of our own; what the backend needs to measure is there, too */
    void *stream;        /* of it */
};

struct memory {
    void *at;   /* an address, or the backend's object */
    void *root; /* the same of the buffer that a view is a part of */
    int64_t bytes, offset;
    bool is_view;
};

/* One end of a copy: a place in the device's memory, or else in the host's (memory is null). */
struct copy_end {
    const struct memory *memory;
    int64_t offset;
    void *host;
};

struct backend_measuring {
    /* Fills in the guest and the stream. After a failure close is called, too, if there is a guest. */
    int (*open)(struct device *d, struct err *err);
    void (*close)(struct device *d); /* before the guest is closed; null: nothing to do */
    /* Called before all work: makes the context current, or says that it is lost. Null: nothing to do. */
    int (*use)(struct device *d, struct err *err);

    int (*alloc)(struct device *d, struct memory *m, struct err *err);
    int (*view)(struct device *d, struct memory *v, struct err *err); /* null: addresses, which are added to */
    void (*free)(struct device *d, struct memory *m);
    int (*fill)(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err);
    /* Waits for all that is queued if one end is the host's. */
    int (*copy)(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err);

    int (*mark)(struct device *d, int slot, bool end, struct err *err); /* the begin or the end of a span */
    int (*span_ns)(struct device *d, int slot, double *ns, struct err *err);
    int (*sync)(struct device *d, struct err *err);
    void (*clocks)(struct device *d, int *sm_mhz, int *mem_mhz); /* null: not known */
};

#endif
