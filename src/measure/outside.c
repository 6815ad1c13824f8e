/* Runs the outside reference: for each set of inputs these go into files, and what it writes is looked at as any file of a stranger's, and
 * then copied to the device. In the folder of such a set are
 *   reference.json   the call, for a command: the op, sizes, types, and of each argument what it is and its files
 *   call             the same for outside_library, in base/buf.h's wire form
 *   NAME.npy         the contents of inputs and inouts
 *   NAME.npy         or NAME.bin, of an inout NAME.out.npy or NAME.out.bin: what it writes
 *   done             once all of that was right */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/command.h"
#include "measure/internal.h"
#include "op/data_file.h"

enum { PIECE = 4 << 20 };

/* One set of inputs. */
struct setting {
    struct bench *b;
    int pass;
    char folder[4096];
};

static const char *const kinds[] = {
    [ARG_INPUT] = "input", [ARG_OUTPUT] = "output", [ARG_INOUT] = "inout", [ARG_VALUE] = "value", [ARG_SCALAR] = "scalar"
};

bool outside_is_library(const char *reference)
{
    size_t n = strlen(reference);
    return n > 3 && !strcmp(reference + n - 3, ".so") && !strchr(reference, ' ');
}

static int make_file(const struct setting *s, const char *name, int *fd, struct err *err)
{
    char path[sizeof s->folder + MAX_NAME + 16];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return *fd >= 0 ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
}

static int close_file(const struct setting *s, const char *name, int fd, int rc, bool written, struct err *err)
{
    int why = errno;
    bool closed = !close(fd);
    if (rc || (written && closed))
        return rc;
    return err_set(err, ERR_IO, "%s/%s: %s", s->folder, name, strerror(written ? errno : why));
}

static int write_text(const struct setting *s, const char *name, const struct buf *text, struct err *err)
{
    int fd, rc = buf_check(text, err) ?: make_file(s, name, &fd, err);
    return rc ?: close_file(s, name, fd, 0, write_all(fd, buf_text(text), text->len), err);
}

/* ---- inputs */

/* NumPy's header, version 1.0: its length is a multiple of 64. */
static void npy_head(struct buf *out, const struct dtype *t, const int64_t *shape, int rank)
{
    static const char letters[] = { [DT_INT] = 'i', [DT_UINT] = 'u', [DT_FLOAT] = 'f', [DT_COMPLEX] = 'c' };
    bool odd = t->kind == DT_FLOAT && t->bytes <= 2 && strcmp(t->name, "f16") != 0; /* NumPy has no bf16 */
    struct buf dict = { 0 };
    buf_fmt(&dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", odd || t->bytes == 1 ? '|' : '<',
            odd ? 'V' : letters[t->kind], t->bytes);
    for (int i = 0; i < rank; i++)
        buf_fmt(&dict, "%lld,", (long long)shape[i]);
    buf_str(&dict, "), }");
    while ((10 + dict.len + 1) % 64)
        buf_str(&dict, " ");
    buf_str(&dict, "\n");
    buf_put(out, "\x93NUMPY\x01\x00", 8);
    buf_u8(out, (uint8_t)dict.len);
    buf_u8(out, (uint8_t)(dict.len >> 8));
    buf_str(out, buf_text(&dict));
    out->failed |= dict.failed;
    buf_free(&dict);
}

static int write_input(const struct setting *s, int i, const struct buf *head, struct err *err)
{
    const struct bench_arg *a = &s->b->args[i];
    char name[MAX_NAME + 16];
    char *piece = mem_alloc(PIECE);
    bool written = true;
    int fd;
    snprintf(name, sizeof name, "%s.npy", a->arg->name);
    int rc = (piece ? 0 : err_nomem(err)) ?: buf_check(head, err) ?: make_file(s, name, &fd, err);
    if (!rc) {
        written = write_all(fd, head->data, head->len);
        for (int64_t at = 0; !rc && written && at < a->buf.bytes; at += PIECE) {
            int64_t n = a->buf.bytes - at < PIECE ? a->buf.bytes - at : PIECE;
            bench_alive(s->b, -1);
            rc = device_read(s->b->dev, piece, a->buf.inside, at, n, err);
            written = rc || write_all(fd, piece, (size_t)n);
        }
        rc = close_file(s, name, fd, rc, written, err);
    }
    mem_free(piece);
    return rc;
}

/* ---- the call */

static void put_number(struct buf *json, const struct dtype *t, const unsigned char *value)
{
    uint64_t bits = 0;
    double number;
    memcpy(&bits, value, t->bytes < 8 ? (size_t)t->bytes : 8); /* the low bytes come first */
    int unused = 64 - 8 * (t->bytes < 8 ? t->bytes : 8);
    if (t->kind == DT_UINT)
        buf_fmt(json, "%llu", (unsigned long long)bits);
    else if (t->kind == DT_INT)
        buf_fmt(json, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    else if (number_get(t, value, &number) && isfinite(number))
        buf_fmt(json, "%.17g", number);
    else
        buf_str(json, "null");
}

/* What the command is told of argument i, and what outside_library is. */
static int put_arg(const struct setting *s, int i, struct buf *json, struct buf *call, struct err *err)
{
    const struct bench *b = s->b;
    const struct arg *a = b->args[i].arg;
    const bool buffer = arg_is_buffer(a), reads = a->kind == ARG_INPUT || a->kind == ARG_INOUT;
    const char *out = a->kind == ARG_INOUT ? ".out" : "";
    const struct dtype *t = op_arg_dtype(b->set.op, a->type, b->set.row);
    int64_t shape[MAX_RANK];
    unsigned char value[16];
    int size = 0;
    int rc = buffer ? plan_arg_shape(b->plan, i, b->vals, shape, &t, err) : plan_arg_value(b->plan, i, b->vals, value, &size, err);
    if (rc)
        return rc;
    buf_fmt(json, "%s\n  {\"name\": \"%s\", \"kind\": \"%s\", \"type\": \"%s\"", i ? "," : "", a->name, kinds[a->kind], t->name);
    buf_lstr(call, a->name);
    buf_lstr(call, kinds[a->kind]);
    buf_lstr(call, t->name);
    buf_u32(call, buffer ? (uint32_t)a->rank : 0);
    for (int d = 0; buffer && d < a->rank; d++)
        buf_i64(call, shape[d]);
    buf_i64(call, buffer ? b->args[i].buf.bytes : size);
    buf_i64(call, buffer ? b->args[i].buf.bytes / t->bytes : 1);
    if (buffer) {
        struct buf head = { 0 };
        buf_str(json, ", \"shape\": [");
        for (int d = 0; d < a->rank; d++)
            buf_fmt(json, "%s%lld", d ? ", " : "", (long long)shape[d]);
        buf_str(json, "]");
        npy_head(&head, t, shape, a->rank);
        buf_i64(call, reads ? (int64_t)head.len : 0); /* where the elements begin */
        if (reads)
            buf_fmt(json, ", \"read\": \"%s.npy\"", a->name);
        if (b->args[i].written)
            buf_fmt(json, ", \"write\": \"%s%s.npy\"", a->name, out);
        rc = reads ? write_input(s, i, &head, err) : 0;
        buf_free(&head);
    } else {
        buf_str(json, ", \"value\": ");
        put_number(json, t, value);
        buf_bytes(call, value, (size_t)size);
    }
    buf_str(json, "}");
    return rc;
}

static int write_call(const struct setting *s, struct err *err)
{
    const struct task *set = &s->b->set;
    const struct op *op = set->op;
    struct buf json = { 0 }, call = { 0 };
    int rc = 0;
    buf_fmt(&json, "{\"op\": \"%s\", \"pass\": %d, \"sizes\": {", op->name, s->pass);
    buf_lstr(&call, op->name);
    buf_u32(&call, (uint32_t)op->naxes);
    for (int i = 0; i < op->naxes; i++) {
        buf_fmt(&json, "%s\"%s\": %lld", i ? ", " : "", op->axes[i].name, (long long)set->problem.size[i]);
        buf_lstr(&call, op->axes[i].name);
        buf_i64(&call, set->problem.size[i]);
    }
    buf_str(&json, "}, \"types\": {");
    buf_u32(&call, (uint32_t)op->ntypes);
    for (int i = 0; i < op->ntypes; i++) {
        const char *type = op->rows[set->row * op->ntypes + i]->name;
        buf_fmt(&json, "%s\"%s\": \"%s\"", i ? ", " : "", op->types[i], type);
        buf_lstr(&call, op->types[i]);
        buf_lstr(&call, type);
    }
    buf_str(&json, "}, \"arguments\": [");
    buf_u32(&call, (uint32_t)op->nargs);
    for (int i = 0; !rc && i < op->nargs; i++)
        rc = put_arg(s, i, &json, &call, err);
    buf_str(&json, "]}\n");
    rc = rc ?: write_text(s, "reference.json", &json, err) ?: write_text(s, "call", &call, err);
    buf_free(&json);
    buf_free(&call);
    return rc;
}

static void still_alive(void *bench)
{
    bench_alive(bench, -1);
}

static int call(const struct setting *s, struct err *err)
{
    const struct outside *o = &s->b->set.outside;
    char shell[4200];
    snprintf(shell, sizeof shell, "%s \"$@\"", o->command);
    const char *const by_shell[] = { "/bin/sh", "-c", shell, "sh", s->folder, NULL };
    const char *const by_us[] = { o->program, "worker", "reference", s->folder, o->command, NULL };
    const struct command_line line = { o->library ? by_us : by_shell, o->seconds, still_alive, s->b };
    return command_run(&line, err);
}

/* ---- what it gave */

struct taking {
    const struct setting *set;
    struct memory *to;
};

static int take_piece(void *arg, int64_t at, const void *p, size_t n, struct err *err)
{
    const struct taking *t = arg;
    bench_alive(t->set->b, -1);
    return device_write(t->set->b->dev, t->to, at, p, (int64_t)n, err);
}

static int take_output(const struct setting *s, int i, struct op *files, struct err *err)
{
    struct bench *b = s->b;
    struct bench_arg *a = &b->args[i];
    const char *out = a->arg->kind == ARG_INOUT ? ".out" : "";
    char names[2][MAX_NAME + 16], path[sizeof s->folder + MAX_NAME + 16];
    struct data_file *f = &files->args[i].data.file;
    struct stat st;
    snprintf(names[0], sizeof names[0], "%s%s.npy", a->arg->name, out);
    snprintf(names[1], sizeof names[1], "%s%s.bin", a->arg->name, out);
    snprintf(path, sizeof path, "%s/%s", s->folder, names[0]);
    f->name = names[lstat(path, &st) != 0];
    snprintf(path, sizeof path, "%s/%s", s->folder, names[1]);
    if (f->name == names[1] && lstat(path, &st))
        return err_set(err, ERR_INVALID, "it wrote no %s (nor %s)", names[0], names[1]);
    int rc = data_file_look(s->folder, files->arena, f, err)
        ?: data_file_fits(files, b->plan, i, b->vals, err)
        ?: data_files_digest(files, err)
        ?: device_alloc(b->dev, a->buf.bytes, &a->expected[s->pass], err);
    rc = rc ?: data_file_read(files, f, take_piece, &(struct taking){ s, a->expected[s->pass] }, err);
    *f = (struct data_file){ 0 };
    return rc;
}

static int take_all(const struct setting *s, struct err *err)
{
    struct bench *b = s->b;
    struct arg args[MAX_ARGS];
    struct op files = *b->set.op;
    char path[sizeof s->folder + 16];
    snprintf(path, sizeof path, "%s/call", s->folder); /* data files lie beside an op's script */
    memcpy(args, files.args, (size_t)files.nargs * sizeof *args);
    files.arena = arena_new();
    files.args = args;
    files.file = path;
    int rc = files.arena ? 0 : err_nomem(err);
    for (int i = 0; i < files.nargs; i++)
        args[i].data.file = (struct data_file){ 0 };
    for (int i = 0; !rc && i < b->nargs; i++)
        rc = b->args[i].written ? take_output(s, i, &files, err) : 0;
    arena_free(files.arena);
    return rc;
}

static int run_setting(struct setting *s, struct err *err)
{
    const struct buf none = { 0 };
    char path[sizeof s->folder + 16];
    snprintf(s->folder, sizeof s->folder, "%s/pass-%d", s->b->set.outside.folder, s->pass);
    snprintf(path, sizeof path, "%s/done", s->folder);
    if (!access(path, F_OK))
        return take_all(s, err);
    if (mkdir(s->folder, 0700) && errno != EEXIST)
        return err_set(err, ERR_IO, "%s: %s", s->folder, strerror(errno));
    return inputs_fill(s->b, s->pass, err)
        ?: write_call(s, err)
        ?: call(s, err)
        ?: take_all(s, err)
        ?: write_text(s, "done", &none, err);
}

int outside_open(struct bench *b, struct err *err)
{
    int rc = 0;
    for (int pass = 0; !rc && pass < PASSES; pass++)
        rc = run_setting(&(struct setting){ .b = b, .pass = pass }, err);
    return rc;
}
