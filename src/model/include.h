/* #include "file" in the text of kernels. Files that templates include travel with the op, so that whoever fills a template needs no
 * files and what is compiled depends on nothing else. Here is what reading a script and filling a template share: lines as the
 * compilers see them, and where an included file may lie. */
#ifndef MODEL_INCLUDE_H
#define MODEL_INCLUDE_H

#include "model/op.h"

enum line_kind {
    LINE_TEXT, /* or a directive that does not matter here */
    LINE_BLANK,
    LINE_IF,   /* #if, #ifdef, #ifndef, */
    LINE_ELSE, /* #else, #elif and the like, */
    LINE_ENDIF,
    LINE_DEFINE,
    LINE_ONCE,          /* #pragma once */
    LINE_INCLUDE,       /* #include "name" */
    LINE_SYSTEM,        /* #include <name> */
    LINE_OTHER_INCLUDE, /* whose name is in neither, or #include_next, #import, #embed */
};

/* A line of a text: more than one where they are joined by a \ or a comment. */
struct line {
    enum line_kind kind;
    const char *from, *to; /* as it stands, with its end */
    int number, lines;     /* of its first, from 1; how many */
    bool negative;         /* #ifndef X, #if !X */
    const char *name;      /* LINE_INCLUDE, LINE_SYSTEM: good until the next line */
    const char *words;     /* behind the directive's name, without comments; likewise */
};

struct lines {
    const char *at;
    int number;
    struct buf words;
    bool in_comment; /* the text ended within one */
};

struct lines lines_of(const char *text);
bool lines_next(struct lines *s, struct line *out); /* false at the end, or without memory: words.failed */
void lines_end(struct lines *s);

/* What is known of a text before it is gone through. */
struct text_facts {
    bool once;  /* has #pragma once, */
    bool guard; /* or all of it lies in #ifndef X, #define X, #endif */
};
int text_facts_of(const char *text, struct text_facts *out, struct err *err);

/* Where a line stands: whether it is compiled whatever macros say. */
struct position {
    int depth, base; /* of #if */
    bool parted;     /* an #else of the guard's came */
};
struct position position_of(const struct text_facts *f);
bool position_pass(struct position *p, const struct line *l); /* false for an #endif too many */
bool position_sure(const struct position *p);

/* A place below the folder of the script, or (shared) of the templates. */
struct include_place {
    bool shared;
    char path[MAX_PATH_NAME + 1];
};
/* Where a file is looked for that `from` includes (null: a template), in order: beside it, then in the script's folder, then in that of
 * the templates. 0 if the name leads out of them. */
int include_places(const struct include *from, const char *name, struct include_place out[3]);
/* Whether the path has no . .. or hidden part, and is what include_places gives. */
bool include_path_ok(const char *path);

/* The one that the op carries for it; -1 */
int op_include(const struct op *op, const struct include *from, const char *name);
/* The text and all that it may include, for a hash. */
int put_with_includes(struct buf *out, const struct op *op, const char *text, struct err *err);

#endif
