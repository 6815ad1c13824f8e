/* Transposes a matrix on a CUDA stream with the fastest kernel that is known for it. C and CUDA's driver interface. */
#include <cuda.h>
#include <cutune.h>
#include <stdio.h>

enum { M = 1111, N = 113 };
static float in[M][N], out[N][M];

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUdeviceptr to, from;
    for (int i = 0; i < M * N; i++)
        in[i / N][i % N] = (float)i;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
        cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) || cuMemAlloc(&to, sizeof out) || cuMemAlloc(&from, sizeof in) ||
        cuMemcpyHtoDAsync(from, in, sizeof in, stream))
        return fprintf(stderr, "CUDA failed\n"), 1;

    cutune *c;
    cutune_handle *h;
    const cutune_kernel *k;
    const int64_t sizes[] = { M, N };               /* of the op's axes, in its order: m, n */
    void *buffers[] = { (void *)to, (void *)from }; /* the op's, in its order: out, in */
    if (cutune_open(NULL, &c) || cutune_attach_cuda(c, context, &h) || cutune_lookup(h, "transpose", "f32", sizes, 2, &k) ||
        cutune_launch(k, stream, buffers, 2))
        return fprintf(stderr, "%s\n", cutune_error()), 1;
    printf("%s %s: %s\n", cutune_kernel_variant(k), cutune_kernel_config(k), cutune_kernel_why(k));

    int wrong = cuMemcpyDtoHAsync(out, to, sizeof out, stream) || cuStreamSynchronize(stream);
    for (int i = 0; i < M * N; i++)
        wrong += out[i % N][i / N] != in[i / N][i % N];
    printf("%d wrong\n", wrong);
    cutune_close(c);
    return wrong != 0;
}
