// A thread moves OUTER_UNROLL_FACTOR bodies; all of a block look at the others in the same order.
#if VECTOR
#define BODY(j) ((GLOBAL const float4 *)oldBodyInfo)[j]
#else
#define BODY(j) make_float4(oldBodyInfo[4 * (int64)(j)], oldBodyInfo[4 * (int64)(j) + 1], oldBodyInfo[4 * (int64)(j) + 2], oldBodyInfo[4 * (int64)(j) + 3])
#endif
#define MINE(u) ((int64)(blockIdx.x * OUTER_UNROLL_FACTOR + (u)) * WORK_GROUP_SIZE_X + threadIdx.x)

KERNEL void __launch_bounds__(WORK_GROUP_SIZE_X)
nbody_kernel(float timeDelta, GLOBAL const float *oldBodyInfo, GLOBAL float *newBodyInfo, GLOBAL const float *oldVel, GLOBAL float *newVel,
             float damping, float softeningSqr, int32 n)
{
    float4 body[OUTER_UNROLL_FACTOR];
    float ax[OUTER_UNROLL_FACTOR], ay[OUTER_UNROLL_FACTOR], az[OUTER_UNROLL_FACTOR];
#pragma unroll
    for (int u = 0; u < OUTER_UNROLL_FACTOR; u++) {
        body[u] = BODY(MINE(u) < n ? MINE(u) : n - 1);
        ax[u] = ay[u] = az[u] = 0.0f;
    }
#define PULL(u, other)                                                                                                             \
    do {                                                                                                                           \
        const float dx = (other).x - body[u].x, dy = (other).y - body[u].y, dz = (other).z - body[u].z;                           \
        const float square = dx * dx + dy * dy + dz * dz + softeningSqr, inverse = 1.0f / sqrt(square);                           \
        const float force = (other).w * inverse * inverse * inverse;                                                              \
        ax[u] += dx * force;                                                                                                       \
        ay[u] += dy * force;                                                                                                       \
        az[u] += dz * force;                                                                                                       \
    } while (0)
#if LOCAL_MEM
    __shared__ float4 tile[WORK_GROUP_SIZE_X];
    for (int32 from = 0; from < n; from += WORK_GROUP_SIZE_X) {
        const int32 j = from + (int32)threadIdx.x;
        tile[threadIdx.x] = j < n ? BODY(j) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll INNER_UNROLL_FACTOR
        for (int k = 0; k < WORK_GROUP_SIZE_X; k++) { // those past the end weigh nothing
            const float4 other = tile[k];
#pragma unroll
            for (int u = 0; u < OUTER_UNROLL_FACTOR; u++)
                PULL(u, other);
        }
        __syncthreads();
    }
#else
#pragma unroll INNER_UNROLL_FACTOR
    for (int32 j = 0; j < n; j++) {
        const float4 other = BODY(j);
#pragma unroll
        for (int u = 0; u < OUTER_UNROLL_FACTOR; u++)
            PULL(u, other);
    }
#endif
#pragma unroll
    for (int u = 0; u < OUTER_UNROLL_FACTOR; u++) {
        const int64 i = MINE(u);
        if (i >= n)
            continue;
        const float a[3] = { ax[u], ay[u], az[u] };
        for (int k = 0; k < 3; k++) {
            const float v = (oldVel[4 * i + k] + a[k] * timeDelta) * damping;
            newVel[4 * i + k] = v;
            newBodyInfo[4 * i + k] = oldBodyInfo[4 * i + k] + v * timeDelta;
        }
        newVel[4 * i + 3] = oldVel[4 * i + 3];
        newBodyInfo[4 * i + 3] = oldBodyInfo[4 * i + 3];
    }
}
