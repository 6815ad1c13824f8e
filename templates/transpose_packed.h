// The form of a transpose without transpose_strided.h: costs nothing where it is not needed.
#ifndef STRIDES
#define STRIDES
#define LDIN n
#define LDOUT m
#define ENTER_MATRIX(block, tiles) uint32 block = blockIdx.x
#define BEFORE(rows) 0u
#endif
