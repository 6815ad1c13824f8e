// out[y][x] = the sum over i and j of in[y + i][x + j] * filter[i][j], in double where the device has it.
#if defined(BACKEND_CUDA) || defined(cl_khr_fp64)
typedef double sum_type;
#else
typedef float sum_type;
#endif

KERNEL void convolution_ref(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, GLOBAL const T *__restrict__ filter, int64 h,
                            int64 w, int64 fh, int64 fw)
{
    for (int64 place = (int64)blockIdx.x * 256 + threadIdx.x; place < h * w; place += (int64)gridDim.x * 256) {
        GLOBAL const T *from = in + place / w * (w + fw - 1) + place % w;
        sum_type sum = 0;
        for (int64 i = 0; i < fh; i++)
            for (int64 j = 0; j < fw; j++)
                sum += (sum_type)from[i * (w + fw - 1) + j] * (sum_type)filter[i * fw + j];
        out[place] = (T)sum;
    }
}
