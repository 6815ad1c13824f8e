/* What the pretend device and its guest share. */
#ifndef DEVICE_NULL_PART_H
#define DEVICE_NULL_PART_H

#include "device/device.h"

enum { NULL_DEVICES = 2 };

void null_describe(int index, struct devspec *out);
/* The source in a program, which is all there is in it; mem_free. */
int null_source(const void *binary, size_t bytes, char **out, struct err *err);
/* Whether a source says `//null: WORD`. */
bool null_says(const char *source, const char *word);
/* Whether there is such a kernel, and the device has the shared memory. */
int null_entry_check(const struct devspec *spec, const char *source, const char *name, int64_t dynamic_shared, struct err *err);
/* ERR_UNSUPPORTED where the source asks for a launch-error. */
int null_launch_check(const char *source, struct err *err);

#endif
