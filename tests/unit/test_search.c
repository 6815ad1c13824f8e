/* Strategies with their fork, Lua and socket; and broken children and files. */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/util.h"
#include "search/search.h"
#include "unit.h"

/* -- a space of 12 configurations: TILE in 8, 16, 32; ROWS <= TILE / 8 in 1, 2, 4; GRID; and a plain variant of 3 -- */

static struct param param(struct op *op, const char *name, int n, const struct val *values)
{
    struct param p = { .name = name, .n = n, .values = arena_array(op->arena, (size_t)n, sizeof *values) };
    memcpy(p.values, values, (size_t)n * sizeof *values);
    return p;
}

static struct op *small_op(void)
{
    struct op *op = op_new();
    assert_non_null(op);
    op->name = "test";
    op->file = "test.lua";
    op->naxes = 1;
    op->axes = arena_alloc(op->arena, sizeof *op->axes);
    op->axes[0] = (struct axis){ "m", AXIS_SIZE, NULL, NULL };
    op->ntypes = op->nrows = 1;
    op->types = arena_alloc(op->arena, sizeof *op->types);
    op->types[0] = "T";
    op->rows = arena_alloc(op->arena, sizeof *op->rows);
    op->rows[0] = dtype_find("f32");
    op->nvariants = 2;
    op->variants = arena_array(op->arena, 2, sizeof *op->variants);
    struct variant *tile = &op->variants[0], *plain = &op->variants[1];
    tile->name = "tile";
    tile->nparams = 3;
    tile->params = arena_array(op->arena, 3, sizeof *tile->params);
    tile->params[0] = param(op, "TILE", 3, (struct val[]){ val_int(8), val_int(16), val_int(32) });
    tile->params[1] = param(op, "ROWS", 3, (struct val[]){ val_int(1), val_int(2), val_int(4) });
    tile->params[2] = param(op, "GRID", 2, (struct val[]){ val_str("xy"), val_str("x") });
    tile->nwhere = 1;
    tile->where = arena_alloc(op->arena, sizeof *tile->where);
    tile->where[0] = "ROWS <= TILE // 8";
    plain->name = "plain";
    plain->nparams = 1;
    plain->params = arena_alloc(op->arena, sizeof *plain->params);
    plain->params[0] = param(op, "SCALE", 3, (struct val[]){ val_float(0.5), val_float(1), val_float(1.5) });
    return op;
}

/* 2^40 configurations: forty switches. */
static struct op *large_op(void)
{
    struct op *op = small_op();
    struct variant *v = &op->variants[0];
    op->nvariants = 1;
    v->nwhere = 0;
    v->nparams = 40;
    v->params = arena_array(op->arena, 40, sizeof *v->params);
    for (int i = 0; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", i);
        v->params[i] = param(op, arena_strdup(op->arena, name), 2, (struct val[]){ val_bool(false), val_bool(true) });
    }
    return op;
}

static struct op *op;
static struct space *space;
enum { COUNT = 15 };

static struct space *space_of(const struct op *o)
{
    static const struct problem problem = { .size = { 1 } };
    static const struct devspec device = { .backend = "null", .max_threads = 1, .max_alloc = 1 };
    struct space *s;
    struct err err;
    if (space_new(o, &problem, 0, &device, NULL, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

static int set_up(void **state)
{
    (void)state;
    op = small_op();
    space = space_of(op);
    return space->count != COUNT;
}

static int tear_down(void **state)
{
    (void)state;
    space_free(space);
    op_free(op);
    return 0;
}

static void lacks(const char *msg, const char *part)
{
    if (!strstr(msg, part))
        fail_msg("'%s' lacks '%s'", msg, part);
}

/* -- the strategies that come with cutune -- */

static struct search *start(const char *strategy, const struct space *s, uint64_t seed)
{
    struct search *out;
    struct err err;
    if (search_open(SOURCE_DIR, strategy, s, seed, NULL, &out, &err))
        fail_msg("%s", err.msg);
    return out;
}

static int ask(struct search *s, int k, int64_t *index)
{
    struct err err;
    int n = 0;
    if (search_ask(s, k, &err) || search_answer(s, index, &n, &err))
        fail_msg("%s", err.msg);
    assert_in_range(n, 0, k);
    return n;
}

static void test_exhaustive(void **state)
{
    (void)state;
    struct search *s = start("exhaustive", space, 1);
    int64_t index[8], expected = 0;
    for (int n; (n = ask(s, 4, index));)
        for (int i = 0; i < n; i++)
            assert_int_equal(index[i], expected++);
    assert_int_equal(expected, COUNT);
    assert_true(s->done);
    struct err err;
    assert_int_equal(search_ask(s, 8, &err), ERR_INVALID);
    lacks(err.msg, "exhaustive.lua: asked again, though it was done");
    search_close(s);
}

static void shuffle(uint64_t seed, int chunk, int64_t order[COUNT])
{
    struct search *s = start("random", space, seed);
    bool seen[COUNT] = { false };
    int64_t index[COUNT];
    int got = 0;
    for (int n; (n = ask(s, chunk, index));) {
        for (int i = 0; i < n; i++) {
            assert_false(seen[index[i]]);
            seen[index[i]] = true;
            order[got++] = index[i];
        }
    }
    assert_int_equal(got, COUNT);
    search_close(s);
}

static void test_random(void **state)
{
    (void)state;
    int64_t a[COUNT], b[COUNT];
    shuffle(7, 4, a);
    shuffle(7, 15, b); /* the seed decides, not how many are asked for at a time */
    assert_memory_equal(a, b, sizeof a);
    shuffle(8, 4, b);
    assert_memory_not_equal(a, b, sizeof a);
}

/* Where the first configuration lies is as good as uniform over seeds: each of 15 comes up, none far too often. */
static void test_random_is_uniform(void **state)
{
    (void)state;
    int times[COUNT] = { 0 };
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct search *s = start("random", space, seed);
        int64_t index[2];
        assert_int_equal(ask(s, 2, index), 2);
        times[index[0]]++;
        times[index[1]]++;
        search_close(s);
    }
    for (int i = 0; i < COUNT; i++)
        assert_in_range(times[i], 15, 75); /* 40 expected, standard deviation 6 */
}

static void test_random_in_a_large_space(void **state)
{
    (void)state;
    struct op *large = large_op();
    struct space *sp = space_of(large);
    assert_int_equal(sp->count, (int64_t)1 << 40);
    struct search *s = start("random", sp, 3);
    int64_t index[2000], top = 0;
    assert_int_equal(ask(s, 2000, index), 2000);
    for (int i = 0; i < 2000; i++)
        top += index[i] >> 39;
    assert_in_range(top, 800, 1200);
    search_close(s);
    space_free(sp);
    op_free(large);
}

/* Asks for `width` at a time, tells the oldest outcome, until `n` are told: fails every seventh, takes longer the more bits are set. Returns
 * the fewest. */
static int play_bits(const struct space *sp, uint64_t seed, int width, int n, int64_t *told)
{
    struct search *s = start("forest", sp, seed);
    int64_t given[400];
    int ngiven = 0, best = 64;
    assert_true(n + width <= 400);
    for (int i = 0; i < n; i++) {
        if (ngiven - i < width)
            ngiven += ask(s, width - (ngiven - i), given + ngiven);
        assert_true(ngiven > i); /* it waits for what is out, not for nothing */
        struct err err;
        int bits = __builtin_popcountll((uint64_t)given[i]);
        bool ok = given[i] % 7;
        assert_int_equal(search_tell(s, given[i], ok ? OUT_OK : OUT_WRONG, ok ? 1000 + bits : 0, ok ? 1000 + bits : NAN, &err), 0);
        best = ok && bits < best ? bits : best;
        told[i] = given[i];
    }
    search_close(s);
    return best;
}

/* The same seed and outcomes give the same proposals; and it learns: of 120 at random, the best is expected to have 12 or 13 bits. Of three
 * seeds' best the mean counts, as one may have bad luck. */
static void test_forest(void **state)
{
    (void)state;
    static const int widths[] = { 1, 32 };
    struct op *large = large_op();
    struct space *sp = space_of(large);
    int64_t a[120], b[120];
    for (int i = 0; i < 2; i++) {
        int best = play_bits(sp, 3, widths[i], 120, a);
        assert_int_equal(play_bits(sp, 3, widths[i], 120, b), best);
        assert_memory_equal(a, b, sizeof a);
        best += play_bits(sp, 4, widths[i], 120, b) + play_bits(sp, 5, widths[i], 120, b);
        assert_in_range(best, 0, 30);
    }
    play_bits(sp, 4, widths[1], 120, b);
    assert_memory_not_equal(a, b, sizeof a);
    space_free(sp);
    op_free(large);
}

/* No more than the compilers need is out at a time, so that the rest is chosen with what these teach. A better cost may be below 0. */
static void test_forest_waits(void **state)
{
    (void)state;
    struct op *large = large_op();
    struct space *sp = space_of(large);
    struct search *s = start("forest", sp, 5);
    struct err err;
    int64_t index[40];
    assert_int_equal(ask(s, 32, index), 20);
    assert_int_equal(ask(s, 12, index + 20), 0);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(search_tell(s, index[i], OUT_OK, 1000, -1000.0 + i, &err), 0);
        assert_int_equal(ask(s, 13, index + 20 + i), 1);
    }
    search_close(s);
    space_free(sp);
    op_free(large);
}

/* -- strategies of our own -- */

static struct search *open_script(const char *script, struct err *err)
{
    char path[] = "/tmp/cutune-strategy-XXXXXX.lua";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, strlen(script)), (ssize_t)strlen(script));
    close(fd);
    struct search *s = NULL;
    int rc = search_open(SOURCE_DIR, path, space, 11, NULL, &s, err);
    unlink(path);
    assert_int_equal(rc == 0, s != NULL);
    return s;
}

static void test_what_a_strategy_sees(void **state)
{
    (void)state;
    struct err err;
    struct search *s =
        open_script("return function(space, seed)\n"
                    "  assert(seed == 11 and space:count() == 15)\n"
                    "  for _, name in ipairs { 'io', 'os', 'debug', 'package', 'require', 'load', 'loadfile', 'dofile' } do\n"
                    "    assert(_G[name] == nil, name)\n"
                    "  end\n"
                    "  assert(math.random == nil and math.randomseed == nil)\n"
                    "  local v = space:variants()\n"
                    "  assert(#v == 2 and v[1].name == 'tile' and v[1].first == 0 and v[1].count == 12)\n"
                    "  assert(v[2].name == 'plain' and v[2].first == 12 and v[2].count == 3)\n"
                    "  for i = 0, 14 do\n"
                    "    local c = space:config(i)\n"
                    "    assert(space:find(c) == i)\n"
                    "    if c.variant == 'tile' then assert(c.ROWS <= c.TILE // 8 and (c.GRID == 'x' or c.GRID == 'xy')) end\n"
                    "  end\n"
                    "  assert(space:config(13).SCALE == 1.0)\n"
                    "  assert(space:find { variant = 'tile', TILE = 8, ROWS = 4, GRID = 'x' } == nil)\n" /* removed */
                    "  assert(space:find { variant = 'tile', TILE = 9, ROWS = 1, GRID = 'x' } == nil)\n" /* no such value */
                    "  assert(space:find { variant = 'tile', TILE = 8 } == nil and space:find {} == nil)\n"
                    "  assert(space:find { variant = 'plain', SCALE = 1 } == 13)\n"
                    "  assert(not pcall(space.config, space, 15) and not pcall(space.config, space, -1))\n"
                    "  assert(not pcall(random, 0))\n"
                    "  for i = 1, 100 do local r = random(3) assert(r == 0 or r == 1 or r == 2) end\n"
                    "  assert(random(math.maxinteger) >= 0)\n"
                    "  assert(v[1].params[1].name == 'TILE' and v[1].params[3].values[2] == 'x' and #v[2].params == 1)\n"
                    "  for i = 0, 14 do\n" /* neighbours, by comparing all pairs */
                    "    local c, any, step = space:config(i), {}, {}\n"
                    "    for _, j in ipairs(space:neighbours(i)) do any[j] = true end\n"
                    "    for _, j in ipairs(space:neighbours(i, 'step')) do step[j] = true assert(any[j]) end\n"
                    "    for j = 0, 14 do\n"
                    "      local d, differ = space:config(j), 0\n"
                    "      for name, value in pairs(c) do if d[name] ~= value then differ = differ + 1 end end\n"
                    "      assert((any[j] or false) == (differ == 1 and c.variant == d.variant), i .. ' ' .. j)\n"
                    "    end\n"
                    "    local around = {}\n"
                    "    for _, j in ipairs(space:neighbours(i, 'around')) do around[j] = true end\n"
                    "    for j = 0, 14 do\n"
                    "      local d = space:config(j)\n"
                    "      local near = i ~= j and c.variant == d.variant\n"
                    "      for _, p in ipairs(v[c.variant == 'tile' and 1 or 2].params) do\n"
                    "        local at = {}\n"
                    "        for k, value in ipairs(p.values) do at[value] = k end\n"
                    "        near = near and math.abs(at[c[p.name]] - at[d[p.name]]) <= 1\n"
                    "      end\n"
                    "      assert((around[j] or false) == near, i .. ' ' .. j)\n"
                    "    end\n"
                    "    assert(space:near(c) == i and (next(step) ~= nil) == (next(any) ~= nil))\n"
                    "  end\n"
                    "  assert(not pcall(space.neighbours, space, 15) and not pcall(space.neighbours, space, 1, 'far'))\n"
                    "  local n = space:config(space:near { variant = 'tile', TILE = 15, ROWS = 4, GRID = 'xy' })\n"
                    "  assert(n.variant == 'tile' and n.TILE == 16 and n.GRID == 'xy')\n"
                    "  assert(space:near { variant = 'tile' } and space:near {} == nil)\n"
                    "  return { ask = function() return {} end }\n"
                    "end\n",
                    &err);
    if (!s)
        fail_msg("%s", err.msg);
    search_close(s);
}

/* Outcomes arrive, in the order told, before the next question. */
static void test_tell(void **state)
{
    (void)state;
    struct err err;
    struct search *s = open_script("return function(space)\n"
                                   "  local told = {}\n"
                                   "  return {\n"
                                   "    tell = function(list) for _, o in ipairs(list) do told[#told + 1] = o end end,\n"
                                   "    ask = function(k)\n"
                                   "      if #told == 0 then return { 14 } end\n"
                                   "      assert(#told == 3000)\n"
                                   "      for i, o in ipairs(told) do assert(o.index == i % 15) end\n"
                                   "      assert(told[1].outcome == 'ok' and told[1].time_ns == 2.5)\n"
                                   "      assert(told[2].outcome == 'compile-error')\n"
                                   "      return { 2, 0, 1 }\n"
                                   "    end }\n"
                                   "end\n",
                                   &err);
    int64_t index[8];
    assert_non_null(s);
    assert_int_equal(ask(s, 5, index), 1);
    assert_int_equal(index[0], 14);
    for (int i = 1; i <= 3000; i++) /* more than a socket holds */
        assert_int_equal(search_tell(s, i % COUNT, i % 2 ? OUT_OK : OUT_COMPILE_ERROR, 2.5 * i, 2.5 * i, &err), 0);
    assert_int_equal(ask(s, 5, index), 3);
    assert_int_equal(index[0], 2);
    assert_int_equal(index[2], 1);
    search_close(s);
}

static void test_files_that_do_not_load(void **state)
{
    (void)state;
    static const struct {
        const char *script, *part;
        bool memory;
    } cases[] = {
        { "return function(", ".lua:1:", false },
        { "\n\nlocal x = nil + 1", ".lua:3: attempt to perform arithmetic on a nil value", false },
        { "return 5", "has to return a function(space, seed)", false },
        { "return function() end", "its function has to return a table: { ask = ask }, or { ask = ask, tell = tell }", false },
        { "return function() return {} end", "no function ask(k)", false },
        { "return function() return { ask = print, tell = 1 } end", "tell has to be a function", false },
        { "error({})", "error() was called without a text", false },
        { "return ('x'):rep(1 << 30)", "lua: the strategy needs more than its 1024 MB of memory", true },
        { "\x1bLua", "compiled Lua: a script is wanted as text", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = { 0 };
        struct search *s = open_script(cases[i].script, &err);
        assert_null(s);
        assert_int_equal(err.code, cases[i].memory ? ERR_NOMEM : ERR_INVALID);
        lacks(err.msg, cases[i].part);
    }
}

static void test_answers_that_are_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *ask, *part;
    } cases[] = {
        { "return { 15 }", "ask gave 15, which is no index" },
        { "return { -1 }", "ask gave -1, which is no index" },
        { "return { 1.5 }", "ask gave 1.5, which is no index" },
        { "return { '1' }", "which is no index" },
        { "return { 3, 3 }", "ask gave index 3 twice" },
        { "return { 0, 1, 2, 3 }", "ask(3) gave 4 indices" },
        { "return 7", "ask has to return a table of indices, or \"done\", not number" },
        { "", "not nil" },
        { "return 'Done'", "not string" },
        { "return nil .. k", ".lua:1: attempt to concatenate a nil value" },
        { "local function f() return 1 + f() end return { f() }", "stack overflow" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char script[256];
        snprintf(script, sizeof script, "return function(space) return { ask = function(k) %s end } end", cases[i].ask);
        struct err err = { 0 };
        struct search *s = open_script(script, &err);
        int64_t index[3];
        int n = -1;
        assert_non_null(s);
        assert_int_equal(search_ask(s, 3, &err), 0);
        assert_int_equal(search_answer(s, index, &n, &err), ERR_INVALID);
        assert_int_equal(n, 0);
        lacks(err.msg, cases[i].part);
        assert_true(search_ask(s, 3, &err) < 0); /* it has ended */
        search_close(s);
    }
}

/* Nothing now is an answer, and no end; done is one. */
static void test_nothing_now(void **state)
{
    (void)state;
    struct err err;
    struct search *s = open_script("return function(space)\n"
                                   "  local heard = 0\n"
                                   "  return {\n"
                                   "    tell = function(list) heard = heard + #list end,\n"
                                   "    ask = function(k) return heard == 0 and {} or heard == 1 and { 3 } or 'done' end }\n"
                                   "end\n",
                                   &err);
    int64_t index[4];
    assert_non_null(s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ask(s, 4, index), 0);
        assert_false(s->done);
    }
    assert_int_equal(search_tell(s, 0, OUT_OK, 1, 1, &err), 0);
    assert_int_equal(ask(s, 4, index), 1);
    assert_int_equal(search_tell(s, 3, OUT_OK, 1, 1, &err), 0);
    assert_int_equal(ask(s, 4, index), 0);
    assert_true(s->done);
    search_close(s);
}

/* Loading one is bounded by the run's budget, and by the user's signal. */
static void test_loading_has_an_end(void **state)
{
    (void)state;
    char path[] = "/tmp/cutune-strategy-XXXXXX.lua";
    static const char endless[] = "while true do end";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, endless, strlen(endless)), strlen(endless));
    close(fd);
    const volatile sig_atomic_t stop = 1;
    const struct patience bounds[] = { patience_of(0.05, NULL), patience_of(1e9, &stop) };
    for (int i = 0; i < 2; i++) {
        struct err err;
        struct search *s = NULL;
        int64_t begun = clock_ns();
        assert_int_equal(search_open(SOURCE_DIR, path, space, 1, &bounds[i], &s, &err), ERR_TIMEOUT);
        assert_int_equal(search_open(SOURCE_DIR, path, space, 1, &bounds[i], &s, NULL), ERR_TIMEOUT);
        lacks(err.msg, path);
        assert_true(clock_ns() - begun < 9000000000);
    }
    unlink(path);
}

static void test_misuse(void **state)
{
    (void)state;
    struct err err;
    struct search *s = NULL;
    assert_int_equal(search_open(SOURCE_DIR, "no_such", space, 1, NULL, &s, &err), ERR_NOTFOUND);
    lacks(err.msg, "no_such.lua");
    assert_int_equal(search_open(SOURCE_DIR, "a b", space, 1, NULL, &s, &err), ERR_INVALID);
    assert_int_equal(search_open(SOURCE_DIR, "no/such", space, 1, NULL, &s, NULL), ERR_NOTFOUND);
    assert_null(s);
    s = start("exhaustive", space, 1);
    int64_t index[4];
    int n;
    assert_int_equal(search_answer(s, index, &n, &err), ERR_INVALID);
    assert_int_equal(search_ask(s, 0, &err), ERR_INVALID);
    assert_int_equal(search_ask(s, 4, &err), 0);
    assert_int_equal(search_ask(s, 4, &err), ERR_INVALID);
    assert_int_equal(search_answer(s, index, &n, &err), 0);
    assert_int_equal(n, 4);
    search_close(s);
    search_close(NULL);
}

/* -- children that are no good: the test answers itself -- */

static const unsigned char ready[] = { 1, 0, 0, 0, WIRE_READY };

/* A search over 100 configurations whose child has said these bytes; *other is the child's end. */
static int adopt(const void *said, size_t n, int *other, struct search **s, struct err *err)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(send(fds[1], said, n, 0), (ssize_t)n);
    *other = fds[1];
    if (!n)
        shutdown(fds[1], SHUT_WR);
    return search_adopt("fake", (struct forked){ .channel.fd = fds[0] }, 100, NULL, s, err);
}

/* What comes of one answer of these bytes. */
static int answered(const unsigned char *bytes, size_t n, int64_t index[4], int *count, struct err *err)
{
    struct search *s = NULL;
    int other;
    assert_int_equal(adopt(ready, sizeof ready, &other, &s, err), 0);
    assert_int_equal(search_ask(s, 4, err), 0);
    assert_int_equal(send(other, bytes, n, 0), (ssize_t)n);
    close(other);
    int rc = search_answer(s, index, count, err);
    search_close(s);
    return rc;
}

static void test_garbage(void **state)
{
    (void)state;
    static const struct {
        unsigned char bytes[32];
        size_t n;
        int rc;
    } cases[] = {
        { { 0 }, 0, ERR_IO },                                                                     /* nothing */
        { { 13, 0 }, 2, ERR_IO },                                                                 /* cut */
        { { 0, 0, 0, 0 }, 4, ERR_CORRUPT },                                                       /* empty */
        { { 255, 255, 255, 255 }, 4, ERR_CORRUPT },                                               /* huge */
        { { 1, 0, 0, 0, WIRE_INDICES }, 5, ERR_CORRUPT },                                         /* no count */
        { { 1, 0, 0, 0, WIRE_READY }, 5, ERR_CORRUPT },                                           /* another kind */
        { { 1, 0, 0, 0, WIRE_ERROR }, 5, ERR_CORRUPT },                                           /* no text */
        { { 2, 0, 0, 0, WIRE_DONE, 0 }, 6, ERR_CORRUPT },                                         /* done, and more */
        { { 5, 0, 0, 0, WIRE_INDICES, 1, 0, 0, 0 }, 9, ERR_CORRUPT },                             /* fewer than it says */
        { { 13, 0, 0, 0, WIRE_INDICES, 1, 0, 0, 0, 100 }, 17, ERR_CORRUPT },                      /* not of the space */
        { { 13, 0, 0, 0, WIRE_INDICES, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 128 }, 17, ERR_CORRUPT }, /* negative */
        { { 13, 0, 0, 0, WIRE_INDICES, 1, 0, 0, 0, 99 }, 17, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t index[4];
        int n;
        struct err err;
        assert_int_equal(answered(cases[i].bytes, cases[i].n, index, &n, &err), cases[i].rc);
        assert_int_equal(n, cases[i].rc == 0);
        if (n)
            assert_int_equal(index[0], 99);
    }
}

static void test_random_garbage(void **state)
{
    (void)state;
    uint64_t place = 0;
    for (int i = 0; i < 3000; i++) {
        unsigned char bytes[48];
        size_t n = rand_at(5, place++) % sizeof bytes;
        for (size_t b = 0; b < n; b++)
            bytes[b] = (unsigned char)rand_at(5, place++);
        if (n > 4) { /* most with a length that fits, and a kind */
            memcpy(bytes, (unsigned char[]){ (unsigned char)(n - 4), 0, 0, 0, (unsigned char)(1 + bytes[4] % 6) }, 5);
            if (n > 8)
                memset(bytes + 6, 0, 3);
        }
        int64_t index[4];
        int count;
        if (answered(bytes, n, index, &count, NULL))
            assert_int_equal(count, 0);
        for (int c = 0; c < count; c++)
            assert_in_range(index[c], 0, 99);
    }
}

/* A child that dies is an error that says how, and no signal for us. */
static void test_death(void **state)
{
    (void)state;
    struct search *s = NULL;
    struct err err;
    int fds[2];
    int other;
    assert_int_equal(adopt("", 0, &other, &s, &err), ERR_IO);
    close(other);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(fds[0]);
        if (send(fds[1], ready, sizeof ready, 0) && recv(fds[1], &byte, 1, 0) >= 0)
            raise(SIGKILL);
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(search_adopt("fake", (struct forked){ .channel.fd = fds[0], .pid = pid }, 100, NULL, &s, &err), 0);
    int64_t index[4];
    int n;
    assert_int_equal(search_ask(s, 4, &err), 0);
    assert_int_equal(search_answer(s, index, &n, &err), ERR_IO);
    lacks(err.msg, "signal 9");
    for (int i = 0; i < 3; i++)
        assert_int_equal(search_ask(s, 4, &err), ERR_IO);
    assert_int_equal(search_tell(s, 0, OUT_OK, 1, 1, &err), 0); /* nobody is there to hear it */
    search_close(s);
}

/* Also where nothing was asked of it: its end is what its socket is readable for. */
static void test_death_unasked(void **state)
{
    (void)state;
    struct err err;
    int64_t index[4];
    int n, fds[2];
    struct search *s = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (send(fds[1], ready, sizeof ready, 0) > 0)
            pause();
        _exit(0);
    }
    close(fds[1]);
    assert_int_equal(search_adopt("fake", (struct forked){ .channel.fd = fds[0], .pid = pid }, 100, NULL, &s, &err), 0);
    assert_int_equal(search_answer(s, index, &n, &err), ERR_INVALID);
    lacks(err.msg, "without a question");
    kill(pid, SIGKILL);
    struct pollfd p = { .fd = s->child.channel.fd, .events = POLLIN };
    assert_int_equal(poll(&p, 1, -1), 1);
    assert_int_equal(search_answer(s, index, &n, &err), ERR_IO);
    lacks(err.msg, "signal 9");
    assert_int_equal(search_answer(s, index, &n, &err), ERR_IO);
    search_close(s);
}

/* A child that says nothing costs the deadline, not the run. */
static void test_silence(void **state)
{
    (void)state;
    struct search *s = NULL;
    struct err err;
    int other, n;
    int64_t index[4];
    assert_int_equal(adopt(ready, sizeof ready, &other, &s, &err), 0);
    assert_int_equal(search_ask(s, 4, &err), 0);
    assert_int_equal(search_answer(s, index, &n, &err), ERR_TIMEOUT);
    search_close(s);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_is_uniform),
        cmocka_unit_test(test_random_in_a_large_space),
        cmocka_unit_test(test_forest),
        cmocka_unit_test(test_forest_waits),
        cmocka_unit_test(test_what_a_strategy_sees),
        cmocka_unit_test(test_tell),
        cmocka_unit_test(test_files_that_do_not_load),
        cmocka_unit_test(test_answers_that_are_wrong),
        cmocka_unit_test(test_nothing_now),
        cmocka_unit_test(test_loading_has_an_end),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_random_garbage),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_death_unasked),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
