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

enum { PY_NESTED = 200 }; /* the deepest that expressions may be nested */

/* "column 7: WHAT" */
int py_fail(struct err *err, size_t at, const char *what);

/* -- words: python_lex.c -- */

enum py_token { PT_END, PT_NAME, PT_INT, PT_FLOAT, PT_TEXT, PT_SIGN };

/* A name of a comprehension's, and what it stands for. */
struct py_bound {
    const char *name;
    struct val value;
    const struct py_bound *next;
};

struct py_reader {
    const char *text;
    size_t at, len; /* of the current token */
    enum py_token token;
    int64_t number;
    double real;
    char *string;
    int nested;
    int64_t work; /* bytes that comprehensions had read */
    const struct py_bound *bound;
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

/* -- trees: python.c -- */

enum py_type py_type_of(struct val v);
struct py *py_node(struct py_reader *r, enum py_kind kind, enum py_type type, size_t at);
/* Adds a part, and the operation before it. Null in, null out: what comes after a failure is never used. */
struct py *py_add(struct py_reader *r, struct py *e, struct py *part, enum py_op op);

bool py_is(const struct py_reader *r, const char *word);
bool py_take(struct py_reader *r, const char *word);
void py_expect(struct py_reader *r, const char *word, const char *what);
struct py *py_expression(struct py_reader *r);
struct py *py_logical(struct py_reader *r, enum py_kind kind); /* PY_OR: all that may stand in an `if` */

/* -- lists: python_list.c -- */

/* If a comprehension follows the bracket that was just opened: its values are in the list, and its closing sign is next. */
bool py_comprehension(struct py_reader *r, struct py *list, const char *close);
/* What a call of len, list, tuple or range is. */
struct py *py_list_call(struct py_reader *r, const char *name, const struct py *args);
/* The first one, with the second behind it. */
struct py *py_joined_lists(struct py_reader *r, struct py *a, const struct py *b, enum py_op op);
/* The value, or whether it is true, of what has no parameters in it. */
int py_value(struct py_reader *r, const struct py *e, bool truth, struct val *out);

/* Whether a value is never negative, as far as that can be told. */
bool py_positive(const struct py *e, int64_t most);
/* Appends the value, or whether it is true. */
int py_write(const struct py *e, bool truth, struct buf *out, struct err *err);

#endif
