/* What cutune uses of cuBLAS and cuBLASLt, from 11 on, as cuda_api.h has the driver's. They are loaded only to be measured beside kernels.
 * tests/unit/test_device_abi.c holds it against their headers. */
#ifndef DEVICE_CUDA_BLAS_API_H
#define DEVICE_CUDA_BLAS_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct cublasContext *cublasHandle_t;
typedef struct cublasLtContext *cublasLtHandle_t;

#define CUBLAS_CONSTANTS(X)                                                                                                        \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                                                    \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                                                            \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                                                               \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                                                              \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                                                              \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                                                                                             \
    X(CUBLAS_POINTER_MODE_DEVICE, 1)                                                                                               \
    X(CUBLAS_GEMM_DEFAULT, -1)                                                                                                     \
    X(CUBLAS_COMPUTE_32F, 68)                                                                                                      \
    X(CUBLAS_COMPUTE_32F_FAST_16F, 74)                                                                                             \
    X(CUBLAS_COMPUTE_32F_FAST_16BF, 75)                                                                                            \
    X(CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                                                                            \
    X(CUBLAS_COMPUTE_64F, 70)                                                                                                      \
    X(CUDA_R_32F, 0)                                                                                                               \
    X(CUDA_R_64F, 1)                                                                                                               \
    X(CUDA_R_16F, 2)                                                                                                               \
    X(CUDA_R_16BF, 14)                                                                                                             \
    X(CUDA_C_32F, 4)                                                                                                               \
    X(CUDA_C_64F, 5)                                                                                                               \
    X(CUBLASLT_MATMUL_DESC_TRANSA, 3)                                                                                              \
    X(CUBLASLT_MATMUL_DESC_TRANSB, 4)                                                                                              \
    X(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)

/* Enumerations are 32 bits wide; matrices are passed as the addresses that they are. */
#define CUBLAS_FUNCTIONS(X)                                                                                                        \
    X(cublasCreate_v2, (cublasHandle_t * handle))                                                                                  \
    X(cublasDestroy_v2, (cublasHandle_t handle))                                                                                   \
    X(cublasGetVersion_v2, (cublasHandle_t handle, int *version))                                                                  \
    X(cublasSetStream_v2, (cublasHandle_t handle, void *stream))                                                                   \
    X(cublasSetPointerMode_v2, (cublasHandle_t handle, unsigned mode))                                                             \
    X(cublasDotEx, (cublasHandle_t handle, int n, const void *x, unsigned x_type, int x_step, const void *y, unsigned y_type,      \
                    int y_step, void *result, unsigned type, unsigned in_type))                                                    \
    X(cublasGemmEx, (cublasHandle_t handle, unsigned a_op, unsigned b_op, int m, int n, int k, const void *alpha, const void *a,   \
                     unsigned a_type, int lda, const void *b, unsigned b_type, int ldb, const void *beta, void *c,                 \
                     unsigned c_type, int ldc, unsigned compute, int algorithm))                                                   \
    CUBLAS_GEAM(X, S)                                                                                                              \
    CUBLAS_GEAM(X, D)                                                                                                              \
    CUBLAS_GEAM(X, C)                                                                                                              \
    CUBLAS_GEAM(X, Z)
#define CUBLAS_GEAM(X, letter)                                                                                                     \
    X(cublas##letter##geam, (cublasHandle_t handle, unsigned a_op, unsigned b_op, int m, int n, const void *alpha, const void *a,  \
                             int lda, const void *beta, const void *b, int ldb, void *c, int ldc))

struct cublaslt_algorithm {
    uint64_t data[8];
};
struct cublaslt_found {
    struct cublaslt_algorithm algorithm;
    size_t workspace;
    unsigned state;
    float waves;
    int reserved[4];
};

#define CUBLASLT_FUNCTIONS(X)                                                                                                      \
    X(cublasLtCreate, (cublasLtHandle_t * handle))                                                                                 \
    X(cublasLtDestroy, (cublasLtHandle_t handle))                                                                                  \
    X(cublasLtMatmulDescCreate, (void **what, unsigned compute, unsigned scale_type))                                              \
    X(cublasLtMatmulDescDestroy, (void *what))                                                                                     \
    X(cublasLtMatmulDescSetAttribute, (void *what, unsigned attribute, const void *value, size_t bytes))                           \
    X(cublasLtMatrixLayoutCreate, (void **layout, unsigned type, uint64_t rows, uint64_t columns, int64_t ld))                     \
    X(cublasLtMatrixLayoutDestroy, (void *layout))                                                                                 \
    X(cublasLtMatmulPreferenceCreate, (void **wish))                                                                               \
    X(cublasLtMatmulPreferenceDestroy, (void *wish))                                                                               \
    X(cublasLtMatmulPreferenceSetAttribute, (void *wish, unsigned attribute, const void *value, size_t bytes))                     \
    X(cublasLtMatmulAlgoGetHeuristic, (cublasLtHandle_t handle, void *what, void *a, void *b, void *c, void *d, void *wish,        \
                                       int room, struct cublaslt_found *out, int *n))                                              \
    X(cublasLtMatmul, (cublasLtHandle_t handle, void *what, const void *alpha, const void *a, void *a_layout, const void *b,       \
                       void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,                   \
                       const struct cublaslt_algorithm *algorithm, void *workspace, size_t bytes, void *stream))

#ifndef API_LISTS_ONLY
enum {
#define X(name, value) name = value,
    CUBLAS_CONSTANTS(X)
#undef X
};
#endif

#endif
