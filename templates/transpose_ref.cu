// out[j][i] = in[i][j], element by element of out.
KERNEL void transpose_ref(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n, int64 ldin,
                          int64 ldout, int64 batch)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < batch * m * n; place += (int64)gridDim.x * 256) {
        int64 i = place % m, row = place / m, j = row % n, matrix = row / n;
        out[row * ldout + i] = in[(matrix * m + i) * ldin + j];
    }
}
