/* The text for the compiler: prelude, #define lines of types and parameters, template. */
#include "source/source.h"

#include <stdio.h>
#include <string.h>

#include "child/child.h"
#include "device/device.h"
#include "source/template.h"

/* An unsigned integer of the dialect, or another opaque type, of so many bytes. */
static const char *bits_type(int bytes)
{
    static const char *const names[] = { [1] = "uint8", [2] = "uint16", [4] = "uint32", [8] = "uint64" };
    return bytes <= 8 ? names[bytes] : "uint4";
}

/* What the dialect calls an element: f16 and bf16 are moved as bits, complex numbers are pairs. */
static const char *c_type(const struct dtype *d)
{
    if (d->kind == DT_COMPLEX)
        return d->bytes == 8 ? "float2" : "double2";
    if (d->kind == DT_FLOAT && d->bytes > 2)
        return d->bytes == 4 ? "float" : "double";
    return bits_type(d->bytes) + (d->kind == DT_INT); /* without the u */
}

void source_define_type(struct buf *out, const char *t, const struct dtype *d)
{
    buf_fmt(out, "#define %s %s\n#define %s_bytes %d\n#define %s_bits %s\n#define %s_is_float %d\n#define %s_is_%s 1\n", t,
            c_type(d), t, d->bytes, t, bits_type(d->bytes), t, d->kind == DT_FLOAT, t, d->name);
}

/* A word stands for its place among the words. What is negative gets parentheses. */
static void define_param(const struct param *p, struct val v, struct buf *out)
{
    char text[2 * MAX_NAME + 2];
    for (int i = 0; v.type == VAL_STR && i < p->n; i++)
        buf_fmt(out, "#define %s_%s %d\n", p->name, p->values[i].s, i);
    if (v.type == VAL_STR)
        snprintf(text, sizeof text, "%s_%s", p->name, v.s);
    else if (v.type == VAL_FLOAT)
        snprintf(text, sizeof text, "%.17g", v.f);
    else if (v.type == VAL_INT && v.i == INT64_MIN) /* which has no literal of its own */
        strcpy(text, "-9223372036854775807 - 1");
    else
        snprintf(text, sizeof text, "%lld", v.type == VAL_BOOL ? v.b : (long long)v.i);
    const char *point = v.type == VAL_FLOAT && !strpbrk(text, ".e") ? ".0" : ""; /* else it would be an integer */
    buf_fmt(out, *text == '-' ? "#define %s (%s%s)\n" : "#define %s %s%s\n", p->name, text, point);
}

int source_prelude(const struct op *op, const struct devspec *dev, struct buf *out, struct err *err)
{
    const struct backend *b = backend_find(dev->backend);
    for (int i = 0; b && i < op->npreludes; i++)
        if (!strcmp(op->preludes[i].file, b->compiling->prelude)) {
            buf_str(out, op->preludes[i].text);
            return 0;
        }
    return err_set(err, ERR_INVALID, "op %s carries no prelude for %s", op->name, dev->backend);
}

enum { TEMPLATE_S = 10 }; /* Lua that only loops is stopped sooner, with its line */

int source_render(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                  struct err *err)
{
    struct template_var vars[1 + 2 * MAX_TYPES + MAX_PARAMS] = { { "backend", val_str(dev->backend) } }; /* what Lua lines see */
    char names[MAX_TYPES][MAX_NAME + 8];
    int n = 1;
    const struct variant *v = config ? &op->variants[config->variant] : NULL;
    const char *name = v ? v->template_name : op->reference_name;
    const char *text = v ? v->template_text : op->reference_text;
    if (!text)
        return err_set(err, ERR_INVALID, "op %s carries no reference", op->name);
    int rc = source_prelude(op, dev, out, err);
    if (rc)
        return rc;
    for (int i = 0; i < op->ntypes; i++) { /* T is "f32", T_bytes 4 */
        const struct dtype *d = op->rows[row * op->ntypes + i];
        source_define_type(out, op->types[i], d);
        snprintf(names[i], sizeof names[i], "%s_bytes", op->types[i]);
        vars[n++] = (struct template_var){ op->types[i], val_str(d->name) };
        vars[n++] = (struct template_var){ names[i], val_int(d->bytes) };
    }
    for (int i = 0; v && i < v->nparams; i++) {
        struct val value = v->params[i].values[config->at[i]];
        define_param(&v->params[i], value, out);
        vars[n++] = (struct template_var){ v->params[i].name, value };
    }
    bool lua = template_has_lua(text), bare = backend_find(dev->backend)->compiling->bare;
    if (!lua) /* then the compiler's messages can name the template's lines */
        buf_fmt(out, "#line 1 \"%s\"\n", name);
    struct buf filled = { 0 };
    rc = template_fill(name, text, vars, n, &filled, err) ?: include_expand(op, name, buf_text(&filled), lua, bare, out, err);
    buf_free(&filled);
    return rc ?: buf_check(out, err);
}

struct rendering {
    const struct op *op;
    const struct config *config;
    int row;
    const struct devspec *dev;
};

static int render_in_child(void *arg, struct buf *answer, struct err *err)
{
    const struct rendering *r = arg;
    return source_render(r->op, r->config, r->row, r->dev, answer, err);
}

int source_render_apart(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                        struct err *err)
{
    struct rendering r = { op, config, row, dev };
    int rc = child_run(TEMPLATE_S, TEMPLATE_S, render_in_child, &r, out, err);
    return rc == ERR_TIMEOUT ? err_set(err, rc, "the template's own code did not finish within %d s", TEMPLATE_S) : rc;
}
