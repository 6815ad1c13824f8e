/* What a kernel takes, as far as the driver tells, held against what a launch gives it. A driver would take a value in the place of a buffer
 * for a handle, and a buffer of any type, without a word. */
#include <stdio.h>
#include <string.h>

#include "device/opencl_part.h"

/* A driver that does not tell, or for which this was not built, is no error. */
static bool told(cl_kernel kernel, int i, cl_uint what, void *out, size_t room)
{
    return libopencl.clGetKernelArgInfo(kernel, (cl_uint)i, what, room, out, NULL) == CL_SUCCESS;
}

static int check_place(cl_kernel kernel, const struct guest_launch *l, int i, struct err *err)
{
    const struct guest_param *p = &l->params[i];
    bool given = param_is_given(p);
    char name[PARAM_NAME];
    cl_uint space;
    int rc = given ? check_scalar(i, p->bytes, err) : 0;
    if (rc || !told(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, &space, sizeof space))
        return rc;
    bool buffer = space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
    if (given ? space == CL_KERNEL_ARG_ADDRESS_PRIVATE : buffer)
        return 0;
    return err_set(err, ERR_INVALID, "%s: the kernel takes %s, the launch gives %s", param_name(l, i, name),
                   buffer                                 ? "a buffer"
                   : space == CL_KERNEL_ARG_ADDRESS_LOCAL ? "local memory"
                                                          : "a value",
                   given ? "a value" : "a buffer");
}

/* PoCL takes a value of any size for a type by the prelude's name. 0 for others; int8 and int16 may be vectors of OpenCL C. */
static size_t named_size(cl_kernel kernel, int i)
{
    char name[16] = "";
    if (!told(kernel, i, CL_KERNEL_ARG_TYPE_NAME, name, sizeof name))
        return 0;
    const char *type = name + (name[0] == 'u');
    return !strcmp(type, "int32") ? 4 : !strcmp(type, "int64") ? 8 : 0;
}

/* A kernel's parameter of another size would be refused only at the launch, with a bare number. Few drivers tell sizes; all take a value
 * of the right one. */
static int check_size(cl_kernel kernel, const struct guest_launch *l, int i, struct err *err)
{
    const struct guest_param *p = &l->params[i];
    size_t named = param_is_given(p) ? named_size(kernel, i) : 0;
    if (named && named != (size_t)p->bytes)
        return wrong_size(l, i, named, (size_t)p->bytes, err);
    if (!param_is_given(p) || libopencl.clSetKernelArg(kernel, (cl_uint)i, (size_t)p->bytes, p->value) != CL_INVALID_ARG_SIZE)
        return 0;
    for (size_t takes = 1; takes <= sizeof p->value; takes *= 2)
        if (!libopencl.clSetKernelArg(kernel, (cl_uint)i, takes, p->value))
            return wrong_size(l, i, takes, (size_t)p->bytes, err);
    return 0; /* a struct, say: refused at the launch */
}

/* ---- types */

/* A type of OpenCL C's own, or a vector or pointer of it. */
struct own_type {
    bool is_float, is_unsigned, pointer;
    int bytes, n; /* of one; how many a vector takes, 0 if it is none */
};

/* "float4*". False for all else: what a typedef or a struct is, no driver tells. */
static bool read_type(const char *name, struct own_type *out)
{
    static const struct {
        const char *name;
        int bytes;
        bool is_float, is_unsigned;
    } known[] = {
        { "char", 1, false, false }, { "short", 2, false, false }, { "int", 4, false, false },   { "long", 8, false, false },
        { "uchar", 1, false, true }, { "ushort", 2, false, true }, { "uint", 4, false, true },   { "ulong", 8, false, true },
        { "half", 2, true, false },  { "float", 4, true, false },  { "double", 8, true, false },
    };
    const size_t word = strspn(name, "abcdefghijklmnopqrstuvwxyz");
    int end = 0;
    *out = (struct own_type){ .n = 0 };
    sscanf(name + word, "%2d%n", &out->n, &end);
    const char *rest = name + word + end;
    rest += strspn(rest, " ");
    out->pointer = *rest == '*';
    bool good = !rest[out->pointer] && (!out->n || (out->n <= 16 && strchr("\2\3\4\10\20", out->n))); /* int32 is another's word */
    out->n += out->n == 3;
    for (size_t i = 0; good && i < sizeof known / sizeof *known && !out->bytes; i++)
        if (strlen(known[i].name) == word && !strncmp(name, known[i].name, word)) {
            out->bytes = known[i].bytes;
            out->is_float = known[i].is_float;
            out->is_unsigned = known[i].is_unsigned;
        }
    return out->bytes;
}

/* Whether a kernel of this type can mean what the script says. It may see a buffer's elements as vectors of them, or as bits, that is as
 * unsigned numbers; a sign is nobody's mistake; and for some types OpenCL C has no other than integers. */
static bool agree(const struct own_type *is, const struct dtype *says)
{
    const int part = says->kind == DT_COMPLEX ? says->bytes / 2 : says->bytes, all = is->bytes * (is->n ? is->n : 1);
    const bool number = says->kind == DT_FLOAT || says->kind == DT_COMPLEX, narrow = dtype_narrow(says);
    if (is->is_float)
        return number && is->bytes == part && (!narrow || !strcmp(says->name, "f16")) && (is->pointer || all == says->bytes);
    if (is->is_unsigned && (all == says->bytes || (is->pointer && is->n && all % says->bytes == 0)))
        return true;
    return (!number || narrow || is->is_unsigned) && is->bytes == part && (is->pointer || all == says->bytes);
}

/* With `floats`, of those alone: their sizes say less than their types. */
static int check_type(cl_kernel kernel, const struct guest_launch *l, int i, bool floats, struct err *err)
{
    const struct dtype *says = l->params[i].type;
    char type[64] = "", name[PARAM_NAME];
    struct own_type is;
    if (!says || !told(kernel, i, CL_KERNEL_ARG_TYPE_NAME, type, sizeof type) || !read_type(type, &is) || agree(&is, says) || is.is_float < floats)
        return 0;
    return err_set(err, ERR_INVALID, "%s: the kernel says %.*s, the script %s", param_name(l, i, name), (int)strcspn(type, " *"),
                   type, says->name);
}

/* ---- */

/* Whether the last of n parameters is a pointer to local memory; without a word of the driver's it may be. of_dialect: DYNAMIC_SHARED_PARAM
 * has declared it, which has to be there for 0 bytes, too. */
static bool is_local(cl_kernel kernel, int n, bool *of_dialect)
{
    char name[32] = "";
    cl_uint space = CL_KERNEL_ARG_ADDRESS_LOCAL;
    told(kernel, n - 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, &space, sizeof space);
    *of_dialect = !told(kernel, n - 1, CL_KERNEL_ARG_NAME, name, sizeof name) || !strcmp(name, "dynamic_shared_memory");
    return space == CL_KERNEL_ARG_ADDRESS_LOCAL;
}

int opencl_params(cl_kernel kernel, const struct guest_launch *l, bool *dynamic, struct err *err)
{
    const int64_t shared = l->geometry.shared;
    const int n = l->nparams;
    bool of_dialect = false;
    cl_uint takes = 0;
    int rc = OPENCL(err, clGetKernelInfo, kernel, CL_KERNEL_NUM_ARGS, sizeof takes, &takes, NULL);
    *dynamic = !rc && takes == (cl_uint)n + 1 && is_local(kernel, n + 1, &of_dialect);
    if (!rc && (takes != (cl_uint)n + *dynamic || (shared && !*dynamic)))
        rc = wrong_count(l, (int)takes,
                         shared > 0 ? " and dynamic shared memory (DYNAMIC_SHARED_PARAM, or a __local pointer, the last)" : "", err);
    if (!rc && *dynamic && !shared && !of_dialect)
        rc = err_set(
            err, ERR_INVALID,
            "kernel argument %d: the kernel takes local memory, and the launch does not say how many bytes: shared = EXPRESSION",
            n + 1);
    for (int i = 0; i < n && !rc; i++)
        rc = check_place(kernel, l, i, err)
            ?: check_type(kernel, l, i, true, err)
            ?: check_size(kernel, l, i, err)
            ?: check_type(kernel, l, i, false, err);
    return rc;
}
