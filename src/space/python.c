#include "space/python.h"

#include <string.h>

#include "space/python_parts.h"

enum { MAX_HEIGHT = 1000, MAX_EXPRESSION = 60000 };

bool py_is(const struct py_reader *r, const char *word)
{
    return (r->token == PT_SIGN || r->token == PT_NAME) && strlen(word) == r->len && !memcmp(word, r->text + r->at, r->len);
}

bool py_take(struct py_reader *r, const char *word)
{
    bool found = py_is(r, word);
    if (found)
        py_next(r);
    return found;
}

void py_expect(struct py_reader *r, const char *word, const char *what)
{
    if (!py_take(r, word))
        py_wrong(r, what);
}

struct py *py_node(struct py_reader *r, enum py_kind kind, enum py_type type, size_t at)
{
    struct py *e = arena_alloc(r->arena, sizeof *e);
    if (!e)
        r->failed = r->failed ?: err_nomem(r->err);
    else
        *e = (struct py){ .kind = kind, .type = type, .at = at, .height = 1 };
    return e;
}

/* Adds a part, and the operation before it. Null in, null out: what comes after a failure is never used. */
struct py *py_add(struct py_reader *r, struct py *e, struct py *part, enum py_op op)
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

enum py_type py_type_of(struct val v)
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

static struct py *literal(struct py_reader *r, struct val v)
{
    struct py *e = py_node(r, PY_LITERAL, py_type_of(v), r->at);
    if (e)
        e->value = v;
    py_next(r);
    return e;
}

/* Up to the closing sign, which is taken, too. */
static struct py *items(struct py_reader *r, struct py *list, const char *close)
{
    bool made = py_comprehension(r, list, close);
    while (list && !r->failed && !py_is(r, close)) {
        list = py_add(r, list, py_expression(r), 0);
        if (made || (!py_take(r, ",") && !py_is(r, close)))
            return py_wrong(r, "a comma or a closing bracket is missing");
    }
    py_next(r);
    return list;
}

/* Of a call, up to and with the closing parenthesis. f(i for i in ..) has one, a list. */
static struct py *arguments(struct py_reader *r, size_t at)
{
    struct py *list = py_node(r, PY_LIST, PY_MIXED, at), *e = py_node(r, PY_CALL, PY_INT, at);
    if (!py_comprehension(r, list, ")"))
        return items(r, e, ")");
    py_next(r);
    return py_add(r, e, list, 0);
}

static struct py *call(struct py_reader *r, size_t at, const char *name)
{
    static const char *const known[] = { "min", "max", "abs", "int", "float", "bool", "len", "list", "tuple", "range" };
    size_t i = 0, functions = sizeof known / sizeof *known;
    while (i < functions && strcmp(name, known[i]))
        i++;
    if (i == functions)
        return py_wrong(r, "an unknown function (there are min, max, abs, int, float, bool, len, list, tuple and range)");
    py_next(r);
    struct py *e = arguments(r, at);
    if (e && i >= 6)
        return py_list_call(r, known[i], e);
    bool listed = e && e->n == 1 && e->item[0]->kind == PY_LIST && i < 2; /* min([a, b]) */
    if (listed) {
        e->item[0]->kind = PY_CALL;
        e = e->item[0];
    }
    if (!e || e->n < (i < 2 && !listed ? 2 : 1) || (i >= 2 && e->n > 1))
        return py_wrong(r, i < 2 ? "min and max take two numbers or more, or a list" : "this function takes one argument");
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
    if (py_is(r, "True") || py_is(r, "False"))
        return literal(r, val_bool(py_is(r, "True")));
    size_t at = r->at;
    char *text = arena_strndup(r->arena, r->text + r->at, r->len);
    if (!text) {
        r->failed = r->failed ?: err_nomem(r->err);
        return NULL;
    }
    for (const struct py_bound *b = r->bound; b; b = b->next)
        if (!strcmp(b->name, text))
            return literal(r, b->value);
    for (int i = 0; i < r->nparams; i++) {
        if (strcmp(r->params[i].name, text))
            continue;
        struct py *e = py_node(r, PY_NAME, py_type_of(r->params[i].values[0]), at);
        py_next(r);
        if (e)
            e->param = &r->params[i];
        return e;
    }
    struct py_reader ahead = *r;
    py_next(&ahead);
    if (py_is(&ahead, "(")) {
        *r = ahead;
        return call(r, at, text);
    }
    r->failed = r->failed ?: err_set(r->err, ERR_INVALID, "column %zu: unknown name '%.64s': no parameter has it", at + 1, text);
    return py_wrong(r, "");
}

/* ( ... ), which is a list if there is a comma in it; [ ... ]; or { ... }, a set, of which it can be asked as of a list what is in it. */
static struct py *bracketed(struct py_reader *r)
{
    size_t at = r->at;
    const char *close = py_is(r, "[") ? "]" : py_is(r, "{") ? "}" : ")";
    py_next(r);
    if (*close == '}' && py_is(r, "}"))
        return py_wrong(r, "{} is a dictionary, and these have no place here");
    if (*close != ')')
        return items(r, py_node(r, PY_LIST, PY_MIXED, at), close);
    struct py *list = py_node(r, PY_LIST, PY_MIXED, at);
    if (py_comprehension(r, list, ")")) {
        py_next(r);
        return list;
    }
    struct py *first = py_is(r, ")") ? NULL : py_expression(r);
    if (first && py_take(r, ")"))
        return first;
    if (first) {
        py_expect(r, ",", "a closing parenthesis is missing");
        list = py_add(r, list, first, 0);
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
        return py_is(r, "(") || py_is(r, "[") || py_is(r, "{") ? bracketed(r) : py_wrong(r, "a value is missing");
    }
}

static struct py *binary(struct py_reader *r, struct py *a, enum py_op op, struct py *b, size_t at)
{
    if (!a || !b)
        return NULL;
    if (a->kind == PY_LIST || b->kind == PY_LIST)
        return py_joined_lists(r, a, b, op);
    if (!numeric(a) || !numeric(b))
        return py_wrong(r, "arithmetic takes numbers; text is compared only");
    struct py *e = py_node(r, PY_BINARY, type_of_binary(op, a, b), at);
    if ((op >= PY_BITOR && op <= PY_SHR) && e && e->type == PY_FLOAT)
        return py_wrong(r, "| ^ & << >> take integers");
    return py_add(r, py_add(r, e, a, op), b, op);
}

/* - + ~ bind looser than ** on their right, and tighter than on their left. */
static struct py *factor(struct py_reader *r)
{
    size_t at = r->at;
    enum py_op op = py_is(r, "-") ? PY_SUB : py_is(r, "+") ? PY_ADD : py_is(r, "~") ? PY_INVERT : PY_POW;
    if (++r->nested > PY_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e;
    if (op == PY_POW) {
        e = atom(r);
        if (py_take(r, "**"))
            e = binary(r, e, PY_POW, factor(r), at);
    } else {
        py_next(r);
        struct py *x = factor(r);
        if (x && (!numeric(x) || (op == PY_INVERT && x->type == PY_FLOAT)))
            return py_wrong(r, "this sign takes a number, and ~ an integer");
        e = x ? py_add(r, py_node(r, PY_UNARY, x->type == PY_FLOAT ? PY_FLOAT : PY_INT, at), x, op) : NULL;
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
        if (table[i].level != level || !py_take(r, table[i].sign)) {
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
        if (py_take(r, signs[i])) {
            *op = (enum py_op)i;
            return true;
        }
    }
    *op = PY_NOT_IN;
    bool found = py_take(r, "not");
    if (found)
        py_expect(r, "in", "after `not`, which stands here between two values, there has to be `in`");
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
        e = e ?: py_add(r, py_node(r, PY_COMPARE, PY_BOOL, at), first, op);
        e = py_add(r, e, x, op);
        if (!e)
            return NULL;
        e->op[e->n - 2] = (uint8_t)op;
    }
    return e ?: first;
}

static struct py *negation(struct py_reader *r)
{
    size_t at = r->at;
    if (!py_take(r, "not"))
        return comparison(r);
    if (++r->nested > PY_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e = py_add(r, py_node(r, PY_NOT, PY_BOOL, at), negation(r), 0);
    r->nested--;
    return e;
}

/* `and` and `or`, each a list of what they join. */
struct py *py_logical(struct py_reader *r, enum py_kind kind)
{
    struct py *first = kind == PY_OR ? py_logical(r, PY_AND) : negation(r), *e = NULL;
    size_t at = r->at;
    while (first && py_take(r, kind == PY_OR ? "or" : "and")) {
        struct py *x = kind == PY_OR ? py_logical(r, PY_AND) : negation(r);
        e = e ?: py_add(r, py_node(r, kind, first->type, at), first, 0);
        e = py_add(r, e, x, 0);
        if (!e)
            return NULL;
        e->type = joined(e->type, x->type);
    }
    return e ?: first;
}

struct py *py_expression(struct py_reader *r)
{
    if (++r->nested > PY_NESTED)
        return py_wrong(r, "nested deeper than 200");
    struct py *e = py_logical(r, PY_OR);
    size_t at = r->at;
    if (e && py_take(r, "if")) {
        struct py *condition = py_logical(r, PY_OR);
        py_expect(r, "else", "`else` is missing");
        struct py *other = py_expression(r);
        if (!condition || !other)
            return NULL;
        struct py *choice = py_node(r, PY_IF, joined(e->type, other->type), at);
        e = py_add(r, py_add(r, py_add(r, choice, e, 0), condition, 0), other, 0);
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
    *out = py_expression(&r);
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
    int rc = read_all(text, params, nparams, arena, &e, err) ?: py_write(e, true, out, err);
    arena_free(arena);
    return rc;
}

int python_values(const char *text, struct arena *arena, struct param *out, struct err *err)
{
    struct py *e;
    struct py_reader none = { .text = text, .arena = arena, .err = err };
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
    enum py_type type = PY_BOOL;
    for (int i = 0; i < e->n; i++) {
        struct val *v = &out->values[i];
        if (e->item[i]->type == PY_MIXED)
            return py_fail(err, e->item[i]->at, "a value is a number, a string, True or False");
        if (py_value(&none, e->item[i], false, v))
            return none.failed;
        if (v->type == VAL_STR && !text_ok(v->s, MAX_LINE, false))
            return py_fail(err, e->item[i]->at, "a string has no control characters");
        type = i ? joined(type, py_type_of(*v)) : py_type_of(*v);
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
