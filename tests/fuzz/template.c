/* Template filling: the input is a template. */
#include "source/template.h"
#include "fuzz.h"
#include "lua/sandbox.h"
#include "model/head.h"

/* The linker puts it in front of sandbox_run: a loop shall end after milliseconds, not seconds. */
int __real_sandbox_run(const struct sandbox_rules *rules, const char *path, void (*f)(lua_State *L, void *arg), void *arg,
                       struct err *err);
int __wrap_sandbox_run(const struct sandbox_rules *rules, const char *path, void (*f)(lua_State *L, void *arg), void *arg,
                       struct err *err);
int __wrap_sandbox_run(const struct sandbox_rules *rules, const char *path, void (*f)(lua_State *L, void *arg), void *arg,
                       struct err *err)
{
    struct sandbox_rules small = *rules;
    small.memory /= 8;
    small.instructions /= 100;
    return __real_sandbox_run(&small, path, f, arg, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct template_var vars[] = {
        { "backend", { VAL_STR, { .s = "cuda" } } }, { "T", { VAL_STR, { .s = "f32" } } },
        { "T_bytes", { VAL_INT, { .i = 4 } } },      { "TILE", { VAL_INT, { .i = 32 } } },
        { "PAD", { VAL_BOOL, { .b = true } } },      { "SCALE", { VAL_FLOAT, { .f = 0.5 } } },
    };
    struct input in = { data, size };
    struct buf out = { 0 };
    struct err err = { 0 };
    char *text = input_text(&in);
    int rc = template_fill("t.cu", text, vars, (int)(sizeof vars / sizeof *vars), &out, &err);
    must_say(rc, &err);
    must(!rc || strncmp(err.msg, "t.cu", 4) == 0);
    must(rc || strlen(buf_text(&out)) == out.len);
    if (!rc && !template_has_lua(text))
        must(strcmp(buf_text(&out), text) == 0);
    struct head head; /* as if it were a source */
    must_say(head_read(text, &head, &err), &err);
    head_free(&head);
    buf_free(&out);
    free(text);
    return 0;
}
