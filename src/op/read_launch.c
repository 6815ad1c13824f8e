/* The launches of a variant, or of the reference: what is launched, with what, and how often. */
#include <string.h>

#include "op/read.h"

/* How many arguments and workspaces there are. */
static int buffers_of(const struct reader *r)
{
    return r->op->nargs + r->variant->nworkspaces;
}

static int arg_index(const struct reader *r, const char *name)
{
    for (int i = 0; i < r->op->nargs; i++)
        if (strcmp(r->op->args[i].name, name) == 0)
            return i;
    for (int i = 0; i < r->variant->nworkspaces; i++)
        if (strcmp(r->variant->workspaces[i].name, name) == 0)
            return r->op->nargs + i;
    for (int i = 0; r->launch && i < r->launch->nvalues; i++)
        if (strcmp(r->launch->values[i].name, name) == 0)
            return buffers_of(r) + i;
    return -1;
}

void read_arg_name(struct reader *r, void *out)
{
    const char *name;
    read_text(r, &name);
    *(int *)out = arg_index(r, name);
    if (*(int *)out < 0)
        fail(r, "there is no argument%s '%.80s'", r->variant->nworkspaces ? " and no workspace" : "", name);
}

/* One expression, or a list of up to three. */
static void read_extents(struct reader *r, void *out)
{
    static const struct list list = { read_expr, 1, 3, sizeof(char *), "entry %d: ", true };
    read_one_or_list(r, &list, out);
}

static void read_kernel_name(struct reader *r, void *out)
{
    read_text(r, out);
    const char *name = *(const char **)out;
    if (strpbrk(name, "<:(") ? !entry_ok(name) : !name_ok(name))
        fail(r,
             "'%.80s' is no name of a kernel: a letter or _, then letters, digits, _, at most %d; or C++ for it, space::name<T, 4>",
             name, MAX_NAME);
}

/* "n", or { "rounds", "steps" }. */
static void read_times(struct reader *r, void *out)
{
    static const struct list list = { read_expr, 2, 2, sizeof(char *), "entry %d: ", true };
    struct launch *l = out;
    const char *counts[2] = { NULL };
    read_one_or_list(r, &list, counts);
    l->rounds = counts[0];
    l->steps = counts[1];
}

static void read_pair(struct reader *r, void *out)
{
    static const struct list names = { read_arg_name, 2, 2, sizeof(int), "name %d: ", true };
    read_list(r, &names, strlen(r->where), out);
}

/* A value: "expression", or { "expression", "i32" }. */
static void read_launch_value(struct reader *r, void *out)
{
    static const struct list parts = { read_expr, 2, 2, sizeof(char *), "entry %d: ", true };
    struct launch_value *v = out;
    const char *given[2] = { NULL, "i64" };
    read_one_or_list(r, &parts, given);
    v->value = given[0];
    v->type = given[1];
    if (!dtype_find(v->type))
        fail(r, "'%.80s' is no element type", v->type);
}

static void read_launch_values(struct reader *r, void *out)
{
    static const struct list values = { read_launch_value,        0,    MAX_LAUNCH_VALUES, sizeof(struct launch_value),
                                        "{ k = \"1 << ROUND\" }", false };
    struct launch *l = out;
    l->nvalues = read_named(r, &values, &l->values);
}

/* MAX_ARGS of the op's and the variant's, and its own values. */
enum { MAX_LAUNCH_ARGS = MAX_ARGS + MAX_LAUNCH_VALUES };
static const struct list swaps = { read_pair, 1, MAX_ARGS, 2 * sizeof(int), "swap: entry %d: ", false };

static bool is_texture(struct reader *r)
{
    lua_pushstring(r->L, "kind");
    bool is = lua_rawget(r->L, -2) == LUA_TSTRING && !strcmp(lua_tostring(r->L, -1), "texture");
    lua_pop(r->L, 1);
    return is;
}

/* In the order of enum texture_address. */
static void read_address_word(struct reader *r, void *out)
{
    int word;
    read_word(r, "clamp border wrap mirror", &word);
    *(enum texture_address *)out = (enum texture_address)word;
}

static void read_address(struct reader *r, void *out)
{
    static const struct list each = { read_address_word, 1, TEXTURE_RANK, sizeof(enum texture_address), "entry %d: ", true };
    struct texture_mode *mode = out;
    mode->naddress = read_one_or_list(r, &each, mode->address);
}

static void read_texture(struct reader *r, struct view *v)
{
    static const struct list extent = { read_expr, 1, TEXTURE_RANK, sizeof(char *), "extent: entry %d: ", true },
                             stride = { read_expr, 0, TEXTURE_RANK - 1, sizeof(char *), "stride: entry %d: ", true };
    struct texture_mode *mode = &v->mode;
    int kind, filter = 0, read = 0;
    read_table(r, "kind arg extent stride channels filter address normalized read array layered", "WFllxwfbwbb", "texture", &kind,
               read_arg_name, &v->arg, &extent, v->extent, &v->nextents, &stride, v->stride, &v->nstrides, &v->channels,
               "point linear", &filter, read_address, mode, &mode->normalized, "element normalized_float", &read, &mode->array,
               &mode->layered);
    v->texture = true;
    mode->linear = filter;
    mode->as_float = read;
    mode->array = mode->array || view_rank(r->op, v) == 3;
}

static void read_tensor_map(struct reader *r, struct view *m)
{
    static const struct list box = { read_expr, 1, MAX_VIEW_RANK, sizeof(char *), "box: entry %d: ", true },
                             extent = { read_expr, 1, MAX_VIEW_RANK, sizeof(char *), "extent: entry %d: ", true },
                             stride = { read_expr, 0, MAX_VIEW_RANK - 1, sizeof(char *), "stride: entry %d: ", true },
                             step = { read_expr, 1, MAX_VIEW_RANK, sizeof(char *), "step: entry %d: ", true };
    int kind;
    read_table(r, "kind arg box extent stride step swizzle interleave l2 nan", "WFLlllxxxb", "tensor_map", &kind, read_arg_name,
               &m->arg, &box, m->box, &m->rank, &extent, m->extent, &m->nextents, &stride, m->stride, &m->nstrides, &step, m->step,
               &m->nsteps, &m->swizzle, &m->interleave, &m->l2, &m->nan);
}

/* A name, tensor_map(...) or texture(...). */
static void read_launch_arg(struct reader *r, void *out)
{
    const int buffers = buffers_of(r);
    struct launch *l = r->launch;
    if (!lua_istable(r->L, -1)) {
        read_arg_name(r, out);
        return;
    }
    if (!l->views)
        l->views = make_array(r, MAX_VIEWS, sizeof *l->views);
    if (l->nviews == MAX_VIEWS)
        fail(r, "more than %d tensor maps and textures", MAX_VIEWS);
    *(int *)out = buffers + l->nvalues + l->nviews;
    struct view *v = &l->views[l->nviews++];
    const bool texture = is_texture(r);
    size_t mark = enter(r, texture ? "texture: " : "tensor_map: ");
    (texture ? read_texture : read_tensor_map)(r, v);
    if (v->arg >= buffers)
        fail(r, "arg: a buffer is wanted");
    leave(r, mark);
}

/* One that no place of args names would be lost. */
static void check_values_passed(struct reader *r, const struct launch *l)
{
    const int first = buffers_of(r);
    for (int v = 0; v < l->nvalues; v++) {
        bool passed = false;
        for (int i = 0; i < l->nargs; i++)
            passed = passed || l->args[i] == first + v;
        if (!passed)
            fail(r, "values: %s: args does not name it, so it is not passed", l->values[v].name);
    }
}

static void read_launch(struct reader *r, void *out)
{
    static const struct list args = { read_launch_arg, 0, MAX_LAUNCH_ARGS, sizeof(int), "args: entry %d: ", false };
    struct launch *l = out;
    r->launch = l;
    read_table(r, "kernel grid block shared when times swap values args cluster cooperative dependent", "Fffxxflflfbb",
               read_kernel_name, &l->kernel, read_extents, l->grid, read_extents, l->block, &l->shared, &l->when, read_times, l,
               &swaps, &l->swaps, &l->nswaps, read_launch_values, l, &args, &l->args, &l->nargs, read_extents, l->cluster,
               &l->cooperative, &l->dependent);
    r->launch = NULL;
    l->nswaps *= 2; /* buffers */
    if (!l->args && l->nvalues)
        fail(r, "args is missing: it says in which places the values are passed");
    check_values_passed(r, l);
    if (l->args)
        return;
    int n = buffers_of(r);
    l->args = make_array(r, n, sizeof *l->args);
    for (int i = 0; i < n; i++)
        if (i >= r->op->nargs || !r->op->args[i].constant || !r->symbols)
            l->args[l->nargs++] = i;
}

static bool has_field(struct reader *r, const char *name)
{
    want_table(r);
    lua_pushstring(r->L, name);
    bool has = lua_rawget(r->L, -2) != LUA_TNIL;
    lua_pop(r->L, 1);
    return has;
}

static struct launch *one_more(struct reader *r, struct variant *v)
{
    if (!v->launches)
        v->launches = make_array(r, MAX_LAUNCHES, sizeof *v->launches);
    if (v->nlaunches == MAX_LAUNCHES)
        fail(r, "more than %d launches; those that repeat count once", MAX_LAUNCHES);
    return &v->launches[v->nlaunches++];
}

/* A launch within rounds, which are of its group. */
static void read_together(struct reader *r, void *out)
{
    struct launch *l = one_more(r, out);
    read_launch(r, l);
    if (l->steps)
        fail(r, "times: one count is wanted here, within the rounds of all");
    l->steps = l->rounds;
    l->rounds = NULL;
    l->together = true;
}

/* { times = , swap = , launches = { ... } } */
static void read_group(struct reader *r, struct variant *v)
{
    static const struct list together = { read_together, 1, MAX_LAUNCHES, 0, "launches[%d]: ", true };
    struct launch group = { .nargs = 0 };
    int first = v->nlaunches, n = 0;
    read_table(r, "times swap launches", "FlL", read_times, &group, &swaps, &group.swaps, &group.nswaps, &together, v, &n);
    if (group.steps)
        fail(r, "times: one count is wanted here; launches within may have another");
    v->launches[first].together = false;
    v->launches[first].rounds = group.rounds;
    v->launches[first].round_swaps = group.swaps;
    v->launches[first].nround_swaps = 2 * group.nswaps;
}

static void read_entry(struct reader *r, void *out)
{
    if (has_field(r, "launches"))
        read_group(r, out);
    else
        read_launch(r, one_more(r, out));
}

void read_launches(struct reader *r, void *out)
{
    static const struct list entries = { read_entry, 1, MAX_LAUNCHES, 0, "launch[%d]: ", true };
    if (has_field(r, "kernel") || has_field(r, "launches"))
        read_entry(r, out);
    else
        read_list(r, &entries, strlen(r->where) - strlen("launch: "), out);
}
