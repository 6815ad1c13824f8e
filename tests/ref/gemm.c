#include "ref.h"

void ref_gemm_f32(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (double)a[i * k + p] * b[p * n + j];
            c[i * n + j] = (float)sum;
        }
}

void ref_gemm_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}

void ref_gemm_i32(int32_t *c, const int32_t *a, const int32_t *b, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            uint32_t sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (uint32_t)a[i * k + p] * (uint32_t)b[p * n + j];
            c[i * n + j] = (int32_t)sum;
        }
}
