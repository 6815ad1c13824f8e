/* op_check: what is said of the data of arguments. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/include.h"
#include "model/op_must.h"

int must(bool ok, struct err *err, const char *fmt, ...)
{
    char text[sizeof err->msg];
    if (ok)
        return 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return err_set(err, ERR_INVALID, "%s", text);
}

/* What the rounding of a sum may be is known for numbers that cutune chooses. */
static int check_sum_data(const struct op *op, const struct arg *a, struct err *err)
{
    const bool sum = op_checks(op, CHECK_SUM);
    bool rounds = false;
    for (int r = 0; sum && r < op->nrows; r++) {
        const struct dtype *t = op_arg_dtype(op, a->type, r);
        rounds = rounds || (t->kind != DT_INT && t->kind != DT_UINT);
    }
    return must(!rounds, err,
                "argument %s: a sum is checked with floating-point numbers of cutune's choice: leave its data out, or use another "
                "check",
                a->name);
}

/* Whether the script says what its numbers are. */
static bool data_chosen(const struct arg_data *d)
{
    return d->range[0] || d->range[1] || d->below || d->sorted;
}

static int check_data_file(const struct arg *a, struct err *err)
{
    const struct data_file *f = &a->data.file;
    if (!f->name)
        return 0;
    bool alone = !data_chosen(&a->data) && !a->data.init && !a->data.peaks[0],
         good = !f->digest || strlen(f->digest) == HASH_HEX - 1;
    const char *digits = f->element && *f->element ? f->element + 1 : "x";
    size_t n = strspn(digits, "0123456789");
    good = good && f->at <= INT64_MAX - f->bytes && (!f->element || (n && !digits[n] && n + 1 < DATA_ELEMENT));
    return must(include_path_ok(f->name), err, "argument %s: `%.80s` is no path of a file below the script's folder", a->name,
                f->name)
        ?: must(alone, err, "argument %s: a file is its data: leave range, peaks, below, sorted and init away", a->name)
        ?: must(good, err, "argument %s: what is said of its file is damaged",
                a->name);
}

/* An expected file belongs to one set of inputs. */
static int check_expected(const struct op *op, const struct arg *a, struct err *err)
{
    const struct arg_data *d = &a->data;
    int rc = must(!data_chosen(d) && !d->init && !d->peaks[0], err,
                  "argument %s: of an output, only a file with what is expected can be given", a->name)
                 ?: must(!a->partial, err, "argument %s: is partial, so a file cannot say what it holds", a->name);
    for (int i = 0; !rc && i < op->nargs && d->file.bytes; i++) {
        const struct arg *in = &op->args[i];
        bool made = in->data.file.name || in->data.init;
        rc = must(
            made || (in->kind != ARG_INPUT && in->kind != ARG_INOUT), err,
            "argument %s: is compared with a file, so %s has to be the data that belongs to it: a file, or made by init of files",
            a->name, in->name);
    }
    return rc;
}

/* Those of bits, indices and what ascends would be none. */
static int check_peaks(const struct op *op, const struct arg *a, struct err *err)
{
    const struct arg_data *d = &a->data;
    const bool bits = !d->range[0] && op_fills_bits(op, a->fill);
    return must(d->peaks[0] && d->peaks[1], err, "argument %s: peaks have two bounds", a->name)
        ?: must(!d->below && !d->sorted && !d->init, err, "argument %s: has peaks: leave below, sorted and init away", a->name)
        ?: must(!bits, err, "argument %s: is filled with bits, which have no peaks: give it a range, or fill = \"numbers\"", a->name);
}

int op_check_data(const struct op *op, const struct arg *a, struct err *err)
{
    const struct arg_data *d = &a->data;
    const bool own = data_chosen(d) || d->file.name;
    if (!data_said(d))
        return 0;
    if (a->kind == ARG_OUTPUT)
        return check_expected(op, a, err) ?: check_data_file(a, err);
    return must(a->kind == ARG_INPUT || a->kind == ARG_INOUT, err, "argument %s: only a buffer can have data", a->name)
        ?: must(!d->range[0] == !d->range[1], err, "argument %s: a range has two ends", a->name)
        ?: must(!d->range[0] || !d->below, err, "argument %s: has range and below: one of them says it all", a->name)
        ?: must(a->fill != FILL_BITS || !own, err, "argument %s: is filled with bits, so its data cannot be chosen", a->name)
        ?: check_data_file(a, err)
        ?: (d->peaks[0] || d->peaks[1] || d->peaks[2] ? check_peaks(op, a, err) : 0)
        ?: must(!d->init || a->kind == ARG_INPUT, err, "argument %s: init writes inputs only", a->name)
        ?: must(!d->init || op->init.template_text, err, "argument %s: the op has no init that would write it", a->name)
        ?: (own || d->init ? check_sum_data(op, a, err) : 0);
}
