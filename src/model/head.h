/* The head of a source: lines that say what its compiler is to be told beside the text. They are in the text, so that they are hashed,
 * stored and exported with it, and whoever compiles it later does the same:
 *
 *   //cutune option --use_fast_math
 *   //cutune entry scale<T, 4>        a C++ name: the compiler tells how the code calls it. One line for each launch, then for each constant
 *   //cutune headers 5f0c...          a hash of the folders that the user gave for #include <...>; without them it does not compile
 *
 * Most sources have no such line. */
#ifndef MODEL_HEAD_H
#define MODEL_HEAD_H

#include "base/buf.h"
#include "model/op.h"

enum { MAX_ENTRIES = MAX_LAUNCHES + MAX_ARGS };

struct head {
    int noptions, nentries;
    const char *options[MAX_OPTIONS], *entries[MAX_ENTRIES];
    const char *headers; /* null: it needs none */
    char *text;          /* what holds all of these */
};

void head_put(struct buf *out, const char *word, const char *value);
/* A source may come from a file of a stranger's. Free the head in any case. */
int head_read(const char *source, struct head *out, struct err *err);
/* The macro that an option of a compiler's defines or undefines, with its length; null: none. */
const char *option_macro(const char *option, int *length);
void head_free(struct head *h);
bool head_asks(
    const char *source); /* whether it has an entry line: without its compiler nobody knows what the code calls its kernels */

/* Line i of a list with an end behind each, as compilers tell names; false if there is none that fits. */
bool list_line(const char *list, size_t n, int i, char out[MAX_ENTRY + 1]);

#endif
