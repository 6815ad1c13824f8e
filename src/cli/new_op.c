/* `cutune new-op`: the files of an op to begin with. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "op/new.h"

/* A file that is there is never replaced. */
static int write_file(const struct new_file *f, bool look, struct err *err)
{
    struct stat st;
    struct buf path = { 0 }, text = { 0 };
    buf_put(&path, f->name, f->name_bytes);
    buf_put(&text, f->text, f->text_bytes);
    int rc = buf_check(&path, err) ?: buf_check(&text, err);
    if (!rc && look && !lstat(buf_text(&path), &st))
        rc = err_set(err, ERR_INVALID, "%s is there already: choose another name, or another folder", buf_text(&path));
    if (!rc && !look)
        rc = output_write(buf_text(&path), &text, err);
    if (!rc && !look)
        text_line("wrote  %s", buf_text(&path));
    buf_free(&path);
    buf_free(&text);
    return rc;
}

static int new_op(struct request *r, struct err *err)
{
    const char *name = r->args.word;
    struct buf all = { 0 };
    struct new_file files[NEW_FILES];
    int n = 0;
    if (!name)
        return err_set(err, ERR_USAGE, "the op's name is missing, as in `cutune new-op scale`");
    if (!name_ok(name))
        return err_set(err, ERR_USAGE, "'%.80s' is no name: a letter or _, then letters, digits, _, at most %d", name, MAX_NAME);
    int rc = op_new_files(name, r->args.from, &all, files, &n, err);
    for (int i = 0; i < n && !rc; i++)
        rc = write_file(&files[i], true, err);
    for (int i = 0; i < n && !rc; i++)
        rc = write_file(&files[i], false, err);
    buf_free(&all);
    if (!rc)
        text_line("next   cutune run --op ./%s.lua", name);
    return rc == ERR_NOTFOUND ? ERR_USAGE : rc;
}

const struct command new_op_command = {
    .name = "new-op",
    .summary = "the files of a new op, to begin with",
    .options = OPTIONS({ "from", WORD(from), "KERNEL.cu", 0,
                         "A kernel in CUDA C++, OpenCL C or cutune's dialect: its arguments and parameters are read from it", 0 }),
    .word = "NAME",
    .doc = "Writes NAME.lua, the script of an op, and its kernels into the current folder. Comments say\n"
           "what to change, and what is guessed (`?`). No file is replaced."
           "\vExamples:\n"
           "  cutune new-op scale\n"
           "  cutune new-op vadd --from vector_add.cu",
    .run = new_op,
};
