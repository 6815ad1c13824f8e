/* A small op, a device and records of it, for the tests of store, runtime and export. */
#ifndef UNIT_STORE_SAMPLE_H
#define UNIT_STORE_SAMPLE_H

#include <sys/stat.h>

#include <sqlite3.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/store.h"
#include "unit.h"

/* Everything is static storage: an op that is never freed. */
static inline const struct op *sample_op(void)
{
    static struct axis axes[] = { { "m", AXIS_SIZE, NULL, NULL }, { "n", AXIS_SIZE, NULL, NULL } };
    static const char *types[] = { "T" };
    static const struct dtype *rows[2];
    static struct arg args[] = {
        { .name = "out", .kind = ARG_OUTPUT, .type = "T", .rank = 2, .extent = { "n", "m" } },
        { .name = "in", .kind = ARG_INPUT, .type = "T", .rank = 2, .extent = { "m", "n" } },
        { .name = "m", .kind = ARG_VALUE, .value = "m" },
        { .name = "n", .kind = ARG_VALUE, .value = "n", .type = "i64" },
    };
    static struct val tiles[] = { { VAL_INT, { .i = 32 } }, { VAL_INT, { .i = 8 } }, { VAL_INT, { .i = 64 } } };
    static struct val grids[] = { { VAL_STR, { .s = "xy" } }, { VAL_STR, { .s = "x" } } };
    static struct val flags[] = { { VAL_BOOL, { .b = true } }, { VAL_BOOL, { .b = false } } };
    static struct val scales[] = { { VAL_FLOAT, { .f = 0.5 } }, { VAL_FLOAT, { .f = 1.5 } } };
    static struct param params[] = { { "TILE", 3, tiles }, { "GRID", 2, grids }, { "PAD", 2, flags }, { "SCALE", 2, scales } };
    static const char *where[] = { "TILE <= 64", "GRID == 'x' or ceildiv(m,TILE) <= 65535" };
    static int all[] = { 0, 1, 2, 3, 4 };
    static struct launch launches[] = {
        { .kernel = "transpose",
          .grid = { "GRID == 'xy' and ceildiv(n,TILE) or ceildiv(n,TILE)*ceildiv(m,TILE)",
                    "GRID == 'xy' and ceildiv(m,TILE) or 1" },
          .block = { "TILE", "8" },
          .shared = "TILE*(TILE+1)*sizeof(T)",
          .nargs = 5,
          .args = all },
        { .kernel = "finish", .nargs = 1, .args = all },
    };
    static struct workspace workspaces[] = { { "partial", "T", "ceildiv(n,TILE)", true } };
    static struct need needs[] = { { NEED_ALIGN, 1, "sizeof(T)*2" }, { NEED_NOALIAS, 0, NULL } };
    static int clear[] = { 0 };
    static struct variant variants[] = {
        { .name = "tile",
          .template_name = "t.cu",
          .template_text = "...",
          .nparams = 4,
          .params = params,
          .nwhere = 2,
          .where = where,
          .nlaunches = 2,
          .launches = launches,
          .nworkspaces = 1,
          .workspaces = workspaces,
          .nneeds = 2,
          .needs = needs,
          .nclear = 1,
          .clear = clear },
    };
    static struct op_default defaults[2];
    static const struct op op = {
        .name = "transpose",
        .file = "transpose.lua",
        .naxes = 2,
        .axes = axes,
        .ntypes = 1,
        .types = types,
        .nrows = 2,
        .rows = rows,
        .nargs = 4,
        .args = args,
        .work_bytes = "2*m*n*sizeof(T)",
        .nvariants = 1,
        .variants = variants,
        .ndefaults = 2,
        .defaults = defaults,
    };
    rows[0] = dtype_find("f32");
    rows[1] = dtype_find("i32");
    return &op;
}

static inline struct devspec sample_device(void)
{
    return (struct devspec){
        .backend = "cuda",
        .name = "NVIDIA H200",
        .arch = "sm_90",
        .multiprocessors = 132,
        .memory = 150754820096,
        .uuid = "GPU-1",
        .driver = "580.1",
        .cc = 90,
        .warp = 32,
        .l2 = 60 << 20,
        .max_threads = 1024,
        .max_block = { 1024, 1024, 64 },
        .max_grid = { 2147483647, 65535, 65535 },
        .max_shared = 232448,
        .max_static_shared = 49152,
        .max_alloc = 150754820096,
        .fp64 = true,
    };
}

/* at[0]: TILE, at[1]: GRID */
static inline struct config sample_config(int tile, int grid)
{
    return (struct config){ .at = { (uint16_t)tile, (uint16_t)grid } };
}

static inline struct tuned *sample_tuned(const struct config *c, double time_ns)
{
    struct tuned *t;
    assert_int_equal(tuned_of(sample_op(), c, &t, NULL), 0);
    hash_hex(c, sizeof *c, t->key);
    t->time_ns = time_ns;
    t->copy_ns = time_ns / 2;
    t->source = "void transpose() {\n}\n";
    t->binary = "\x7f"
                "ELF\0rest";
    t->binary_bytes = 9;
    t->format = "cubin";
    t->arch = "sm_90";
    t->compiler = "NVRTC 13.0";
    return t;
}

/* As the sample op's variant is; null without memory. */
static inline const char *sample_made(void)
{
    static char made[HASH_HEX];
    return variant_made(sample_op(), &sample_op()->variants[0], made, NULL) ? NULL : made;
}

/* A target for (m, n) in f32, with a measurement and a winner of TILE=8. */
static inline struct target sample_winner(struct store *s, int64_t m, int64_t n)
{
    struct devspec dev = sample_device();
    struct problem p = { { m, n } };
    struct config c = sample_config(1, 0);
    struct target t;
    struct err err = { 0 };
    if (store_target(s, &dev, sample_op(), &p, 0, true, &t, &err))
        fail_msg("%s", err.msg);
    struct tuned *k = sample_tuned(&c, 1000);
    double samples[] = { 999, 1000, 1001 };
    struct measured done = { .variant = "tile", .json = k->json, .made = sample_made() };
    done.result = (struct result){ .outcome = OUT_OK, .nsamples = 3, .samples = samples, .resources = { -1, -1, -1, -1 } };
    memcpy(done.key, k->key, HASH_HEX);
    assert_int_equal(stats_of(samples, 3, &done.result.stats, &err), 0);
    if (store_measured(s, &t, &done, &err) || store_winner(s, &t, k, &err))
        fail_msg("%s", err.msg);
    tuned_free(k);
    return t;
}

/* Two defaults: GRID=xy, which needs m <= 65535*32, and GRID=x. */
static inline void sample_defaults(struct store *s)
{
    struct devspec dev = sample_device();
    struct err err = { 0 };
    for (int rank = 0; rank < 2; rank++) {
        struct config c = sample_config(0, rank);
        struct tuned *k = sample_tuned(&c, 0);
        k->role = TUNED_DEFAULT;
        k->rank = rank;
        if (store_default(s, &dev, sample_op(), 0, k, &err))
            fail_msg("%s", err.msg);
        tuned_free(k);
    }
}

/* What a file says of the configuration of sample_winner, and of the same problem, on another device. */
static inline enum claim_fate sample_claim_of(struct store *s, enum outcome outcome, double ns, const char *when)
{
    struct config c = sample_config(1, 0);
    struct buf json = { 0 };
    struct err err = { 0 };
    enum claim_fate fate = CLAIM_ADDED;
    double samples[] = { ns, ns, ns };
    config_print_json(&json, sample_op(), &c);
    struct record claim = { .dev = { .name = "NVIDIA A100" },
                            .op = "transpose",
                            .types = "f32",
                            .sizes = "m=1111,n=113",
                            .cache = "cold",
                            .file = "results.json",
                            .tool = "T4",
                            .driver = "",
                            .when = when,
                            .measured = { .variant = "tile", .json = buf_text(&json) } };
    claim.measured.result = (struct result){
        .outcome = outcome, .nsamples = 3, .samples = samples, .stats = { .median = ns }, .resources = { -1, -1, -1, -1 }
    };
    if (store_claim(s, sample_op(), &claim, &fate, &err))
        fail_msg("%s", err.msg);
    buf_free(&json);
    return fate;
}

static inline void sample_claim(struct store *s)
{
    sample_claim_of(s, OUT_OK, 900, "2026-01-01T00:00:00Z");
}

static inline struct store *open_at(const char *name, enum store_mode mode)
{
    struct store *s;
    struct err err = { 0 };
    if (store_open(in_dir(name), mode, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

/* Bends an op or a kernel in one place, which `what` names. */
/* What form 4 has beyond the others, of the first launch and of the op. */
static inline void bend_form_4(struct op *op, const char *what, const char *value)
{
    static const struct launch_value k = { "k", "i64", "ROUND" };
    static const struct view of_in = { .arg = 1, .rank = 2, .box = { "4", "4" } };
    struct launch *l = op->nvariants ? op->variants->launches : NULL;
    if (l && !strcmp(what, "times"))
        l->rounds = value;
    if (l && !strcmp(what, "when"))
        l->when = value;
    if (l && !strcmp(what, "cluster"))
        l->cluster[0] = value;
    if (l && !strcmp(what, "together"))
        l->together = true;
    if (l && !strncmp(what, "swap", 4)) {
        l->swaps = arena_array(op->arena, 2, sizeof *l->swaps);
        l->swaps[1] = atoi(value);
        l->nswaps = strcmp(what, "swap") ? 1 : 2;
    }
    if (l && !strncmp(what, "value ", 6)) {
        l->values = memcpy(arena_array(op->arena, l->nvalues = 1, sizeof k), &k, sizeof k);
        *(!strcmp(what, "value name")   ? &l->values->name
          : !strcmp(what, "value type") ? &l->values->type
                                        : &l->values->value) = value;
    }
    if (l && !strncmp(what, "view ", 5)) {
        l->views = memcpy(arena_array(op->arena, l->nviews = 1, sizeof of_in), &of_in, sizeof of_in);
        l->views->arg = strcmp(what, "view arg") ? 1 : atoi(value);
        l->views->rank = strcmp(what, "view rank") ? 2 : atoi(value);
        l->views->box[1] = strcmp(what, "view box") ? "4" : value;
    }
    if (!strcmp(what, "axis 0 max"))
        op->axes[0].max = value;
    if (!strcmp(what, "constant"))
        op->args[1].constant = value;
    if (!strcmp(what, "objective"))
        op->objective = value;
    if (!strcmp(what, "takes")) {
        op->where = arena_array(op->arena, op->nwhere = 1, sizeof *op->where);
        op->where[0] = value;
    }
}

static inline void bend_op(struct op *op, const char *what, const char *value)
{
    int number = atoi(value);
    struct variant *v = op->nvariants ? op->variants : NULL;
    bend_form_4(op, what, value);
    for (int i = 0; v && i < v->nlaunches; i++)
        if (!strcmp(what, "grid"))
            v->launches[i].grid[0] = value;
        else if (!strcmp(what, "block"))
            v->launches[i].block[0] = value;
        else if (!strcmp(what, "launch args"))
            v->launches[i].args[0] = number;
    for (int i = 0; v && i < v->nparams; i++)
        if (!strcmp(what, "params") || (!strcmp(what, "param 0") && i == 0))
            v->params[i].name = value;
        else if (!strcmp(what, "words") && v->params[i].values->type == VAL_STR)
            v->params[i].values->s = value;
    for (int i = 0; v && i < v->nneeds; i++)
        if (!strcmp(what, "need.arg"))
            v->needs[i].arg = number;
        else if (!strcmp(what, "need.bytes") && v->needs[i].bytes)
            v->needs[i].bytes = value;
    if (!strcmp(what, "need.noalias") && v && v->nneeds == 2) { /* the second of the sample's */
        v->needs[0] = v->needs[1];
        v->nneeds = 1;
    }
    if (!strcmp(what, "where") && v)
        for (int i = 0; i < v->nwhere; i++)
            v->where[i] = value;
    if (!strcmp(what, "workspace.type") && v)
        v->workspaces->type = value;
    if (!strcmp(what, "workspace.count") && v)
        v->workspaces->count = value;
    if (!strcmp(what, "clear") && v && v->nclear)
        v->clear[0] = number;
    if (!strcmp(what, "clears") && v)
        v->nclear = number;
    if (!strcmp(what, "backend") && v)
        v->requires.backend = value;
    if (!strcmp(what, "cc") && v)
        v->requires.cc = number;
    if (!strcmp(what, "name"))
        op->name = value;
    if (!strcmp(what, "axis 0"))
        op->axes[0].name = value;
    if (!strcmp(what, "axis 0 kind"))
        op->axes[0].kind = (enum axis_kind)number;
    if (!strcmp(what, "axes") && number == op->naxes + 1) {
        struct axis *more = arena_array(op->arena, (size_t)number, sizeof *more);
        memcpy(more, op->axes, (size_t)op->naxes * sizeof *more);
        more[op->naxes++] = (struct axis){ "batch", AXIS_BATCH, NULL, NULL };
        op->axes = more;
    }
    int which;
    if (sscanf(what, "arg %d kind", &which) == 1 && which >= 0 && which < op->nargs)
        op->args[which].kind = (enum arg_kind)number;
    if (!strcmp(what, "arg 2"))
        op->args[2].name = value;
    for (int i = 0; i < op->nargs; i++)
        if (!strcmp(what, "values") && op->args[i].kind == ARG_VALUE)
            op->args[i].value = value;
        else if (!strcmp(what, "extent 0") && op->args[i].rank)
            op->args[i].extent[0] = value;
        else if (!strcmp(what, "arg types") && op->args[i].kind != ARG_VALUE)
            op->args[i].type = value;
    if (!strcmp(what, "work"))
        op->work_bytes = value;
    if (!strcmp(what, "rows"))
        op->nrows = number;
}

/* bend(bytes, what, value), in SQL. */
static inline void bend(sqlite3_context *context, int n, sqlite3_value **v)
{
    struct op *op = NULL;
    struct buf out = { 0 };
    struct cursor in = cursor_on(sqlite3_value_blob(v[0]), (size_t)sqlite3_value_bytes(v[0]));
    (void)n;
    if (op_get(&in, false, &op, NULL)) {
        sqlite3_result_error(context, "not an op", -1);
        return;
    }
    bend_op(op, (const char *)sqlite3_value_text(v[1]), (const char *)sqlite3_value_text(v[2]));
    op_put(&out, op);
    sqlite3_result_blob(context, out.data, (int)out.len, SQLITE_TRANSIENT);
    buf_free(&out);
    op_free(op);
}

/* Runs SQL on the file as another program would: no constraints hold it back. */
static inline void meddle(const char *name, const char *sql)
{
    sqlite3 *db;
    char *said = NULL;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1; PRAGMA foreign_keys = 0", NULL, NULL, NULL);
    sqlite3_create_function(db, "bend", 3, SQLITE_UTF8, NULL, bend, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &said))
        fail_msg("%s: %s", sql, said);
    sqlite3_close(db);
}

static inline int64_t ask_number(const char *name, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(in_dir(name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return v;
}

static inline int find_winner(struct store *s, const char *problem, struct tuned **out, struct err *err)
{
    struct devspec dev = sample_device();
    return store_find_winner(s, &dev, "transpose", "f32", problem, out, err);
}

static inline struct measured measurement(char digit, const char *json)
{
    struct measured m = { .variant = "tile", .json = json, .made = sample_made() };
    memset(m.key, digit, HASH_HEX - 1);
    m.result.resources = (struct resources){ -1, -1, -1, -1 };
    return m;
}

#endif
