/* Partial evaluation, of the text: what has a value becomes that value, and what cannot be reached is left out. The rest stays as it was
 * written, operator by operator. An operand that takes the place of a whole operation needs no parentheses: it binds tighter. */
#include <inttypes.h>
#include <string.h>

#include "expr/code.h"

/* What is known of the text that was put from `start` on. */
struct part {
    size_t start;
    bool value; /* it is one: a literal */
    enum {
        TRUTH,
        OTHER,          /* certainly no truth value */
        FALSE_OR_OTHER, /* `c and a`, with such an a */
        EITHER,
    } kind;
    bool choice;  /* after the whole text an `or` may give what is no truth value, as there was an `and`; */
    bool chooses; /* and after what is left of it */
    bool open;    /* what is left of it ends with an `and`, after which that may be no truth value if there is an `or` behind */
};

struct folder {
    struct lexer lex;
    const struct bound_names *known;
    struct buf *out;
    bool failed; /* what to leave out depends on a type that is not known; nested too deeply; or no memory */
    int depth;
};

static struct part fold(struct folder *f, int limit);

static void put_token(struct folder *f)
{
    buf_put(f->out, f->lex.text + f->lex.at, f->lex.len);
    lex_next(&f->lex);
    f->failed = f->failed || f->out->failed;
}

/* Takes out what was put from `from` to `to`. */
static void take_out(struct folder *f, size_t from, size_t to)
{
    if (f->failed)
        return;
    memmove(f->out->data + from, f->out->data + to, f->out->len - to + 1);
    f->out->len -= to - from;
}

/* Puts it in place of what was put from there on, if it can be written: in parentheses if it is negative, as a minus may stand before it. */
static struct part fold_literal(struct folder *f, size_t start, struct val v)
{
    size_t end = f->out->len;
    struct part p = { .start = start, .value = true, .kind = v.type == VAL_BOOL ? TRUTH : OTHER };
    if (v.type == VAL_INT && v.i > INT64_MIN)
        buf_fmt(f->out, v.i < 0 ? "(%" PRId64 ")" : "%" PRId64, v.i);
    else if (v.type == VAL_BOOL)
        buf_str(f->out, v.b ? "true" : "false");
    else if (v.type == VAL_STR && !v.s[strcspn(v.s, "'\\\n\t\"")])
        buf_fmt(f->out, "'%s'", v.s);
    else
        p.value = false;
    f->failed = f->failed || f->out->failed;
    if (p.value)
        take_out(f, start, end);
    return p;
}

/* An operation, put from there on: its value, if that of its operands is known. One that has none fails where it is reached. */
static struct part fold_operation(struct folder *f, size_t start, bool values, bool truth)
{
    static const struct scope no_names = { .n = 0 };
    struct part p = { .start = start, .kind = truth ? TRUTH : OTHER };
    struct expr *e;
    struct val v;
    int rc = values && !f->failed ? expr_compile(f->out->data + start, &no_names, &e, NULL) : ERR_INVALID;
    f->out->failed = f->out->failed || rc == ERR_NOMEM;
    if (rc)
        return p;
    if (!expr_eval(e, NULL, &v, NULL))
        p = fold_literal(f, start, v);
    expr_free(e);
    return p;
}

static struct part fold_call(struct folder *f)
{
    size_t start = f->out->len;
    bool values = !lex_is(&f->lex, "sizeof"), truth = lex_is(&f->lex, "ispow2");
    put_token(f);
    do {
        buf_str(f->out, f->lex.token == TOK_COMMA ? ", " : "(");
        lex_next(&f->lex);
        values = fold(f, 0).value && values;
    } while (f->lex.token == TOK_COMMA && !f->failed);
    put_token(f);
    return fold_operation(f, start, values, truth);
}

static struct part fold_name(struct folder *f)
{
    struct part p = { .start = f->out->len, .kind = OTHER }; /* sizes, and what a device has: no truth values */
    int i = 0;
    while (i < f->known->n && !lex_is(&f->lex, f->known->names[i]))
        i++;
    put_token(f);
    return i < f->known->n ? fold_literal(f, p.start, f->known->values[i]) : p;
}

static struct part fold_simple(struct folder *f)
{
    struct part p = { .start = f->out->len, .value = true, .kind = OTHER };
    struct lexer ahead = f->lex;
    if (f->lex.token == TOK_NAME) {
        lex_next(&ahead);
        return ahead.token == TOK_OPEN ? fold_call(f) : fold_name(f);
    }
    if (f->lex.token != TOK_OPEN) { /* a literal */
        p.kind = f->lex.token == TOK_TRUE || f->lex.token == TOK_FALSE ? TRUTH : OTHER;
        put_token(f);
        return p;
    }
    put_token(f);
    p = fold(f, 0);
    p.start--;
    if (p.value)
        take_out(f, p.start, p.start + 1);
    else
        buf_str(f->out, ")");
    lex_next(&f->lex);
    return p;
}

/* 1, 0; -1: it has no value yet, or is no truth value */
static int truth_of(const struct folder *f, struct part p)
{
    const char *text = buf_text(f->out) + p.start;
    return !p.value || f->failed ? -1 : !strncmp(text, "true", 4) ? 1 : !strncmp(text, "false", 5) ? 0 : -1;
}

/* The left operand takes the place of both. */
static struct part left_of(struct folder *f, struct part x, size_t end, bool choice)
{
    take_out(f, end, f->out->len);
    x.choice = choice;
    return x;
}

static struct part fold_logical(struct folder *f, struct part x)
{
    bool is_and = f->lex.word->op == OP_AND;
    int right = f->lex.word->right, left = truth_of(f, x);
    size_t end = f->out->len;
    buf_str(f->out, is_and ? " and " : " or ");
    lex_next(&f->lex);
    struct part y = fold(f, right);
    bool choice = is_and || x.choice || y.choice, given = x.kind == OTHER && !is_and && x.choice;
    f->failed = f->failed || (x.kind == OTHER && !given);
    if (left == is_and && !f->failed) { /* y it is */
        take_out(f, x.start, y.start);
        y.start = x.start;
        y.choice = choice;
        return y;
    }
    if (given || left == !is_and || (x.kind == TRUTH && truth_of(f, y) == is_and)) /* x, whatever y is */
        return left_of(f, x, end, choice);
    f->failed = f->failed || (!is_and && !x.chooses && (x.kind != TRUTH || (y.kind != TRUTH && !y.open)));
    struct part p = { .start = x.start, .kind = EITHER, .choice = choice, .chooses = is_and || x.chooses || y.chooses };
    p.open = is_and || (y.open && !x.chooses);
    if (y.kind == TRUTH && (is_and || x.kind == TRUTH))
        p.kind = TRUTH;
    else if (is_and ? y.kind == OTHER : x.kind == FALSE_OR_OTHER && y.kind == FALSE_OR_OTHER)
        p.kind = FALSE_OR_OTHER;
    else if (!is_and && x.kind == FALSE_OR_OTHER && y.kind == OTHER)
        p.kind = OTHER;
    return p;
}

static struct part fold(struct folder *f, int limit)
{
    struct part x;
    f->depth++;
    f->failed = f->failed || f->depth > MAX_DEPTH - 2; /* which a negative value may add, in its parentheses */
    if (f->lex.token == TOK_NOT || f->lex.token == TOK_INFIX) {
        size_t start = f->out->len;
        bool truth = f->lex.token == TOK_NOT;
        put_token(f);
        buf_str(f->out, " ");
        x = fold_operation(f, start, fold(f, UNARY).value, truth);
    } else {
        x = fold_simple(f);
    }
    while (!f->failed && f->lex.token == TOK_INFIX && f->lex.word->left > limit) {
        const struct word *o = f->lex.word;
        if (o->op == OP_AND || o->op == OP_OR) {
            x = fold_logical(f, x);
            continue;
        }
        buf_str(f->out, " ");
        put_token(f);
        buf_str(f->out, " ");
        bool values = fold(f, o->right).value && x.value;
        x = fold_operation(f, x.start, values, o->op >= OP_LT && o->op <= OP_NE);
    }
    f->depth--;
    return x;
}

void expr_fold(const char *text, const struct bound_names *known, struct buf *out)
{
    struct folder f = { .lex = { .text = text }, .known = known, .out = out };
    size_t start = out->len;
    buf_str(out, ""); /* there are bytes, from here on */
    lex_next(&f.lex);
    fold(&f, 0);
    if ((f.failed || out->len - start > strlen(text)) && !out->failed) {
        out->len = start;
        buf_str(out, text);
    }
}
