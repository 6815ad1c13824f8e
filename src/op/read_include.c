/* Files that templates include, read with the script: only from below its folder or that of the templates. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "model/include.h"
#include "op/read.h"

enum { MAX_FILE = 1 << 20, MAX_ALL = 16 << 20 };

/* A line that includes a file. The functions here hold memory of their own, so they return codes and raise no Lua error. */
struct inclusion {
    struct reader *r;
    const struct text *from;
    const struct line *line;
    struct err *err;
};

static int collect(struct reader *r, struct text *t, struct err *err);

static bool below(const char *folder, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(folder, real))
        return false;
    size_t n = strlen(real);
    return !strncmp(real, path, n) && (path[n] == '/' || (n == 1 && *real == '/'));
}

static int refuse(const struct inclusion *in, const char *why)
{
    return err_set(in->err, ERR_INVALID, "%s:%d: #include \"%.200s\": %s", in->from->name, in->line->number, in->line->name, why);
}

/* The text of the file at this place; *out stays null if there is none. */
static int read_place(const struct inclusion *in, const struct include_place *p, const char **out)
{
    struct reader *r = in->r;
    char path[PATH_MAX], real[PATH_MAX];
    struct buf text = { 0 };
    struct err why = { 0 };
    int n = snprintf(path, sizeof path, "%s/%s", p->shared ? r->templates : r->folder, p->path);
    if (n >= (int)sizeof path)
        return 0;
    if (!realpath(path, real))
        return errno == ENOENT || errno == ENOTDIR ? 0 : refuse(in, strerror(errno));
    if (!below(r->folder, real) && !below(r->templates, real))
        return refuse(in, "a link out of the folder of the script or of the templates");
    int rc = file_read(real, MAX_FILE, &text, &why); /* it never waits, not even for a pipe */
    const char *at = buf_text(&text);
    size_t mark = !strncmp(at, "\xef\xbb\xbf", 3) ? 3 : 0; /* a byte order mark may stand only at the start of a file */
    if (rc)
        rc = rc == ERR_NOMEM ? err_nomem(in->err) : refuse(in, why.msg);
    else if (memchr(at, 0, text.len))
        rc = refuse(in, "not a text: it has a zero byte");
    else if ((r->included += text.len) > MAX_ALL)
        rc = refuse(in, "more than 16 MB are included");
    else if (!(*out = arena_strndup(r->op->arena, at + mark, text.len - mark)))
        rc = err_nomem(in->err);
    buf_free(&text);
    return rc;
}

/* Adds the file to the op, and reads what it includes. text null: only that it lies in a folder of the user's. */
static int keep(const struct inclusion *in, const struct include_place *p, const char *text)
{
    struct op *op = in->r->op;
    struct text t;
    if (op->nincludes == MAX_INCLUDES)
        return refuse(in, "more than 256 files are included");
    if (!op->includes)
        op->includes = arena_array(op->arena, MAX_INCLUDES, sizeof *op->includes);
    const char *name = arena_strdup(op->arena, p->path);
    if (!op->includes || !name)
        return err_nomem(in->err);
    struct include *file = &op->includes[op->nincludes++];
    *file = (struct include){ name, text, p->shared, !text };
    if (!text) {
        file->text = "";
        return 0;
    }
    return text_file(&t, file, in->line->sure, in->err) ?: collect(in->r, &t, in->err);
}

/* Whether the user named a folder with this file. */
static bool is_outside(const struct inclusion *in)
{
    char path[PATH_MAX];
    bool there = false;
    for (int i = 0; i < in->r->op->nheader_dirs && include_path_ok(in->line->name); i++)
        there = there || (snprintf(path, sizeof path, "%s/%s", in->r->op->header_dirs[i], in->line->name) < (int)sizeof path &&
                          !access(path, R_OK));
    return there;
}

static int read_include(const struct inclusion *in)
{
    struct include_place places[MAX_PLACES], outside = { .shared = false };
    bool angled = in->line->kind == LINE_SYSTEM;
    int n = include_places(in->r->op, in->from->file, in->line->name, angled, places);
    if (!n && angled)
        return 0; /* the compiler's own business, as far as it is any */
    if (!n)
        return refuse(in, "not a path below the folder of the script or of the templates");
    for (int i = 0; i < n; i++) {
        const char *text = NULL;
        if (op_include_at(in->r->op, &places[i]) >= 0)
            return 0;
        int rc = read_place(in, &places[i], &text);
        if (rc || text)
            return rc ?: keep(in, &places[i], text);
    }
    if (!angled && is_outside(in)) {
        strcpy(outside.path, in->line->name);
        return op_include_outside(in->r->op, outside.path) ? 0 : keep(in, &outside, NULL);
    }
    if (angled || !in->line->sure)
        return 0; /* an error only for a compiler that gets there */
    return err_set(in->err, ERR_INVALID, "%s:%d: there is no '%.200s' in %s, and none in %s", in->from->name, in->line->number,
                   in->line->name, in->r->folder, in->r->templates);
}

static int collect(struct reader *r, struct text *t, struct err *err)
{
    struct line l;
    int rc = 0;
    while (!rc && text_next(t, &l))
        if ((l.kind == LINE_INCLUDE || l.kind == LINE_SYSTEM) && (t->file || !strstr(l.name, "$(")))
            rc = read_include(&(struct inclusion){ r, t, &l, err });
    return text_end(t, rc, err);
}

int read_includes(struct reader *r, const char *name, const char *text, struct err *err)
{
    bool lua = strstr(text, "//@") || strstr(text, "$(");
    return collect(r, &(struct text){ .name = name, .at = text, .sure = !lua }, err);
}
