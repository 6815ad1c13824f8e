/* Files that templates include, read with the script: only from below its folder or that of the templates. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "model/include.h"
#include "op/read.h"

enum { MAX_FILE = 1 << 20, MAX_ALL = 16 << 20 };

/* A text that is gone through. It holds memory of its own on the way, so errors here are codes. */
struct includer {
    const struct include *file; /* null: a template */
    const char *name;
    bool sure; /* compiled, whatever macros and Lua say */
    struct err *err;
};

static int collect(struct reader *r, const struct includer *from, const char *text);

static bool below(const char *folder, const char *path)
{
    char real[PATH_MAX];
    if (!realpath(folder, real))
        return false;
    size_t n = strlen(real);
    return !strncmp(real, path, n) && (path[n] == '/' || (n == 1 && *real == '/'));
}

static int refuse(const struct includer *from, const struct line *l, const char *why)
{
    return err_set(from->err, ERR_INVALID, "%s:%d: #include \"%.200s\": %s", from->name, l->number, l->name, why);
}

/* The text of the file at this place; *out stays null if there is none. */
static int read_place(struct reader *r, const struct includer *from, const struct line *l, const struct include_place *p,
                      const char **out)
{
    char templates[PATH_MAX], path[PATH_MAX], real[PATH_MAX];
    struct buf text = { 0 };
    struct err why = { 0 };
    snprintf(templates, sizeof templates, "%s/templates", r->home);
    int n = snprintf(path, sizeof path, "%s/%s", p->shared ? templates : r->folder, p->path);
    if (n >= (int)sizeof path)
        return 0;
    if (!realpath(path, real))
        return errno == ENOENT || errno == ENOTDIR ? 0 : refuse(from, l, strerror(errno));
    if (!below(r->folder, real) && !below(templates, real))
        return refuse(from, l, "a link out of the folder of the script or of the templates");
    int rc = file_read(real, MAX_FILE, &text, &why); /* which waits for nothing */
    const char *at = buf_text(&text);
    size_t mark = !strncmp(at, "\xef\xbb\xbf", 3) ? 3 : 0; /* a byte order mark stands at the begin of a file only */
    if (rc)
        rc = rc == ERR_NOMEM ? err_nomem(from->err) : refuse(from, l, why.msg);
    else if (memchr(at, 0, text.len))
        rc = refuse(from, l, "not a text: it has a zero byte");
    else if ((r->included += text.len) > MAX_ALL)
        rc = refuse(from, l, "more than 16 MB are included");
    else if (!(*out = arena_strndup(r->op->arena, at + mark, text.len - mark)))
        rc = err_nomem(from->err);
    buf_free(&text);
    return rc;
}

/* Keeps a file of the place, and goes through it. */
static int keep(struct reader *r, const struct includer *from, const struct line *l, const struct include_place *p,
                const char *text, bool sure)
{
    struct op *op = r->op;
    if (!op->includes)
        op->includes = arena_array(op->arena, MAX_INCLUDES, sizeof *op->includes);
    if (!op->includes)
        return err_nomem(from->err);
    if (op->nincludes == MAX_INCLUDES)
        return refuse(from, l, "more than 256 files are included");
    struct include *file = &op->includes[op->nincludes];
    *file = (struct include){ .name = arena_strdup(r->op->arena, p->path), .text = text, .shared = p->shared };
    if (!file->name)
        return err_nomem(from->err);
    op->nincludes++;
    return collect(r, &(struct includer){ file, file->name, sure, from->err }, text);
}

static int read_include(struct reader *r, const struct includer *from, const struct line *l, bool sure)
{
    struct include_place places[3];
    int n = include_places(from->file, l->name, places);
    if (!n)
        return refuse(from, l, "not a path below the folder of the script or of the templates");
    for (int i = 0; i < n; i++) {
        const char *text = NULL;
        for (int k = 0; k < r->op->nincludes; k++)
            if (r->op->includes[k].shared == places[i].shared && !strcmp(r->op->includes[k].name, places[i].path))
                return 0;
        int rc = read_place(r, from, l, &places[i], &text);
        if (rc || text)
            return rc ?: keep(r, from, l, &places[i], text, sure);
    }
    if (!sure)
        return 0; /* an error only for a compiler that gets there */
    return err_set(from->err, ERR_INVALID, "%s:%d: there is no '%.200s' in %s, and none in %s/templates", from->name, l->number,
                   l->name, r->folder, r->home);
}

static int collect(struct reader *r, const struct includer *from, const char *text)
{
    struct text_facts facts;
    struct line l;
    int rc = text_facts_of(text, &facts, from->err);
    struct lines s = lines_of(text);
    struct position at = position_of(&facts);
    while (!rc && lines_next(&s, &l)) {
        bool inside = position_pass(&at, &l);
        if (l.kind == LINE_INCLUDE && (from->file || !strstr(l.name, "$(")))
            rc = read_include(r, from, &l, from->sure && inside && position_sure(&at));
    }
    if (!rc && s.words.failed)
        rc = err_nomem(from->err);
    lines_end(&s);
    return rc;
}

int read_includes(struct reader *r, const char *name, const char *text, struct err *err)
{
    bool lua = strstr(text, "//@") || strstr(text, "$(");
    return collect(r, &(struct includer){ .name = name, .sure = !lua, .err = err }, text);
}
