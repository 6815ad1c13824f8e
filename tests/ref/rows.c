#include "ref.h"

#include <math.h>

void ref_softmax(double *y, const double *x, int64_t n)
{
    double most = x[0], sum = 0;
    for (int64_t j = 0; j < n; j++)
        most = fmax(most, x[j]);
    for (int64_t j = 0; j < n; j++)
        sum += exp(x[j] - most);
    for (int64_t j = 0; j < n; j++)
        y[j] = exp(x[j] - most) / sum;
}

void ref_rmsnorm(double *y, const double *x, const double *w, double eps, int64_t n)
{
    double squares = 0;
    for (int64_t j = 0; j < n; j++)
        squares += x[j] * x[j];
    for (int64_t j = 0; j < n; j++)
        y[j] = x[j] * w[j] / sqrt(squares / (double)n + eps);
}

void ref_layernorm(double *y, const double *x, const double *w, const double *b, double eps, int64_t n)
{
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < n; j++)
        mean += x[j] / (double)n;
    for (int64_t j = 0; j < n; j++)
        variance += (x[j] - mean) * (x[j] - mean) / (double)n;
    for (int64_t j = 0; j < n; j++)
        y[j] = (x[j] - mean) / sqrt(variance + eps) * w[j] + b[j];
}

double ref_sum(const double *x, int64_t n, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i * step];
    return sum;
}

double ref_largest(const double *x, int64_t n, int64_t step)
{
    double largest = x[0];
    for (int64_t i = 1; i < n; i++)
        largest = fmax(largest, x[i * step]);
    return largest;
}
