#include "op/read.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/util.h"
#include "device/device.h"
#include "lua/sandbox.h"

enum { MAX_ROWS = 256, MAX_SHAPES = 1024, MAX_VARIANTS = 256, MAX_DEFAULTS = 256, MAX_TEMPLATE = 1 << 20 };

static void read_axis(struct reader *r, int t, void *out)
{
    struct axis *axis = out;
    known_fields(r, t, "kind name");
    axis->name = field_name(r, t, "name");
    axis->kind = (enum axis_kind)field_word(r, t, "kind", true, "size stride batch flag"); /* in the order of enum axis_kind */
    if (strcmp(axis->name, "when") == 0)
        fail(r, "name: 'when' is a word of shapes");
}

static const struct dtype *read_dtype(struct reader *r, int t, int i)
{
    const char *name = entry_text(r, t, i, false);
    const struct dtype *d = dtype_find(name);
    if (!d)
        fail(r, "'%.80s' is no element type (f32, i64, c128, ...)", name);
    return d;
}

/* { T = { "f32", ... } }: the one type's name; its list is pushed. */
static const char *single_type(struct reader *r, int types)
{
    lua_State *L = r->L;
    lua_pushnil(L);
    if (!lua_next(L, types) || lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
        fail(r, "must be { T = { \"f32\", ... } } or { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
    size_t n;
    const char *text = lua_tolstring(L, -2, &n), *name = keep_text(r, text, n);
    lua_pushvalue(L, -2);
    if (strlen(name) != n || lua_next(L, types))
        fail(r, "for several type names, write { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
    return name;
}

/* { names = { "T", "ACC" }, ... }: its names. They are taken out of the table, so that only the rows are left. */
static void read_type_names(struct reader *r, int types, int names)
{
    struct op *op = r->op;
    size_t mark = enter(r, "names");
    op->ntypes = list_length(r, names, 1, MAX_TYPES);
    op->types = make_array(r, op->ntypes, sizeof *op->types);
    for (int i = 0; i < op->ntypes; i++)
        op->types[i] = entry_text(r, names, i + 1, false);
    leave(r, mark);
    lua_pushstring(r->L, "names");
    lua_pushnil(r->L);
    lua_rawset(r->L, types);
}

static void read_types(struct reader *r, int t)
{
    struct op *op = r->op;
    int rows = field_table(r, t, "types", true);
    enter(r, "types");
    int names = field_table(r, rows, "names", false);
    if (names) {
        read_type_names(r, rows, names);
    } else {
        op->ntypes = 1;
        op->types = make_array(r, 1, sizeof *op->types);
        op->types[0] = single_type(r, rows);
        rows = lua_gettop(r->L);
    }
    for (int i = 0; i < op->ntypes; i++)
        if (!name_ok(op->types[i]))
            fail(r, "'%.80s' is no name for a type", op->types[i]);
    op->nrows = list_length(r, rows, 1, MAX_ROWS);
    op->rows = make_array(r, op->nrows * op->ntypes, sizeof *op->rows);
    for (int row = 0; row < op->nrows; row++) {
        size_t mark = enter(r, "row %d", row + 1);
        int list = names ? entry_table(r, rows, row + 1) : rows, first = names ? 1 : row + 1;
        if (names)
            list_length(r, list, op->ntypes, op->ntypes);
        for (int i = 0; i < op->ntypes; i++)
            op->rows[row * op->ntypes + i] = read_dtype(r, list, first + i);
        leave(r, mark);
        lua_settop(r->L, rows > names ? rows : names);
    }
    leave(r, 0);
}

const char *read_element(struct reader *r, int t)
{
    const char *type = field_text(r, t, "type", true);
    if (op_type(r->op, type) < 0 && !dtype_find(type))
        fail(r, "type: '%.80s' is neither a type name of this op nor an element type", type);
    return type;
}

static void read_buffer(struct reader *r, int t, struct arg *arg)
{
    known_fields(r, t, "kind name type extent fill partial");
    arg->type = read_element(r, t);
    arg->fill = (enum fill)(field_word(r, t, "fill", false, "bits numbers") + 1); /* absent: FILL_AUTO */
    arg->partial = field_bool(r, t, "partial");
    int extent = field_table(r, t, "extent", true);
    size_t mark = enter(r, "extent");
    arg->rank = list_length(r, extent, 1, MAX_RANK);
    for (int i = 0; i < arg->rank; i++)
        arg->extent[i] = entry_text(r, extent, i + 1, true);
    leave(r, mark);
}

static void read_value(struct reader *r, int t, struct arg *arg)
{
    known_fields(r, t, "kind name type value");
    arg->type = field_text(r, t, "type", false);
    arg->value = field_expr(r, t, "value", true);
    if (!arg->type)
        arg->type = "i64";
    if (!dtype_find(arg->type))
        fail(r, "type: '%.80s' is no element type", arg->type);
}

static void read_arg(struct reader *r, int t, void *out)
{
    struct arg *arg = out;
    arg->kind = (enum arg_kind)field_word(r, t, "kind", true, "input output inout value"); /* in the order of enum arg_kind */
    arg->name = field_name(r, t, "name");
    if (arg->kind == ARG_VALUE)
        read_value(r, t, arg);
    else
        read_buffer(r, t, arg);
}

static void read_args(struct reader *r, int t)
{
    static const struct list args = { "args", "args: argument", 1, MAX_ARGS, sizeof(struct arg), read_arg };
    struct op *op = r->op;
    int outputs = 0;
    op->args = field_list(r, t, &args, &op->nargs);
    for (int i = 0; i < op->nargs; i++)
        outputs += op->args[i].kind == ARG_OUTPUT || op->args[i].kind == ARG_INOUT;
    if (!outputs)
        fail(r, "args: there is no output(...) and no inout(...)");
}

static void read_work(struct reader *r, int t)
{
    int work = field_table(r, t, "work", false);
    if (!work)
        return;
    enter(r, "work");
    known_fields(r, work, "bytes flops");
    r->op->work_bytes = field_expr(r, work, "bytes", false);
    r->op->work_flops = field_expr(r, work, "flops", false);
    leave(r, 0);
}

static void read_shape(struct reader *r, int t, void *out)
{
    const struct op *op = r->op;
    struct shape *shape = out;
    int64_t *size = make_array(r, op->naxes, sizeof *size);
    char words[MAX_AXES * (MAX_NAME + 1) + sizeof "when"] = "";
    for (int i = 0; i < op->naxes; i++)
        strcat(strcat(words, op->axes[i].name), " ");
    known_fields(r, t, strcat(words, "when"));
    shape->when = field_expr(r, t, "when", false);
    for (int i = 0; i < op->naxes; i++) {
        size[i] = field_integer(r, t, op->axes[i].name);
        if (!axis_takes(&op->axes[i], size[i]))
            fail(r, "%s: must be %s", op->axes[i].name, op->axes[i].kind == AXIS_FLAG ? "0 or 1" : "there, and at least 1");
    }
    shape->size = size;
}

const char *read_file(struct reader *r, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    struct err err = { 0 };
    char *kept = NULL;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = n < (int)sizeof path ? file_read(path, MAX_TEMPLATE, &text, &err) : ERR_NOTFOUND;
    bool bad = !rc && (!text.len || memchr(text.data, 0, text.len));
    if (bad)
        rc = err_set(&err, ERR_INVALID, "%s: %s", path, text.len ? "not a text: it has a zero byte" : "the file is empty");
    if (!rc && !(kept = arena_strndup(r->op->arena, text.data, text.len)))
        rc = ERR_NOMEM;
    buf_free(&text);
    fail_if(r, rc == ERR_NOTFOUND ? 0 : rc, &err);
    return kept;
}

void read_template(struct reader *r, int t, const char **name, const char **text)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    char shared[PATH_MAX];
    struct err err;
    const char *file = *name = field_text(r, t, "template", true);
    if (*file == '.' || strlen(file) > MAX_NAME || file[strspn(file, good)])
        fail(r, "template: '%.80s' must be a file's name, of letters, digits, _, . and -, without folders", file);
    snprintf(shared, sizeof shared, "%s/templates", r->home);
    *text = read_file(r, r->folder, file);
    if (!*text)
        *text = read_file(r, shared, file);
    if (!*text)
        fail(r, "template: there is no '%s' in %s, and none in %s", file, r->folder, shared);
    fail_if(r, read_includes(r, file, *text, &err), &err);
}

static void read_preludes(struct reader *r)
{
    char folder[PATH_MAX];
    struct op *op = r->op;
    const struct backend *b;
    snprintf(folder, sizeof folder, "%s/templates", r->home);
    op->preludes = make_array(r, MAX_PRELUDES, sizeof *op->preludes);
    for (int i = 0; (b = backend_real(i)) && i < MAX_PRELUDES; i++) {
        struct prelude *p = &op->preludes[op->npreludes++];
        p->file = b->compiling->prelude;
        p->text = read_file(r, folder, p->file);
        if (!p->text)
            fail(r, "the preludes of the kernels are missing: %s/%s", folder, p->file);
    }
}

static void read_reference(struct reader *r, int t)
{
    int reference = field_table(r, t, "reference", true);
    enter(r, "reference");
    known_fields(r, reference, "template launch");
    read_template(r, reference, &r->op->reference_name, &r->op->reference_text);
    int launch = field_table(r, reference, "launch", true);
    enter(r, "launch");
    read_launch(r, launch, &r->op->reference);
    leave(r, 0);
}

static void read_check(struct reader *r, int t)
{
    lua_pushstring(r->L, "check");
    int type = lua_rawget(r->L, t);
    if (type == LUA_TSTRING && strcmp(lua_tostring(r->L, -1), "exact") == 0)
        return; /* CHECK_EXACT */
    if (type != LUA_TTABLE)
        fail(r, "check: must be \"exact\" or { sum = EXPRESSION }");
    enter(r, "check");
    known_fields(r, lua_gettop(r->L), "sum");
    r->op->check = CHECK_SUM;
    r->op->check_length = field_expr(r, lua_gettop(r->L), "sum", true);
    leave(r, 0);
}

void op_read(lua_State *L, int t, const char *file, const char *folder, const char *home, struct op *op)
{
    static const struct list axes = { "problem", "problem: axis", 1, MAX_AXES, sizeof(struct axis), read_axis },
                             shapes = { "shapes", "shapes: shape", 1, MAX_SHAPES, sizeof(struct shape), read_shape },
                             variants = { "variants", "variant", 1, MAX_VARIANTS, sizeof(struct variant), read_variant },
                             defaults = { "defaults",   "defaults: default",           1,
                                          MAX_DEFAULTS, sizeof(struct default_config), read_default };
    struct reader r = { .L = L, .op = op, .folder = folder, .home = home };
    luaL_checkstack(L, 100, NULL);
    if (!lua_istable(L, t))
        fail(&r, "the script must end with: return op { ... }");
    op->file = keep_text(&r, file, strlen(file));
    known_fields(&r, t, "name problem types args work shapes reference check variants defaults");
    op->name = field_name(&r, t, "name");
    op->axes = field_list(&r, t, &axes, &op->naxes);
    read_types(&r, t);
    read_args(&r, t);
    read_work(&r, t);
    op->shapes = field_list(&r, t, &shapes, &op->nshapes);
    read_reference(&r, t);
    read_check(&r, t);
    op->variants = field_list(&r, t, &variants, &op->nvariants);
    op->defaults = field_list(&r, t, &defaults, &op->ndefaults);
    read_preludes(&r);
    sandbox_check(L, op_check(op, sandbox_err(L)));
    check_names(&r);
    sandbox_check(L, check_expressions(op, sandbox_err(L)));
}
