/* Transposes a matrix on an OpenCL command queue with the fastest kernel that is known for it. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cutune.h>
#include <stdio.h>

enum { M = 1111, N = 113 };
static float in[M][N], out[N][M];

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    for (int i = 0; i < M * N; i++)
        in[i / N][i % N] = (float)i;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return fprintf(stderr, "no OpenCL device\n"), 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, NULL);
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof in, in, NULL);

    cutune *c;
    cutune_handle *h;
    const cutune_kernel *k;
    const int64_t sizes[] = { M, N }; /* of the op's axes, in its order: m, n */
    void *buffers[] = { to, from };   /* the op's, in its order: out, in */
    if (cutune_open(NULL, &c) || cutune_attach_opencl(c, queue, &h) || cutune_lookup(h, "transpose", "f32", sizes, 2, &k) ||
        cutune_launch(k, queue, buffers, 2))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    printf("%s %s: %s\n", cutune_kernel_variant(k), cutune_kernel_config(k), cutune_kernel_why(k));

    int wrong = clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) != CL_SUCCESS;
    for (int i = 0; i < M * N; i++)
        wrong += out[i % N][i / N] != in[i / N][i % N];
    printf("%d wrong\n", wrong);
    cutune_close(c);
    return wrong != 0;
}
