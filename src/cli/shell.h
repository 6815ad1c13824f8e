/* Commands that are printed to be copied into a shell. */
#ifndef CLI_SHELL_H
#define CLI_SHELL_H

#include "base/buf.h"

/* Adds a word to a command, with a blank before it unless it is the first. A POSIX shell reads back exactly this text. What is added is
 * harmless to print: control characters and bytes that are no UTF-8 are spelled out, but for newlines at a word's end. */
void shell_word(struct buf *command, const char *word);

#endif
