/* Reading an op script: a forked child runs it and ships the op back as bytes; the parent waits no longer than the deadline. */
#include "op/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "child/process.h"
#include "op/host.h"
#include "op/read.h"

enum { DEADLINE_S = 5, CPU_S = 2, MAX_SCRIPT = 1 << 20, MAX_ANSWER = 64 << 20 };
static const struct host_limits script_limits = { .memory = (size_t)256 << 20, .instructions = 100000000 };

struct script {
    const char *home;
    char path[PATH_MAX];   /* as messages call it */
    char folder[PATH_MAX]; /* its templates are looked for there */
    const char *file;      /* path without the folder */
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
    s->file = slash ? slash + 1 : s->path;
    snprintf(s->folder, sizeof s->folder, "%.*s", slash ? (int)(slash - s->path) : 1, slash ? s->path : ".");
    return 0;
}

struct reading {
    const struct script *script;
    struct op *op;
    struct err *err;
};

static int read_result(lua_State *L, void *arg)
{
    struct reading *now = arg;
    struct reader r = { .L = L, .arena = now->op->arena, .err = now->err };
    if (!lua_istable(L, 1))
        return reader_fail(&r, "the script must end with: return op { ... }");
    return op_read(&r, 1, now->script->folder, now->script->home, now->op);
}

static int run_file(struct host *host, const char *path, const char *name, int results, struct err *err)
{
    struct buf text = { 0 };
    int rc = file_read(path, MAX_SCRIPT, &text, err);
    if (!rc)
        rc = host_run(host, name, buf_text(&text), text.len, results, err);
    buf_free(&text);
    return rc;
}

/* Messages begin with the script's path: Lua's own begin with the file's name already, those of file_read with the path. */
static void place(const struct script *s, struct err *err)
{
    size_t n = strlen(s->file);
    bool placed = strncmp(err->msg, s->file, n) == 0 && err->msg[n] == ':';
    if (placed && s->file != s->path)
        err_prefix(err, "%.*s", (int)(s->file - s->path), s->path);
    else if (!placed && strncmp(err->msg, s->path, strlen(s->path)))
        err_prefix(err, "%s: ", s->path);
}

static int read_script(const struct script *s, struct op **out, struct err *err)
{
    char library[PATH_MAX + 32];
    struct host *host = NULL;
    struct op *op = op_new();
    int rc = op ? host_open(&script_limits, &host, err) : err_nomem(err);
    if (rc)
        goto out;
    snprintf(library, sizeof library, "%s/tuner/lib/op.lua", s->home);
    if ((rc = run_file(host, library, "tuner/lib/op.lua", 0, err)) || (rc = run_file(host, s->path, s->file, 1, err)))
        goto out;
    struct reading now = { .script = s, .op = op, .err = err };
    if ((rc = host_protect(host, 1, read_result, &now, err)))
        goto out;
    if (!(op->file = arena_strdup(op->arena, s->path)))
        rc = err_nomem(err);
    else
        rc = script_check(op, err);
out:
    host_close(host);
    if (rc) {
        place(s, err);
        op_free(op);
        op = NULL;
    }
    *out = op;
    return rc;
}

/* The answer: the code, then the message or the op. */
static _Noreturn void child(const struct script *s, const int ends[2])
{
    int fd = ends[1];
    process_reset_signals();
    close(ends[0]);
    if (!process_tie(fd))
        _exit(1);
    process_expendable();
    setrlimit(RLIMIT_CPU, &(struct rlimit){ CPU_S, CPU_S + 1 });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    struct err err = { 0 };
    struct buf answer = { 0 };
    struct op *op = NULL;
    int rc = read_script(s, &op, &err);
    buf_i64(&answer, rc);
    if (rc)
        buf_lstr(&answer, err.msg);
    else
        op_put(&answer, op);
    if (!answer.failed)
        write_all(fd, answer.data, answer.len);
    _exit(answer.failed);
}

/* Everything up to the end of the pipe. ERR_TIMEOUT where it does not come in time. */
static int collect(int fd, int64_t deadline, struct buf *out, struct err *err)
{
    char part[16 << 10];
    for (;;) {
        int64_t left = deadline - clock_ns();
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int ready = left > 0 ? poll(&p, 1, (int)(left / 1000000) + 1) : 0;
        if (ready < 0 && errno != EINTR)
            return err_set(err, ERR_IO, "poll: %s", strerror(errno));
        if (ready == 0 && left <= 0)
            return err_set(err, ERR_TIMEOUT, "the script did not finish within %d s", DEADLINE_S);
        if (ready <= 0)
            continue;
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno != EINTR)
            return err_set(err, ERR_IO, "read: %s", strerror(errno));
        if (n == 0)
            return 0;
        if (n > 0)
            buf_put(out, part, (size_t)n);
        if (out->failed)
            return err_nomem(err);
        if (out->len > MAX_ANSWER)
            return err_set(err, ERR_INVALID, "the op is larger than %d MB", MAX_ANSWER >> 20);
    }
}

static int judge(const struct buf *answer, int status, struct op **out, struct err *err)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return err_set(err, ERR_TIMEOUT, "the script did not finish within %d s of processor time", CPU_S);
    if (WIFSIGNALED(status))
        return err_set(err, ERR_INVALID, "reading the script ended with signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status))
        return err_set(err, ERR_NOMEM, "there was not enough memory to read the script");
    struct cursor in = cursor_on(answer->data, answer->len);
    int64_t rc = get_i64(&in);
    if (in.bad || rc > 0 || rc < ERR_CORRUPT)
        return err_set(err, ERR_CORRUPT, "reading the script gave no answer");
    if (rc == 0)
        return op_get(&in, out, err);
    size_t n;
    const char *text = get_lstr(&in, &n);
    return err_set(err, (int)rc, "%.*s", (int)n, text ? text : "");
}

int op_load(const char *word, struct op **out, struct err *err)
{
    struct script s;
    struct buf answer = { 0 };
    int ends[2], status = 0;
    *out = NULL;
    int rc = find_script(word, &s, err);
    if (rc)
        return rc;
    int64_t deadline = clock_ns() + DEADLINE_S * (int64_t)1000000000;
    if (pipe2(ends, O_CLOEXEC))
        return err_set(err, ERR_IO, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        child(&s, ends);
    close(ends[1]);
    if (pid < 0) {
        rc = err_set(err, ERR_IO, "fork: %s", strerror(errno));
        goto out;
    }
    rc = collect(ends[0], deadline, &answer, err);
    if (rc)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!rc)
        rc = judge(&answer, status, out, err);
    if (rc && err)
        place(&s, err);
out:
    close(ends[0]);
    buf_free(&answer);
    return rc;
}
