/* cutune._native.Op: what an op takes, as a function with a signature and a docstring. */
#include "native.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts */

struct text {
    char *at;
    size_t len, room;
    int failed;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (t->len + (size_t)n + 1 > t->room) {
        size_t room = (t->len + (size_t)n + 1) * 2;
        char *more = realloc(t->at, room);
        if (!more) {
            t->failed = 1;
            return;
        }
        t->at = more;
        t->room = room;
    }
    va_start(ap, format);
    vsnprintf(t->at + t->len, t->room - t->len, format, ap);
    va_end(ap);
    t->len += (size_t)n;
}

static const char *name_of(const struct param *p)
{
    const char *name = PyUnicode_AsUTF8AndSize(p->name, NULL);
    return name ? name : "?";
}

static void describe_arg(struct text *t, const cutune_arg *a, const struct param *p)
{
    static const char *const kinds[] = { "read", "written; made if it is left out", "read and written", "a number" };
    add(t, "    %s: %s", name_of(p), a->type);
    for (int d = 0; d < a->rank; d++)
        add(t, "%s%s%s", d ? ", " : " [", a->extent[d], d == a->rank - 1 ? "]" : "");
    add(t, ", %s\n", kinds[a->kind]);
}

static void describe_axis(struct text *t, const cutune_axis *a, const struct param *p)
{
    static const char *const kinds[] = { "a size", "a stride", "how many", "a flag, 0 or 1" };
    const char *found = a->kind == CUTUNE_AXIS_FLAG ? "has to be given" : "taken from the arrays";
    add(t, "    %s: %s; %s%s\n", name_of(p), kinds[a->kind], a->preset ? "if it is left out: " : found, a->preset ? a->preset : "");
}

/* The first line is what Python reads the signature from. */
static char *describe(const struct op *o)
{
    struct text t = { 0 };
    add(&t, "%s(", o->name);
    for (int i = 0; i < o->nparams; i++)
        add(&t, "%s%s%s%s", i ? ", " : "", i == o->npositional ? "*, " : "", name_of(&o->params[i]),
            i < o->npositional ? "" : "=None");
    add(&t, ")\n--\n\nLaunches the fastest kernel that is known for %s on the arrays' device and current stream.\n\n", o->name);
    for (int i = 0; i < o->nparams; i++)
        if (o->params[i].arg >= 0)
            describe_arg(&t, &o->args[o->params[i].arg], &o->params[i]);
        else if (o->params[i].axis >= 0)
            describe_axis(&t, &o->axes[o->params[i].axis], &o->params[i]);
    add(&t, "    stream: a CUstream as a number; if it is left out, the current one of the arrays' library\n\nTypes:");
    for (int i = 0; cutune_op_types(o->known, i); i++)
        add(&t, "%s %s", i ? "," : "", cutune_op_types(o->known, i));
    add(&t, ".");
    if (t.failed) {
        free(t.at);
        PyErr_NoMemory();
        return NULL;
    }
    return t.at;
}

/* ---- parameters */

static PyObject *python_name(const char *name)
{
    PyObject *keywords = PyImport_ImportModule("keyword");
    PyObject *is = keywords ? PyObject_CallMethod(keywords, "iskeyword", "s", name) : NULL;
    PyObject *text = is ? PyUnicode_FromFormat(PyObject_IsTrue(is) ? "%s_" : "%s", name) : NULL;
    Py_XDECREF(keywords);
    Py_XDECREF(is);
    if (text)
        PyUnicode_InternInPlace(&text);
    return text;
}

static int add_param(struct op *o, const char *name, int arg, int axis, int output)
{
    struct param *p = &o->params[o->nparams];
    *p = (struct param){ python_name(name), arg, axis, output };
    o->nparams += p->name != NULL;
    return p->name ? 0 : -1;
}

static void clear_params(struct op *o)
{
    for (int i = 0; i < o->nparams; i++)
        Py_CLEAR(o->params[i].name);
    o->nparams = 0;
}

static int list_params(struct op *o)
{
    int rc = 0;
    for (int output = 0; output < 2; output++) {
        for (int i = 0; !rc && i < o->nargs; i++)
            if ((o->args[i].kind == CUTUNE_ARG_OUTPUT) == output)
                rc = add_param(o, o->args[i].name, i, -1, output);
        if (!output)
            o->npositional = o->nparams;
    }
    for (int i = 0; !rc && i < o->naxes; i++)
        if (o->axes[i].kind != CUTUNE_AXIS_STRIDE)
            rc = add_param(o, o->axes[i].name, -1, i, 0);
    return rc ? rc : add_param(o, "stream", -1, -1, 0);
}

static int read_known(struct op *o)
{
    int rc = cutune_op_find(o->database->c, o->name, &o->known);
    if (rc) {
        raise_library(rc);
        return -1;
    }
    o->generation = o->database->generation;
    o->nargs = cutune_op_args(o->known);
    o->naxes = cutune_op_axes(o->known);
    for (int i = 0; i < o->nargs; i++) {
        o->args[i].size = sizeof *o->args;
        cutune_op_arg(o->known, i, &o->args[i]);
    }
    for (int i = 0; i < o->naxes; i++) {
        o->axes[i].size = sizeof *o->axes;
        cutune_op_axis(o->known, i, &o->axes[i]);
    }
    return list_params(o);
}

/* Beside what there is, since other threads may call the op while Python is asked for names. */
static int learn(struct op *o)
{
    struct op new = { .database = o->database, .name = o->name };
    if (read_known(&new)) {
        clear_params(&new);
        return -1;
    }
    if (o->known && o->generation == new.generation) { /* one of them has done it */
        clear_params(&new);
        return 0;
    }
    clear_params(o);
    o->known = new.known;
    o->generation = new.generation;
    memcpy(o->args, new.args, sizeof o->args);
    memcpy(o->axes, new.axes, sizeof o->axes);
    memcpy(o->params, new.params, sizeof o->params);
    o->nargs = new.nargs;
    o->naxes = new.naxes;
    o->nparams = new.nparams;
    o->npositional = new.npositional;
    return 0;
}

int op_renew(struct op *o)
{
    if (!o->database->c) {
        PyErr_Format(error_invalid, "%s: its database was closed", o->name);
        return -1;
    }
    if (o->generation == o->database->generation || o->busy)
        return 0;
    op_forget(o);
    return learn(o);
}

/* ---- the type */

static void op_free(PyObject *self)
{
    struct op *o = (struct op *)self;
    PyTypeObject *type = Py_TYPE(self);
    op_forget(o);
    clear_params(o);
    free(o->name);
    free(o->text);
    Py_XDECREF((PyObject *)o->database);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyTypeObject *the_type;

PyObject *op_new(struct database *d, const char *name)
{
    struct op *o = (struct op *)((allocfunc)PyType_GetSlot(the_type, Py_tp_alloc))(the_type, 0);
    if (!o)
        return NULL;
    o->database = (struct database *)Py_NewRef((PyObject *)d);
    o->name = strdup(name);
    if (!o->name) {
        PyErr_NoMemory();
    } else if (!learn(o) && (o->text = describe(o))) {
        o->call = (PyMethodDef){ o->name, (PyCFunction)(void (*)(void))op_call, METH_FASTCALL | METH_KEYWORDS, o->text };
        PyObject *function = PyCFunction_NewEx(&o->call, (PyObject *)o, NULL);
        Py_DECREF((PyObject *)o);
        return function;
    }
    Py_DECREF((PyObject *)o);
    return NULL;
}

static PyObject *describe_alone(PyObject *self)
{
    static const char *const kinds[] = { "input", "output", "inout", "scalar" };
    static const char *const axes[] = { "size", "stride", "batch", "flag" };
    struct op *o = (struct op *)self;
    if (op_renew(o))
        return NULL;
    PyObject *args = PyList_New(0), *sizes = PyList_New(0), *types = PyList_New(0), *item = NULL;
    int rc = args && sizes && types ? 0 : -1;
    for (int i = 0; !rc && i < o->nargs; i++) {
        PyObject *extents = PyList_New(o->args[i].rank);
        for (int d = 0; extents && d < o->args[i].rank; d++)
            PyList_SetItem(extents, d, PyUnicode_FromString(o->args[i].extent[d]));
        item = extents ? Py_BuildValue("{s:s,s:s,s:s,s:N}", "name", o->args[i].name, "kind", kinds[o->args[i].kind], "type",
                                       o->args[i].type, "extents", extents)
                       : NULL;
        rc = item ? PyList_Append(args, item) : -1;
        Py_XDECREF(item);
    }
    for (int i = 0; !rc && i < o->naxes; i++) {
        item = Py_BuildValue("{s:s,s:s,s:z}", "name", o->axes[i].name, "kind", axes[o->axes[i].kind], "preset", o->axes[i].preset);
        rc = item ? PyList_Append(sizes, item) : -1;
        Py_XDECREF(item);
    }
    for (int i = 0; !rc && cutune_op_types(o->known, i); i++) {
        item = PyUnicode_FromString(cutune_op_types(o->known, i));
        rc = item ? PyList_Append(types, item) : -1;
        Py_XDECREF(item);
    }
    if (!rc)
        return Py_BuildValue("{s:s,s:N,s:N,s:N}", "name", o->name, "args", args, "axes", sizes, "types", types);
    Py_XDECREF(args);
    Py_XDECREF(sizes);
    Py_XDECREF(types);
    return NULL;
}

static PyObject *op_describe(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    ALONE(describe_alone(self));
}

static PyObject *op_name(PyObject *self, void *nothing)
{
    (void)nothing;
    return PyUnicode_FromString(((struct op *)self)->name);
}

int op_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        { "lookup", (PyCFunction)(void (*)(void))op_lookup, METH_FASTCALL | METH_KEYWORDS,
          "The kernel that a call with these arguments launches: (match, why, variant, config, time_ns, types, sizes)." },
        { "forms", (PyCFunction)(void (*)(void))op_forms, METH_FASTCALL | METH_KEYWORDS,
          "What a call with arrays of these types and shapes gives: (types, sizes, [(name, type, shape) of each output])." },
        { "describe", op_describe, METH_NOARGS, "describe()\n--\n\nArguments, axes and types of the op, as a dict." },
        { NULL, NULL, 0, NULL },
    };
    static PyGetSetDef members[] = { { "name", op_name, NULL, "The op's name.", NULL }, { NULL, NULL, NULL, NULL, NULL } };
    static PyType_Slot slots[] = {
        { Py_tp_doc, "What a function of cutune's stands for: its __self__." },
        { Py_tp_dealloc, op_free },
        { Py_tp_methods, methods },
        { Py_tp_getset, members },
        { 0, NULL },
    };
    static PyType_Spec spec = { "cutune._native.Op", sizeof(struct op), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                slots };
    the_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return the_type ? PyModule_AddObjectRef(module, "Op", (PyObject *)the_type) : -1;
}
