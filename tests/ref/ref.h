/* The ops in plain C. The reference kernels are compared with these on small problems. */
#ifndef REF_H
#define REF_H

#include <stddef.h>
#include <stdint.h>

/* out[j][i] = in[i][j], elements of `bytes` bytes. sizes: m, n, ldin, ldout, batch. */
void ref_transpose(void *out, const void *in, const int64_t *sizes, size_t bytes);

/* The sum of x[i] * y[i]; i32 wraps around. */
double ref_dot(const double *x, const double *y, int64_t n);
int32_t ref_dot_i32(const int32_t *x, const int32_t *y, int64_t n);

/* C = A B, row-major: c is m x n, a is m x k, b is k x n. */
void ref_gemm(double *c, double alpha, const double *a, const double *b, double beta, const int64_t *size);

/* One row of n elements: its softmax; its norms, with a weight and a bias for each place in the row. */
void ref_softmax(double *y, const double *x, int64_t n);
void ref_rmsnorm(double *y, const double *x, const double *w, double eps, int64_t n);
void ref_layernorm(double *y, const double *x, const double *w, const double *b, double eps, int64_t n);

/* Of n elements, `step` apart. */
double ref_sum(const double *x, int64_t n, int64_t step);
double ref_largest(const double *x, int64_t n, int64_t step);

/* out is h x w; `in` is larger than that by the filter's size less one. */
void ref_convolution(double *out, const double *in, const double *filter, int64_t h, int64_t w, int64_t fh, int64_t fw);

/* Coefficients of a cell, of its four neighbours in the plane, and of the two above and below it. The border stays as it is. */
void ref_stencil(double *out, const double *in, const double abc[3], int64_t nz, int64_t ny, int64_t nx);

#endif
