/* The pretend device: see null.c. */
#ifndef DEVICE_NULL_H
#define DEVICE_NULL_H

#include "device/measuring.h"

extern const struct backend null_backend;

/* How many launches the pretend devices of this process took so far: for tests. */
uint64_t null_launches(void);
/* The last scalar that a launch of this thread was given, of at most 16 bytes; returns how many. */
int null_scalar(void *out);

#endif
