#include "model/problem.h"

#include "model/pairs.h"

enum digits { DIGITS_FINE, DIGITS_NOT_A_NUMBER, DIGITS_TOO_LARGE };

/* Decimal digits after an optional minus; nothing else is a size. */
static enum digits read_integer(const struct pair *p, int64_t *out)
{
    bool minus = p->value[0] == '-', large = false;
    int64_t v = 0;
    if (p->value_len == minus)
        return DIGITS_NOT_A_NUMBER;
    for (int i = minus; i < p->value_len; i++) {
        int digit = p->value[i] - '0';
        if (digit < 0 || digit > 9)
            return DIGITS_NOT_A_NUMBER;
        large = large || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v);
    }
    if (large && !minus)
        return DIGITS_TOO_LARGE;
    *out = large ? INT64_MIN : minus ? -v : v;
    return DIGITS_FINE;
}

static const char *axis_word(enum axis_kind kind)
{
    static const char *const words[] = { "a size", "a stride", "a batch", "a flag" };
    return words[kind];
}

static int read_size(const struct axis *axis, const struct pair *p, int64_t *out, struct err *err)
{
    const char *right = axis->kind == AXIS_FLAG ? "0 or 1" : "a whole number from 1";
    const char *what = axis_word(axis->kind);
    switch (read_integer(p, out)) {
    case DIGITS_NOT_A_NUMBER:
        return err_set(err, ERR_INVALID, "shape: %s=%.*s is not a number: %s is %s", axis->name, p->value_len, p->value, what,
                       right);
    case DIGITS_TOO_LARGE:
        return err_set(err, ERR_INVALID, "shape: %s=%.*s is too large: the largest is %lld", axis->name, p->value_len, p->value,
                       (long long)INT64_MAX);
    case DIGITS_FINE:
        break;
    }
    if (axis_takes(axis, *out))
        return 0;
    return err_set(err, ERR_INVALID, "shape: %s=%.*s %s: %s is %s", axis->name, p->value_len, p->value,
                   *out < 0    ? "is negative"
                   : *out == 0 ? "is zero"
                               : "is neither",
                   what, right);
}

static int unknown(const struct op *op, const struct pair *p, struct err *err)
{
    struct listing known = { 0 };
    for (int i = 0; i < op->naxes; i++)
        listing_add(&known, "%s", op->axes[i].name);
    return err_set(err, ERR_INVALID, "shape: %s has no axis %.*s: its axes are %s", op->name, p->name_len, p->name, known.text);
}

static int missing(const struct op *op, const bool *given, struct err *err)
{
    struct listing lacking = { 0 }, right = { 0 };
    for (int i = 0; i < op->naxes; i++) {
        if (!given[i])
            listing_add(&lacking, "%s", op->axes[i].name);
        listing_add(&right, "%s=N", op->axes[i].name);
    }
    return err_set(err, ERR_INVALID, "shape: %s missing: give every axis of %s: %s", lacking.text, op->name, right.text);
}

int problem_parse(const struct op *op, const char *text, struct problem *out, struct err *err)
{
    struct problem p = { 0 };
    bool given[MAX_AXES] = { false };
    struct pair pair;
    int rc, n = 0;
    while ((rc = pair_next(&text, &pair, "shape", err)) > 0) {
        int axis = 0;
        while (axis < op->naxes && !pair_named(&pair, op->axes[axis].name))
            axis++;
        if (axis == op->naxes)
            return unknown(op, &pair, err);
        if (given[axis])
            return err_set(err, ERR_INVALID, "shape: %s is given twice: give every axis once", op->axes[axis].name);
        rc = read_size(&op->axes[axis], &pair, &p.size[axis], err);
        if (rc < 0)
            return rc;
        given[axis] = true;
        n++;
    }
    if (rc < 0)
        return rc;
    if (n < op->naxes)
        return missing(op, given, err);
    *out = p;
    return 0;
}

void problem_print(struct buf *out, const struct op *op, const struct problem *p)
{
    for (int i = 0; i < op->naxes; i++)
        buf_fmt(out, "%s%s=%lld", i ? "," : "", op->axes[i].name, (long long)p->size[i]);
}
