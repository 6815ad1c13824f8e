/* From arrays to a problem: which types and sizes make the extents of an op's arguments those of the arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/ops.h"

struct fitting {
    const struct cutune_op *o;
    const struct op *op;
    cutune_array *arrays;
    int row;
    int64_t size[MAX_AXES];  /* -1: not known yet */
    bool short_of[MAX_ARGS]; /* the array lacks the batch's axis */
    struct val slots[MAX_SLOTS];
};

static const struct arg *arg_of(const struct fitting *f, int i)
{
    return &f->op->args[f->o->arg[i]];
}

/* The axis of a batch whose extent an argument has in front, and which a caller's array may lack; -1: none. */
static int batch_of(const struct fitting *f, const struct arg *a)
{
    for (int i = 0; i < f->op->naxes && a->rank; i++)
        if (f->op->axes[i].kind == AXIS_BATCH && f->op->axes[i].preset && !strcmp(a->extent[0], f->op->axes[i].name))
            return i;
    return -1;
}

static bool is_array(const struct fitting *f, int i)
{
    return arg_of(f, i)->kind != ARG_SCALAR && f->arrays[i].rank >= 0;
}

/* ---- types */

static bool row_fits(const struct fitting *f, int row, const char **misfit)
{
    for (int i = 0; i < f->o->nargs; i++) {
        const struct arg *a = arg_of(f, i);
        if (is_array(f, i) && strcmp(op_arg_dtype(f->op, arg_type(a), row)->name, f->arrays[i].type)) {
            *misfit = a->name;
            return false;
        }
    }
    return true;
}

static int no_row(const struct fitting *f, const char *misfit)
{
    struct buf given = { 0 }, rows = { 0 };
    for (int i = 0; i < f->o->nargs; i++)
        if (is_array(f, i))
            buf_fmt(&given, "%s%s (%s)", given.len ? " with " : "", f->arrays[i].type, arg_of(f, i)->name);
    for (int row = 0; row < f->op->nrows; row++)
        buf_fmt(&rows, "%s%s", row ? ", " : "", f->o->types[row]);
    refuse(CUTUNE_ERR_INVALID, "%s does not take %s: it takes %s", f->op->name, given.len ? buf_text(&given) : misfit,
           buf_text(&rows));
    buf_free(&given);
    buf_free(&rows);
    return CUTUNE_ERR_INVALID;
}

static int take_types(struct fitting *f, const char *types)
{
    const char *misfit = "types";
    f->row = 0;
    if (*types) {
        f->row = op_row(f->op, types, thread_err());
        return f->row < 0 ? thread_err()->code : row_fits(f, f->row, &misfit) ? 0 : no_row(f, misfit);
    }
    while (f->row < f->op->nrows && !row_fits(f, f->row, &misfit))
        f->row++;
    return f->row < f->op->nrows ? 0 : no_row(f, misfit);
}

/* ---- sizes */

/* The i-th of an argument's extents that belongs to the array's d-th. */
static int extent_of(const struct fitting *f, int i, int d)
{
    return d + f->short_of[i];
}

/* With what is not known as some number, another one for each axis. */
static bool value_with(struct fitting *f, const struct expr *e, int axis, int64_t size, int64_t *out)
{
    static const int64_t any[MAX_AXES] = { 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59 };
    for (int i = 0; i < f->op->naxes; i++)
        f->slots[i] = val_int(i == axis ? size : f->size[i] >= 0 ? f->size[i] : any[i]);
    return !expr_int(e, f->slots, out, NULL);
}

/* If the expression rests on one unknown axis, and grows with it evenly, finds the size that makes it `value`. */
static bool solve(struct fitting *f, const struct expr *e, int64_t value)
{
    int n, found = -1;
    int64_t first = 0, second, at, by = 0, check;
    const int *slots = expr_slots(e, &n);
    for (int i = 0; i < n; i++) {
        int axis = slots[i];
        if (axis >= f->op->naxes || f->size[axis] >= 0)
            continue;
        if (!value_with(f, e, axis, 1, &at) || !value_with(f, e, axis, 2, &second))
            return false;
        if (at == second)
            continue;
        if (found >= 0 || f->op->axes[axis].kind == AXIS_FLAG)
            return false;
        found = axis;
        first = at;
        if (__builtin_sub_overflow(second, at, &by))
            return false;
    }
    if (found < 0 || __builtin_sub_overflow(value, first, &at) || (at % by))
        return false;
    at = 1 + at / by;
    if (!axis_takes(&f->op->axes[found], at) || !value_with(f, e, found, at, &check) || check != value)
        return false;
    f->size[found] = at;
    return true;
}

static bool known_all(const struct fitting *f, const struct expr *e)
{
    int n;
    const int *slots = expr_slots(e, &n);
    for (int i = 0; i < n; i++)
        if (slots[i] < f->op->naxes && f->size[slots[i]] < 0)
            return false;
    return true;
}

/* One size that a default gives; strides last, since arrays may say otherwise. */
static bool take_preset(struct fitting *f, enum axis_kind kind)
{
    for (int i = 0; i < f->op->naxes; i++) {
        int64_t size;
        if (f->op->axes[i].kind != kind || f->size[i] >= 0 || !f->o->preset[i] || !known_all(f, f->o->preset[i]) ||
            !value_with(f, f->o->preset[i], -1, 0, &size) || !axis_takes(&f->op->axes[i], size))
            continue;
        f->size[i] = size;
        return true;
    }
    return false;
}

/* Inputs first: the rows of what is written are more likely to have gaps. */
static bool solve_from_arrays(struct fitting *f)
{
    bool found = false;
    for (int written = 0; !found && written < 2; written++)
        for (int i = 0; i < f->o->nargs; i++)
            for (int d = 0; (arg_of(f, i)->kind != ARG_INPUT) == written && d < f->arrays[i].rank; d++)
                found |= solve(f, f->o->extent[i][extent_of(f, i, d)], f->arrays[i].shape[d]);
    return found;
}

/* A row that is longer than it has to be has a gap, if the op has a stride for that. */
static void take_strides(struct fitting *f)
{
    int64_t row;
    for (int i = 0; i < f->o->nargs; i++)
        for (int d = 0; d < f->arrays[i].rank; d++) {
            int e = extent_of(f, i, d), axis = f->o->stride[i][e];
            if (axis >= 0 && f->size[axis] < 0 && known_all(f, f->o->extent[i][e]) &&
                value_with(f, f->o->extent[i][e], -1, 0, &row) && row < f->arrays[i].shape[d])
                f->size[axis] = f->arrays[i].shape[d];
        }
}

static int take_sizes_of(struct fitting *f)
{
    while (take_preset(f, AXIS_FLAG) || solve_from_arrays(f))
        ;
    while (take_preset(f, AXIS_BATCH) || take_preset(f, AXIS_SIZE) || solve_from_arrays(f))
        ;
    take_strides(f);
    while (take_preset(f, AXIS_STRIDE) || solve_from_arrays(f))
        ;
    for (int i = 0; i < f->op->naxes; i++)
        if (f->size[i] < 0)
            return refuse(CUTUNE_ERR_INVALID, "%s: the arrays leave open what %s is: give it by name", f->op->name,
                          f->op->axes[i].name);
    return 0;
}

/* ---- arrays */

static int take_rank(struct fitting *f, int i)
{
    const struct arg *a = arg_of(f, i);
    const cutune_array *r = &f->arrays[i];
    f->short_of[i] = false;
    if (a->kind == ARG_SCALAR)
        return 0;
    if (r->rank < 0 && a->kind != ARG_OUTPUT)
        return refuse(CUTUNE_ERR_INVALID, "%s: %s is missing", f->op->name, a->name);
    if (r->rank < 0)
        return 0;
    if (!r->type)
        return refuse(CUTUNE_ERR_INVALID, "%s: %s has no type", f->op->name, a->name);
    const int least = a->rank - (batch_of(f, a) >= 0);
    f->short_of[i] = r->rank == least && least < a->rank;
    if (r->rank < least || r->rank > a->rank) {
        char or_less[16] = "";
        if (least < a->rank)
            snprintf(or_less, sizeof or_less, "%d or ", least);
        return refuse(CUTUNE_ERR_INVALID, "%s: %s has %d %s, not %s%d", f->op->name, a->name, r->rank,
                      r->rank == 1 ? "axis" : "axes", or_less, a->rank);
    }
    for (int d = 0; d < r->rank; d++)
        if (r->shape[d] < 1)
            return refuse(CUTUNE_ERR_INVALID, "%s: %s has no elements", f->op->name, a->name);
    return 0;
}

static int extent_at(struct fitting *f, int i, int e, int64_t *out)
{
    struct err *err = thread_err();
    value_with(f, f->o->whole[i][e], -1, 0, out);
    int rc = expr_int(f->o->whole[i][e], f->slots, out, err);
    if (!rc && *out < 1)
        rc = err_set(err, ERR_INVALID, "it is %" PRId64, *out);
    if (rc)
        err_prefix(err, "%s: extent %d of %s: ", f->op->name, e, arg_of(f, i)->name);
    return rc;
}

/* The strides that an array of the argument has, in a[0..rank). */
static int strides_of(struct fitting *f, int i, int rank, int64_t *strides)
{
    int64_t by = 1, whole;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = by;
        int rc = extent_at(f, i, extent_of(f, i, d), &whole);
        if (rc)
            return rc;
        if (__builtin_mul_overflow(by, whole, &by))
            return refuse(CUTUNE_ERR_INVALID, "%s: %s is too large", f->op->name, arg_of(f, i)->name);
    }
    return 0;
}

static int check_array(struct fitting *f, int i)
{
    const cutune_array *r = &f->arrays[i];
    const char *name = arg_of(f, i)->name;
    int64_t size, strides[MAX_RANK];
    const int batch = f->short_of[i] ? batch_of(f, arg_of(f, i)) : -1;
    if (batch >= 0 && f->size[batch] != 1)
        return refuse(CUTUNE_ERR_INVALID, "%s: %s has %d axes, which is for a %s of 1, not of %" PRId64 ": that takes one more in front",
                      f->op->name, name, r->rank, f->op->axes[batch].name, f->size[batch]);
    for (int d = 0; d < r->rank; d++) {
        int rc = extent_at(f, i, extent_of(f, i, d), &size);
        if (rc)
            return rc;
        if (r->shape[d] != size)
            return refuse(CUTUNE_ERR_INVALID, "%s: %s has %" PRId64 " elements along axis %d, not %" PRId64 " (%s)", f->op->name,
                          name, r->shape[d], d, size, expr_text(f->o->whole[i][extent_of(f, i, d)]));
    }
    int rc = strides_of(f, i, r->rank, strides);
    for (int d = 0; !rc && d < r->rank; d++)
        if (r->shape[d] > 1 && r->strides[d] != strides[d])
            rc = refuse(CUTUNE_ERR_INVALID,
                        "%s: %s is not contiguous: axis %d has a stride of %" PRId64 " elements, not %" PRId64
                        ": pass a contiguous copy",
                        f->op->name, name, d, r->strides[d], strides[d]);
    return rc;
}

/* An output that the caller is to make has a batch's axis if an array of his has one. */
static int make_array(struct fitting *f, int i, bool batches)
{
    const struct arg *a = arg_of(f, i);
    cutune_array *r = &f->arrays[i], made = { .size = r->size, .type = op_arg_dtype(f->op, arg_type(a), f->row)->name, .rank = -1 };
    int rc = 0;
    if (a->kind != ARG_SCALAR) {
        const int batch = batch_of(f, a);
        f->short_of[i] = batch >= 0 && !batches && f->size[batch] == 1;
        made.rank = a->rank - f->short_of[i];
        for (int d = 0; !rc && d < made.rank; d++)
            rc = extent_at(f, i, extent_of(f, i, d), &made.shape[d]);
        rc = rc ?: strides_of(f, i, made.rank, made.strides);
    }
    if (!rc)
        *r = made;
    return rc;
}

static int check_fit(const cutune_op *o, const cutune_array *arrays, int n, const cutune_fit *fit)
{
    if (!o)
        return refuse(CUTUNE_ERR_INVALID, "no op given");
    if (!arrays || n != o->nargs)
        return refuse(CUTUNE_ERR_INVALID, "%s has %d buffers and scalars, not %d", o->op->name, o->nargs, arrays ? n : 0);
    if (!fit || fit->size < sizeof *fit || !memchr(fit->types, 0, sizeof fit->types))
        return refuse(CUTUNE_ERR_INVALID, "no cutune_fit with its size set, or its types have no end");
    for (int i = 0; i < n; i++)
        if (arrays[i].size < sizeof *arrays || arrays[i].rank > CUTUNE_RANK)
            return refuse(CUTUNE_ERR_INVALID, "array %d: its size is not set to sizeof(cutune_array), or it has more than %d axes",
                          i, CUTUNE_RANK);
    return check_forks(o->generation);
}

int cutune_op_fit(const cutune_op *o, cutune_array *arrays, int n, cutune_fit *fit)
{
    static const struct devspec no_device;
    static const struct problem no_problem;
    cutune_array all[MAX_ARGS];
    struct fitting f = { .o = o, .arrays = all };
    bool batches = false;
    int rc = check_fit(o, arrays, n, fit);
    if (rc)
        return rc;
    f.op = o->op;
    memcpy(all, arrays, (size_t)n * sizeof *all);
    for (int i = 0; i < f.op->naxes; i++) {
        f.size[i] = fit->sizes[i] < 0 ? -1 : fit->sizes[i];
        if (f.size[i] >= 0 && !axis_takes(&f.op->axes[i], f.size[i]))
            return refuse(CUTUNE_ERR_INVALID, "%s: %s cannot be %" PRId64, f.op->name, f.op->axes[i].name, f.size[i]);
    }
    for (int i = 0; !rc && i < n; i++) {
        rc = take_rank(&f, i);
        batches |= !rc && is_array(&f, i) && batch_of(&f, arg_of(&f, i)) >= 0 && !f.short_of[i];
    }
    rc = rc ?: take_types(&f, fit->types);
    if (rc)
        return rc;
    plan_slots(o->plan, &no_problem, f.row, &no_device, NULL, f.slots);
    rc = take_sizes_of(&f);
    for (int i = 0; !rc && i < n; i++)
        rc = is_array(&f, i) ? check_array(&f, i) : 0;
    for (int i = 0; !rc && i < n; i++)
        rc = is_array(&f, i) ? 0 : make_array(&f, i, batches);
    if (rc)
        return rc;
    memcpy(arrays, all, (size_t)n * sizeof *all);
    memcpy(fit->sizes, f.size, (size_t)f.op->naxes * sizeof *f.size);
    fit->nsizes = f.op->naxes;
    snprintf(fit->types, sizeof fit->types, "%s", o->types[f.row]);
    return CUTUNE_OK;
}
