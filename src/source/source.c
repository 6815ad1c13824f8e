/* The text for the compiler: prelude, #define lines of types and parameters, template. */
#include "source/source.h"

#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "source/expand.h"
#include "source/template.h"

/* What the dialect calls an element: f16 and bf16 are moved as bits, complex numbers are pairs. */
static const char *c_type(const struct dtype *d)
{
    static const struct {
        const char *dtype, *c;
    } names[] = {
        { "i8", "int8" },    { "i16", "int16" },  { "i32", "int32" },  { "i64", "int64" },    { "u8", "uint8" },
        { "u16", "uint16" }, { "u32", "uint32" }, { "u64", "uint64" }, { "f16", "uint16" },   { "bf16", "uint16" },
        { "f32", "float" },  { "f64", "double" }, { "c64", "float2" }, { "c128", "double2" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].dtype, d->name) == 0)
            return names[i].c;
    return "void"; /* no element type is missing: the compiler would say so */
}

/* An opaque type of the same size. */
static const char *bits_type(const struct dtype *d)
{
    switch (d->bytes) {
    case 1:
        return "uint8";
    case 2:
        return "uint16";
    case 4:
        return "uint32";
    case 8:
        return "uint64";
    default:
        return "uint4";
    }
}

void source_define_type(struct buf *out, const char *t, const struct dtype *d)
{
    buf_fmt(out, "#define %s %s\n#define %s_bytes %d\n#define %s_bits %s\n#define %s_is_float %d\n#define %s_is_%s 1\n", t,
            c_type(d), t, d->bytes, t, bits_type(d), t, d->kind == DT_FLOAT, t, d->name);
}

/* In parentheses where a sign stands in front; the smallest integer has no literal of its own. */
static void define_int(struct buf *out, int64_t i)
{
    if (i == INT64_MIN)
        buf_str(out, "(-9223372036854775807 - 1)");
    else
        buf_fmt(out, i < 0 ? "(%lld)" : "%lld", (long long)i);
}

static void define_float(struct buf *out, double f)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", f);
    const char *point = strpbrk(text, ".e") ? "" : ".0"; /* else it would be an integer */
    buf_fmt(out, f < 0 ? "(%s%s)" : "%s%s", text, point);
}

static void define_param(const struct param *p, struct val v, struct buf *out)
{
    for (int i = 0; v.type == VAL_STR && i < p->n; i++)
        buf_fmt(out, "#define %s_%s %d\n", p->name, p->values[i].s, i);
    buf_fmt(out, "#define %s ", p->name);
    if (v.type == VAL_STR)
        buf_fmt(out, "%s_%s", p->name, v.s);
    else if (v.type == VAL_FLOAT)
        define_float(out, v.f);
    else
        define_int(out, v.type == VAL_BOOL ? v.b : v.i);
    buf_str(out, "\n");
}

int source_prelude(const struct op *op, const struct devspec *dev, struct buf *out, struct err *err)
{
    const char *prelude =
        strcmp(dev->backend, "opencl") == 0 ? op->prelude_opencl : op->prelude_cuda; /* null pretends to be CUDA */
    if (!prelude)
        return err_set(err, ERR_INVALID, "op %s carries no prelude", op->name);
    buf_str(out, prelude);
    return 0;
}

/* Whether the language has no headers of its own. */
static bool bare(const struct devspec *dev)
{
    const struct backend *b = backend_find(dev->backend);
    return b && b->compiling->bare;
}

enum { MAX_VARS = 2 * MAX_TYPES + MAX_PARAMS + 1 };

/* What Lua lines see: `backend`; T as "f32", T_bytes as 4; parameters by value. `names` holds the texts of T_bytes. */
static int lua_vars(const struct op *op, const struct config *config, int row, const struct devspec *dev,
                    char names[MAX_TYPES][MAX_NAME + 8], struct template_var vars[MAX_VARS])
{
    int n = 0;
    vars[n++] = (struct template_var){ "backend", val_str(dev->backend) };
    for (int i = 0; i < op->ntypes; i++) {
        const struct dtype *d = op->rows[row * op->ntypes + i];
        snprintf(names[i], sizeof names[i], "%s_bytes", op->types[i]);
        vars[n++] = (struct template_var){ op->types[i], val_str(d->name) };
        vars[n++] = (struct template_var){ names[i], val_int(d->bytes) };
    }
    const struct variant *v = config ? &op->variants[config->variant] : NULL;
    for (int i = 0; v && i < v->nparams; i++)
        vars[n++] = (struct template_var){ v->params[i].name, v->params[i].values[config->at[i]] };
    return n;
}

int source_render(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                  struct err *err)
{
    struct template_var vars[MAX_VARS];
    char names[MAX_TYPES][MAX_NAME + 8];
    const struct variant *v = config ? &op->variants[config->variant] : NULL;
    const char *name = v ? v->template_name : op->reference_name;
    const char *text = v ? v->template_text : op->reference_text;
    if (!text)
        return err_set(err, ERR_INVALID, "op %s carries no reference", op->name);
    int rc = source_prelude(op, dev, out, err);
    if (rc)
        return rc;
    for (int i = 0; i < op->ntypes; i++)
        source_define_type(out, op->types[i], op->rows[row * op->ntypes + i]);
    for (int i = 0; v && i < v->nparams; i++)
        define_param(&v->params[i], v->params[i].values[config->at[i]], out);
    if (!template_has_lua(text)) /* the compiler's messages can name the template's lines */
        buf_fmt(out, "#line 1 \"%s\"\n", name);
    int nvars = lua_vars(op, config, row, dev, names, vars);
    struct buf filled = { 0 };
    rc = template_fill(name, text, vars, nvars, &filled, err);
    if (!rc)
        rc = include_expand(op, name, buf_text(&filled), template_has_lua(text), bare(dev), out, err);
    buf_free(&filled);
    return rc ? rc : out->failed ? err_nomem(err) : 0;
}
