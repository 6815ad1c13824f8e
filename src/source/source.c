/* The text for the compiler: prelude, #define lines of types and parameters, template. */
#include "source/source.h"

#include <stdio.h>
#include <string.h>

#include "child/child.h"
#include "device/device.h"
#include "model/head.h"
#include "source/template.h"

/* An unsigned integer of the dialect, or another opaque type, of so many bytes. */
static const char *bits_type(int bytes)
{
    static const char *const names[] = { [1] = "uint8", [2] = "uint16", [4] = "uint32", [8] = "uint64" };
    return bytes <= 8 ? names[bytes] : "uint4";
}

/* What the dialect calls an element: narrow numbers are moved as bits, complex numbers are pairs. */
static const char *c_type(const struct dtype *d)
{
    if (d->kind == DT_COMPLEX)
        return d->bytes == 8 ? "float2" : "double2";
    if (d->kind == DT_FLOAT && !dtype_narrow(d))
        return d->bytes == 4 ? "float" : "double";
    return bits_type(d->bytes) + (d->kind == DT_INT); /* without the u */
}

static void define_type(struct buf *out, const char *t, const struct dtype *d, const char *type, const char *bits)
{
    buf_fmt(out, "#define %s %s\n#define %s_bytes %d\n#define %s_bits %s\n#define %s_is_float %d\n#define %s_is_%s 1\n", t, type, t,
            d->bytes, t, bits, t, d->kind == DT_FLOAT, t, d->name);
}

void source_define_type(struct buf *out, const char *t, const struct dtype *d)
{
    define_type(out, t, d, c_type(d), bits_type(d->bytes));
}

/* What a language itself calls an element; null if it has no name for it. */
static const char *native_name(const struct backend_compiling *language, const char *dtype)
{
    const struct native_type *t = language->types;
    while (t && t->dtype && strcmp(t->dtype, dtype))
        t++;
    return t ? t->name : NULL;
}

static void define_native(struct buf *out, const char *t, const struct dtype *d, const struct backend_compiling *language)
{
    char bits[8];
    snprintf(bits, sizeof bits, "u%d", 8 * d->bytes);
    const char *own = native_name(language, bits) ?: bits_type(d->bytes); /* uint4 is a name of both languages */
    define_type(out, t, d, native_name(language, d->name) ?: own, own);
}

void source_define_numbers(struct buf *out, const char *t, const struct dtype *d)
{
    bool narrow = dtype_narrow(d);
    buf_fmt(out, "#define %s_acc %s\n", t, narrow ? "float" : c_type(d));
    if (narrow)
        buf_fmt(out, "#define %s_from(x) %s_from(x)\n#define %s_to(v) %s_to(v)\n", t, d->name, t, d->name);
    else
        buf_fmt(out, "#define %s_from(x) ((%s)(x))\n#define %s_to(v) ((%s)(v))\n", t, c_type(d), t, c_type(d));
    buf_fmt(out, "#define %s_get(p, i) %s_from((p)[i])\n#define %s_put(p, i, v) ((p)[i] = %s_to(v))\n", t, t, t, t);
}

/* A word stands for its place among the words, from 1 on: what is none of them is 0 to the preprocessor, and equals none. What is negative
 * gets parentheses. */
static void define_param(const struct param *p, struct val v, struct buf *out)
{
    char text[2 * MAX_NAME + 2];
    for (int i = 0; v.type == VAL_STR && i < p->n; i++)
        buf_fmt(out, "#define %s_%s %d\n", p->name, p->values[i].s, i + 1);
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
        if (!strcmp(op->preludes[i].name, b->compiling->prelude)) {
            buf_str(out, op->preludes[i].text);
            return 0;
        }
    return err_set(err, ERR_INVALID, "op %s carries no prelude for %s", op->name, dev->backend);
}

enum { TEMPLATE_S = 10, TEMPLATE_CPU_S = 2 }; /* Lua that only loops is stopped sooner, with its line */

/* What a source is made from. */
struct drawing {
    const struct op *op;
    const struct config *config; /* null: the reference */
    const struct variant *variant;
    int row;
    const struct devspec *dev;
    const struct backend *backend; /* the device's */
    struct buf macros;             /* the #define lines */
    struct buf numbers;            /* those behind numbers.h */
    int nvars;                     /* what Lua lines see */
    struct template_var vars[1 + 2 * MAX_TYPES + MAX_PARAMS];
    char names[MAX_TYPES][MAX_NAME + 8];
};

static void add_var(struct drawing *d, const char *name, struct val value)
{
    d->vars[d->nvars++] = (struct template_var){ name, value };
}

static void define_all(struct drawing *d)
{
    const struct op *op = d->op;
    add_var(d, "backend", val_str(d->dev->backend));
    for (int i = 0; i < op->ntypes; i++) { /* T is "f32", T_bytes 4 */
        const struct dtype *type = op->rows[d->row * op->ntypes + i];
        if (d->variant->build.language)
            define_native(&d->macros, op->types[i], type, d->backend->compiling);
        else
            source_define_type(&d->macros, op->types[i], type);
        source_define_numbers(&d->numbers, op->types[i], type);
        snprintf(d->names[i], sizeof d->names[i], "%s_bytes", op->types[i]);
        add_var(d, op->types[i], val_str(type->name));
        add_var(d, d->names[i], val_int(type->bytes));
    }
    for (int i = 0; i < d->variant->nparams; i++) {
        const struct param *p = &d->variant->params[i];
        struct val value = p->values[d->config->at[i]];
        define_param(p, value, &d->macros);
        add_var(d, p->name, value);
    }
}

/* One file of the source. first: nothing of the op's stands before it. */
static int put_template(struct drawing *d, const char *name, const char *text, bool first, struct buf *out, struct err *err)
{
    struct buf filled = { 0 };
    const struct expanding how = { .op = d->op,
                                   .name = name,
                                   .filled = template_has_lua(text),
                                   .first = first,
                                   .bare = d->backend->compiling->bare,
                                   .macros = d->macros.data,
                                   .numbers = d->numbers.data };
    int rc = template_fill(name, text, d->vars, d->nvars, &filled, err) ?: include_expand(&how, buf_text(&filled), out, err);
    buf_free(&filled);
    return rc;
}

/* The macros of the source are defined there: one on the command line would get into headers, NVRTC's own among them. */
static int check_macro(const struct drawing *d, const char *option, struct err *err)
{
    char line[2 * MAX_NAME + 20];
    int n;
    const char *name = option_macro(option, &n);
    if (!name || n > 2 * MAX_NAME + 1)
        return 0;
    snprintf(line, sizeof line, "#define %.*s ", n, name);
    if (!strstr(buf_text(&d->macros), line))
        return 0;
    return err_set(err, ERR_INVALID, "'%.120s': %.*s is a macro of the source's already: choose another name", option, n, name);
}

/* 32 / 2 is 16.0 to Lua: an option that takes a number takes 16. */
static void make_whole(struct buf *option)
{
    int n;
    const char *value = option_macro(buf_text(option), &n) ? NULL : strrchr(buf_text(option), '=');
    size_t digits = value ? strspn(value + 1, "0123456789") : 0;
    if (digits && !strcmp(value + 1 + digits, ".0"))
        option->data[option->len -= 2] = 0;
}

/* An option of the compiler, filled like a line of a template. */
static int put_option(struct drawing *d, const struct build_option *o, struct buf *out, struct err *err)
{
    struct buf filled = { 0 };
    int rc = template_fill("options", o->text, d->vars, d->nvars, &filled, err);
    while (filled.len && filled.data[filled.len - 1] == '\n')
        filled.data[--filled.len] = 0;
    make_whole(&filled);
    rc = rc ?: compile_option(d->backend->compiling, buf_text(&filled), err) ?: check_macro(d, buf_text(&filled), err);
    if (!rc)
        head_put(out, "option", filled.data);
    buf_free(&filled);
    return rc;
}

/* Whether any file of the source has this word. */
static bool mentions(const struct drawing *d, const char *word)
{
    bool does = strstr(d->variant->template_text, word);
    for (int i = 0; i < d->variant->build.nmore; i++)
        does = does || strstr(d->variant->build.more[i].text, word);
    for (int i = 0; i < d->op->nincludes; i++)
        does = does || strstr(d->op->includes[i].text, word);
    return does;
}

/* What the compiler is told beside the text. C++ names of kernels need not be what the code calls them. */
static int put_head(struct drawing *d, struct buf *out, struct err *err)
{
    const struct launch *launches = d->variant->launches;
    const struct build *build = &d->variant->build;
    const struct backend_compiling *with = d->backend->compiling;
    int rc = 0, nlaunches = d->variant->nlaunches;
    bool expressions = build->language != NULL;
    for (int i = 0; !rc && i < build->noptions; i++)
        if (!strcmp(build->options[i].backend, d->backend->name))
            rc = put_option(d, &build->options[i], out, err);
    for (int i = 0; i < nlaunches; i++)
        expressions = expressions || !name_ok(launches[i].kernel);
    if (d->op->headers && !with->bare && mentions(d, "include"))
        head_put(out, "headers", d->op->headers);
    if (rc || !expressions || !with->expressions)
        return rc;
    for (int i = 0; i < nlaunches; i++)
        head_put(out, "entry", launches[i].kernel);
    for (int i = 0; i < d->op->nargs; i++)
        if (arg_is_constant(d->op, d->variant, i))
            head_put(out, "entry", d->op->args[i].constant);
    return 0;
}

static int draw(struct drawing *d, struct buf *out, struct err *err)
{
    const struct build *build = &d->variant->build;
    const char *name = d->variant->template_name, *text = d->variant->template_text;
    const struct backend *b = d->backend;
    if (!text)
        return err_set(err, ERR_INVALID, "op %s carries no reference", d->op->name);
    if (!b)
        return source_prelude(d->op, d->dev, out, err); /* which says so */
    if (build->language && strcmp(build->language, b->name))
        return err_set(err, ERR_INVALID,
                       "%s is in %s's own language, which the compiler of %s does not take: choose a device of %s", name,
                       build->language, b->name, build->language);
    define_all(d);
    int rc = buf_check(&d->macros, err) ?: buf_check(&d->numbers, err) ?: put_head(d, out, err);
    if (!build->language)
        rc = rc ?: source_prelude(d->op, d->dev, out, err);
    if (rc)
        return rc;
    if (!build->language && mentions(d, "CONSTANT")) /* not in the prelude, which is a part of every key */
        buf_fmt(out, "#define CONSTANT %s\n", b->compiling->constant ?: "");
    for (const struct word_line *w = build->language ? NULL : b->compiling->words; w && w->word; w++)
        if (mentions(d, w->word))
            buf_str(out, w->line);
    buf_str(out, buf_text(&d->macros));
    rc = put_template(d, name, text, true, out, err);
    for (int i = 0; i < build->nmore && !rc; i++) {
        if (out->len && out->data[out->len - 1] != '\n')
            buf_str(out, "\n");
        rc = put_template(d, build->more[i].name, build->more[i].text, false, out, err);
    }
    return rc ?: buf_check(out, err);
}

static struct drawing drawing_of(const struct op *op, const struct config *config, int row, const struct devspec *dev)
{
    const struct backend *b = backend_find(dev->backend);
    return (struct drawing){ .op = op, .config = config, .variant = op_code(op, config), .row = row, .dev = dev, .backend = b };
}

static int draw_and_end(void *drawing, struct buf *out, struct err *err)
{
    struct drawing *d = drawing;
    int rc = draw(d, out, err);
    buf_free(&d->macros);
    buf_free(&d->numbers);
    return rc;
}

int source_render(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                  struct err *err)
{
    struct drawing d = drawing_of(op, config, row, dev);
    return draw_and_end(&d, out, err);
}

int source_render_apart(const struct op *op, const struct config *config, int row, const struct devspec *dev, struct buf *out,
                        struct err *err)
{
    struct drawing d = drawing_of(op, config, row, dev);
    int rc = child_run(TEMPLATE_CPU_S, TEMPLATE_S, draw_and_end, &d, out, err);
    return rc == ERR_TIMEOUT ? err_set(err, rc, "the template's own code did not finish within %d s, or %d s of processor time",
                                       TEMPLATE_S, TEMPLATE_CPU_S)
                             : rc;
}
