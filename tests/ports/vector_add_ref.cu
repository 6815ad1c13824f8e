KERNEL void vector_add_ref(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, int32 n)
{
    int32 i = (int32)(blockIdx.x * 256 + threadIdx.x);
    if (i < n)
        c[i] = a[i] + b[i];
}
