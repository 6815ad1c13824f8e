/* Checks that every backend makes before it hands a request to a driver. */
#ifndef DEVICE_CHECK_H
#define DEVICE_CHECK_H

#include "device/device.h"

enum { MAX_LOG = 1 << 20 };

/* A buffer of `bytes` on this device. */
int check_alloc(const struct devspec *spec, int64_t bytes, struct err *err);
/* bytes from offset lie within size; `what` names the request. */
int check_part(const char *what, int64_t offset, int64_t bytes, int64_t size, struct err *err);
/* The part of a view: check_part, and its alignment. */
int check_view(int64_t offset, int64_t bytes, int64_t size, struct err *err);
int check_scalar(int i, int bytes, struct err *err); /* the value of parameter i */
/* A geometry that the device can take, with at most `dynamic_shared` bytes; ERR_UNSUPPORTED otherwise. */
int check_launch(const struct devspec *spec, const struct geometry *g, int64_t dynamic_shared, const struct karg *args, int nargs,
                 struct err *err);

#endif
