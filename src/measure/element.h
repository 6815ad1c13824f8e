/* Elements of buffers, as text. */
#ifndef MEASURE_ELEMENT_H
#define MEASURE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "expr/val.h"

/* A number with all its digits; another element in hexadecimal. */
void element_print(char *out, size_t room, const struct dtype *t, const void *p);

#endif
