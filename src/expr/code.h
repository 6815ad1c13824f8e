/* The compiled form of an expression, private to this folder. parse.c makes it through struct builder (build.c); run.c runs it.
 *
 * It is code for a small register machine: an instruction reads up to two operands, each a temporary, a slot or a constant, and
 * writes one temporary. So `TILE % ROWS == 0` is two instructions and copies nothing. */
#ifndef EXPR_CODE_H
#define EXPR_CODE_H

#include <stddef.h>

#include "expr/expr.h"

enum opcode {
    /* two operands */
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_IDIV,
    OP_MOD,
    OP_POW,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_CEILDIV,
    OP_ALIGNUP,
    OP_MIN,
    OP_MAX,
    /* one operand, x */
    OP_NEG,
    OP_NOT,
    OP_BNOT,
    OP_ABS,
    OP_FLOOR,
    OP_SIZEOF,
    OP_LOG2,
    OP_ISPOW2,
    /* the flow */
    OP_AND,    /* x must be a boolean; false: dst = false, and jump */
    OP_OR,     /* x must be a boolean; true: dst = true, and jump */
    OP_OR_ANY, /* x of any type that is not false: dst = x, and jump */
    OP_BOOL,   /* dst = x, which must be a boolean */
    OP_MOVE,   /* dst = x */
    OP_RETURN, /* x */
};

enum place { IN_TEMP, IN_SLOT, IN_CONST };

struct instr {
    uint8_t op, dst;
    uint8_t x_in, y_in; /* enum place */
    uint16_t x, y;
    uint16_t to; /* where a jump goes on */
    uint16_t at; /* its place in the text */
};

enum {
    MAX_TEXT = 60000, /* bytes of an expression: so every index below fits 16 bits */
    MAX_TEMPS = 250,
    MAX_DEPTH = 200,
};

struct expr {
    char *text;
    struct instr *code;
    struct val *consts;
    char *strings; /* what string constants point into */
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

/* What a failed evaluation leaves behind, for a message if one is wanted. */
struct failure {
    enum fault fault;
    size_t at;
    struct val x, y;
};

/* Runs e. The result is a temporary, a slot or a constant; null with *f filled if it fails. */
const struct val *expr_run(const struct expr *e, const struct val *slots, struct val temps[MAX_TEMPS], struct failure *f);

/* Any operation but the flow; of one with one operand y is ignored. */
enum fault operate(enum opcode op, const struct val *x, const struct val *y, struct val *out);

/* ERR_INVALID: "column 7: WHAT at 'QUOTE'". */
int fault_at(struct err *err, const char *text, size_t at, const char *what);

/* -- the builder -- */

/* Where a value is while code is made, and what is known of it. */
struct operand {
    enum place in;
    int at;
    bool boolean; /* certainly one */
    bool choice;  /* an `and`, or an `or` after one: an `or` that follows may choose between values of any type */
    int check;    /* the OP_BOOL over the right side of that `and`, or -1 */
};

struct builder {
    struct expr *e;
    int ncode, nconsts;
    size_t nstrings;
    int failed; /* the first error, 0 */
    struct err *err;
};

int build_start(struct builder *b, const char *text, struct err *err);
/* Ends the code; on failure frees all and returns the first error. */
int build_end(struct builder *b, struct operand result, struct expr **out);
void build_fail(struct builder *b, size_t at, const char *what);

struct operand build_const(struct builder *b, struct val v);
struct operand build_slot(struct builder *b, int slot);
/* Emits op over x and y into temporary `dst`; if both are constants, the result is one. */
struct operand build_op(struct builder *b, enum opcode op, struct operand x, struct operand y, int dst, size_t at);
/* `x and y`, `x or y`: first the jump over y's code, then, when that is made, the end. */
struct operand build_jump(struct builder *b, enum opcode op, struct operand x, int dst, size_t at);
struct operand build_join(struct builder *b, struct operand jump, struct operand y, int dst, size_t at);

#endif
