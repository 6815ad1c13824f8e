/* The module: exceptions, and what it has. */
#include "native.h"

#include <string.h>

#ifdef Py_GIL_DISABLED
PyObject *alone;
#endif
PyObject *error_base, *error_invalid;
static PyObject *error_missing, *error_strict, *error_device;

PyObject *raise_library(int code)
{
    PyObject *type = code == CUTUNE_ERR_NOMEM         ? PyExc_MemoryError
                     : code == CUTUNE_ERR_INVALID     ? error_invalid
                     : code == CUTUNE_ERR_NOTFOUND    ? error_missing
                     : code == CUTUNE_ERR_STRICT      ? error_strict
                     : code == CUTUNE_ERR_DEVICE      ? error_device
                     : code == CUTUNE_ERR_UNSUPPORTED ? error_device
                                                      : error_base;
    const char *line = cutune_error();
    PyObject *text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)strlen(line), "replace");
    if (text)
        PyErr_SetObject(type, text);
    Py_XDECREF(text);
    return NULL;
}

static int add_error(PyObject *module, const char *name, const char *doc, PyObject *base, PyObject *also, PyObject **out)
{
    PyObject *bases = also ? PyTuple_Pack(2, base, also) : PyTuple_Pack(1, base);
    char full[64];
    PyOS_snprintf(full, sizeof full, "cutune.%s", name);
    *out = bases ? PyErr_NewExceptionWithDoc(full, doc, bases, NULL) : NULL;
    Py_XDECREF(bases);
    return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

static PyObject *device_find(PyObject *self, PyObject *args)
{
    const char *id = NULL;
    cutune_device d = { .size = sizeof d };
    int rc;
    (void)self;
    if (!PyArg_ParseTuple(args, "|z:device", &id))
        return NULL;
    Py_BEGIN_ALLOW_THREADS rc = cutune_device_find(id, &d);
    Py_END_ALLOW_THREADS if (rc) return raise_library(rc);
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:i,s:L,s:i}", "backend", d.backend, "name", d.name, "arch", d.arch, "mig", d.mig,
                         "multiprocessors", d.multiprocessors, "memory", (long long)d.memory, "cc", d.cc);
}

static int fill(PyObject *module)
{
    return add_error(module, "Error", "What libcutune failed with, in its own line.", PyExc_RuntimeError, NULL, &error_base) ||
           add_error(module, "InvalidError", "An argument that cannot be right.", error_base, PyExc_ValueError, &error_invalid) ||
           add_error(module, "NotFoundError", "No such op, device or file, or no kernel.", error_base, PyExc_LookupError,
                     &error_missing) ||
           add_error(module, "StrictError", "Refused in strict mode.", error_base, NULL, &error_strict) ||
           add_error(module, "DeviceError", "A driver refused, or the device cannot do it.", error_base, NULL, &error_device) ||
           PyModule_AddStringConstant(module, "version", cutune_version_text()) || database_type(module) || op_type(module);
}

PyMODINIT_FUNC PyInit__native(void); /* Python knows it by its name */
PyMODINIT_FUNC PyInit__native(void)
{
    static PyMethodDef methods[] = {
        { "device", device_find, METH_VARARGS,
          "device(id=None)\n--\n\nDescribes a device: 'cuda:0', 'opencl:1', None for the best." },
        { NULL, NULL, 0, NULL },
    };
    static struct PyModuleDef def = {
        PyModuleDef_HEAD_INIT, "cutune._native", "libcutune for Python.", -1, methods, NULL, NULL, NULL, NULL
    };
    PyObject *module = PyModule_Create(&def);
#ifdef Py_GIL_DISABLED
    alone = module ? Py_NewRef(module) : NULL;
    if (module && PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED)) {
        Py_DECREF(module);
        return NULL;
    }
#endif
    if (module && fill(module)) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
