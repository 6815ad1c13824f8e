// Put before a template of transpose: rows of in lie ldin elements apart, those of out ldout, and the matrices of a batch follow each other.
// Without it the template is for one matrix with rows that follow each other: transpose_packed.h.
#define STRIDES , int64 ldin, int64 ldout
#define LDIN ldin
#define LDOUT ldout

// `block` becomes the number of the block among the `tiles` of its matrix; in and out begin at that.
#define ENTER_MATRIX(block, tiles) \
    uint32 block = blockIdx.x % (tiles), matrix = blockIdx.x / (tiles); \
    in += matrix * m * ldin; \
    out += matrix * n * ldout
// Rows that lie before this matrix, of so many in each. Alignment rests on it.
#define BEFORE(rows) (matrix * (uint32)(rows))
