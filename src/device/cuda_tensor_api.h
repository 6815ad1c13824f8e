/* What cutune uses of cuTENSOR 2, as cuda_blas_api.h has cuBLAS: it is loaded only to be measured beside kernels. Its types are those of
 * CUDA, its statuses those of cuBLAS. tests/unit/test_device_abi.c holds it against its header, where there is one. */
#ifndef DEVICE_CUDA_TENSOR_API_H
#define DEVICE_CUDA_TENSOR_API_H

#include <stddef.h>
#include <stdint.h>

#define CUTENSOR_CONSTANTS(X)                                                                                                      \
    X(CUTENSOR_STATUS_SUCCESS, 0)                                                                                                  \
    X(CUTENSOR_STATUS_NOT_INITIALIZED, 1)                                                                                          \
    X(CUTENSOR_STATUS_ALLOC_FAILED, 3)                                                                                             \
    X(CUTENSOR_STATUS_INVALID_VALUE, 7)                                                                                            \
    X(CUTENSOR_STATUS_ARCH_MISMATCH, 8)                                                                                            \
    X(CUTENSOR_STATUS_NOT_SUPPORTED, 15)                                                                                           \
    X(CUTENSOR_OP_IDENTITY, 1)                                                                                                     \
    X(CUTENSOR_ALGO_DEFAULT, -1)                                                                                                   \
    X(CUTENSOR_JIT_MODE_NONE, 0)                                                                                                   \
    X(CUTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE, 1)

/* Handles, descriptors and plans are addresses; so are the descriptors of what is computed in, which are variables of the library. */
#define CUTENSOR_FUNCTIONS(X)                                                                                                      \
    X(cutensorCreate, (void **handle))                                                                                             \
    X(cutensorDestroy, (void *handle))                                                                                             \
    X(cutensorCreateTensorDescriptor, (void *handle, void **tensor, uint32_t modes, const int64_t extent[],                        \
                                       const int64_t stride[], unsigned type, uint32_t alignment))                                 \
    X(cutensorDestroyTensorDescriptor, (void *tensor))                                                                             \
    X(cutensorCreatePermutation, (void *handle, void **what, void *a, const int32_t a_mode[], unsigned a_op, void *b,              \
                                  const int32_t b_mode[], void *compute))                                                          \
    X(cutensorCreateContraction, (void *handle, void **what, void *a, const int32_t a_mode[], unsigned a_op, void *b,              \
                                  const int32_t b_mode[], unsigned b_op, void *c, const int32_t c_mode[], unsigned c_op, void *d,  \
                                  const int32_t d_mode[], void *compute))                                                          \
    X(cutensorOperationDescriptorGetAttribute, (void *handle, void *what, unsigned attribute, void *value, size_t bytes))          \
    X(cutensorDestroyOperationDescriptor, (void *what))                                                                            \
    X(cutensorCreatePlanPreference, (void *handle, void **wish, int algorithm, unsigned jit))                                      \
    X(cutensorDestroyPlanPreference, (void *wish))                                                                                 \
    X(cutensorCreatePlan, (void *handle, void **plan, void *what, void *wish, uint64_t workspace))                                 \
    X(cutensorDestroyPlan, (void *plan))                                                                                           \
    X(cutensorPermute, (void *handle, void *plan, const void *alpha, const void *a, void *b, void *stream))                        \
    X(cutensorContract, (void *handle, void *plan, const void *alpha, const void *a, const void *b, const void *beta,              \
                         const void *c, void *d, void *workspace, uint64_t bytes, void *stream))

#ifndef API_LISTS_ONLY
enum {
#define X(name, value) name = value,
    CUTENSOR_CONSTANTS(X)
#undef X
};
#endif

#endif
