/* `cutune tables`: makes the database that ships, with the default configurations of all installed ops: what a look-up answers on a
 * device that nobody has tuned for. It needs no device, and no compiler unless it is to make PTX. */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/shell.h"
#include "cli/targets.h"
#include "cli/text.h"
#include "device/device.h"
#include "op/load.h"
#include "source/source.h"

enum { KEY_PTX = KEY_OWN };
enum { TEMPLATE_S = 10, COMPILER_S = 120 }; /* deadlines */
enum { MAX_PTX = 16 << 20 };
static const char ptx_arch[] = "compute_75"; /* the oldest that NVRTC 13 knows: drivers compile it for all later ones */
static const char ptx_version[] = "6.3";     /* of the language: the oldest that knows that architecture */

struct tables_args {
    struct args args;
    const char *ptx, *out;
};

static const struct argp_option options[] = {
    { "ptx", KEY_PTX, "FOLDER", 0, "Keep the PTX in this folder: make what is missing (needs NVRTC), remove what is not used", 0 },
    OPT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tables_args *tables = state->input;
    switch (key) {
    case KEY_PTX:
        tables->ptx = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (tables->out)
            args_error(state, "unexpected '%s': one file is written", arg);
        tables->out = arg;
        return 0;
    case ARGP_KEY_END:
        if (!tables->out || !*tables->out)
            args_error(state, "the file to write is missing: cutune tables tables.db");
        return 0;
    default:
        return args_key(key, arg, &tables->args, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "OUT.db",
    .doc = "Makes the tables that are installed with cutune: each op's default configurations, for all its element types,\n"
           "as source for CUDA and OpenCL, and as PTX for CUDA where it was made."
           "\vThe PTX is taken from db/tables/ptx, where it is kept as text.\n"
           "After an op or a template was changed, make it anew:\n"
           "  cutune tables --ptx db/tables/ptx build/tables.db",
};

/* What goes on. */
struct making {
    struct store *store;
    const char *folder; /* of the PTX */
    bool make;          /* what of it is missing */
    struct compiler *compiler;
    struct buf *used; /* names of the files that have a kernel */
    int records, without;
};

/* NVRTC writes its own version of the language into PTX, and a driver older than that refuses it, though nothing newer than the
 * architecture is used. A test holds the result against the assembler, wherever there is one. */
static int lower_version(const struct buf *ptx, struct buf *out, struct err *err)
{
    static const char word[] = "\n.version ";
    size_t end = ptx->len;
    while (end && !ptx->data[end - 1]) /* it is a text */
        end--;
    const char *at = strstr(buf_text(ptx), word);
    if (!at)
        return err_set(err, ERR_UNSUPPORTED, "NVRTC's PTX has no .version");
    at += strlen(word);
    const char *rest = at + strcspn(at, "\n");
    buf_put(out, ptx->data, (size_t)(at - ptx->data));
    buf_str(out, ptx_version);
    buf_put(out, rest, (size_t)(ptx->data + end - rest));
    return out->failed ? err_nomem(err) : 0;
}

static int compile(struct making *m, const char *source, struct buf *ptx, struct err *err)
{
    const struct devspec oldest = { .backend = "cuda", .arch = "sm_75", .cc = 75 };
    struct buf own = { 0 }, log = { 0 };
    int rc = m->compiler ? 0 : cuda_backend.compiler_open(&oldest, &m->compiler, err);
    alarm(COMPILER_S);
    if (!rc)
        rc = cuda_backend.compile(m->compiler, &(struct compile_job){ .source = source, .arch = ptx_arch }, &own, NULL, &log, err);
    if (rc == ERR_INVALID && log.len) {
        char line[256];
        compile_log_line(&log, line);
        err_set(err, rc, "%s", line);
    }
    if (!rc)
        rc = lower_version(&own, ptx, err);
    buf_free(&own);
    buf_free(&log);
    return rc;
}

/* The PTX of a source, if it is there or can be made; else the buffer stays empty. */
static int find_ptx(struct making *m, const char *key, const char *source, struct buf *ptx, struct err *err)
{
    struct buf path = { 0 };
    buf_fmt(&path, "%s/%s.ptx", m->folder, key);
    buf_fmt(m->used, "%s ", key);
    int rc = path.failed || m->used->failed ? err_nomem(err) : 0;
    if (!rc && access(path.data, F_OK) == 0)
        rc = file_read(path.data, MAX_PTX, ptx, err);
    else if (!rc && m->make && !(rc = compile(m, source, ptx, err)))
        rc = output_write(path.data, ptx, err);
    if (!rc && strlen(buf_text(ptx)) != ptx->len)
        rc = err_set(err, ERR_INVALID, "%s: not a text", path.data);
    buf_free(&path);
    return rc;
}

/* One default of an op, for types and a backend. */
static int add_default(struct making *m, const struct op *op, int rank, int row, const struct devspec *dev, struct err *err)
{
    struct config config;
    struct buf source = { 0 }, ptx = { 0 };
    struct tuned *t = NULL;
    config_of_default(op, rank, &config);
    const char *backend = op->variants[config.variant].requires.backend;
    if (backend && strcmp(backend, dev->backend) != 0)
        return 0;
    alarm(TEMPLATE_S);
    int rc = source_render(op, &config, row, dev, &source, err);
    if (!rc)
        rc = tuned_of(op, &config, &t, err);
    if (!rc)
        hash_hex(source.data, source.len, t->key);
    bool cuda = strcmp(dev->backend, "cuda") == 0;
    if (!rc && cuda)
        rc = find_ptx(m, t->key, source.data, &ptx, err);
    alarm(0);
    if (!rc) {
        t->role = TUNED_DEFAULT;
        t->rank = rank;
        t->source = source.data;
        t->portable = ptx.len ? ptx.data : NULL;
        rc = store_default(m->store, dev, op, row, t, err);
        m->records++;
        m->without += cuda && !ptx.len;
    }
    if (rc)
        err_prefix(err, "%s, default %d: ", op->name, rank + 1);
    tuned_free(t);
    buf_free(&source);
    buf_free(&ptx);
    return rc;
}

static int add_op(struct making *m, const char *name, struct err *err)
{
    static const struct devspec devices[] = { { .backend = "cuda" }, { .backend = "opencl" } };
    struct op *op = NULL;
    int rc = op_load(name, &op, err);
    for (int row = 0; !rc && row < op->nrows; row++)
        for (int d = 0; !rc && d < 2; d++)
            for (int rank = 0; !rc && rank < op->ndefaults; rank++)
                rc = add_default(m, op, rank, row, &devices[d], err);
    op_free(op);
    return rc;
}

static int add_ops(struct making *m, struct err *err)
{
    char **names = NULL;
    int n = 0, rc = op_names(&names, &n, err);
    if (rc)
        return rc;
    rc = store_begin(m->store, true, err);
    if (!rc) {
        for (int i = 0; !rc && i < n; i++)
            rc = add_op(m, names[i], err);
        rc = store_end(m->store, rc, err);
    }
    for (int i = 0; i < n; i++)
        mem_free(names[i]);
    mem_free(names);
    return rc;
}

static void remove_unused(const struct making *m)
{
    struct buf pattern = { 0 };
    glob_t found = { 0 };
    buf_fmt(&pattern, "%s/*.ptx", m->folder);
    if (!pattern.failed && glob(pattern.data, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char key[HASH_HEX];
            snprintf(key, sizeof key, "%s", strrchr(found.gl_pathv[i], '/') + 1);
            if (!strstr(buf_text(m->used), key))
                unlink(found.gl_pathv[i]);
        }
    globfree(&found);
    buf_free(&pattern);
}

static struct output unfinished; /* the database */

/* A template may hold code of its own, and the compiler may not end. */
static void late(int number)
{
    static const char line[] = "cutune tables: a template or the compiler did not finish in time\n";
    (void)number;
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    output_abandon(&unfinished);
    _exit(FAILED);
}

/* Tables take the place of tables only: of nothing that was measured, and of no other file. */
static int check_place(const char *out, struct err *err)
{
    struct stat st;
    struct store *old = NULL;
    struct err why = { 0 };
    bool results = false;
    if (lstat(out, &st))
        return output_name(out, err); /* or it says so itself */
    if (stat(out, &st) || !S_ISREG(st.st_mode))
        return 0;
    int rc = store_open(out, STORE_TABLES, &old, &why);
    if (!rc)
        rc = store_has_results(old, &results, &why);
    store_close(old);
    if (rc)
        return err_set(err, rc, "%s; tables are made at a new place, or over tables that cutune made", why.msg);
    return results ? err_set(err, ERR_INVALID, "holds tuned results, which tables would replace: choose another name") : 0;
}

/* A database of its own that nobody sees before it is whole. */
static int make_database(struct making *m, const char *out, struct err *err)
{
    struct output *o = &unfinished;
    int rc = check_place(out, err);
    if (rc && strncmp(err->msg, out, strlen(out)) != 0)
        err_prefix(err, "%s: ", out);
    if (!rc)
        rc = output_begin_over(o, out, err);
    if (rc)
        return rc;
    if (!o->beside.len)
        rc = err_set(err, ERR_INVALID, "not a regular file, and a database can be nothing else");
    if (!rc)
        rc = store_open(o->beside.data, STORE_WRITE, &m->store, err);
    if (!rc)
        rc = add_ops(m, err);
    if (!rc)
        rc = store_seal(m->store, err);
    if (rc)
        err_prefix(err, "%s: ", out);
    store_close(m->store); /* before the file, whose end would take SQLite's locks along */
    return output_end(o, rc, err);
}

/* And how to get it. */
static void say_without(const struct making *m, const char *out)
{
    const char *const words[] = { "cutune", "tables", "--ptx", m->folder, out };
    struct buf command = { 0 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        shell_word(&command, words[i]);
    complain(DONE, "%d of the kernels for CUDA have no PTX in %s: %s", m->without, m->folder, buf_text(&command));
    buf_free(&command);
}

int cmd_tables(int argc, char **argv)
{
    struct tables_args args = { 0 };
    struct buf folder = { 0 }, used = { 0 };
    struct err err = { 0 };
    const char *home;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    if (home_find(&home, &err) != 0)
        return complain(FAILED, "%s", err.msg);
    buf_fmt(&folder, "%s/db/tables/ptx", home);
    struct making m = { .folder = args.ptx ? args.ptx : buf_text(&folder), .make = args.ptx, .used = &used };
    signal(SIGALRM, late);
    int rc = make_database(&m, args.out, &err);
    if (!rc && args.ptx)
        remove_unused(&m);
    int code = rc ? complain(FAILED, "%s", err.msg) : DONE;
    if (!rc && m.without)
        say_without(&m, args.out);
    if (!rc)
        text_line("%s: %d default kernels", args.out, m.records);
    if (m.compiler)
        cuda_backend.compiler_close(m.compiler);
    buf_free(&folder);
    buf_free(&used);
    return code;
}
