/* Verification: a candidate must give what the reference gives, under two poisons and two inputs, and write nothing else. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/internal.h"

/* Two bit patterns, so that a value that happens to stand in memory is right under one of them at most. */
uint8_t poison(int pass)
{
    return pass ? 0x5a : 0xa5;
}

static uint64_t seed_of(const struct bench *b, const struct slot *s)
{
    return 0x63757475ul + (uint64_t)(s - b->slots);
}

bool is_bits(const struct bench *b, const struct slot *s)
{
    return s->arg->fill == FILL_AUTO ? b->set.op->check == CHECK_EXACT : s->arg->fill == FILL_BITS;
}

int inouts_fill(struct bench *b, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (s->arg->kind == ARG_INOUT)
            rc = service_fill(b, s->service, s->buf.inside, s->n, pass, seed_of(b, s), is_bits(b, s), err);
    }
    return rc;
}

int outputs_poison(struct bench *b, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct guarded *g = &b->slots[i].buf;
        if (b->slots[i].arg->kind == ARG_OUTPUT)
            rc = b->be->fill(b->dev, g->inside, 0, g->bytes, poison(pass), err);
    }
    return rc;
}

/* Fresh contents for everything that a kernel reads or writes. Inputs that still hold this pass's data are left. */
int inputs_fill(struct bench *b, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->buf.inside)
            continue;
        bool read = s->arg->kind != ARG_OUTPUT;
        if (s->arg->kind == ARG_INPUT && b->inputs_pass == pass)
            continue;
        rc = guarded_poison(b, &s->buf, poison(pass), err);
        if (!rc && read)
            rc = service_fill(b, s->service, s->buf.inside, s->n, pass, seed_of(b, s), is_bits(b, s), err);
    }
    b->inputs_pass = rc ? -1 : pass;
    return rc;
}

static int check_guards_of(struct bench *b, struct guarded *g, int pass, struct err *err)
{
    int rc = service_check_fill(b, g->whole, 0, GUARD, poison(pass), err);
    return rc ? rc : service_check_fill(b, g->whole, GUARD + g->bytes, g->total, poison(pass), err);
}

/* All guard zones in one check; only when that fails, which buffer it was. */
static int check_guards(struct bench *b, struct loaded *l, int pass, const char **where, struct err *err)
{
    struct check found;
    *where = NULL;
    int rc = service_begin(b, err);
    for (int i = 0; !rc && i < b->nslots; i++)
        if (b->slots[i].buf.inside)
            rc = check_guards_of(b, &b->slots[i].buf, pass, err);
    for (int i = 0; !rc && i < l->nwork; i++)
        rc = check_guards_of(b, &l->work[i], pass, err);
    if (!rc)
        rc = service_end(b, &found, err);
    if (rc || !found.count)
        return rc;
    *where = "a workspace";
    b->inputs_pass = -1;
    for (int i = 0; !rc && i < b->nslots; i++) {
        if (!b->slots[i].buf.inside)
            continue;
        rc = service_begin(b, err);
        if (!rc)
            rc = check_guards_of(b, &b->slots[i].buf, pass, err);
        if (!rc)
            rc = service_end(b, &found, err);
        if (!rc && found.count) {
            *where = b->slots[i].arg->name;
            break;
        }
    }
    return rc;
}

static void print_element(char *out, size_t room, const struct dtype *t, const unsigned char *p)
{
    if (t->kind == DT_FLOAT && t->bytes == 4) {
        float v;
        memcpy(&v, p, sizeof v);
        snprintf(out, room, "%.9g", (double)v);
    } else if (t->kind == DT_FLOAT && t->bytes == 8) {
        double v;
        memcpy(&v, p, sizeof v);
        snprintf(out, room, "%.17g", v);
    } else {
        int n = snprintf(out, room, "0x");
        for (int i = t->bytes - 1; i >= 0 && n > 0 && (size_t)n < room; i--)
            n += snprintf(out + n, room - (size_t)n, "%02x", p[i]);
    }
}

/* The first wrong element, for a person: element 17 of out is 3, not 5 (12 wrong). */
static int describe(struct bench *b, const struct slot *s, int pass, const struct check *found, char reason[256], struct err *err)
{
    const struct dtype *t = s->service->type;
    unsigned char got[64 * 16], want[64 * 16];
    int64_t n = s->n - found->place < 64 ? s->n - found->place : 64, size = t->bytes;
    int rc = n <= 0 ? 0 : b->be->read(b->dev, got, s->buf.inside, found->place * size, n * size, err);
    if (!rc && n > 0)
        rc = b->be->read(b->dev, want, s->expected[pass], found->place * size, n * size, err);
    if (rc)
        return rc;
    int64_t i = 0;
    while (i < n - 1 && !memcmp(got + i * size, want + i * size, (size_t)size))
        i++;
    char g[40] = "?", w[40] = "?";
    if (n > 0) {
        print_element(g, sizeof g, t, got + i * size);
        print_element(w, sizeof w, t, want + i * size);
    }
    snprintf(reason, 256, "element %lld of %s is %s, the reference gives %s (%u wrong)", (long long)(found->place + i),
             s->arg->name, g, w, found->count);
    return 0;
}

static int wrong(enum outcome *outcome, char reason[256], const char *fmt, const char *name)
{
    *outcome = OUT_WRONG;
    snprintf(reason, 256, fmt, name);
    return 0;
}

/* Before an expected output condemns a candidate: is it still what the reference wrote? */
static int expected_intact(struct bench *b, const struct slot *s, int pass, bool *intact, struct err *err)
{
    uint32_t now[2];
    int rc = service_checksum(b, s->service, s->expected[pass], s->n, now, err);
    *intact = !rc && !memcmp(now, s->sum[pass], sizeof now);
    return rc;
}

static int verify_outputs(struct bench *b, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    for (int i = 0; i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->expected[pass])
            continue;
        struct check found;
        int rc = service_begin(b, err);
        if (!rc)
            rc = service_check_same(b, s->service, s->buf.inside, s->expected[pass], s->n, pass ? b->tolerance[i] : 0, err);
        if (!rc)
            rc = service_end(b, &found, err);
        if (rc)
            return rc;
        if (!found.count)
            continue;
        bool intact;
        rc = expected_intact(b, s, pass, &intact, err);
        if (rc)
            return rc;
        if (!intact) {
            wrong(outcome, reason, "wrote over memory that is not its own: the expected %s changed", s->arg->name);
            return err_set(err, ERR_DEVICE, "a candidate wrote over the expected output");
        }
        *outcome = OUT_WRONG;
        return describe(b, s, pass, &found, reason, err);
    }
    return 0;
}

static int check_inputs(struct bench *b, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    for (int i = 0; i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->buf.inside || s->arg->kind != ARG_INPUT)
            continue;
        struct check found;
        int rc = service_begin(b, err);
        if (!rc)
            rc = service_check_source(b, s->service, s->buf.inside, s->n, pass, seed_of(b, s), is_bits(b, s), err);
        if (!rc)
            rc = service_end(b, &found, err);
        if (rc)
            return rc;
        if (found.count) {
            b->inputs_pass = -1;
            return wrong(outcome, reason, "changed its input %s", s->arg->name);
        }
    }
    return 0;
}

int verify_pass(struct bench *b, struct loaded *l, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    bench_alive(b);
    int rc = inputs_fill(b, pass, err);
    for (int i = 0; !rc && i < l->nwork; i++)
        rc = guarded_poison(b, &l->work[i], poison(pass), err);
    if (!rc)
        rc = b->be->sync(b->dev, err);
    if (rc)
        return rc;
    bench_alive(b);
    struct err why = { 0 };
    if (candidate_launch(b, l, &why) || b->be->sync(b->dev, &why)) {
        *outcome = OUT_LAUNCH_ERROR;
        snprintf(reason, 256, "%.255s", why.msg);
        /* An error that stays takes the context with it; one that does not was a refusal. */
        rc = b->be->sync(b->dev, err);
        if (rc)
            *outcome = OUT_CRASH;
        return rc;
    }
    bench_alive(b);
    const char *where;
    rc = check_guards(b, l, pass, &where, err);
    if (!rc && where) {
        wrong(outcome, reason, "wrote outside %s", where);
        /* On a CPU it may have hit more than the zone: this process is not to be trusted with the next one. */
        return b->set.dev.shares_cores ? err_set(err, ERR_DEVICE, "a candidate wrote outside its buffers") : 0;
    }
    if (!rc)
        rc = verify_outputs(b, pass, outcome, reason, err);
    if (!rc && *outcome == OUT_OK)
        rc = check_inputs(b, pass, outcome, reason, err);
    return rc;
}
