#include "ref.h"

double ref_dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

int32_t ref_dot_i32(const int32_t *x, const int32_t *y, int64_t n)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (uint32_t)x[i] * (uint32_t)y[i];
    return (int32_t)sum;
}
