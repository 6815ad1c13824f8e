/* The parts of cutune._native: Python's limited API over cutune.h. */
#ifndef NATIVE_H
#define NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h> /* by the limited API, which Python without a global lock does not have: CMakeLists.txt */
#include <cutune.h>
#include <stdatomic.h>

#include "dlpack.h"

/* ---- one thread at a time: module.c */

/* What the module keeps is held together by Python's global lock. A build without one has a lock here in its place, which is let go where the
 * global one would be: while Python waits for something, and where threads are allowed. So nothing else need know which build it is. */
#ifdef Py_GIL_DISABLED
extern PyObject *alone;
#define ALONE(call)                                                                                                                \
    do {                                                                                                                           \
        PyObject *made;                                                                                                            \
        Py_BEGIN_CRITICAL_SECTION(alone);                                                                                          \
        made = call;                                                                                                               \
        Py_END_CRITICAL_SECTION();                                                                                                 \
        return made;                                                                                                               \
    } while (0)
#else
#define ALONE(call) return call
#endif

/* ---- errors: module.c */

/* Raises what the library's code stands for, with its line. Returns null. */
PyObject *raise_library(int code);
extern PyObject *error_base, *error_invalid; /* cutune.Error; InvalidError, a ValueError */

/* ---- databases: database.c */

struct handle {
    struct handle *next;
    struct dl_device device;
    cutune_handle *handle;
};

struct database {
    PyObject_HEAD cutune *c; /* null: it was closed, for ever: what came from it must not meet another one */
    atomic_flag begun;
    struct handle *handles;
    PyObject *path;      /* absolute; None: the usual place */
    char *host_device;   /* where arrays in host memory go */
    unsigned generation; /* of what refreshes changed */
    int busy;            /* calls that are under way: it cannot be closed */
};
int database_begin(struct database *d); /* a call; -1 and an exception if it was closed */
void database_end(struct database *d);
int database_renew(struct database *d, int *changed); /* -1: an exception */
int database_type(PyObject *module);
/* The handle for arrays on a device; attached when first asked for. */
cutune_handle *database_handle(struct database *d, struct dl_device device, PyObject *framework);

/* ---- array libraries: array.c */

/* What is known of a type of arrays, found when it is first seen. */
struct framework {
    struct framework *next;
    PyTypeObject *type;
    const struct dl_exchange *exchange; /* null: it has none */
    PyObject *helper;                   /* of _frameworks.py: makes arrays, names streams */
    int interface;                      /* the helper describes its arrays */
    int tensors;                        /* they are PyTorch's: tensor.c */
    int stands;                         /* they may stand for others, which have the data */
    int unversioned;                    /* its __dlpack__ knows no DLPack 1 */
};

struct array {
    const struct framework *framework;
    void *data;
    struct dl_device device;
    struct dl_type dtype;
    int ndim, read_only;
    int64_t shape[CUTUNE_RANK], strides[CUTUNE_RANK];
    PyObject *hold; /* what keeps the data there, beside the array itself; null: nothing */
};

/* Takes the answer over. -1: an exception, which null stands for. */
int is_true(PyObject *told);
/* What is known of the argument's type; null and an exception if it is no array. */
struct framework *framework_of(PyTypeObject *type, const char *op, const char *name);
/* Of what an exception says; null, and no exception, if it says nothing. */
PyObject *first_line(PyObject *value);
int array_read(struct framework *f, PyObject *object, int watch, const char *op, const char *name, struct array *out);
void array_done(struct array *a);
/* A new array of the framework's. */
PyObject *array_make(const struct framework *f, const cutune_array *like, struct dl_device device, void **data);
int array_stream(const struct framework *f, struct dl_device device, void **out);
/* Makes a CUDA device's context current, until it is left; a framework's helper does it. The error that is set then stays. */
PyObject *array_enter(PyObject *helper, struct dl_device device);
int array_leave(PyObject *within);
const char *type_name(struct dl_type t); /* "f32"; null: the library has no such type */
void type_text(struct dl_type t, char out[32]);
int type_bytes(const char *name); /* of an element */

/* ---- PyTorch's tensors: tensor.c */

int tensor_learn(PyObject *helper);
/* Asked once in a call. -1: an exception. */
enum { TENSORS_TRACED = 1, TENSORS_TANGENTS = 2 }; /* PyTorch is to see each call; tensors may have tangents */
int tensor_watch(void);
/* Refuses one of which a derivative is asked for; one whose numbers are not those in memory. watch: what was told. */
int tensor_refuse_derivative(const struct framework *f, PyObject *object, int watch, const char *op, const char *name);
int tensor_refuse_lazy(const struct array *a, PyObject *object, const char *op, const char *name);
/* It is about to be written: what was kept of it for a backward pass is so no more. */
int tensor_written(PyObject *object);

/* A number as an element of this type: scalar.c. -1: an exception. */
int scalar_put(const char *type, PyObject *value, unsigned char out[16]);

/* ---- ops: op.c, call.c */

enum { PARAMS = CUTUNE_ARGS + CUTUNE_AXES + 1 };

/* A parameter of the Python function. */
struct param {
    PyObject *name; /* interned: "in_" where the op's is a word of Python's */
    int arg;        /* of the op's; -1: none */
    int axis;       /* likewise; neither: the stream */
    int output;     /* it may be left out, and is given by name */
};

struct seen; /* arrays that were called with, and what came of it: call.c */

/* What an op takes. It stays as it is, so a call keeps to the form that it began with, whatever a refresh brings meanwhile. */
struct form {
    int users; /* the op itself, and calls that are under way */
    const cutune_op *known;
    unsigned generation; /* the database's that it was last found in */
    cutune_arg args[CUTUNE_ARGS];
    cutune_axis axes[CUTUNE_AXES];
    int nargs, naxes, nparams, npositional;
    struct param params[PARAMS];
    struct seen *seen[256], *last; /* last: null or the one of the last call */
    int nseen;
};

struct op {
    PyObject_HEAD struct database *database;
    struct form *form; /* the newest */
    char *name, *text; /* text: signature and docstring */
    PyMethodDef call;
};
int op_type(PyObject *module);
PyObject *op_new(struct database *d, const char *name); /* the function; its __self__ is the op */
/* Around what asks the library about an op: its form as it is now, and the database stays open. Null and an exception if it is closed, or the
 * op is gone. */
struct form *op_begin(struct op *o);
void op_end(struct op *o, struct form *f);
PyObject *op_signature(const struct op *o, const struct form *f); /* as text */
int op_find(const struct op *o, const cutune_op **known);         /* the library's code; inside of these two */
PyObject *op_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *op_launch(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *op_lookup(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *op_forms(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
void form_forget(struct form *f); /* what was seen */

#endif
