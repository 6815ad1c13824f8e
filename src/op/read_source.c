/* What a kernel's source is made of: the files of a template, their language, and the options of its compiler. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "device/device.h"
#include "op/read.h"

enum { MAX_TEMPLATE = 1 << 20 };

const char *read_template_file(struct reader *r, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    struct err err = { 0 };
    char *kept = NULL;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    int rc = n < (int)sizeof path ? file_read(path, MAX_TEMPLATE, &text, &err) : ERR_NOTFOUND;
    if (!rc && (!text.len || memchr(text.data, 0, text.len)))
        rc = err_set(&err, ERR_INVALID, "%s: %s", path, text.len ? "not a text: it has a zero byte" : "the file is empty");
    if (!rc && !(kept = arena_strndup(r->op->arena, text.data, text.len)))
        rc = ERR_NOMEM;
    buf_free(&text);
    fail_if(r, rc == ERR_NOTFOUND ? 0 : rc, &err);
    return kept;
}

static const char *read_template(struct reader *r, const char *file)
{
    struct err err;
    if (*file == '.' || strlen(file) > MAX_NAME || file[strspn(file, WORD_LETTERS ".-")])
        fail(r, "template: '%.80s' must be a file's name, of letters, digits, _, . and -, without folders", file);
    const char *text = read_template_file(r, r->folder, file) ?: read_template_file(r, r->templates, file);
    if (!text)
        fail(r, "template: there is no '%s' in %s, and none in %s", file, r->folder, r->templates);
    fail_if(r, read_includes(r, file, text, &err), &err);
    return text;
}

static void read_one_file(struct reader *r, void *out)
{
    struct template_file *file = out;
    read_text(r, &file->name);
    leave(r, strlen(r->where) - strlen("template: ")); /* messages name the file */
    file->text = read_template(r, file->name);
}

/* "a.cu", or { "a.cu", "b.cu" }: all go into one source, in this order. */
static void read_files(struct reader *r, void *out)
{
    static const struct list files = { read_one_file, 1, MAX_FILES, sizeof(struct template_file), "template: ", false };
    struct variant *v = out;
    size_t mark = strlen(r->where) - strlen("template: ");
    struct template_file one, *all = &one;
    int n = 1;
    if (lua_istable(r->L, -1))
        n = read_list(r, &files, mark, &all);
    else
        read_one_file(r, &one);
    v->template_name = all->name;
    v->template_text = all->text;
    v->build.nmore = n - 1;
    v->build.more = n > 1 ? all + 1 : NULL;
}

struct backend_names backend_names(void)
{
    struct backend_names names = { "" };
    const struct backend *b;
    for (int i = 0; (b = backend_real(i)); i++)
        strcat(strcat(names.text, i ? " " : ""), b->name);
    return names;
}

/* A list of texts for one compiler. */
static void read_options(struct reader *r, const struct backend *b, struct build *build)
{
    static const struct list texts = { read_text, 0, MAX_OPTIONS, sizeof(char *), "options: entry %d: ", false };
    const char **list;
    struct err why;
    size_t mark = strlen(r->where) - strlen("options: ");
    int n = read_list(r, &texts, mark, &list);
    if (!build->options)
        build->options = make_array(r, MAX_OPTIONS, sizeof *build->options);
    for (int i = 0; i < n; i++) {
        leave(r, mark);
        enter(r, texts.entry, i + 1);
        if (build->noptions == MAX_OPTIONS)
            fail(r, "there are more than %d options in all", MAX_OPTIONS);
        if (!strstr(list[i], "$(")) /* else it is checked when it is filled */
            fail_if(r, compile_option(b->compiling, list[i], &why), &why);
        build->options[build->noptions++] = (struct build_option){ b->name, list[i] };
    }
    leave(r, mark);
    enter(r, "options: ");
}

/* { "-G" } for the one compiler that the source is for, or { cuda = { "-G" }, opencl = { "-w" } }. */
static void read_all_options(struct reader *r, struct build *build, const struct backend *only)
{
    const struct backend *b;
    int at = lua_gettop(r->L);
    want_table(r);
    if (only && lua_rawlen(r->L, at)) {
        read_options(r, only, build);
        return;
    }
    if (lua_rawlen(r->L, at))
        fail(r, "whose compiler takes them? Say { cuda = { ... } }, { opencl = { ... } } or both, or give the source a language");
    known_fields(r, backend_names().text);
    for (int i = 0; (b = backend_real(i)); i++, lua_settop(r->L, at)) {
        lua_pushstring(r->L, b->name);
        if (lua_rawget(r->L, at) != LUA_TNIL)
            read_options(r, b, build);
    }
}

void read_source(struct reader *r, struct variant *v, bool requires)
{
    const char **language = &v->build.language, **required = &v->requires.backend;
    int table = lua_gettop(r->L), backend = -1;
    read_table(r, "template language", "Fw+", read_files, v, backend_names().text, &backend);
    *language = backend < 0 ? NULL : backend_real(backend)->name;
    if (*language && *required && strcmp(*required, *language))
        fail(r, "language: is that of %s, but requires says backend = '%s'", *language, *required);
    if (requires && *language)
        *required = *language;
    const char *only = *required ?: *language;
    const struct backend *b = only ? backend_find(only) : NULL;
    r->symbols = b && b->symbol;
    lua_pushstring(r->L, "options");
    if (lua_rawget(r->L, table) != LUA_TNIL) {
        size_t mark = enter(r, "options: ");
        read_all_options(r, &v->build, b);
        leave(r, mark);
    }
    lua_settop(r->L, table);
}
