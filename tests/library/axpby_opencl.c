/* Launches docs/examples/axpby on the first OpenCL device: scalars with an exported C file, and with no library. Prints how many are wrong. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

#include "axpby_ops.h"

enum { N = 1000 };
static float x[N], y[N], out[N];

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cutune *c;
    cutune_handle *h;
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(i % 7);
    }
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return fprintf(stderr, "no OpenCL device\n"), 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, NULL);
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof x, x, NULL);
    cl_mem and_from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof y, y, NULL);
    if (cutune_open(NULL, &c) || cutune_attach_opencl(c, queue, &h) ||
        cutune_axpby(h, queue, "f32", to, 0.5f, from, -2, and_from, N))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    wrong += clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) != CL_SUCCESS;
    for (int i = 0; i < N; i++)
        wrong += out[i] != 0.5f * x[i] - 2 * y[i];
    printf("%d wrong\n", wrong);
    cutune_close(c);
    return wrong != 0;
}
