KERNEL void vector_add(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, int32 n)
{
    int32 i = (int32)(blockIdx.x * block_size_x + threadIdx.x);
    if (i < n)
        c[i] = a[i] + b[i];
}
