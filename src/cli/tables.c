/* `cutune tables`: makes the database that ships, of the ops' default configurations and of what db/tables lists as tuned. A look-up gives one
 * of them where nobody has tuned. To make it takes no device; PTX takes NVRTC. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "model/head.h"
#include "model/kernel.h"
#include "model/plan.h"
#include "op/load.h"
#include "source/source.h"

/* A default of the op, for types and a backend; none that can serve nothing of them. */
static int add_default(struct shipping *m, const struct op_default *d, int *stored, int row, const struct backend *b, struct err *err)
{
    struct buf source = { 0 };
    struct tuned *t = NULL;
    struct served as;
    op_as_default(m->op, d, &as);
    const struct requires *requires = &as.variant.requires;
    bool serves = false;
    int rc = default_serves(&as, row, &b->sample, &serves, err);
    if (rc || !serves || (requires->cc && !b->sample.cc))
        return rc;
    rc = source_render(m->op, &d->config, row, &b->sample, &source, err) ?: tuned_of(&as.op, &as.config, &t, err);
    if (!rc && !mem_grow((void **)&m->queue, m->nqueue, sizeof *m->queue))
        rc = err_nomem(err);
    if (rc) {
        tuned_free(t);
        buf_free(&source);
        return rc;
    }
    m->queue[m->nqueue++] = (struct shipped){ .op = m->op,
                                              .stored = stored,
                                              .row = row,
                                              .backend = b,
                                              .requires = *requires,
                                              .t = t,
                                              .source = source.data,
                                              .compiled = m->ptx && b->compiling->ship };
    return 0;
}

/* Without NVRTC, or with one that does not know the architecture, there is no PTX, and the buffer stays empty: only `--ptx yes` makes that
 * an error. */
static int take_ptx(struct shipping *m, struct compiling *c, int i, struct buf *ptx, struct buf *entries, struct err *err)
{
    const struct shipped *s = &m->queue[i];
    struct err why = { 0 };
    int rc = s->compiled ? compiling_next(c, i, ptx, entries, &why) : 0;
    bool matters = rc != ERR_UNSUPPORTED || m->must;
    if (!rc || !matters) {
        m->why_not = rc ? why : m->why_not;
        return 0;
    }
    struct buf types = { 0 };
    op_row_print(&types, s->op, s->row);
    *err = why;
    err_prefix(err, "%s %s, variant %s %s: ", s->op->name, buf_text(&types), s->t->variant, s->t->config);
    buf_free(&types);
    return rc;
}

static int store_shipped(struct shipping *m, struct compiling *c, int i, struct err *err)
{
    struct shipped *s = &m->queue[i];
    struct buf ptx = { 0 }, entries = { 0 };
    int rc = take_ptx(m, c, i, &ptx, &entries, err) ?: kernel_call(s->t->op, entries.data, entries.len, err);
    if (!rc && (entries.len || !head_asks(s->source))) {
        hash_hex(s->source, strlen(s->source), s->t->key);
        s->t->role = TUNED_DEFAULT;
        s->t->rank = (*s->stored)++;
        /* The driver compiles PTX wherever NVRTC could the source, but before compute capability 7.5, which PTX is for at the least. */
        s->t->source = ptx.len && s->requires.cc >= 75 ? "" : s->source;
        s->t->portable = ptx.len ? ptx.data : NULL;
        struct op listed = *s->op;
        listed.ndefaults = *s->stored; /* those so far */
        rc = store_default(m->store, &s->backend->sample, &listed, s->row, s->t, err);
        m->records++;
    }
    buf_free(&ptx);
    buf_free(&entries);
    return rc;
}

int shipping_op(struct shipping *m, const char *name, struct err *err)
{
    m->op = NULL;
    if (!mem_grow((void **)&m->ops, m->nops, sizeof *m->ops))
        return err_nomem(err);
    int rc = op_load(name, &m->op, err);
    if (!rc)
        m->ops[m->nops++] = m->op;
    return rc;
}

/* A script's own defaults, for all types. */
static int add_script(struct shipping *m, const char *name, struct err *err)
{
    const struct backend *b;
    int rc = shipping_op(m, name, err);
    for (int row = 0; !rc && row < m->op->nrows; row++)
        for (int i = 0; !rc && (b = backend_real(i)); i++) {
            int *stored = arena_array(m->op->arena, 1, sizeof *stored);
            rc = stored ? 0 : err_nomem(err);
            for (int k = 0; !rc && k < m->op->ndefaults; k++)
                rc = add_default(m, &m->op->defaults[k], stored, row, b, err);
        }
    return rc;
}

/* Of the ops that the user named; of all that are installed, if none. */
static int add_scripts(struct shipping *m, const struct words *named, struct err *err)
{
    char **all = NULL;
    int n = named->n, rc = n ? 0 : script_names("ops", &all, &n, err);
    for (int i = 0; !rc && i < n; i++)
        rc = add_script(m, all ? all[i] : named->at[i], err);
    mem_free(all);
    m->op = NULL;
    return rc;
}

/* What one file of a device lists. */
static int add_list(struct shipping *m, const char *path, struct err *err)
{
    struct buf text = { 0 };
    int rc = file_read(path, MAX_LIST, &text, err), number = 0;
    for (char *rest = text.data, *line; !rc && (line = strsep(&rest, "\n"));) {
        number++;
        rc = *line && *line != '#' ? tuned_line(m, line, err) : 0;
        if (rc && rc != ERR_UNSUPPORTED) /* for which no line is to blame */
            err_prefix(err, "%s:%d: ", path, number);
    }
    m->op = NULL;
    buf_free(&text);
    return rc;
}

static int is_list(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 4 && e->d_name[0] != '.' && !strcmp(e->d_name + n - 4, ".txt");
}

/* Of each device that was tuned on. */
static int add_tuned(struct shipping *m, const char *folder, struct err *err)
{
    struct dirent **files = NULL;
    struct buf path = { 0 };
    int rc = 0, n = scandir(folder, &files, is_list, alphasort);
    for (int i = 0; i < n; i++) {
        buf_clear(&path);
        buf_fmt(&path, "%s/%s", folder, files[i]->d_name);
        rc = rc ?: buf_check(&path, err) ?: add_list(m, path.data, err);
        tuned_end(m);
        free(files[i]);
    }
    free(files);
    buf_free(&path);
    return rc;
}

/* All of it, in one transaction. */
static int store_all(struct shipping *m, struct compiling *c, bool tuned, const char *folder, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < m->nqueue; i++)
        rc = store_shipped(m, c, i, err);
    return rc ?: tuned ? add_tuned(m, folder, err) : 0;
}

static void shipping_free(struct shipping *m)
{
    for (int i = 0; i < m->nqueue; i++) {
        tuned_free(m->queue[i].t);
        mem_free(m->queue[i].source);
    }
    for (int i = 0; i < m->nops; i++)
        op_free(m->ops[i]);
    mem_free(m->queue);
    mem_free(m->ops);
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
static int make_database(struct shipping *m, const struct words *names, const char *folder, const char *out, struct err *err)
{
    struct output o;
    struct compiling *c = NULL;
    int rc = check_place(out, err) ?: output_begin(&o, out, err);
    if (rc)
        return rc;
    if (!o.target)
        rc = err_set(err, ERR_INVALID, "not a regular file, and a database can be nothing else");
    rc = rc ?: add_scripts(m, names, err);
    if (!rc && m->ptx)
        rc = compiling_begin(m->queue, m->nqueue, &c, err); /* forks, so before the store is open */
    rc = rc ?: store_open(o.beside.data, STORE_WRITE, &m->store, err) ?: store_begin(m->store, true, err);
    rc = rc ?: store_end(m->store, store_all(m, c, !names->n, folder, err), err) ?: store_seal(m->store, err);
    if (rc)
        err_prefix(err, "%s: ", out);
    compiling_end(c);
    shipping_free(m);
    store_close(m->store); /* before output_end: to close the file would release SQLite's locks */
    return output_end(&o, rc, err);
}

static int make_tables(struct request *r, struct err *err)
{
    struct buf folder = { 0 };
    const char *out = r->args.word, *ptx = r->args.ptx_choice ?: "auto";
    struct shipping m = { .ptx = strcmp(ptx, "no"), .must = !strcmp(ptx, "yes") };
    if (!out || !*out)
        return err_set(err, ERR_USAGE, "the file to write is missing: cutune tables tables.db");
    if (m.ptx && !m.must && strcmp(ptx, "auto"))
        return err_set(err, ERR_USAGE, "--ptx '%s': auto, yes or no", ptx);
    int rc = home_find(&r->home, err);
    if (rc)
        return rc;
    buf_fmt(&folder, "%s/db/tables", r->home);
    rc = buf_check(&folder, err) ?: make_database(&m, &r->args.ops, folder.data, out, err);
    if (!rc && m.why_not.code)
        complain("the kernels for CUDA have no PTX, their source only: %s", m.why_not.msg);
    if (!rc && m.left_out)
        complain("lines left out, as their ops have changed: %d; the first: %s", m.left_out, m.why_left.msg);
    if (!rc && m.winners)
        text_line("%s: %d default kernels, %d tuned problems", out, m.records, m.winners);
    else if (!rc)
        text_line("%s: %d default kernels", out, m.records);
    buf_free(&folder);
    return rc;
}

const struct command tables_command = {
    .name = "tables",
    .summary = "the database of default configurations that is installed",
    .options = OPTIONS({ "op", EACH(ops), "NAME|FILE.lua", 0,
                         "An op of which only the defaults are to be in it, such as for an application that has no other "
                         "tables; may be repeated", 0 },
                       { "ptx", WORD(ptx_choice), "auto|yes|no", 0,
                         "Whether to compile the kernels for CUDA to PTX: if NVRTC is found (auto, as without this), always (an "
                         "error without NVRTC), or never",
                         0 }),
    .word = "OUT.db",
    .doc = "Makes the tables that are installed with cutune: the default configurations of the ops, as source for CUDA and "
           "OpenCL, and as PTX for CUDA if NVRTC is found; and what db/tables lists as tuned on a device, as source, with "
           "--ptx yes as binaries, too."
           "\vExample:\n"
           "  cutune tables --ptx yes build/tables.db",
    .run = make_tables,
};
