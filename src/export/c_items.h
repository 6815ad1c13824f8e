/* A C source of cutune's own, taken apart into its top-level items, so that an exported file carries only what it needs of each. It
 * understands C as this project writes it, formatted. For export/ only. */
#ifndef EXPORT_C_ITEMS_H
#define EXPORT_C_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A word of C: comments and white space are none, directives' words are like any other. */
enum c_kind { C_END, C_NAME, C_NUMBER, C_TEXT, C_SIGN };
struct c_word {
    enum c_kind kind;
    const char *at;
    size_t len;
};
/* The word at *from, which is moved past it. */
struct c_word c_next(const char **from, const char *end);
bool c_is(struct c_word w, const char *text);

enum c_what {
    ITEM_CODE,    /* a function, a declaration of one, variables */
    ITEM_TYPE,    /* struct, union, enum, typedef, macro */
    ITEM_ALWAYS,  /* lines between directives: taken as they are wherever the file is needed */
    ITEM_INCLUDE, /* of a system header */
    ITEM_USES,    /* an include of one of ours */
};

struct c_item {
    int file;
    enum c_what what;
    const char *at, *code, *end; /* with its comment; without */
    bool local;                  /* static, or a type of a .c: nobody else's */
    bool kept;
};

struct c_name {
    struct c_word word;
    bool tag;  /* of a struct, union or enum, */
    bool body; /* with what is in it */
    int item;
};

struct c_file {
    const char *path, *text;
    bool header;   /* else a .c */
    bool embedded; /* made for exported files: what it defines takes the place of what has the same name elsewhere */
};

struct c_items {
    const struct c_file *files;
    int nfiles;
    struct c_item *items;
    int nitems;
    struct c_name *names;
    int nnames;
};

/* files outlive *out. */
int c_items_read(const struct c_file *files, int n, struct c_items *out, struct err *err);
void c_items_free(struct c_items *c);

#endif
