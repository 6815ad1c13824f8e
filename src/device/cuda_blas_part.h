/* What cuBLAS, cuBLASLt and cuTENSOR share. */
#ifndef DEVICE_CUDA_BLAS_PART_H
#define DEVICE_CUDA_BLAS_PART_H

#include "device/cuda_blas_api.h"
#include "device/cuda_part.h"

/* A call's types and numbers as the libraries have them. */
struct blas_numbers {
    unsigned type[3], compute;
    int m, n, k, ld[3];
    union {
        float f[2];
        double d[2]; /* a complex one: its parts */
    } alpha, beta;
    bool f64;
};

enum { BLAS_WAYS = 32 };

/* A call of cuTENSOR, of matrices a, b and c with two modes each. */
struct cuda_tensors {
    void *handle, *matrix[3], *what, *wish, *plan;
    int32_t modes[3][2];
    _Alignas(16) unsigned char alpha[16], beta[16];
};

struct cuda_called {
    struct called base;
    cublasHandle_t blas;         /* of the first, */
    cublasLtHandle_t lt;         /* the second, */
    struct cuda_tensors tensors; /* or the third */
    struct blas_numbers with;
    void *what, *layout[3];
    struct cublaslt_found found[BLAS_WAYS];
};

struct library_function {
    const char *name;
    void *at; /* the pointer to it */
};

/* Loads the first of n libraries that is there, once, into *library, and of it m functions. False: none is, or it lacks *missing. */
bool blas_library(void **library, const char *const *names, int n, const struct library_function *functions, int m,
                  const char **missing);
/* A status as an error; 0 if the call did well. What the library only refuses is ERR_UNSUPPORTED. */
int blas_check(unsigned status, const char *function, struct err *err);
/* cuda_blaslt_measure.c */
int blaslt_open(struct cuda_called *c, struct err *err);
int blaslt_run(struct device *d, struct cuda_called *c, int way, struct err *err);
void blaslt_close(struct cuda_called *c);
/* cuda_tensor_measure.c */
int tensors_open(struct cuda_called *c, struct err *err);
int tensors_run(struct device *d, const struct cuda_called *c, struct err *err);
void tensors_close(struct cuda_called *c);

#endif
