/* One C file of the library's own sources, as the build has joined them (cmake/join.cmake), and the rows of a database as initializers
 * of the structs of embedded/embedded.h. So a look-up and a launch are the same code there and here. */
#include <string.h>

#include "base/mem.h"
#include "device/backend.h"
#include "export/export.h"
#include "library_c.h"
#include "model/kernel.h"
#include "runtime/runtime.h"

/* ---- values */

static void put_char(struct buf *out, unsigned char c)
{
    if (c == '\n')
        buf_str(out, "\\n");
    else if (c == '"' || c == '\\' || c == '?')
        buf_fmt(out, "\\%c", c);
    else if (c < ' ' || c > '~')
        buf_fmt(out, "\\%03o", c);
    else
        buf_put(out, &c, 1);
}

static void put_bytes(struct buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t start = out->len;
    buf_str(out, "\"");
    for (size_t i = 0; i < n; i++) {
        put_char(out, p[i]);
        if (i + 1 < n && (p[i] == '\n' || out->len - start > 120)) {
            buf_str(out, "\"\n\"");
            start = out->len;
        }
    }
    buf_str(out, "\"");
}

/* The members of a struct as far as a look-up needs them. */
#define MEMBER(row, member)                                                                                                        \
    {                                                                                                                              \
#member, FIELD(struct row, member)                                                                                         \
    }
static const struct row_column winner_members[] = {
    MEMBER(winner, device), MEMBER(winner, problem), MEMBER(winner, types), MEMBER(winner, sizes), MEMBER(winner, variant),
    MEMBER(winner, json),   MEMBER(winner, time_ns), MEMBER(winner, bytes), MEMBER(winner, flops), { 0 }
};
static const struct row_column device_members[] = { MEMBER(devspec, backend),
                                                    MEMBER(devspec, name),
                                                    MEMBER(devspec, arch),
                                                    MEMBER(devspec, mig),
                                                    MEMBER(devspec, multiprocessors),
                                                    MEMBER(devspec, memory),
                                                    { 0 } };
static const struct row_column tuned_members[] = { MEMBER(tuned, role), MEMBER(tuned, rank), MEMBER(tuned, time_ns), { 0 } };
static const struct row_column binary_members[] = {
    MEMBER(tuned, binary_bytes), MEMBER(tuned, format), MEMBER(tuned, arch), { 0 }
};
static const struct row_column timed_members[] = { MEMBER(timed, device), MEMBER(timed, problem), MEMBER(timed, variant),
                                                   MEMBER(timed, json),   MEMBER(timed, median),  { 0 } };
static const struct row_column listed_members[] = { MEMBER(listed, op),      MEMBER(listed, types),      MEMBER(listed, problem),
                                                    MEMBER(listed, backend), MEMBER(listed, device),     MEMBER(listed, arch),
                                                    MEMBER(listed, variant), MEMBER(listed, config),     MEMBER(listed, time_ns),
                                                    MEMBER(listed, stale),   MEMBER(listed, unverified), { 0 } };

/* What is null or zero is left out. */
static void put_members(struct buf *out, const struct row_column *m, const void *row)
{
    for (; m->key; m++) {
        struct val v = column_value(m, row, NULL);
        if (v.type == VAL_BOOL)
            v = val_int(v.b);
        if (v.type == VAL_NIL || (v.type == VAL_STR && !v.s) || (v.type == VAL_INT && !v.i))
            continue;
        buf_fmt(out, " .%s = ", m->key);
        if (v.type == VAL_STR)
            put_bytes(out, v.s, strlen(v.s));
        else
            val_print(out, v);
        buf_str(out, ",");
    }
}

/* A row of an array of the struct. */
static int put_row(struct buf *out, const struct row_column *members, const void *row, int *n, struct err *err)
{
    buf_str(out, "    {");
    put_members(out, members, row);
    buf_str(out, " },\n");
    ++*n;
    return buf_check(out, err);
}

/* ---- what is gathered */

struct exporting {
    struct store *store;
    const struct c_choice *choice;
    struct err *err;
    struct buf head, arrays; /* lines on what there is; arrays that are complete */
    struct buf ops, listed;  /* rows of these two arrays */
    int nops, nlisted;
    bool any_default;
    unsigned backends;       /* a bit for each that has a device that is chosen, by backend_at */
    char (*codes)[HASH_HEX]; /* pieces of code that are written: each once, however many kernels have it */
    int ncodes;
    /* Of one op: */
    const struct op *op;
    int nwinners, ndefaults, ntimes, ndevices;
    int64_t *devices; /* of winners that are chosen */
    struct buf kernels, times;
    const struct winner *its_default; /* what is known of the defaults that are read */
};

static bool op_chosen(const struct exporting *r, const char *op)
{
    bool chosen = !r->choice->ops;
    for (int i = 0; i < r->choice->nops && !chosen; i++)
        chosen = !strcmp(r->choice->ops[i], op);
    return chosen;
}

static bool device_chosen(const struct exporting *r, const char *backend, const char *name, const char *arch)
{
    const char *device = r->choice->device;
    return !device || !strcmp(device, backend) || !strcmp(device, name) || !strcmp(device, arch);
}

/* The end of a row's reading: what is damaged is left out. */
static int row_end(struct exporting *r, int rc, const struct err *why)
{
    if (rc && rc != ERR_CORRUPT)
        return err_set(r->err, rc, "%s", why->msg);
    if (rc)
        store_leave_out(r->store);
    return 0;
}

/* ---- kernels */

/* Writes an array with these bytes if there is none yet, and its name as the value of a member. */
static void put_code(struct exporting *r, struct buf *row, const char *member, const void *bytes, size_t n)
{
    char hash[HASH_HEX];
    int i = 0;
    if (!bytes)
        return;
    hash_hex(bytes, n, hash);
    while (i < r->ncodes && strcmp(r->codes[i], hash))
        i++;
    buf_fmt(row, " .%s = code_%s,", member, hash);
    if (i < r->ncodes)
        return;
    if (!mem_grow((void **)&r->codes, r->ncodes, sizeof *r->codes)) {
        row->failed = true;
        return;
    }
    memcpy(r->codes[r->ncodes++], hash, sizeof hash);
    buf_fmt(&r->arrays, "\nstatic const char code_%s[%zu] =\n", hash, n + 1);
    put_bytes(&r->arrays, bytes, n);
    buf_str(&r->arrays, ";\n");
}

/* The code that is of use without a compiler. A backend without a portable form has none to bring: its driver compiles the source. */
static void put_codes(struct exporting *r, struct buf *row, const struct tuned *k, const struct backend *b)
{
    bool compiled = b && b->portable;
    put_code(r, row, "source", compiled ? "" : k->source, compiled ? 0 : strlen(k->source));
    if (!compiled)
        return;
    put_code(r, row, "portable", k->portable, k->portable ? strlen(k->portable) : 0);
    put_code(r, row, "binary", k->binary, k->binary_bytes);
    put_members(row, binary_members, k);
}

/* An op's bytes, at the end of a row. */
static void put_form(struct buf *row, const struct buf *op)
{
    buf_fmt(row, " .op_bytes = %zu, .op =\n", op->len);
    put_bytes(row, op->data, op->len);
    buf_str(row, " },\n");
    row->failed = row->failed || op->failed;
}

static int put_kernel(struct exporting *r, const struct winner *w, struct tuned *k)
{
    struct buf op = { 0 }, *row = &r->kernels;
    struct err why = { 0 };
    int rc = kernel_join(k->op, r->op, &why);
    if (rc)
        return row_end(r, rc, &why);
    op_put(&op, k->op);
    *(k->role == TUNED_WINNER ? &r->nwinners : &r->ndefaults) += 1;
    buf_str(row, "    { .row = {");
    put_members(row, winner_members, w);
    buf_str(row, "\n     .dev = {");
    put_members(row, device_members, &w->dev);
    buf_str(row, " } },\n     .tuned = {");
    put_members(row, tuned_members, k);
    put_codes(r, row, k, backend_find(w->dev.backend));
    buf_str(row, " },\n    ");
    put_form(row, &op);
    buf_free(&op);
    return buf_check(row, r->err);
}

static int take_winner(void *arg, const struct winner *w)
{
    struct exporting *r = arg;
    struct tuned *k = NULL;
    struct err why = { 0 };
    if (!device_chosen(r, w->dev.backend, w->dev.name, w->dev.arch))
        return 0;
    int rc = store_tuned(r->store, w->id, &k, &why);
    rc = rc ? row_end(r, rc, &why) : put_kernel(r, w, k);
    tuned_free(k);
    if (rc || (r->ndevices && r->devices[r->ndevices - 1] == w->device))
        return rc;
    if (!mem_grow((void **)&r->devices, r->ndevices, sizeof *r->devices))
        return err_nomem(r->err);
    r->devices[r->ndevices++] = w->device;
    return 0;
}

static int take_default(void *arg, struct tuned *k)
{
    struct exporting *r = arg;
    struct winner w = *r->its_default;
    w.variant = k->variant;
    w.json = k->json;
    w.time_ns = k->time_ns;
    int rc = put_kernel(r, &w, k);
    tuned_free(k);
    return rc;
}

static int take_time(void *arg, const struct timed *t)
{
    struct exporting *r = arg;
    int i = 0;
    while (i < r->ndevices && r->devices[i] != t->device)
        i++;
    return i < r->ndevices ? put_row(&r->times, timed_members, t, &r->ntimes, r->err) : 0;
}

/* ---- ops */

static int read_defaults_of(struct exporting *r, const struct backend *b, int row)
{
    struct buf types = { 0 };
    struct winner w = { 0 };
    op_row_print(&types, r->op, row);
    w.types = buf_text(&types);
    snprintf(w.dev.backend, sizeof w.dev.backend, "%s", b->name);
    r->its_default = &w;
    int rc =
        types.failed ? err_nomem(r->err) : store_each_default(r->store, b->name, r->op->name, w.types, take_default, r, r->err);
    buf_free(&types);
    return rc;
}

/* A device's defaults are its backend's. */
static int read_defaults(struct exporting *r)
{
    const struct backend *b;
    int rc = 0;
    for (int i = 0; !rc && (b = backend_at(i)); i++) {
        const char *device = r->choice->device;
        bool chosen = !device || !strcmp(device, b->name) || r->backends >> i & 1;
        for (int row = 0; chosen && !rc && row < r->op->nrows; row++)
            rc = read_defaults_of(r, b, row);
    }
    return rc;
}

/* An array with these rows, or one empty row; frees them. */
static void put_array(struct buf *out, const char *type, const char *name, int n, struct buf *rows)
{
    buf_fmt(out, "\nenum { n%s = %d };\nstatic const struct %s %s[%d]", name, n, type, name, n ? n : 1);
    if (n) {
        buf_str(out, " = {\n");
        buf_put(out, rows->data, rows->len);
        buf_str(out, "}");
    }
    buf_str(out, ";\n");
    out->failed = out->failed || rows->failed;
    buf_free(rows);
}

static void put_op(struct exporting *r)
{
    struct buf op = { 0 };
    char kernels[32], times[32];
    interface_put(&op, r->op);
    buf_fmt(&r->head, " * %s: %d winners, %d defaults\n", r->op->name, r->nwinners, r->ndefaults);
    snprintf(kernels, sizeof kernels, "kernels_%d", r->nops);
    snprintf(times, sizeof times, "times_%d", r->nops);
    put_array(&r->arrays, "embedded_kernel", kernels, r->nwinners + r->ndefaults, &r->kernels);
    put_array(&r->arrays, "timed", times, r->ntimes, &r->times);
    buf_fmt(&r->ops, "    { .name = \"%s\", .nkernels = n%s, .kernels = %s, .ntimes = n%s, .times = %s,\n    ", r->op->name,
            kernels, kernels, times, times);
    put_form(&r->ops, &op);
    buf_free(&op);
    r->nops++;
}

static int take_op(void *arg, const char *name)
{
    struct exporting *r = arg;
    struct op *op = NULL;
    struct err why = { 0 };
    if (!op_chosen(r, name))
        return 0;
    int rc = store_op(r->store, name, &op, &why);
    if (rc)
        return row_end(r, rc, &why);
    r->op = op;
    r->nwinners = r->ntimes = r->ndefaults = r->ndevices = 0;
    rc = store_each_winner_of(r->store, name, take_winner, r, r->err);
    if (!rc && r->nwinners)
        rc = store_each_time(r->store, name, take_time, r, r->err);
    rc = rc ?: read_defaults(r);
    if (!rc)
        put_op(r);
    r->any_default = r->any_default || r->ndefaults;
    op_free(op);
    return rc;
}

/* ---- all of it */

static int take_listed(void *arg, const struct listed *l)
{
    struct exporting *r = arg;
    const struct backend *b;
    if (!op_chosen(r, l->op) || !device_chosen(r, l->backend, l->device, l->arch))
        return 0;
    for (int i = 0; (b = backend_at(i)); i++)
        if (!strcmp(b->name, l->backend))
            r->backends |= 1u << i;
    return put_row(&r->listed, listed_members, l, &r->nlisted, r->err);
}

static int check_ops(const struct exporting *r)
{
    int rc = 0;
    for (int i = 0; !rc && i < r->choice->nops; i++) {
        struct op *op = NULL;
        rc = store_op(r->store, r->choice->ops[i], &op, r->err);
        op_free(op);
        if (rc == ERR_NOTFOUND)
            return err_set(r->err, rc, "%s: op %s is not known to this database: nothing was tuned for it", store_path(r->store),
                           r->choice->ops[i]);
    }
    return rc;
}

static int read_all(struct exporting *r)
{
    int rc = check_ops(r) ?: store_each_winner(r->store, take_listed, r, r->err) ?: store_each_op(r->store, take_op, r, r->err);
    if (!rc && r->choice->device && !r->nlisted && !r->any_default)
        rc = err_set(r->err, ERR_NOTFOUND,
                     "%s: nothing is tuned on '%s': name a device, an architecture or a backend of `cutune list`",
                     store_path(r->store), r->choice->device);
    return rc;
}

static const char head_begin[] =
    "/* Tuned kernels, written by `cutune export --format c` of cutune " CUTUNE_VERSION ". Its calls are those of\n"
    " * cutune.h, which stands below, without the library and without a database: cutune_open ignores its path, and a\n"
    " * refresh finds nothing new. Compile it as C11 and link with -lm -lpthread -ldl.\n *\n";
static const char head_end[] = " */\n"
                               "#ifndef _GNU_SOURCE\n"
                               "#define _GNU_SOURCE\n"
                               "#endif\n"
                               "#if defined(__GNUC__)\n"
                               "#pragma GCC diagnostic push\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
                               "#pragma GCC diagnostic ignored \"-Wunused-const-variable\"\n"
                               "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n" /* binaries: every compiler takes them */
                               "#if !defined(__clang__)\n"
                               "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n" /* with all in view, it sees ghosts */
                               "#endif\n"
                               "#endif\n\n";
static const char end[] = "\n#if defined(__GNUC__)\n"
                          "#pragma GCC diagnostic pop\n"
                          "#endif\n";

int c_export(struct store *s, const struct c_choice *choice, struct buf *out, struct err *err)
{
    struct exporting r = { .store = s, .choice = choice, .err = err };
    int rc = store_begin(s, false, err) ?: store_end(s, read_all(&r), err);
    put_array(&r.arrays, "embedded_op", "embedded_ops", r.nops, &r.ops);
    put_array(&r.arrays, "listed", "embedded_listed", r.nlisted, &r.listed);
    const char *const parts[] = { head_begin, buf_text(&r.head), head_end, library_headers };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_str(out, parts[i]);
    buf_put(out, r.arrays.data, r.arrays.len);
    buf_str(out, library_sources);
    buf_str(out, end);
    out->failed = out->failed || r.head.failed || r.arrays.failed;
    buf_free(&r.head);
    buf_free(&r.arrays);
    buf_free(&r.kernels);
    buf_free(&r.times);
    mem_free(r.codes);
    mem_free(r.devices);
    return rc || !out->failed ? rc : err_nomem(err);
}
