/* `cutune import`: what files from elsewhere say of configurations, into the database as claims. Nothing of a file is run, and nothing of
 * it is served until `cutune run --verify` has measured it here. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "model/pairs.h"
#include "replay/claims.h"

/* What became of a file. */
struct imported {
    const char *file;
    int64_t results, added, replaced, known, kept;
    int64_t left; /* of an op that was not asked for or is not here, or that do not fit the op */
    bool told;    /* why one of these does not fit */
};

static const struct row_column columns[] = {
    { "file", "file", FIELD(struct imported, file) },         { "results", "results", FIELD(struct imported, results) },
    { "added", "new", FIELD(struct imported, added) },        { "replaced", "better", FIELD(struct imported, replaced) },
    { "known", "known", FIELD(struct imported, known) },      { "kept", "behind", FIELD(struct imported, kept) },
    { "left_out", "left out", FIELD(struct imported, left) }, { 0 },
};

struct import {
    struct request *request;
    const struct op *only; /* --op's; null: whatever is installed */
    struct claiming how;
    struct imported now; /* the file that is read, */
    char when[32];       /* and its date */
    bool writing;        /* its claims are being written */
    bool lost;           /* the database failed, and not the file */
    bool partly;         /* something was left out that nobody said to leave out */
    struct buf absent;   /* ops that are not here: ",NAME,NAME," */
    struct err *err;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- the op */

/* Told once of each. */
static void tell_absent(struct import *im, const char *name, const char *why)
{
    struct buf word = { 0 };
    im->partly = true;
    buf_fmt(&word, ",%s,", name);
    if (!strstr(buf_text(&im->absent), buf_text(&word)))
        complain("%s: results of %s are left out: %s", im->now.file, name, why);
    buf_str(&im->absent, buf_text(&word));
    buf_free(&word);
}

/* Null: its results are left out. A file gives only the name of what is installed here, never a script's. */
static const struct op *op_of(struct import *im, const char *name)
{
    struct request *r = im->request;
    struct err why = { 0 };
    if (im->only)
        return !name || !strcmp(name, im->only->name) ? im->only : NULL;
    for (int i = 0; i < r->nops; i++)
        if (!strcmp(r->ops[i]->name, name))
            return r->ops[i];
    if (name_ok(name) && !request_op(r, name, &why))
        return r->op;
    tell_absent(im, name, name_ok(name) ? why.msg : "this is no name of an op");
    return NULL;
}

/* ---- claims */

static int put_claim(void *arg, const struct record *claim)
{
    struct import *im = arg;
    struct request *r = im->request;
    enum claim_fate fate = CLAIM_ADDED;
    int rc = r->store ? 0 : request_database(r, STORE_WRITE, im->err);
    if (!rc && !im->writing) {
        rc = store_begin(r->store, true, im->err);
        im->writing = !rc;
    }
    rc = rc ?: store_claim(r->store, im->how.op, claim, &fate, im->err);
    im->lost = rc;
    im->now.results++;
    im->now.added += fate == CLAIM_ADDED;
    im->now.replaced += fate == CLAIM_REPLACED;
    im->now.known += fate == CLAIM_KNOWN;
    im->now.kept += fate == CLAIM_KEPT;
    return rc;
}

static int import_tables(struct import *im, const char *path)
{
    struct tables tables = { .whole = true };
    int rc = tables_read(path, &tables, im->err);
    for (int i = 0; !rc && i < tables.n; i++) {
        const struct recorded_space *t = tables.at[i];
        if (!t->origin.op && !im->only) {
            rc = err_set(im->err, ERR_USAGE, "--op is missing: %s does not say of which op its results are", path);
            break;
        }
        im->how.op = op_of(im, t->origin.op);
        if (!im->how.op) {
            im->now.left += t->space->count;
            continue;
        }
        rc = claims_of(t, &im->how, put_claim, im, im->err);
        if (rc && !im->lost)
            err_prefix(im->err, "%s: ", path);
        if (rc == ERR_NOTFOUND && !im->lost)
            rc = ERR_USAGE;
    }
    tables_free(&tables);
    return rc;
}

/* One that the op of today cannot have costs itself only. */
static int put_record(void *arg, const struct record *record)
{
    struct import *im = arg;
    struct err *err = im->err, why = { 0 };
    if (record->stale)
        return 0;
    im->how.op = op_of(im, record->op);
    int rc = im->how.op ? claim_of_record(record, &im->how, put_claim, im, err) : 0;
    if (rc != ERR_INVALID || im->lost) {
        im->now.left += !im->how.op;
        return rc;
    }
    im->partly = true;
    im->now.left++;
    if (!im->now.told)
        complain("%s: left out: %s", im->now.file, err->msg);
    im->now.told = true;
    *err = why;
    return 0;
}

/* A database that is read and written at once would have claims of its own results. */
static bool is_own(const struct request *r, const char *path)
{
    struct stat a, b;
    char *usual = NULL;
    if (!r->args.db)
        store_default_path(false, &usual, NULL);
    const char *own = r->args.db ?: usual;
    bool same = own && !stat(own, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    mem_free(usual);
    return same;
}

static int import_database(struct import *im, const char *path)
{
    struct store *from = NULL;
    int rc = is_own(im->request, path) ? err_set(im->err, ERR_USAGE, "%s: the database itself: name another one with --db", path)
                                       : store_open(path, STORE_READ, &from, im->err);
    for (int claims = 0; !rc && claims < 2; claims++)
        rc = store_each_record(from, claims, NULL, NULL, NULL, put_record, im, im->err);
    int damaged = from ? store_left_out(from) : 0;
    store_close(from);
    if (damaged && !rc) {
        complain("%d rows of %s are damaged and left out", damaged, path);
        im->partly = true;
    }
    return rc;
}

/* ---- files */

static int begin_file(struct import *im, const char *path, bool *database)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic];
    struct stat st;
    struct tm tm;
    int fd;
    int rc = file_open(path, &fd, im->err);
    if (rc)
        return rc;
    *database = read(fd, head, sizeof head) == sizeof head && !memcmp(head, magic, sizeof head);
    if (fstat(fd, &st) || !gmtime_r(&st.st_mtime, &tm) || strftime(im->when, sizeof im->when, "%Y-%m-%dT%H:%M:%SZ", &tm) != 20)
        strcpy(im->when, "1970-01-01T00:00:00Z");
    close(fd);
    im->now = (struct imported){ .file = file_name(path) };
    im->how.file = im->now.file;
    im->how.when = im->when;
    return 0;
}

/* All of a file's claims are stored, or none. */
static int import_file(struct import *im, const char *path)
{
    bool database = false;
    int rc = begin_file(im, path, &database);
    rc = rc ?: database ? import_database(im, path) : import_tables(im, path);
    if (im->writing)
        rc = store_end(im->request->store, rc, im->err);
    im->writing = false;
    return rc;
}

/* ---- the command */

static int check_rename(const char *text, struct err *err)
{
    struct pair p;
    int rc = 1;
    while (text && (rc = pair_next(&text, &p, "--rename", err)) > 0)
        ;
    return rc < 0 ? ERR_USAGE : 0;
}

/* What the user says of files that do not say it themselves. */
static int read_options(struct import *im, struct buf *types, struct buf *sizes)
{
    struct request *r = im->request;
    const struct args *args = &r->args;
    if (!args->words.n)
        return err_set(im->err, ERR_USAGE, "a file is wanted: cutune import FILE...");
    if (!args->op && (args->shapes.n || args->dtypes.n || args->variant || args->rename))
        return err_set(im->err, ERR_USAGE, "%s needs --op: it is one of an op's",
                       args->shapes.n   ? "--shape"
                       : args->dtypes.n ? "--dtype"
                       : args->variant  ? "--variant"
                                        : "--rename");
    int rc = check_rename(args->rename, im->err);
    if (rc || !args->op)
        return rc;
    rc = request_op(r, args->op, im->err) ?: request_problems(r, false, im->err);
    if (rc)
        return rc;
    if (args->variant && op_variant(r->op, args->variant) < 0)
        return err_set(im->err, ERR_USAGE, "--variant '%.80s': %s has the variants %s", args->variant, r->op->name,
                       name_list(NAMED(r->op->variants, r->op->nvariants)).text);
    im->only = r->op;
    op_row_print(types, r->op, r->rows[0]);
    if (r->nproblems)
        problem_print(sizes, r->op, &r->problems[0]);
    im->how = (struct claiming){ .device = args->from, .variant = args->variant, .rename = args->rename };
    im->how.types = buf_text(types);
    im->how.sizes = r->nproblems ? buf_text(sizes) : NULL;
    return buf_check(types, im->err) ?: buf_check(sizes, im->err);
}

static int import(struct request *r, struct err *err)
{
    struct import im = { .request = r, .how.device = r->args.from, .err = err };
    struct buf types = { 0 }, sizes = { 0 };
    struct rows rows = rows_of(columns, r->args.json);
    int64_t results = 0;
    int failed = 0, rc = read_options(&im, &types, &sizes);
    for (int i = 0; !rc && i < r->args.words.n; i++) {
        rc = import_file(&im, r->args.words.at[i]);
        if (!rc) {
            rows_add(&rows, "", &im.now);
            results += im.now.results;
        } else if (rc != ERR_USAGE && !im.lost) { /* the others are imported */
            if (rc < 0)
                complain("%s", err->msg);
            failed = FAILED;
            rc = 0;
        }
    }
    rc = rows_end(&rows, rc, err);
    if (!rc && results && !r->args.json)
        text_line("not verified here: `cutune list --claims` lists them, `cutune run --op NAME --verify` measures them");
    buf_free(&types);
    buf_free(&sizes);
    buf_free(&im.absent);
    return rc ?: failed ?: im.partly ? FAILED : 0;
}

const struct command import_command = {
    .name = "import",
    .summary = "results of other databases and tools, to be verified",
    .word = "FILE...",
    .words = true,
    .options = OPTIONS(
        { "op", WORD(op), "NAME|FILE.lua", 0, "The op that they are of; without it the installed ones that the files name", 0 },
        { OPT_INCLUDE }, { OPT_SHAPE("The problem's sizes, where a file does not say them") },
        { OPT_DTYPE("Its element types, where a file does not say them; without it f32, or the op's first") },
        { "from", WORD(from), "'NVIDIA A100'", 0, "The device that was measured on, where a file does not say it", 0 },
        { "variant", WORD(variant), "NAME", 0,
          "Of the op, where a file does not say it; without it the one that its parameters fit", 0 },
        { "rename", WORD(rename), "block_size_x=BX,...", 0, "What the op calls parameters that a file calls otherwise", 0 },
        { OPT_DB }, { OPT_JSON }),
    .doc = "Takes what files say of configurations into the database, as claims: a T4 result file, a cache file "
           "of Kernel Tuner, what `cutune list --json` and `cutune export` print, gzipped or not; or another "
           "database of cutune's."
           "\vA claim is never served, and takes the place of nothing that was measured here. Of two claims of the "
           "same device, problem and configuration the newer one stays, and the faster one. "
           "`cutune run --verify` measures claims here.\n\n"
           "Examples:\n"
           "  cutune import other.db\n"
           "  cutune import results.json --op NAME --shape m=1111,n=113\n"
           "  cutune import cache.json.gz --op ./my_op.lua --shape n=1000 --rename block_size_x=BX",
    .run = import,
};
