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

/* "a and b or c", as Lua has a choice, the way Python has it; where there is nothing else. */
static void add_expression(struct text *t, const char *e)
{
    const size_t n = strlen(e);
    const int enclosed = n > 1 && e[0] == '(' && e[n - 1] == ')';
    const char *from = e + enclosed, *end = e + n - enclosed;
    const char *first = strstr(from, " and "), *second = first ? strstr(first, " or ") : NULL;
    int is_choice = second && second == strstr(from, " or ") && !strstr(first + 5, " and ") && !strstr(second + 4, " or ");
    for (const char *c = from; c < end; c++)
        is_choice = is_choice && *c != '(' && *c != ')';
    if (is_choice)
        add(t, "(%.*s if %.*s else %.*s)", (int)(second - first) - 5, first + 5, (int)(first - from), from, (int)(end - second) - 4,
            second + 4);
    else
        add(t, "%s", e);
}

static void describe_arg(struct text *t, const cutune_arg *a, const struct param *p)
{
    static const char *const kinds[] = { "read", "written; made if it is left out", "read and written", "a number" };
    add(t, "    %s: %s", name_of(p), a->type);
    for (int d = 0; d < a->rank; d++) {
        add(t, "%s", d ? ", " : " [");
        add_expression(t, a->extent[d]);
    }
    add(t, "%s, %s\n", a->rank ? "]" : "", kinds[a->kind]);
}

static void describe_axis(struct text *t, const cutune_axis *a, const struct param *p)
{
    static const char *const kinds[] = { "a size", "a stride", "batch size", "a flag, 0 or 1" };
    add(t, "    %s: %s; ", name_of(p), kinds[a->kind]);
    if (a->preset) {
        add(t, "default: ");
        add_expression(t, a->preset);
        add(t, "%s\n", a->kind == CUTUNE_AXIS_BATCH ? ", and the arrays may omit its axis" : "");
    } else {
        add(t, "%s\n", a->kind == CUTUNE_AXIS_FLAG ? "has to be given" : "taken from the arrays");
    }
}

static void describe_stride(struct text *t, const cutune_axis *a)
{
    add(t, "    %s: no argument: elements from one row to the next", a->name);
    if (a->preset) {
        add(t, "; without gaps ");
        add_expression(t, a->preset);
    }
    add(t, "\n");
}

static void add_signature(struct text *t, const struct op *o, const struct form *f)
{
    add(t, "%s(", o->name);
    for (int i = 0; i < f->nparams; i++)
        add(t, "%s%s%s%s", i ? ", " : "", i == f->npositional ? "*, " : "", name_of(&f->params[i]),
            i < f->npositional ? "" : "=None");
    add(t, ")");
}

PyObject *op_signature(const struct op *o, const struct form *f)
{
    struct text t = { 0 };
    add_signature(&t, o, f);
    PyObject *signature = t.failed ? PyErr_NoMemory() : PyUnicode_FromString(t.at);
    free(t.at);
    return signature;
}

/* The first line is what Python reads the signature from. */
static char *describe(const struct op *o, const struct form *f)
{
    struct text t = { 0 };
    add_signature(&t, o, f);
    add(&t, "\n--\n\nLaunches the fastest kernel that is known for %s on the arrays' device and current stream.\n\n", o->name);
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].arg >= 0)
            describe_arg(&t, &f->args[f->params[i].arg], &f->params[i]);
        else if (f->params[i].axis >= 0)
            describe_axis(&t, &f->axes[f->params[i].axis], &f->params[i]);
    for (int i = 0; i < f->naxes; i++)
        if (f->axes[i].kind == CUTUNE_AXIS_STRIDE)
            describe_stride(&t, &f->axes[i]);
    add(&t, "    stream: a CUstream as a number; if it is left out, the current one of the arrays' library\n\nTypes:");
    for (int i = 0; cutune_op_types(f->known, i); i++)
        add(&t, "%s %s", i ? "," : "", cutune_op_types(f->known, i));
    add(&t, ".");
    if (t.failed) {
        free(t.at);
        PyErr_NoMemory();
        return NULL;
    }
    return t.at;
}

/* ---- parameters */

static int is_taken(const struct form *f, PyObject *name)
{
    int is = !PyUnicode_CompareWithASCIIString(name, "stream");
    for (int i = 0; i < f->nparams; i++)
        is = is || !PyUnicode_Compare(f->params[i].name, name);
    return is;
}

/* One that is a word of Python's, a call's own or another's gets a "_". */
static PyObject *python_name(const struct form *f, const char *name)
{
    PyObject *keywords = PyImport_ImportModule("keyword");
    PyObject *is = keywords ? PyObject_CallMethod(keywords, "iskeyword", "s", name) : NULL;
    PyObject *text = is ? PyUnicode_FromFormat(PyObject_IsTrue(is) ? "%s_" : "%s", name) : NULL;
    while (text && is_taken(f, text)) {
        PyObject *longer = PyUnicode_FromFormat("%U_", text);
        Py_DECREF(text);
        text = longer;
    }
    Py_XDECREF(keywords);
    Py_XDECREF(is);
    return text;
}

/* Takes the name over. */
static int add_param(struct form *f, PyObject *name, int arg, int axis, int output)
{
    if (!name)
        return -1;
    PyUnicode_InternInPlace(&name);
    f->params[f->nparams++] = (struct param){ name, arg, axis, output };
    return 0;
}

static int list_params(struct form *f)
{
    int rc = 0;
    for (int output = 0; output < 2; output++) {
        for (int i = 0; !rc && i < f->nargs; i++)
            if ((f->args[i].kind == CUTUNE_ARG_OUTPUT) == output)
                rc = add_param(f, python_name(f, f->args[i].name), i, -1, output);
        if (!output)
            f->npositional = f->nparams;
    }
    for (int i = 0; !rc && i < f->naxes; i++)
        if (f->axes[i].kind != CUTUNE_AXIS_STRIDE)
            rc = add_param(f, python_name(f, f->axes[i].name), -1, i, 0);
    return rc ? rc : add_param(f, PyUnicode_FromString("stream"), -1, -1, 0);
}

/* ---- forms */

static void let_go(struct form *f)
{
    if (!f || --f->users)
        return;
    form_forget(f);
    for (int i = 0; i < f->nparams; i++)
        Py_DECREF(f->params[i].name);
    free(f);
}

static struct form *form_new(const cutune_op *known, unsigned generation)
{
    struct form *f = calloc(1, sizeof *f);
    if (!f) {
        PyErr_NoMemory();
        return NULL;
    }
    f->users = 1;
    f->known = known;
    f->generation = generation;
    f->nargs = cutune_op_args(known);
    f->naxes = cutune_op_axes(known);
    for (int i = 0; i < f->nargs; i++) {
        f->args[i].size = sizeof *f->args;
        cutune_op_arg(known, i, &f->args[i]);
    }
    for (int i = 0; i < f->naxes; i++) {
        f->axes[i].size = sizeof *f->axes;
        cutune_op_axis(known, i, &f->axes[i]);
    }
    if (list_params(f)) {
        let_go(f);
        return NULL;
    }
    return f;
}

static int is_older(const struct form *f, unsigned generation)
{
    return !f || f->generation < generation;
}

int op_find(const struct op *o, const cutune_op **known)
{
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = cutune_op_find(o->database->c, o->name, known);
    Py_END_ALLOW_THREADS return rc;
}

/* Other threads may do the same meanwhile: the newest form stays. */
static int learn(struct op *o)
{
    const unsigned generation = o->database->generation;
    const cutune_op *known;
    int rc = op_find(o, &known);
    if (rc) {
        raise_library(rc);
        return -1;
    }
    struct form *f = o->form;
    if (f && f->known == known) {
        f->generation = is_older(f, generation) ? generation : f->generation;
        return 0;
    }
    f = form_new(known, generation);
    if (!f)
        return -1;
    struct form *other = f;
    if (is_older(o->form, generation)) {
        other = o->form;
        o->form = f;
    }
    let_go(other);
    return 0;
}

struct form *op_begin(struct op *o)
{
    if (database_begin(o->database))
        return NULL;
    if (is_older(o->form, o->database->generation) && learn(o)) {
        database_end(o->database);
        return NULL;
    }
    o->form->users++;
    return o->form;
}

void op_end(struct op *o, struct form *f)
{
    let_go(f);
    database_end(o->database);
}

/* ---- the type */

static void op_free(PyObject *self)
{
    struct op *o = (struct op *)self;
    PyTypeObject *type = Py_TYPE(self);
    let_go(o->form);
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
    struct form *f;
    if (!o)
        return NULL;
    o->database = (struct database *)Py_NewRef((PyObject *)d);
    o->name = strdup(name);
    if (!o->name) {
        PyErr_NoMemory();
    } else if ((f = op_begin(o))) {
        o->text = describe(o, f);
        op_end(o, f);
    }
    if (o->text) {
        o->call = (PyMethodDef){ o->name, (PyCFunction)(void (*)(void))op_call, METH_FASTCALL | METH_KEYWORDS, o->text };
        PyObject *function = PyCFunction_NewEx(&o->call, (PyObject *)o, NULL);
        Py_DECREF((PyObject *)o);
        return function;
    }
    Py_DECREF((PyObject *)o);
    return NULL;
}

/* Of an argument or an axis; None: it is no parameter. */
static PyObject *parameter(const struct form *f, int arg, int axis)
{
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].arg == arg && f->params[i].axis == axis)
            return f->params[i].name;
    return Py_None;
}

static PyObject *describe_alone(PyObject *self)
{
    static const char *const kinds[] = { "input", "output", "inout", "scalar" };
    static const char *const axes[] = { "size", "stride", "batch", "flag" };
    struct op *o = (struct op *)self;
    struct form *f = op_begin(o);
    if (!f)
        return NULL;
    PyObject *args = PyList_New(0), *sizes = PyList_New(0), *types = PyList_New(0), *item = NULL, *all = NULL;
    int rc = args && sizes && types ? 0 : -1;
    for (int i = 0; !rc && i < f->nargs; i++) {
        PyObject *extents = PyList_New(f->args[i].rank);
        for (int d = 0; extents && d < f->args[i].rank; d++)
            PyList_SetItem(extents, d, PyUnicode_FromString(f->args[i].extent[d]));
        item = extents ? Py_BuildValue("{s:s,s:O,s:s,s:s,s:N}", "name", f->args[i].name, "parameter", parameter(f, i, -1), "kind",
                                       kinds[f->args[i].kind], "type", f->args[i].type, "extents", extents)
                       : NULL;
        rc = item ? PyList_Append(args, item) : -1;
        Py_XDECREF(item);
    }
    for (int i = 0; !rc && i < f->naxes; i++) {
        item = Py_BuildValue("{s:s,s:O,s:s,s:z}", "name", f->axes[i].name, "parameter", parameter(f, -1, i), "kind",
                             axes[f->axes[i].kind], "preset", f->axes[i].preset);
        rc = item ? PyList_Append(sizes, item) : -1;
        Py_XDECREF(item);
    }
    for (int i = 0; !rc && cutune_op_types(f->known, i); i++) {
        item = PyUnicode_FromString(cutune_op_types(f->known, i));
        rc = item ? PyList_Append(types, item) : -1;
        Py_XDECREF(item);
    }
    if (!rc)
        all = Py_BuildValue("{s:s,s:O,s:O,s:O}", "name", o->name, "args", args, "axes", sizes, "types", types);
    Py_XDECREF(args);
    Py_XDECREF(sizes);
    Py_XDECREF(types);
    op_end(o, f);
    return all;
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

static PyObject *op_database(PyObject *self, void *nothing)
{
    (void)nothing;
    return Py_NewRef((PyObject *)((struct op *)self)->database);
}

int op_type(PyObject *module)
{
    static PyMethodDef methods[] = {
        { "launch", (PyCFunction)(void (*)(void))op_launch, METH_FASTCALL | METH_KEYWORDS,
          "What the function does, with the data that tensors have, whatever traces: for PyTorch's dispatcher." },
        { "lookup", (PyCFunction)(void (*)(void))op_lookup, METH_FASTCALL | METH_KEYWORDS,
          "The kernel that a call with these arguments launches: (match, why, variant, config, time_ns, types, sizes)." },
        { "forms", (PyCFunction)(void (*)(void))op_forms, METH_FASTCALL | METH_KEYWORDS,
          "What a call with arrays of these types and shapes gives: (types, sizes, [(name, type, shape) of each output])." },
        { "describe", op_describe, METH_NOARGS, "describe()\n--\n\nArguments, axes and types of the op, as a dict." },
        { NULL, NULL, 0, NULL },
    };
    static PyGetSetDef members[] = { { "name", op_name, NULL, "The op's name.", NULL },
                                     { "database", op_database, NULL, "The Database that serves it.", NULL },
                                     { NULL, NULL, NULL, NULL, NULL } };
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
