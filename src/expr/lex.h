/* Words of the expression language, private to this folder. */
#ifndef EXPR_LEX_H
#define EXPR_LEX_H

#include <stddef.h>

#include "expr/val.h"

enum token {
    TOK_END,
    TOK_BAD,
    TOK_NAME,
    TOK_NUMBER,
    TOK_STRING,
    TOK_OR,
    TOK_AND,
    TOK_NOT,
    TOK_TRUE,
    TOK_FALSE,
    TOK_LT,
    TOK_GT,
    TOK_LE,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_PIPE,
    TOK_TILDE,
    TOK_AMP,
    TOK_SHL,
    TOK_SHR,
    TOK_PLUS,
    TOK_MINUS,
    TOK_STAR,
    TOK_SLASH,
    TOK_IDIV,
    TOK_PERCENT,
    TOK_CARET,
    TOK_OPEN,
    TOK_CLOSE,
    TOK_COMMA,
};

struct lexer {
    const char *text;
    size_t at, len; /* the current token; a string's length is that with its quotes */
    enum token token;
    struct val number; /* TOK_NUMBER */
    const char *what;  /* TOK_BAD: what is wrong */
};

/* Goes on to the next token; for the first, start from { .text = text }. */
void lex_next(struct lexer *l);

/* The characters of the current TOK_STRING into out, which has room for l->len bytes; returns how many, without the zero. Only what
 * lex_next accepted may come here. */
size_t lex_string(const struct lexer *l, char *out);

#endif
