/* Views of buffers: their expressions; and what every device asks of tensor maps. */
#include "model/plan_parts.h"

int field_or(const struct field *f, int64_t otherwise, int64_t least, const struct val *slots, int64_t *out, struct err *err)
{
    *out = otherwise;
    return f ? field_int(f, least, slots, out, err) : 0;
}

struct known {
    int n[4];
    const char *text;
};
static const struct known swizzles = { { 0, 32, 64, 128 }, "0, 32, 64 or 128" }, interleaves = { { 0, 16, 32, 32 }, "0, 16 or 32" },
                          l2s = { { 0, 64, 128, 256 }, "0, 64, 128 or 256" }, channels = { { 1, 2, 4, 4 }, "1, 2 or 4" };
enum { MOST_BOX = 256, MOST_STEP = 8 };

static bool is_known(const struct known *k, int64_t n)
{
    return n == k->n[0] || n == k->n[1] || n == k->n[2] || n == k->n[3];
}

static int among(const char *what, int64_t n, const struct known *k, struct err *err)
{
    return is_known(k, n) ? 0
                          : err_set(err, ERR_UNSUPPORTED, "a tensor map with a %s of %lld bytes: %s are possible", what,
                                    (long long)n, k->text);
}

/* A number of the script's that can never be right is its error, not a limit of a configuration. What is no integer is told elsewhere. */
static int check_literal(const struct field *f, const struct known *k, int most, struct err *err)
{
    int64_t n;
    int nslots = 1;
    if (f)
        expr_slots(f->expr, &nslots);
    if (nslots || expr_int(f->expr, NULL, &n, NULL))
        return 0;
    if (k && !is_known(k, n))
        return err_set(err, ERR_INVALID, "%s: `%s`: %s are possible", f->place, expr_text(f->expr), k->text);
    return k || (n >= 1 && n <= most)
               ? 0
               : err_set(err, ERR_INVALID, "%s: `%s`: 1 to %d are possible", f->place, expr_text(f->expr), most);
}

int view_literals(const struct view_fields *f, struct err *err)
{
    int rc = check_literal(f->swizzle, &swizzles, 0, err)
        ?: check_literal(f->interleave, &interleaves, 0, err)
        ?: check_literal(f->l2, &l2s, 0, err)
        ?: check_literal(f->channels, &channels, 0, err);
    for (int i = 0; !rc && i < MAX_VIEW_RANK; i++)
        rc = check_literal(f->box[i], NULL, MOST_BOX, err) ?: check_literal(f->step[i], NULL, MOST_STEP, err);
    return rc;
}

static int check_words(const struct tensor *t, struct err *err)
{
    int rc = among("swizzle", t->swizzle, &swizzles, err)
        ?: among("interleave", t->interleave, &interleaves, err)
        ?: among("promotion to L2", t->l2, &l2s, err);
    if (!rc && t->interleave && t->rank < 3)
        rc = err_set(err, ERR_UNSUPPORTED, "an interleaved tensor map needs three extents or more");
    if (!rc && t->nan && t->type->kind != DT_FLOAT)
        rc = err_set(err, ERR_UNSUPPORTED, "a tensor map of %s fills with no NaN", t->type->name);
    if (!rc && (t->type->bytes > 8))
        rc = err_set(err, ERR_UNSUPPORTED, "there are no tensor maps of %s", t->type->name);
    return rc;
}

/* d: the place in the order of C. */
static int check_extent(const struct tensor *t, int i, int d, struct err *err)
{
    const int64_t inner = t->box[0] * t->type->bytes, unit = t->interleave == 32 ? 32 : 16;
    if (t->extent[i] > (int64_t)1 << 32)
        return err_set(err, ERR_UNSUPPORTED, "a tensor map with an extent[%d] of %lld: 2^32 is possible", d,
                       (long long)t->extent[i]);
    if (t->box[i] > MOST_BOX || t->step[i] > MOST_STEP)
        return err_set(err, ERR_UNSUPPORTED, "a tensor map with a box[%d] of %lld and steps of %lld: %d and %d are possible", d,
                       (long long)t->box[i], (long long)t->step[i], MOST_BOX, MOST_STEP);
    if (i > 0 && (t->stride[i] % unit || t->stride[i] >= (int64_t)1 << 40))
        return err_set(err, ERR_UNSUPPORTED, "a tensor map with a stride of %lld bytes: multiples of %d below 2^40 are possible",
                       (long long)t->stride[i], (int)unit);
    if (i == 0 && !t->interleave && (inner % 16 || (t->swizzle && inner > t->swizzle)))
        return err_set(err, ERR_UNSUPPORTED, "a tensor map with a box of %lld bytes in a row: multiples of 16 are possible%s",
                       (long long)inner, t->swizzle ? ", up to the swizzle" : "");
    return 0;
}

/* It lies in the buffer. */
static int check_inside(const struct tensor *t, int64_t bytes, struct err *err)
{
    int64_t end = t->type->bytes, far;
    bool over = false;
    for (int i = 0; i < t->rank; i++)
        over = over || __builtin_mul_overflow(t->extent[i] - 1, t->stride[i], &far) || __builtin_add_overflow(end, far, &end);
    return !over && end <= bytes ? 0 : err_set(err, ERR_UNSUPPORTED, "it ends behind its buffer of %lld bytes", (long long)bytes);
}

/* The lists of the script begin with the outermost, the device's with the innermost. */
static int evaluate(const struct view_fields *f, const struct val *slots, struct tensor *t, struct err *err)
{
    int64_t packed = t->type->bytes, swizzle, interleave, l2;
    int rc = 0;
    for (int i = 0; i < t->rank && !rc; i++) {
        int d = t->rank - 1 - i;
        rc = field_or(f->extent[d], 1, 1, slots, &t->extent[i], err)
            ?: field_or(f->box[d], 1, 1, slots, &t->box[i], err)
            ?: field_or(f->step[d], 1, 1, slots, &t->step[i], err)
            ?: field_or(i ? f->stride[d] : NULL, 1, 1, slots, &t->stride[i], err);
        bool given = i && f->stride[d];
        if (!rc && given && __builtin_mul_overflow(t->stride[i], t->type->bytes, &t->stride[i]))
            t->stride[i] = INT64_MAX;
        if (!rc && !given)
            t->stride[i] = packed;
        if (!rc && __builtin_mul_overflow(t->stride[i], t->extent[i], &packed))
            packed = INT64_MAX;
    }
    rc = rc
        ?: field_or(f->swizzle, 0, 0, slots, &swizzle, err)
        ?: field_or(f->interleave, 0, 0, slots, &interleave, err)
        ?: field_or(f->l2, 0, 0, slots, &l2, err);
    if (rc)
        return rc;
    t->swizzle = swizzle > 1024 ? 1024 : (int)swizzle;
    t->interleave = interleave > 1024 ? 1024 : (int)interleave;
    t->l2 = l2 > 1024 ? 1024 : (int)l2;
    return 0;
}

int view_refused(const struct view_fields *f, int rc, struct err *err)
{
    if (rc == ERR_UNSUPPORTED)
        err_prefix(err, "%s: ", f->buffer->place);
    return rc;
}

int plan_view(const struct view_fields *f, const struct val *slots, struct tensor *out, struct err *err)
{
    int64_t bytes;
    out->type = buffer_type(f->buffer, slots);
    return evaluate(f, slots, out, err) ?: plan_bytes(f->buffer, slots, &bytes, err) ?: check_inside(out, bytes, err);
}

int plan_tensor(const struct plan *p, int launch, int view, const struct val *slots, struct tensor *out, struct err *err)
{
    const struct view *of = &p->variant->launches[launch].views[view];
    const struct view_fields *f = &p->launches[launch].views[view];
    *out = (struct tensor){ .rank = of->rank, .nan = of->nan };
    int rc = plan_view(f, slots, out, err) ?: check_words(out, err);
    for (int i = 0; i < out->rank && !rc; i++)
        rc = check_extent(out, i, out->rank - i, err);
    return view_refused(f, rc, err);
}

int plan_check_view(const struct plan *p, const struct condition *c, const struct val *slots, bool *holds, struct err *err)
{
    const int launch = (int)(c->launch - p->launches);
    struct texture texture;
    struct tensor tensor;
    int rc = p->variant->launches[launch].views[c->extent].texture ? plan_texture(p, launch, c->extent, slots, &texture, err)
                                                                   : plan_tensor(p, launch, c->extent, slots, &tensor, err);
    *holds = !rc;
    return rc == ERR_UNSUPPORTED ? 0 : rc;
}
