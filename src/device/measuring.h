/* What a backend adds to being a guest, so that kernels can be measured on it. device.c has checked what it hands down. */
#ifndef DEVICE_MEASURING_H
#define DEVICE_MEASURING_H

#include "device/library.h"

struct device {
    const struct backend *backend;
    struct devspec spec;
    struct guest *guest; /* in a context of our own; what the backend needs to measure is there, too */
    void *stream;        /* of it */
};

struct memory {
    void *at;                   /* an address, or the backend's object */
    const struct memory *whole; /* that a view is a part of; null: it is none */
    int64_t bytes, offset;
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
    int (*view)(struct device *d, struct memory *v, struct err *err);
    void (*free)(struct device *d, struct memory *m); /* views, too */
    int (*fill)(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err);
    /* Waits for all that is queued if one end is the host's. */
    int (*copy)(struct device *d, struct copy_end to, struct copy_end from, int64_t bytes, struct err *err);

    int (*mark)(struct device *d, int slot, bool end, struct err *err); /* the begin or the end of a span */
    int (*span_ns)(struct device *d, int slot, double *ns, struct err *err);
    int (*sync)(struct device *d, struct err *err);
    void (*clocks)(struct device *d, int *sm_mhz, int *mem_mhz);      /* null: not known */
    bool (*throttles)(struct device *d);                              /* null: not known */
    int (*energy)(struct device *d, double *joules, struct err *err); /* null: it has no counter */
    /* Libraries: see library.h. Null, all three: there are none for it. */
    int (*call_open)(struct device *d, const struct library_call *what, struct called **out, struct err *err);
    int (*call_run)(struct device *d, struct called *c, int way, struct err *err);
    void (*call_close)(struct device *d, struct called *c);
};

/* `view` where `at` is an address. */
int view_address(struct device *d, struct memory *v, struct err *err);

/* check.c: what every backend checks before it hands a request to a driver. */

enum { MAX_LOG = 1 << 20 };

/* A buffer of `bytes` on this device. */
int check_alloc(const struct devspec *spec, int64_t bytes, struct err *err);
/* bytes from offset lie within size; `what` names the request. */
int check_part(const char *what, int64_t offset, int64_t bytes, int64_t size, struct err *err);
/* The part of a view: check_part, and its alignment. */
int check_view(int64_t offset, int64_t bytes, int64_t size, struct err *err);
int check_scalar(int i, int bytes, struct err *err); /* the value of parameter i */
/* Whether the parameter is passed by value: a value or a scalar, of `bytes`. */
static inline bool param_is_given(const struct guest_param *p)
{
    return p->kind == GUEST_VALUE || p->kind == GUEST_SCALAR || p->kind == GUEST_TENSOR || p->kind == GUEST_TEXTURE;
}
/* "kernel argument 3 (alpha)"; without its name if that is not known. */
enum { PARAM_NAME = 40 + MAX_NAME };
const char *param_name(const struct guest_launch *l, int i, char out[PARAM_NAME]);
/* ERR_INVALID: the kernel's parameter has another size. */
int wrong_size(const struct guest_launch *l, int i, size_t takes, size_t gives, struct err *err);
/* ERR_INVALID: the kernel takes so many parameters. more: what the launch gives beside them, or "". */
int wrong_count(const struct guest_launch *l, int takes, const char *more, struct err *err);
/* A geometry that the device can take, with at most `dynamic_shared` bytes; ERR_UNSUPPORTED otherwise. */
int check_geometry(const struct devspec *spec, const struct geometry *g, int64_t dynamic_shared, struct err *err);

#endif
