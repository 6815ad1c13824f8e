// Swaps a[i][j] and a[j][i], a pair at a time.
KERNEL void transpose_inplace_ref(GLOBAL T_bits *a, int64 n, int64 ld, int64 batch)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < batch * n * n; place += (int64)gridDim.x * 256) {
        int64 j = place % n, row = place / n, i = row % n, matrix = row / n;
        if (j > i) {
            GLOBAL T_bits *above = a + row * ld + j, *below = a + (matrix * n + j) * ld + i;
            T_bits v = *above;
            *above = *below;
            *below = v;
        }
    }
}
