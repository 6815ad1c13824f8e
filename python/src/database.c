/* cutune._native.Database: an open database, and the handles of the devices that arrays came from. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

int database_begin(struct database *d)
{
    if (!d->c) {
        PyErr_SetString(error_invalid, "the database was closed");
        return -1;
    }
    d->busy++;
    return 0;
}

void database_end(struct database *d)
{
    d->busy--;
}

int database_renew(struct database *d, int *changed)
{
    int rc;
    if (database_begin(d))
        return -1;
    Py_BEGIN_ALLOW_THREADS rc = cutune_refresh(d->c, changed);
    Py_END_ALLOW_THREADS database_end(d);
    d->generation++;
    if (rc)
        raise_library(rc);
    return rc ? -1 : 0;
}

static cutune_handle *attach_host(struct database *d)
{
    cutune_handle *h = NULL;
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cutune_attach_device(d->c, d->host_device, &h);
    Py_END_ALLOW_THREADS if (rc) raise_library(rc);
    return rc ? NULL : h;
}

static cutune_handle *attach_cuda(struct database *d, struct dl_device device, PyObject *framework)
{
    cutune_handle *h = NULL;
    PyObject *within = array_enter(framework, device);
    if (!within)
        return NULL;
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cutune_attach_cuda(d->c, NULL, &h);
    Py_END_ALLOW_THREADS if (rc) raise_library(rc);
    return array_leave(within) || rc ? NULL : h;
}

cutune_handle *database_handle(struct database *d, struct dl_device device, PyObject *framework)
{
    for (struct handle *h = d->handles; h; h = h->next)
        if (h->device.type == device.type && h->device.id == device.id)
            return h->handle;
    cutune_handle *attached = device.type == DL_CUDA ? attach_cuda(d, device, framework) : attach_host(d);
    struct handle *h = attached ? malloc(sizeof *h) : NULL;
    if (attached && !h)
        PyErr_NoMemory();
    if (!h)
        return NULL;
    *h = (struct handle){ d->handles, device, attached };
    d->handles = h;
    return attached;
}

/* ---- the type */

static void let_go(struct database *d)
{
    while (d->handles) {
        struct handle *h = d->handles;
        d->handles = h->next;
        free(h);
    }
    cutune *c = d->c;
    d->c = NULL;
    Py_BEGIN_ALLOW_THREADS cutune_close(c);
    Py_END_ALLOW_THREADS
}

static void database_free(PyObject *self)
{
    struct database *d = (struct database *)self;
    PyTypeObject *type = Py_TYPE(self);
    let_go(d);
    free(d->host_device);
    Py_XDECREF(d->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int take_path(PyObject *given, void *out)
{
    return given == Py_None ? 1 : PyUnicode_FSConverter(given, out);
}

/* As the library finds it. The program is told, whatever the folder is by then. */
static PyObject *path_of(const char *given)
{
    const char *path = given ? given : getenv("CUTUNE_DB");
    if (!path || !*path)
        return Py_NewRef(Py_None);
    PyObject *module = PyImport_ImportModule("os.path"), *text = PyUnicode_DecodeFSDefault(path);
    PyObject *absolute = module && text ? PyObject_CallMethod(module, "abspath", "O", text) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(text);
    return absolute;
}

static int open_with(struct database *d, const cutune_options *o, const char *device)
{
    cutune *c = NULL;
    int rc;
    if (atomic_flag_test_and_set(&d->begun)) {
        PyErr_SetString(error_invalid, "a Database is opened once: make another one");
        return -1;
    }
    d->path = path_of(o->path);
    d->host_device = strdup(device ? device : "opencl");
    if (!d->path || !d->host_device)
        return d->path ? (PyErr_NoMemory(), -1) : -1;
    Py_BEGIN_ALLOW_THREADS rc = cutune_open_with(o, &c);
    Py_END_ALLOW_THREADS if (rc) raise_library(rc);
    d->c = c;
    return rc ? -1 : 0;
}

static int database_init(PyObject *self, PyObject *args, PyObject *names)
{
    static char *words[] = { "path", "tables", "cache", "capture", "refresh_ms", "strict", "device", NULL };
    cutune_options o = { .size = sizeof o };
    const char *device = "opencl", *strict = NULL;
    PyObject *paths[3] = { NULL };
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O&O&O&pizz:Database", words, take_path, &paths[0], take_path, &paths[1],
                                     take_path, &paths[2], &o.capture, &o.refresh_ms, &strict, &device))
        return -1;
    o.path = paths[0] ? PyBytes_AsString(paths[0]) : NULL;
    o.tables = paths[1] ? PyBytes_AsString(paths[1]) : NULL;
    o.cache = paths[2] ? PyBytes_AsString(paths[2]) : NULL;
    static const char *const modes[] = { "", "off", "log", "error" };
    for (int i = 1; strict && i < 4; i++)
        if (!strcmp(strict, modes[i]))
            o.strict = (cutune_strict)i;
    int rc = strict && !o.strict ? -1 : 0;
    if (rc)
        PyErr_Format(error_invalid, "strict is '%s': it is 'off', 'log' or 'error'", strict);
    rc = rc ? rc : open_with((struct database *)self, &o, device);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(paths[i]);
    return rc;
}

static PyObject *database_path(PyObject *self, void *nothing)
{
    (void)nothing;
    struct database *d = (struct database *)self;
    return Py_NewRef(d->path ? d->path : Py_None);
}

static PyObject *close_alone(PyObject *self)
{
    if (((struct database *)self)->busy) {
        PyErr_SetString(error_invalid, "the database cannot be closed: a call is under way in another thread");
        return NULL;
    }
    let_go((struct database *)self);
    Py_RETURN_NONE;
}

static PyObject *refresh_alone(PyObject *self)
{
    int changed = 0;
    return database_renew((struct database *)self, &changed) ? NULL : PyLong_FromLong(changed);
}

static PyObject *flush_alone(PyObject *self)
{
    struct database *d = (struct database *)self;
    int rc;
    if (database_begin(d))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = cutune_flush(d->c);
    Py_END_ALLOW_THREADS database_end(d);
    return rc ? raise_library(rc) : Py_NewRef(Py_None);
}

static PyObject *op_alone(PyObject *self, PyObject *name)
{
    Py_ssize_t len;
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "the name of an op is a str, not %R", (PyObject *)Py_TYPE(name));
    const char *text = PyUnicode_AsUTF8AndSize(name, &len);
    if (text && strlen(text) != (size_t)len)
        return PyErr_Format(PyExc_ValueError, "%R is the name of no op: it has a NUL", name);
    return text ? op_new((struct database *)self, text) : NULL;
}

/* ---- lists */

/* What the library lists, copied: it holds its lock meanwhile, and making objects may run any of Python's code, which may wait for that. */
struct listed {
    char *at;
    size_t len, room;
};

enum { NO_MEMORY = 1 }; /* returned by a callback */

static int keep(struct listed *l, const void *bytes, size_t n)
{
    if (l->len + n > l->room) {
        size_t room = (l->len + n) * 2;
        char *more = realloc(l->at, room);
        if (!more)
            return NO_MEMORY;
        l->at = more;
        l->room = room;
    }
    memcpy(l->at + l->len, bytes, n);
    l->len += n;
    return 0;
}

static int keep_name(void *listed, const char *name)
{
    return keep(listed, name, strlen(name) + 1);
}

enum { TEXTS = 8 };
static const char *const texts[TEXTS] = { "op", "types", "sizes", "backend", "device", "arch", "variant", "config" };

static int keep_record(void *listed, const cutune_record *r)
{
    const char *const kept[TEXTS] = { r->op, r->types, r->sizes, r->backend, r->device, r->arch, r->variant, r->config };
    int rc = 0;
    for (int i = 0; !rc && i < TEXTS; i++)
        rc = keep_name(listed, kept[i]);
    rc = rc ? rc : keep(listed, &r->time_ns, sizeof r->time_ns);
    return rc ? rc : keep(listed, &r->stale, sizeof r->stale);
}

static PyObject *take_name(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)(*at - text - 1), "replace");
}

static int set(PyObject *row, const char *name, PyObject *value)
{
    int rc = value ? PyDict_SetItemString(row, name, value) : -1;
    Py_XDECREF(value);
    return rc;
}

static PyObject *take_record(const char **at)
{
    PyObject *row = PyDict_New();
    double time_ns;
    int stale, rc = row ? 0 : -1;
    for (int i = 0; !rc && i < TEXTS; i++)
        rc = set(row, texts[i], take_name(at));
    if (!rc) {
        memcpy(&time_ns, *at, sizeof time_ns);
        memcpy(&stale, *at + sizeof time_ns, sizeof stale);
        *at += sizeof time_ns + sizeof stale;
        rc = set(row, "time_ns", PyFloat_FromDouble(time_ns)) || set(row, "stale", PyBool_FromLong(stale));
    }
    if (rc)
        Py_CLEAR(row);
    return row;
}

static PyObject *list_of(const struct listed *l, PyObject *(*take)(const char **at))
{
    PyObject *all = PyList_New(0);
    for (const char *at = l->at; all && at < l->at + l->len;) {
        PyObject *one = take(&at);
        if (!one || PyList_Append(all, one))
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject *list(struct database *d, int of_ops)
{
    struct listed l = { 0 };
    PyObject *all = NULL;
    int rc;
    if (database_begin(d))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = of_ops ? cutune_each_op(d->c, keep_name, &l) : cutune_each(d->c, keep_record, &l);
    Py_END_ALLOW_THREADS database_end(d);
    if (rc == NO_MEMORY)
        PyErr_NoMemory();
    else if (rc)
        raise_library(rc);
    else
        all = list_of(&l, of_ops ? take_name : take_record);
    free(l.at);
    return all;
}

static PyObject *ops_alone(PyObject *self)
{
    return list((struct database *)self, 1);
}

static PyObject *winners_alone(PyObject *self)
{
    return list((struct database *)self, 0);
}

/* ---- the methods */

#define METHOD(name)                                                                                                               \
    static PyObject *database_##name(PyObject *self, PyObject *nothing)                                                            \
    {                                                                                                                              \
        (void)nothing;                                                                                                             \
        ALONE(name##_alone(self));                                                                                                 \
    }
METHOD(close)
METHOD(refresh)
METHOD(flush)
METHOD(ops)
METHOD(winners)

static PyObject *database_op(PyObject *self, PyObject *name)
{
    ALONE(op_alone(self, name));
}

int database_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        { "close", database_close, METH_NOARGS, "close()\n--\n\nEnds everything that came from the database." },
        { "refresh", database_refresh, METH_NOARGS,
          "refresh()\n--\n\nReads what was tuned since the last time; the number of problems that got another kernel." },
        { "flush", database_flush, METH_NOARGS, "flush()\n--\n\nWrites the misses that were captured so far." },
        { "op", database_op, METH_O, "op(name)\n--\n\nThe function of an op that the database or the shipped tables know." },
        { "ops", database_ops, METH_NOARGS, "ops()\n--\n\nThe names of all ops that the database and the shipped tables know." },
        { "winners", database_winners, METH_NOARGS, "winners()\n--\n\nA dict for each winner in the database." },
        { NULL, NULL, 0, NULL },
    };
    static PyGetSetDef members[] = { { "path", database_path, NULL, "Its file, wherever one is by now; None: the usual place.",
                                       NULL },
                                     { NULL, NULL, NULL, NULL, NULL } };
    static PyType_Slot slots[] = {
        { Py_tp_doc,
          "Database(path=None, tables=None, cache=None, capture=False, refresh_ms=0, strict=None, device='opencl')\n--\n\n"
          "An open database; None stands for the usual place. device: where arrays in host memory go." },
        { Py_tp_new, PyType_GenericNew },
        { Py_tp_init, database_init },
        { Py_tp_dealloc, database_free },
        { Py_tp_methods, methods },
        { Py_tp_getset, members },
        { 0, NULL },
    };
    static PyType_Spec spec = { "cutune._native.Database", sizeof(struct database), 0, Py_TPFLAGS_DEFAULT, slots };
    PyObject *type = PyType_FromSpec(&spec);
    int rc = type ? PyModule_AddObjectRef(module, "Database", type) : -1;
    Py_XDECREF(type);
    return rc;
}
