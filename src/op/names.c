/* Names that become macros of a template: types with what is derived from them, parameters and the words of enumerations. None may
 * have the name of something else, or be a word that the kernel or its Lua lines need. And names of kernels: OpenCL C has functions
 * that a kernel cannot be called after. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "op/read.h"

enum { SYMBOL = 2 * MAX_NAME + 2 };

struct symbol {
    char text[SYMBOL];
    const char *what;
    bool macro;
};

struct symbols {
    struct symbol *at;
    size_t n;
};

static const char reserved[] =
    /* Lua, and what a template's Lua lines see */
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while string table "
    "math utf8 backend "
    /* C, CUDA C++ and OpenCL C */
    "auto case char const continue default double enum extern float inline int long register restrict short signed sizeof static "
    "struct switch typedef union unsigned void volatile bool class template typename this new delete operator namespace kernel "
    "global private constant half int8 int16 int32 int64 uint8 uint16 uint32 uint64 size_t "
    /* the dialect of the preludes */
    "KERNEL GLOBAL SHARED DEVICE DYNAMIC_SHARED DYNAMIC_SHARED_PARAM BACKEND_CUDA BACKEND_OPENCL threadIdx blockIdx blockDim "
    "gridDim atomicAdd "
    /* texts of the command line and of scripts */
    "variant names";

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct symbol *)a)->text, ((const struct symbol *)b)->text);
}

static void add(struct symbols *s, const char *what, const char *name)
{
    s->at[s->n] = (struct symbol){ .what = what };
    snprintf(s->at[s->n++].text, SYMBOL, "%s", name);
}

/* NAME, or NAME_REST. */
static void add_macro(struct symbols *s, const char *what, const char *name, const char *rest)
{
    s->at[s->n] = (struct symbol){ .what = what, .macro = true };
    snprintf(s->at[s->n++].text, SYMBOL, "%s%s%s", name, rest ? "_" : "", rest ? rest : "");
}

static size_t count(const struct op *op, const struct variant *v)
{
    int dtypes = 0;
    while (dtype_at(dtypes))
        dtypes++;
    size_t n = (size_t)(op->naxes + (4 + dtypes) * op->ntypes + op->nargs + v->nworkspaces + v->nparams + v->nlaunches);
    for (int i = 0; i < v->nparams; i++)
        n += v->params[i].values[0].type == VAL_STR ? (size_t)v->params[i].n : 0;
    return n;
}

static void collect(const struct op *op, const struct variant *v, struct symbols *s)
{
    for (int i = 0; i < op->naxes; i++)
        add(s, "an axis", op->axes[i].name);
    for (int i = 0; i < op->ntypes; i++) {
        add_macro(s, "a type", op->types[i], NULL);
        add_macro(s, "what templates get of a type", op->types[i], "bytes");
        add_macro(s, "what templates get of a type", op->types[i], "bits");
        add_macro(s, "what templates get of a type", op->types[i], "is_float");
        for (int d = 0; dtype_at(d); d++) {
            char rest[MAX_NAME];
            snprintf(rest, sizeof rest, "is_%s", dtype_at(d)->name);
            add_macro(s, "what templates get of a type", op->types[i], rest);
        }
    }
    for (int i = 0; i < op->nargs; i++)
        add(s, "an argument", op->args[i].name);
    for (int i = 0; i < v->nworkspaces; i++)
        add(s, "a workspace", v->workspaces[i].name);
    for (int i = 0; i < v->nlaunches; i++)
        add(s, "a kernel", v->launches[i].kernel);
    for (int i = 0; i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        add_macro(s, "a parameter", p->name, NULL);
        for (int j = 0; p->values[0].type == VAL_STR && j < p->n; j++)
            add_macro(s, "a parameter's word", p->name, p->values[j].s);
    }
}

static int check_macro(const struct symbol *s, struct err *err)
{
    bool taken = strncmp(s->text, "__", 2) == 0 || word_among(reserved, s->text);
    return taken ? err_set(err, ERR_INVALID, "'%s', %s, is a word that templates or scripts need", s->text, s->what) : 0;
}

/* Of sorted symbols. Two names that are no macros may be equal: op_check knows which. */
static int check_symbols(const struct symbols *s, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct symbol *now = &s->at[i], *last = i ? now - 1 : NULL;
        if (now->macro)
            rc = check_macro(now, err);
        if (!rc && last && (now->macro || last->macro) && strcmp(last->text, now->text) == 0)
            rc = err_set(err, ERR_INVALID, "'%s' is both %s and %s", now->text, last->what, now->what);
    }
    return rc;
}

/* requires: the one backend that the kernel is for; null: it is for all. */
static int check_kernel(const char *name, const char *requires, struct err *err)
{
    const struct backend *b;
    for (int i = 0; (b = backend_at(i)); i++)
        if (b->compiling->functions && (!requires || !strcmp(requires, b->name)) && word_among(b->compiling->functions, name))
            return err_set(err, ERR_INVALID, "kernel '%s': %s has a function of this name: choose another", name,
                           b->compiling->language);
    return 0;
}

int script_check_names(const struct op *op, struct err *err)
{
    int rc = check_kernel(op->reference.kernel, NULL, err);
    if (rc)
        err_prefix(err, "reference: ");
    for (int i = 0; i < op->nvariants && !rc; i++) {
        const struct variant *v = &op->variants[i];
        struct symbols s = { .at = mem_array(count(op, v), sizeof *s.at) };
        if (!s.at)
            return err_nomem(err);
        collect(op, v, &s);
        qsort(s.at, s.n, sizeof *s.at, by_text);
        rc = check_symbols(&s, err);
        for (int k = 0; k < v->nlaunches && !rc; k++)
            rc = check_kernel(v->launches[k].kernel, v->requires.backend, err);
        mem_free(s.at);
        if (rc)
            err_prefix(err, "variant %s: ", v->name);
    }
    return rc;
}
