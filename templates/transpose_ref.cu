// out[j][i] = in[i][j], element by element of out.
KERNEL void transpose_ref(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < m * n; place += (int64)gridDim.x * 256)
        out[place] = in[place % m * n + place / m];
}
