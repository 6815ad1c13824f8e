/* #include "file" in the text of kernels. The op carries the files that its templates include: so templates can be filled without reading
 * files, and what is compiled depends on nothing else. Reading a script and filling a template share what is here: texts line by line, as
 * a compiler sees them, and the places where an included file may lie. */
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
    bool sure;             /* it is compiled, whatever macros say */
    const char *name;      /* LINE_INCLUDE, LINE_SYSTEM: good until the next line */
    const char *words;     /* of a directive, from its name on and without comments; likewise */
    const char *odd;       /* null; or why compilers may see other lines here */
};

/* A text that is read line by line. The caller sets the first four members; for a file text_file does. */
struct text {
    const struct include *file; /* null: a template */
    const char *name, *at;
    bool sure;       /* the text is compiled, whatever macros say */
    bool once;       /* has #pragma once (of a file; else: in the lines so far), */
    bool guard;      /* or all of it lies in #ifndef X, #define X, #endif (of a file) */
    bool parted;     /* an #else of the guard's came, or one without #if */
    bool in_comment; /* the last line ended within one */
    int depth;       /* of #if; below 0 after an #endif too many */
    int ended;       /* lines so far */
    struct buf words;
};
int text_file(struct text *t, const struct include *file, bool sure, struct err *err);
bool text_next(struct text *t, struct line *out);      /* false at the end, or without memory */
int text_end(struct text *t, int rc, struct err *err); /* frees; returns rc, or ERR_NOMEM if memory ended */

/* A place below the folder of the script, or (shared) of the templates. */
struct include_place {
    bool shared;
    char path[MAX_PATH_NAME + 1];
};
/* Where a file is looked for that `from` includes (null: a template), in order: beside it, then in the script's folder, in the op's
 * include_dirs, and last in that of the templates. In < > (angled): in include_dirs only. 0 if the name leads out of them. */
enum { MAX_PLACES = 3 + MAX_INCLUDE_DIRS };
int include_places(const struct op *op, const struct include *from, const char *name, bool angled,
                   struct include_place out[MAX_PLACES]);
/* Whether the path has no . .. or hidden part, and is what include_places gives. */
bool include_path_ok(const char *path);

/* The index of the op's file at a place; of the file that `from` includes by this name. -1 if the op does not carry it. */
int op_include_at(const struct op *op, const struct include_place *place);
int op_include(const struct op *op, const struct include *from, const char *name, bool angled);
bool op_include_outside(const struct op *op, const char *name); /* whether it was found in a folder of the user's */
/* The file of the templates with the conversions of narrow types. Behind it stand T_get and the like of each type of the op: so behind a
 * copy of it beside a script, which is known by a word of its own. Another file by that name is no more than it says. */
#define NUMBERS "numbers.h"
bool include_is_numbers(const struct include *file);
/* Appends the text and all that it may include, for a hash. */
int put_with_includes(struct buf *out, const struct op *op, const char *text, struct err *err);

#endif
