#include "op/read.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

enum { MAX_ROWS = 256, MAX_SHAPES = 1024, MAX_VARIANTS = 256, MAX_DEFAULTS = 256, MAX_TEMPLATE = 1 << 20 };

static int read_axes(struct op_reader *o, int t)
{
    static const char *const kinds[] = {
        [AXIS_SIZE] = "size", [AXIS_STRIDE] = "stride", [AXIS_BATCH] = "batch", [AXIS_FLAG] = "flag"
    };
    struct reader *r = o->r;
    int sub = 0, item = 0, rc;
    if ((rc = table_sub(r, t, "problem", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "problem");
    if ((rc = table_length(r, sub, 1, MAX_AXES, &o->op->naxes)) ||
        (rc = reader_array(r, o->op->naxes, sizeof *o->op->axes, &o->op->axes)))
        return rc;
    for (int i = 0; i < o->op->naxes; i++) {
        struct axis *axis = &o->op->axes[i];
        const char *kind = NULL;
        size_t inner = reader_enter(r, "axis %d", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = table_keys(r, item, "kind name", false)) ||
            (rc = table_name(r, item, "name", &axis->name)) || (rc = table_text(r, item, "kind", true, &kind)))
            return rc;
        int k = AXIS_FLAG;
        while (k >= 0 && strcmp(kind, kinds[k]))
            k--;
        if (k < 0)
            return reader_fail(r, "kind: '%.80s' is none of size, stride, batch, flag", kind);
        axis->kind = (enum axis_kind)k;
        if (strcmp(axis->name, "when") == 0)
            return reader_fail(r, "name: 'when' is a word of shapes");
        reader_leave(r, inner);
        lua_pop(r->L, 1);
    }
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

/* { names = { "T", "ACC" }, { "f16", "f32" }, ... }: names and rows. The list of names is at index `names`. */
static int read_rows(struct op_reader *o, int t, int names)
{
    struct reader *r = o->r;
    struct op *op = o->op;
    int item = 0, rc, width;
    size_t inner = reader_enter(r, "names");
    if ((rc = table_length(r, names, 1, MAX_TYPES, &op->ntypes)) ||
        (rc = reader_array(r, op->ntypes, sizeof *op->types, &op->types)))
        return rc;
    for (int i = 0; i < op->ntypes; i++)
        if ((rc = table_text_at(r, names, i + 1, &op->types[i])))
            return rc;
    reader_leave(r, inner);
    lua_pushnil(r->L); /* so that only the rows are left */
    lua_setfield(r->L, t, "names");
    if ((rc = table_length(r, t, 1, MAX_ROWS, &op->nrows)) ||
        (rc = reader_array(r, op->nrows * op->ntypes, sizeof *op->rows, &op->rows)))
        return rc;
    for (int row = 0; row < op->nrows; row++) {
        size_t mark = reader_enter(r, "row %d", row + 1);
        if ((rc = table_item(r, t, row + 1, &item)) || (rc = table_length(r, item, op->ntypes, op->ntypes, &width)))
            return rc;
        for (int i = 0; i < op->ntypes; i++) {
            const char *name = NULL;
            if ((rc = table_text_at(r, item, i + 1, &name)))
                return rc;
            if (!(op->rows[row * op->ntypes + i] = dtype_find(name)))
                return reader_fail(r, "'%.80s' is no element type (f32, i64, c128, ...)", name);
        }
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    return 0;
}

/* { T = { "f32", "f64" } } as { names = { "T" }, { "f32" }, { "f64" } }, pushed in its place. */
static int widen_single_type(struct op_reader *o, int *t)
{
    lua_State *L = o->r->L;
    lua_pushnil(L);
    if (!lua_next(L, *t) || lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1))
        return reader_fail(o->r, "must be { T = { \"f32\", ... } } or { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
    int list = lua_gettop(L), n = 0;
    lua_pushvalue(L, list - 1);
    if (lua_next(L, *t))
        return reader_fail(o->r, "for several type names, write { names = { \"T\", \"ACC\" }, { \"f16\", \"f32\" }, ... }");
    int rc = table_length(o->r, list, 1, MAX_ROWS, &n);
    if (rc)
        return rc;
    lua_createtable(L, n, 1);
    int wide = lua_gettop(L);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, list - 1);
    lua_rawseti(L, -2, 1);
    lua_setfield(L, wide, "names");
    for (int i = 1; i <= n; i++) {
        lua_createtable(L, 1, 0);
        lua_rawgeti(L, list, i);
        lua_rawseti(L, -2, 1);
        lua_rawseti(L, wide, i);
    }
    *t = wide;
    return 0;
}

static int read_types(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    int top = lua_gettop(r->L), sub = 0, names = 0, rc;
    if ((rc = table_sub(r, t, "types", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "types");
    lua_pushstring(r->L, "names");
    bool single = lua_rawget(r->L, sub) == LUA_TNIL;
    lua_pop(r->L, 1);
    if (single && (rc = widen_single_type(o, &sub)))
        return rc;
    if ((rc = table_sub(r, sub, "names", true, &names)) || (rc = read_rows(o, sub, names)))
        return rc;
    for (int i = 0; i < o->op->ntypes; i++)
        if (!name_ok(o->op->types[i]))
            return reader_fail(r, "'%.80s' is no name for a type", o->op->types[i]);
    reader_leave(r, mark);
    lua_settop(r->L, top);
    return 0;
}

int read_element(struct op_reader *o, int t, const char **type)
{
    int rc = table_text(o->r, t, "type", true, type);
    if (!rc && op_type(o->op, *type) < 0 && !dtype_find(*type))
        rc = reader_fail(o->r, "type: '%.80s' is neither a type name of this op nor an element type", *type);
    return rc;
}

static int read_buffer(struct op_reader *o, int t, struct arg *arg)
{
    struct reader *r = o->r;
    int extent = 0, rc;
    const char *fill = NULL;
    if ((rc = table_keys(r, t, "kind name type extent fill partial", false)) || (rc = read_element(o, t, &arg->type)) ||
        (rc = table_text(r, t, "fill", false, &fill)) || (rc = table_bool(r, t, "partial", &arg->partial)) ||
        (rc = table_sub(r, t, "extent", true, &extent)))
        return rc;
    if (fill && strcmp(fill, "bits") && strcmp(fill, "numbers"))
        return reader_fail(r, "fill: '%.80s' is neither bits nor numbers", fill);
    arg->fill = !fill ? FILL_AUTO : strcmp(fill, "bits") ? FILL_NUMBERS : FILL_BITS;
    size_t mark = reader_enter(r, "extent");
    if ((rc = table_length(r, extent, 1, MAX_RANK, &arg->rank)))
        return rc;
    for (int i = 0; i < arg->rank; i++)
        if ((rc = table_expr_at(r, extent, i + 1, &arg->extent[i])))
            return rc;
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static int read_value(struct op_reader *o, int t, struct arg *arg)
{
    struct reader *r = o->r;
    int rc;
    if ((rc = table_keys(r, t, "kind name type value", false)) || (rc = table_text(r, t, "type", false, &arg->type)) ||
        (rc = table_expr(r, t, "value", true, &arg->value)))
        return rc;
    if (!arg->type)
        arg->type = "i64";
    if (!dtype_find(arg->type))
        return reader_fail(r, "type: '%.80s' is no element type", arg->type);
    return 0;
}

static int read_args(struct op_reader *o, int t)
{
    static const char *const kinds[] = {
        [ARG_INPUT] = "input", [ARG_OUTPUT] = "output", [ARG_INOUT] = "inout", [ARG_VALUE] = "value"
    };
    struct reader *r = o->r;
    struct op *op = o->op;
    int sub = 0, item = 0, outputs = 0, rc;
    if ((rc = table_sub(r, t, "args", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "args");
    if ((rc = table_length(r, sub, 1, MAX_ARGS, &op->nargs)) || (rc = reader_array(r, op->nargs, sizeof *op->args, &op->args)))
        return rc;
    for (int i = 0; i < op->nargs; i++) {
        struct arg *arg = &op->args[i];
        const char *kind = NULL;
        size_t inner = reader_enter(r, "argument %d", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = table_text(r, item, "kind", true, &kind)) ||
            (rc = table_name(r, item, "name", &arg->name)))
            return rc;
        int k = ARG_VALUE;
        while (k >= 0 && strcmp(kind, kinds[k]))
            k--;
        if (k < 0)
            return reader_fail(r, "kind: '%.80s' is none of input, output, inout, value", kind);
        arg->kind = (enum arg_kind)k;
        if ((rc = arg->kind == ARG_VALUE ? read_value(o, item, arg) : read_buffer(o, item, arg)))
            return rc;
        outputs += arg->kind == ARG_OUTPUT || arg->kind == ARG_INOUT;
        reader_leave(r, inner);
        lua_pop(r->L, 1);
    }
    if (!outputs)
        return reader_fail(r, "there is no output(...) and no inout(...)");
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static int read_work(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    int sub = 0, rc = table_sub(r, t, "work", false, &sub);
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "work");
    if ((rc = table_keys(r, sub, "bytes flops", false)) || (rc = table_expr(r, sub, "bytes", false, &o->op->work_bytes)) ||
        (rc = table_expr(r, sub, "flops", false, &o->op->work_flops)))
        return rc;
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static int read_shape(struct op_reader *o, int t, const char *known, struct shape *shape)
{
    struct reader *r = o->r;
    const struct op *op = o->op;
    int64_t *size = NULL;
    int rc;
    if ((rc = table_keys(r, t, known, false)) || (rc = table_expr(r, t, "when", false, &shape->when)) ||
        (rc = reader_array(r, op->naxes, sizeof *size, &size)))
        return rc;
    for (int i = 0; i < op->naxes; i++) {
        if ((rc = table_int(r, t, op->axes[i].name, &size[i])))
            return rc;
        bool is_flag = op->axes[i].kind == AXIS_FLAG;
        if (size[i] < !is_flag || (is_flag && size[i] > 1))
            return reader_fail(r, "%s: must be %s", op->axes[i].name, is_flag ? "0 or 1" : "there, and at least 1");
    }
    shape->size = size;
    return 0;
}

static int read_shapes(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    struct op *op = o->op;
    char known[MAX_AXES * (MAX_NAME + 1) + sizeof "when"];
    int sub = 0, item = 0, rc = table_sub(r, t, "shapes", true, &sub);
    if (rc)
        return rc;
    size_t used = 0, mark = reader_enter(r, "shapes");
    for (int i = 0; i < op->naxes; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s ", op->axes[i].name);
    snprintf(known + used, sizeof known - used, "when");
    if ((rc = table_length(r, sub, 1, MAX_SHAPES, &op->nshapes)) ||
        (rc = reader_array(r, op->nshapes, sizeof *op->shapes, &op->shapes)))
        return rc;
    for (int i = 0; i < op->nshapes; i++) {
        size_t inner = reader_enter(r, "shape %d", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = read_shape(o, item, known, &op->shapes[i])))
            return rc;
        reader_leave(r, inner);
        lua_pop(r->L, 1);
    }
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static bool file_name_ok(const char *s)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *s != '.' && strlen(s) <= MAX_NAME && s[strspn(s, good)] == 0;
}

/* The text of folder/name on the arena; *out stays null where there is no such file. */
static int read_file(struct reader *r, const char *folder, const char *name, const char **out)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    struct err err = { 0 };
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = n < (int)sizeof path ? file_read(path, MAX_TEMPLATE, &text, &err) : ERR_NOTFOUND;
    if (rc == ERR_NOTFOUND)
        rc = 0;
    else if (rc)
        rc = rc == ERR_NOMEM ? err_nomem(r->err) : reader_fail(r, "%s", err.msg);
    else if (!text.len || memchr(text.data, 0, text.len))
        rc = reader_fail(r, "%s: %s", path, text.len ? "not a text: it has a zero byte" : "the file is empty");
    else if (!(*out = arena_strndup(r->arena, text.data, text.len)))
        rc = err_nomem(r->err);
    buf_free(&text);
    return rc;
}

int read_template(struct op_reader *o, int t, const char **name, const char **text)
{
    struct reader *r = o->r;
    char shared[PATH_MAX];
    int rc = table_text(r, t, "template", true, name);
    if (rc)
        return rc;
    if (!file_name_ok(*name))
        return reader_fail(r, "template: '%.80s' must be a file's name, of letters, digits, _ . and -, without folders", *name);
    snprintf(shared, sizeof shared, "%s/templates", o->home);
    if ((rc = read_file(r, o->folder, *name, text)) || (!*text && (rc = read_file(r, shared, *name, text))))
        return rc;
    if (*text)
        return read_includes(o, *name, *text);
    return reader_fail(r, "template: there is no '%s' in %s, and none in %s", *name, o->folder, shared);
}

static int read_preludes(struct op_reader *o)
{
    char folder[PATH_MAX];
    struct op *op = o->op;
    snprintf(folder, sizeof folder, "%s/templates", o->home);
    int rc = read_file(o->r, folder, "prelude_cuda.h", &op->prelude_cuda);
    if (!rc)
        rc = read_file(o->r, folder, "prelude_opencl.h", &op->prelude_opencl);
    if (!rc && (!op->prelude_cuda || !op->prelude_opencl))
        rc = reader_fail(o->r, "the preludes of the kernels are missing: %s/prelude_%s.h", folder,
                         op->prelude_cuda ? "opencl" : "cuda");
    return rc;
}

static int read_reference(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    int sub = 0, launch = 0, rc;
    if ((rc = table_sub(r, t, "reference", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "reference");
    if ((rc = table_keys(r, sub, "template launch", false)) ||
        (rc = read_template(o, sub, &o->op->reference_name, &o->op->reference_text)) ||
        (rc = table_sub(r, sub, "launch", true, &launch)))
        return rc;
    size_t inner = reader_enter(r, "launch");
    if ((rc = read_launch(o, launch, NULL, &o->op->reference)))
        return rc;
    reader_leave(r, inner);
    reader_leave(r, mark);
    lua_pop(r->L, 2);
    return 0;
}

static int read_check(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    struct op *op = o->op;
    int sub = 0, rc;
    lua_pushstring(r->L, "check");
    int type = lua_rawget(r->L, t);
    bool exact = type == LUA_TSTRING && strcmp(lua_tostring(r->L, -1), "exact") == 0;
    lua_pop(r->L, 1);
    op->check = CHECK_EXACT;
    if (exact)
        return 0;
    if (type != LUA_TTABLE)
        return reader_fail(r, "check: must be \"exact\" or { sum = EXPRESSION }");
    op->check = CHECK_SUM;
    if ((rc = table_sub(r, t, "check", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "check");
    if ((rc = table_keys(r, sub, "sum", false)) || (rc = table_expr(r, sub, "sum", true, &op->check_length)))
        return rc;
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

static int read_variants(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    struct op *op = o->op;
    int sub = 0, item = 0, n = 0, rc;
    if ((rc = table_sub(r, t, "variants", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "variants");
    if ((rc = table_length(r, sub, 1, MAX_VARIANTS, &n)) || (rc = reader_array(r, n, sizeof *op->variants, &op->variants)))
        return rc;
    reader_leave(r, mark);
    for (int i = 0; i < n; i++) {
        struct variant *v = &op->variants[i];
        mark = reader_enter(r, "variant %d", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = table_name(r, item, "name", &v->name)))
            return rc;
        reader_leave(r, mark);
        mark = reader_enter(r, "variant %s", v->name);
        if ((rc = read_variant(o, item, v)))
            return rc;
        op->nvariants = i + 1;
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    lua_pop(r->L, 1);
    return 0;
}

static int read_defaults(struct op_reader *o, int t)
{
    struct reader *r = o->r;
    struct op *op = o->op;
    int sub = 0, item = 0, rc;
    if ((rc = table_sub(r, t, "defaults", true, &sub)))
        return rc;
    size_t mark = reader_enter(r, "defaults");
    if ((rc = table_length(r, sub, 1, MAX_DEFAULTS, &op->ndefaults)) ||
        (rc = reader_array(r, op->ndefaults, sizeof *op->defaults, &op->defaults)))
        return rc;
    for (int i = 0; i < op->ndefaults; i++) {
        size_t inner = reader_enter(r, "default %d", i + 1);
        if ((rc = table_item(r, sub, i + 1, &item)) || (rc = read_default(o, item, &op->defaults[i])))
            return rc;
        reader_leave(r, inner);
        lua_pop(r->L, 1);
    }
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

int op_read(struct reader *r, int t, const char *folder, const char *home, struct op *op)
{
    struct op_reader o = { .r = r, .op = op, .folder = folder, .home = home };
    int rc;
    if (!lua_checkstack(r->L, 100))
        return err_nomem(r->err);
    if ((rc = table_keys(r, t, "name problem types args work shapes reference check variants defaults", false)) ||
        (rc = table_name(r, t, "name", &op->name)) || (rc = read_axes(&o, t)) || (rc = read_types(&o, t)) ||
        (rc = read_args(&o, t)) || (rc = read_work(&o, t)) || (rc = read_shapes(&o, t)) || (rc = read_reference(&o, t)) ||
        (rc = read_check(&o, t)) || (rc = read_variants(&o, t)) || (rc = read_defaults(&o, t)) || (rc = read_preludes(&o)))
        return rc;
    return 0;
}
