/* Names that become macros of a template: types with what is derived from them, parameters and the words of enumerations. None may
 * have the name of something else, or be a word that the kernel or its Lua lines need. And kernels: they may not have the name of a
 * function of OpenCL C; one that takes dynamic shared memory must be given some. */
#include <stdarg.h>
#include <string.h>

#include "device/device.h"
#include "model/head.h"
#include "model/include.h"
#include "op/read.h"

static const char reserved[] =
    /* Lua, and what a template's Lua lines see */
    "and break do else elseif end false for function goto if in local nil not or repeat return then true until while string table "
    "math utf8 backend "
    /* C, CUDA C++ and OpenCL C */
    "auto case char const continue default double enum extern float inline int long register restrict short signed sizeof static "
    "struct switch typedef union unsigned void volatile bool class template typename this new delete operator namespace kernel "
    "global private constant half int8 int16 int32 int64 uint8 uint16 uint32 uint64 size_t "
    /* the dialect of the preludes */
    "KERNEL GLOBAL SHARED CONSTANT DEVICE DYNAMIC_SHARED DYNAMIC_SHARED_PARAM BACKEND_CUDA BACKEND_OPENCL threadIdx blockIdx "
    "blockDim "
    "gridDim atomicAdd "
    /* texts of the command line and of scripts */
    "variant names when";

enum { NAMES = 1 }; /* on the stack: what each name of the variant is */

static void add(struct reader *r, const char *what, const char *name)
{
    lua_pushstring(r->L, what);
    lua_setfield(r->L, NAMES, name);
}

static void add_macro(struct reader *r, const char *what, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *name = lua_pushvfstring(r->L, fmt, ap);
    va_end(ap);
    if (strncmp(name, "__", 2) == 0 || word_among(reserved, name))
        fail(r, "'%s', %s, is a word that templates or scripts need", name, what);
    if (lua_getfield(r->L, NAMES, name) != LUA_TNIL)
        fail(r, "'%s' is both %s and %s", name, lua_tostring(r->L, -1), what);
    add(r, what, name);
    lua_settop(r->L, NAMES);
}

/* Two names that are no macros may be equal: op_check knows which. */
static void add_all(struct reader *r, const struct op *op, const struct variant *v)
{
    static const char derived[] = "what templates get of a type";
    static const char *const number_words[] = { "acc", "from", "to", "get", "put" };
    enum { NNUMBERS = sizeof number_words / sizeof *number_words };
    bool numbers = false;
    for (int i = 0; i < op->nincludes; i++)
        numbers = numbers || include_is_numbers(&op->includes[i]);
    for (int i = 0; i < op->naxes; i++)
        add(r, "an axis", op->axes[i].name);
    for (int i = 0; i < op->nargs; i++)
        add(r, "an argument", op->args[i].name);
    for (int i = 0; i < v->nworkspaces; i++)
        add(r, "a workspace", v->workspaces[i].name);
    for (int i = 0; i < v->nlaunches; i++)
        add(r, "a kernel", v->launches[i].kernel);
    for (int i = 0; i < op->ntypes; i++) {
        add_macro(r, "a type", "%s", op->types[i]);
        add_macro(r, derived, "%s_bytes", op->types[i]);
        add_macro(r, derived, "%s_bits", op->types[i]);
        add_macro(r, derived, "%s_is_float", op->types[i]);
        for (int d = 0; numbers && d < NNUMBERS; d++)
            add_macro(r, derived, "%s_%s", op->types[i], number_words[d]);
        for (int d = 0; dtype_at(d); d++)
            add_macro(r, derived, "%s_is_%s", op->types[i], dtype_at(d)->name);
    }
    for (int i = 0; i < v->nparams; i++) {
        const struct param *p = &v->params[i];
        add_macro(r, "a parameter", "%s", p->name);
        for (int j = 0; p->values[0].type == VAL_STR && j < p->n; j++)
            add_macro(r, "a parameter's word", "%s_%s", p->name, p->values[j].s);
    }
}

/* A macro of an option's is one of all text, headers too. */
static void check_options(struct reader *r, const struct build *b)
{
    for (int i = 0; i < b->noptions; i++) {
        int n;
        const char *name = option_macro(b->options[i].text, &n);
        lua_pushlstring(r->L, name ?: "", (size_t)n);
        if (name && lua_getfield(r->L, NAMES, lua_tostring(r->L, -1)) != LUA_TNIL)
            fail(r, "options: '%.120s': '%.*s' is %s: choose another name", b->options[i].text, n, name, lua_tostring(r->L, -1));
        lua_settop(r->L, NAMES);
    }
}

static void name_all(struct reader *r, const struct variant *v)
{
    lua_settop(r->L, 0);
    lua_newtable(r->L);
    add_all(r, r->op, v);
    check_options(r, &v->build);
}

/* Whether the template declares the kernel with DYNAMIC_SHARED_PARAM: between its name with a parenthesis and its body. */
static bool declares_shared(const char *text, const char *kernel)
{
    size_t n = strlen(kernel);
    for (const char *at = text; (at = strstr(at, kernel)); at += n) {
        const char *open = at + n + strspn(at + n, " \t\n"), *word = strstr(open, "DYNAMIC_SHARED_PARAM");
        bool starts = at > text && strchr(" \t\n*", at[-1]);
        if (starts && *open == '(' && word && word < open + strcspn(open, "{;"))
            return true;
    }
    return false;
}

/* b: the one backend that the kernel is for; null: it is for all. */
static void check_kernel(struct reader *r, const struct launch *l, const char *text, const struct backend *b)
{
    const struct backend *any;
    if (!name_ok(l->kernel) && !(b && b->compiling->expressions))
        fail(r, "kernel '%.80s': only CUDA C++ has such names: say language = \"cuda\", or requires = { backend = \"cuda\" }",
             l->kernel);
    for (int i = 0; (any = backend_at(i)); i++)
        if (any->compiling->functions && (!b || b == any) && word_among(any->compiling->functions, l->kernel))
            fail(r, "kernel '%s': %s has a function of this name: choose another", l->kernel, any->compiling->language);
    if (!l->shared && declares_shared(text, l->kernel))
        fail(r, "kernel %s declares DYNAMIC_SHARED_PARAM: its launch must say how many bytes, shared = EXPRESSION", l->kernel);
}

/* What no launch passes is in an array of the kernels': then they are for a backend that has such. */
static void check_kernels(struct reader *r, const struct variant *v)
{
    const char *only = v->requires.backend ?: v->build.language;
    const struct backend *b = only ? backend_find(only) : NULL;
    for (int i = 0; i < v->nlaunches; i++)
        check_kernel(r, &v->launches[i], v->template_text, b);
    for (int i = 0; v->template_text && i < r->op->nargs; i++)
        if (!(b && b->symbol) && arg_is_constant(r->op, v, i))
            fail(r,
                 "no launch passes '%s', and only CUDA has __constant__ arrays: pass it, or say requires = { backend = \"cuda\" }",
                 r->op->args[i].name);
    leave(r, 0);
}

void check_names(struct reader *r)
{
    const struct op *op = r->op;
    enter(r, "reference: ");
    name_all(r, &op->reference);
    check_kernels(r, &op->reference);
    enter(r, "init: ");
    name_all(r, &op->init);
    check_kernels(r, &op->init);
    for (int i = 0; i < op->nvariants; i++) {
        enter(r, "variant %s: ", op->variants[i].name);
        name_all(r, &op->variants[i]);
        check_kernels(r, &op->variants[i]);
    }
}
