/* What arguments are filled with: bits, numbers, or the data that the script asks for. */
#include <math.h>
#include <string.h>
#include <sys/param.h>

#include "measure/internal.h"
#include "op/data_file.h"

enum { MODE_POSITIVE = 3, MODE_WITHIN, MODE_SORTED, MODE_ANY }; /* of templates/service.cu */

/* What inputs hold. Sums need whole numbers once; where all else is close, positive numbers are more worth: nothing cancels then, and
 * logarithms and roots are numbers. */
static int32_t mode_of(const struct bench *b, enum fill fill, int pass)
{
    if (op_fills_bits(b->set.op, fill))
        return MODE_ANY;
    const bool sum = op_checks(b->set.op, CHECK_SUM), close = op_checks(b->set.op, CHECK_CLOSE);
    return pass == TIMED ? 2 : close && !sum ? MODE_POSITIVE : 1;
}

static bool ruled(const struct arg_data *d)
{
    return d->range[0] || d->below || d->sorted;
}

static struct contents contents_of(const struct bench *b, const struct bench_arg *a, int pass)
{
    const bool positive = mode_of(b, FILL_NUMBERS, pass) == MODE_POSITIVE;
    struct contents c = positive ? a->positive : a->contents;
    c.seed = (0x63757475ul + (uint64_t)(a - b->args) + ((uint64_t)pass << 32)) ^ b->variation;
    if (pass != TIMED && !(positive && b->variation)) /* there is only one for another problem: it shows most so */
        c.peaks.length = 0;
    if (!ruled(&a->arg->data))
        c.mode = mode_of(b, a->arg->fill, pass);
    return c;
}

/* ---- bounds */

int within_bytes(const struct dtype *t)
{
    return t->kind == DT_FLOAT && t->bytes < 8 ? 4 : 8;
}

/* The distance from this number to the next greater in size that a float type has. */
static double step_at(const struct dtype *t, double v)
{
    const int least = t->bytes == 8 ? -1022 : t->bytes == 4 ? -126 : t->least;
    int exponent = v != 0 && ilogb(v) > least ? ilogb(v) : least;
    return ldexp(2 * t->eps, exponent);
}

/* The least number of the type from v on, or the greatest below it. */
static double in_type(const struct dtype *t, double v, bool below)
{
    double step = step_at(t, v), n = v / step;
    if (!below)
        return ceil(n) * step;
    return (floor(n) == n ? n - 1 : floor(n)) * step;
}

static void put_amount(const struct dtype *t, double v, unsigned char out[8])
{
    float f = (float)v;
    memcpy(out, within_bytes(t) == 4 ? (void *)&f : (void *)&v, (size_t)within_bytes(t));
}

/* For n elements in order; 0: in any. positive: without negative numbers, if there are others. */
static int amounts_make(const struct dtype *t, struct extremes is, int64_t n, bool positive, struct amounts *out, struct err *err)
{
    is.least = positive && is.most > 0 ? MAX(is.least, 0) : is.least;
    is.lo = positive && is.hi > 0 ? MAX(is.lo, 0) : is.lo;
    if (is.whole) {
        uint64_t count = (uint64_t)is.most - (uint64_t)is.least + 1;
        count -= n && !count; /* all that 64 bits have */
        memcpy(out->first, &is.least, 8);
        memcpy(out->step, &count, 8);
        return 0;
    }
    double first = in_type(t, is.lo, false), last = in_type(t, is.hi, true);
    if (first >= is.hi)
        return err_set(err, ERR_INVALID, "no %s lies from %g to below %g", t->name, is.lo, is.hi);
    put_amount(t, first, out->first);
    put_amount(t, last > first ? last : first, out->last);
    put_amount(t, (is.hi - first) / (n ? ldexp((double)n, 20) : 0x1p24), out->step);
    return 0;
}

/* For n elements of the service's type, of which a complex number has two. */
static int contents_make(const struct plan *plan, const struct bench_arg *a, int arg, const struct val *vals, int64_t n,
                         bool positive, struct contents *out, struct err *err)
{
    const struct dtype *t = a->service->type;
    const bool sorted = a->arg->data.sorted;
    struct extremes is;
    struct peaks peaks;
    *out = (struct contents){ .mode = sorted ? MODE_SORTED : MODE_WITHIN };
    int rc = plan_arg_extremes(plan, arg, vals, &is, err) ?: plan_arg_peaks(plan, arg, vals, &peaks, err);
    if (!rc && sorted && n > (int64_t)1 << 32)
        rc = err_set(err, ERR_INVALID, "at most 2^32 elements can be sorted");
    rc = rc ?: amounts_make(t, is, sorted ? n : 0, positive, &out->within, err);
    if (rc || !peaks.length)
        return rc;
    out->peaks.length = peaks.length;
    out->peaks.inner = peaks.inner * (peaks.within.type->bytes / t->bytes);
    return amounts_make(t, peaks.within, 0, positive, &out->peaks.within, err);
}

/* ---- files: their contents are kept on the device, for what candidates spoil */

struct copying {
    struct bench *b;
    struct memory *to;
};

static int copy_piece(void *arg, int64_t at, const void *p, size_t n, struct err *err)
{
    const struct copying *c = arg;
    bench_alive(c->b, DOES_ANY);
    return device_write(c->b->dev, c->to, at, p, (int64_t)n, err);
}

int data_copy(struct bench *b, const struct op *op, const struct data_file *f, struct memory *to, struct err *err)
{
    return data_file_read(op, f, copy_piece, &(struct copying){ b, to }, err);
}

/* What a file says that an output should be, in both passes. */
static int open_expected(struct bench *b, struct bench_arg *a, struct err *err)
{
    struct memory **to = a->expected;
    int rc = 0;
    a->given = true;
    for (int pass = 0; !rc && pass < PASSES; pass++)
        rc = device_alloc(b->dev, a->buf.bytes, &to[pass], err);
    return rc
        ?: data_copy(b, b->set.op, &a->arg->data.file, to[0], err)
        ?: device_copy(b->dev, to[TIMED], to[0], a->buf.bytes, err);
}

int data_open(struct bench *b, struct bench_arg *a, struct err *err)
{
    int arg = (int)(a - b->args);
    const struct data_file *f = &a->arg->data.file;
    if (!f->name && !ruled(&a->arg->data) && !a->arg->data.peaks[0])
        return 0;
    if (!f->name)
        return contents_make(b->plan, a, arg, b->vals, a->n, false, &a->contents, err)
                   ?: contents_make(b->plan, a, arg, b->vals, a->n, true, &a->positive, err);
    if (a->arg->kind == ARG_OUTPUT)
        return open_expected(b, a, err);
    int rc = device_alloc(b->dev, a->buf.bytes, &a->file, err);
    rc = rc ?: data_copy(b, b->set.op, f, a->file, err);
    for (int pass = 0; !rc && pass < PASSES; pass++)
        rc = digest_of(b, a, a->file, &a->digest[pass], err);
    return rc;
}

void data_close(struct bench *b, struct bench_arg *a)
{
    device_free(b->dev, a->file);
}

int data_fill(struct bench *b, const struct bench_arg *a, int pass, struct err *err)
{
    return a->file ? device_copy(b->dev, a->buf.inside, a->file, a->buf.bytes, err)
                   : service_fill(b, a->service, a->buf.inside, a->n, contents_of(b, a, pass), err);
}

int data_kept(struct bench *b, const struct bench_arg *a, int pass, bool *kept, struct err *err)
{
    struct found found;
    uint64_t now;
    bool digested = a->file || a->arg->data.init; /* no rule makes it */
    int rc = digested ? digest_of(b, a, a->buf.inside, &now, err)
                     : service_begin(b, err) ?: service_check_source(b, a, contents_of(b, a, pass), err) ?: service_end(b, 0, &found, err);
    *kept = rc || (digested ? now == a->digest[pass] : !found.count);
    return rc;
}

/* ---- another problem, on the same buffers: indices and the like must be right for that one */

int data_other(const struct bench *b, const struct problem *other)
{
    struct val vals[MAX_SLOTS];
    struct contents c;
    int64_t n;
    int rc = 0;
    plan_slots(b->plan, other, b->set.row, &b->set.dev, NULL, vals);
    for (int i = 0; !rc && i < b->nargs; i++) {
        const struct bench_arg *a = &b->args[i];
        if (!a->file && (ruled(&a->arg->data) || a->arg->data.peaks[0]))
            rc = plan_arg_bytes(b->plan, i, vals, &n, NULL)
                     ?: contents_make(b->plan, a, i, vals, n / a->service->type->bytes, false, &c, NULL);
    }
    return rc;
}

const struct bench_arg *data_of_one_size(const struct bench *b)
{
    for (int i = 0; i < b->nargs; i++)
        if (b->args[i].file && !(b->args[i].service->type->eps > 0)) /* numbers are good for any; but these may be indices */
            return &b->args[i];
    return NULL;
}

int data_open_other(struct bench *b, struct bench_arg *a, struct err *err)
{
    return a->file ? digest_of(b, a, a->file, &a->digest[0], err) : a->arg->data.file.name ? 0 : data_open(b, a, err);
}
