/* Elements of buffers, as text. */
#ifndef MEASURE_ELEMENT_H
#define MEASURE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "expr/val.h"

/* A number with all its digits; another element in hexadecimal. */
void element_print(char *out, size_t room, const struct dtype *t, const void *p);
/* The type of its numbers: of a complex one, that of the parts. */
const struct dtype *number_type(const struct dtype *t);
/* A number, of a complex one the real part, as JSON has it: "null" if it is not finite. exact: with all its digits, for who reads it as a
 * wider type; else with as many as tell it from others of its type. */
void number_print(struct buf *out, const struct dtype *t, const unsigned char *value, bool exact);

#endif
