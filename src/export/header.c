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

/* A function's parameters: buffers, then sizes. */
struct typed_call {
    struct {
        char name[sizeof "axis_" + MAX_NAME];
        const struct arg *buffer;
        const struct axis *size; /* one of the two */
    } param[MAX_ARGS + MAX_AXES];
    int nbuffers, n;
};

/* An op may use any word as a name: keywords of C and C++, and what headers and compilers define as macros. No list of them is ever
 * complete, so every name has a prefix. No macro begins with either prefix, the function's own names do not, and as there is one for
 * buffers and one for sizes, two names that differ stay different. */
static void add_param(struct typed_call *c, const struct arg *buffer, const struct axis *size)
{
    snprintf(c->param[c->n].name, sizeof c->param->name, "%s%s", buffer ? "arg_" : "axis_", buffer ? buffer->name : size->name);
    c->param[c->n].buffer = buffer;
    c->param[c->n++].size = size;
    c->nbuffers += buffer != NULL;
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

static void comment_buffer(struct buf *out, const struct arg *a, const char *name)
{
    static const char *const uses[] = { [ARG_INPUT] = "read", [ARG_OUTPUT] = "written", [ARG_INOUT] = "read and written" };
    buf_fmt(out, " *   %-12s %s, %s", name, a->type, a->rank ? "" : "one element");
    for (int i = 0; i < a->rank; i++) {
        buf_str(out, "[");
        comment_text(out, a->extent[i]);
        buf_str(out, "]");
    }
    buf_fmt(out, ": %s\n", uses[a->kind]);
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

static void comment(struct buf *out, const struct op *op, const struct typed_call *c)
{
    static const char *const takes[] = {
        [AXIS_SIZE] = "elements, at least 1",
        [AXIS_STRIDE] = "elements between neighbours, at least 1",
        [AXIS_BATCH] = "how many, at least 1",
        [AXIS_FLAG] = "0 or 1",
    };
    buf_fmt(out, "/* %s: looks it up and launches it on the stream. Buffers are packed, the last extent the innermost.\n",
            op->name);
    comment_types(out, op);
    for (int i = 0; i < c->n; i++)
        if (c->param[i].buffer)
            comment_buffer(out, c->param[i].buffer, c->param[i].name);
        else
            buf_fmt(out, " *   %-12s %s\n", c->param[i].name, takes[c->param[i].size->kind]);
    buf_str(out, " * CUTUNE_OK, or what cutune_lookup or cutune_launch failed with. */\n");
}

/* ---------------------------------------------------------------------------------------------------------------- the function */

/* Parameters from..to, each after `before`; null: after its type. */
static void list(struct buf *out, const struct typed_call *c, int from, int to, const char *before)
{
    for (int i = from; i < to; i++) {
        const struct arg *buffer = c->param[i].buffer;
        const char *type = !buffer ? "int64_t " : buffer->kind == ARG_INPUT ? "const void *" : "void *";
        if (i > from)
            comma(out, "        ");
        buf_fmt(out, "%s%s", before ? before : type, c->param[i].name);
    }
}

static void function(struct buf *out, const struct op *op, const struct typed_call *c)
{
    buf_fmt(out, "static inline int cutune_%s(cutune_handle *h, void *stream, const char *types,\n        ", op->name);
    list(out, c, 0, c->n, NULL);
    buf_str(out, ")\n{\n    const int64_t sizes[] = { ");
    list(out, c, c->nbuffers, c->n, "");
    buf_str(out, " };\n    void *const buffers[] = { ");
    /* quiet under -Wcast-qual: inputs are const here, in cutune_launch they cannot be */
    list(out, c, 0, c->nbuffers, "(void *)(uintptr_t)");
    buf_fmt(out,
            " };\n    const cutune_kernel *kernel;\n"
            "    int rc = cutune_lookup(h, \"%s\", types, sizes, %d, &kernel);\n"
            "    return rc ? rc : cutune_launch(kernel, stream, buffers, %d);\n}\n",
            op->name, op->naxes, c->nbuffers);
}

/* Each op has a guard of its own, so that headers of different ops can be used together. */
static void write_op(struct buf *out, const struct op *op)
{
    struct typed_call c = { .n = 0 };
    for (int i = 0; i < op->nargs; i++)
        if (arg_is_buffer(&op->args[i]))
            add_param(&c, &op->args[i], NULL);
    for (int i = 0; i < op->naxes; i++)
        add_param(&c, NULL, &op->axes[i]);
    buf_fmt(out, "\n#ifndef CUTUNE_OPS_%s\n#define CUTUNE_OPS_%s\n", op->name, op->name);
    comment(out, op, &c);
    function(out, op, &c);
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
