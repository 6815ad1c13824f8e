/* Words of the expression language, private to this folder. */
#ifndef EXPR_LEX_H
#define EXPR_LEX_H

#include "expr/code.h"

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

struct infix {
    char text[4];
    enum opcode op;
    int left, right; /* how tightly it binds on each side */
};

struct lexer {
    const char *text;
    size_t at, len; /* the current token; a string's length is that with its quotes */
    enum token token;
    struct val number;         /* TOK_NUMBER */
    const char *what;          /* TOK_BAD: what is wrong */
    const struct infix *infix; /* TOK_INFIX */
};

/* Goes on to the next token; for the first, start from { .text = text }. */
void lex_next(struct lexer *l);

/* Puts the characters of the current TOK_STRING into out, which has room for l->len bytes. Returns how many there are, without the zero
 * at the end. */
size_t lex_string(const struct lexer *l, char *out);

#endif
