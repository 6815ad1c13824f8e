/* A backend: CUDA, OpenCL, and for tests a pretend device. It is a row of data, and a few functions that work in somebody's
 * context: an application's, or one of our own (see device.h). docs/ARCHITECTURE.md tells how to add one.
 *
 * Every call may come from any thread, and leaves the thread's current context as it found it. It fails with ERR_UNSUPPORTED if
 * the driver refuses (an image of another architecture, say), and with ERR_DEVICE for other reasons of the driver's. */
#ifndef DEVICE_BACKEND_H
#define DEVICE_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/devspec.h"
#include "model/op.h"
#include "model/plan.h"
#include "model/record.h"

/* Somebody's context. The backend's own struct begins with it. */
struct guest {
    const struct backend *backend;
    struct devspec spec;
    pthread_mutex_t lock; /* guards the list below, and what the backend's struct says */
    struct guest_code *codes;
};

/* Code loaded into it. */
struct guest_code {
    struct guest_code *next;
    struct arena *arena;          /* for what lives as long as the code (under the lock, if threads share the guest) */
    void *program;                /* the backend's, */
    void *functions;              /* and this */
    struct guest_object *objects; /* of textures */
};

enum {
    GUEST_PARAMS = 2 * MAX_ARGS,
    GUEST_ALIGN = 4096,
    TENSOR_BYTES = 128,
    TENSOR_ALIGN = 128,
    TEXTURE_BYTES = 8,
    TEXTURE_BUCKETS = 64
};

/* Where a parameter's value comes from. The order is that of cutune_param_kind. */
enum guest_param_kind { GUEST_BUFFER, GUEST_WORKSPACE, GUEST_VALUE, GUEST_SCALAR, GUEST_TENSOR, GUEST_TEXTURE };

/* A texture object that the driver made, for code, which it lives as long as: a captured graph may have it. */
struct guest_object {
    struct guest_object *next, *next_of_code;
    void *at; /* of the buffer; null: it is of an array */
    void *array;
    uint64_t object;
};

/* A texture of a work's. Zeros but for the first three. */
struct guest_texture {
    struct texture is;
    int index;                  /* of the buffer that fills the array */
    struct guest_texture *next; /* of the same work */
    struct guest_code *code;    /* set by guest_textures, */
    struct guest_object *own;   /* and this, of an array */
    int nmade;                  /* of another an object for each address of its buffer, made at the first launch with it */
    _Atomic(struct guest_object *) made[TEXTURE_BUCKETS];
};

struct guest_param {
    enum guest_param_kind kind;
    int index;      /* of the buffer; of a scalar, whose place in `buffers` has the address of its value, in host memory */
    int64_t offset; /* into the workspace: a multiple of GUEST_ALIGN */
    int64_t room;   /* bytes of this workspace (OpenCL makes a sub-buffer of them) */
    int bytes;      /* of a value, scalar, tensor map or texture */
    const struct dtype *type; /* what the script says it is; null: that is not to be checked */
    unsigned char value[16];
    const struct tensor *tensor;   /* GUEST_TENSOR, */
    struct guest_texture *texture; /* GUEST_TEXTURE: over the buffer, or */
    bool in_workspace;             /* over what is there at the offset */
};

struct guest_launch {
    const char *kernel;
    void *function; /* set by guest_function, */
    void *handle;   /* and this: the driver's own, a CUfunction or cl_kernel */
    struct geometry geometry;
    int nparams;
    bool views; /* some parameters are tensor maps or textures */
    const struct guest_param *params;
    const char *const *names; /* of the parameters, for messages of guest_function; null: not known */
    int of;                   /* which of the variant's launches it is: those of one have the same function */
};

/* What the launches of a variant come to with their repetitions, with slots for it. args: what stands for each of the op's arguments, and
 * behind them for the workspaces. All is on the arena, but the functions. textures: those of the launches; may be null. */
int guest_launches(const struct plan *p, const struct val *slots, const struct guest_param *args, struct arena *arena,
                   struct guest_launch **out, int *n, struct guest_texture **textures, struct err *err);

struct guest_clear {
    bool workspace;
    int index; /* of the buffer, if it is not in the workspace */
    int64_t offset, bytes;
};

/* What a buffer holds goes into an array of the code's before its kernels run. */
struct guest_constant {
    const char *symbol;
    void *at;  /* set by guest_symbol */
    int index; /* of the buffer */
    int64_t bytes;
};

/* All of a kernel's work. */
struct guest_work {
    int nclears, nconstants, nlaunches, nbuffers; /* with scalars */
    const struct guest_clear *clears;
    const struct guest_constant *constants;
    struct guest_texture *textures; /* those of arrays are filled, too; null: none */
    const struct guest_launch *launches;
    int64_t workspace; /* bytes; 0: none */
};

struct backend {
    const char *name;
    /* What it is. */
    const char *format;   /* of binaries, as the store names it: "cubin" */
    const char *portable; /* the same of a form that drivers compile for later architectures, too: "ptx"; null: there is none */
    bool pretend;         /* for tests: it is used only if it is asked for by name, and ships no tables */
    bool addresses;       /* buffers are addresses: their alignment and overlap can be checked */

    /* The smallest device, but with room for every buffer: op scripts are tried on it. It also tells what is the same for all
     * devices of the backend. */
    struct devspec sample;

    /* Lists what is present: fills up to max, returns how many there are (more than max: cut). No driver or no device is 0 with
     * the reason in err->msg. Must not leave a CUDA context behind. */
    int (*list)(struct devspec *out, int max, struct err *err);

    size_t size; /* of the backend's own struct guest */
    /* handle: CUcontext, null for the current one; cl_command_queue, which is retained; of the pretend device an int *, its index,
     * null for 0. Describes the device in g->spec as list() does (uuid, index and driver too). */
    int (*open)(void *handle, struct guest *g, struct err *err);
    /* Waits for the work in the context, calls guest_unload_all and gives the context back. CUDA can do so if the context is the
     * primary one or the calling thread's current one; else the code stays until the context ends. Null: nothing to do. */
    void (*close)(struct guest *g);
    /* format: one of the two above; null: whichever the image is. An image of the wrong kind or damaged is refused, whatever its
     * bytes. */
    int (*load)(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code *code, struct err *err);
    void (*unload)(struct guest *g, struct guest_code *code); /* null: nothing to do */
    /* Sets l->function and l->handle, which live as long as the code. The function is ready to launch, with nothing left to be
     * loaded. geometry.shared: the most that it is launched with. params: GUEST_PARAMS at most, checked if the driver tells what
     * the kernel takes; null: they are not known yet, and the function must not be launched. resources may be null. */
    int (*function)(struct guest *g, struct guest_code *code, struct guest_launch *l, struct resources *resources, struct err *err);
    /* Where in the code the __constant__ array of this name is, and how many bytes it has; ERR_NOTFOUND: there is none. Null: the
     * language has no such arrays. */
    int (*symbol)(struct guest *g, struct guest_code *code, const char *name, void **at, int64_t *has, struct err *err);
    /* Whether the device can launch this, whose function is set, with its clusters, or all blocks at once; makes the function ready for it.
     * ERR_UNSUPPORTED if not. Called for geometries that are special only. Null: it can. */
    int (*fits)(struct guest *g, const struct guest_launch *l, struct err *err);
    /* Makes the map for a buffer at this address: TENSOR_BYTES, aligned to TENSOR_ALIGN. Null: there are none. */
    int (*tensor)(const struct tensor *t, void *at, void *out, struct err *err);
    /* Makes a texture object for a buffer at this address; or, of an array, that with it. out: gets object and array. Null: there are none. */
    int (*texture)(struct guest *g, const struct texture *t, void *at, struct guest_object *out, struct err *err);
    void (*texture_free)(struct guest *g, const struct guest_object *o);
    /* Queues a copy of a buffer into the array. */
    int (*texture_fill)(struct guest *g, const struct texture *t, void *array, void *from, void *stream, struct err *err);
    /* Queues all of it on the stream (null: the default, or the queue of open). workspace null: taken in stream order and given
     * back if the work needs one. ERR_INVALID if the context is not the calling thread's current one (CUDA).
     * The caller vouches for the work: indices below nbuffers, offsets within the workspace, parameters as `function` saw them. */
    int (*launch)(struct guest *g, void *stream, const struct guest_work *work, void *const *buffers, void *workspace,
                  struct err *err);

    /* device.h; an exported C file has neither. */
    const struct backend_compiling *compiling;
    const struct backend_measuring *measuring;
};

/* The backend's calls of these names, and what they have in common: the list of code, and checks. */
int guest_open(const struct backend *b, void *handle, struct devspec *spec, struct guest **out, struct err *err);
void guest_close(struct guest *g); /* null is fine */
/* In a child process after a fork, instead of close: frees memory, touches no driver and takes no lock. Null is fine. */
void guest_forget(struct guest *g);
int guest_load(struct guest *g, const void *image, size_t bytes, const char *format, struct guest_code **out, struct err *err);
/* Nothing of the code may be in flight. Null is fine; close unloads what is left. */
void guest_unload(struct guest *g, struct guest_code *code);
void guest_unload_all(struct guest *g);
int guest_fits(struct guest *g, const struct guest_launch *l, struct err *err); /* any geometry */
/* textures.c: makes all textures of a work ready for these two, with the arrays. ERR_NOMEM if there is no memory for them. Once more does
 * nothing. */
int guest_textures(struct guest *g, struct guest_code *code, struct guest_texture *all, struct err *err);
int guest_texture_of(struct guest *g, struct guest_texture *t, void *at, uint64_t *object, struct err *err);
int guest_texture_fill(struct guest *g, const struct guest_texture *t, void *from, void *stream, struct err *err); /* of an array */
void guest_textures_free(struct guest *g, struct guest_code *code);
int guest_function(struct guest *g, struct guest_code *code, struct guest_launch *l, struct resources *resources, struct err *err);
/* An array that takes so many bytes. */
int guest_symbol(struct guest *g, struct guest_code *code, const char *name, int64_t bytes, void **at, struct err *err);

extern const struct backend cuda_backend, opencl_backend;

/* A function of a library, by dlsym, whose pointer ISO C does not convert; false if there is none. */
bool library_find(void *library, const char *name, void *function);

const struct backend *backend_find(const char *name); /* null */
const struct backend *backend_at(int i);              /* null past the last */
const struct backend *backend_real(int i);            /* the same without the pretend ones, which come last */
/* One more, at the end: the pretend device, which adds itself in programs that link it. */
void backend_add(const struct backend *b);

enum { MAX_DEVICES = 64 };

/* A device by the user's word: "cuda:0", "opencl:1", "cuda"; null: the best present one -- CUDA, then an OpenCL GPU, then any OpenCL.
 * A pretend device is never chosen by itself. The message says what was looked for and what is there. */
int device_find(const char *word, struct devspec *out, struct err *err);

#endif
