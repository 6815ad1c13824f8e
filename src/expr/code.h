/* The inside of this folder, and of src/space, which takes expressions apart: the words of the language (lex.c), the compiled form of an expression, which compile.c makes and run.c runs,
 * and the operations (operate.c).
 *
 * The compiled form is code for a small register machine: an instruction reads up to two operands, each a temporary, a slot or a
 * constant, and writes one temporary. So `TILE % ROWS == 0` is two instructions and copies nothing. */
#ifndef EXPR_CODE_H
#define EXPR_CODE_H

#include <stddef.h>

#include "expr/expr.h"

enum opcode {
    /* of two numbers */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_IDIV,
    OP_MOD,
    OP_POW,
    OP_MIN,
    OP_MAX,
    /* of one number; an operation with one operand gets it as x and as y */
    OP_NEG,
    OP_ABS,
    OP_FLOOR,
    /* of whole numbers */
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_SHL,
    OP_SHR,
    OP_CEILDIV,
    OP_ALIGNUP,
    OP_BNOT,
    OP_LOG2,
    OP_ISPOW2,
    /* comparisons */
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    /* of other values */
    OP_NOT,
    OP_SIZEOF,
    /* the flow, which run.c does */
    OP_AND,    /* x must be a boolean; false: dst = false, and jump */
    OP_OR,     /* x must be a boolean; true: dst = true, and jump */
    OP_OR_ANY, /* x of any type that is not false: dst = x, and jump */
    OP_BOOL,   /* dst = x, which must be a boolean */
    OP_MOVE,   /* dst = x */
    OP_RETURN, /* x */
};

/* ---- words */

enum token {
    TOK_END,
    TOK_BAD,
    TOK_NAME,
    TOK_NUMBER,
    TOK_STRING,
    TOK_NOT,
    TOK_TRUE,
    TOK_FALSE,
    TOK_INFIX, /* an operator between two operands; - and ~ are unary ones, too */
    TOK_OPEN,
    TOK_CLOSE,
    TOK_COMMA,
};

struct word {
    char text[6];
    enum token token;
    enum opcode op;
    int left, right; /* TOK_INFIX: how tightly it binds on each side */
};

enum { UNARY = 12 }; /* how tightly a unary operator binds */

struct lexer {
    const char *text;
    size_t at, len; /* the current token; a string's length is that with its quotes */
    enum token token;
    struct val number;       /* TOK_NUMBER */
    const char *what;        /* TOK_BAD: what is wrong */
    const struct word *word; /* of the language */
};

/* Goes on to the next token; for the first, start from { .text = text }. */
void lex_next(struct lexer *l);
bool lex_is(const struct lexer *l, const char *word); /* the current token */
/* Puts the characters of the current TOK_STRING into out, which has room for l->len bytes. Returns how many there are, without the zero
 * at the end. */
size_t lex_string(const struct lexer *l, char *out);

/* ---- compiled code */

enum place { IN_CONST, IN_SLOT, IN_TEMP };

struct instr {
    uint8_t op, dst;
    uint8_t x_in, y_in; /* enum place */
    uint16_t x, y;
    uint16_t to; /* where a jump goes on */
    uint16_t at; /* its place in the text */
};

enum {
    MAX_TEXT = 60000, /* bytes of an expression: so every index fits 16 bits */
    MAX_TEMPS = 250,
    MAX_DEPTH = 200,
};

/* One block of memory: the arrays follow. */
struct expr {
    char *text;
    struct instr *code;
    struct val *consts; /* their strings follow the text */
    int *slots;
    int nslots;
};

/* Why an evaluation fails. */
enum fault {
    FAULT_NONE,
    FAULT_OVERFLOW,
    FAULT_ZERO,
    FAULT_INFINITE,
    FAULT_SHIFT,
    FAULT_DOMAIN,
    FAULT_ARITHMETIC,
    FAULT_COMPARISON,
    FAULT_BOOLEAN,
    FAULT_WHOLE,
    FAULT_TYPE_NAME,
};

/* Does what is frequent, arithmetic and comparisons of integers; false: operate() has to, or it is the flow. */
static inline bool operate_quickly(enum opcode op, const struct val *x, const struct val *y, struct val *out)
{
    int64_t r, a = x->i, b = y->i;
    if (x->type != VAL_INT || y->type != VAL_INT)
        return false;
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(a, b, &r) && (*out = val_int(r), true);
    case OP_SUB:
        return !__builtin_sub_overflow(a, b, &r) && (*out = val_int(r), true);
    case OP_MUL:
        return !__builtin_mul_overflow(a, b, &r) && (*out = val_int(r), true);
    case OP_MOD:
    case OP_CEILDIV:
        if (a < 0 || a > UINT32_MAX || b <= 0 || b > UINT32_MAX)
            return false;
        r = (uint32_t)a % (uint32_t)b; /* the short division is the faster one */
        *out = val_int(op == OP_MOD ? r : (uint32_t)a / (uint32_t)b + (r != 0));
        return true;
    case OP_LT:
        *out = val_bool(a < b);
        return true;
    case OP_LE:
        *out = val_bool(a <= b);
        return true;
    case OP_GT:
        *out = val_bool(a > b);
        return true;
    case OP_GE:
        *out = val_bool(a >= b);
        return true;
    case OP_EQ:
        *out = val_bool(a == b);
        return true;
    case OP_NE:
        *out = val_bool(a != b);
        return true;
    default:
        return false;
    }
}

/* Any operation but the flow. */
enum fault operate(enum opcode op, const struct val *x, const struct val *y, struct val *out);

/* ERR_INVALID: "column 7: WHAT at 'QUOTE'". */
int fault_at(struct err *err, const char *text, size_t at, const char *what);

#endif
