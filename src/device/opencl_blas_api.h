/* What cutune uses of CLBlast, as its clblast_c.h of 1.x has it: calls of f32 and f64. */
#ifndef DEVICE_OPENCL_BLAS_API_H
#define DEVICE_OPENCL_BLAS_API_H

#include "device/opencl_part.h"

enum { CLBLAST_BY_COLUMNS = 102, CLBLAST_AS_IT_IS = 111, CLBLAST_TRANSPOSED = 112 };

#define CLBLAST_COPY(letter) CLBlast##letter##omatcopy
#define CLBLAST_DOT(letter)  CLBlast##letter##dot
#define CLBLAST_GEMM(letter) CLBlast##letter##gemm

#define CLBLAST_NAME(function) #function /* of one of these as it comes out */

#define CLBLAST_FUNCTIONS(X, letter, real)                                                                                         \
    X(CLBLAST_COPY(letter), (int layout, int a_op, size_t m, size_t n, real alpha, cl_mem a, size_t a_at, size_t lda, cl_mem c,    \
                             size_t c_at, size_t ldc, cl_command_queue *queue, cl_event *event))                                   \
    X(CLBLAST_DOT(letter), (size_t n, cl_mem c, size_t c_at, cl_mem a, size_t a_at, size_t a_step, cl_mem b, size_t b_at,          \
                            size_t b_step, cl_command_queue * queue, cl_event * event))                                            \
    X(CLBLAST_GEMM(letter),                                                                                                        \
      (int layout, int a_op, int b_op, size_t m, size_t n, size_t k, real alpha, cl_mem a, size_t a_at, size_t lda, cl_mem b,      \
       size_t b_at, size_t ldb, real beta, cl_mem c, size_t c_at, size_t ldc, cl_command_queue *queue, cl_event *event))

#endif
