/* Reading an op script: a forked child runs it and ships the op back as bytes; the parent waits no longer than the deadline. */
#include "op/load.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"
#include "child/child.h"
#include "lua/sandbox.h"
#include "op/read.h"

enum { DEADLINE_S = 5, CPU_S = 2, MAX_SCRIPT = 1 << 20, MAX_ANSWER = 64 << 20 };
static const struct sandbox_rules rules = { .what = "script", .memory = (size_t)256 << 20, .instructions = 100000000 };

struct script {
    const char *home;
    char path[PATH_MAX];   /* as messages call it */
    char folder[PATH_MAX]; /* its templates are looked for there */
    struct op *op;
};

static int find_script(const char *word, struct script *s, struct err *err)
{
    int rc = home_find(&s->home, err);
    if (rc)
        return rc;
    size_t n = strlen(word);
    bool is_file = strchr(word, '/') || (n > 4 && strcmp(word + n - 4, ".lua") == 0);
    if (!is_file && !name_ok(word))
        return err_set(err, ERR_NOTFOUND, "'%.80s' is neither an op's name nor a file that ends in .lua", word);
    int len = is_file ? snprintf(s->path, sizeof s->path, "%s", word)
                      : snprintf(s->path, sizeof s->path, "%s/tuner/ops/%s.lua", s->home, word);
    if (len >= (int)sizeof s->path)
        return err_set(err, ERR_NOTFOUND, "the path of op '%.80s...' is too long", word);
    for (const char *c = word; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) /* messages begin with the path, in one line */
            return err_set(err, ERR_NOTFOUND, "the path of op '%.80s' holds a control character: rename the file", word);
    if (!is_file && access(s->path, R_OK))
        return err_set(
            err, ERR_NOTFOUND,
            "there is no op '%s' (%s: %s): `cutune ops` lists those there are, and one of your own is named by its file, "
            "./%s.lua",
            word, s->path, strerror(errno), word);
    const char *slash = strrchr(s->path, '/');
    snprintf(s->folder, sizeof s->folder, "%.*s", slash ? (int)(slash - s->path) : 1, slash ? s->path : ".");
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
    char library[PATH_MAX + 32], templates[PATH_MAX + 32];
    snprintf(library, sizeof library, "%s/tuner/lib/op.lua", s->home);
    snprintf(templates, sizeof templates, "%s/templates", s->home);
    run_file(L, library, "tuner/lib/op.lua", 0);
    run_file(L, s->path, NULL, 1);
    op_read(L, s->path, s->folder, templates, s->op);
}

/* In the child, which ends with it: nothing has to be freed. */
static int make_op(void *arg, struct buf *answer, struct err *err)
{
    struct script *s = arg;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    s->op = op_new();
    int rc = s->op ? sandbox_run(&rules, s->path, read_script, s, err) : err_nomem(err);
    if (rc)
        return rc;
    op_put(answer, s->op);
    return answer->len > MAX_ANSWER ? err_set(err, ERR_INVALID, "the op is larger than %d MB", MAX_ANSWER >> 20) : 0;
}

int op_load(const char *word, struct op **out, struct err *err)
{
    struct script s;
    struct buf answer = { 0 };
    *out = NULL;
    int rc = find_script(word, &s, err);
    if (rc)
        return rc;
    rc = child_run(CPU_S, DEADLINE_S, make_op, &s, &answer, err);
    if (rc == ERR_TIMEOUT)
        err_set(err, rc, "the script did not finish within %d s, %d s of them processor time", DEADLINE_S, CPU_S);
    struct cursor in = cursor_on(answer.data, answer.len);
    rc = rc ?: op_get(&in, out, err);
    if (rc)
        script_place(s.path, err);
    buf_free(&answer);
    return rc;
}
