KERNEL void coulomb_init(GLOBAL const float *atomInfo, GLOBAL float *x, GLOBAL float *y, GLOBAL float *z, GLOBAL float *w,
                         int32 numberOfAtoms, float gridSpacing, int32 gridSize, GLOBAL float *energyGrid)
{
    const int32 i = (int32)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= numberOfAtoms)
        return;
    x[i] = atomInfo[4 * (int64)i];
    y[i] = atomInfo[4 * (int64)i + 1];
    z[i] = atomInfo[4 * (int64)i + 2];
    w[i] = atomInfo[4 * (int64)i + 3];
}
