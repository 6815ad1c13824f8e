/* Numbers of Python as the bytes of an op's scalars. */
#include "native.h"

#include <string.h>

/* The low bytes come first on all machines that CUDA runs on. */
static int put_int(const char *type, PyObject *value, unsigned char *out)
{
    const int bytes = type_bytes(type), bits = bytes * 8;
    if (*type == 'u') {
        unsigned long long v = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred())
            return -1;
        if (bits < 64 && v >> bits)
            return PyErr_Format(PyExc_OverflowError, "%llu is no %s", v, type), -1;
        memcpy(out, &v, (size_t)bytes);
        return 0;
    }
    long long v = PyLong_AsLongLong(value);
    if (v == -1 && PyErr_Occurred())
        return -1;
    if (bits < 64 && (v < -(1LL << (bits - 1)) || v >= 1LL << (bits - 1)))
        return PyErr_Format(PyExc_OverflowError, "%lld is no %s", v, type), -1;
    memcpy(out, &v, (size_t)bytes);
    return 0;
}

static int put_whole(const char *type, PyObject *number, unsigned char *out)
{
    PyObject *value = PyNumber_Index(number); /* an int, also of NumPy's */
    int rc = value ? put_int(type, value, out) : -1;
    Py_XDECREF(value);
    return rc;
}

static int put_narrow(const char *type, double v, unsigned char *out)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (!strcmp(type, "bf16")) {
        bits = f != f ? 0x7fc00000u : bits + 0x7fff + (bits >> 16 & 1);
        memcpy(out, (unsigned char *)&bits + 2, 2);
        return 0;
    }
    PyObject *pack = PyImport_ImportModule("struct");
    PyObject *two = pack && !strcmp(type, "f16") ? PyObject_CallMethod(pack, "pack", "sd", "<e", v) : NULL;
    if (two)
        memcpy(out, PyBytes_AsString(two), 2);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "scalars of %s cannot be passed from Python", type);
    Py_XDECREF(pack);
    Py_XDECREF(two);
    return two ? 0 : -1;
}

/* Python's own take the short way; and text, which complex() would read. Other libraries' numbers tell both parts only so. */
static int read_complex(PyObject *value, double v[2])
{
    if (PyFloat_Check(value) || PyLong_Check(value) || PyUnicode_Check(value)) {
        v[0] = PyFloat_AsDouble(value);
        v[1] = 0;
    } else {
        PyObject *z = PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL);
        v[0] = z ? PyComplex_RealAsDouble(z) : -1;
        v[1] = z ? PyComplex_ImagAsDouble(z) : -1;
        Py_XDECREF(z);
    }
    return PyErr_Occurred() ? -1 : 0;
}

int scalar_put(const char *type, PyObject *value, unsigned char out[16])
{
    double v[2];
    if (*type == 'i' || *type == 'u')
        return put_whole(type, value, out);
    if (read_complex(value, v))
        return -1;
    float f[2] = { (float)v[0], (float)v[1] };
    if (*type != 'c' && v[1] != 0)
        return PyErr_Format(PyExc_TypeError, "%S is no %s, since it has an imaginary part", value, type), -1;
    if (type_bytes(type) < 4)
        return put_narrow(type, v[0], out);
    int is_double = !strcmp(type, "f64") || !strcmp(type, "c128");
    memcpy(out, is_double ? (void *)v : (void *)f, (size_t)type_bytes(type));
    return 0;
}
