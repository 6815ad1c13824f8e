/* One C file of the library's own sources, those of embedded/ in place of what needs a database or a compiler, and the tables. So a
 * look-up and a launch are the same code there and here. */
#include "export/c.h"

#include <string.h>

#include "base/mem.h"
#include "export/c_source.h"
#include "export/c_tables.h"

/* {path, text} of the sources, from the build. */
static const struct {
    const char *path, *text;
} sources[] = {
#include "c_sources.h"
};
enum { SOURCES = sizeof sources / sizeof *sources };

static const char public_header[] = "cutune.h"; /* taken whole */

static const char begin[] = " */\n"
                            "#ifndef _GNU_SOURCE\n"
                            "#define _GNU_SOURCE\n"
                            "#endif\n"
                            "#if defined(__GNUC__)\n"
                            "#pragma GCC diagnostic push\n"
                            "#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                            "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n" /* binaries: every compiler takes them */
                            "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
                            "#pragma GCC diagnostic ignored \"-Wunused-const-variable\"\n"
                            "#if !defined(__clang__)\n"
                            "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n" /* with all in view, it sees ghosts */
                            "#endif\n"
                            "#endif\n\n";
static const char end[] = "\n#if defined(__GNUC__)\n"
                          "#pragma GCC diagnostic pop\n"
                          "#endif\n";

/* What is exported, for a reader. */
static void put_head(struct buf *out, const struct c_tables *t)
{
    buf_str(out,
            "/* Tuned kernels, written by `cutune export --format c` of cutune " CUTUNE_VERSION ". Its calls are those of\n"
            " * cutune.h, which stands below, without the library and without a database: cutune_open ignores its path, and a\n"
            " * refresh finds nothing new. Compile it as C11 and link with -lm -lpthread -ldl.\n *\n");
    for (int i = 0; i < t->nops; i++)
        buf_fmt(out, " * %s: %d winners, %d defaults\n", t->ops[i].op->name, t->ops[i].nwinners, t->ops[i].ndefaults);
    buf_str(out, begin);
}

static int put_file(struct buf *out, struct c_tables *t, struct err *err)
{
    struct c_file files[SOURCES + 1];
    struct buf tables = { 0 };
    int n = 0, rc = c_tables_write(&tables, t, err);
    put_head(out, t);
    if (!rc)
        files[n++] = (struct c_file){ .path = "tables", .text = buf_text(&tables), .embedded = true };
    for (int i = 0; i < SOURCES; i++) {
        const char *path = sources[i].path;
        if (!strcmp(path, public_header)) {
            buf_str(out, sources[i].text);
            continue;
        }
        files[n++] = (struct c_file){ .path = path,
                                      .text = sources[i].text,
                                      .header = path[strlen(path) - 1] == 'h',
                                      .embedded = strstr(path, "/embedded/") != NULL };
    }
    buf_str(out, "\n#define CUTUNE_VERSION \"" CUTUNE_VERSION "\"\n\n");
    if (!rc)
        rc = c_source_write(out, files, n, "cutune_", err);
    buf_str(out, end);
    buf_free(&tables);
    return rc;
}

int c_export(struct store *s, const struct c_choice *choice, struct buf *out, struct err *err)
{
    struct c_tables t = { .store = s, .choice = choice };
    int rc = c_tables_read(&t, err);
    if (!rc)
        rc = put_file(out, &t, err);
    c_tables_free(&t);
    return rc || !out->failed ? rc : err_nomem(err);
}
