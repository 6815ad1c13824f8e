/* Tuned kernels as records: made of an op, and freed. */
#include "base/mem.h"
#include "model/kernel.h"
#include "store/store.h"

static const char *keep(struct arena *a, struct buf *text)
{
    const char *copy = text->failed ? NULL : arena_strdup(a, buf_text(text));
    buf_free(text);
    return copy;
}

int tuned_on(struct op *kernel, struct tuned **out, struct err *err)
{
    struct buf config = { 0 }, json = { 0 };
    struct tuned *t = arena_alloc(kernel->arena, sizeof *t);
    config_print(&config, kernel, &only_config);
    config_print_json(&json, kernel, &only_config);
    const char *text = keep(kernel->arena, &config), *as_json = keep(kernel->arena, &json);
    if (!t || !text || !as_json) {
        op_free(kernel);
        return err_nomem(err);
    }
    t->op = kernel;
    t->variant = kernel->variants[0].name;
    t->config = text;
    t->json = as_json;
    *out = t;
    return 0;
}

int tuned_of(const struct op *op, const struct config *c, struct tuned **out, struct err *err)
{
    struct buf bytes = { 0 };
    struct op *kernel;
    kernel_put(&bytes, op, c);
    int rc = bytes.failed ? err_nomem(err) : kernel_get(bytes.data, bytes.len, &kernel, err);
    buf_free(&bytes);
    return rc ?: tuned_on(kernel, out, err);
}

void tuned_free(struct tuned *t)
{
    if (t)
        op_free(t->op); /* t lies on its arena */
}
