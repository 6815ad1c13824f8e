/* `cutune tables`: makes the database that ships, of the default configurations that db/tables lists. A look-up gives one of them on a
 * device that nobody has tuned for. To make it takes no device; PTX takes NVRTC. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text.h"
#include "device/device.h"
#include "op/load.h"
#include "source/source.h"

enum { MAX_LIST = 1 << 20 }; /* bytes */

/* A line of the list; the words are in its order. */
struct shipped {
    char device[16], op[MAX_NAME + 1], types[256], problem[256], config[1024];
    int number;
};

/* The database that is made. */
struct shipping {
    struct store *store;
    bool ptx, must;     /* whether there is to be PTX, and whether it is an error if there can be none */
    struct err why_not; /* why there can be none */
    const char *list;   /* the file, for messages */
    struct shipped *lines;
    int nlines, records;
};

/* The PTX of a source; without a compiler the buffer stays empty. */
static int compile(const struct shipping *m, const struct backend *b, const char *source, struct buf *ptx, struct err *err)
{
    return m->ptx && b->compiling->ship ? b->compiling->ship(source, ptx, err) : 0;
}

/* Finds out whether there is a compiler by compiling an empty text, before anything is written. Without NVRTC, or with one that no
 * longer knows the architecture, there is no PTX: only `--ptx yes` makes that an error. */
static int try_compilers(struct shipping *m, struct err *err)
{
    const struct backend *b;
    for (int i = 0; (b = backend_real(i)); i++) {
        struct buf ptx = { 0 };
        int rc = compile(m, b, "", &ptx, err);
        buf_free(&ptx);
        if (rc && (rc != ERR_UNSUPPORTED || m->must))
            return rc;
        if (rc) {
            m->why_not = *err;
            m->ptx = false;
        }
    }
    return 0;
}

/* One default of an op, for types and a backend. */
static int add_default(struct shipping *m, const struct op *op, int rank, int row, const struct backend *b, struct err *err)
{
    const struct devspec *dev = &b->sample;
    struct config config;
    struct buf source = { 0 }, ptx = { 0 };
    struct tuned *t = NULL;
    config_of_default(op, rank, &config);
    const char *backend = op->variants[config.variant].requires.backend;
    if (backend && strcmp(backend, dev->backend) != 0)
        return 0;
    int rc = source_render(op, &config, row, dev, &source, err)
        ?: tuned_of(op, &config, &t, err)
        ?: compile(m, b, source.data, &ptx, err);
    if (!rc) {
        hash_hex(source.data, source.len, t->key);
        t->role = TUNED_DEFAULT;
        t->rank = rank;
        t->source = source.data;
        t->portable = ptx.len ? ptx.data : NULL;
        rc = store_default(m->store, dev, op, row, t, err);
        m->records++;
    }
    tuned_free(t);
    buf_free(&source);
    buf_free(&ptx);
    return rc;
}

static bool any(const char *word)
{
    return !strcmp(word, "*");
}

/* Puts the configuration of a line after the op's defaults, which have room for it, if the line is for these types and this backend. */
static int take_line(const struct shipped *l, struct op *op, int row, const char *backend, struct err *err)
{
    struct config c;
    struct problem problem;
    int of_types = any(l->types) ? row : op_row(op, l->types, err);
    int rc = of_types < 0 ? ERR_INVALID : config_parse(op, NULL, l->config, &c, err);
    if (!rc && !any(l->problem))
        rc = problem_parse(op, l->problem, &problem, err);
    if (rc || of_types != row || (!any(l->device) && strcmp(l->device, backend)))
        return rc;
    const struct variant *v = &op->variants[c.variant];
    struct val *values = arena_array(op->arena, (size_t)v->nparams, sizeof *values);
    for (int p = 0; values && p < v->nparams; p++)
        values[p] = v->params[p].values[c.at[p]];
    op->defaults[op->ndefaults++] = (struct default_config){ .variant = c.variant, .values = values };
    return values ? 0 : err_nomem(err);
}

/* What n lines say of their op ships in place of the defaults of its script. */
static int add_op(struct shipping *m, const struct shipped *lines, int n, struct err *err)
{
    const struct backend *b;
    struct op *op = NULL;
    const struct shipped *at = lines;
    int rc = op_load(lines->op, &op, err);
    if (!rc) {
        op->defaults = arena_array(op->arena, (size_t)n, sizeof *op->defaults);
        rc = op->defaults ? 0 : err_nomem(err);
    }
    for (int row = 0; !rc && row < op->nrows; row++)
        for (int i = 0; !rc && (b = backend_real(i)); i++) {
            op->ndefaults = 0;
            for (at = lines; !rc && at < lines + n; at += !rc)
                rc = take_line(at, op, row, b->name, err);
            for (int rank = 0; !rc && rank < op->ndefaults; rank++)
                rc = add_default(m, op, rank, row, b, err);
        }
    if (rc)
        err_prefix(err, "%s:%d: ", m->list, (at < lines + n ? at : lines)->number);
    op_free(op);
    return rc;
}

static int read_list(struct shipping *m, struct err *err)
{
    struct buf text = { 0 };
    int rc = file_read(m->list, MAX_LIST, &text, err), number = 0;
    for (char *rest = text.data, *line; !rc && (line = strsep(&rest, "\n"));) {
        struct shipped l = { .number = ++number };
        if (!*line || *line == '#')
            continue;
        char time[64];
        if (sscanf(line, "%15s %63s %255s %255s %1023s %63s", l.device, l.op, l.types, l.problem, l.config, time) != 6)
            rc = err_set(err, ERR_INVALID, "%s:%d: a line is: device, op, types, problem, configuration, time", m->list, number);
        else if (!any(l.device) && !backend_find(l.device))
            rc = err_set(err, ERR_INVALID, "%s:%d: device %s: cuda, opencl, or * for both", m->list, number, l.device);
        else if (!mem_grow((void **)&m->lines, m->nlines, sizeof l))
            rc = err_nomem(err);
        else
            m->lines[m->nlines++] = l;
    }
    buf_free(&text);
    return rc;
}

static int add_ops(struct shipping *m, struct err *err)
{
    int rc = read_list(m, err) ?: try_compilers(m, err) ?: store_begin(m->store, true, err);
    if (rc)
        return rc;
    for (int first = 0, next; !rc && first < m->nlines; first = next) {
        for (next = first + 1; next < m->nlines && !strcmp(m->lines[next].op, m->lines[first].op);)
            next++;
        rc = add_op(m, &m->lines[first], next - first, err);
    }
    return store_end(m->store, rc, err);
}

/* Tables may replace older tables, but no other file, and no database with measurements. */
static int check_place(const char *out, struct err *err)
{
    struct stat st;
    struct store *old = NULL;
    struct err why = { 0 };
    bool results = false;
    if (lstat(out, &st))
        return output_name(out, err);
    if (stat(out, &st) || !S_ISREG(st.st_mode))
        return 0;
    int rc = store_open(out, STORE_TABLES, &old, &why) ?: store_has_results(old, &results, &why);
    store_close(old);
    if (rc)
        return err_set(err, rc, "%s; tables are made at a new place, or over tables that cutune made", why.msg);
    if (results)
        return err_set(err, ERR_INVALID, "%s: holds tuned results, which tables would replace: choose another name", out);
    return 0;
}

/* Makes the database under another name, and gives it its own when it is complete. */
static int make_database(struct shipping *m, const char *out, struct err *err)
{
    struct output o;
    int rc = check_place(out, err) ?: output_begin(&o, out, err);
    if (rc)
        return rc;
    rc = o.target ? store_open(o.beside.data, STORE_WRITE, &m->store, err) ?: add_ops(m, err) ?: store_seal(m->store, err)
                  : err_set(err, ERR_INVALID, "not a regular file, and a database can be nothing else");
    if (rc)
        err_prefix(err, "%s: ", out);
    store_close(m->store); /* before output_end: to close the file would release SQLite's locks */
    return output_end(&o, rc, err);
}

static int make_tables(struct request *r, struct err *err)
{
    struct buf list = { 0 };
    const char *out = r->args.word, *ptx = r->args.ptx_choice ?: "auto";
    struct shipping m = { .ptx = strcmp(ptx, "no"), .must = !strcmp(ptx, "yes") };
    if (!out || !*out)
        return err_set(err, ERR_USAGE, "the file to write is missing: cutune tables tables.db");
    if (m.ptx && !m.must && strcmp(ptx, "auto"))
        return err_set(err, ERR_USAGE, "--ptx '%s': auto, yes or no", ptx);
    int rc = home_find(&r->home, err);
    if (rc)
        return rc;
    buf_fmt(&list, "%s/db/tables/defaults.txt", r->home);
    m.list = buf_text(&list);
    rc = make_database(&m, out, err);
    if (!rc && m.why_not.code)
        complain("the kernels for CUDA have no PTX, their source only: %s", m.why_not.msg);
    if (!rc)
        text_line("%s: %d default kernels", out, m.records);
    mem_free(m.lines);
    buf_free(&list);
    return rc;
}

const struct command tables_command = {
    .name = "tables",
    .summary = "the database of default configurations that is installed",
    .options = OPTIONS({ "ptx", WORD(ptx_choice), "auto|yes|no", 0,
                         "Whether to compile the kernels for CUDA to PTX: if NVRTC is found (auto, as without this), always (an "
                         "error without NVRTC), or never",
                         0 }),
    .word = "OUT.db",
    .doc = "Makes the tables that are installed with cutune: the default configurations that\n"
           "db/tables/defaults.txt lists, as source for CUDA and OpenCL, and as PTX for CUDA if NVRTC is found."
           "\vExample:\n"
           "  cutune tables --ptx yes build/tables.db",
    .run = make_tables,
};
