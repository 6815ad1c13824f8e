#include "space/python.h"

#include <string.h>

#include "space/python_parts.h"

enum { MAX_NESTED = 200, MAX_HEIGHT = 1000, MAX_EXPRESSION = 60000 };

static bool is(const struct py_reader *r, const char *word)
{
    return (r->token == PT_SIGN || r->token == PT_NAME) && strlen(word) == r->len && !memcmp(word, r->text + r->at, r->len);
}

static bool take(struct py_reader *r, const char *word)
{
    bool found = is(r, word);
    if (found)
        py_next(r);
    return found;
}

static void expect(struct py_reader *r, const char *word, const char *what)
{
    if (!take(r, word))
        py_wrong(r, what);
}

static struct py *node(struct py_reader *r, enum py_kind kind, enum py_type type, size_t at)
{
    struct py *e = arena_alloc(r->arena, sizeof *e);
    if (!e)
        r->failed = r->failed ?: err_nomem(r->err);
    else
        *e = (struct py){ .kind = kind, .type = type, .at = at, .height = 1 };
    return e;
}

/* Adds a part, and the operation before it. Null in, null out: what comes after a failure is never used. */
static struct py *add(struct py_reader *r, struct py *e, struct py *part, enum py_op op)
{
    if (!e || !part)
        return NULL;
    if ((e->n & (e->n - 1)) == 0) { /* doubles at each power of two */
        size_t room = e->n ? 2 * (size_t)e->n : 1;
        struct py **item = arena_array(r->arena, room, sizeof(struct py *));
        uint8_t *ops = arena_array(r->arena, room, sizeof *ops);
        if (!item || !ops) {
            r->failed = r->failed ?: err_nomem(r->err);
            return NULL;
        }
        if (e->n) {
            memcpy(item, e->item, (size_t)e->n * sizeof(struct py *));
            memcpy(ops, e->op, (size_t)e->n);
        }
        e->item = item;
        e->op = ops;
    }
    e->op[e->n] = (uint8_t)op;
    e->item[e->n++] = part;
    e->height = e->height <= part->height ? part->height + 1 : e->height;
    return e->height > MAX_HEIGHT ? py_wrong(r, "more than 1000 operations in a row") : e;
}

static enum py_type joined(enum py_type a, enum py_type b)
{
    if (a == b)
        return a;
    if (a == PY_TEXT || b == PY_TEXT || a == PY_MIXED || b == PY_MIXED)
        return PY_MIXED;
    return a == PY_FLOAT || b == PY_FLOAT ? PY_FLOAT : PY_INT;
}

static bool numeric(const struct py *e)
{
    return e->type <= PY_FLOAT;
}

bool py_positive(const struct py *e, int64_t most)
{
    if (e->kind == PY_LITERAL)
        return e->value.type == VAL_INT && e->value.i >= 0 && e->value.i <= most;
    for (int i = 0; e->kind == PY_NAME && i < e->param->n; i++)
        if (e->param->values[i].type != VAL_INT || e->param->values[i].i < 0 || e->param->values[i].i > most)
            return false;
    return e->kind == PY_NAME;
}

static enum py_type type_of_val(struct val v)
{
    return v.type == VAL_BOOL ? PY_BOOL : v.type == VAL_INT ? PY_INT : v.type == VAL_FLOAT ? PY_FLOAT : PY_TEXT;
}

static enum py_type type_of_binary(enum py_op op, const struct py *a, const struct py *b)
{
    enum py_type both = joined(a->type, b->type);
    if (op == PY_DIV)
        return PY_FLOAT;
    if (op == PY_POW)
        return both != PY_FLOAT && py_positive(b, 62) ? PY_INT : PY_FLOAT;
    if (both == PY_BOOL && (op < PY_BITOR || op > PY_BITAND))
        return PY_INT;
    return both;
}

static struct py *expression(struct py_reader *r);

static struct py *literal(struct py_reader *r, struct val v)
{
    struct py *e = node(r, PY_LITERAL, type_of_val(v), r->at);
    if (e)
        e->value = v;
    py_next(r);
    return e;
}

/* Up to the closing sign, which is taken, too. */
static struct py *items(struct py_reader *r, struct py *list, const char *close)
{
    while (list && !r->failed && !is(r, close)) {
        list = add(r, list, expression(r), 0);
        if (!take(r, ",") && !is(r, close))
            return py_wrong(r, "a comma or a closing bracket is missing");
    }
    py_next(r);
    return list;
}

static struct py *call(struct py_reader *r, size_t at, const char *name)
{
    static const char *const known[] = { "min", "max", "abs", "int", "float", "bool" };
    size_t i = 0, functions = sizeof known / sizeof *known;
    while (i < functions && strcmp(name, known[i]))
        i++;
    if (i == functions)
        return py_wrong(r, "an unknown function (there are min, max, abs, int, float and bool)");
    py_next(r);
    struct py *e = items(r, node(r, PY_CALL, PY_INT, at), ")");
    if (e && e->n == 1 && e->item[0]->kind == PY_LIST && i < 2) { /* min([a, b]) */
        e->item[0]->kind = PY_CALL;
        e = e->item[0];
    }
    if (!e || !e->n || (i >= 2 && e->n > 1))
        return py_wrong(r, i < 2 ? "min and max take one number or more" : "this function takes one argument");
    e->text = known[i];
    e->type = e->item[0]->type;
    for (int k = 0; k < e->n; k++) {
        e->type = joined(e->type, e->item[k]->type);
        if (!numeric(e->item[k]) && (i < 5 || e->item[k]->kind == PY_LIST))
            return py_wrong(r, "this function takes numbers");
    }
    e->type = i == 5 ? PY_BOOL : i == 4 ? PY_FLOAT : i == 3 || e->type == PY_BOOL ? PY_INT : e->type;
    return e;
}

static struct py *name(struct py_reader *r)
{
    if (is(r, "True") || is(r, "False"))
        return literal(r, val_bool(is(r, "True")));
    size_t at = r->at;
    char *text = arena_strndup(r->arena, r->text + r->at, r->len);
    if (!text) {
        r->failed = r->failed ?: err_nomem(r->err);
        return NULL;
    }
    for (int i = 0; i < r->nparams; i++) {
        if (strcmp(r->params[i].name, text))
            continue;
        struct py *e = node(r, PY_NAME, type_of_val(r->params[i].values[0]), at);
        py_next(r);
        if (e)
            e->param = &r->params[i];
        return e;
    }
    struct py_reader ahead = *r;
    py_next(&ahead);
    if (is(&ahead, "(")) {
        *r = ahead;
        return call(r, at, text);
    }
    r->failed = r->failed ?: err_set(r->err, ERR_INVALID, "column %zu: unknown name '%.64s': no parameter has it", at + 1, text);
    return py_wrong(r, "");
}

/* ( ... ), which is a list if there is a comma in it; or [ ... ]. */
static struct py *bracketed(struct py_reader *r)
{
    size_t at = r->at;
    bool square = take(r, "[");
    if (square)
        return items(r, node(r, PY_LIST, PY_MIXED, at), "]");
    py_next(r);
    struct py *list = node(r, PY_LIST, PY_MIXED, at), *first = is(r, ")") ? NULL : expression(r);
    if (first && take(r, ")"))
        return first;
    if (first) {
        expect(r, ",", "a closing parenthesis is missing");
        list = add(r, list, first, 0);
    }
    return items(r, list, ")");
}

static struct py *atom(struct py_reader *r)
{
    switch (r->token) {
    case PT_INT:
        return literal(r, val_int(r->number));
    case PT_FLOAT:
        return literal(r, val_float(r->real));
    case PT_TEXT:
        return literal(r, val_str(r->string));
    case PT_NAME:
        return name(r);
    default:
        return is(r, "(") || is(r, "[") ? bracketed(r) : py_wrong(r, "a value is missing");
    }
}

static struct py *binary(struct py_reader *r, struct py *a, enum py_op op, struct py *b, size_t at)
{
    if (!a || !b)
        return NULL;
    if (!numeric(a) || !numeric(b))
        return py_wrong(r, "arithmetic takes numbers; text and lists are compared only");
    struct py *e = node(r, PY_BINARY, type_of_binary(op, a, b), at);
    if ((op >= PY_BITOR && op <= PY_SHR) && e && e->type == PY_FLOAT)
        return py_wrong(r, "| ^ & << >> take integers");
    return add(r, add(r, e, a, op), b, op);
}

/* - + ~ bind looser than ** on their right, and tighter than on their left. */
static struct py *factor(struct py_reader *r)
{
    size_t at = r->at;
    enum py_op op = is(r, "-") ? PY_SUB : is(r, "+") ? PY_ADD : is(r, "~") ? PY_INVERT : PY_POW;
    if (++r->nested > MAX_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e;
    if (op == PY_POW) {
        e = atom(r);
        if (take(r, "**"))
            e = binary(r, e, PY_POW, factor(r), at);
    } else {
        py_next(r);
        struct py *x = factor(r);
        if (x && (!numeric(x) || (op == PY_INVERT && x->type == PY_FLOAT)))
            return py_wrong(r, "this sign takes a number, and ~ an integer");
        e = x ? add(r, node(r, PY_UNARY, x->type == PY_FLOAT ? PY_FLOAT : PY_INT, at), x, op) : NULL;
    }
    r->nested--;
    return e;
}

/* The operators from | to %, by how tightly they bind. */
static struct py *arithmetic(struct py_reader *r, int level)
{
    static const struct {
        const char *sign;
        enum py_op op;
        int level;
    } table[] = { { "|", PY_BITOR, 0 },     { "^", PY_BITXOR, 1 }, { "&", PY_BITAND, 2 }, { "<<", PY_SHL, 3 },
                  { ">>", PY_SHR, 3 },      { "+", PY_ADD, 4 },    { "-", PY_SUB, 4 },    { "*", PY_MUL, 5 },
                  { "//", PY_FLOORDIV, 5 }, { "/", PY_DIV, 5 },    { "%", PY_MOD, 5 } };
    if (level > 5)
        return factor(r);
    struct py *e = arithmetic(r, level + 1);
    for (size_t i = 0; e && i < sizeof table / sizeof *table;) {
        size_t at = r->at;
        if (table[i].level != level || !take(r, table[i].sign)) {
            i++;
            continue;
        }
        e = binary(r, e, table[i].op, arithmetic(r, level + 1), at);
        i = 0;
    }
    return e;
}

static bool take_comparison(struct py_reader *r, enum py_op *op)
{
    static const char *const signs[] = { "<", "<=", ">", ">=", "==", "!=", "in" };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (take(r, signs[i])) {
            *op = (enum py_op)i;
            return true;
        }
    }
    *op = PY_NOT_IN;
    bool found = take(r, "not");
    if (found)
        expect(r, "in", "after `not`, which stands here between two values, there has to be `in`");
    return found;
}

static struct py *comparison(struct py_reader *r)
{
    struct py *first = arithmetic(r, 0), *e = NULL;
    enum py_op op;
    size_t at = r->at;
    while (first && !r->failed && take_comparison(r, &op)) {
        struct py *x = arithmetic(r, 0);
        const struct py *before = e ? e->item[e->n - 1] : first;
        if (!x)
            return NULL;
        bool list = op == PY_IN || op == PY_NOT_IN;
        if (list != (x->kind == PY_LIST) || before->kind == PY_LIST)
            return py_wrong(r, "a list stands on the right of `in`, and only there");
        if (op < PY_EQ && joined(before->type, x->type) == PY_MIXED)
            return py_wrong(r, "text and numbers have no order");
        e = e ?: add(r, node(r, PY_COMPARE, PY_BOOL, at), first, op);
        e = add(r, e, x, op);
        if (!e)
            return NULL;
        e->op[e->n - 2] = (uint8_t)op;
    }
    return e ?: first;
}

static struct py *negation(struct py_reader *r)
{
    size_t at = r->at;
    if (!take(r, "not"))
        return comparison(r);
    if (++r->nested > MAX_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e = add(r, node(r, PY_NOT, PY_BOOL, at), negation(r), 0);
    r->nested--;
    return e;
}

/* `and` and `or`, each a list of what they join. */
static struct py *logical(struct py_reader *r, enum py_kind kind)
{
    struct py *first = kind == PY_OR ? logical(r, PY_AND) : negation(r), *e = NULL;
    size_t at = r->at;
    while (first && take(r, kind == PY_OR ? "or" : "and")) {
        struct py *x = kind == PY_OR ? logical(r, PY_AND) : negation(r);
        e = e ?: add(r, node(r, kind, first->type, at), first, 0);
        e = add(r, e, x, 0);
        if (!e)
            return NULL;
        e->type = joined(e->type, x->type);
    }
    return e ?: first;
}

static struct py *expression(struct py_reader *r)
{
    if (++r->nested > MAX_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e = logical(r, PY_OR);
    size_t at = r->at;
    if (e && take(r, "if")) {
        struct py *condition = logical(r, PY_OR);
        expect(r, "else", "`else` is missing");
        struct py *other = expression(r);
        if (!condition || !other)
            return NULL;
        struct py *choice = node(r, PY_IF, joined(e->type, other->type), at);
        e = add(r, add(r, add(r, choice, e, 0), condition, 0), other, 0);
    }
    r->nested--;
    return r->failed ? NULL : e;
}

/* Reads all of a text. */
static int read_all(const char *text, const struct param *params, int nparams, struct arena *arena, struct py **out,
                    struct err *err)
{
    struct py_reader r = { .text = text, .params = params, .nparams = nparams, .arena = arena, .err = err };
    if (strlen(text) > (nparams ? (size_t)MAX_EXPRESSION : (size_t)MAX_EXPRESSION * 64))
        return err_set(err, ERR_INVALID, "an expression of %zu bytes: the limit is %d", strlen(text), MAX_EXPRESSION);
    py_next(&r);
    *out = expression(&r);
    if (!r.failed && r.token != PT_END)
        py_wrong(&r, "an operator is missing");
    return r.failed ?: *out ? 0 : py_fail(err, 0, "this is no expression");
}

int python_condition(const char *text, const struct param *params, int nparams, struct buf *out, struct err *err)
{
    struct py *e;
    struct arena *arena = arena_new();
    if (!arena)
        return err_nomem(err);
    int rc = read_all(text, params, nparams, arena, &e, err) ?: py_write(e, out, err);
    arena_free(arena);
    return rc;
}

/* A literal, or one with a minus. */
static bool constant(const struct py *e, struct val *v)
{
    bool negative = e->kind == PY_UNARY && e->op[0] != PY_INVERT;
    const struct py *of = negative ? e->item[0] : e;
    if (of->kind != PY_LITERAL)
        return false;
    *v = of->value;
    if (negative && v->type == VAL_BOOL)
        *v = val_int(v->b);
    if (negative && e->op[0] == PY_SUB)
        *v = v->type == VAL_INT ? val_int(-v->i) : val_float(-v->f);
    return true;
}

int python_values(const char *text, struct arena *arena, struct param *out, struct err *err)
{
    struct py *e;
    int rc = read_all(text, NULL, 0, arena, &e, err);
    if (rc)
        return rc;
    if (e->kind != PY_LIST || !e->n)
        return err_set(err, ERR_INVALID, "a list of values is wanted, such as [1, 2, 4]");
    if (e->n > MAX_VALUES)
        return err_set(err, ERR_INVALID, "%d values: at most %d", e->n, MAX_VALUES);
    out->n = e->n;
    out->values = arena_array(arena, (size_t)e->n, sizeof *out->values);
    if (!out->values)
        return err_nomem(err);
    enum py_type type = e->item[0]->type;
    for (int i = 0; i < e->n; i++) {
        struct val *v = &out->values[i];
        if (!constant(e->item[i], v))
            return py_fail(err, e->item[i]->at, "a value is a number, a string, True or False");
        if (v->type == VAL_STR && !text_ok(v->s, MAX_LINE, false))
            return py_fail(err, e->item[i]->at, "a string has no control characters");
        type = joined(type, type_of_val(*v));
    }
    if (type == PY_MIXED)
        return err_set(err, ERR_INVALID, "numbers and strings in one list: a parameter has values of one type");
    for (struct val *v = out->values; v < out->values + out->n && type != PY_TEXT; v++) {
        if (v->type == VAL_BOOL && type != PY_BOOL)
            *v = val_int(v->b);
        if (v->type == VAL_INT && type == PY_FLOAT)
            *v = val_float((double)v->i);
    }
    return 0;
}
