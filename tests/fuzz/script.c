/* Op scripts, read as the child process reads them, but in this one: the text is a script, its templates are those that ship. */
#include "fuzz.h"

#include <lua.h>

#include "base/util.h"
#include "op/host.h"
#include "op/read.h"

/* Much less than a real script gets: a fuzzer's loops shall end soon. */
static const struct host_limits limits = { .memory = (size_t)32 << 20, .instructions = 1000000 };

struct reading {
    struct op *op;
    struct err *err;
};

static int read_result(lua_State *L, void *arg)
{
    struct reading *now = arg;
    struct reader r = { .L = L, .arena = now->op->arena, .err = now->err };
    if (!lua_istable(L, 1))
        return reader_fail(&r, "no table");
    return op_read(&r, 1, SOURCE_DIR "/templates", SOURCE_DIR, now->op);
}

static int read_script(struct host *host, const char *text, size_t size, struct op *op, struct err *err)
{
    struct reading now = { .op = op, .err = err };
    int rc = host_run(host, "s.lua", text, size, 1, err);
    if (!rc)
        rc = host_protect(host, 1, read_result, &now, err);
    op->file = "s.lua";
    return rc ? rc : script_check(op, err);
}

/* What the child accepts its parent must accept. */
static void ship(const struct op *op)
{
    struct buf bytes = { 0 };
    struct op *copy = NULL;
    struct err err = { 0 };
    op_put(&bytes, op);
    struct cursor in = cursor_on(bytes.data, bytes.len);
    if (op_get(&in, &copy, &err)) {
        fprintf(stderr, "accepted here, refused by the parent: %s\n", err.msg);
        abort();
    }
    op_free(copy);
    buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buf library;
    struct err err = { 0 };
    struct host *host = NULL;
    if (!library.data)
        must(file_read(SOURCE_DIR "/tuner/lib/op.lua", 1 << 20, &library, NULL) == 0);
    must(host_open(&limits, &host, &err) == 0);
    must(host_run(host, "op.lua", library.data, library.len, 0, &err) == 0);
    struct op *op = op_new();
    must(op);
    int rc = read_script(host, (const char *)data, size, op, &err);
    must(rc == 0 || (rc < 0 && *err.msg));
    if (!rc)
        ship(op);
    op_free(op);
    host_close(host);
    return 0;
}
