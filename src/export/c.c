/* One C file of the library's own sources, as the build has joined them (cmake/join.cmake), and the rows of a database as initializers
 * of the structs of embedded/embedded.h. So a look-up and a launch are the same code there and here. */
#include <stdio.h>
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
    MEMBER(winner, json),   MEMBER(winner, time_ns), MEMBER(winner, bytes), MEMBER(winner, flops),
    MEMBER(winner, alone),  { 0 }
};
static const struct row_column device_members[] = { MEMBER(devspec, backend),
                                                    MEMBER(devspec, name),
                                                    MEMBER(devspec, arch),
                                                    MEMBER(devspec, mig),
                                                    MEMBER(devspec, multiprocessors),
                                                    MEMBER(devspec, memory),
                                                    { 0 } };
static const struct row_column tuned_members[] = {
    MEMBER(tuned, role), MEMBER(tuned, rank), MEMBER(tuned, time_ns), MEMBER(tuned, pinned), { 0 }
};
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

/* An array as it grows. */
struct c_array {
    struct buf rows;
    int n;
};

static int put_row(struct c_array *a, const struct row_column *members, const void *row, struct err *err)
{
    buf_str(&a->rows, "    {");
    put_members(&a->rows, members, row);
    buf_str(&a->rows, " },\n");
    a->n++;
    return buf_check(&a->rows, err);
}

/* Writes it with these rows, or one empty row; then it is empty. */
static void put_array(struct buf *out, const char *type, const char *name, struct c_array *a)
{
    buf_fmt(out, "\nenum { n%s = %d };\nstatic const struct %s %s[%d]", name, a->n, type, name, a->n ? a->n : 1);
    if (a->n)
        buf_fmt(out, " = {\n%s}", buf_text(&a->rows));
    buf_str(out, ";\n");
    out->failed = out->failed || a->rows.failed;
    buf_free(&a->rows);
    a->n = 0;
}

/* ---- what is gathered */

struct exporting {
    struct store *store;
    const struct c_choice *choice;
    struct err *err;
    struct buf head, done; /* lines on what there is; arrays that are complete */
    struct c_array ops, listed;
    bool any_default;
    unsigned backends;       /* a bit for each that has a device that is chosen, by backend_at */
    char (*codes)[HASH_HEX]; /* pieces of code that are written: each once, however many kernels have it */
    int ncodes;
    /* Of one op: */
    const struct op *op;
    struct c_array kernels, times;
    int nwinners, ndevices;
    int64_t *devices;          /* of winners that are chosen */
    struct winner its_default; /* what is known of the defaults that are read */
};

static bool op_chosen(const struct exporting *r, const char *op)
{
    bool chosen = !r->choice->ops;
    for (int i = 0; i < r->choice->nops && !chosen; i++)
        chosen = !strcmp(r->choice->ops[i], op);
    return chosen;
}

/* The end of a row's reading: what is damaged is left out. */
static int row_end(struct exporting *r, int rc)
{
    if (rc != ERR_CORRUPT)
        return rc;
    store_leave_out(r->store, 1);
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
    buf_fmt(&r->done, "\nstatic const char code_%s[%zu] =\n", hash, n + 1);
    put_bytes(&r->done, bytes, n);
    buf_str(&r->done, ";\n");
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
static void put_form(struct buf *row, void (*put)(struct buf *out, const struct op *op), const struct op *op)
{
    struct buf form = { 0 };
    put(&form, op);
    buf_fmt(row, " .op_bytes = %zu, .op =\n", form.len);
    put_bytes(row, form.data, form.len);
    buf_str(row, " },\n");
    row->failed = row->failed || form.failed;
    buf_free(&form);
}

static int put_kernel(struct exporting *r, const struct winner *w, struct tuned *k)
{
    struct buf *row = &r->kernels.rows;
    int rc = kernel_join(k->op, r->op, r->err);
    if (rc)
        return row_end(r, rc);
    r->kernels.n++;
    r->nwinners += k->role == TUNED_WINNER;
    buf_str(row, "    { .row = {");
    put_members(row, winner_members, w);
    buf_str(row, "\n     .dev = {");
    put_members(row, device_members, &w->dev);
    buf_str(row, " } },\n     .tuned = {");
    put_members(row, tuned_members, k);
    put_codes(r, row, k, backend_find(w->dev.backend));
    buf_str(row, " },\n    ");
    put_form(row, op_put, k->op);
    return buf_check(row, r->err);
}

static int take_winner(void *arg, const struct winner *w)
{
    struct exporting *r = arg;
    struct tuned *k = NULL;
    struct problem problem;
    if (!devspec_called(&w->dev, r->choice->device))
        return 0;
    if (op_row(r->op, w->types, NULL) < 0) /* the op no longer has these types */
        return 0;
    int rc = problem_parse(r->op, w->sizes, &problem, NULL);
    if (rc)
        return rc == ERR_NOMEM ? err_nomem(r->err) : row_end(r, ERR_CORRUPT);
    rc = store_tuned(r->store, w->id, &k, r->err);
    rc = rc ? row_end(r, rc) : put_kernel(r, w, k);
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
    r->its_default.variant = k->variant;
    r->its_default.json = k->json;
    r->its_default.time_ns = k->time_ns;
    struct tuned *whole = NULL;
    int rc = store_tuned(r->store, k->id, &whole, r->err);
    rc = rc ? row_end(r, rc) : put_kernel(r, &r->its_default, whole);
    tuned_free(whole);
    tuned_free(k);
    return rc;
}

static int take_time(void *arg, const struct timed *t)
{
    struct exporting *r = arg;
    int i = 0;
    while (i < r->ndevices && r->devices[i] != t->device)
        i++;
    return i < r->ndevices ? put_row(&r->times, timed_members, t, r->err) : 0;
}

/* ---- ops */

/* A device's defaults are its backend's. */
static int read_defaults(struct exporting *r)
{
    const char *device = r->choice->device;
    const struct backend *b;
    int rc = 0;
    for (int i = 0; !rc && (b = backend_at(i)); i++) {
        bool chosen = !device || !strcmp(device, b->name) || r->backends >> i & 1;
        for (int row = 0; chosen && !rc && row < r->op->nrows; row++) {
            struct buf types = { 0 };
            op_row_print(&types, r->op, row);
            r->its_default = (struct winner){ .types = buf_text(&types) };
            snprintf(r->its_default.dev.backend, sizeof r->its_default.dev.backend, "%s", b->name);
            rc = buf_check(&types, r->err);
            rc = rc ?: store_each_default(r->store, b->name, r->op->name, types.data, 0, take_default, r, r->err);
            buf_free(&types);
        }
    }
    return rc;
}

static void put_op(struct exporting *r)
{
    char kernels[32], times[32];
    int ndefaults = r->kernels.n - r->nwinners;
    r->any_default = r->any_default || ndefaults;
    buf_fmt(&r->head, " * %s: %d winners, %d defaults\n", r->op->name, r->nwinners, ndefaults);
    snprintf(kernels, sizeof kernels, "kernels_%d", r->ops.n);
    snprintf(times, sizeof times, "times_%d", r->ops.n);
    put_array(&r->done, "embedded_kernel", kernels, &r->kernels);
    put_array(&r->done, "timed", times, &r->times);
    buf_fmt(&r->ops.rows, "    { .name = \"%s\", .nkernels = n%s, .kernels = %s, .ntimes = n%s, .times = %s,\n    ", r->op->name,
            kernels, kernels, times, times);
    put_form(&r->ops.rows, interface_put, r->op);
    r->ops.n++;
}

static int take_op(void *arg, const char *name)
{
    struct exporting *r = arg;
    struct op *op = NULL;
    if (!op_chosen(r, name))
        return 0;
    int rc = store_op(r->store, name, &op, r->err);
    if (rc)
        return row_end(r, rc);
    r->op = op;
    r->nwinners = r->ndevices = 0;
    rc = store_each_winner_of(r->store, name, NULL, take_winner, r, r->err);
    if (!rc && r->nwinners)
        rc = store_each_time(r->store, name, NULL, take_time, r, r->err);
    rc = rc ?: read_defaults(r);
    if (!rc)
        put_op(r);
    op_free(op);
    return rc;
}

/* ---- all of it */

static int take_listed(void *arg, const struct listed *l)
{
    struct exporting *r = arg;
    const struct backend *b;
    if (!op_chosen(r, l->op) || !devspec_called(l->dev, r->choice->device))
        return 0;
    for (int i = 0; (b = backend_at(i)); i++)
        if (!strcmp(b->name, l->backend))
            r->backends |= 1u << i;
    return put_row(&r->listed, listed_members, l, r->err);
}

static int check_ops(const struct exporting *r)
{
    int rc = 0;
    for (int i = 0; !rc && i < r->choice->nops; i++) {
        struct op *op = NULL;
        rc = store_op(r->store, r->choice->ops[i], &op, r->err);
        op_free(op);
    }
    return rc;
}

static int read_all(struct exporting *r)
{
    int rc = check_ops(r) ?: store_each_winner(r->store, take_listed, r, r->err) ?: store_each_op(r->store, take_op, r, r->err);
    if (!rc && r->choice->device && !r->listed.n && !r->any_default)
        rc = err_set(r->err, ERR_NOTFOUND,
                     "%s: nothing is tuned on '%s': name a device, an architecture or a backend of `cutune list`",
                     store_path(r->store), r->choice->device);
    return rc;
}

static const char head_begin[] =
    "/* Tuned kernels, written by `cutune export --format c` of cutune " CUTUNE_VERSION ". Its calls are those of\n"
    " * cutune.h, which stands below, but for cutune_attach_device and cutune_launch_host: the application makes the context or\n"
    " * queue. It needs no library and no database: cutune_open ignores its path, and a refresh finds nothing new. Compile it as\n"
    " * C11 and link with -lm -lpthread -ldl. The application's own files include cutune.h: it is in\n"
    " * the folder include of cutune's sources and of its installation, one file to copy beside them.\n *\n";
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
                               "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n" /* warns wrongly here */
                               "#endif\n"
                               "#endif\n\n";
static const char end[] = "\n#if defined(__GNUC__)\n"
                          "#pragma GCC diagnostic pop\n"
                          "#endif\n";

int c_export(struct store *s, const struct c_choice *choice, struct buf *out, struct err *err)
{
    struct exporting r = { .store = s, .choice = choice, .err = err };
    int rc = store_begin(s, false, err) ?: store_end(s, read_all(&r), err);
    put_array(&r.done, "embedded_op", "embedded_ops", &r.ops);
    put_array(&r.done, "listed", "embedded_listed", &r.listed);
    buf_fmt(out, "%s%s%s%s%s%s%s", head_begin, buf_text(&r.head), head_end, library_headers, buf_text(&r.done), library_sources,
            end);
    out->failed = out->failed || r.head.failed || r.done.failed;
    buf_free(&r.head);
    buf_free(&r.done);
    buf_free(&r.kernels.rows);
    buf_free(&r.times.rows);
    mem_free(r.codes);
    mem_free(r.devices);
    return rc || !out->failed ? rc : err_nomem(err);
}
