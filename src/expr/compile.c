/* Compiles Lua's expression syntax by precedence climbing. Code is emitted while the text is read, so a chain of a thousand `and` takes
 * no stack. `dst` is always the first temporary that is free. */
#include <string.h>

#include "base/mem.h"
#include "expr/code.h"

/* Where a value is while code is made, and what is known of it. */
struct operand {
    enum place in;
    int at;
    bool boolean; /* certainly one */
    bool choice;  /* an `and`, or an `or` after one: an `or` that follows may choose between values of any type */
    int check;    /* the OP_BOOL over the right side of that `and`, or 0 */
};

struct compiler {
    struct lexer lex;
    const struct scope *scope;
    struct expr *e;
    int ncode, nconsts, depth;
    char *string; /* where the next string constant goes */
    int failed;   /* the first error, 0 */
    struct err *err;
};

/* Reads an expression of operators that bind tighter than `limit`. */
static struct operand subexpression(struct compiler *c, int limit, int dst);

static struct operand fail(struct compiler *c, size_t at, const char *what)
{
    c->failed = c->failed ?: fault_at(c->err, c->e->text, at, what);
    return (struct operand){ 0 };
}

/* Fails because of the current token. */
static struct operand fail_here(struct compiler *c, const char *what)
{
    return fail(c, c->lex.at, c->lex.token == TOK_BAD ? c->lex.what : what);
}

/* There is room for every instruction and constant, because each stands for a character of the text or more, and OP_RETURN for its end. */
static void emit(struct compiler *c, enum opcode op, struct operand x, struct operand y, int dst, size_t at)
{
    if (dst >= MAX_TEMPS)
        fail(c, at, "nested too deeply");
    c->e->code[c->ncode++] = (struct instr){
        .op = (uint8_t)op,
        .dst = (uint8_t)dst,
        .x_in = (uint8_t)x.in,
        .y_in = (uint8_t)y.in,
        .x = (uint16_t)x.at,
        .y = (uint16_t)y.at,
        .at = (uint16_t)at,
    };
}

static struct operand constant(struct compiler *c, struct val v)
{
    c->e->consts[c->nconsts] = v;
    return (struct operand){ .in = IN_CONST, .at = c->nconsts++, .boolean = v.type == VAL_BOOL };
}

/* Emits op over x and y; if both are constants, the result is one. */
static struct operand operation(struct compiler *c, enum opcode op, struct operand x, struct operand y, int dst, size_t at)
{
    struct val v;
    if (!c->failed && x.in == IN_CONST && y.in == IN_CONST &&
        operate(op, &c->e->consts[x.at], &c->e->consts[y.at], &v) == FAULT_NONE)
        return constant(c, v); /* if it fails, it is left to fail at run time, if it is reached at all */
    emit(c, op, x, y, dst, at);
    bool boolean = (op >= OP_LT && op <= OP_NE) || op == OP_NOT || op == OP_ISPOW2;
    return (struct operand){ .in = IN_TEMP, .at = dst, .boolean = boolean };
}

/* `x and ...`, `x or ...`: a jump over the code of what follows. In `c and a or b` only c has to be a boolean: the check of a, which was
 * emitted with the `and`, is taken back when the `or` comes. */
static struct operand logical(struct compiler *c, const struct word *o, struct operand x, int dst, size_t at)
{
    bool is_and = o->op == OP_AND, choice = !is_and && x.choice;
    if (choice && x.check) {
        c->e->code[x.check].op = OP_MOVE;
        x.boolean = false;
    }
    int jump = c->ncode;
    emit(c, choice ? OP_OR_ANY : o->op, x, x, dst, at);
    struct operand y = subexpression(c, o->right, dst);
    struct operand result = { .in = IN_TEMP, .at = dst, .choice = is_and || choice || y.choice, .check = y.check };
    if (!choice && !y.boolean) {
        if (is_and)
            result.check = c->ncode;
        emit(c, OP_BOOL, y, y, dst, at);
        y.boolean = true;
    } else if (y.in != IN_TEMP || y.at != dst) {
        emit(c, OP_MOVE, y, y, dst, at);
    }
    result.boolean = y.boolean && (!choice || x.boolean);
    c->e->code[jump].to = (uint16_t)c->ncode;
    return result;
}

static void expect(struct compiler *c, enum token token, const char *what)
{
    if (c->lex.token == token)
        lex_next(&c->lex);
    else
        fail_here(c, what);
}

static struct operand unknown_name(struct compiler *c)
{
    const struct lexer *l = &c->lex;
    struct buf known = { 0 };
    for (int i = 0; i < c->scope->n; i++)
        buf_fmt(&known, "%s%s", i ? ", " : "", c->scope->names[i]);
    int len = l->len < 64 ? (int)l->len : 64;
    for (int i = 0; i < c->scope->nlate; i++)
        if (!c->failed && lex_is(l, c->scope->late[i]))
            c->failed = err_set(c->err, ERR_INVALID,
                                "column %zu: '%.*s' is a scalar, which callers give at each launch: no expression can use it",
                                l->at + 1, len, l->text + l->at);
    c->failed = c->failed
                    ?: err_set(c->err, ERR_INVALID, "column %zu: unknown name '%.*s'%s%s", l->at + 1, len, l->text + l->at,
                               known.len ? "; known are " : "; no names are known here", buf_text(&known));
    buf_free(&known);
    return (struct operand){ 0 };
}

static struct operand name(struct compiler *c)
{
    int slot = 0;
    while (slot < c->scope->n && !lex_is(&c->lex, c->scope->names[slot]))
        slot++;
    if (slot == c->scope->n || slot > UINT16_MAX)
        return unknown_name(c);
    lex_next(&c->lex);

    struct expr *e = c->e; /* notes that it reads the slot: ascending, each once */
    int i = e->nslots;
    while (i > 0 && e->slots[i - 1] >= slot)
        i--;
    if (i == e->nslots || e->slots[i] != slot) {
        memmove(e->slots + i + 1, e->slots + i, (size_t)(e->nslots++ - i) * sizeof *e->slots);
        e->slots[i] = slot;
    }
    return (struct operand){ .in = IN_SLOT, .at = slot };
}

/* The temporary for a second operand. */
static int after(struct operand x, int dst)
{
    return x.in == IN_TEMP ? dst + 1 : dst;
}

/* sizeof's argument may also be an element type itself: sizeof(f32). */
static struct operand type_argument(struct compiler *c, int dst)
{
    for (int i = 0; c->lex.token == TOK_NAME && dtype_at(i); i++) {
        if (lex_is(&c->lex, dtype_at(i)->name)) {
            lex_next(&c->lex);
            return constant(c, val_str(dtype_at(i)->name));
        }
    }
    return subexpression(c, 0, dst);
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

bool expr_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(name, functions[i].name))
            return true;
    return false;
}

/* Reads the arguments and the closing parenthesis; the opening one was read. */
static struct operand arguments(struct compiler *c, const struct builtin *f, size_t at, int dst)
{
    if (c->lex.token == TOK_CLOSE)
        return fail_here(c, f->usage);
    struct operand x = f->op == OP_SIZEOF ? type_argument(c, dst) : subexpression(c, 0, dst);
    int n = 1;
    for (; c->lex.token == TOK_COMMA && n < f->max && !c->failed; n++) {
        lex_next(&c->lex);
        struct operand y = subexpression(c, 0, after(x, dst));
        x = operation(c, f->op, x, y, dst, at);
    }
    if (n < f->min || c->lex.token == TOK_COMMA)
        return fail_here(c, f->usage);
    expect(c, TOK_CLOSE, "a closing parenthesis is missing");
    return n == 1 ? operation(c, f->op, x, x, dst, at) : x; /* min(a) is min(a, a), which fails if a is no number */
}

/* A name; with a parenthesis after it, a call. */
static struct operand name_or_call(struct compiler *c, int dst)
{
    struct lexer ahead = c->lex;
    lex_next(&ahead);
    if (ahead.token != TOK_OPEN)
        return name(c);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (lex_is(&c->lex, functions[i].name)) {
            size_t at = c->lex.at;
            c->lex = ahead;
            lex_next(&c->lex);
            return arguments(c, &functions[i], at, dst);
        }
    }
    return fail_here(c, "unknown function (there are ceildiv, min, max, abs, floor, sizeof, log2, ispow2, alignup)");
}

static struct operand simple(struct compiler *c, int dst)
{
    struct operand x;
    switch (c->lex.token) {
    case TOK_NUMBER:
        x = constant(c, c->lex.number);
        break;
    case TOK_TRUE:
    case TOK_FALSE:
        x = constant(c, val_bool(c->lex.token == TOK_TRUE));
        break;
    case TOK_STRING:
        x = constant(c, val_str(c->string));
        c->string += lex_string(&c->lex, c->string) + 1;
        break;
    case TOK_NAME:
        return name_or_call(c, dst);
    case TOK_OPEN:
        lex_next(&c->lex);
        x = subexpression(c, 0, dst);
        expect(c, TOK_CLOSE, "a closing parenthesis is missing");
        return x;
    default:
        return fail_here(c, "a value is missing");
    }
    lex_next(&c->lex);
    return x;
}

static struct operand unary_or_simple(struct compiler *c, int dst)
{
    const struct lexer *l = &c->lex;
    enum opcode op = l->token == TOK_NOT || l->token == TOK_INFIX ? l->word->op : OP_RETURN;
    op = op == OP_SUB ? OP_NEG : op == OP_BXOR ? OP_BNOT : op;
    if (op != OP_NOT && op != OP_NEG && op != OP_BNOT)
        return simple(c, dst);
    size_t at = l->at;
    lex_next(&c->lex);
    struct operand x = subexpression(c, UNARY, dst);
    return operation(c, op, x, x, dst, at);
}

static struct operand subexpression(struct compiler *c, int limit, int dst)
{
    if (++c->depth > MAX_DEPTH)
        fail(c, c->lex.at, "nested deeper than 200");
    if (c->failed)
        return (struct operand){ 0 };
    struct operand x = unary_or_simple(c, dst);
    while (!c->failed && c->lex.token == TOK_INFIX && c->lex.word->left > limit) {
        const struct word *o = c->lex.word;
        size_t at = c->lex.at;
        lex_next(&c->lex);
        if (o->op == OP_AND || o->op == OP_OR)
            x = logical(c, o, x, dst, at);
        else
            x = operation(c, o->op, x, subexpression(c, o->right, after(x, dst)), dst, at);
    }
    c->depth--;
    return x;
}

/* The room that an expression of so many parts takes, and where they lie in it; null without memory. */
static struct expr *with_room(size_t nconsts, size_t ncode, size_t nslots, size_t text_bytes)
{
    struct expr *e =
        mem_alloc(sizeof *e + nconsts * sizeof *e->consts + ncode * sizeof *e->code + nslots * sizeof *e->slots + text_bytes);
    if (!e)
        return NULL;
    *e = (struct expr){ .consts = (struct val *)(e + 1) };
    e->code = (struct instr *)(e->consts + nconsts);
    e->slots = (int *)(e->code + ncode);
    e->text = (char *)(e->slots + nslots);
    return e;
}

/* A copy without the room that was not needed, which is most: an op's defaults have thousands of expressions. */
static struct expr *fitted(const struct compiler *c)
{
    const struct expr *e = c->e;
    const size_t bytes = (size_t)(c->string - e->text);
    struct expr *out = with_room((size_t)c->nconsts, (size_t)c->ncode, (size_t)e->nslots, bytes);
    if (!out)
        return NULL;
    out->nslots = e->nslots;
    memcpy(out->code, e->code, (size_t)c->ncode * sizeof *e->code);
    memcpy(out->slots, e->slots, (size_t)e->nslots * sizeof *e->slots);
    memcpy(out->text, e->text, bytes);
    for (int i = 0; i < c->nconsts; i++) {
        out->consts[i] = e->consts[i];
        if (e->consts[i].type == VAL_STR)
            out->consts[i].s = out->text + (e->consts[i].s - e->text);
    }
    return out;
}

int expr_compile(const char *text, const struct scope *scope, struct expr **out, struct err *err)
{
    size_t n = strlen(text);
    if (n > MAX_TEXT)
        return err_set(err, ERR_INVALID, "an expression of %zu bytes: the limit is %d", n, MAX_TEXT);
    struct expr *e = with_room(n + 1, n + 1, n + 1, 2 * (n + 1));
    if (!e)
        return err_nomem(err);
    memcpy(e->text, text, n + 1);

    struct compiler c = { .lex = { .text = text }, .scope = scope, .e = e, .string = e->text + n + 1, .err = err };
    lex_next(&c.lex);
    struct operand x = subexpression(&c, 0, 0);
    if (c.lex.token != TOK_END)
        fail_here(&c, lex_is(&c.lex, "in") ? "an operator is missing (x in [1, 2] is written x == 1 or x == 2)"
                                           : "an operator is missing");
    emit(&c, OP_RETURN, x, x, 0, 0);
    struct expr *made = c.failed ? NULL : fitted(&c);
    expr_free(e);
    if (!made)
        return c.failed ?: err_nomem(err);
    *out = made;
    return 0;
}

void expr_free(struct expr *e)
{
    mem_free(e);
}
