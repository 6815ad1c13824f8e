// out = a * the cell + b * the sum of its four neighbours in the plane + c * that of the two above and below it, in double where the device
// has it. Cells at the border stay as they are.
#if defined(BACKEND_CUDA) || defined(cl_khr_fp64)
typedef double sum_type;
#else
typedef float sum_type;
#endif

KERNEL void stencil_ref(GLOBAL T *__restrict__ out, GLOBAL const T *__restrict__ in, T a, T b, T c, int64 nz, int64 ny, int64 nx)
{
    for (int64 i = (int64)blockIdx.x * 256 + threadIdx.x; i < nz * ny * nx; i += (int64)gridDim.x * 256) {
        int64 x = i % nx, y = i / nx % ny, z = i / nx / ny;
        bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1;
        sum_type plane = 0, other = 0;
        if (inner) {
            plane = (sum_type)in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx];
            other = (sum_type)in[i - nx * ny] + in[i + nx * ny];
        }
        out[i] = inner ? (T)((sum_type)a * in[i] + b * plane + c * other) : in[i];
    }
}
