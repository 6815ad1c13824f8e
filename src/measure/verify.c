/* Verification: a candidate must give what the reference gives, under two poisons and two inputs, on workspaces that hold anything, and
 * write nothing else. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/internal.h"

/* Other data in each pass: a result that was kept from an earlier one shows. */
static uint64_t seed_of(const struct bench *b, const struct slot *s, int pass)
{
    return 0x63757475ul + (uint64_t)(s - b->slots) + ((uint64_t)pass << 32);
}

static bool is_bits(const struct bench *b, const struct slot *s)
{
    return s->arg->fill == FILL_AUTO ? b->set.op->check == CHECK_EXACT : s->arg->fill == FILL_BITS;
}

bool is_output(const struct slot *s)
{
    return s->arg->kind == ARG_OUTPUT || s->arg->kind == ARG_INOUT;
}

static enum poison poison_of(int pass)
{
    return pass == TIMED ? POISON_ONES : POISON_RANDOM;
}

static int fill_slot(struct bench *b, struct slot *s, int pass, struct err *err)
{
    return service_fill(b, s->service, s->buf.inside, s->n, pass, seed_of(b, s, pass), is_bits(b, s), err);
}

int inouts_fill(struct bench *b, int pass, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++)
        if (b->slots[i].arg->kind == ARG_INOUT)
            rc = fill_slot(b, &b->slots[i], pass, err);
    return rc;
}

int results_poison(struct bench *b, struct loaded *l, int pass, bool keep_work, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++)
        if (b->slots[i].arg->kind == ARG_OUTPUT) /* of a partial one, what is left alone is compared, too */
            rc = guarded_poison(b, &b->slots[i].buf, b->slots[i].arg->partial ? poison_of(pass) : POISON_ZEROS, err);
    for (int i = 0; !rc && !keep_work && i < l->nwork; i++)
        rc = guarded_poison(b, &l->work[i], POISON_ZEROS, err);
    return rc;
}

/* Fresh contents for everything that a kernel reads or writes. What is as it should be is left. */
int inputs_fill(struct bench *b, int pass, struct err *err)
{
    int rc = 0, held = b->inputs_pass;
    if (held == pass && b->outputs_fresh)
        return 0;
    b->inputs_pass = -1;
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->buf.inside || (s->arg->kind == ARG_INPUT && held == pass))
            continue;
        rc = guarded_paint(b, &s->buf, pass, err);
        if (!rc)
            rc = s->arg->kind == ARG_OUTPUT ? guarded_poison(b, &s->buf, poison_of(pass), err) : fill_slot(b, s, pass, err);
    }
    if (!rc)
        b->inputs_pass = pass;
    b->outputs_fresh = !rc;
    return rc;
}

bool is_exact(const struct bench *b, int slot, int pass)
{
    return pass != TIMED || !(b->tolerance[slot] > 0);
}

int outputs_look(struct bench *b, int pass, int which, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!is_output(s))
            continue;
        if (is_exact(b, i, pass))
            rc = service_digest(b, s, s->buf.inside, which, err);
        else
            rc = service_check_same(b, s->service, s->buf.inside, s->expected[pass], s->n, b->tolerance[i], s->arg->partial, err);
    }
    return rc;
}

int guards_look(struct bench *b, struct loaded *l, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++)
        if (b->slots[i].buf.inside)
            rc = service_check_guards(b, &b->slots[i].buf, err);
    for (int i = 0; !rc && i < l->nwork; i++)
        rc = service_check_guards(b, &l->work[i], err);
    return rc;
}

int inputs_look(struct bench *b, int which, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < b->nslots; i++)
        if (b->slots[i].arg->kind == ARG_INPUT)
            rc = service_digest(b, &b->slots[i], b->slots[i].buf.inside, which, err);
    return rc;
}

/* Which buffer's zone it was; null: none. */
static int find_guard(struct bench *b, struct loaded *l, const char **where, struct err *err)
{
    struct check found;
    *where = NULL;
    int rc = service_begin(b, err);
    if (!rc)
        rc = guards_look(b, l, err);
    if (!rc)
        rc = service_end(b, 0, &found, err);
    if (rc || !found.count)
        return rc;
    *where = "a workspace";
    for (int i = 0; !rc && i < b->nslots; i++) {
        if (!b->slots[i].buf.inside)
            continue;
        rc = service_begin(b, err);
        if (!rc)
            rc = service_check_guards(b, &b->slots[i].buf, err);
        if (!rc)
            rc = service_end(b, 0, &found, err);
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

/* As check_close has it, for the types that print_element gives as numbers. */
static bool alike(const struct dtype *t, const unsigned char *got, const unsigned char *want, double tolerance)
{
    if (!memcmp(got, want, (size_t)t->bytes))
        return true;
    if (tolerance == 0 || t->kind != DT_FLOAT || t->bytes < 4)
        return false;
    float g, w;
    double gd, wd;
    memcpy(t->bytes == 4 ? (void *)&g : &gd, got, (size_t)t->bytes);
    memcpy(t->bytes == 4 ? (void *)&w : &wd, want, (size_t)t->bytes);
    double d = t->bytes == 4 ? (double)(g - w) : gd - wd;
    return -tolerance <= d && d <= tolerance;
}

/* The first wrong element, for a person: element 17 of out is 3, not 5 (12 wrong). */
static int describe(struct bench *b, const struct slot *s, int pass, double tolerance, const struct check *found, char reason[256],
                    struct err *err)
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
    while (i < n - 1 && alike(t, got + i * size, want + i * size, tolerance))
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

bool same(const uint32_t a[2], const uint32_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

int digest_of(struct bench *b, const struct slot *s, struct memory *m, uint32_t digest[2], struct err *err)
{
    struct check now;
    int rc = service_begin(b, err);
    if (!rc)
        rc = service_digest(b, s, m, 0, err);
    if (!rc)
        rc = service_end(b, 1, &now, err);
    if (!rc)
        memcpy(digest, now.digests[0], sizeof now.digests[0]);
    return rc;
}

/* Of an exact check's other pass, what was expected is not kept. */
static int check_digest(struct bench *b, struct slot *s, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    uint32_t now[2];
    int rc = digest_of(b, s, s->buf.inside, now, err);
    if (!rc && !same(now, s->digest[pass]))
        return wrong(outcome, reason, "%s is not what the reference gives on other inputs", s->arg->name);
    return rc;
}

static int check_elements(struct bench *b, int slot, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    struct slot *s = &b->slots[slot];
    struct check found;
    uint32_t now[2];
    double tolerance = is_exact(b, slot, pass) ? 0 : b->tolerance[slot];
    int rc = service_begin(b, err);
    if (!rc)
        rc = service_check_same(b, s->service, s->buf.inside, s->expected[pass], s->n, tolerance, s->arg->partial, err);
    if (!rc)
        rc = service_end(b, 0, &found, err);
    if (rc || !found.count)
        return rc;
    /* Before an expected output condemns a candidate: is it still what the reference wrote? */
    rc = digest_of(b, s, s->expected[pass], now, err);
    if (!rc && !same(now, s->digest[pass])) {
        wrong(outcome, reason, "wrote over memory that is not its own: the expected %s changed", s->arg->name);
        return err_set(err, ERR_DEVICE, "a candidate wrote over the expected output");
    }
    *outcome = OUT_WRONG;
    return rc ? rc : describe(b, s, pass, tolerance, &found, reason, err);
}

static int find_output(struct bench *b, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && *outcome == OUT_OK && i < b->nslots; i++)
        if (is_output(&b->slots[i]))
            rc = b->slots[i].expected[pass] ? check_elements(b, i, pass, outcome, reason, err)
                                            : check_digest(b, &b->slots[i], pass, outcome, reason, err);
    return rc;
}

int find_input(struct bench *b, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    for (int i = 0; i < b->nslots; i++) {
        struct slot *s = &b->slots[i];
        if (!s->buf.inside || s->arg->kind != ARG_INPUT)
            continue;
        struct check found;
        int rc = service_begin(b, err);
        if (!rc)
            rc = service_check_source(b, s->service, s->buf.inside, s->n, pass, seed_of(b, s, pass), is_bits(b, s), err);
        if (!rc)
            rc = service_end(b, 0, &found, err);
        if (rc)
            return rc;
        if (found.count)
            return wrong(outcome, reason, "changed its input %s", s->arg->name);
    }
    return 0;
}

int diagnose(struct bench *b, struct loaded *l, int pass, enum outcome *outcome, char reason[256], struct err *err)
{
    const char *where;
    int rc = find_guard(b, l, &where, err);
    if (!rc && where) {
        wrong(outcome, reason, "wrote outside %s", where);
        /* On a CPU it may have hit more than the zone: this process is not to be trusted with the next one. */
        return b->set.dev.shares_cores ? err_set(err, ERR_DEVICE, "a candidate wrote outside its buffers") : 0;
    }
    if (!rc)
        rc = find_input(b, pass, outcome, reason, err);
    if (!rc && *outcome == OUT_OK)
        rc = find_output(b, pass, outcome, reason, err);
    return rc;
}

/* What was there before, in front of a reason that came of it. */
static void tell_before(const struct loaded *l, struct way way, char reason[256])
{
    char text[256];
    if (way.poisoned)
        return;
    snprintf(text, sizeof text, "%s", reason);
    if (way.after_other)
        snprintf(reason, 256, "on the workspace that a run of %.80s left: %.130s", l->other_problem, text);
    else
        snprintf(reason, 256, "on the workspace that its last run left: %.200s", text);
}

/* Everything in one check; what was wrong is looked for only if there is something. */
static int look(struct bench *b, struct loaded *l, struct way way, enum outcome *outcome, char reason[256], struct err *err)
{
    struct check found;
    int rc = service_begin(b, err);
    if (!rc)
        rc = outputs_look(b, way.pass, 0, err);
    if (!rc)
        rc = guards_look(b, l, err);
    if (!rc && !way.inputs_later)
        rc = inputs_look(b, 1, err);
    if (!rc)
        rc = service_end(b, 2, &found, err);
    if (rc)
        return rc;
    bool kept = way.inputs_later || same(found.digests[1], b->input_digest[way.pass]);
    if (kept && !found.count && same(found.digests[0], b->digest[way.pass]))
        return 0;
    rc = diagnose(b, l, way.pass, outcome, reason, err);
    if (!rc && *outcome == OUT_OK) /* what was wrong is no longer: something else writes here */
        return err_set(err, ERR_DEVICE, "a check failed, and what it found was gone when it was looked at");
    return rc;
}

static int launch(struct bench *b, struct loaded *l, const struct bound *how, enum outcome *outcome, char reason[256],
                  struct err *err)
{
    struct err why = { 0 };
    if (!candidate_launch(b, l, how, &why) && !b->be->sync(b->dev, &why))
        return 0;
    if (why.code == ERR_NOMEM)
        return err_set(err, ERR_NOMEM, "%s", why.msg);
    *outcome = OUT_LAUNCH_ERROR;
    snprintf(reason, 256, "%.255s", why.msg);
    /* An error that stays takes the context with it; one that does not was a refusal. */
    int rc = b->be->sync(b->dev, err);
    if (rc)
        *outcome = OUT_CRASH;
    return rc;
}

int verify_pass(struct bench *b, struct loaded *l, struct way way, enum outcome *outcome, char reason[256], struct err *err)
{
    int rc = 0;
    bench_alive(b);
    if (way.after_other && l->has_other) {
        rc = launch(b, l, &l->other, outcome, reason, err);
        if (rc || *outcome != OUT_OK)
            tell_before(l, way, reason);
    }
    if (!rc && *outcome == OUT_OK)
        rc = inputs_fill(b, way.pass, err);
    for (int i = 0; !rc && i < l->nwork && way.poisoned; i++) {
        rc = guarded_paint(b, &l->work[i], way.pass, err);
        if (!rc)
            rc = guarded_poison(b, &l->work[i], poison_of(way.pass), err);
    }
    if (rc || *outcome != OUT_OK)
        return rc;
    bench_alive(b);
    rc = launch(b, l, &l->own, outcome, reason, err);
    bench_alive(b);
    if (!rc && *outcome == OUT_OK)
        rc = look(b, l, way, outcome, reason, err);
    if (*outcome != OUT_OK)
        tell_before(l, way, reason);
    return rc;
}
