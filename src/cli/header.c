/* `cutune header`: typed calls of ops, as a C header. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "export/header.h"
#include "op/load.h"

struct header_args {
    struct args args;
    const char *words[MAX_WORDS]; /* --op */
    int nwords;
    const char *file; /* -o */
};

static const struct argp_option options[] = {
    { "op", KEY_OP, "NAME|FILE.lua", 0, "An op; may be repeated. Without it, all that `cutune ops` lists", 0 },
    { "output", 'o', "FILE", 0, "Where the header goes; stdout without it", 0 },
    OPT_END,
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct header_args *header = state->input;
    switch (key) {
    case KEY_OP:
        if (header->nwords == MAX_WORDS)
            args_error(state, "--op '%s': at most %d of them in one command", arg, MAX_WORDS);
        header->words[header->nwords++] = arg;
        return 0;
    case 'o':
        if (!*arg)
            args_error(state, "--output '': the name of a file is wanted");
        header->file = arg;
        return 0;
    default:
        return args_key(key, arg, &header->args, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Writes a C header with a function for each op, which looks up its fastest kernel and launches it:\n"
           "buffers and sizes are its parameters, by their names. For use with libcutune, in C or C++."
           "\vExamples:\n"
           "  cutune header -o cutune_ops.h\n"
           "  cutune header --op ./my_op.lua -o my_ops.h",
};

static int load(const char *word, struct op **op)
{
    struct err err = { 0 };
    int rc = op_load(word, op, &err);
    return rc ? complain(rc == ERR_NOTFOUND ? USAGE : FAILED, "%s", err.msg) : DONE;
}

/* A file that the op names is looked for beside its script, then among the templates. */
static int spare_named(const struct op *op, const char *file, const char *name, struct err *err)
{
    const char *slash = op->file ? strrchr(op->file, '/') : NULL, *home = NULL;
    struct buf path = { 0 };
    buf_put(&path, op->file ? op->file : "", slash ? (size_t)(slash + 1 - op->file) : 0);
    buf_str(&path, name);
    int rc = path.failed ? err_nomem(err) : output_spares(file, path.data, err);
    if (!rc)
        rc = home_find(&home, err);
    buf_clear(&path);
    if (!rc)
        buf_fmt(&path, "%s/templates/%s", home, name);
    if (!rc)
        rc = path.failed ? err_nomem(err) : output_spares(file, path.data, err);
    buf_free(&path);
    return rc;
}

/* An op's own files are no place for its header. */
static int spare_op(const struct op *op, const char *file, struct err *err)
{
    int rc = op->file ? output_spares(file, op->file, err) : 0;
    for (int i = 0; !rc && i < op->nvariants; i++)
        rc = spare_named(op, file, op->variants[i].template_name, err);
    if (!rc && op->reference_name)
        rc = spare_named(op, file, op->reference_name, err);
    for (int i = 0; !rc && i < op->nincludes; i++)
        rc = spare_named(op, file, op->includes[i].name, err);
    return rc;
}

/* Only a header that is right as a whole replaces what was there. */
static int write_header(struct op *const *ops, int n, const char *file)
{
    struct err err = { 0 };
    struct buf text = { 0 };
    for (int i = 0; file && i < n; i++)
        if (spare_op(ops[i], file, &err))
            return complain(FAILED, "%s", err.msg);
    int code = header_write(&text, ops, n, &err) != 0 ? complain(FAILED, "%s", err.msg) : DONE;
    if (code == DONE && file && output_write(file, &text, &err))
        code = complain(FAILED, "%s", err.msg);
    else if (code == DONE && !file)
        fputs(buf_text(&text), stdout);
    buf_free(&text);
    return code;
}

/* Without --op: all ops' names. */
static int all_names(char ***names, int *n)
{
    struct err err = { 0 };
    return op_names(names, n, &err) != 0 ? complain(FAILED, "%s", err.msg) : DONE;
}

int cmd_header(int argc, char **argv)
{
    struct header_args header = { 0 };
    char **names = NULL;
    int nnames = 0, nops = 0, code = DONE;
    argp_parse(&argp, argc, argv, 0, NULL, &header);
    if (!header.nwords)
        code = all_names(&names, &nnames);
    int most = header.nwords ? header.nwords : nnames;
    struct op **ops = mem_array((size_t)most + 1, sizeof *ops);
    if (!ops)
        code = complain(FAILED, "out of memory");
    while (code == DONE && nops < most) {
        code = load(header.nwords ? header.words[nops] : names[nops], &ops[nops]);
        nops += code == DONE;
    }
    if (code == DONE)
        code = write_header(ops, nops, header.file);
    while (nops)
        op_free(ops[--nops]);
    while (nnames)
        mem_free(names[--nnames]);
    mem_free(ops);
    mem_free(names);
    return code;
}
