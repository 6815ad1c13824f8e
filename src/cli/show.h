/* What `cutune show` looks at: shared by its forms. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/targets.h"
#include "device/device.h"
#include "model/config.h"

struct show_args {
    struct args args;
    const char *config, *variant, *arch;
    int what; /* KEY_SOURCE, KEY_PTX or KEY_RESOURCES; 0: not said */
};

/* A configuration of the op on the device, and its text. */
struct subject {
    const struct targets *t;
    const struct backend *backend;
    struct config config;
    const char *arch; /* --arch; null: the device's own */
    struct buf source;
};

/* Both return an exit code. */
/* portable: in place of a binary. */
int subject_compile(const struct subject *s, bool portable, struct buf *out);
int show_resources(const struct subject *s, const struct show_args *args);

#endif
