#include <string.h>

#include "base/mem.h"
#include "expr/code.h"

int fault_at(struct err *err, const char *text, size_t at, const char *what)
{
    enum { QUOTE = 24 };
    if (!text[at])
        return err_set(err, ERR_INVALID, "column %zu: %s at the end", at + 1, what);
    bool longer = strlen(text + at) > QUOTE;
    return err_set(err, ERR_INVALID, "column %zu: %s at '%.*s%s'", at + 1, what, QUOTE, text + at, longer ? "..." : "");
}

void build_fail(struct builder *b, size_t at, const char *what)
{
    if (!b->failed)
        b->failed = fault_at(b->err, b->e->text, at, what);
}

static void build_nomem(struct builder *b)
{
    if (!b->failed)
        b->failed = err_nomem(b->err);
}

int build_start(struct builder *b, const char *text, struct err *err)
{
    size_t n = strlen(text);
    if (n > MAX_TEXT)
        return err_set(err, ERR_INVALID, "an expression of %zu bytes: the limit is %d", n, MAX_TEXT);
    *b = (struct builder){ .err = err, .e = mem_zalloc(sizeof *b->e) };
    if (!b->e)
        return err_nomem(err);
    b->e->text = mem_strdup(text);
    b->e->strings = mem_alloc(n + 1); /* a string takes less than its literal */
    if (!b->e->text || !b->e->strings) {
        expr_free(b->e);
        return err_nomem(err);
    }
    return 0;
}

/* Appends an instruction. Without a second operand, y is the same as x. */
static void emit(struct builder *b, enum opcode op, struct operand x, struct operand y, int dst, size_t at)
{
    struct expr *e = b->e;
    if (dst >= MAX_TEMPS)
        build_fail(b, at, "nested too deeply");
    if (b->failed)
        return;
    if (!mem_grow((void **)&e->code, b->ncode, sizeof *e->code)) {
        build_nomem(b);
        return;
    }
    e->code[b->ncode++] = (struct instr){
        .op = (uint8_t)op,
        .dst = (uint8_t)dst,
        .x_in = (uint8_t)x.in,
        .y_in = (uint8_t)y.in,
        .x = (uint16_t)x.at,
        .y = (uint16_t)y.at,
        .at = (uint16_t)at,
    };
}

struct operand build_const(struct builder *b, struct val v)
{
    struct operand o = { .in = IN_CONST, .at = b->nconsts, .boolean = v.type == VAL_BOOL, .check = -1 };
    if (b->failed)
        return o;
    if (!mem_grow((void **)&b->e->consts, b->nconsts, sizeof v)) {
        build_nomem(b);
        return o;
    }
    b->e->consts[b->nconsts++] = v;
    return o;
}

/* Notes that the expression reads a slot: ascending, each once. */
static void note_slot(struct builder *b, int slot)
{
    struct expr *e = b->e;
    int i = 0;
    while (i < e->nslots && e->slots[i] < slot)
        i++;
    if (b->failed || (i < e->nslots && e->slots[i] == slot))
        return;
    int *slots = mem_resize(e->slots, (size_t)e->nslots + 1, sizeof *slots);
    if (!slots) {
        build_nomem(b);
        return;
    }
    memmove(slots + i + 1, slots + i, (size_t)(e->nslots - i) * sizeof *slots);
    slots[i] = slot;
    e->slots = slots;
    e->nslots++;
}

struct operand build_slot(struct builder *b, int slot)
{
    note_slot(b, slot);
    return (struct operand){ .in = IN_SLOT, .at = slot, .check = -1 };
}

static bool gives_boolean(enum opcode op)
{
    return (op >= OP_LT && op <= OP_NE) || op == OP_NOT || op == OP_ISPOW2;
}

struct operand build_op(struct builder *b, enum opcode op, struct operand x, struct operand y, int dst, size_t at)
{
    struct val v;
    if (!b->failed && x.in == IN_CONST && y.in == IN_CONST &&
        operate(op, &b->e->consts[x.at], &b->e->consts[y.at], &v) == FAULT_NONE)
        return build_const(b, v); /* if it fails, it is left to fail at run time, if it is reached at all */
    emit(b, op, x, y, dst, at);
    return (struct operand){ .in = IN_TEMP, .at = dst, .boolean = gives_boolean(op), .check = -1 };
}

/* A jump whose target build_join fills in. In `c and a or b` only c has to be a boolean: the check of a, which was emitted with the `and`,
 * is taken back when the `or` comes. */
struct operand build_jump(struct builder *b, enum opcode op, struct operand x, int dst, size_t at)
{
    bool choice = op == OP_OR && x.choice;
    bool loosened = choice && x.check >= 0 && !b->failed;
    if (loosened)
        b->e->code[x.check].op = OP_MOVE;
    struct operand jump = { .in = IN_TEMP, .at = b->ncode, .boolean = x.boolean && !loosened, .choice = choice, .check = -1 };
    emit(b, choice ? OP_OR_ANY : op, x, x, dst, at);
    return jump;
}

struct operand build_join(struct builder *b, struct operand jump, struct operand y, int dst, size_t at)
{
    struct operand result = { .in = IN_TEMP, .at = dst, .choice = jump.choice || y.choice, .check = y.check };
    if (b->failed)
        return result;
    bool is_and = b->e->code[jump.at].op == OP_AND;
    if (!jump.choice && !y.boolean) {
        if (is_and)
            result.check = b->ncode;
        emit(b, OP_BOOL, y, y, dst, at);
        y.boolean = true;
    } else if (y.in != IN_TEMP || y.at != dst) {
        emit(b, OP_MOVE, y, y, dst, at);
    }
    result.choice = result.choice || is_and;
    result.boolean = y.boolean && (is_and || !jump.choice || jump.boolean);
    if (!b->failed)
        b->e->code[jump.at].to = (uint16_t)b->ncode;
    return result;
}

int build_end(struct builder *b, struct operand result, struct expr **out)
{
    emit(b, OP_RETURN, result, result, 0, 0);
    if (b->failed) {
        expr_free(b->e);
        return b->failed;
    }
    *out = b->e;
    return 0;
}

void expr_free(struct expr *e)
{
    if (!e)
        return;
    mem_free(e->text);
    mem_free(e->code);
    mem_free(e->consts);
    mem_free(e->strings);
    mem_free(e->slots);
    mem_free(e);
}
