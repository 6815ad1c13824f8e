/* Each instruction of an expression becomes a line of C. What an operation means is operate()'s, which exported files carry too. */
#include "export/c_expr.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expr/code.h"

/* ---- literals */

static void put_char(struct buf *out, unsigned char c)
{
    if (c == '\n')
        buf_str(out, "\\n");
    else if (c == '"' || c == '\\' || c == '?')
        buf_fmt(out, "\\%c", c);
    else if (c < ' ' || c > '~')
        buf_fmt(out, "\\%03o", c);
    else
        buf_put(out, &c, 1);
}

void c_bytes(struct buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t start = out->len;
    buf_str(out, "\"");
    for (size_t i = 0; i < n; i++) {
        put_char(out, p[i]);
        if (i + 1 < n && (p[i] == '\n' || out->len - start > 120)) {
            buf_str(out, "\"\n\"");
            start = out->len;
        }
    }
    buf_str(out, "\"");
}

void c_text(struct buf *out, const char *s)
{
    if (s)
        c_bytes(out, s, strlen(s));
    else
        buf_str(out, "NULL");
}

void c_real(struct buf *out, double v)
{
    val_print(out, val_float(v));
}

void c_val(struct buf *out, struct val v)
{
    static const char *const types[] = { "NIL", "BOOL", "INT", "FLOAT", "STR" };
    buf_fmt(out, "{ .type = VAL_%s", types[v.type]);
    switch (v.type) {
    case VAL_NIL:
        break;
    case VAL_BOOL:
        buf_fmt(out, ", .b = %s", v.b ? "true" : "false");
        break;
    case VAL_INT: /* the smallest has no literal */
        buf_fmt(out, v.i == INT64_MIN ? ", .i = INT64_MIN" : ", .i = %lld", (long long)v.i);
        break;
    case VAL_FLOAT:
        buf_str(out, ", .f = ");
        c_real(out, v.f);
        break;
    case VAL_STR:
        buf_str(out, ", .s = ");
        c_text(out, v.s);
        break;
    }
    buf_str(out, " }");
}

/* ---- code */

static const char *const opcodes[] = {
    [OP_ADD] = "ADD", [OP_SUB] = "SUB",     [OP_MUL] = "MUL",       [OP_DIV] = "DIV",         [OP_IDIV] = "IDIV",
    [OP_MOD] = "MOD", [OP_POW] = "POW",     [OP_BAND] = "BAND",     [OP_BOR] = "BOR",         [OP_BXOR] = "BXOR",
    [OP_SHL] = "SHL", [OP_SHR] = "SHR",     [OP_LT] = "LT",         [OP_LE] = "LE",           [OP_GT] = "GT",
    [OP_GE] = "GE",   [OP_EQ] = "EQ",       [OP_NE] = "NE",         [OP_CEILDIV] = "CEILDIV", [OP_ALIGNUP] = "ALIGNUP",
    [OP_MIN] = "MIN", [OP_MAX] = "MAX",     [OP_NEG] = "NEG",       [OP_NOT] = "NOT",         [OP_BNOT] = "BNOT",
    [OP_ABS] = "ABS", [OP_FLOOR] = "FLOOR", [OP_SIZEOF] = "SIZEOF", [OP_LOG2] = "LOG2",       [OP_ISPOW2] = "ISPOW2",
};

static void put_operand(struct buf *out, uint8_t in, uint16_t at)
{
    static const char letters[] = { [IN_TEMP] = 't', [IN_SLOT] = 's', [IN_CONST] = 'c' };
    buf_fmt(out, "%c[%d]", letters[in], at);
}

static void put_instruction(struct buf *out, const struct instr *in, int at)
{
    struct buf x = { 0 }, y = { 0 };
    put_operand(&x, in->x_in, in->x);
    if (in->op <= OP_MAX)
        put_operand(&y, in->y_in, in->y);
    const char *a = buf_text(&x), *b = in->op <= OP_MAX ? buf_text(&y) : a;
    switch ((enum opcode)in->op) {
    case OP_AND:
    case OP_OR:
        buf_fmt(out, "    if (!formula_bool(&%s, %d, f))\n        return false;\n", a, at);
        buf_fmt(out, "    if (%s%s.b) {\n        t[%d] = val_bool(%s);\n        goto to%d;\n    }\n", in->op == OP_AND ? "!" : "",
                a, in->dst, in->op == OP_AND ? "false" : "true", in->to);
        break;
    case OP_OR_ANY:
        buf_fmt(out, "    if (%s.type != VAL_BOOL || %s.b) {\n        t[%d] = %s;\n        goto to%d;\n    }\n", a, a, in->dst, a,
                in->to);
        break;
    case OP_BOOL:
        buf_fmt(out, "    if (!formula_bool(&%s, %d, f))\n        return false;\n    t[%d] = %s;\n", a, at, in->dst, a);
        break;
    case OP_MOVE:
        buf_fmt(out, "    t[%d] = %s;\n", in->dst, a);
        break;
    case OP_RETURN:
        buf_fmt(out, "    *out = %s;\n    return true;\n", a);
        break;
    default:
        buf_fmt(out, "    if (!formula_does(OP_%s, &%s, &%s, &t[%d], %d, f))\n        return false;\n", opcodes[in->op], a, b,
                in->dst, at);
    }
    out->failed = out->failed || x.failed || y.failed;
    buf_free(&x);
    buf_free(&y);
}

static void see_operand(uint8_t in, uint16_t at, int *temps, int *consts, bool *slots)
{
    if (in == IN_TEMP && at >= *temps)
        *temps = at + 1;
    if (in == IN_CONST && at >= *consts)
        *consts = at + 1;
    *slots = *slots || in == IN_SLOT;
}

static void put_body(struct buf *out, const struct expr *e)
{
    int temps = 0, consts = 0, n = 0;
    bool slots = false, fails = false;
    for (const struct instr *in = e->code;; in++) {
        bool writes = in->op != OP_RETURN;
        see_operand(in->x_in, in->x, &temps, &consts, &slots);
        if (in->op <= OP_MAX)
            see_operand(in->y_in, in->y, &temps, &consts, &slots);
        if (writes && in->dst >= temps)
            temps = in->dst + 1;
        fails = fails || (in->op != OP_RETURN && in->op != OP_MOVE && in->op != OP_OR_ANY);
        n++;
        if (!writes)
            break;
    }
    if (consts) {
        buf_str(out, "    static const struct val c[] = {\n");
        for (int i = 0; i < consts; i++) {
            buf_str(out, "        ");
            c_val(out, e->consts[i]);
            buf_str(out, ",\n");
        }
        buf_str(out, "    };\n");
    }
    if (temps)
        buf_fmt(out, "    struct val t[%d] = { { .type = VAL_NIL } };\n", temps);
    buf_fmt(out, "%s%s", slots ? "" : "    (void)s;\n", fails ? "" : "    (void)f;\n");
    for (int i = 0; i < n; i++) {
        bool target = false;
        for (int j = 0; j < i; j++) {
            uint8_t op = e->code[j].op;
            target = target || ((op == OP_AND || op == OP_OR || op == OP_OR_ANY) && e->code[j].to == i);
        }
        if (target)
            buf_fmt(out, "to%d:\n", i);
        put_instruction(out, &e->code[i], e->at[i]);
    }
}

/* ---- the set */

int c_formulas_open(struct c_formulas *f, struct err *err)
{
    *f = (struct c_formulas){ .arena = arena_new() };
    return f->arena ? 0 : err_nomem(err);
}

void c_formulas_free(struct c_formulas *f)
{
    for (int i = 0; i < f->n; i++)
        buf_free(&f->all[i].body);
    mem_free(f->all);
    arena_free(f->arena);
}

static bool same(const struct c_formula *f, const struct expr *e, const struct scope *scope)
{
    int n;
    const int *slots = expr_slots(e, &n);
    bool equal = n == f->nslots && !strcmp(f->text, expr_text(e));
    for (int i = 0; equal && i < n; i++)
        equal = slots[i] == f->slots[i] && !strcmp(scope->names[slots[i]], f->names[i]);
    return equal;
}

int c_formulas_add(struct c_formulas *f, const struct expr *e, const struct scope *scope, struct err *err)
{
    int n;
    const int *slots = expr_slots(e, &n);
    for (int i = 0; i < f->n; i++)
        if (same(&f->all[i], e, scope))
            return 0;
    struct c_formula *more = mem_resize(f->all, (size_t)f->n + 1, sizeof *more);
    if (!more)
        return err_nomem(err);
    f->all = more;
    int *own = arena_array(f->arena, (size_t)n + 1, sizeof *own);
    const char **names = arena_array(f->arena, (size_t)n + 1, sizeof *names);
    const char *text = arena_strdup(f->arena, expr_text(e));
    if (!own || !names || !text)
        return err_nomem(err);
    for (int i = 0; i < n; i++) {
        own[i] = slots[i];
        if (!(names[i] = arena_strdup(f->arena, scope->names[slots[i]])))
            return err_nomem(err);
    }
    struct c_formula *new = &f->all[f->n++];
    *new = (struct c_formula){ .text = text, .slots = own, .names = names, .nslots = n };
    put_body(&new->body, e);
    return new->body.failed ? err_nomem(err) : 0;
}

int c_formulas_add_plan(struct c_formulas *f, const struct plan *p, struct err *err)
{
    const struct expr *e;
    int rc = 0;
    for (int i = 0; !rc && (e = plan_expr(p, i)); i++)
        rc = c_formulas_add(f, e, plan_scope(p), err);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    const struct c_formula *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* In a comment, which the text must not end. */
static void put_comment(struct buf *out, const char *text)
{
    buf_str(out, "\n/* ");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        buf_fmt(out, c == '/' ? " /" : c < ' ' || c > '~' ? " " : "%c", c);
    }
    buf_str(out, " */\n");
}

void c_formulas_write(struct buf *out, struct c_formulas *f)
{
    if (f->n)
        qsort(f->all, (size_t)f->n, sizeof *f->all, by_text);
    for (int i = 0; i < f->n; i++) {
        put_comment(out, f->all[i].text);
        buf_fmt(out, "static bool formula_%d(const struct val *s, struct val *out, struct failure *f)\n{\n", i);
        buf_put(out, f->all[i].body.data, f->all[i].body.len);
        buf_str(out, "}\n");
    }
    buf_str(out, "\nconst struct formula embedded_formulas[] = {\n");
    for (int i = 0; i < f->n; i++) {
        const struct c_formula *e = &f->all[i];
        buf_str(out, "    { ");
        c_text(out, e->text);
        buf_fmt(out, ", %d, (const int[]){ ", e->nslots);
        for (int j = 0; j < e->nslots; j++)
            buf_fmt(out, "%d, ", e->slots[j]);
        buf_fmt(out, "%s}, (const char *const[]){ ", e->nslots ? "" : "0 ");
        for (int j = 0; j < e->nslots; j++) {
            c_text(out, e->names[j]);
            buf_str(out, ", ");
        }
        buf_fmt(out, "%s}, formula_%d },\n", e->nslots ? "" : "NULL ", i);
    }
    buf_fmt(out, "%s};\nconst int embedded_nformulas = %d;\n", f->n ? "" : "    { 0 },\n", f->n);
}
