/* Op scripts, read as the child process reads them, but in this process. The input is a script; its templates are the shipped ones. */
#include "fuzz.h"

#include "base/util.h"
#include "lua/sandbox.h"
#include "op/read.h"

/* Much less than a real script gets: a fuzzer's loops shall end soon. */
static const struct sandbox_rules rules = { .what = "script", .memory = (size_t)32 << 20, .instructions = 1000000 };

struct script {
    const struct buf *library;
    const char *text;
    size_t size;
    struct op *op;
};

static void read_script(lua_State *L, void *arg)
{
    const struct script *s = arg;
    sandbox_text(L, "op.lua", s->library->data, s->library->len, 0);
    sandbox_text(L, NULL, s->text, s->size, 1);
    op_read(L, "s.lua", SOURCE_DIR "/templates", SOURCE_DIR "/templates", s->op);
}

/* What the child accepts its parent must accept. */
static void ship(const struct op *op)
{
    struct buf bytes = { 0 };
    struct op *copy = NULL;
    struct err err = { 0 };
    op_put(&bytes, op);
    struct cursor in = cursor_on(bytes.data, bytes.len);
    if (op_get(&in, false, &copy, &err)) {
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
    if (!library.data)
        must(file_read(SOURCE_DIR "/tuner/lib/op.lua", 1 << 20, &library, NULL) == 0);
    struct op *op = op_new();
    must(op);
    struct script script = { &library, (const char *)data, size, op };
    int rc = sandbox_run(&rules, "s.lua", read_script, &script, &err);
    must(rc == 0 || (rc < 0 && *err.msg));
    if (!rc)
        ship(op);
    op_free(op);
    return 0;
}
