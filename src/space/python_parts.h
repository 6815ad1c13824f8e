/* A Python expression as a tree: python.c reads it, python_write.c writes it in cutune's language. */
#ifndef SPACE_PYTHON_PARTS_H
#define SPACE_PYTHON_PARTS_H

#include "space/python.h"

enum py_kind {
    PY_LITERAL,
    PY_NAME,
    PY_LIST, /* [..] or (.., ..): of `in`, min and max */
    PY_AND,
    PY_OR,
    PY_NOT,
    PY_IF,      /* item[0] if item[1] else item[2] */
    PY_COMPARE, /* of each item with the next; op[i] between item i and i + 1 */
    PY_BINARY,  /* op[0] */
    PY_UNARY,   /* op[0] */
    PY_CALL,    /* text is the function's name */
};

/* What is known of a value. True and 1 are the same in Python's arithmetic and comparisons, so where one of two may come, both are integers.
 * A number that may be a float is one, which makes a difference to // only. */
enum py_type { PY_BOOL, PY_INT, PY_FLOAT, PY_TEXT, PY_MIXED };

enum py_op {
    PY_LT,
    PY_LE,
    PY_GT,
    PY_GE,
    PY_EQ,
    PY_NE,
    PY_IN,
    PY_NOT_IN,
    PY_BITOR,
    PY_BITXOR,
    PY_BITAND,
    PY_SHL,
    PY_SHR,
    PY_ADD,
    PY_SUB,
    PY_MUL,
    PY_DIV,
    PY_FLOORDIV,
    PY_MOD,
    PY_POW,
    PY_INVERT,
};

struct py {
    enum py_kind kind;
    enum py_type type;
    size_t at;  /* its place in the text */
    int height; /* of the tree below it */
    struct val value;
    const struct param *param;
    const char *text;
    int n;
    struct py **item;
    uint8_t *op;
};

/* "column 7: WHAT" */
int py_fail(struct err *err, size_t at, const char *what);

/* -- words: python_lex.c -- */

enum py_token { PT_END, PT_NAME, PT_INT, PT_FLOAT, PT_TEXT, PT_SIGN };

struct py_reader {
    const char *text;
    size_t at, len; /* of the current token */
    enum py_token token;
    int64_t number;
    double real;
    char *string;
    int nested;
    const struct param *params;
    int nparams;
    struct arena *arena;
    int failed;
    struct err *err;
};

/* Goes on to the next token. After a failure there is none. */
void py_next(struct py_reader *r);
/* Fails at the current token; null. */
struct py *py_wrong(struct py_reader *r, const char *what);

/* Whether a value is never negative, as far as that can be told. */
bool py_positive(const struct py *e, int64_t most);
/* Writes what is true or false; false: there is an error. */
int py_write(const struct py *e, struct buf *out, struct err *err);

#endif
