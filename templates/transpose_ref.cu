// out[j][i] = in[i][j]: one element of out a thread.
KERNEL void transpose_ref(GLOBAL T_bits *__restrict__ out, GLOBAL const T_bits *__restrict__ in, int64 m, int64 n)
{
    int64 place = (int64)blockIdx.x * 256 + threadIdx.x;
    if (place < m * n)
        out[place] = in[place % m * n + place / m];
}
