/* Writes a Python expression in cutune's language. Each function appends one that binds at least as tightly as `need`, one of the levels
 * below. A part that the other language has to say twice is written twice, so the text is bounded. */
#include <math.h>
#include <string.h>

#include "space/python_parts.h"

enum { MOST_TEXT = 60000, MOST_SHIFT = 62 };

/* How tightly operators bind in cutune's language. */
enum {
    LOOSEST,
    L_OR,
    L_AND,
    L_COMPARE,
    L_BITOR,
    L_BITXOR,
    L_BITAND,
    L_SHIFT,
    L_SUM = 10,
    L_PRODUCT,
    L_UNARY,
    L_POWER = 14,
    TIGHTEST
};

struct py_writer {
    struct buf *out;
    int failed;
    struct err *err;
};

static void write_value(struct py_writer *w, const struct py *e, int need);  /* what it is */
static void write_truth(struct py_writer *w, const struct py *e, int need);  /* whether it is true */
static void write_number(struct py_writer *w, const struct py *e, int need); /* what it is in arithmetic: True is 1 */

static void put(struct py_writer *w, const char *text)
{
    buf_str(w->out, text);
    if (w->out->len > MOST_TEXT && !w->failed)
        w->failed = err_set(w->err, ERR_INVALID, "too long: it would be more than %d bytes in cutune's language", MOST_TEXT);
}

static bool open_at(struct py_writer *w, int level, int need)
{
    if (level < need)
        put(w, "(");
    return level < need;
}

static void close_at(struct py_writer *w, bool opened)
{
    if (opened)
        put(w, ")");
}

typedef void write_part(struct py_writer *w, const struct py *e, int need);

/* a OP b; `right`: how tightly b has to bind. */
static void infix(struct py_writer *w, write_part *a_part, const struct py *a, const char *op, write_part *b_part,
                  const struct py *b, int level, int need)
{
    if (w->failed)
        return;
    bool opened = open_at(w, level, need);
    a_part(w, a, level == L_COMPARE || level == L_POWER ? level + 1 : level);
    put(w, op);
    b_part(w, b, level + 1);
    close_at(w, opened);
}

/* c and a or b, of which a is never false. */
static void choice(struct py_writer *w, const struct py *c, write_part *part, const struct py *a, const struct py *b, int need)
{
    bool opened = open_at(w, L_OR, need);
    write_truth(w, c, L_AND);
    put(w, " and ");
    part(w, a, L_AND + 1);
    put(w, " or ");
    part(w, b, L_OR + 1);
    close_at(w, opened);
}

/* -- conditions -- */

/* One of the comparisons of a chain. */
static void compare(struct py_writer *w, const struct py *a, enum py_op op, const struct py *b, int need)
{
    static const char *const signs[] = { " < ", " <= ", " > ", " >= ", " == ", " ~= " };
    bool text = a->type == PY_TEXT, either = text || b->type == PY_TEXT;
    if (a->type == PY_MIXED || b->type == PY_MIXED)
        w->failed = w->failed ?: py_fail(w->err, a->at, "this may be text or a number: one of them can be compared");
    else if (either && a->type != b->type) /* no text is a number */
        put(w, op == PY_NE ? "true" : "false");
    else
        infix(w, text ? write_value : write_number, a, signs[op], text ? write_value : write_number, b, L_COMPARE, need);
}

static void contained(struct py_writer *w, const struct py *a, const struct py *list, bool none, int need)
{
    bool opened = list->n > 1 && open_at(w, none ? L_AND : L_OR, need);
    for (int i = 0; i < list->n && !w->failed; i++) {
        put(w, !i ? "" : none ? " and " : " or ");
        compare(w, a, none ? PY_NE : PY_EQ, list->item[i], list->n > 1 ? L_COMPARE : need);
    }
    if (!list->n)
        put(w, none ? "true" : "false");
    close_at(w, opened);
}

static void comparisons(struct py_writer *w, const struct py *e, int need)
{
    bool opened = e->n > 2 && open_at(w, L_AND, need);
    need = e->n > 2 ? L_AND + 1 : need;
    for (int i = 0; i + 1 < e->n && !w->failed; i++) {
        enum py_op op = (enum py_op)e->op[i];
        put(w, i ? " and " : "");
        if (op == PY_IN || op == PY_NOT_IN)
            contained(w, e->item[i], e->item[i + 1], op == PY_NOT_IN, need);
        else
            compare(w, e->item[i], op, e->item[i + 1], need);
    }
    close_at(w, opened);
}

static void join(struct py_writer *w, const struct py *e, int need)
{
    int level = e->kind == PY_AND ? L_AND : L_OR;
    bool opened = open_at(w, level, need);
    for (int i = 0; i < e->n && !w->failed; i++) {
        put(w, !i ? "" : e->kind == PY_AND ? " and " : " or ");
        write_truth(w, e->item[i], level + 1);
    }
    close_at(w, opened);
}

/* (c and a) or (not c and b): a may be false. */
static void either_truth(struct py_writer *w, const struct py *e, int need)
{
    bool opened = open_at(w, L_OR, need);
    write_truth(w, e->item[1], L_AND + 1);
    put(w, " and ");
    write_truth(w, e->item[0], L_AND + 1);
    put(w, " or not ");
    write_truth(w, e->item[1], TIGHTEST);
    put(w, " and ");
    write_truth(w, e->item[2], L_AND + 1);
    close_at(w, opened);
}

static void write_truth(struct py_writer *w, const struct py *e, int need)
{
    if (w->failed)
        return;
    bool opened;
    switch (e->kind) {
    case PY_AND:
    case PY_OR:
        join(w, e, need);
        return;
    case PY_NOT:
        opened = open_at(w, L_UNARY, need);
        put(w, "not ");
        write_truth(w, e->item[0], TIGHTEST);
        close_at(w, opened);
        return;
    case PY_IF:
        either_truth(w, e, need);
        return;
    case PY_COMPARE:
        comparisons(w, e, need);
        return;
    case PY_LIST:
        put(w, e->n ? "true" : "false");
        return;
    default:
        break;
    }
    if (e->type == PY_BOOL) {
        write_value(w, e, need);
        return;
    }
    opened = open_at(w, L_COMPARE, need);
    write_value(w, e, L_COMPARE + 1);
    put(w, e->type == PY_TEXT ? " ~= ''" : " ~= 0");
    close_at(w, opened);
}

/* -- values -- */

static void write_number(struct py_writer *w, const struct py *e, int need)
{
    if (e->type != PY_BOOL || w->failed) {
        write_value(w, e, need);
        return;
    }
    bool opened = open_at(w, L_OR, need);
    write_truth(w, e, L_AND + 1);
    put(w, " and 1 or 0");
    close_at(w, opened);
}

static void write_literal(struct py_writer *w, struct val v)
{
    if (v.type != VAL_STR) {
        bool negative = (v.type == VAL_INT && v.i < 0) || (v.type == VAL_FLOAT && signbit(v.f));
        put(w, negative ? "(" : "");
        val_print(w->out, v);
        put(w, negative ? ")" : "");
        return;
    }
    put(w, "'");
    for (const char *p = v.s; *p; p++) {
        const char *escape = *p == '\n' ? "\\n" : *p == '\t' ? "\\t" : *p == '\\' ? "\\\\" : *p == '\'' ? "\\'" : NULL;
        put(w, escape ?: (char[]){ *p, 0 });
    }
    put(w, "'");
}

/* Python rounds the quotient of floats from what is left after the modulo: 1 // 0.1 is 9. */
static void floor_division(struct py_writer *w, const struct py *a, const struct py *b, int need)
{
    bool opened = open_at(w, L_PRODUCT, need);
    put(w, "floor((");
    write_number(w, a, L_SUM);
    put(w, " - ");
    infix(w, write_number, a, " % ", write_number, b, L_PRODUCT, L_SUM + 1);
    put(w, ") / ");
    write_number(w, b, L_PRODUCT + 1);
    put(w, " + 0.5) * 1.0");
    close_at(w, opened);
}

/* a * a * ..., n times. */
static void product(struct py_writer *w, const struct py *a, int64_t n, int need)
{
    bool opened = open_at(w, L_PRODUCT, need);
    put(w, n ? "" : "1");
    for (int64_t i = 0; i < n && !w->failed; i++) {
        put(w, i ? " * " : "");
        write_number(w, a, L_PRODUCT + 1);
    }
    close_at(w, opened);
}

/* Whether no power up to the largest is rounded as a float. */
static bool exact_powers(const struct py *a, const struct param *b)
{
    const struct val *of = a->kind == PY_NAME ? a->param->values : &a->value;
    int n = a->kind == PY_NAME ? a->param->n : a->kind == PY_LITERAL;
    double most = 0;
    for (int i = 0; i < b->n; i++)
        most = fmax(most, (double)b->values[i].i);
    for (int i = 0; i < n; i++) {
        int64_t base = of[i].type == VAL_BOOL ? of[i].b : of[i].i;
        bool power_of_2 = base > 0 && (base & (base - 1)) == 0;
        if (!power_of_2 && pow((double)base, most) >= 0x1p53)
            return false;
    }
    return n > 0;
}

/* Integers, of which the power may be any: as a float while that has all digits, and else an integer overflow. */
static void exact_power(struct py_writer *w, const struct py *a, const struct py *b, int need)
{
    static const char *const then[] = { " <= (1 << 53) and ", " >= -(1 << 53) and ", " or (1 << 62) * 2" };
    bool opened = open_at(w, L_OR, need);
    for (int i = 0; i < 3; i++) {
        infix(w, write_number, a, " ^ ", write_number, b, L_POWER, L_COMPARE + 1);
        put(w, then[i]);
    }
    close_at(w, opened);
}

/* An integer to a power that is not negative is one: a product if the power is known, or one for each that it may be. */
static void power(struct py_writer *w, const struct py *a, const struct py *b, bool integer, int need)
{
    if (!integer && a->type != PY_FLOAT && b->type != PY_FLOAT && b->kind != PY_LITERAL) {
        exact_power(w, a, b, need);
    } else if (!integer) {
        infix(w, write_number, a, " ^ ", write_number, b, L_POWER, need);
    } else if (b->kind == PY_LITERAL) {
        product(w, a, b->value.i, need);
    } else if (exact_powers(a, b->param)) {
        put(w, "floor(");
        infix(w, write_number, a, " ^ ", write_number, b, L_POWER, LOOSEST);
        put(w, ")");
    } else {
        bool opened = open_at(w, L_OR, need);
        for (int i = 0; i < b->param->n && !w->failed; i++) {
            bool last = i + 1 == b->param->n;
            if (!last)
                compare(w, b, PY_EQ, &(struct py){ .type = PY_INT, .value = b->param->values[i] }, L_COMPARE);
            put(w, last ? "" : " and ");
            product(w, a, b->param->values[i].i, L_AND + 1);
            put(w, last ? "" : " or ");
        }
        close_at(w, opened);
    }
}

/* Python's shifts are a product and a quotient, whatever the sign and however far; by less than 0 they are an error. */
static void shift(struct py_writer *w, const struct py *a, bool left, const struct py *b, int need)
{
    bool known = py_positive(b, MOST_SHIFT), opened = open_at(w, known ? L_PRODUCT : L_OR, need);
    if (!known) {
        write_number(w, b, L_COMPARE + 1);
        put(w, " <= 62 and ");
    }
    write_number(w, a, L_PRODUCT);
    put(w, left ? " * (1 << " : " // (1 << ");
    write_number(w, b, L_SHIFT + 1);
    put(w, ")");
    if (!known && !left) {
        put(w, " or (");
        write_number(w, a, L_COMPARE + 1);
        put(w, " < 0 and - 1 or 0)");
    } else if (!known) {
        put(w, " or 1 << 64"); /* past 64 bits: an error */
    }
    close_at(w, opened);
}

static void write_binary(struct py_writer *w, const struct py *e, int need)
{
    static const struct {
        const char *sign;
        int level;
    } plain[] = { [PY_BITOR] = { " | ", L_BITOR }, [PY_BITXOR] = { " ~ ", L_BITXOR },     [PY_BITAND] = { " & ", L_BITAND },
                  [PY_ADD] = { " + ", L_SUM },     [PY_SUB] = { " - ", L_SUM },           [PY_MUL] = { " * ", L_PRODUCT },
                  [PY_DIV] = { " / ", L_PRODUCT }, [PY_FLOORDIV] = { " // ", L_PRODUCT }, [PY_MOD] = { " % ", L_PRODUCT } };
    static const char *const of_truths[] = { [PY_BITOR] = " or ", [PY_BITXOR] = " ~= ", [PY_BITAND] = " and " };
    const struct py *a = e->item[0], *b = e->item[1];
    enum py_op op = (enum py_op)e->op[1];
    if (op == PY_POW)
        power(w, a, b, e->type == PY_INT, need);
    else if (op == PY_SHL || op == PY_SHR)
        shift(w, a, op == PY_SHL, b, need);
    else if (op == PY_FLOORDIV && e->type == PY_FLOAT)
        floor_division(w, a, b, need);
    else if (e->type == PY_BOOL)
        infix(w, write_truth, a, of_truths[op], write_truth, b, op == PY_BITOR ? L_OR : op == PY_BITAND ? L_AND : L_COMPARE, need);
    else
        infix(w, write_number, a, plain[op].sign, write_number, b, plain[op].level, need);
}

static void write_call(struct py_writer *w, const struct py *e, int need)
{
    if (!strcmp(e->text, "bool")) {
        write_truth(w, e->item[0], need);
    } else if (!strcmp(e->text, "float")) {
        infix(w, write_number, e->item[0], " * ", write_number,
              &(struct py){ .type = PY_FLOAT, .value = { VAL_FLOAT, { .f = 1 } } }, L_PRODUCT, need);
    } else if (!strcmp(e->text, "int") && e->item[0]->type == PY_FLOAT) { /* towards zero */
        put(w, "(");
        write_number(w, e->item[0], L_COMPARE + 1);
        put(w, " < 0 and - floor(- ");
        write_number(w, e->item[0], L_UNARY);
        put(w, ") or floor(");
        write_number(w, e->item[0], LOOSEST);
        put(w, "))");
    } else if (!strcmp(e->text, "int")) {
        write_number(w, e->item[0], need);
    } else {
        put(w, e->text);
        for (int i = 0; i < e->n && !w->failed; i++) {
            put(w, i ? ", " : "(");
            write_number(w, e->item[i], LOOSEST);
        }
        put(w, ")");
    }
}

/* The first of the operands of `and` that is false, of `or` that is true; or else the last. */
static void write_operand(struct py_writer *w, const struct py *e, int from, int need)
{
    write_part *part = e->type == PY_TEXT ? write_value : write_number;
    const struct py *x = e->item[from];
    if (from + 1 == e->n) {
        part(w, x, need);
        return;
    }
    bool opened = open_at(w, L_OR, need);
    write_truth(w, x, L_AND);
    put(w, " and ");
    if (e->kind == PY_AND)
        write_operand(w, e, from + 1, L_AND + 1);
    else
        part(w, x, L_AND + 1);
    put(w, " or ");
    if (e->kind == PY_AND)
        part(w, x, L_OR + 1);
    else
        write_operand(w, e, from + 1, L_OR + 1);
    close_at(w, opened);
}

static void write_value(struct py_writer *w, const struct py *e, int need)
{
    if (w->failed)
        return;
    if (e->type == PY_MIXED) {
        w->failed = py_fail(w->err, e->at, "a list, or what may be text or a number, has no use here");
        return;
    }
    bool opened;
    switch (e->kind) {
    case PY_LITERAL:
        write_literal(w, e->value);
        break;
    case PY_NAME:
        put(w, e->param->name);
        break;
    case PY_BINARY:
        write_binary(w, e, need);
        break;
    case PY_UNARY:
        opened = open_at(w, L_UNARY, need);
        put(w, e->op[0] == PY_SUB ? "- " : e->op[0] == PY_INVERT ? "~ " : "");
        write_number(w, e->item[0], L_UNARY);
        close_at(w, opened);
        break;
    case PY_CALL:
        write_call(w, e, need);
        break;
    case PY_IF:
        if (e->type == PY_BOOL)
            write_truth(w, e, need);
        else
            choice(w, e->item[1], e->type == PY_TEXT ? write_value : write_number, e->item[0], e->item[2], need);
        break;
    case PY_AND:
    case PY_OR:
        if (e->type != PY_BOOL) {
            write_operand(w, e, 0, need);
            break;
        }
        /* fall through */
    default:
        write_truth(w, e, need);
    }
}

int py_write(const struct py *e, bool truth, struct buf *out, struct err *err)
{
    struct py_writer w = { .out = out, .err = err };
    (truth ? write_truth : write_value)(&w, e, LOOSEST);
    return w.failed ?: buf_check(out, err);
}
