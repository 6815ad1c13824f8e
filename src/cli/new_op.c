/* `cutune new-op`: the files of an op to begin with. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "device/backend.h"
#include "device/device.h"
#include "op/load.h"
#include "op/new.h"

/* A file that is there is never replaced. */
static int write_file(const struct new_file *f, bool look, struct err *err)
{
    struct stat st;
    if (!f->name_bytes) {
        if (!look)
            complain("note: %.*s", (int)f->text_bytes, f->text);
        return 0;
    }
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

/* Results are stored by the op's name. */
static int check_free(const char *name, struct err *err)
{
    char path[PATH_MAX];
    const char *home;
    int rc = home_find(&home, err);
    int n = rc ? 0 : script_find(home, "ops", name, path);
    if (n > 0 && n < (int)sizeof path && !access(path, F_OK))
        rc = err_set(err, ERR_USAGE, "there is an op %s already (`cutune ops`), and results go by the name: choose another", name);
    return rc;
}

/* The backend of the script's kernels, if they are in a language of their own, it compiles without a device, and none is here. */
static const struct backend *absent_backend(const struct new_file *script)
{
    static const char says[] = "language = \"";
    static struct devspec one;
    struct err why;
    const char *at = memmem(script->text, script->text_bytes, says, sizeof says - 1);
    char name[16] = "";
    if (at)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + sizeof says - 1, "\""), at + sizeof says - 1);
    const struct backend *b = backend_find(name);
    return b && b->compiling->arch && b->list(&one, 1, &why) <= 0 ? b : NULL;
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
    int rc = check_free(name, err) ?: op_new_files(name, r->args.from, &all, files, &n, err);
    for (int i = 0; i < n && !rc; i++)
        rc = write_file(&files[i], true, err);
    for (int i = 0; i < n && !rc; i++)
        rc = write_file(&files[i], false, err);
    const struct backend *absent = rc ? NULL : absent_backend(files);
    buf_free(&all);
    if (!rc && r->args.from)
        text_line("read   %s.lua: what is marked ? was guessed", name);
    if (absent) {
        text_line("next   cutune show --op ./%s.lua --arch sm_90 --ptx   (there is no %s device here to run it on)", name, absent->name);
        text_line("or     write KERNEL and GLOBAL in it, as docs/op-authors.md says in section 3, and it runs on every device");
    } else if (!rc)
        text_line("next   cutune run --op ./%s.lua", name);
    return rc == ERR_NOTFOUND ? ERR_USAGE : rc;
}

const struct command new_op_command = {
    .name = "new-op",
    .summary = "the files of a new op, to begin with",
    .options = OPTIONS({ "from", WORD(from), "KERNEL.cu", 0,
                         "A kernel in CUDA C++, OpenCL C or cutune's dialect: its arguments and parameters are read from it", 0 }),
    .word = "NAME",
    .doc = "Writes NAME.lua, the script of an op, and its kernels into the current folder. Comments say "
           "what to change, and what is guessed (`?`). No file is replaced."
           "\vExamples:\n"
           "  cutune new-op scale\n"
           "  cutune new-op vadd --from vector_add.cu",
    .run = new_op,
};
