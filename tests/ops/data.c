#include "data.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/element.h"

int poison(int pass)
{
    return pass ? 0x5a : 0xa5;
}

int guarded_alloc(const struct session *s, int64_t bytes, struct guarded *out, struct err *err)
{
    *out = (struct guarded){ .bytes = bytes, .total = GUARD + bytes + GUARD };
    return device_alloc(s->dev, out->total, &out->whole, err) ?: device_view(s->dev, out->whole, GUARD, bytes, &out->inside, err);
}

void guarded_free(const struct session *s, struct guarded *g)
{
    if (g->inside)
        device_free(s->dev, g->inside);
    if (g->whole)
        device_free(s->dev, g->whole);
    *g = (struct guarded){ 0 };
}

static bool is_bits(const struct op *op, const struct arg *arg)
{
    return arg->fill == FILL_AUTO ? op->check.kind == CHECK_EXACT : arg->fill == FILL_BITS;
}

/* The bytes before, and memory for those after; an output's are all poison before. */
static int make_images(const struct data *d, const struct known_op *known, struct buffer *b, uint64_t seed, struct err *err)
{
    for (int pass = 0; pass < PASSES; pass++) {
        bool unread = pass == 0 && known->unread && !strcmp(known->unread, b->arg->name);
        size_t total = (size_t)b->memory.total;
        b->before[pass] = mem_alloc(total);
        b->after[pass] = b->arg->kind == ARG_INPUT ? b->before[pass] : mem_alloc(total);
        if (!b->before[pass] || !b->after[pass])
            return err_nomem(err);
        memset(b->before[pass], poison(pass), total);
        if (unread)
            memset(b->before[pass] + GUARD, 0xff, (size_t)b->memory.bytes);
        enum source source = is_bits(d->op, b->arg) ? SOURCE_BITS : pass ? SOURCE_UNIFORM : SOURCE_WHOLE;
        if (b->arg->kind != ARG_OUTPUT && !unread &&
            !source_fill(b->before[pass] + GUARD, b->memory.bytes / b->type->bytes, b->type, source,
                         seed * PASSES + (uint64_t)pass))
            return err_set(err, ERR_UNSUPPORTED, "check_ops has no numbers of type %s", b->type->name);
        if (b->arg->kind != ARG_INPUT)
            memcpy(b->after[pass], b->before[pass], total);
    }
    return 0;
}

static int expect(const struct data *d, const struct known_op *known, struct err *err)
{
    for (int pass = 0; pass < PASSES; pass++) {
        void *buffers[MAX_ARGS] = { 0 };
        for (int i = 0; i < d->op->nargs; i++)
            if (d->buffers[i].after[pass])
                buffers[i] = d->buffers[i].after[pass] + GUARD;
            else if (d->op->args[i].kind == ARG_SCALAR)
                buffers[i] = (void *)d->values[pass][i].param.value;
        const struct dtype *type = d->op->rows[d->row * d->op->ntypes];
        if (!known->expect(type, d->problem.size, buffers))
            return err_set(err, ERR_UNSUPPORTED, "tests/ref has no %s for %s", d->op->name, type->name);
    }
    return 0;
}

/* How far from what is expected an output may be. The first pass of a sum is exact. */
static void tolerate(struct buffer *b, const struct bounds *check)
{
    for (int pass = check->kind == CHECK_SUM; b->arg && pass < PASSES; pass++) {
        struct extent e = { 0 };
        int64_t n = b->memory.bytes / b->type->bytes;
        extent_add(&e, b->type, b->after[pass] + GUARD, n);
        b->tolerance[pass] = tolerance_of(check, b->type, extent_typical(&e), extent_typical(&e), n);
    }
}

int data_begin(const struct session *s, const struct known_op *known, const struct op *op, int row, const struct problem *problem,
               uint64_t seed, struct data *out, struct err *err)
{
    struct val slots[MAX_SLOTS];
    struct plan *plan;
    *out = (struct data){ .session = s, .op = op, .row = row, .problem = *problem };
    int rc = plan_new(op, -1, &plan, err);
    if (rc)
        return rc;
    plan_slots(plan, problem, row, &s->spec, NULL, slots);
    struct bounds check;
    rc = plan_bounds(plan, -1, slots, &check, err);
    for (int i = 0; !rc && i < op->nargs; i++) {
        struct buffer *b = &out->buffers[i];
        int64_t bytes;
        if (!arg_is_buffer(&op->args[i])) {
            struct guest_param *v[PASSES] = { &out->values[0][i].param, &out->values[1][i].param };
            rc = plan_arg_value(plan, i, slots, v[0]->value, &v[0]->bytes, err)
                     ?: plan_arg_other(plan, i, slots, v[1]->value, &v[1]->bytes, err);
            continue;
        }
        b->arg = &op->args[i];
        b->type = op_arg_dtype(op, b->arg->type, row);
        rc = plan_arg_bytes(plan, i, slots, &bytes, err)
            ?: guarded_alloc(s, bytes, &b->memory, err)
            ?: make_images(out, known, b, seed * MAX_ARGS + (uint64_t)i, err);
    }
    plan_free(plan);
    rc = rc ?: expect(out, known, err);
    for (int i = 0; !rc && i < op->nargs; i++)
        tolerate(&out->buffers[i], &check);
    return rc;
}

void data_end(struct data *d)
{
    for (int i = 0; d->op && i < d->op->nargs; i++) {
        struct buffer *b = &d->buffers[i];
        guarded_free(d->session, &b->memory);
        for (int pass = 0; pass < PASSES; pass++) {
            if (b->after[pass] != b->before[pass])
                mem_free(b->after[pass]);
            mem_free(b->before[pass]);
        }
    }
    *d = (struct data){ 0 };
}

int data_reset(const struct data *d, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < d->op->nargs; i++) {
        const struct buffer *b = &d->buffers[i];
        if (b->arg)
            rc = device_write(d->session->dev, b->memory.whole, 0, b->before[pass], b->memory.total, err);
    }
    return rc;
}

static bool same(const struct dtype *t, const struct tolerance *tolerance, const unsigned char *got, const unsigned char *want)
{
    double x, y;
    if (tolerance->close && number_get(t, got, &x) && number_get(t, want, &y))
        return tolerance_share(tolerance, x, y) <= 1;
    return !memcmp(got, want, (size_t)t->bytes);
}

static void compare_elements(const struct buffer *b, int pass, const unsigned char *got, const unsigned char *want,
                             char wrong[WRONG])
{
    int64_t size = b->type->bytes, n = b->memory.bytes / size, count = 0, first = 0;
    for (int64_t i = 0; i < n; i++)
        if (!same(b->type, &b->tolerance[pass], got + i * size, want + i * size) && !count++)
            first = i;
    if (!count)
        return;
    char g[48], w[48];
    element_print(g, sizeof g, b->type, got + first * size);
    element_print(w, sizeof w, b->type, want + first * size);
    snprintf(wrong, WRONG, "element %lld of %s is %s, not %s (%lld of %lld wrong)", (long long)first, b->arg->name, g, w,
             (long long)count, (long long)n);
}

static void compare_guards(const struct guarded *g, int pass, const unsigned char *got, const char *name, char wrong[WRONG])
{
    for (int64_t i = 0; i < g->total; i++) {
        if (i == GUARD)
            i += g->bytes;
        if (got[i] != poison(pass)) {
            snprintf(wrong, WRONG, "wrote outside %s, at byte %lld; it has %lld", name, (long long)(i - GUARD),
                     (long long)g->bytes);
            return;
        }
    }
}

static int read_back(const struct session *s, const struct guarded *g, unsigned char **out, struct err *err)
{
    *out = mem_alloc((size_t)g->total);
    if (!*out)
        return err_nomem(err);
    return device_read(s->dev, *out, g->whole, 0, g->total, err);
}

int guards_compare(const struct session *s, const struct guarded *g, int pass, const char *name, char wrong[WRONG], struct err *err)
{
    unsigned char *got;
    int rc = read_back(s, g, &got, err);
    if (!rc)
        compare_guards(g, pass, got, name, wrong);
    mem_free(got);
    return rc;
}

int data_compare(const struct data *d, int pass, char wrong[WRONG], struct err *err)
{
    int rc = 0;
    *wrong = 0;
    for (int i = 0; !rc && !*wrong && i < d->op->nargs; i++) {
        const struct buffer *b = &d->buffers[i];
        unsigned char *got;
        if (!b->arg)
            continue;
        rc = read_back(d->session, &b->memory, &got, err);
        if (!rc && memcmp(got, b->after[pass], (size_t)b->memory.total)) {
            compare_guards(&b->memory, pass, got, b->arg->name, wrong);
            if (!*wrong)
                compare_elements(b, pass, got + GUARD, b->after[pass] + GUARD, wrong);
        }
        mem_free(got);
    }
    return rc;
}
