/* Problems: the axes' values, as users write them and as they are stored. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "model/op.h"
#include "model/pairs.h"

bool axis_takes(const struct axis *a, int64_t size)
{
    return a->kind == AXIS_FLAG ? size == 0 || size == 1 : size >= 1;
}

/* A plain number needs no compiling: look-ups meet it, too. */
static int evaluate(const struct op *op, int axis, const struct problem *p, int64_t *out, struct err *err)
{
    const char *names[MAX_AXES], *text = op->axes[axis].preset;
    struct val slots[MAX_AXES];
    struct expr *e = NULL;
    if (*text >= '0' && *text <= '9' && !text[1]) {
        *out = *text - '0';
        return 0;
    }
    for (int i = 0; i < axis; i++) {
        names[i] = op->axes[i].name;
        slots[i] = val_int(p->size[i]);
    }
    const struct scope scope = { .names = names, .n = axis };
    int rc = expr_compile(text, &scope, &e, err) ?: expr_int(e, slots, out, err);
    expr_free(e);
    return rc;
}

int axis_preset(const struct op *op, int axis, const struct problem *p, int64_t *out, struct err *err)
{
    const struct axis *a = &op->axes[axis];
    int64_t size;
    int rc = evaluate(op, axis, p, &size, err);
    if (!rc && !axis_takes(a, size))
        rc = err_set(err, ERR_INVALID, "`%s` is %lld: %s", a->preset, (long long)size,
                     a->kind == AXIS_FLAG ? "a flag is 0 or 1" : "it must be at least 1");
    if (rc)
        err_prefix(err, "axis %s, default: ", a->name);
    else
        *out = size;
    return rc;
}

/* Fails only without memory. */
static int is_preset(const struct op *op, int axis, const struct problem *p, bool *is)
{
    int64_t size;
    int rc = op->axes[axis].preset ? axis_preset(op, axis, p, &size, NULL) : ERR_NOTFOUND;
    *is = !rc && size == p->size[axis];
    return rc == ERR_NOMEM ? rc : 0;
}

bool axis_is_preset(const struct op *op, int axis, const struct problem *p)
{
    bool is;
    return !is_preset(op, axis, p, &is) && is;
}

static int read_size(const struct axis *axis, const struct pair *p, int64_t *out, struct err *err)
{
    static const char *const kinds[] = { "a size", "a stride", "a batch", "a flag" };
    const char *right = axis->kind == AXIS_FLAG ? "0 or 1" : "a whole number from 1";
    bool minus = *p->value == '-';
    size_t digits = strspn(p->value + minus, "0123456789");
    if (!digits || minus + digits != (size_t)p->value_len)
        return err_set(err, ERR_INVALID, "shape: %s=%.*s is not a number: %s is %s", axis->name, p->value_len, p->value,
                       kinds[axis->kind], right);
    errno = 0;
    *out = strtoll(p->value, NULL, 10);
    if (errno && !minus)
        return err_set(err, ERR_INVALID, "shape: %s=%.*s is too large: the largest is %lld", axis->name, p->value_len, p->value,
                       (long long)INT64_MAX);
    if (axis_takes(axis, *out))
        return 0;
    const char *wrong = *out < 0 ? "is negative" : *out == 0 ? "is zero" : "is neither";
    return err_set(err, ERR_INVALID, "shape: %s=%.*s %s: %s is %s", axis->name, p->value_len, p->value, wrong, kinds[axis->kind],
                   right);
}

static int missing(const struct op *op, const struct pair given[], struct err *err)
{
    struct word_list lacking = { 0 }, right = { 0 };
    for (int i = 0; i < op->naxes; i++) {
        if (!given[i].name && !op->axes[i].preset)
            word_add(&lacking, op->axes[i].name, "");
        if (!op->axes[i].preset)
            word_add(&right, op->axes[i].name, "=N");
    }
    if (!lacking.len)
        return 0;
    return err_set(err, ERR_INVALID, "shape: %s missing: give every axis of %s: %s", lacking.text, op->name, right.text);
}

int problem_parse(const struct op *op, const char *text, struct problem *out, struct err *err)
{
    const struct pairs axes = { "shape", { "", op->name },          "axis", "its axes are", ": give every axis once",
                                NULL,    NAMED(op->axes, op->naxes) };
    struct problem p = { 0 };
    struct pair given[MAX_AXES] = { { 0 } };
    int rc = pairs_read(text, &axes, given, err);
    for (int i = 0; !rc && i < op->naxes; i++)
        rc = given[i].name ? read_size(&op->axes[i], &given[i], &p.size[i], err) : 0;
    rc = rc ?: missing(op, given, err);
    for (int i = 0; !rc && i < op->naxes; i++)
        rc = given[i].name ? 0 : axis_preset(op, i, &p, &p.size[i], err);
    if (!rc)
        *out = p;
    return rc;
}

void problem_print(struct buf *out, const struct op *op, const struct problem *p)
{
    bool any = false, is;
    for (int i = 0; i < op->naxes; i++) {
        out->failed = is_preset(op, i, p, &is) || out->failed;
        if (is)
            continue;
        buf_fmt(out, "%s%s=%lld", any ? "," : "", op->axes[i].name, (long long)p->size[i]);
        any = true;
    }
}
