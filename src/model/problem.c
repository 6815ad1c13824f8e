#include "model/problem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/pairs.h"

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
        if (!given[i].name)
            word_add(&lacking, "%s", op->axes[i].name);
        word_add(&right, "%s=N", op->axes[i].name);
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
    if (!rc)
        *out = p;
    return rc;
}

void problem_print(struct buf *out, const struct op *op, const struct problem *p)
{
    for (int i = 0; i < op->naxes; i++)
        buf_fmt(out, "%s%s=%lld", i ? "," : "", op->axes[i].name, (long long)p->size[i]);
}
