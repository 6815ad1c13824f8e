#include "ref.h"

/* size: m, n, k, ta, tb, lda, ldb, ldc. */
void ref_gemm(double *c, double alpha, const double *a, const double *b, double beta, const int64_t *size)
{
    const int64_t m = size[0], n = size[1], k = size[2], lda = size[5], ldb = size[6], ldc = size[7];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (size[3] ? a[p * lda + i] : a[i * lda + p]) * (size[4] ? b[j * ldb + p] : b[p * ldb + j]);
            c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
        }
}
