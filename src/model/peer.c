#include "model/peer.h"

#include <string.h>

#include "model/op_must.h"
#include "model/plan_parts.h"

#define BIT(number) (1u << (number))
/* What each call takes. */
static const struct {
    unsigned needs, may; /* numbers */
    bool b;
} calls[] = {
    [CALL_GEAM] = { BIT(PEER_M) | BIT(PEER_N) | BIT(PEER_LDA) | BIT(PEER_LDC), BIT(PEER_TA) | BIT(PEER_ALPHA), false },
    [CALL_DOT] = { BIT(PEER_N), 0, true },
    [CALL_GEMM] = { BIT(PEER_M) | BIT(PEER_N) | BIT(PEER_K) | BIT(PEER_LDA) | BIT(PEER_LDB) | BIT(PEER_LDC),
                    BIT(PEER_TA) | BIT(PEER_TB) | BIT(PEER_ALPHA) | BIT(PEER_BETA), true },
};

/* The i-th of words with a space between them. */
static const char *word_at(const char *words, int i, int *n)
{
    for (; i > 0 && *words; i--)
        words += strcspn(words, " ") + (words[strcspn(words, " ")] == ' ');
    *n = (int)strcspn(words, " ");
    return words;
}

static void put_word(struct buf *out, const char *before, const char *words, unsigned i)
{
    int n;
    const char *word = word_at(words, (int)i, &n);
    buf_fmt(out, "%s%.*s", before, n, word);
}

void peer_print(struct buf *out, const struct peer *p)
{
    put_word(out, "", PEER_LIBRARIES, p->library);
    put_word(out, " ", PEER_CALLS, p->call);
    if (p->mode)
        put_word(out, " ", PEER_MODES, p->mode);
}

double peer_slack(const struct peer *p)
{
    static const double coarser[] = { [MODE_FULL] = 1, [MODE_TF32] = 0x1p13, [MODE_BF16] = 0x1p16, [MODE_F16] = 0x1p13 };
    return coarser[p->mode];
}

static int check_buffers(const struct op *op, const struct peer *p, struct err *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < 3; i++) {
        const struct arg *a = p->buffer[i] >= 0 && p->buffer[i] < op->nargs ? &op->args[p->buffer[i]] : NULL;
        bool wanted = i != 1 || calls[p->call].b;
        rc = must(wanted == (a != NULL), err, wanted ? "%c is missing: the argument that it is" : "%c: the call has none", "abc"[i])
                 ?: must(!a || (arg_is_buffer(a) && arg_is_written(a) == (i == 2)), err, "%c: %s is no %s", "abc"[i],
                         a ? a->name : "", i == 2 ? "output" : "input");
    }
    return rc;
}

int peer_check(const struct op *op, const struct peer *p, struct err *err)
{
    bool matrices = p->library != LIBRARY_CUBLASLT || p->call == CALL_GEMM;
    int rc = must(matrices, err, "the library has matrix products only")
                 ?: must(p->library != LIBRARY_CUTENSOR || p->call != CALL_DOT, err, "the library has matrices only")
                 ?: must(!p->mode || p->call == CALL_GEMM, err, "only a matrix product has a mode")
                 ?: check_buffers(op, p, err);
    for (int i = 0; !rc && i < PEER_NUMBERS; i++) {
        int n;
        const char *word = word_at(PEER_NUMBERS_WORDS, i, &n);
        bool needs = calls[p->call].needs & BIT(i), may = needs || calls[p->call].may & BIT(i);
        rc = must(p->number[i] ? may : !needs, err, p->number[i] ? "%.*s: the call has none" : "%.*s is missing", n, word);
    }
    if (rc) {
        struct buf name = { 0 };
        peer_print(&name, p);
        err_prefix(err, "peers: %s: ", buf_text(&name));
        buf_free(&name);
    }
    return rc;
}

static int evaluate(const struct plan *plan, const char *text, const struct val *slots, struct val *out, struct err *err)
{
    struct expr *e = NULL;
    int rc = expr_compile(text, plan_scope(plan), &e, err) ?: expr_eval(e, slots, out, err);
    expr_free(e);
    return rc;
}

static bool as_real(struct val v, double *out)
{
    *out = v.type == VAL_INT ? (double)v.i : v.type == VAL_FLOAT ? v.f : v.type == VAL_BOOL ? v.b : 0;
    return v.type == VAL_INT || v.type == VAL_FLOAT || v.type == VAL_BOOL;
}

/* alpha and beta: a scalar's name is what it is tuned with, rounded as kernels are given it. */
static int factor(const struct plan *plan, const char *text, const struct val *slots, double *out, struct err *err)
{
    const struct op *op = plan->op;
    unsigned char rounded[16];
    struct val v = { 0 };
    int i = 0;
    while (i < op->nargs && (op->args[i].kind != ARG_SCALAR || strcmp(op->args[i].name, text)))
        i++;
    int rc = evaluate(plan, i < op->nargs ? op->args[i].value : text, slots, &v, err)
                 ?: must(as_real(v, out), err, "`%s` is no number", text);
    if (rc || i == op->nargs)
        return rc;
    const struct dtype *t = buffer_type(&plan->buffers[i], slots);
    if (number_put(t, *out, rounded))
        number_get(t, rounded, out);
    return 0;
}

static int whole(const struct plan *plan, const char *text, int64_t least, const struct val *slots, int64_t *out, struct err *err)
{
    struct val v = { 0 };
    if (!text)
        return 0;
    int rc = evaluate(plan, text, slots, &v, err);
    *out = v.type == VAL_INT ? v.i : v.type == VAL_BOOL ? v.b : -1;
    return rc ?: must(*out >= least, err, "`%s` must be a whole number of at least %lld", text, (long long)least);
}

int peer_evaluate(const struct plan *plan, const struct peer *p, const struct val *slots, struct peer_values *out, struct err *err)
{
    struct val when = { 0 };
    int64_t t[2] = { 0 };
    *out = (struct peer_values){ .applies = true, .alpha = 1 };
    int rc = p->when ? evaluate(plan, p->when, slots, &when, err)
                           ?: must(when.type == VAL_BOOL, err, "when: `%s` is neither true nor false", p->when)
                     : 0;
    out->applies = !p->when || (!rc && when.b);
    if (rc || !out->applies)
        return rc;
    int64_t *const to[] = { &out->m, &out->n, &out->k, &out->ld[0], &out->ld[1], &out->ld[2], &t[0], &t[1] };
    for (int i = 0; !rc && i < PEER_ALPHA; i++)
        rc = whole(plan, p->number[i], i < PEER_TA, slots, to[i], err);
    for (int i = 0; !rc && i < 2; i++)
        if (p->number[PEER_ALPHA + i])
            rc = factor(plan, p->number[PEER_ALPHA + i], slots, i ? &out->beta : &out->alpha, err);
    out->t[0] = t[0];
    out->t[1] = t[1];
    return rc;
}
