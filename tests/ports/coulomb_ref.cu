KERNEL void coulomb_ref(GLOBAL const float *atomInfo, GLOBAL const float *atomInfoX, GLOBAL const float *atomInfoY,
                        GLOBAL const float *atomInfoZ, GLOBAL const float *atomInfoW, int32 numberOfAtoms, float gridSpacing,
                        int32 gridSize, GLOBAL float *energyGrid)
{
    const int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x, side = gridSize;
    if (at >= side * side * side)
        return;
    const float x = gridSpacing * (float)(at % side), y = gridSpacing * (float)(at / side % side), z = gridSpacing * (float)(at / side / side);
    double energy = 0;
    for (int32 a = 0; a < numberOfAtoms; a++) {
        const float dx = x - atomInfo[4 * (int64)a], dy = y - atomInfo[4 * (int64)a + 1], dz = z - atomInfo[4 * (int64)a + 2];
        energy += (double)atomInfo[4 * (int64)a + 3] / sqrt((double)(dx * dx + dy * dy + dz * dz));
    }
    energyGrid[at] = (float)energy;
}
