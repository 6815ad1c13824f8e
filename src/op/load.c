/* Where op scripts, templates and strategies are found; and reading an op script: a forked child runs it and ships the op back as bytes. */
#include "op/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child/child.h"
#include "op/data_file.h"
#include "op/read.h"

enum { DEADLINE_S = 15, CPU_S = 4, MAX_SCRIPT = 1 << 20, MAX_ANSWER = 64 << 20 };
static const struct sandbox_rules rules = { .what = "script", .memory = (size_t)256 << 20, .instructions = 100000000, .expressions = true };

static bool is_home(const char *folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/tuner/lib/op.lua", folder);
    return *folder && n < (int)sizeof path && access(path, F_OK) == 0;
}

/* The folder `up` levels above the executable, with `below` behind it; "" if there is none. */
static void beside_program(int up, const char *below, char out[PATH_MAX])
{
    if (!program_path(out, PATH_MAX - strlen(below)))
        return;
    for (int i = 0; i <= up; i++) { /* the first takes the program's own name off */
        char *slash = strrchr(out, '/');
        *(slash ? slash : out) = 0;
    }
    strcat(out, below);
}

int home_find(const char **out, struct err *err)
{
    static char home[PATH_MAX]; /* the process's own; found again at each call, as the environment may change */
    char tree[PATH_MAX], installed[PATH_MAX];
    const char *set = getenv("CUTUNE_HOME");
    if (set && *set) {
        if (strlen(set) >= sizeof home || !is_home(set))
            return err_set(err, ERR_NOTFOUND,
                           "CUTUNE_HOME is '%s', but there is no tuner/lib/op.lua in it: unset it, or set it to cutune's folder",
                           set);
        memmove(home, set, strlen(set) + 1); /* it may be there already: somebody set the variable to it */
    } else {
        beside_program(2, "", tree);
        beside_program(1, "/share/cutune", installed);
        if (!is_home(tree) && !is_home(installed))
            return err_set(err, ERR_NOTFOUND,
                           "cutune's files (tuner/lib/op.lua) are not in '%s'%s%s%s: set CUTUNE_HOME to their folder", installed,
                           *tree ? " nor in '" : "", tree, *tree ? "'" : "");
        strcpy(home, is_home(tree) ? tree : installed);
    }
    *out = home;
    return 0;
}

/* The length of the script's name in a file's; 0 if it is none. */
static size_t script_stem(const char *file)
{
    size_t n = strlen(file);
    return n > 4 && strcmp(file + n - 4, ".lua") == 0 ? n - 4 : 0;
}

static int is_script(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && script_stem(entry->d_name) > 0;
}

int script_names(const char *folder, char ***out, int *n, struct err *err)
{
    char path[PATH_MAX + 16];
    const char *home;
    struct dirent **found;
    size_t bytes = 1;
    int rc = home_find(&home, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/tuner/%s", home, folder);
    *n = scandir(path, &found, is_script, alphasort);
    if (*n < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    for (int i = 0; i < *n; i++)
        bytes += sizeof **out + strlen(found[i]->d_name);
    *out = mem_zalloc(bytes);
    char *text = *out ? (char *)(*out + *n) : NULL; /* the names lie behind their pointers */
    for (int i = 0; i < *n; i++) {
        size_t len = script_stem(found[i]->d_name);
        if (*out) {
            (*out)[i] = memcpy(text, found[i]->d_name, len);
            text += len + 1;
        }
        free(found[i]);
    }
    free(found);
    return *out ? 0 : err_nomem(err);
}

int script_find(const char *home, const char *folder, const char *word, char path[PATH_MAX])
{
    if (strchr(word, '/') || script_stem(word))
        return snprintf(path, PATH_MAX, "%s", word);
    return name_ok(word) ? snprintf(path, PATH_MAX, "%s/tuner/%s/%s.lua", home, folder, word) : -1;
}

/* -- reading one -- */

struct script {
    const char *home;
    char path[PATH_MAX]; /* as messages call it */
    const char *const *dirs;
    int ndirs;
    struct op *op;
};

static int find_op(const char *word, struct script *s, struct err *err)
{
    int rc = home_find(&s->home, err);
    if (rc)
        return rc;
    int len = script_find(s->home, "ops", word, s->path);
    if (len < 0)
        return err_set(err, ERR_NOTFOUND, "'%.80s' is neither an op's name nor a file that ends in .lua", word);
    if (len >= (int)sizeof s->path)
        return err_set(err, ERR_NOTFOUND, "the path of op '%.80s...' is too long", word);
    for (const char *c = word; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) /* messages begin with the path, in one line */
            return err_set(err, ERR_NOTFOUND, "the path of op '%.80s' holds a control character: rename the file", word);
    if (strcmp(s->path, word) && access(s->path, R_OK))
        return err_set(
            err, ERR_NOTFOUND,
            "there is no op '%s' (%s: %s): `cutune ops` lists those there are, and one of your own is named by its file, "
            "./%s.lua",
            word, s->path, strerror(errno), word);
    return 0;
}

static void run_file(lua_State *L, const char *path, const char *name, int results)
{
    struct buf text = { 0 };
    sandbox_check(L, file_read(path, MAX_SCRIPT, &text, sandbox_err(L)));
    sandbox_text(L, name, buf_text(&text), text.len, results);
    buf_free(&text);
}

static void read_script(lua_State *L, void *arg)
{
    const struct script *s = arg;
    char library[PATH_MAX + 32], templates[PATH_MAX + 32], folder[PATH_MAX];
    const char *slash = strrchr(s->path, '/');
    snprintf(library, sizeof library, "%s/tuner/lib/op.lua", s->home);
    snprintf(templates, sizeof templates, "%s/templates", s->home);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - s->path) : 1, slash ? s->path : ".");
    run_file(L, library, "tuner/lib/op.lua", 0);
    run_file(L, s->path, NULL, 1);
    op_read(L, s->path, folder, templates, s->op);
}

/* In the child, which ends with it: nothing has to be freed. */
static int make_op(void *arg, struct buf *answer, struct err *err)
{
    struct script *s = arg;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    s->op = op_new();
    if (s->op) {
        s->op->nheader_dirs = s->ndirs;
        s->op->header_dirs = (const char **)s->dirs; /* only read */
    }
    int rc = s->op ? sandbox_run(&rules, s->path, read_script, s, err) : err_nomem(err);
    if (rc)
        return rc;
    op_put(answer, s->op);
    return answer->len > MAX_ANSWER ? err_set(err, ERR_INVALID, "the op is larger than %d MB", MAX_ANSWER >> 20) : 0;
}

int op_load_with(const char *word, const char *const *dirs, int ndirs, struct op **out, struct err *err)
{
    struct script s = { .dirs = dirs, .ndirs = ndirs };
    struct buf answer = { 0 };
    *out = NULL;
    int rc = find_op(word, &s, err);
    if (rc)
        return rc;
    rc = child_run(CPU_S, DEADLINE_S, make_op, &s, &answer, err);
    if (rc == ERR_TIMEOUT)
        err_set(err, rc, "the script did not finish within %d s, %d s of them processor time", DEADLINE_S, CPU_S);
    struct cursor in = cursor_on(answer.data, answer.len);
    rc = rc ?: op_get(&in, false, out, err);
    if (!rc && (*out)->outside) /* no script has a say in it, and the child is not believed */
        rc = err_set(err, ERR_CORRUPT, "the script names a reference outside of it");
    rc = rc ?: data_files_digest(*out, true, err); /* which may take as long as the files are large */
    if (rc)
        script_place(s.path, err);
    rc = rc ?: header_dirs_set(*out, dirs, ndirs, err);
    buf_free(&answer);
    if (rc) {
        op_free(*out);
        *out = NULL;
    }
    return rc;
}

int op_load(const char *word, struct op **out, struct err *err)
{
    return op_load_with(word, NULL, 0, out, err);
}
