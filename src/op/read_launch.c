/* Launches: the entry, its geometry, and what it is called with. */
#include <string.h>

#include "op/read.h"

static int arg_index(const struct op *op, const struct variant *v, const char *name)
{
    for (int i = 0; i < op->nargs; i++)
        if (strcmp(op->args[i].name, name) == 0)
            return i;
    for (int i = 0; v && i < v->nworkspaces; i++)
        if (strcmp(v->workspaces[i].name, name) == 0)
            return op->nargs + i;
    return -1;
}

int read_arg_names(struct op_reader *o, int t, const char *key, const struct variant *v, int *n, int **out)
{
    struct reader *r = o->r;
    int sub = 0, rc = table_sub(r, t, key, false, &sub);
    *n = -1;
    if (rc || !sub)
        return rc;
    size_t mark = reader_enter(r, "%s", key);
    if ((rc = table_length(r, sub, 0, MAX_ARGS, n)) || (rc = reader_array(r, *n, sizeof **out, out)))
        return rc;
    for (int i = 0; i < *n; i++) {
        const char *name = NULL;
        if ((rc = table_text_at(r, sub, i + 1, &name)))
            return rc;
        if (((*out)[i] = arg_index(o->op, v, name)) < 0)
            return reader_fail(r, "there is no argument%s '%.80s'", v && v->nworkspaces ? " and no workspace" : "", name);
    }
    reader_leave(r, mark);
    lua_pop(r->L, 1);
    return 0;
}

/* One expression, or a list of up to three. */
static int read_extents(struct reader *r, int t, const char *key, const char *out[3])
{
    int n = 0, rc = 0;
    lua_pushstring(r->L, key);
    bool list = lua_rawget(r->L, t) == LUA_TTABLE;
    int sub = lua_gettop(r->L);
    size_t mark = reader_enter(r, "%s", list ? key : "");
    if (!list) {
        reader_leave(r, mark);
        rc = table_expr(r, t, key, false, &out[0]);
    } else if (!(rc = table_length(r, sub, 1, 3, &n))) {
        for (int i = 0; i < n && !rc; i++)
            rc = table_expr_at(r, sub, i + 1, &out[i]);
    }
    if (!rc) {
        reader_leave(r, mark);
        lua_pop(r->L, 1);
    }
    return rc;
}

int read_launch(struct op_reader *o, int t, const struct variant *v, struct launch *out)
{
    struct reader *r = o->r;
    int rc;
    if ((rc = table_keys(r, t, "kernel grid block shared args", false)) || (rc = table_name(r, t, "kernel", &out->kernel)) ||
        (rc = read_extents(r, t, "grid", out->grid)) || (rc = read_extents(r, t, "block", out->block)) ||
        (rc = table_expr(r, t, "shared", false, &out->shared)) || (rc = read_arg_names(o, t, "args", v, &out->nargs, &out->args)))
        return rc;
    if (out->nargs >= 0)
        return 0;
    out->nargs = o->op->nargs + (v ? v->nworkspaces : 0);
    if ((rc = reader_array(r, out->nargs, sizeof *out->args, &out->args)))
        return rc;
    for (int i = 0; i < out->nargs; i++)
        out->args[i] = i;
    return 0;
}
