/* Arrays of other libraries: what they are, new ones, and the stream to work on. */
#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- element types */

static const struct {
    const char *name;
    struct dl_type type;
} types[] = {
    { "f32", { DL_FLOAT, 32, 1 } },    { "f16", { DL_FLOAT, 16, 1 } },     { "bf16", { DL_BFLOAT, 16, 1 } },
    { "f64", { DL_FLOAT, 64, 1 } },    { "i32", { DL_INT, 32, 1 } },       { "i64", { DL_INT, 64, 1 } },
    { "i8", { DL_INT, 8, 1 } },        { "i16", { DL_INT, 16, 1 } },       { "u8", { DL_UINT, 8, 1 } },
    { "u16", { DL_UINT, 16, 1 } },     { "u32", { DL_UINT, 32, 1 } },      { "u64", { DL_UINT, 64, 1 } },
    { "c64", { DL_COMPLEX, 64, 1 } },  { "c128", { DL_COMPLEX, 128, 1 } }, { "f8e4m3", { DL_F8E4M3, 8, 1 } },
    { "f8e5m2", { DL_F8E5M2, 8, 1 } },
};
enum { NTYPES = sizeof types / sizeof *types };

const char *type_name(struct dl_type t)
{
    for (int i = 0; i < NTYPES; i++)
        if (types[i].type.code == t.code && types[i].type.bits == t.bits && t.lanes == 1)
            return types[i].name;
    return NULL;
}

void type_text(struct dl_type t, char out[32])
{
    static const char *const kinds[] = { "int", "uint", "float", "opaque", "bfloat", "complex", "bool" };
    if (t.code == 6)
        snprintf(out, 32, "bool");
    else
        snprintf(out, 32, "%s%d%s", t.code < 7 ? kinds[t.code] : "float", t.bits, t.lanes == 1 ? "" : " vectors");
}

static const struct dl_type *type_of(const char *name)
{
    for (int i = 0; i < NTYPES; i++)
        if (!strcmp(types[i].name, name))
            return &types[i].type;
    return NULL;
}

int type_bytes(const char *name)
{
    const struct dl_type *t = type_of(name);
    return t ? t->bits / 8 : 0;
}

/* ---- libraries */

static struct framework *frameworks; /* the newest first; a type that was seen stays */

static const struct dl_exchange *exchange_of(PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const struct dl_exchange *e =
        capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api") ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (e && e->version.major != 1)
        e = e->previous;
    return e;
}

int is_true(PyObject *told)
{
    int is = told == Py_False ? 0 : told ? PyObject_IsTrue(told) : -1;
    Py_XDECREF(told);
    return is;
}

static int look_at(PyTypeObject *type, const char *op, const char *name, struct framework *f)
{
    PyObject *module = PyImport_ImportModule("cutune._frameworks");
    PyObject *helper = module ? PyObject_CallMethod(module, "of", "Oss", (PyObject *)type, op, name) : NULL;
    *f = (struct framework){ .type = type, .helper = helper };
    int rc = helper && (f->stands = is_true(PyObject_CallMethod(helper, "stands", "O", (PyObject *)type))) >= 0 &&
                     (f->interface = is_true(PyObject_GetAttrString(helper, "interface"))) >= 0 &&
                     (f->tensors = is_true(PyObject_GetAttrString(helper, "tensors"))) >= 0 && (!f->tensors || !tensor_learn(helper))
                 ? 0
                 : -1;
    if (!rc) {
        Py_INCREF((PyObject *)type);
        Py_INCREF(helper);
        f->exchange = exchange_of(type);
    }
    Py_XDECREF(module);
    Py_XDECREF(helper);
    return rc;
}

static struct framework *framework_known(PyTypeObject *type)
{
    struct framework *f = frameworks;
    while (f && f->type != type)
        f = f->next;
    return f;
}

struct framework *framework_of(PyTypeObject *type, const char *op, const char *name)
{
    struct framework *known = framework_known(type);
    struct framework found, *new;
    if (known)
        return known;
    if (look_at(type, op, name, &found))
        return NULL;
    known = framework_known(type); /* if another thread has looked meanwhile */
    new = known ? NULL : malloc(sizeof *new);
    if (!new) {
        Py_DECREF((PyObject *)found.type);
        Py_DECREF(found.helper);
        return known ? known : (PyErr_NoMemory(), NULL);
    }
    *new = found;
    new->next = frameworks;
    return frameworks = new;
}

/* ---- reading */

static int take_tensor(const struct dl_tensor *t, const char *op, const char *name, struct array *out)
{
    if (t->ndim < 0 || t->ndim > CUTUNE_RANK) {
        PyErr_Format(error_invalid, "%s: %s has %d axes: more than %d are not possible", op, name, t->ndim, CUTUNE_RANK);
        return -1;
    }
    if (t->ndim && !t->shape) {
        PyErr_Format(error_invalid, "%s: %s has %d axes but no shape", op, name, t->ndim);
        return -1;
    }
    out->data = (char *)t->data + t->byte_offset;
    out->device = t->device;
    out->dtype = t->dtype;
    out->ndim = t->ndim;
    uint64_t by = 1; /* which may wrap: the library checks sizes */
    for (int i = t->ndim - 1; i >= 0; i--) {
        out->shape[i] = t->shape[i];
        out->strides[i] = t->strides ? t->strides[i] : (int64_t)by;
        by *= (uint64_t)t->shape[i];
    }
    return 0;
}

PyObject *first_line(PyObject *value)
{
    PyObject *text = value ? PyObject_Str(value) : NULL, *lines = text ? PyUnicode_Splitlines(text, 0) : NULL;
    PyObject *first = lines ? PySequence_GetItem(lines, 0) : NULL;
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(lines);
    return first;
}

/* A library's own exception may have many lines. An interrupt is none. */
static int unreadable(const char *op, const char *name)
{
    PyObject *type, *value, *trace;
    if (PyErr_Occurred() && (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)))
        return -1;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *first = first_line(value);
    if (first)
        PyErr_Format(error_invalid, "%s: %s cannot be read: %U", op, name, first);
    else
        PyErr_Format(error_invalid, "%s: %s cannot be read", op, name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    Py_XDECREF(first);
    return -1;
}

/* Of DLPack 1, which alone says what is read-only; what does not know it yet is asked again without. */
static PyObject *capsule_of(struct framework *f, PyObject *object, int on_device)
{
    /* stream -1: no synchronisation; the work goes to the same stream. */
    PyObject *names = on_device ? Py_BuildValue("{s:i,s:(ii)}", "stream", -1, "max_version", 1, 0)
                                : Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0), *capsule = NULL;
    if (names && method && none && !f->unversioned)
        capsule = PyObject_Call(method, none, names);
    if (names && method && none && !capsule && (f->unversioned || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        if (!PyDict_DelItemString(names, "max_version"))
            capsule = PyObject_Call(method, none, names);
        f->unversioned = capsule != NULL;
    }
    Py_XDECREF(names);
    Py_XDECREF(method);
    Py_XDECREF(none);
    return capsule;
}

static int read_capsule(struct framework *f, PyObject *object, const char *op, const char *name, struct array *out)
{
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *kind = device ? PySequence_GetItem(device, 0) : NULL;
    const long type = kind ? PyLong_AsLong(kind) : -1;
    PyObject *capsule = type == -1 ? NULL : capsule_of(f, object, type != DL_CPU);
    const struct dl_managed_versioned *m = NULL;
    int rc = -1;
    if (capsule && PyCapsule_IsValid(capsule, "dltensor_versioned"))
        m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (m && m->version.major == 1) {
        out->read_only = (m->flags & DL_READ_ONLY) != 0;
        rc = take_tensor(&m->tensor, op, name, out);
    } else if (capsule && PyCapsule_IsValid(capsule, "dltensor")) {
        rc = take_tensor(&((struct dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))->tensor, op, name, out);
    } else if (capsule) {
        PyErr_Format(PyExc_TypeError, "%s: %s: its __dlpack__ gives no DLPack tensor", op, name);
    }
    out->hold = rc ? NULL : Py_NewRef(capsule); /* it frees what nobody took over */
    Py_XDECREF(device);
    Py_XDECREF(kind);
    Py_XDECREF(capsule);
    return rc && !PyErr_ExceptionMatches(error_invalid) ? unreadable(op, name) : rc;
}

/* NumPy's __array_interface__ and CUDA's, which say the same: as the helper reads them, for what has nothing else. */
static int read_interface(const struct framework *f, PyObject *object, const char *op, const char *name, struct array *out)
{
    PyObject *told = PyObject_CallMethod(f->helper, "describe", "Oss", object, op, name);
    PyObject *shape, *strides, *hold;
    unsigned long long at;
    int device, id, code, bits;
    if (!told)
        return -1;
    int rc = PyArg_ParseTuple(told, "KiiiiiO!O!O", &at, &device, &id, &code, &bits, &out->read_only, &PyTuple_Type, &shape,
                              &PyTuple_Type, &strides, &hold)
                 ? 0
                 : -1;
    out->ndim = rc ? 0 : (int)PyTuple_Size(shape);
    if (!rc && out->ndim > CUTUNE_RANK) {
        PyErr_Format(error_invalid, "%s: %s has %d axes: more than %d are not possible", op, name, out->ndim, CUTUNE_RANK);
        rc = -1;
    }
    for (int i = 0; !rc && i < out->ndim; i++) {
        out->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        out->strides[i] = PyLong_AsLongLong(PyTuple_GetItem(strides, i));
        rc = PyErr_Occurred() ? -1 : 0;
    }
    if (!rc) {
        out->data = (void *)(uintptr_t)at;
        out->device = (struct dl_device){ device, id };
        out->dtype = (struct dl_type){ (uint8_t)code, (uint8_t)bits, 1 };
        out->hold = Py_NewRef(hold);
    }
    Py_DECREF(told);
    return rc;
}

int array_read(struct framework *f, PyObject *object, int watch, const char *op, const char *name, struct array *out)
{
    struct dl_tensor t;
    int rc;
    out->framework = f;
    out->hold = NULL;
    out->read_only = 0;
    if (f->tensors && tensor_refuse_derivative(f, object, watch, op, name))
        return -1;
    if (f->exchange && f->exchange->view)
        rc = f->exchange->view(object, &t) ? unreadable(op, name) : take_tensor(&t, op, name, out);
    else
        rc = f->interface ? read_interface(f, object, op, name, out) : read_capsule(f, object, op, name, out);
    if (!rc && f->tensors && tensor_refuse_lazy(out, object, op, name)) {
        array_done(out);
        rc = -1;
    }
    return rc;
}

void array_done(struct array *a)
{
    Py_CLEAR(a->hold);
}

/* ---- making */

static void made_badly(void *nothing, const char *kind, const char *message)
{
    (void)nothing, (void)kind;
    PyObject *line = PyErr_Occurred() ? NULL : PyUnicode_DecodeUTF8(message, (Py_ssize_t)strcspn(message, "\n"), "replace");
    if (line)
        PyErr_SetObject(PyExc_RuntimeError, line);
    Py_XDECREF(line);
}

static PyObject *make_by_exchange(const struct framework *f, const cutune_array *like, struct dl_device device, void **data)
{
    struct dl_tensor t = { .device = device, .ndim = like->rank, .dtype = *type_of(like->type), .shape = (int64_t *)like->shape };
    struct dl_managed_versioned *managed = NULL;
    void *object = NULL;
    if (f->exchange->allocate(&t, &managed, NULL, made_badly)) {
        made_badly(NULL, NULL, "no new array");
        return NULL;
    }
    *data = (char *)managed->tensor.data + managed->tensor.byte_offset;
    return f->exchange->managed_to(managed, &object) ? NULL : object; /* which takes it over in any case */
}

PyObject *array_make(const struct framework *f, const cutune_array *like, struct dl_device device, void **data)
{
    if (f->exchange)
        return make_by_exchange(f, like, device, data);
    PyObject *shape = PyTuple_New(like->rank), *made;
    for (int i = 0; shape && i < like->rank; i++)
        PyTuple_SetItem(shape, i, PyLong_FromLongLong(like->shape[i]));
    PyObject *both =
        shape ? PyObject_CallMethod(f->helper, "empty", "Osii", shape, like->type, (int)device.type, (int)device.id) : NULL;
    unsigned long long at;
    Py_XDECREF(shape);
    if (!both)
        return NULL;
    made = PyArg_ParseTuple(both, "OK", &made, &at) ? Py_NewRef(made) : NULL;
    Py_DECREF(both);
    *data = (void *)(uintptr_t)at;
    return made;
}

int array_stream(const struct framework *f, struct dl_device device, void **out)
{
    if (f->exchange)
        return f->exchange->stream(device.type, device.id, out) ? -1 : 0;
    PyObject *stream = PyObject_CallMethod(f->helper, "stream", "i", (int)device.id);
    *out = stream ? PyLong_AsVoidPtr(stream) : NULL;
    Py_XDECREF(stream);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *array_enter(PyObject *helper, struct dl_device device)
{
    PyObject *within = PyObject_CallMethod(helper, "attached", "i", (int)device.id);
    PyObject *entered = within ? PyObject_CallMethod(within, "__enter__", NULL) : NULL;
    if (!entered)
        Py_CLEAR(within);
    Py_XDECREF(entered);
    return within;
}

int array_leave(PyObject *within)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *left = PyObject_CallMethod(within, "__exit__", "OOO", Py_None, Py_None, Py_None);
    Py_XDECREF(left);
    Py_DECREF(within);
    if (type)
        PyErr_Restore(type, value, trace);
    return left ? 0 : -1;
}
