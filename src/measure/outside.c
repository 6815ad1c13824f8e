/* Runs the outside reference: for each set of inputs these go into files, and what it writes is looked at as any file of a stranger's, and
 * then copied to the device. In the folder of such a set are
 *   reference.json   the call, for a command: the op, sizes, types, and of each argument what it is and its files
 *   task             for outside_library: the task that this process has
 *   NAME.npy         the contents of inputs and inouts
 *   NAME.npy         or NAME.bin, of an inout NAME.out.npy or NAME.out.bin: what it writes
 *   done             once all of that was right */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "child/command.h"
#include "measure/element.h"
#include "measure/internal.h"
#include "op/data_file.h"

enum { PIECE = 4 << 20 };

/* One set of inputs. */
struct setting {
    struct bench *b;
    int pass;
    char folder[4096];
};

const char *const outside_kinds[] = {
    [ARG_INPUT] = "input", [ARG_OUTPUT] = "output", [ARG_INOUT] = "inout", [ARG_VALUE] = "value", [ARG_SCALAR] = "scalar"
};

bool outside_is_library(const char *reference)
{
    size_t n = strlen(reference);
    return n > 3 && !strcmp(reference + n - 3, ".so") && !strchr(reference, ' ');
}

static FILE *file_begin(const struct setting *s, const char *name)
{
    char path[sizeof s->folder + MAX_NAME + 16];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    return fopen(path, "we");
}

/* rc: what else went wrong while it was written. f null: it could not be made. */
static int file_end(const struct setting *s, const char *name, FILE *f, int rc, struct err *err)
{
    bool good = f && !ferror(f);
    good = f && !fclose(f) && good;
    return rc || good ? rc : err_set(err, ERR_IO, "%s/%s: %s", s->folder, name, strerror(errno));
}

static int write_text(const struct setting *s, const char *name, const struct buf *text, struct err *err)
{
    int rc = buf_check(text, err);
    FILE *f = rc ? NULL : file_begin(s, name);
    if (f)
        fwrite(buf_text(text), 1, text->len, f);
    return file_end(s, name, f, rc, err);
}

/* ---- inputs */

/* NumPy's header, version 1.0: its length is a multiple of 64. */
static void npy_head(struct buf *out, const struct dtype *t, const int64_t *shape, int rank)
{
    char element[8];
    const bool swaps = *data_element(t, element) != 'V' && t->bytes > 1; /* it has an order of bytes */
    struct buf dict = { 0 };
    buf_fmt(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", swaps ? '<' : '|', element);
    for (int i = 0; i < rank; i++)
        buf_fmt(&dict, "%lld,", (long long)shape[i]);
    buf_str(&dict, "), }");
    while (!dict.failed && (10 + dict.len + 1) % 64)
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
    snprintf(name, sizeof name, "%s.npy", a->arg->name);
    int rc = (piece ? 0 : err_nomem(err)) ?: buf_check(head, err);
    FILE *f = rc ? NULL : file_begin(s, name);
    if (f)
        fwrite(head->data, 1, head->len, f);
    for (int64_t at = 0; f && !rc && !ferror(f) && at < a->buf.bytes; at += PIECE) {
        int64_t n = MIN(PIECE, a->buf.bytes - at);
        bench_alive(s->b, DOES_ANY);
        rc = device_read(s->b->dev, piece, a->buf.inside, at, n, err);
        if (!rc)
            fwrite(piece, 1, (size_t)n, f);
    }
    mem_free(piece);
    return file_end(s, name, f, rc, err);
}

/* ---- the call */

static int put_buffer(const struct setting *s, int i, struct buf *json, struct err *err)
{
    const struct bench_arg *a = &s->b->args[i];
    const bool reads = a->arg->kind != ARG_OUTPUT;
    const struct dtype *t;
    int64_t shape[MAX_RANK];
    struct buf head = { 0 };
    int rc = plan_arg_shape(s->b->plan, i, s->b->vals, shape, &t, err);
    if (rc)
        return rc;
    buf_str(json, ", \"shape\": [");
    for (int d = 0; d < a->arg->rank; d++)
        buf_fmt(json, "%s%lld", d ? ", " : "", (long long)shape[d]);
    buf_str(json, "]");
    if (reads)
        buf_fmt(json, ", \"read\": \"%s.npy\"", a->arg->name);
    if (a->written)
        buf_fmt(json, ", \"write\": \"%s%s.npy\"", a->arg->name, reads ? ".out" : "");
    npy_head(&head, t, shape, a->arg->rank);
    rc = reads ? write_input(s, i, &head, err) : 0;
    buf_free(&head);
    return rc;
}

static int put_value(const struct setting *s, int i, const struct dtype *t, struct buf *json, struct err *err)
{
    unsigned char value[16];
    int size;
    int rc = (s->b->set.other_scalars ? plan_arg_other : plan_arg_value)(s->b->plan, i, s->b->vals, value, &size, err);
    buf_str(json, ", \"value\": ");
    if (!rc)
        number_print(json, t, value, true);
    return rc;
}

static int write_json(const struct setting *s, struct err *err)
{
    const struct task *set = &s->b->set;
    const struct op *op = set->op;
    struct buf json = { 0 };
    int rc = 0;
    buf_fmt(&json, "{\"op\": \"%s\", \"pass\": %d, \"sizes\": {", op->name, s->b->variation ? PASSES : s->pass);
    for (int i = 0; i < op->naxes; i++)
        buf_fmt(&json, "%s\"%s\": %lld", i ? ", " : "", op->axes[i].name, (long long)set->problem.size[i]);
    buf_str(&json, "}, \"types\": {");
    for (int i = 0; i < op->ntypes; i++)
        buf_fmt(&json, "%s\"%s\": \"%s\"", i ? ", " : "", op->types[i], op->rows[set->row * op->ntypes + i]->name);
    buf_str(&json, "}, \"arguments\": [");
    for (int i = 0; !rc && i < op->nargs; i++) {
        const struct arg *a = &op->args[i];
        const struct dtype *t = op_arg_dtype(op, a->type, set->row);
        buf_fmt(&json, "%s\n  {\"name\": \"%s\", \"kind\": \"%s\", \"type\": \"%s\"", i ? "," : "", a->name, outside_kinds[a->kind],
                t->name);
        rc = arg_is_buffer(a) ? put_buffer(s, i, &json, err) : put_value(s, i, t, &json, err);
        buf_str(&json, "}");
    }
    buf_str(&json, "]}\n");
    rc = rc ?: write_text(s, "reference.json", &json, err);
    buf_free(&json);
    return rc;
}

static int write_task(const struct setting *s, struct err *err)
{
    struct buf task = { 0 };
    task_put(&task, &s->b->set);
    int rc = write_text(s, "task", &task, err);
    buf_free(&task);
    return rc;
}

static void still_alive(void *bench)
{
    bench_alive(bench, DOES_ANY);
}

static int call(const struct setting *s, struct err *err)
{
    const struct outside *o = &s->b->set.outside;
    char shell[4200];
    snprintf(shell, sizeof shell, "%s \"$@\"", o->command);
    const char *const by_shell[] = { "/bin/sh", "-c", shell, "sh", s->folder, NULL };
    const char *const by_us[] = { o->program, "worker", "reference", s->folder, o->command, NULL };
    const struct command_line line = { outside_is_library(o->command) ? by_us : by_shell, o->seconds, still_alive, s->b };
    return command_run(&line, err);
}

/* ---- what it gave */

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
        ?: data_files_digest(files, false, err)
        ?: device_alloc(b->dev, a->buf.bytes, &a->expected[s->pass], err)
        ?: data_copy(b, files, f, a->expected[s->pass], err);
    *f = (struct data_file){ 0 };
    return rc;
}

static int take_all(const struct setting *s, struct err *err)
{
    struct bench *b = s->b;
    struct arg args[MAX_ARGS];
    struct op files = *b->set.op;
    char path[sizeof s->folder + 16];
    snprintf(path, sizeof path, "%s/task", s->folder); /* data files lie beside an op's script */
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
    if (s->b->variation)
        snprintf(s->folder, sizeof s->folder, "%s/other-%016" PRIx64, s->b->set.outside.folder, s->b->variation);
    snprintf(path, sizeof path, "%s/done", s->folder);
    if (!access(path, F_OK))
        return take_all(s, err);
    if (mkdir(s->folder, 0700) && errno != EEXIST)
        return err_set(err, ERR_IO, "%s: %s", s->folder, strerror(errno));
    return inputs_fill(s->b, s->pass, err)
        ?: write_json(s, err)
        ?: write_task(s, err)
        ?: call(s, err)
        ?: take_all(s, err)
        ?: write_text(s, "done", &none, err);
}

int outside_open(struct bench *b, struct err *err)
{
    int rc = 0;
    for (int pass = 0; !rc && pass < (b->variation ? 1 : PASSES); pass++)
        rc = run_setting(&(struct setting){ .b = b, .pass = pass }, err);
    return rc;
}
