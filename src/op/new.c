#include "op/new.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "base/util.h"
#include "child/child.h"
#include "lua/sandbox.h"
#include "op/load.h"

enum { MAX_KERNEL = 1 << 20, CHILD_S = 10 };
static const struct sandbox_rules rules = { .what = "kernel", .memory = (size_t)256 << 20, .instructions = 200000000 };

struct making {
    const char *home, *name, *from;
    struct buf text; /* of `from` */
    struct buf *answer;
};

static void push_text(lua_State *L, const char *s)
{
    if (s)
        lua_pushstring(L, s);
    else
        lua_pushnil(L);
}

/* Pushes what the file of cutune's own gives. */
static void push_library(lua_State *L, const char *home, const char *name)
{
    struct buf library = { 0 }, path = { 0 };
    buf_fmt(&path, "%s/%s", home, name);
    sandbox_check(L, buf_check(&path, sandbox_err(L)) ?: file_read(buf_text(&path), MAX_KERNEL, &library, sandbox_err(L)));
    sandbox_text(L, name, buf_text(&library), library.len, 1);
}

/* The answer: a file's name and its text, for each. */
static void make_files(lua_State *L, void *arg)
{
    struct making *m = arg;
    static const char *const parts[] = { "kernel_text", "read_extents", "read_launch",
                                         "host_code" }; /* what the files after it see */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[64];
        snprintf(name, sizeof name, "tuner/lib/%s.lua", parts[i]);
        push_library(L, m->home, name);
        lua_setglobal(L, parts[i]);
    }
    push_library(L, m->home, "tuner/lib/new_op.lua");
    push_text(L, m->name);
    push_text(L, m->from && !strchr(m->from, '/') ? m->from : NULL);
    push_text(L, m->from ? buf_text(&m->text) : NULL);
    push_library(L, m->home, "tuner/lib/read_kernel.lua");
    lua_call(L, 4, 1);
    for (lua_Integer i = 1; lua_geti(L, 1, i) == LUA_TTABLE; i++) {
        lua_getfield(L, -1, "file");
        lua_getfield(L, -2, "text");
        buf_lstr(m->answer, lua_tostring(L, -2));
        buf_lstr(m->answer, lua_tostring(L, -1));
        lua_settop(L, 1);
    }
}

static int make_in_child(void *arg, struct buf *answer, struct err *err)
{
    struct making *m = arg;
    m->answer = answer;
    return sandbox_run(&rules, m->from ? m->from : "tuner/lib/new_op.lua", make_files, m, err);
}

int op_new_files(const char *name, const char *from, struct buf *all, struct new_file out[NEW_FILES], int *n, struct err *err)
{
    struct making m = { .name = name, .from = from };
    int rc = home_find(&m.home, err) ?: (from ? file_read(from, MAX_KERNEL, &m.text, err) : 0);
    if (!rc && memchr(buf_text(&m.text), 0, m.text.len))
        rc = err_set(err, ERR_INVALID, "%s: not a text: it has a zero byte", from);
    rc = rc ?: child_run(CHILD_S, CHILD_S, make_in_child, &m, all, err);
    struct cursor in = cursor_on(all->data, all->len);
    for (*n = 0; !rc && in.at < in.end && *n < NEW_FILES; ++*n) {
        struct new_file *f = &out[*n];
        f->name = get_lstr(&in, &f->name_bytes);
        f->text = get_lstr(&in, &f->text_bytes);
        if (!f->name || !f->text)
            rc = err_set(err, ERR_CORRUPT, "tuner/lib/new_op.lua: gives no files");
    }
    buf_free(&m.text);
    return rc;
}
