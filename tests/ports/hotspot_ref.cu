// A cell alone: its neighbourhood of 21 x 21, stepped so often that only the middle is right in the end.
#define REACH 10
#define SIDE  (2 * REACH + 1)

KERNEL void hotspot_ref(GLOBAL const float *power, GLOBAL const float *temp_src, GLOBAL float *temp_dst, int32 n, int32 m,
                        int32 iterations, float Rx_1, float Ry_1, float Rz_1, float step_div_cap)
{
    float now[SIDE][SIDE], next[SIDE][SIDE];
    const int64 cell = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= (int64)m * n)
        return;
    const int32 row = (int32)(cell / n) - REACH, column = (int32)(cell % n) - REACH; // of the corner
    for (int32 y = 0; y < SIDE; y++)
        for (int32 x = 0; x < SIDE; x++) {
            const int32 i = row + y, j = column + x;
            now[y][x] = i >= 0 && i < m && j >= 0 && j < n ? temp_src[(int64)i * n + j] : 0.0f;
        }
    for (int32 s = 1; s <= iterations; s++) {
        for (int32 y = REACH - (iterations - s); y <= REACH + (iterations - s); y++)
            for (int32 x = REACH - (iterations - s); x <= REACH + (iterations - s); x++) {
                const int32 i = row + y, j = column + x;
                if (i < 0 || i >= m || j < 0 || j >= n)
                    continue;
                const float t = now[y][x];
                const float north = i > 0 ? now[y - 1][x] : t, south = i < m - 1 ? now[y + 1][x] : t;
                const float west = j > 0 ? now[y][x - 1] : t, east = j < n - 1 ? now[y][x + 1] : t;
                next[y][x] = t + step_div_cap * (power[(int64)i * n + j] + (north + south - 2.0f * t) * Ry_1 +
                                                 (east + west - 2.0f * t) * Rx_1 + (80.0f - t) * Rz_1);
            }
        for (int32 y = 1; y < SIDE - 1; y++)
            for (int32 x = 1; x < SIDE - 1; x++)
                now[y][x] = next[y][x];
    }
    temp_dst[cell] = now[REACH][REACH];
}
