/* #include "file" in the text of kernels. The op carries the files that its templates include: so templates can be filled without reading
 * files, and what is compiled depends on nothing else. Reading a script and filling a template share what is here: lines as a compiler
 * sees them, and the places where an included file may lie. */
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

/* A line as a compiler sees it: it takes several lines of the text if a \ or a comment joins them. */
struct line {
    enum line_kind kind;
    const char *from, *to; /* its part of the text, with the end of the line */
    int number, lines;     /* the number of its first line, from 1; how many lines it takes */
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

/* What has to be known of a text before it is read line by line. */
struct text_facts {
    bool once;  /* has #pragma once, */
    bool guard; /* or all of it lies in #ifndef X, #define X, #endif */
};
int text_facts_of(const char *text, struct text_facts *out, struct err *err);

/* Whether a line is compiled whatever macros say. */
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

/* The index of the op's file that is included; -1 if the op does not carry it. */
int op_include(const struct op *op, const struct include *from, const char *name);
/* Appends the text and all that it may include, for a hash. */
int put_with_includes(struct buf *out, const struct op *op, const char *text, struct err *err);

#endif
