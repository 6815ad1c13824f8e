#include <step.h>
__kernel void sums_ref(__global T *sums, __global const T *x, int n)
{
    int block = get_global_id(0), from = block * STEP;
    if (from >= n)
        return;
    T sum = 0;
    for (int i = from; i < n && i < from + STEP; i++)
        sum += x[i];
    sums[block] = sum;
}
