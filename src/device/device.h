/* Devices for measuring: a backend's device with a context and a queue of our own, in which we are guests as in any other; memory; time;
 * and the backend's compiler.
 *
 * A device belongs to one thread. Its work runs in order on one queue; calls return as soon as the work is queued unless they say
 * otherwise. A kernel's fault shows in the return of a later call, at the latest of sync: as ERR_DEVICE, after which the device has
 * to be taken for lost. What is only refused is another code (ERR_UNSUPPORTED, ERR_INVALID, ERR_NOMEM), and leaves it as it was. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "device/backend.h"
#include "model/plan.h"

enum { COMPILER_NAME = 64, MAX_SPANS = 64 };

struct device;   /* an open device */
struct kernel;   /* an entry of loaded code; lives as long as it */
struct memory;   /* device memory, or a view into it */
struct compiler; /* a compiling session: in a process that need not have the device (CUDA), or must (OpenCL) */

struct karg {
    const struct memory *memory; /* a buffer; null: a value */
    const char *name;            /* for messages; may be null */
    struct guest_param param;    /* a value and its bytes; or the view of the memory that is passed in its place */
};

struct compile_job {
    const char *source;
    const char *arch;    /* CUDA: "sm_90", "sm_90a"; null: the device's own */
    bool portable;       /* the portable form is wanted in place of a binary */
    struct buf *entries; /* gets a line for each `entry` of the source's head: how the code calls it. May be null */
    int nheader_dirs;    /* the user's folders for #include <...>, before the toolkit's */
    const char *const *header_dirs;
    /* Launches for the compiler to try, if that pays (see `compile`); there may be none. Their buffers are made, of `room` bytes and
     * zeroed. A buffer's `index` is its number: launches share buffers by it, as one may read what another wrote. */
    int nlaunches;
    const struct guest_launch *launches;
    void (*warming)(void *); /* called when compiling is over and the trial launch begins; may be null */
    void *warming_arg;
};

/* What a language calls an element type. */
struct native_type {
    const char *dtype, *name;
};

struct option_hint {
    const char *begin, *right; /* of an option that begins so */
};

/* A word of templates, and the line that defines it. */
struct word_line {
    const char *word, *line;
};

/* A backend's compiler, and the language that it takes. */
struct backend_compiling {
    const char *language;            /* for messages */
    const struct native_type *types; /* of the language itself, up to one without names. f16 and such as its headers have them */
    const char *prelude;             /* the file in templates/ that gives kernels the names that they use */
    const char *constant;  /* of a pointer to memory that no kernel writes, the word CONSTANT of templates; null: nothing */
    /* Defined only in a source that has the word: the prelude is a part of every key. Ends with a null word; may be null. */
    const struct word_line *words;
    const char *functions; /* of the language itself, so that no kernel can have such a name, with blanks between; null: none */
    bool bare;             /* the language has no headers of its own */
    bool expressions;      /* a kernel may be named as C++ names it: see model/head.h */
    /* The options that a source may ask for, with blanks between: none names a file, or makes the compiler read or run something. One
     * that ends in = or * is followed by a value, of harmless characters. */
    const char *options;
    const struct option_hint *hints; /* options of other compilers and what is right here; ends with a null word. May be null */
    const char *wanted;              /* without this no device can be tuned: for messages */
    /* A line on whether it is there, for `cutune doctor`. Null: it is the device's driver. */
    void (*doctor)(struct buf *out);
    /* Whether this is a word for an architecture; then *out is a device of it that need not be there, with the limits that all of
     * them have. Null: there are no such words. */
    bool (*arch)(const char *word, struct devspec *out);
    /* Compiles to the portable form that ships: for the oldest devices that there is a compiler for and that have what is required.
     * ERR_UNSUPPORTED if there is none here. Null: nothing but the source ships. */
    int (*ship)(const char *source, const struct requires *requires, struct buf *out, struct buf *entries, struct err *err);
    int (*open)(const struct devspec *spec, struct compiler **out, struct err *err);
    void (*close)(struct compiler *c); /* null is fine */
    /* Compiles to what `load` takes. `portable` may be null; if the backend has such a form, it gets the same code in that; else it
     * stays empty. Returns 0, ERR_INVALID if the source is refused (the log says why), or another code. The log is cut at 1 MB.
     * A backend that compiles per launch shape (PoCL) runs one block of each launch on scratch buffers before it ships the binary. */
    int (*compile)(struct compiler *c, const struct compile_job *job, struct buf *binary, struct buf *portable, struct buf *log,
                   struct err *err);
    /* Appends what else the code of a job rests on, beside its source, the device or architecture, and `name`: so a cache knows it by all
     * of it. Null: nothing. */
    void (*depends)(const struct compiler *c, const struct compile_job *job, struct buf *out);
    /* What compiles, as the store names it: "NVRTC 13.0"; if that is the device's driver, the driver's version. */
    void (*name)(const struct compiler *c, char out[COMPILER_NAME]);
};

/* Whether a source may ask this compiler for an option. */
int compile_option(const struct backend_compiling *c, const char *option, struct err *err);
/* Compiles one job. If the source is refused, the message is the line of the log that says most. */
int compile_once(const struct devspec *spec, const struct compile_job *job, struct buf *binary, struct err *err);
/* Of a compiler's log the line that says most: the first with "error" in it, else the first. */
void compile_log_line(const struct buf *log, char out[256]);

int device_open(const struct devspec *spec, struct device **out, struct err *err);
void device_close(struct device *d); /* null is fine */

int device_alloc(struct device *d, int64_t bytes, struct memory **out, struct err *err);
/* A part of m; offset must be a multiple of GUEST_ALIGN. Free it before m. */
int device_view(struct device *d, struct memory *m, int64_t offset, int64_t bytes, struct memory **out, struct err *err);
void device_free(struct device *d, struct memory *m); /* null is fine */
int device_fill(struct device *d, struct memory *m, int64_t offset, int64_t bytes, uint8_t value, struct err *err);
int device_copy(struct device *d, struct memory *to, const struct memory *from, int64_t bytes, struct err *err);
/* These two wait for all that is queued. */
int device_write(struct device *d, struct memory *to, int64_t offset, const void *from, int64_t bytes, struct err *err);
int device_read(struct device *d, void *to, const struct memory *from, int64_t offset, int64_t bytes, struct err *err);

int device_load(struct device *d, const void *binary, size_t bytes, struct guest_code **out, struct err *err);
void device_unload(struct device *d, struct guest_code *code); /* null is fine */
/* dynamic_shared: the most that it will be launched with. resources may be null. */
int device_kernel(struct device *d, struct guest_code *code, const char *name, int64_t dynamic_shared, struct kernel **out,
                  struct resources *resources, struct err *err);
/* The code's __constant__ array of this name, as memory that it can be filled through. Free it before the code. */
int device_constant(struct device *d, struct guest_code *code, const char *name, int64_t bytes, struct memory **out,
                    struct err *err);
/* Makes the textures ready to be passed; they live as long as the code. And fills that of an array. */
int device_textures(struct device *d, struct guest_code *code, struct guest_texture *all, struct err *err);
int device_texture_fill(struct device *d, const struct guest_texture *t, const struct memory *from, struct err *err);
/* Whether it can be launched so, for geometries with more than extents and bytes: ERR_UNSUPPORTED if not. */
int device_fits(struct device *d, struct kernel *k, const struct geometry *g, struct err *err);
int device_launch(struct device *d, struct kernel *k, const struct geometry *g, const struct karg *args, int nargs,
                  struct err *err);

/* Time of the work queued between begin and end, for slots 0..MAX_SPANS-1, read after sync. Spans do not nest. */
int device_span_begin(struct device *d, int slot, struct err *err);
int device_span_end(struct device *d, int slot, struct err *err);
int device_span_ns(struct device *d, int slot, double *ns, struct err *err);
int device_sync(struct device *d, struct err *err);              /* waits for everything queued */
void device_clocks(struct device *d, int *sm_mhz, int *mem_mhz); /* 0 if they are unknown */
/* Whether it slows itself down just now, for heat or a power brake; false, too, if that is not known. */
bool device_throttles(struct device *d);
/* Waits for everything queued, and gives the joules that the device has taken since some moment in the past, by a counter that may move
 * only ten times a second. ERR_UNSUPPORTED, with a line, if it has none. */
int device_energy(struct device *d, double *joules, struct err *err);

#endif
