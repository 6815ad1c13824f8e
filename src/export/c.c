/* One C file of the library's own sources, as the build has joined them (cmake/join.cmake), and the rows of a database as initializers
 * of the structs of embedded/embedded.h. So a look-up and a launch are the same code there and here. */
#include "export/c.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/backend.h"
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

/* Members of an initializer; what is null or zero is left out. */
static void put_text(struct buf *out, const char *name, const char *s)
{
    if (!s)
        return;
    buf_fmt(out, " .%s = ", name);
    put_bytes(out, s, strlen(s));
    buf_str(out, ",");
}

static void put_integer(struct buf *out, const char *name, int64_t v)
{
    if (v)
        buf_fmt(out, " .%s = %lld,", name, (long long)v);
}

static void put_real(struct buf *out, const char *name, double v)
{
    if (v == 0)
        return;
    buf_fmt(out, " .%s = ", name);
    val_print(out, val_float(v));
    buf_str(out, ",");
}

/* ---- what is gathered */

struct exporting {
    struct store *store;
    const struct c_choice *choice;
    struct err *err;
    struct buf head, arrays; /* lines on what there is; arrays that are complete */
    struct buf ops, listed;  /* rows of these two arrays */
    int nops, nlisted, nbackends;
    bool any_default;
    const struct backend *backends[MAX_DEVICES]; /* of devices that are chosen */
    char (*codes)[HASH_HEX];                     /* pieces of code that are written: each once, however many kernels have it */
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
    put_integer(row, "binary_bytes", (int64_t)k->binary_bytes);
    put_text(row, "format", k->format);
    put_text(row, "arch", k->arch);
}

static void put_winner(struct buf *row, const struct winner *w)
{
    const struct devspec *d = &w->dev;
    buf_str(row, " .row = {");
    put_integer(row, "device", w->device);
    put_integer(row, "problem", w->problem);
    put_text(row, "types", w->types);
    put_text(row, "sizes", w->sizes);
    put_text(row, "variant", w->variant);
    put_text(row, "json", w->json);
    put_real(row, "time_ns", w->time_ns);
    put_real(row, "bytes", w->bytes);
    put_real(row, "flops", w->flops);
    buf_str(row, "\n     .dev = {");
    put_text(row, "backend", d->backend);
    put_text(row, "name", d->name);
    put_text(row, "arch", d->arch);
    put_text(row, "mig", d->mig);
    put_integer(row, "multiprocessors", d->multiprocessors);
    put_integer(row, "memory", d->memory);
    buf_str(row, " } },\n    ");
}

static void put_form(struct buf *row, const struct buf *op)
{
    put_integer(row, "op_bytes", (int64_t)op->len);
    buf_str(row, " .op =\n");
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
    buf_str(row, "    {");
    put_winner(row, w);
    buf_str(row, " .tuned = {");
    put_integer(row, "role", k->role);
    put_integer(row, "rank", k->rank);
    put_real(row, "time_ns", k->time_ns);
    put_codes(r, row, k, backend_find(w->dev.backend));
    buf_str(row, " },\n    ");
    put_form(row, &op);
    buf_free(&op);
    return row->failed ? err_nomem(r->err) : 0;
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
    return put_kernel(r, &w, k);
}

static int take_time(void *arg, const struct timed *t)
{
    struct exporting *r = arg;
    struct buf *row = &r->times;
    int i = 0;
    while (i < r->ndevices && r->devices[i] != t->device)
        i++;
    if (i == r->ndevices)
        return 0;
    buf_str(row, "    {");
    put_integer(row, "device", t->device);
    put_integer(row, "problem", t->problem);
    put_text(row, "variant", t->variant);
    put_text(row, "json", t->json);
    put_real(row, "median", t->median);
    buf_str(row, " },\n");
    r->ntimes++;
    return row->failed ? err_nomem(r->err) : 0;
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
        bool wanted = !r->choice->device || !strcmp(r->choice->device, b->name);
        for (int j = 0; j < r->nbackends; j++)
            wanted = wanted || r->backends[j] == b;
        for (int row = 0; wanted && !rc && row < r->op->nrows; row++)
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
    buf_str(&r->ops, "    {");
    put_text(&r->ops, "name", r->op->name);
    buf_fmt(&r->ops, " .nkernels = n%s, .kernels = %s, .ntimes = n%s, .times = %s,\n    ", kernels, kernels, times, times);
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
    struct buf *row = &r->listed;
    if (!op_chosen(r, l->op) || !device_chosen(r, l->backend, l->device, l->arch))
        return 0;
    const struct backend *b = backend_find(l->backend);
    int i = 0;
    while (i < r->nbackends && r->backends[i] != b)
        i++;
    if (b && i == r->nbackends && i < MAX_DEVICES)
        r->backends[r->nbackends++] = b;
    buf_str(row, "    {");
    put_text(row, "op", l->op);
    put_text(row, "types", l->types);
    put_text(row, "problem", l->problem);
    put_text(row, "backend", l->backend);
    put_text(row, "device", l->device);
    put_text(row, "arch", l->arch);
    put_text(row, "variant", l->variant);
    put_text(row, "config", l->config);
    put_real(row, "time_ns", l->time_ns);
    put_integer(row, "stale", l->stale);
    put_integer(row, "unverified", l->unverified);
    buf_str(row, " },\n");
    r->nlisted++;
    return row->failed ? err_nomem(r->err) : 0;
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
