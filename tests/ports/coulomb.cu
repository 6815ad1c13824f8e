// The potential of all atoms at Z_ITERATIONS points of the grid, one above the other, a thread.
KERNEL void __launch_bounds__(WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y)
directCoulombSum(GLOBAL const float *atomInfo, GLOBAL const float *atomInfoX, GLOBAL const float *atomInfoY, GLOBAL const float *atomInfoZ,
                 GLOBAL const float *atomInfoW, int32 numberOfAtoms, float gridSpacing, int32 gridSize, GLOBAL float *energyGrid)
{
    const int32 i = (int32)(blockIdx.x * WORK_GROUP_SIZE_X + threadIdx.x), j = (int32)(blockIdx.y * WORK_GROUP_SIZE_Y + threadIdx.y);
    const int32 z0 = (int32)(blockIdx.z * Z_ITERATIONS);
    const float px = gridSpacing * (float)i, py = gridSpacing * (float)j;
    float energy[Z_ITERATIONS];
#pragma unroll
    for (int k = 0; k < Z_ITERATIONS; k++)
        energy[k] = 0.0f;
    if (i >= gridSize || j >= gridSize)
        return;
#pragma unroll INNER_UNROLL_FACTOR
    for (int32 a = 0; a < numberOfAtoms; a++) {
#if USE_SOA
        const float dx = px - atomInfoX[a], dy = py - atomInfoY[a], z = atomInfoZ[a], charge = atomInfoW[a];
#else
        const float4 atom = ((GLOBAL const float4 *)atomInfo)[a];
        const float dx = px - atom.x, dy = py - atom.y, z = atom.z, charge = atom.w;
#endif
        const float plane = dx * dx + dy * dy;
#pragma unroll
        for (int k = 0; k < Z_ITERATIONS; k++) {
            const float dz = gridSpacing * (float)(z0 + k) - z;
            energy[k] += charge / sqrt(plane + dz * dz);
        }
    }
#pragma unroll
    for (int k = 0; k < Z_ITERATIONS; k++)
        if (z0 + k < gridSize)
            energyGrid[((int64)(z0 + k) * gridSize + j) * gridSize + i] = energy[k];
}
