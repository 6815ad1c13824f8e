/* A peer: a call of a library that does the op's work, which `cutune bench` times beside the op's kernels. An op script says which. It is
 * no part of what a kernel is: no key, no contract and no stored kernel has it. */
#ifndef MODEL_PEER_H
#define MODEL_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { MAX_PEERS = 16 };

/* As BLAS has them: column-major, c = alpha op(a) op(b) + beta c. The words of each are in the order of the enum. */
#define PEER_LIBRARIES "cublas cublaslt clblast cutensor"
enum peer_library { LIBRARY_CUBLAS, LIBRARY_CUBLASLT, LIBRARY_CLBLAST, LIBRARY_CUTENSOR };
#define PEER_CALLS "geam dot gemm"
enum peer_call {
    CALL_GEAM, /* c = alpha op(a) */
    CALL_DOT,  /* c[0] = the sum of a[i] b[i] */
    CALL_GEMM, /* c = alpha op(a) op(b) + beta c */
};
#define PEER_MODES "full tf32 bf16 f16"
/* What products are made in: the type itself; or f32 is rounded to less first, so the result is less exact. */
enum peer_mode { MODE_FULL, MODE_TF32, MODE_BF16, MODE_F16 };

#define PEER_NUMBERS_WORDS "m n k lda ldb ldc ta tb alpha beta"
enum peer_number { PEER_M, PEER_N, PEER_K, PEER_LDA, PEER_LDB, PEER_LDC, PEER_TA, PEER_TB, PEER_ALPHA, PEER_BETA, PEER_NUMBERS };

struct peer {
    enum peer_library library;
    enum peer_call call;
    enum peer_mode mode;
    const char *when; /* it is a peer only where this is true; null: always */
    int buffer[3];    /* arguments of the op: a, b and c; -1: none */
    const char
        *number[PEER_NUMBERS]; /* expressions over axes, types and device.*; alpha and beta may name a scalar. Null: not given */
};

/* With the values of a problem. */
struct peer_values {
    bool applies;
    int64_t m, n, k, ld[3];
    bool t[2]; /* a, b are transposed */
    double alpha, beta;
};

struct op;
struct plan;
struct val;
int peer_check(const struct op *op, const struct peer *p, struct err *err); /* a part of op_check */
/* plan: of variant -1. */
int peer_evaluate(const struct plan *plan, const struct peer *p, const struct val *slots, struct peer_values *out, struct err *err);
/* "cublas geam"; "cublas gemm tf32". */
void peer_print(struct buf *out, const struct peer *p);
/* How much coarser its mode rounds than f32 does: 1, or a power of 2. */
double peer_slack(const struct peer *p);

#endif
