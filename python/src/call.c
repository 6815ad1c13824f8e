/* A call: its arguments, the problem that the arrays are, the outputs, the launch. What came of arrays of the same types, shapes, strides and
 * device is kept, so that a call like an earlier one is little more than a look-up and a launch. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

enum { KEY = CUTUNE_ARGS * (2 + 2 * CUTUNE_RANK) + 2 * CUTUNE_AXES, MOST_SEEN = 4096, MOST_FORMS = 8, DEEPEST = 32 };

struct seen {
    struct seen *next;
    uint64_t hash;
    int words;
    int64_t *key;
    cutune_handle *handle;
    const cutune_kernel *launched; /* the last one; null: none yet */
    cutune_fit fit;
    cutune_array arrays[]; /* with the outputs that are to be made, and the scalars' types */
};

struct call {
    struct op *o;
    struct form *form;
    PyObject *given[PARAMS];   /* borrowed; null: left out */
    PyObject *of[CUTUNE_ARGS]; /* by the op's arguments, likewise */
    struct array arrays[CUTUNE_ARGS];
    unsigned read; /* bits: which of them are */
    int watch;     /* what PyTorch does meanwhile; -1: it was not asked yet; a look-up does not ask */
    int direct;    /* PyTorch's dispatcher makes the call: it has counted changes, and tensors are taken for the data that they have */
    int64_t sizes[CUTUNE_AXES]; /* as given; -1: left out */
    const struct framework *framework;
    struct dl_device device;
    int words;
    int64_t key[KEY];
};

void form_forget(struct form *f)
{
    for (int i = 0; i < 256; i++)
        while (f->seen[i]) {
            struct seen *s = f->seen[i];
            f->seen[i] = s->next;
            free(s->key);
            free(s);
        }
    f->nseen = 0;
    f->last = NULL;
}

/* An argument's own code may make calls, too, and what they keep on the stack is more than Python counts with. */
static _Thread_local int depth; /* of this thread's calls within each other */

static int enter(void)
{
    if (depth == DEEPEST) {
        PyErr_Format(PyExc_RecursionError, "calls of ops within each other, %d deep", DEEPEST);
        return -1;
    }
    depth++;
    return 0;
}

/* ---- arguments */

static int param_named(const struct form *f, PyObject *name)
{
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].name == name)
            return i;
    for (int i = 0; i < f->nparams; i++)
        if (PyUnicode_Compare(f->params[i].name, name) == 0)
            return i;
    return -1;
}

static int take_arguments(struct call *c, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    const struct form *f = c->form;
    const char *op = c->o->name;
    Py_ssize_t nnames = names ? PyTuple_Size(names) : 0;
    if (nargs > f->npositional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s, not %zd; outputs are given by name", op, f->npositional,
                     f->npositional == 1 ? "" : "s", nargs);
        return -1;
    }
    for (int i = 0; i < f->nparams; i++)
        c->given[i] = i < nargs ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < nnames; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int i = param_named(f, name);
        if (i < 0 || c->given[i]) {
            PyErr_Format(PyExc_TypeError, i < 0 ? "%s() has no argument '%U'" : "%s() got '%U' twice", op, name);
            return -1;
        }
        c->given[i] = args[nargs + k] == Py_None && i >= f->npositional ? NULL : args[nargs + k];
    }
    for (int i = 0; i < f->nparams; i++) {
        if (i < f->npositional && !c->given[i]) {
            PyObject *signature = op_signature(c->o, f);
            if (signature)
                PyErr_Format(PyExc_TypeError, "%s() is missing '%U': %U", op, f->params[i].name, signature);
            Py_XDECREF(signature);
            return -1;
        }
        if (f->params[i].arg >= 0)
            c->of[f->params[i].arg] = c->given[i];
    }
    return 0;
}

static const struct param *param_of(const struct form *f, int arg)
{
    const struct param *p = f->params;
    while (p->arg != arg)
        p++;
    return p;
}

/* Python's message does not name the argument: puts its name in front. Returns -1. */
static int of_argument(const struct call *c, const struct param *p)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *line = type == PyExc_TypeError || type == PyExc_ValueError || type == PyExc_OverflowError ? first_line(value) : NULL;
    if (line) {
        PyErr_Format(type, "%s: %U: %U", c->o->name, p->name, line);
        Py_DECREF(line);
        Py_DECREF(type);
        Py_DECREF(value);
        Py_XDECREF(trace);
    } else {
        PyErr_Restore(type, value, trace);
    }
    return -1;
}

/* Each is asked once: another time it may say something else. */
static int read_sizes(struct call *c)
{
    const struct form *f = c->form;
    for (int i = 0; i < CUTUNE_AXES; i++)
        c->sizes[i] = -1;
    for (int i = f->npositional; i < f->nparams; i++) {
        const struct param *p = &f->params[i];
        if (p->axis < 0 || !c->given[i])
            continue;
        long long size = PyLong_AsLongLong(c->given[i]);
        if (size == -1 && PyErr_Occurred())
            return of_argument(c, p);
        if (size < 0) {
            PyErr_Format(error_invalid, "%s: %U cannot be %lld", c->o->name, p->name, size);
            return -1;
        }
        c->sizes[p->axis] = size;
    }
    return 0;
}

static void done(struct call *c)
{
    if (!c->form)
        return;
    for (int i = 0; i < c->form->nargs; i++)
        if (c->read & 1u << i)
            array_done(&c->arrays[i]);
    op_end(c->o, c->form);
}

static int other_device(const struct call *c, int i)
{
    const struct dl_device d = c->arrays[i].device;
    static const char *const names[] = { "device", "the host", "cuda", "the host (pinned)" };
    PyErr_Format(error_invalid, "%s: %s is on %s:%d, an argument before it on %s:%d: all have to be on one device", c->o->name,
                 c->form->args[i].name, d.type < 4 ? names[d.type] : names[0], d.id,
                 c->device.type < 4 ? names[c->device.type] : names[0], c->device.id);
    return -1;
}

static int take_device(struct call *c, int i, int first)
{
    struct dl_device *d = &c->arrays[i].device;
    if (d->type == DL_CUDA_MANAGED)
        d->type = DL_CUDA;
    if (d->type == DL_CUDA_HOST)
        *d = (struct dl_device){ DL_CPU, 0 };
    if (d->type != DL_CPU && d->type != DL_CUDA) {
        PyErr_Format(error_invalid, "%s: %s is on a device of DLPack's type %d: cutune takes CUDA arrays and those in host memory",
                     c->o->name, c->form->args[i].name, d->type);
        return -1;
    }
    if (first)
        c->device = *d;
    return d->type != c->device.type || d->id != c->device.id ? other_device(c, i) : 0;
}

/* Whether the array's library is to make the call, since it traces what is called. */
static int is_traced(struct call *c, const struct framework *f)
{
    if (!f->tensors)
        return 0;
    if (c->watch < 0 && (c->watch = tensor_watch()) < 0)
        return -1;
    return !c->direct && (f->stands || c->watch == TENSORS_TRACED);
}

/* Reads all arrays and makes the key. 1: they are the library's to trace. */
static int read_arrays(struct call *c)
{
    const struct form *f = c->form;
    int n = 0;
    for (int i = 0; i < f->nargs; i++) {
        struct array *a = &c->arrays[i];
        if (f->args[i].kind == CUTUNE_ARG_SCALAR)
            continue;
        if (!c->of[i]) {
            c->key[n++] = -1;
            continue;
        }
        struct framework *framework = framework_of(Py_TYPE(c->of[i]), c->o->name, f->args[i].name);
        int rc = framework ? is_traced(c, framework) : -1;
        if (rc == 1)
            c->framework = framework;
        rc = rc ? rc : array_read(framework, c->of[i], c->watch, c->o->name, f->args[i].name, a);
        if (rc)
            return rc;
        int first = !c->read;
        c->read |= 1u << i;
        if (first)
            c->framework = framework;
        if (take_device(c, i, first))
            return -1;
        if (a->read_only && f->args[i].kind != CUTUNE_ARG_INPUT) {
            PyErr_Format(error_invalid, "%s: %s is read-only", c->o->name, f->args[i].name);
            return -1;
        }
        c->key[n++] = (int64_t)a->dtype.code | (int64_t)a->dtype.bits << 8 | (int64_t)a->dtype.lanes << 16 | (int64_t)a->ndim << 32;
        c->key[n++] = (int64_t)a->device.type << 32 | (int64_t)(uint32_t)a->device.id;
        for (int d = 0; d < a->ndim; d++) {
            c->key[n++] = a->shape[d];
            c->key[n++] = a->strides[d];
        }
    }
    for (int i = 0; i < f->naxes; i++)
        if (c->sizes[i] >= 0) {
            c->key[n++] = -2 - i;
            c->key[n++] = c->sizes[i];
        }
    c->words = n;
    if (!c->read) {
        PyErr_Format(error_invalid, "%s: no array was given", c->o->name);
        return -1;
    }
    return 0;
}

/* ---- what arrays are */

static int fit_arrays(struct call *c, cutune_fit *fit, cutune_array *arrays)
{
    const struct form *f = c->form;
    *fit = (cutune_fit){ .size = sizeof *fit };
    memcpy(fit->sizes, c->sizes, sizeof c->sizes);
    for (int i = 0; i < f->nargs; i++) {
        const struct array *a = &c->arrays[i];
        arrays[i] = (cutune_array){ .size = sizeof *arrays, .rank = -1 };
        if (!(c->read & 1u << i))
            continue;
        arrays[i].type = type_name(a->dtype);
        if (!arrays[i].type) {
            char text[32];
            type_text(a->dtype, text);
            PyErr_Format(error_invalid, "%s: %s is of %s, which no op takes", c->o->name, f->args[i].name, text);
            return -1;
        }
        arrays[i].rank = a->ndim;
        memcpy(arrays[i].shape, a->shape, sizeof a->shape);
        memcpy(arrays[i].strides, a->strides, sizeof a->strides);
    }
    int rc = cutune_op_fit(f->known, arrays, f->nargs, fit);
    if (rc)
        raise_library(rc);
    return rc ? -1 : 0;
}

static uint64_t hash_of(const struct call *c)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < c->words; i++)
        h = (h ^ (uint64_t)c->key[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

static struct seen *remember(struct call *c, uint64_t hash)
{
    struct form *f = c->form;
    if (f->nseen >= MOST_SEEN && f->users == 2) /* the op and this call */
        form_forget(f);
    struct seen *s = calloc(1, sizeof *s + (size_t)f->nargs * sizeof *s->arrays);
    int64_t *key = malloc((size_t)c->words * sizeof *key);
    if (!s || !key)
        PyErr_NoMemory();
    if (!s || !key || fit_arrays(c, &s->fit, s->arrays) ||
        !(s->handle = database_handle(c->o->database, c->device, c->framework->helper))) {
        free(s);
        free(key);
        return NULL;
    }
    memcpy(key, c->key, (size_t)c->words * sizeof *key);
    s->key = key;
    s->words = c->words;
    s->hash = hash;
    s->next = f->seen[hash % 256];
    f->seen[hash % 256] = s;
    f->nseen++;
    return s;
}

static int is_like(const struct call *c, const struct seen *s)
{
    return s->words == c->words && !memcmp(s->key, c->key, (size_t)c->words * sizeof *s->key);
}

static struct seen *see(struct call *c)
{
    struct seen *s = c->form->last;
    if (s && is_like(c, s))
        return s;
    uint64_t hash = hash_of(c);
    for (s = c->form->seen[hash % 256]; s && !(s->hash == hash && is_like(c, s));)
        s = s->next;
    return c->form->last = s ? s : remember(c, hash);
}

static int read_all(struct call *c, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    int rc = take_arguments(c, args, nargs, names);
    rc = rc ? rc : read_sizes(c);
    return rc ? rc : read_arrays(c);
}

/* Before the first launch it may have to read the database, and so to wait for it; later it takes nanoseconds. */
static int find(const struct call *c, const struct seen *s, const cutune_kernel **k)
{
    if (cutune_kernel_holds(s->launched)) {
        *k = s->launched;
        return 0;
    }
    PyThreadState *waiting = s->launched ? NULL : PyEval_SaveThread();
    int rc = cutune_lookup(s->handle, c->o->name, s->fit.types, s->fit.sizes, s->fit.nsizes, k);
    if (waiting)
        PyEval_RestoreThread(waiting);
    if (rc)
        raise_library(rc);
    return rc ? -1 : 0;
}

/* Whether the op's form is another one by now: a refresh in the background may have brought it, or the look-up itself. Without a kernel,
 * which would tell, it may be why there is none. */
static int has_changed(const struct call *c, const cutune_kernel *k)
{
    const cutune_op *now;
    if (k)
        return !cutune_kernel_is_of(k, c->form->known);
    return !op_find(c->o, &now) && now != c->form->known;
}

/* What a call has in common with a look-up, up to the kernel; anew if it turns out that the arrays were fitted to another form of the op than
 * the kernel's. 1: it is the library's to trace. */
static int begin(struct call *c, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names, struct seen **seen,
                 const cutune_kernel **k)
{
    c->o = (struct op *)self;
    for (int i = 0; i < MOST_FORMS; i++) {
        c->read = 0;
        c->form = op_begin(c->o);
        int rc = c->form ? read_all(c, args, nargs, names) : -1;
        if (!rc && !(*seen = see(c)))
            rc = -1;
        if (rc)
            return rc;
        *k = NULL;
        rc = find(c, *seen, k);
        if (!has_changed(c, *k))
            return rc;
        PyErr_Clear();
        done(c);
        c->form = NULL;
        if (database_renew(c->o->database, NULL))
            return -1;
    }
    PyErr_Format(error_base, "%s: its interface in the database changes all the time", c->o->name);
    return -1;
}

/* ---- the launch */

static int stream_of(const struct call *c, void **stream)
{
    PyObject *given = c->given[c->form->nparams - 1];
    if (!given)
        return array_stream(c->framework, c->device, stream);
    *stream = PyLong_AsVoidPtr(given);
    return PyErr_Occurred() ? of_argument(c, &c->form->params[c->form->nparams - 1]) : 0;
}

/* What is launched in the current context, the library refuses if that is another device's. To look first would cost each call. */
static int launch_within(const struct call *c, const cutune_kernel *k, void *stream, void *const *buffers)
{
    PyObject *within = array_enter(c->framework->helper, c->device);
    if (!within && PyErr_ExceptionMatches(PyExc_TypeError)) /* of a library that makes none current: what refused the launch is told */
        raise_library(CUTUNE_ERR_INVALID);
    if (!within)
        return -1;
    int rc = cutune_launch(k, stream, buffers, c->form->nargs);
    if (rc)
        raise_library(rc);
    return array_leave(within) || rc ? -1 : 0;
}

static int launch(const struct call *c, struct seen *s, const cutune_kernel *k, void *const *buffers)
{
    void *stream = NULL, *function;
    const int n = c->form->nargs;
    int rc = 0;
    if (c->device.type == DL_CUDA) {
        if (stream_of(c, &stream))
            return -1;
        if (s->launched != k) {
            Py_BEGIN_ALLOW_THREADS rc = cutune_kernel_function(k, 0, &function); /* loads it, perhaps compiles it */
            Py_END_ALLOW_THREADS
        }
        rc = rc ? rc : cutune_launch(k, stream, buffers, n);
        if (rc == CUTUNE_ERR_INVALID) {
            if (launch_within(c, k, stream, buffers))
                return -1;
            rc = 0;
        }
    } else {
        Py_BEGIN_ALLOW_THREADS rc = cutune_launch_host(k, buffers, n);
        Py_END_ALLOW_THREADS
    }
    if (rc)
        raise_library(rc);
    else
        s->launched = k;
    return rc ? -1 : 0;
}

/* The outputs, or else what was read and written. */
static PyObject *result(const struct call *c, PyObject *const *made)
{
    const struct form *f = c->form;
    PyObject *all[CUTUNE_ARGS];
    int n = 0;
    for (int kind = CUTUNE_ARG_OUTPUT; !n && kind <= CUTUNE_ARG_INOUT; kind++)
        for (int i = 0; i < f->nargs; i++)
            if ((int)f->args[i].kind == kind)
                all[n++] = made[i] ? made[i] : c->of[i];
    if (n == 1)
        return Py_NewRef(all[0]);
    PyObject *several = PyTuple_New(n);
    for (int i = 0; several && i < n; i++)
        PyTuple_SetItem(several, i, Py_NewRef(all[i]));
    return several;
}

static PyObject *run(struct call *c, struct seen *s, const cutune_kernel *k)
{
    const struct form *f = c->form;
    PyObject *made[CUTUNE_ARGS], *out = NULL;
    unsigned char scalars[CUTUNE_ARGS][16];
    void *buffers[CUTUNE_ARGS];
    int rc = 0;
    for (int i = 0; i < f->nargs; i++)
        made[i] = NULL;
    for (int i = 0; !rc && i < f->nargs; i++) {
        if (c->read & 1u << i) {
            buffers[i] = c->arrays[i].data;
        } else if (f->args[i].kind == CUTUNE_ARG_SCALAR) {
            buffers[i] = scalars[i];
            rc = scalar_put(s->arrays[i].type, c->of[i], scalars[i]) ? of_argument(c, param_of(f, i)) : 0;
        } else {
            made[i] = array_make(c->framework, &s->arrays[i], c->device, &buffers[i]);
            rc = made[i] ? 0 : -1;
        }
    }
    for (int i = 0; !rc && !c->direct && i < f->nargs; i++)
        if (c->read & 1u << i && f->args[i].kind != CUTUNE_ARG_INPUT && c->arrays[i].framework->tensors)
            rc = tensor_written(c->of[i]);
    if (!rc && !launch(c, s, k, buffers))
        out = result(c, made);
    for (int i = 0; i < f->nargs; i++)
        Py_XDECREF(made[i]);
    return out;
}

/* By the library's dispatcher. */
static PyObject *trace(const struct call *c, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    PyObject *function = PyCFunction_NewEx(&c->o->call, self, NULL), *all = PyTuple_New(nargs), *named = PyDict_New(), *out = NULL;
    for (Py_ssize_t i = 0; all && i < nargs; i++)
        PyTuple_SetItem(all, i, Py_NewRef(args[i]));
    int rc = function && all && named ? 0 : -1;
    for (Py_ssize_t i = 0; !rc && names && i < PyTuple_Size(names); i++)
        rc = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[nargs + i]);
    if (!rc)
        out = PyObject_CallMethod(c->framework->helper, "traced", "OOO", function, all, named);
    Py_XDECREF(function);
    Py_XDECREF(all);
    Py_XDECREF(named);
    return out;
}

static PyObject *call_alone(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names, int direct)
{
    struct call c;
    struct seen *s;
    const cutune_kernel *k;
    if (enter())
        return NULL;
    c.direct = direct;
    c.watch = -1;
    int rc = begin(&c, self, args, nargs, names, &s, &k);
    PyObject *out = rc == 1 ? trace(&c, self, args, nargs, names) : rc ? NULL : run(&c, s, k);
    done(&c);
    depth--;
    return out;
}

PyObject *op_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    ALONE(call_alone(self, args, nargs, names, 0));
}

PyObject *op_launch(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    ALONE(call_alone(self, args, nargs, names, 1));
}

static PyObject *sizes_of(const cutune_fit *fit)
{
    PyObject *sizes = PyTuple_New(fit->nsizes);
    for (int i = 0; sizes && i < fit->nsizes; i++)
        PyTuple_SetItem(sizes, i, PyLong_FromLongLong(fit->sizes[i]));
    return sizes;
}

static PyObject *lookup_alone(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    static const char *const matches[] = { "exact", "near", "device", "default" };
    struct call c;
    struct seen *s;
    const cutune_kernel *k;
    PyObject *out = NULL;
    if (enter())
        return NULL;
    c.direct = c.watch = 0;
    int rc = begin(&c, self, args, nargs, names, &s, &k);
    if (rc == 1)
        PyErr_Format(error_invalid, "%s: a look-up takes tensors with data", c.o->name);
    if (!rc)
        out = Py_BuildValue("(ssssdsN)", matches[cutune_kernel_match(k)], cutune_kernel_why(k), cutune_kernel_variant(k),
                            cutune_kernel_config(k), cutune_kernel_time_ns(k), s->fit.types, sizes_of(&s->fit));
    done(&c);
    depth--;
    return out;
}

PyObject *op_lookup(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    ALONE(lookup_alone(self, args, nargs, names));
}

/* ---- without data */

static int take_form(struct call *c, int i, PyObject *told, cutune_array *out)
{
    PyObject *shape, *strides;
    const char *type;
    *out = (cutune_array){ .size = sizeof *out, .rank = -1 };
    if (!told || c->form->args[i].kind == CUTUNE_ARG_SCALAR)
        return 0;
    if (!PyTuple_Check(told)) {
        PyErr_Format(PyExc_TypeError, "%s: %s is (type, shape, strides), not %R", c->o->name, c->form->args[i].name, told);
        return -1;
    }
    if (!PyArg_ParseTuple(told, "sO!O!", &type, &PyTuple_Type, &shape, &PyTuple_Type, &strides))
        return -1;
    if (PyTuple_Size(shape) > CUTUNE_RANK || PyTuple_Size(shape) != PyTuple_Size(strides))
        return PyErr_Format(error_invalid, "%s: %s has more than %d axes, or not a stride for each", c->o->name,
                            c->form->args[i].name, CUTUNE_RANK),
               -1;
    out->rank = (int)PyTuple_Size(shape);
    out->type = type;
    for (int d = 0; d < out->rank; d++) {
        out->shape[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
        out->strides[d] = PyLong_AsLongLong(PyTuple_GetItem(strides, d));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *forms_alone(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    struct call c = { .o = (struct op *)self };
    cutune_array arrays[CUTUNE_ARGS];
    cutune_fit fit = { .size = sizeof fit };
    PyObject *outputs = NULL, *all = NULL;
    if (enter())
        return NULL;
    const struct form *f = c.form = op_begin(c.o);
    int rc = f ? take_arguments(&c, args, nargs, names) : -1;
    rc = rc ? rc : read_sizes(&c);
    for (int i = 0; !rc && i < f->nargs; i++)
        rc = take_form(&c, i, c.of[i], &arrays[i]);
    if (!rc) {
        memcpy(fit.sizes, c.sizes, sizeof c.sizes);
        if ((rc = cutune_op_fit(f->known, arrays, f->nargs, &fit)))
            raise_library(rc);
    }
    outputs = rc ? NULL : PyList_New(0);
    for (int i = 0; outputs && i < f->nargs; i++) {
        if (f->args[i].kind != CUTUNE_ARG_OUTPUT)
            continue;
        PyObject *shape = PyTuple_New(arrays[i].rank);
        for (int d = 0; shape && d < arrays[i].rank; d++)
            PyTuple_SetItem(shape, d, PyLong_FromLongLong(arrays[i].shape[d]));
        PyObject *one = shape ? Py_BuildValue("(ssN)", f->args[i].name, arrays[i].type, shape) : NULL;
        if (!one || PyList_Append(outputs, one))
            Py_CLEAR(outputs);
        Py_XDECREF(one);
    }
    if (outputs)
        all = Py_BuildValue("(sNN)", fit.types, sizes_of(&fit), outputs);
    done(&c);
    depth--;
    return all;
}

PyObject *op_forms(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    ALONE(forms_alone(self, args, nargs, names));
}
