#include "export/export.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "header_names.h"

/* A comma between the items of a list, and a new line if this one is full. */
static void comma(struct buf *out, const char *indent)
{
    const char *newline = out->len ? memrchr(out->data, '\n', out->len) : NULL;
    bool full = newline && out->data + out->len - newline > 90;
    buf_fmt(out, ",%s%s", full ? "\n" : " ", full ? indent : "");
}

/* ---------------------------------------------------------------------------------------------------------------- names */

/* A function's parameters: buffers and scalars in the op's order, then sizes. */
struct typed_call {
    struct {
        char name[sizeof "axis_" + MAX_NAME];
        const struct arg *arg;
        const struct axis *size; /* one of the two */
        const char *type;        /* in C, with what comes before the name */
        bool by_value;           /* a scalar */
    } param[MAX_ARGS + MAX_AXES];
    int nargs, n;
};

/* What a scalar is in C; of a float of 8 or 16 bits these are passed. Null if it depends on the element types, which are known only when
 * the call is made, and for complex numbers, which C and C++ do not share. */
static const char *scalar_in_c(const struct op *op, const struct arg *a)
{
    static const char *const types[][4] = {
        [DT_INT] = { "int8_t ", "int16_t ", "int32_t ", "int64_t " },
        [DT_UINT] = { "uint8_t ", "uint16_t ", "uint32_t ", "uint64_t " },
        [DT_FLOAT] = { "uint8_t ", "uint16_t ", "float ", "double " },
    };
    const struct dtype *t = op_arg_dtype(op, a->type, 0);
    for (int row = 1; row < op->nrows; row++)
        if (op_arg_dtype(op, a->type, row) != t)
            return NULL;
    return t->kind == DT_COMPLEX ? NULL : types[t->kind][t->bytes == 8 ? 3 : t->bytes / 2];
}

/* An op may use any word as a name: keywords of C and C++, and what headers and compilers define as macros. No list of them is ever
 * complete, so every name has a prefix. No macro begins with either prefix, the function's own names do not, and as there is one for
 * arguments and one for sizes, two names that differ stay different. */
static void add_param(struct typed_call *c, const struct op *op, const struct arg *arg, const struct axis *size)
{
    int i = c->n++;
    const char *value = arg && arg->kind == ARG_SCALAR ? scalar_in_c(op, arg) : NULL;
    snprintf(c->param[i].name, sizeof c->param->name, "%s%s", arg ? "arg_" : "axis_", arg ? arg->name : size->name);
    c->param[i].arg = arg;
    c->param[i].size = size;
    c->param[i].by_value = value != NULL;
    c->param[i].type = value                                               ? value
                       : size                                              ? "int64_t "
                       : arg->kind == ARG_INPUT || arg->kind == ARG_SCALAR ? "const void *"
                                                                           : "void *";
    c->nargs += arg != NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- the comment */

/* Text of the op's for a comment: nothing in it may end that, or look like the start of another. */
static void comment_text(struct buf *out, const char *s)
{
    for (char before = 0; *s; before = *s++) {
        if ((before == '*' && *s == '/') || (before == '/' && *s == '*'))
            buf_str(out, " ");
        buf_fmt(out, "%c", isprint((unsigned char)*s) ? *s : isspace((unsigned char)*s) ? ' ' : '?');
    }
}

static void comment_scalar(struct buf *out, const struct op *op, const struct arg *a, const char *name, bool by_value)
{
    const struct dtype *t = op_arg_dtype(op, a->type, 0);
    bool bits = t->kind == DT_FLOAT && t->bytes < 4;
    buf_fmt(out, " *   %-12s %s, a scalar: %s\n", name, a->type,
            !by_value ? "the address of its value in host memory"
            : bits    ? "its bits"
                      : "its value");
}

static void comment_buffer(struct buf *out, const struct arg *a, const char *name)
{
    static const char *const uses[] = { [ARG_INPUT] = "read", [ARG_OUTPUT] = "written", [ARG_INOUT] = "read and written" };
    buf_fmt(out, " *   %-12s %s, %s", name, a->type, a->rank ? "" : "one element");
    for (int i = 0; i < a->rank; i++) {
        buf_str(out, "[");
        comment_text(out, a->extent[i]);
        buf_str(out, "]");
    }
    buf_fmt(out, ": %s", uses[a->kind]);
    if (a->data.file.name && a->kind != ARG_OUTPUT) {
        buf_str(out, "; tuned on the data of ");
        comment_text(out, a->data.file.name);
    }
    buf_str(out, "\n");
}

/* All bindings; `types` may be any of them. */
static void comment_types(struct buf *out, const struct op *op)
{
    buf_fmt(out, " *   %-12s ", "types");
    for (int row = 0; row < op->nrows; row++) {
        if (row)
            comma(out, " *                ");
        buf_str(out, "\"");
        op_row_print(out, op, row);
        buf_str(out, "\"");
    }
    buf_str(out, "\n");
}

static void comment_size(struct buf *out, const struct axis *a, const char *name)
{
    static const char *const takes[] = {
        [AXIS_SIZE] = "elements, at least 1",
        [AXIS_STRIDE] = "elements between neighbours, at least 1",
        [AXIS_BATCH] = "how many, at least 1",
        [AXIS_FLAG] = "0 or 1",
    };
    buf_fmt(out, " *   %-12s %s", name, takes[a->kind]);
    if (a->max) {
        buf_str(out, ", at most ");
        comment_text(out, a->max);
    }
    if (a->preset && a->kind != AXIS_FLAG) {
        buf_str(out, "; 0: ");
        comment_text(out, a->preset);
    }
    buf_str(out, "\n");
}

static void comment(struct buf *out, const struct op *op, const struct typed_call *c, int needed)
{
    buf_fmt(out, "/* %s: looks it up and launches it on the stream. Buffers are packed, the last extent the innermost.\n",
            op->name);
    comment_types(out, op);
    for (int i = 0; i < c->n; i++)
        if (c->param[i].arg && c->param[i].arg->kind == ARG_SCALAR)
            comment_scalar(out, op, c->param[i].arg, c->param[i].name, c->param[i].by_value);
        else if (c->param[i].arg)
            comment_buffer(out, c->param[i].arg, c->param[i].name);
        else
            comment_size(out, c->param[i].size, c->param[i].name);
    for (int i = 0; i < op->nwhere; i++) {
        buf_fmt(out, " *   %-12s ", i ? "" : "only where");
        comment_text(out, op->where[i]);
        buf_str(out, "\n");
    }
    if (needed > 0 && needed < op->naxes)
        buf_fmt(out, " * All sizes from axis_%s on may be left out.\n", op->axes[needed].name);
    buf_str(out, " * CUTUNE_OK, or what cutune_lookup or cutune_launch failed with. */\n");
}

/* ---------------------------------------------------------------------------------------------------------------- the function */

/* Parameters from..to, each after `before`, those by value with an & between; null: after its type. */
static void list(struct buf *out, const struct typed_call *c, int from, int to, const char *before)
{
    for (int i = from; i < to; i++) {
        if (i > from)
            comma(out, "        ");
        buf_fmt(out, "%s%s%s", before ? before : c->param[i].type, before && c->param[i].by_value ? "&" : "", c->param[i].name);
    }
}

/* With the first nsizes of the op's sizes. */
static void function(struct buf *out, const struct op *op, const struct typed_call *c, const char *name, int nsizes)
{
    buf_fmt(out, "static inline int %s(cutune_handle *h, void *stream, const char *types,\n        ", name);
    list(out, c, 0, c->nargs + nsizes, NULL);
    buf_str(out, ")\n{\n    const int64_t sizes[] = { ");
    list(out, c, c->nargs, c->nargs + nsizes, "");
    buf_str(out, " };\n    void *const buffers[] = { ");
    /* quiet under -Wcast-qual: inputs are const here, in cutune_launch they cannot be */
    list(out, c, 0, c->nargs, "(void *)(uintptr_t)");
    buf_fmt(out,
            " };\n    const cutune_kernel *kernel;\n"
            "    int rc = cutune_lookup(h, \"%s\", types, sizes, %d, &kernel);\n"
            "    return rc ? rc : cutune_launch(kernel, stream, buffers, %d);\n}\n",
            op->name, nsizes, c->nargs);
}

/* The same call without the sizes that have defaults. In C++ it is an overload, in C a macro counts the arguments. */
static void short_call(struct buf *out, const struct op *op, const struct typed_call *c, int needed)
{
    const int shorter = 3 + c->nargs + needed, all = 3 + c->n; /* arguments */
    char name[sizeof "CUTUNE__" + 10 + MAX_NAME];
    snprintf(name, sizeof name, "CUTUNE_%d_%s", shorter, op->name);
    buf_fmt(out, "#ifdef __cplusplus\n#define %s cutune_%s\n#else\n#define CUTUNE_%d_%s cutune_%s\n#define CUTUNE_CALL_%s(\\\n    ", name,
            op->name, all, op->name, op->name, op->name);
    for (int i = 1; i <= all; i++)
        buf_fmt(out, "a%d, %s", i, i % 12 ? "" : "\\\n    ");
    buf_fmt(out, "n, ...) CUTUNE_##n##_%s\n#define cutune_%s(...) \\\n    CUTUNE_CALL_%s(__VA_ARGS__, %d, ", op->name, op->name, op->name,
            all);
    for (int i = 1; i < all; i++)
        buf_fmt(out, "%d, %s", shorter, i % 12 ? "" : "\\\n    ");
    buf_str(out, "0)(__VA_ARGS__)\n#endif\n");
    function(out, op, c, name, needed);
}

/* Each op has a guard of its own, so that headers of different ops can be used together. */
static void write_op(struct buf *out, const struct op *op)
{
    struct typed_call c = { .n = 0 };
    char name[sizeof "cutune_" + MAX_NAME];
    int needed = 0; /* sizes without a default: the first ones */
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].kind != ARG_VALUE)
            add_param(&c, op, &op->args[i], NULL);
    for (int i = 0; i < op->naxes; i++)
        add_param(&c, op, NULL, &op->axes[i]);
    while (needed < op->naxes && !op->axes[needed].preset)
        needed++;
    buf_fmt(out, "\n#ifndef CUTUNE_OPS_%s\n#define CUTUNE_OPS_%s\n", op->name, op->name);
    comment(out, op, &c, needed);
    snprintf(name, sizeof name, "cutune_%s", op->name);
    function(out, op, &c, name, op->naxes);
    if (needed > 0 && needed < op->naxes)
        short_call(out, op, &c, needed);
    buf_str(out, "#endif\n");
}

static int check_name(struct op *const *ops, int i, struct err *err)
{
    const char *name = ops[i]->name;
    for (size_t k = 0; k < sizeof header_names / sizeof *header_names; k++)
        if (!strcmp(header_names[k] + strlen("cutune_"), name))
            return err_set(err, ERR_INVALID,
                           "%s: an op called %s has no typed call: cutune_%s is libcutune's own name; rename the op", ops[i]->file,
                           name, name);
    for (int k = 0; k < i; k++)
        if (!strcmp(ops[k]->name, name))
            return err_set(err, ERR_INVALID, "%s: the op %s is there already, from %s: give one of them", ops[i]->file, name,
                           ops[k]->file);
    return 0;
}

int header_write(struct buf *out, struct op *const *ops, int n, struct err *err)
{
    buf_str(out, "/* Typed calls for libcutune, generated by `cutune header`, version " CUTUNE_VERSION ": C11 or C++11.\n"
                 " * Buffers are device pointers or cl_mem; stream as in cutune_launch. Link libcutune. */\n"
                 "#include \"cutune.h\"\n");
    for (int i = 0; i < n; i++) {
        int rc = check_name(ops, i, err);
        if (rc)
            return rc;
        write_op(out, ops[i]);
    }
    return buf_check(out, err);
}
