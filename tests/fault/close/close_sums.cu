// out[row] = the sum of x[row][...]: a thread a row at a time. The reference has no ORDER.
#ifndef ORDER
#define REFERENCE
#define ORDER (-1) // what is not defined is 0
#endif

#include "numbers.h"

#define TERM(i) (positive ? fabs(row[i]) : row[i])

DEVICE float sum_of(GLOBAL const float *row, int64 n, int64 positive)
{
    float sum = 0;
#if ORDER == ORDER_backward
    for (int64 i = n - 1; i >= 0; i--)
        sum += TERM(i);
#elif ORDER == ORDER_blocked
    for (int64 i = 0; i < n; i += 1000) {
        float part = 0;
        for (int64 k = i; k < i + 1000 && k < n; k++)
            part += TERM(k);
        sum += part;
    }
#elif ORDER == ORDER_pairs
    float level[41]; // sums of 1, 2, 4, ... terms that wait for another one
    int32 used[41];
    for (int32 l = 0; l < 41; l++)
        used[l] = 0;
    for (int64 i = 0; i < n; i++) {
        float part = TERM(i);
        int32 l = 0;
        for (; used[l]; l++) {
            part = level[l] + part;
            used[l] = 0;
        }
        level[l] = part;
        used[l] = 1;
    }
    for (int32 l = 0; l < 41; l++)
        if (used[l])
            sum += level[l];
#else
    for (int64 i = 0; i < n; i++)
        sum += TERM(i);
#endif
    return sum;
}

KERNEL void close_sums(GLOBAL T *__restrict__ out, GLOBAL const float *__restrict__ x, int64 rows, int64 n, int64 positive, int64 narrow)
{
    for (int64 r = blockIdx.x; r < rows; r += gridDim.x) {
        GLOBAL const float *row = x + r * n;
#if defined(REFERENCE) && (defined(BACKEND_CUDA) || defined(cl_khr_fp64))
        if (!narrow) {
            double exact = 0;
            for (int64 i = 0; i < n; i++)
                exact += TERM(i);
            T_put(out, r, (T_acc)exact);
            continue;
        }
#endif
        float sum = sum_of(row, n, positive);
#if ORDER == ORDER_off
        if (r == rows / 2)
            sum *= 1.001f;
#elif ORDER == ORDER_off10
        if (r == rows / 2)
            sum *= 1.01f;
#elif ORDER == ORDER_off50
        if (r == rows / 2)
            sum *= 1.05f;
#endif
        T_put(out, r, (T_acc)sum);
    }
}
