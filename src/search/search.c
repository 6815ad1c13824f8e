/* A search: the child, in which the strategy runs, and the parent's side, which believes nothing that comes back. The frames between them:
 *   parent to child   TELL     i64 index, u8 outcome, f64 time_ns, f64 cost    not answered
 *                     ASK      u32 k                                 answered by INDICES, DONE or ERROR
 *   child to parent   READY                                          once, when the strategy is loaded; or ERROR
 *                     INDICES  u32 n, then n times i64
 *                     DONE
 *                     ERROR    as forked_start writes it             and the child ends */
#include "search/search.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lua/sandbox.h"
#include "op/load.h"

enum { DEADLINE_S = 10, MAX_SCRIPT = 1 << 20, CPU_S = 3600, MAX_ASK = 1 << 16 };
static const struct sandbox_rules rules = { .what = "strategy", .memory = (size_t)1024 << 20, .program = true };

struct strategy {
    const char *file; /* as messages name it */
    struct buf script, lib;
    const struct space *space;
    uint64_t seed;
    struct channel *channel;
};

/* -- what a strategy sees. What fails is a Lua error, which ends the child -- */

/* A field of the table at the top of the stack. */
static void set_field(lua_State *L, const char *name, struct val v)
{
    sandbox_push(L, v);
    lua_setfield(L, -2, name);
}

/* The methods of `space` have it as their first upvalue. */
static const struct space *the_space(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int space_count_method(lua_State *L)
{
    lua_pushinteger(L, the_space(L)->count);
    return 1;
}

static int64_t index_argument(lua_State *L, const struct space *s)
{
    lua_Integer i = luaL_checkinteger(L, 2);
    luaL_argcheck(L, i >= 0 && i < s->count, 2, "no configuration has this index");
    return i;
}

static int space_config_method(lua_State *L)
{
    const struct space *s = the_space(L);
    struct config c;
    space_at(s, index_argument(L, s), &c);
    const struct variant *v = &s->op->variants[c.variant];
    lua_createtable(L, 0, v->nparams + 1);
    set_field(L, "variant", val_str(v->name));
    for (int p = 0; p < v->nparams; p++)
        set_field(L, v->params[p].name, v->params[p].values[c.at[p]]);
    return 1;
}

static int push_index(lua_State *L, int64_t i)
{
    sandbox_push(L, i >= 0 ? val_int(i) : (struct val){ .type = VAL_NIL });
    return 1;
}

static double as_number(struct val v)
{
    return v.type == VAL_INT ? (double)v.i : v.type == VAL_FLOAT ? v.f : NAN;
}

/* The value nearest to a number; without one the first. */
static int nearest_value(const struct param *p, struct val v)
{
    double best = INFINITY;
    int at = 0;
    for (int i = 0; i < p->n; i++) {
        double distance = fabs(as_number(v) - as_number(p->values[i])); /* NaN if one of them is none */
        if (distance < best) {
            best = distance;
            at = i;
        }
    }
    return at;
}

/* Reads the table at 2; false if it is no point of the cartesian product. `near`: what is none becomes one that is near. */
static bool to_config(lua_State *L, const struct op *op, bool near, struct config *c)
{
    *c = (struct config){ 0 };
    lua_getfield(L, 2, "variant");
    const char *name = lua_tostring(L, -1);
    c->variant = name ? op_variant(op, name) : -1;
    if (c->variant < 0)
        return false;
    const struct variant *v = &op->variants[c->variant];
    for (int p = 0; p < v->nparams; p++) {
        lua_getfield(L, 2, v->params[p].name);
        int at = param_value(&v->params[p], sandbox_val(L, -1));
        if (near && at < 0)
            at = nearest_value(&v->params[p], sandbox_val(L, -1));
        lua_pop(L, 1);
        if (at < 0)
            return false;
        c->at[p] = (uint16_t)at;
    }
    return true;
}

static int space_find_method(lua_State *L)
{
    const struct space *s = the_space(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    struct config c;
    return push_index(L, to_config(L, s->op, false, &c) ? space_find(s, &c) : -1);
}

static int space_near_method(lua_State *L)
{
    const struct space *s = the_space(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    struct config c;
    return push_index(L, to_config(L, s->op, true, &c) ? space_near(s, &c) : -1);
}

static int space_neighbours_method(lua_State *L)
{
    static const char *const names[] = { [NEAR_ANY] = "any", [NEAR_STEP] = "step", [NEAR_ALL] = "around", NULL };
    const struct space *s = the_space(L);
    int64_t i = index_argument(L, s);
    struct buf list = { 0 };
    space_neighbours(s, i, (enum nearness)luaL_checkoption(L, 3, "any", names), &list);
    if (list.failed)
        return luaL_error(L, "out of memory");
    struct cursor c = cursor_on(list.data, list.len);
    lua_newtable(L);
    for (lua_Integer n = 1; c.at < c.end; n++) {
        lua_pushinteger(L, get_i64(&c));
        lua_rawseti(L, -2, n);
    }
    buf_free(&list);
    return 1;
}

/* A list of { name =, values = }. */
static void push_params(lua_State *L, const struct variant *v)
{
    lua_createtable(L, v->nparams, 0);
    for (int p = 0; p < v->nparams; p++) {
        lua_createtable(L, 0, 2);
        set_field(L, "name", val_str(v->params[p].name));
        lua_createtable(L, v->params[p].n, 0);
        for (int i = 0; i < v->params[p].n; i++) {
            sandbox_push(L, v->params[p].values[i]);
            lua_rawseti(L, -2, i + 1);
        }
        lua_setfield(L, -2, "values");
        lua_rawseti(L, -2, p + 1);
    }
}

static int space_variants_method(lua_State *L)
{
    const struct space *s = the_space(L);
    const struct op *op = s->op;
    int64_t first = 0;
    lua_createtable(L, op->nvariants, 0);
    for (int v = 0; v < op->nvariants; v++) {
        lua_createtable(L, 0, 3);
        set_field(L, "name", val_str(op->variants[v].name));
        set_field(L, "first", val_int(first));
        set_field(L, "count", val_int(space_variant_count(s, v)));
        push_params(L, &op->variants[v]);
        lua_setfield(L, -2, "params");
        lua_rawseti(L, -2, v + 1);
        first += space_variant_count(s, v);
    }
    return 1;
}

static void push_space(lua_State *L, const struct space *space)
{
    static const luaL_Reg methods[] = {
        { "count", space_count_method },
        { "config", space_config_method },
        { "find", space_find_method },
        { "near", space_near_method },
        { "neighbours", space_neighbours_method },
        { "variants", space_variants_method },
        { NULL, NULL },
    };
    luaL_newlibtable(L, methods);
    lua_pushlightuserdata(L, (void *)(uintptr_t)space); /* Lua knows no const */
    luaL_setfuncs(L, methods, 1);
}

/* random(n): uniform, by leaving out the tail of the 64-bit numbers that no multiple of n covers. */
static int random_function(lua_State *L)
{
    lua_Integer n = luaL_checkinteger(L, 1);
    luaL_argcheck(L, n > 0, 1, "random(n) gives 0 to n - 1: n has to be positive");
    uint64_t seed = (uint64_t)lua_tointeger(L, lua_upvalueindex(1)), place = (uint64_t)lua_tointeger(L, lua_upvalueindex(2));
    uint64_t most = UINT64_MAX - UINT64_MAX % (uint64_t)n, r;
    do
        r = rand_at(seed, place++);
    while (r >= most);
    lua_pushinteger(L, (lua_Integer)place);
    lua_replace(L, lua_upvalueindex(2));
    lua_pushinteger(L, (lua_Integer)(r % (uint64_t)n));
    return 1;
}

static void set_random(lua_State *L, uint64_t seed)
{
    lua_pushinteger(L, (lua_Integer)seed);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, random_function, 2);
    lua_setglobal(L, "random");
}

/* Strategies may print, to where progress goes: results go to stdout. */
static int print_function(lua_State *L)
{
    for (int i = 1, n = lua_gettop(L); i <= n; i++) {
        fprintf(stderr, "%s%s", luaL_tolstring(L, i, NULL), i < n ? "\t" : "");
        lua_pop(L, 1);
    }
    fputc('\n', stderr);
    return 0;
}

/* -- questions and answers -- */

/* The stack of serve(). */
enum { AT_ASK = 1, AT_TELL, AT_SEEN, AT_OUTCOMES };

/* Runs the file, calls the function that it returns, and leaves ask, tell, the set of indices given so far and a list of outcomes to
 * tell on the stack. */
static void load_strategy(lua_State *L, const struct strategy *s)
{
    lua_register(L, "print", print_function);
    set_random(L, s->seed);
    sandbox_text(L, "lib.lua", buf_text(&s->lib), s->lib.len, 1);
    lua_setglobal(L, "lib");
    sandbox_text(L, NULL, buf_text(&s->script), s->script.len, 1);
    if (!lua_isfunction(L, -1))
        luaL_error(L, "has to return a function(space, seed)");
    push_space(L, s->space);
    lua_pushinteger(L, (lua_Integer)s->seed);
    lua_call(L, 2, 1);
    if (!lua_istable(L, -1))
        luaL_error(L, "its function has to return a table: { ask = ask }, or { ask = ask, tell = tell }");
    if (lua_getfield(L, 1, "ask") != LUA_TFUNCTION)
        luaL_error(L, "its table has no function ask(k)");
    int tell = lua_getfield(L, 1, "tell");
    if (tell != LUA_TFUNCTION && tell != LUA_TNIL)
        luaL_error(L, "tell has to be a function");
    lua_remove(L, 1);
    lua_newtable(L);
    lua_newtable(L);
}

/* The index at the top of the stack, checked, and taken off. */
static int64_t checked_index(lua_State *L, const struct space *space)
{
    int whole;
    lua_Integer i = lua_tointegerx(L, -1, &whole);
    if (!whole || lua_type(L, -1) != LUA_TNUMBER || i < 0 || i >= space->count)
        luaL_error(L, "ask gave %s, which is no index: those are integers from 0 up to space:count() - 1",
                   luaL_tolstring(L, -1, NULL));
    if (lua_rawgeti(L, AT_SEEN, i) != LUA_TNIL)
        luaL_error(L, "ask gave index %I twice", (LUAI_UACINT)i);
    lua_pushboolean(L, 1);
    lua_rawseti(L, AT_SEEN, i);
    lua_pop(L, 2);
    return i;
}

/* The table at the top of the stack has nothing but a list of n. */
static void check_list(lua_State *L, lua_Unsigned n)
{
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        lua_Integer i = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        if (i < 1 || (lua_Unsigned)i > n)
            luaL_error(L, "ask gave a table with the key %s: a list of indices is wanted, such as { 3, 0 }, or {}",
                       luaL_tolstring(L, -2, NULL));
    }
}

static void answer(lua_State *L, const struct strategy *now, lua_Integer k)
{
    struct buf *out = &now->channel->out;
    lua_pushvalue(L, AT_ASK);
    lua_pushinteger(L, k);
    lua_call(L, 1, 1);
    if (lua_type(L, -1) == LUA_TSTRING && !strcmp(lua_tostring(L, -1), "done")) {
        frame_end(out, frame_begin(out, WIRE_DONE));
        return;
    }
    if (!lua_istable(L, -1))
        luaL_error(L, "ask has to return a table of indices, or \"done\", not %s", luaL_typename(L, -1));
    lua_Unsigned n = lua_rawlen(L, -1);
    check_list(L, n);
    if (n > (lua_Unsigned)k)
        luaL_error(L, "ask(%I) gave %I indices", (LUAI_UACINT)k, (LUAI_UACINT)n);
    size_t f = frame_begin(out, WIRE_INDICES);
    buf_u32(out, (uint32_t)n);
    for (lua_Unsigned i = 0; i < n; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        buf_i64(out, checked_index(L, now->space));
    }
    frame_end(out, f);
}

/* A table of the outcome at the end of the list. */
static void add_outcome(lua_State *L, struct cursor *c)
{
    lua_createtable(L, 0, 3);
    set_field(L, "index", val_int(get_i64(c)));
    set_field(L, "outcome", val_str(outcome_name((enum outcome)get_u8(c))));
    set_field(L, "time_ns", val_float(get_f64(c)));
    double cost = get_f64(c);
    if (!isnan(cost))
        set_field(L, "cost", val_float(cost));
    lua_rawseti(L, AT_OUTCOMES, (lua_Integer)lua_rawlen(L, AT_OUTCOMES) + 1);
}

/* Tells what was collected, and begins an empty list. */
static void tell(lua_State *L)
{
    if (lua_rawlen(L, AT_OUTCOMES) == 0)
        return;
    if (!lua_isnil(L, AT_TELL)) {
        lua_pushvalue(L, AT_TELL);
        lua_pushvalue(L, AT_OUTCOMES);
        lua_call(L, 1, 0);
    }
    lua_newtable(L);
    lua_replace(L, AT_OUTCOMES);
}

/* Outcomes are collected, and told before the next question is asked. Ends by an error, or when the parent has gone. */
static void serve(lua_State *L, void *arg)
{
    const struct strategy *now = arg;
    struct buf *out = &now->channel->out;
    struct frame frame;
    load_strategy(L, now);
    frame_end(out, frame_begin(out, WIRE_READY));
    while (!channel_send(now->channel, NULL, NULL) && !channel_next(now->channel, NULL, &frame, NULL)) {
        if (frame.kind == WIRE_TELL) {
            add_outcome(L, &frame.body);
        } else {
            tell(L);
            answer(L, now, get_u32(&frame.body));
        }
        lua_settop(L, AT_OUTCOMES);
    }
}

static int live(struct channel *c, void *arg, struct err *err)
{
    struct strategy *s = arg;
    s->channel = c;
    return sandbox_run(&rules, s->file, serve, s, err);
}

/* -- the parent's side -- */

int search_adopt(const char *file, struct forked child, int64_t count, const struct patience *bounds, struct search **out,
                 struct err *err)
{
    struct patience p = patience_of(DEADLINE_S, bounds ? bounds->stop : NULL);
    if (bounds && bounds->until < p.until)
        p = *bounds;
    struct frame frame;
    struct search *s = mem_zalloc(sizeof *s);
    if (!s) {
        forked_close(&child);
        return err_nomem(err);
    }
    snprintf(s->name, sizeof s->name, "strategy %s", file);
    child.who = s->name;
    s->child = child;
    s->count = count;
    int rc = forked_next(&s->child, &p, &frame, err);
    if (rc == ERR_TIMEOUT)
        err_prefix(err, "loading it: ");
    if (!rc && frame.kind != WIRE_READY)
        rc = forked_failed(&s->child, ERR_CORRUPT, err);
    if (rc)
        search_close(s);
    else
        *out = s;
    return rc;
}

int search_open(const char *home, const char *strategy, const struct space *space, uint64_t seed, const struct patience *bounds,
                struct search **out, struct err *err)
{
    struct forked child;
    char file[PATH_MAX];
    struct strategy what = { .file = file, .space = space, .seed = seed };
    int len = script_find(home, "search", strategy, file);
    if (len < 0 || len >= PATH_MAX)
        return err_set(err, ERR_INVALID, "'%.64s' is no strategy: a name such as random, or a file that ends in .lua", strategy);
    char lib[PATH_MAX];
    snprintf(lib, sizeof lib, "%s/tuner/search/lib/lib.lua", home);
    int rc = file_read(lib, MAX_SCRIPT, &what.lib, err) ?: file_read(file, MAX_SCRIPT, &what.script, err)
                                                        ?: forked_start(CPU_S, live, &what, &child, err);
    buf_free(&what.lib);
    buf_free(&what.script);
    if (rc)
        err_prefix(err, "strategy %s: ", strategy);
    return rc ?: search_adopt(file, child, space->count, bounds, out, err);
}

void search_close(struct search *s)
{
    if (s)
        forked_close(&s->child);
    mem_free(s);
}

int search_ask(struct search *s, int k, struct err *err)
{
    struct buf *out = &s->child.channel.out;
    const struct patience p = patience_of(DEADLINE_S, NULL);
    if (k < 1 || k > MAX_ASK || s->asked)
        return err_set(err, ERR_INVALID, "%s: a question for %d configurations: 1 to %d, one question at a time", s->name, k,
                       MAX_ASK);
    if (s->done)
        return err_set(err, ERR_INVALID, "%s: asked again, though it was done", s->name);
    size_t f = frame_begin(out, WIRE_ASK);
    buf_u32(out, (uint32_t)k);
    frame_end(out, f);
    int rc = channel_send(&s->child.channel, &p, err);
    s->asked = rc ? 0 : k;
    return rc ? forked_failed(&s->child, rc, err) : 0;
}

int search_answer(struct search *s, int64_t *index, int *n, struct err *err)
{
    const struct patience p = patience_of(s->asked ? DEADLINE_S : 0, NULL);
    struct frame frame;
    uint32_t asked = (uint32_t)s->asked;
    *n = 0;
    s->asked = 0;
    int rc = asked ? forked_next(&s->child, &p, &frame, err) : channel_next(&s->child.channel, &p, &frame, NULL);
    if (!asked) /* the child is gone, or sends what nobody asked for */
        return rc == ERR_TIMEOUT ? err_set(err, ERR_INVALID, "%s: an answer without a question", s->name)
                                 : forked_failed(&s->child, rc ?: ERR_CORRUPT, err);
    if (rc)
        return rc;
    struct cursor *body = &frame.body;
    s->done = frame.kind == WIRE_DONE && body->at == body->end;
    if (s->done)
        return 0;
    uint32_t count = get_u32(body);
    bool good = frame.kind == WIRE_INDICES && !body->bad && count <= asked && (size_t)(body->end - body->at) == 8 * (size_t)count;
    for (uint32_t i = 0; good && i < count; i++) {
        index[i] = get_i64(body);
        good = index[i] >= 0 && index[i] < s->count; /* its own side has checked that already */
    }
    if (!good)
        return forked_failed(&s->child, ERR_CORRUPT, err);
    *n = (int)count;
    return 0;
}

int search_tell(struct search *s, int64_t index, enum outcome outcome, double time_ns, double cost, struct err *err)
{
    struct buf *out = &s->child.channel.out;
    size_t f = frame_begin(out, WIRE_TELL);
    buf_i64(out, index);
    buf_u8(out, (uint8_t)outcome);
    buf_f64(out, time_ns);
    buf_f64(out, cost);
    frame_end(out, f);
    return buf_check(out, err);
}
