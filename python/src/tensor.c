/* PyTorch's tensors: what is asked of them and of PyTorch beside their data, each time, and so in few nanoseconds. */
#include "native.h"

/* A function of PyTorch's. Where it is one in C it is called as such: Python's way to it takes longer than what it does. */
struct asked {
    PyObject *function, *self;
    PyCFunction in_c; /* null: it is not */
    int flags;
};

/* Of the helper, found when the first tensor is seen; it is for all. */
static struct {
    PyObject *requires_grad, *is_conj, *is_neg, *level; /* names */
    PyObject *grad;                                     /* the attribute of that name, and how it is read; for tensors only */
    descrgetfunc read_grad;
    struct asked modes;   /* how many see each call */
    PyObject *forward;    /* a dict: `level` is -1 while no tensor has a tangent */
    struct asked written; /* counts a change of each tensor that an iterator gives */
    struct once *once;    /* that iterator, used only if the function is in C: then no Python code runs in between */
} torch;

/* An iterator that gives one object. Always the same one: a new tuple and its iterator would cost each call a seventh of its time. */
struct once {
    PyObject_HEAD PyObject *object; /* null: it was given */
};

static PyObject *once_next(PyObject *self)
{
    PyObject *object = ((struct once *)self)->object;
    ((struct once *)self)->object = NULL;
    return object;
}

static struct once *once_new(void)
{
    static PyType_Slot slots[] = { { Py_tp_iter, PyObject_SelfIter }, { Py_tp_iternext, once_next }, { 0, NULL } };
    static PyType_Spec spec = {
        .name = "cutune._native._Once", .basicsize = sizeof(struct once), .flags = Py_TPFLAGS_DEFAULT, .slots = slots
    };
    PyObject *type = PyType_FromSpec(&spec), *once = type ? PyObject_CallNoArgs(type) : NULL;
    Py_XDECREF(type);
    return (struct once *)once;
}

static void learn(struct asked *a)
{
    if (!PyObject_TypeCheck(a->function, &PyCFunction_Type))
        return;
    a->in_c = PyCFunction_GetFunction(a->function);
    a->self = PyCFunction_GetSelf(a->function);
    a->flags = PyCFunction_GetFlags(a->function);
}

int tensor_learn(PyObject *helper)
{
    if (torch.forward)
        return 0;
    torch.requires_grad = PyUnicode_InternFromString("requires_grad");
    torch.is_conj = PyUnicode_InternFromString("is_conj");
    torch.is_neg = PyUnicode_InternFromString("is_neg");
    torch.level = PyUnicode_InternFromString("_current_level");
    if (!torch.requires_grad || !torch.is_conj || !torch.is_neg || !torch.level)
        return -1;
    PyObject *asked = PyObject_GetAttrString(helper, "asked"), *forward; /* it stays, for what is in it */
    if (!asked || !PyArg_ParseTuple(asked, "OOOO", &torch.grad, &torch.modes.function, &forward, &torch.written.function))
        return -1;
    torch.read_grad = (descrgetfunc)PyType_GetSlot(Py_TYPE(torch.grad), Py_tp_descr_get);
    learn(&torch.modes);
    learn(&torch.written);
    if (torch.written.in_c && torch.written.flags == METH_O && !(torch.once = once_new()))
        return -1;
    torch.forward = forward;
    return 0;
}

/* argument: null: none. */
static PyObject *ask(const struct asked *a, PyObject *argument)
{
    if (a->in_c && a->flags == (argument ? METH_O : METH_NOARGS))
        return a->in_c(a->self, argument);
    return argument ? PyObject_CallFunctionObjArgs(a->function, argument, NULL) : PyObject_CallNoArgs(a->function);
}

int tensor_watch(void)
{
    int is = is_true(ask(&torch.modes, NULL));
    if (is)
        return is < 0 ? -1 : TENSORS_TRACED;
    PyObject *level = PyDict_GetItemWithError(torch.forward, torch.level);
    return level && PyLong_AsLong(level) >= 0 ? TENSORS_TANGENTS : 0;
}

static int refuse(int is, const char *op, const char *name, const char *why, const char *way)
{
    if (is > 0)
        PyErr_Format(error_invalid, "%s: %s %s %s.%s()", op, name, why, name, way);
    return is ? -1 : 0;
}

int tensor_refuse_derivative(const struct framework *f, PyObject *object, int watch, const char *op, const char *name)
{
    int is = is_true(torch.read_grad && !f->stands ? torch.read_grad(torch.grad, object, (PyObject *)f->type)
                                                   : PyObject_GetAttr(object, torch.requires_grad));
    if (is > 0)
        is = is_true(PyObject_CallMethod(f->helper, "grad_enabled", NULL));
    if (is)
        return refuse(is, op, name, "requires a gradient, and this op has no derivative: call it under torch.no_grad(), or pass",
                      "detach");
    is = watch == TENSORS_TANGENTS ? is_true(PyObject_CallMethod(f->helper, "has_tangent", "O", object)) : 0;
    return refuse(is, op, name, "has a tangent (torch.autograd.forward_ad), and this op has no derivative: pass", "detach");
}

/* PyTorch negates lazily only what it takes for imaginary parts, whose elements are not side by side. To ask each tensor would cost as much
 * as to read it. */
static int may_be_negated(const struct array *a)
{
    return a->ndim == 0 || a->shape[a->ndim - 1] == 1 || a->strides[a->ndim - 1] != 1;
}

int tensor_refuse_lazy(const struct array *a, PyObject *object, const char *op, const char *name)
{
    int is = may_be_negated(a) ? is_true(PyObject_CallMethodObjArgs(object, torch.is_neg, NULL)) : 0;
    if (is)
        return refuse(is, op, name, "is negated, which its memory is not: pass", "resolve_neg");
    is = a->dtype.code == DL_COMPLEX ? is_true(PyObject_CallMethodObjArgs(object, torch.is_conj, NULL)) : 0;
    return refuse(is, op, name, "is conjugated, which its memory is not: pass", "resolve_conj");
}

int tensor_written(PyObject *object)
{
    PyObject *done;
    if (torch.once) {
        torch.once->object = Py_NewRef(object);
        done = ask(&torch.written, (PyObject *)torch.once);
        Py_CLEAR(torch.once->object); /* if it was not taken */
    } else {
        PyObject *one = PyTuple_Pack(1, object);
        done = one ? ask(&torch.written, one) : NULL;
        Py_XDECREF(one);
    }
    Py_XDECREF(done);
    return done ? 0 : -1;
}
