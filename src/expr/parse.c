/* Compiles Lua's expression syntax by precedence climbing. Code is emitted while the text is read, so a chain of a thousand `and` takes
 * no stack. `dst` is always the first temporary that is free. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "expr/dtype.h"
#include "expr/lex.h"

struct parser {
    struct lexer lex;
    const struct scope *scope;
    struct builder b;
    int depth;
};

/* Reads an expression of operators that bind tighter than `limit`. */
static struct operand subexpression(struct parser *p, int limit, int dst);

static struct operand nothing(void)
{
    return (struct operand){ .in = IN_CONST, .check = -1 };
}

static struct operand fail(struct parser *p, size_t at, const char *what)
{
    build_fail(&p->b, at, what);
    return nothing();
}

/* Fails because of the current token. */
static struct operand fail_here(struct parser *p, const char *what)
{
    return fail(p, p->lex.at, p->lex.token == TOK_BAD ? p->lex.what : what);
}

static void expect(struct parser *p, enum token token, const char *what)
{
    if (p->lex.token == token)
        lex_next(&p->lex);
    else
        fail_here(p, what);
}

static bool is_word(const struct lexer *l, const char *word)
{
    return strlen(word) == l->len && memcmp(word, l->text + l->at, l->len) == 0;
}

static struct operand unknown_name(struct parser *p)
{
    const struct lexer *l = &p->lex;
    struct buf known = { 0 };
    for (int i = 0; i < p->scope->n; i++)
        buf_fmt(&known, "%s%s", i ? ", " : "", p->scope->names[i]);
    int len = l->len < 64 ? (int)l->len : 64;
    if (!p->b.failed)
        p->b.failed = err_set(p->b.err, ERR_INVALID, "column %zu: unknown name '%.*s'%s%s", l->at + 1, len, l->text + l->at,
                              known.len ? "; known are " : "; no names are known here", buf_text(&known));
    buf_free(&known);
    return nothing();
}

static struct operand name(struct parser *p)
{
    for (int i = 0; i < p->scope->n && i <= UINT16_MAX; i++) {
        if (is_word(&p->lex, p->scope->names[i])) {
            lex_next(&p->lex);
            return build_slot(&p->b, i);
        }
    }
    return unknown_name(p);
}

static struct operand string(struct parser *p)
{
    struct expr *e = p->b.e;
    char *s = e->strings + p->b.nstrings;
    p->b.nstrings += lex_string(&p->lex, s) + 1;
    lex_next(&p->lex);
    return build_const(&p->b, val_str(s));
}

/* The temporary for a second operand. */
static int after(struct operand x, int dst)
{
    return x.in == IN_TEMP ? dst + 1 : dst;
}

/* sizeof's argument may also be an element type itself: sizeof(f32). */
static struct operand type_argument(struct parser *p, int dst)
{
    struct lexer *l = &p->lex;
    const struct dtype *type = NULL;
    for (int i = 0; l->token == TOK_NAME && !type && dtype_at(i); i++)
        if (is_word(l, dtype_at(i)->name))
            type = dtype_at(i);
    if (!type)
        return subexpression(p, 0, dst);
    lex_next(l);
    return build_const(&p->b, val_str(type->name));
}

struct builtin {
    const char *name;
    enum opcode op;
    int min, max; /* arguments; more than two are folded from the left */
    const char *usage;
};

static const struct builtin functions[] = {
    { "ceildiv", OP_CEILDIV, 2, 2, "ceildiv(a, b) takes two arguments" },
    { "alignup", OP_ALIGNUP, 2, 2, "alignup(a, b) takes two arguments" },
    { "min", OP_MIN, 1, MAX_TEXT, "min(a, ...) takes one argument or more" },
    { "max", OP_MAX, 1, MAX_TEXT, "max(a, ...) takes one argument or more" },
    { "abs", OP_ABS, 1, 1, "abs(a) takes one argument" },
    { "floor", OP_FLOOR, 1, 1, "floor(a) takes one argument" },
    { "sizeof", OP_SIZEOF, 1, 1, "sizeof(type) takes one argument" },
    { "log2", OP_LOG2, 1, 1, "log2(a) takes one argument" },
    { "ispow2", OP_ISPOW2, 1, 1, "ispow2(a) takes one argument" },
};

/* Reads the arguments and the closing parenthesis; the opening one was read. */
static struct operand arguments(struct parser *p, const struct builtin *f, size_t at, int dst)
{
    if (p->lex.token == TOK_CLOSE)
        return fail(p, p->lex.at, f->usage);
    struct operand x = f->op == OP_SIZEOF ? type_argument(p, dst) : subexpression(p, 0, dst);
    int n = 1;
    for (; p->lex.token == TOK_COMMA && n < f->max && !p->b.failed; n++) {
        lex_next(&p->lex);
        struct operand y = subexpression(p, 0, after(x, dst));
        x = build_op(&p->b, f->op, x, y, dst, at);
    }
    if (n < f->min || p->lex.token == TOK_COMMA)
        return fail_here(p, f->usage);
    expect(p, TOK_CLOSE, "a closing parenthesis is missing");
    return n == 1 ? build_op(&p->b, f->op, x, x, dst, at) : x; /* min(a) is min(a, a), which fails if a is no number */
}

/* A name; with a parenthesis after it, a call. */
static struct operand name_or_call(struct parser *p, int dst)
{
    struct lexer ahead = p->lex;
    lex_next(&ahead);
    if (ahead.token != TOK_OPEN)
        return name(p);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (is_word(&p->lex, functions[i].name)) {
            size_t at = p->lex.at;
            p->lex = ahead;
            lex_next(&p->lex);
            return arguments(p, &functions[i], at, dst);
        }
    }
    return fail_here(p, "unknown function (there are ceildiv, min, max, abs, floor, sizeof, log2, ispow2, alignup)");
}

static struct operand simple(struct parser *p, int dst)
{
    struct operand x;
    switch (p->lex.token) {
    case TOK_NUMBER:
        x = build_const(&p->b, p->lex.number);
        break;
    case TOK_TRUE:
    case TOK_FALSE:
        x = build_const(&p->b, val_bool(p->lex.token == TOK_TRUE));
        break;
    case TOK_STRING:
        return string(p);
    case TOK_NAME:
        return name_or_call(p, dst);
    case TOK_OPEN:
        lex_next(&p->lex);
        x = subexpression(p, 0, dst);
        expect(p, TOK_CLOSE, "a closing parenthesis is missing");
        return x;
    default:
        return fail_here(p, "a value is missing");
    }
    lex_next(&p->lex);
    return x;
}

enum { UNARY = 12 }; /* how tightly a unary operator binds */

static struct operand unary_or_simple(struct parser *p, int dst)
{
    const struct lexer *l = &p->lex;
    enum opcode op = l->token == TOK_NOT ? OP_NOT : l->token != TOK_INFIX ? OP_RETURN : l->infix->op;
    op = op == OP_SUB ? OP_NEG : op == OP_BXOR ? OP_BNOT : op;
    if (op != OP_NOT && op != OP_NEG && op != OP_BNOT)
        return simple(p, dst);
    size_t at = l->at;
    lex_next(&p->lex);
    struct operand x = subexpression(p, UNARY, dst);
    return build_op(&p->b, op, x, x, dst, at);
}

static struct operand subexpression(struct parser *p, int limit, int dst)
{
    if (++p->depth > MAX_DEPTH)
        fail(p, p->lex.at, "nested deeper than 200");
    if (p->b.failed)
        return nothing();
    struct operand x = unary_or_simple(p, dst);
    while (!p->b.failed && p->lex.token == TOK_INFIX && p->lex.infix->left > limit) {
        const struct infix *o = p->lex.infix;
        size_t at = p->lex.at;
        lex_next(&p->lex);
        if (o->op == OP_AND || o->op == OP_OR) {
            struct operand jump = build_jump(&p->b, o->op, x, dst, at);
            x = build_join(&p->b, jump, subexpression(p, o->right, dst), dst, at);
        } else {
            struct operand y = subexpression(p, o->right, after(x, dst));
            x = build_op(&p->b, o->op, x, y, dst, at);
        }
    }
    p->depth--;
    return x;
}

int expr_compile(const char *text, const struct scope *scope, struct expr **out, struct err *err)
{
    struct parser p = { .lex = { .text = text }, .scope = scope };
    int rc = build_start(&p.b, text, err);
    if (rc)
        return rc;
    lex_next(&p.lex);
    struct operand x = subexpression(&p, 0, 0);
    if (!p.b.failed && p.lex.token != TOK_END)
        fail_here(&p, "an operator is missing");
    return build_end(&p.b, x, out);
}
