/* Python's lists of what is known while a text is read: comprehensions, range, and what adds lists up. A comprehension's text is read
 * again for each of its values, with its names standing for them. */
#include <string.h>

#include "expr/expr.h"
#include "space/python_parts.h"

enum { MAX_LIST = 100000, MAX_WORK = 4000000 };

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The place of the `for` of the bracket that was just opened, and of its end. */
static bool find_for(const struct py_reader *r, size_t *from, size_t *end)
{
    const char *start = r->text + r->at, *found = strstr(start, "for");
    int depth = 0;
    bool of_this = false;
    for (const char *p = start; found && *p; p++) {
        if (*p == '\'' || *p == '"') {
            for (char quote = *p++; *p && *p != quote; p++)
                p += *p == '\\' && p[1];
            if (!*p)
                break;
        } else if (strchr("([{", *p)) {
            depth++;
        } else if (strchr(")]}", *p)) {
            *end = (size_t)(p - r->text);
            if (!depth--)
                return of_this;
        } else if (!depth && !of_this) {
            if (*p == ',')
                return false;
            of_this = !strncmp(p, "for", 3) && !letter(p[3]) && (p == start || !letter(p[-1]));
            *from = (size_t)(p - r->text);
        }
    }
    *end = strlen(r->text);
    return of_this;
}

static void go_to(struct py_reader *r, size_t at)
{
    if (r->failed)
        return;
    r->at = at;
    r->len = 0;
    py_next(r);
}

int py_value(struct py_reader *r, const struct py *e, bool truth, struct val *out)
{
    static const struct scope nothing = { 0 };
    struct expr *compiled = NULL;
    struct buf text = { 0 };
    if (!e || r->failed)
        return r->failed ?: ERR_INVALID;
    if (e->kind == PY_LITERAL && !truth) {
        *out = e->value;
        return 0;
    }
    r->failed = py_write(e, truth, &text, r->err);
    if (!r->failed && (expr_compile(buf_text(&text), &nothing, &compiled, NULL) || expr_eval(compiled, NULL, out, NULL)))
        r->failed = py_fail(r->err, e->at, "this cannot be computed: a division by zero, a number past 64 bits, or a name");
    if (!r->failed && out->type == VAL_STR && !(out->s = arena_strdup(r->arena, out->s)))
        r->failed = err_nomem(r->err);
    expr_free(compiled);
    buf_free(&text);
    return r->failed;
}

static bool add_value(struct py_reader *r, struct py *list, struct val v)
{
    struct py *e = py_node(r, PY_LITERAL, py_type_of(v), r->at);
    if (e)
        e->value = v;
    if (e && list->n == MAX_LIST)
        py_wrong(r, "a list of more than 100000 values");
    return !r->failed && py_add(r, list, e, 0);
}

static void clauses(struct py_reader *r, size_t body, const char *close, struct py *list, struct arena *keep);

static void each(struct py_reader *r, size_t body, const char *close, struct py *list, struct arena *keep)
{
    struct py_bound name = { .next = r->bound, .name = arena_strndup(r->arena, r->text + r->at, r->len) };
    if (r->token != PT_NAME || !name.name) {
        py_wrong(r, "a name is missing after `for`");
        return;
    }
    py_next(r);
    py_expect(r, "in", "`in` is missing");
    struct py *of = py_logical(r, PY_OR);
    size_t rest = r->at;
    if (of && of->kind != PY_LIST)
        py_wrong(r, "after `in` a list is wanted, such as range(1, 9)");
    for (int i = 0; of && i < of->n && !r->failed; i++) {
        r->bound = name.next;
        if (py_value(r, of->item[i], false, &name.value))
            break;
        r->bound = &name;
        go_to(r, rest);
        clauses(r, body, close, list, keep);
    }
    r->bound = name.next;
}

/* From a `for`, an `if` or the end on. */
static void clauses(struct py_reader *r, size_t body, const char *close, struct py *list, struct arena *keep)
{
    struct arena *before = r->arena, *mine = arena_new();
    struct val v;
    size_t from = r->at;
    if (!mine)
        r->failed = r->failed ?: err_nomem(r->err);
    if (++r->nested > PY_NESTED)
        py_wrong(r, "nested deeper than 200");
    if (r->failed) {
        arena_free(mine);
        return;
    }
    r->arena = mine;
    if (py_take(r, "for")) {
        each(r, body, close, list, keep);
    } else if (py_take(r, "if")) {
        bool holds = !py_value(r, py_logical(r, PY_OR), true, &v) && v.b;
        from = from < r->at ? from : r->at;
        if (holds)
            clauses(r, body, close, list, keep);
    } else if (py_is(r, close)) {
        go_to(r, from = body);
        bool good = !py_value(r, py_expression(r), false, &v);
        if (good && !py_is(r, "for"))
            py_wrong(r, "an operator is missing");
        r->arena = keep;
        if (good && v.type == VAL_STR && !(v.s = arena_strdup(keep, v.s)))
            r->failed = r->failed ?: err_nomem(r->err);
        if (!r->failed)
            add_value(r, list, v);
    } else {
        py_wrong(r, "`for`, `if` or a closing bracket is missing");
    }
    r->work += 16 + (int64_t)(r->at > from ? r->at - from : 0);
    if (r->work > MAX_WORK)
        py_wrong(r, "a list that takes too long to make");
    r->nested--;
    r->arena = before;
    arena_free(mine);
}

bool py_comprehension(struct py_reader *r, struct py *list, const char *close)
{
    size_t from, end, body = r->at;
    if (!list || r->failed || !find_for(r, &from, &end))
        return false;
    go_to(r, from);
    clauses(r, body, close, list, r->arena);
    go_to(r, end);
    if (!py_is(r, close))
        py_wrong(r, "a closing bracket is missing");
    return true;
}

/* range(n), range(a, b), range(a, b, step) */
static struct py *range(struct py_reader *r, const struct py *args, struct py *list)
{
    int64_t n[3] = { 0, 0, 1 };
    struct val v;
    if (args->n < 1 || args->n > 3)
        return py_wrong(r, "range takes one to three integers");
    for (int i = 0; i < args->n; i++) {
        if (args->item[i]->type > PY_INT)
            return py_wrong(r, "range takes integers");
        if (py_value(r, args->item[i], false, &v))
            return NULL;
        n[args->n == 1 ? 1 : i] = v.type == VAL_BOOL ? v.b : v.i;
    }
    if (!n[2])
        return py_wrong(r, "range takes a step that is not 0");
    for (int64_t i = n[0]; n[2] > 0 ? i < n[1] : i > n[1];) {
        if (!add_value(r, list, val_int(i)))
            return NULL;
        if (__builtin_add_overflow(i, n[2], &i))
            break;
    }
    return list;
}

struct py *py_list_call(struct py_reader *r, const char *name, const struct py *args)
{
    struct py *list = py_node(r, PY_LIST, PY_MIXED, r->at);
    if (!list)
        return NULL;
    if (!strcmp(name, "range"))
        return range(r, args, list);
    if (args->n != 1 || args->item[0]->kind != PY_LIST)
        return py_wrong(r, "this function takes a list");
    if (strcmp(name, "len"))
        return args->item[0];
    list->kind = PY_LITERAL;
    list->type = PY_INT;
    list->value = val_int(args->item[0]->n);
    return list;
}

struct py *py_joined_lists(struct py_reader *r, struct py *a, const struct py *b, enum py_op op)
{
    if (a->kind != b->kind || op != PY_ADD)
        return py_wrong(r, "lists can be added up, and no more");
    for (int i = 0; i < b->n && !r->failed; i++)
        if (a->n == MAX_LIST || !py_add(r, a, b->item[i], 0))
            return py_wrong(r, "a list of more than 100000 values");
    return r->failed ? NULL : a;
}
