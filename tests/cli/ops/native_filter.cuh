#include <cuda_fp16.h>
#ifdef TILE
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#elif defined(BS)
#include <cub/cub.cuh>
#endif

namespace filter {
__constant__ float taps[3];

template <typename X> __device__ float at(const X *x, int i)
{
    return taps[0] * (float)x[i] + taps[1] * (float)x[i + 1] + taps[2] * (float)x[i + 2];
}
}
