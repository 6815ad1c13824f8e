#include "op/read.h"

#include <string.h>

#include <lauxlib.h>

#include "base/util.h"
#include "device/device.h"
#include "model/include.h"
#include "op/data_file.h"

static void read_axis(struct reader *r, void *out)
{
    struct axis *axis = out;
    if (lua_type(r->L, -1) == LUA_TSTRING)
        fail(r, "is a name alone: write size \"%.80s\" (or stride, batch, flag)", lua_tostring(r->L, -1));
    read_table(r, "kind name max default", "WNxx", "size stride batch flag", &axis->kind, &axis->name, &axis->max, &axis->preset);
    if (strcmp(axis->name, "when") == 0)
        fail(r, "name: 'when' is a word of shapes");
}

static void read_dtype(struct reader *r, void *out)
{
    const char *name;
    read_text(r, &name);
    const struct dtype *d = *(const struct dtype **)out = dtype_find(name);
    if (!d)
        fail(r, "'%.80s' is no element type (f32, i64, c128, ...)", name);
}

static void read_row(struct reader *r, void *out)
{
    int n = r->op->ntypes;
    read_list(r, &(struct list){ read_dtype, n, n, sizeof(struct dtype *), "entry %d: ", true }, strlen(r->where), out);
}

/* { T = { "f32", ... } }: the one type's name. Its list is pushed. */
static void single_type(struct reader *r, const char **name)
{
    lua_State *L = r->L;
    lua_pushnil(L);
    if (!lua_next(L, -2) || lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
        fail(r, "must be { T = { \"f32\", ... } } or { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
    lua_pushvalue(L, -2);
    read_name(r, name);
    if (lua_next(L, -4))
        fail(r, "for several type names, write { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
}

static void read_types(struct reader *r, void *out)
{
    static const struct list names = { read_name, 1, MAX_TYPES, sizeof(char *), "names: entry %d: ", false };
    struct list rows = { read_row, 1, MAX_ROWS, 0, "row %d: ", false };
    struct op *op = out;
    read_table(r, "names", "l+", &names, &op->types, &op->ntypes);
    if (op->ntypes) { /* their names are taken out of the table, so that only the rows are left */
        lua_pushstring(r->L, "names");
        lua_pushnil(r->L);
        lua_rawset(r->L, -3);
    } else {
        op->ntypes = 1;
        op->types = make_array(r, 1, sizeof *op->types);
        single_type(r, op->types);
        rows.read = read_dtype;
    }
    rows.bytes = (size_t)op->ntypes * sizeof *op->rows;
    op->nrows = read_list(r, &rows, strlen(r->where), &op->rows);
}

/* close's own table: { rtol = 1e-5, atol = 1e-6 }, or what is said of them elsewhere. */
static void read_close(struct reader *r, void *out)
{
    struct check *c = out;
    if (!lua_istable(r->L, -1))
        fail(r, "must be a table, not %s: close = { rtol = 1e-5, atol = 1e-6 }", luaL_typename(r->L, -1));
    read_table(r, "rtol atol", "xx", &c->rtol, &c->atol);
}

static bool has_field(struct reader *r, const char *key)
{
    lua_pushstring(r->L, key);
    bool has = lua_rawget(r->L, -2) != LUA_TNIL;
    lua_pop(r->L, 1);
    return has;
}

static void read_check(struct reader *r, void *out)
{
    struct check *c = out;
    const char *word = lua_type(r->L, -1) == LUA_TSTRING ? lua_tostring(r->L, -1) : NULL;
    c->kind = word && strcmp(word, "close") == 0 ? CHECK_CLOSE : CHECK_EXACT;
    if (c->kind == CHECK_CLOSE || (word && strcmp(word, "exact") == 0))
        return;
    if (!lua_istable(r->L, -1))
        fail(r, "must be \"exact\", \"close\", { sum = EXPRESSION } or { close = { rtol = ..., atol = ... } }");
    if (has_field(r, "rtol") || has_field(r, "atol"))
        fail(r, "rtol and atol stand within close: { close = { rtol = 1e-5, atol = 1e-6 } }");
    c->kind = has_field(r, "close") ? CHECK_CLOSE : CHECK_SUM;
    if (c->kind == CHECK_SUM)
        read_table(r, "sum", "X", &c->length);
    else
        read_table(r, "close", "F", read_close, c);
}

static void read_own_check(struct reader *r, void *out)
{
    struct arg *a = out;
    a->own_check = true;
    read_check(r, &a->check);
}

/* What is not below the script's folder is not even looked for. */
static void look_at_file(struct reader *r, struct data_file *f)
{
    struct err why = { 0 };
    if (!include_path_ok(f->name))
        fail(r, "file: '%.80s' is no path of a file below the script's folder", f->name);
    int rc = data_file_look(r->folder, r->op->arena, f, &why);
    if (rc && rc != ERR_NOMEM)
        fail(r, "file: %s", why.msg);
    fail_if(r, rc, &why);
}

static void read_arg(struct reader *r, void *out)
{
    static const struct list extent = { read_expr, 1, MAX_RANK, sizeof(char *), "extent: entry %d: ", true },
                             range = { read_expr, 2, 2, sizeof(char *), "range: entry %d: ", true },
                             peaks = { read_expr, 2, 3, sizeof(char *), "peaks: entry %d: ", true };
    struct arg *a = out;
    int fill = -1, ends; /* absent */
    read_table(r, "kind name", "WN+", "input output inout value scalar", &a->kind, &a->name);
    if (a->kind == ARG_VALUE) {
        a->type = "i64";
        read_table(r, "kind name type value", "--tX", &a->type, &a->value);
        if (!dtype_find(a->type))
            fail(r, "type: '%.80s' is no element type", a->type);
        return;
    }
    if (a->kind == ARG_SCALAR) {
        read_table(r, "kind name type value other", "--exx", &a->type, &a->value, &a->other);
        if (!a->type || !a->value)
            fail(r, "a scalar has a type and the value that it is tuned with: scalar(\"%s\", \"f32\", 0.5)", a->name);
        return;
    }
    if (!has_field(r, "extent"))
        fail(r, "%s: its extents are missing, as in %s(\"%s\", \"T\", { \"n\" })", a->name,
             a->kind == ARG_INPUT    ? "input"
             : a->kind == ARG_OUTPUT ? "output"
                                     : "inout",
             a->name);
    read_table(r, "kind name type extent fill partial check rtol atol range peaks below sorted file init constant",
               "--ELwbfxxllxbtbt", &a->type, &extent, a->extent, &a->rank, "bits numbers", &fill, &a->partial, read_own_check, a,
               &a->check.rtol, &a->check.atol, &range, a->data.range, &ends, &peaks, a->data.peaks, &ends, &a->data.below,
               &a->data.sorted, &a->data.file.name, &a->data.init, &a->constant);
    a->fill = (enum fill)(fill + 1);
    if (a->data.file.name)
        look_at_file(r, &a->data.file);
    if (a->check.rtol || a->check.atol) {
        if (a->own_check && a->check.kind != CHECK_CLOSE)
            fail(r, "check: rtol and atol belong to \"close\"");
        a->own_check = true;
        a->check.kind = CHECK_CLOSE;
    }
}

static void read_work(struct reader *r, void *out)
{
    struct op *op = out;
    read_table(r, "bytes flops", "xx", &op->work_bytes, &op->work_flops);
}

static void read_shape(struct reader *r, void *out)
{
    const struct op *op = r->op;
    struct shape *shape = out;
    char keys[MAX_AXES * (MAX_NAME + 1) + sizeof "when"] = "";
    for (int i = 0; i < op->naxes; i++)
        strcat(strcat(keys, op->axes[i].name), " ");
    known_fields(r, strcat(keys, "when"));
    read_table(r, "when", "x+", &shape->when);
    for (int i = 0; i < op->naxes; i++) {
        const int64_t absent = INT64_MIN;
        struct err why = { 0 };
        shape->problem.size[i] = op->axes[i].preset ? absent : 0;
        read_table(r, op->axes[i].name, "i+", &shape->problem.size[i]);
        if (shape->problem.size[i] == absent)
            fail_if(r, axis_preset(op, i, &shape->problem, &shape->problem.size[i], &why), &why);
        if (!axis_takes(&op->axes[i], shape->problem.size[i]))
            fail(r, "%s: must be %s", op->axes[i].name, op->axes[i].kind == AXIS_FLAG ? "0 or 1" : "there, and at least 1");
    }
}

static void read_preludes(struct reader *r)
{
    struct op *op = r->op;
    const struct backend *b;
    op->preludes = make_array(r, MAX_PRELUDES, sizeof *op->preludes);
    for (int i = 0; (b = backend_real(i)) && i < MAX_PRELUDES; i++) {
        struct template_file *p = &op->preludes[op->npreludes++];
        p->name = b->compiling->prelude;
        p->text = read_template_file(r, r->templates, p->name);
        if (!p->text)
            fail(r, "the preludes of the kernels are missing: %s/%s", r->templates, p->name);
    }
}

static void read_reference(struct reader *r, void *out)
{
    static const struct list workspaces = { read_workspace, 0, MAX_ARGS, sizeof(struct workspace), "workspaces[%d]: ", false };
    struct variant *v = out;
    known_fields(r, "template workspaces launch language options");
    read_source(r, v, false);
    r->variant = v;
    read_table(r, "workspaces launch", "lF+", &workspaces, &v->workspaces, &v->nworkspaces, read_launches, v);
    r->variant = NULL;
}

static void read_folder(struct reader *r, void *out)
{
    read_text(r, out);
    const char *name = *(const char **)out;
    if (!include_path_ok(name))
        fail(r, "'%.80s' must be a folder below the script's: a relative path without . and .., and no part of it hidden", name);
}

static void read_init(struct reader *r, void *out)
{
    struct variant *v = out;
    v->name = "init";
    known_fields(r, "template launch language options");
    read_source(r, v, false);
    r->symbols = false; /* it makes inputs, and needs none in an array */
    r->variant = v;
    read_table(r, "launch", "F+", read_launches, v);
    r->variant = NULL;
}

/* "EXPRESSION", or { "EXPRESSION", minimize = true } */
static void read_metric(struct reader *r, void *out)
{
    lua_State *L = r->L;
    struct metric *m = out;
    if (!lua_istable(L, -1)) {
        read_expr(r, &m->value);
        return;
    }
    if (lua_rawgeti(L, -1, 1) == LUA_TNIL || lua_rawlen(L, -2) != 1)
        fail(r, "must be an expression, or { EXPRESSION, minimize = true }");
    read_expr(r, &m->value);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, -2, 1); /* so that only what has a name is left */
    read_table(r, "minimize", "b", &m->minimize);
}

static void read_metrics(struct reader *r, void *out)
{
    static const struct list metrics = { read_metric, 0, MAX_METRICS, sizeof(struct metric), "{ NAME = EXPRESSION, ... }", false };
    struct op *op = out;
    op->nmetrics = read_named(r, &metrics, &op->metrics);
}

void op_read(lua_State *L, const char *file, const char *folder, const char *templates, struct op *op)
{
    static const struct list axes = { read_axis, 1, MAX_AXES, sizeof(struct axis), "problem: axis %d: ", false },
                             where = { read_text, 0, MAX_WHERE, sizeof(char *), "where: entry %d: ", false },
                             args = { read_arg, 1, MAX_ARGS, sizeof(struct arg), "args: argument %d: ", false },
                             shapes = { read_shape, 1, MAX_SHAPES, sizeof(struct shape), "shapes: shape %d: ", false },
                             folders = { read_folder, 1, MAX_INCLUDE_DIRS, sizeof(char *), "include_dirs: entry %d: ", false },
                             variants = { read_variant, 1, MAX_VARIANTS, sizeof(struct variant), "variant %d: ", false },
                             peers = { read_peer, 0, MAX_PEERS, sizeof(struct peer), "peers: peer %d: ", false },
                             defaults = {
                                 read_default, 1, MAX_OP_DEFAULTS, sizeof(struct op_default), "defaults: default %d: ", false
                             };
    struct reader r = { .L = L, .op = op, .folder = folder, .templates = templates };
    int outputs = 0;
    luaL_checkstack(L, 100, NULL);
    if (!lua_istable(L, -1))
        fail(&r, "the script must end with: return op { ... }");
    op->file = made(&r, arena_strdup(op->arena, file));
    read_table(
        &r, "name problem where types args work shapes include_dirs reference init check variants defaults metrics objective peers",
        "NLlFLfLlffFLLftl", &op->name, &axes, &op->axes, &op->naxes, &where, &op->where, &op->nwhere, read_types, op, &args,
        &op->args, &op->nargs, read_work, op, &shapes, &op->shapes, &op->nshapes, &folders, &op->include_dirs, &op->ninclude_dirs,
        read_reference, &op->reference, read_init, &op->init, read_check, &op->check, &variants, &op->variants, &op->nvariants,
        &defaults, &op->defaults, &op->ndefaults, read_metrics, op, &op->objective, &peers, &op->peers, &op->npeers);
    for (int i = 0; i < op->nargs; i++)
        outputs += arg_is_written(&op->args[i]);
    if (!outputs)
        fail(&r, "args: there is no output(...) and no inout(...)");
    read_preludes(&r);
    sandbox_check(L, op_check(op, sandbox_err(L)));
    check_names(&r);
    sandbox_check(L, check_expressions(op, sandbox_err(L)));
}
