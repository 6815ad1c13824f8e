#include "op/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/plan.h"
#include "op/known_digest.h"
#include "op/npy.h"

enum { PIECE = 1 << 22 };

struct folder {
    char path[PATH_MAX];
};

static struct folder folder_of(const struct op *op)
{
    struct folder f;
    const char *slash = op->file ? strrchr(op->file, '/') : NULL;
    snprintf(f.path, sizeof f.path, "%.*s", slash ? (int)(slash - op->file + 1) : 1, slash ? op->file : ".");
    return f;
}

/* ---- opening one: below the folder, no link out of it, and a regular file */

static int open_below(const char *folder, const char *name, int *fd, struct stat *st, struct err *err)
{
    char path[PATH_MAX], real[PATH_MAX], root[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n >= (int)sizeof path || !realpath(folder, root) || !realpath(path, real))
        return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_INVALID, "%s: %s", name,
                       n >= (int)sizeof path ? "its path is too long" : strerror(errno));
    size_t length = strcmp(root, "/") ? strlen(root) : 0;
    if (strncmp(real, root, length) || real[length] != '/')
        return err_set(err, ERR_INVALID, "%s: a link out of its folder", name);
    if (stat(real, st) || !S_ISREG(st->st_mode)) /* a device is not even opened */
        return err_set(err, ERR_INVALID, "%s: not a regular file", name);
    *fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (*fd < 0)
        return err_set(err, ERR_INVALID, "%s: %s", name, strerror(errno));
    if (!fstat(*fd, st) && S_ISREG(st->st_mode))
        return 0;
    close(*fd);
    return err_set(err, ERR_INVALID, "%s: not a regular file", name);
}

/* As much as there is, up to n; negative: errno. */
static ssize_t read_some(int fd, char *to, size_t n)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = read(fd, to + have, n - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return got;
        if (!got)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

/* ---- the header */

static int count_bytes(struct data_file *f, const char *element, int64_t there, struct err *err)
{
    int64_t want = strtol(element + 1, NULL, 10);
    for (int i = 0; i < f->rank; i++)
        if (__builtin_mul_overflow(want, f->shape[i], &want))
            return err_set(err, ERR_INVALID, "its shape does not fit 64 bits");
    if (want != there)
        return err_set(err, ERR_INVALID, "its header promises %lld bytes of elements, and it has %lld", (long long)want,
                       (long long)there);
    return 0;
}

static int look(int fd, const struct stat *st, struct arena *arena, struct data_file *f, struct err *err)
{
    char element[DATA_ELEMENT] = "", *start;
    size_t length = strlen(f->name);
    bool npy = length > 4 && !strcmp(f->name + length - 4, ".npy");
    if (st->st_size > (int64_t)DATA_FILE_GB << 30)
        return err_set(err, ERR_INVALID, "larger than %d GB", DATA_FILE_GB);
    if (!st->st_size)
        return err_set(err, ERR_INVALID, "the file is empty");
    start = mem_alloc(NPY_HEADER);
    ssize_t n = start ? read_some(fd, start, NPY_HEADER) : 0;
    int rc = !start ? err_nomem(err) : n < 0 ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
    if (!rc && npy != npy_is(start, (size_t)n))
        rc = err_set(err, ERR_INVALID,
                     npy ? "it does not begin as a file of NumPy's: a raw file is named .bin, say"
                         : "it begins as a file of NumPy's: name it .npy");
    f->at = 0;
    if (!rc && npy)
        rc = npy_read(start, (size_t)n, element, f, err) ?: count_bytes(f, element, st->st_size - f->at, err);
    mem_free(start);
    f->bytes = st->st_size - f->at;
    if (!rc && npy && !(f->element = arena_strdup(arena, element)))
        rc = err_nomem(err);
    return rc;
}

int data_file_look(const char *folder, struct arena *arena, struct data_file *f, struct err *err)
{
    int fd;
    struct stat st;
    int rc = open_below(folder, f->name, &fd, &st, err);
    if (rc)
        return rc;
    rc = look(fd, &st, arena, f, err);
    close(fd);
    if (rc && rc != ERR_NOMEM)
        err_prefix(err, "%s: ", f->name);
    return rc;
}

/* ---- the contents */

typedef int each_piece(void *arg, int64_t at, const void *p, size_t n, struct err *err);

/* The digest is one of the digests of the pieces. */
static int read_pieces(int fd, const struct data_file *f, each_piece *each, void *arg, char digest[HASH_HEX], struct err *err)
{
    struct buf digests = { 0 };
    char *piece = mem_alloc(PIECE), hash[HASH_HEX];
    int64_t at = 0, end = f->at + f->bytes;
    int rc = piece ? 0 : err_nomem(err);
    while (!rc && at < end) {
        ssize_t n = read_some(fd, piece, end - at < PIECE ? (size_t)(end - at) : PIECE);
        if (n <= 0)
            rc = err_set(err, ERR_INVALID, "%s: %s", f->name, n ? strerror(errno) : "it has become shorter");
        if (rc)
            break;
        hash_hex(piece, (size_t)n, hash);
        buf_str(&digests, hash);
        int64_t skip = f->at > at ? f->at - at : 0;
        if (each && skip < n)
            rc = each(arg, at + skip - f->at, piece + skip, (size_t)(n - skip), err);
        at += n;
    }
    mem_free(piece);
    return hash_buf(&digests, rc, digest, err);
}

static int changed(const struct data_file *f, struct err *err)
{
    return err_set(err, ERR_INVALID, "%s: it has changed since the script was read: run again", f->name);
}

static int open_again(const struct op *op, const struct data_file *f, int *fd, struct stat *st, struct err *err)
{
    struct folder folder = folder_of(op);
    int rc = open_below(folder.path, f->name, fd, st, err);
    if (!rc && st->st_size != f->at + f->bytes) {
        close(*fd);
        rc = changed(f, err);
    }
    return rc;
}

int data_file_read(const struct op *op, const struct data_file *f, each_piece *each, void *arg, struct err *err)
{
    char digest[HASH_HEX];
    struct stat st;
    int fd, rc = open_again(op, f, &fd, &st, err);
    if (rc)
        return rc;
    rc = read_pieces(fd, f, each, arg, digest, err);
    close(fd);
    if (!rc && (!f->digest || strcmp(digest, f->digest))) {
        forget_digest(&st);
        rc = changed(f, err);
    }
    return rc;
}

/* Only what `keep` is said for is looked for in the cache. */
static int digest_of(const struct op *op, const struct data_file *f, bool keep, char digest[HASH_HEX], struct err *err)
{
    struct stat st;
    int fd, rc = open_again(op, f, &fd, &st, err);
    if (rc)
        return rc;
    if (!keep || !known_digest(&st, digest)) {
        rc = read_pieces(fd, f, NULL, NULL, digest, err);
        if (!rc && keep)
            know_digest(fd, &st, digest);
    }
    close(fd);
    return rc;
}

int data_files_digest(struct op *op, bool keep, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < op->nargs; i++) {
        struct data_file *f = &op->args[i].data.file;
        char digest[HASH_HEX];
        if (!f->name)
            continue;
        rc = digest_of(op, f, keep, digest, err);
        if (!rc && !(f->digest = arena_strdup(op->arena, digest)))
            rc = err_nomem(err);
        if (rc && rc != ERR_NOMEM)
            err_prefix(err, "argument %s: ", op->args[i].name);
    }
    return rc;
}

/* ---- whether it is what an argument is */

/* NumPy's letter and bytes as its users know them: f8 is float64, where i8 of ours has 8 bits. */
static const char *numpy_name(const char *element, char out[16])
{
    static const struct {
        char letter;
        const char *name;
    } names[] = { { 'i', "int" }, { 'u', "uint" }, { 'f', "float" }, { 'c', "complex" }, { 'V', "void" } };
    snprintf(out, 16, "%s", strcmp(element, "b1") ? element : "bool");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*element == names[i].letter)
            snprintf(out, 16, "%s%d", names[i].name, 8 * atoi(element + 1));
    return out;
}

/* "3 x 4 f32" of an argument, "3 x 4 float32" of a file. */
static void print_shape(struct buf *out, const int64_t *shape, int rank, const char *element)
{
    for (int i = 0; i < rank; i++)
        buf_fmt(out, "%s%lld", i ? " x " : "", (long long)shape[i]);
    buf_fmt(out, "%s%s", rank ? " " : "one ", element);
}

const char *data_element(const struct dtype *t, char out[8])
{
    static const char letters[] = { [DT_INT] = 'i', [DT_UINT] = 'u', [DT_FLOAT] = 'f', [DT_COMPLEX] = 'c' };
    bool odd = t->kind == DT_FLOAT && t->bytes <= 2 && strcmp(t->name, "f16") != 0;
    snprintf(out, 8, "%c%d", odd ? 'V' : letters[t->kind], t->bytes);
    return out;
}

static bool element_is(const char *element, const struct dtype *t)
{
    char want[8];
    bool truth = !strcmp(element, "b1") && t->bytes == 1 && t->kind != DT_FLOAT;
    return truth || !strcmp(element, data_element(t, want));
}

int data_file_fits(const struct op *op, const struct plan *plan, int arg, const struct val *slots, struct err *err)
{
    const struct arg *a = &op->args[arg];
    const struct data_file *f = &a->data.file;
    const struct dtype *t;
    int64_t shape[MAX_RANK], bytes;
    int rc = plan_arg_bytes(plan, arg, slots, &bytes, err) ?: plan_arg_shape(plan, arg, slots, shape, &t, err);
    if (rc)
        return rc;
    if (!f->element)
        return bytes == f->bytes ? 0
                                 : err_set(err, ERR_INVALID, "argument %s: %s has %lld bytes, this problem's has %lld", a->name,
                                           f->name, (long long)f->bytes, (long long)bytes);
    bool same = f->rank == a->rank;
    for (int i = 0; same && i < f->rank; i++)
        same = f->shape[i] == shape[i];
    if (same && element_is(f->element, t))
        return 0;
    struct buf has = { 0 }, want = { 0 };
    char name[16], element[8];
    print_shape(&has, f->shape, f->rank, numpy_name(f->element, name));
    print_shape(&want, shape, a->rank, t->name);
    if (same && *f->element == 'f' && *data_element(t, element) == 'f') /* NumPy computes in float64 unless it is told */
        buf_fmt(&want, ": save it with .astype(\"%s\")", numpy_name(element, name));
    rc = err_set(err, ERR_INVALID, "argument %s: %s has %s, this problem's is %s", a->name, f->name, buf_text(&has),
                 buf_text(&want));
    buf_free(&has);
    buf_free(&want);
    return rc;
}
