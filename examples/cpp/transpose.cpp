/* Transposes a matrix on a stream of the CUDA runtime's, by the typed call. C++. */
#include <cstdio>
#include <cuda_runtime.h>
#include <cutune_ops.h>
#include <vector>

int main()
{
    const int64_t m = 1111, n = 113, sizes[] = { m, n };
    const std::size_t bytes = sizeof(float) * m * n;
    std::vector<float> in(m * n), out(m * n);
    for (std::size_t i = 0; i < in.size(); i++)
        in[i] = static_cast<float>(i);
    cudaStream_t stream;
    float *to, *from;
    if (cudaStreamCreate(&stream) || cudaMalloc(&to, bytes) || cudaMalloc(&from, bytes) ||
        cudaMemcpyAsync(from, in.data(), bytes, cudaMemcpyHostToDevice, stream))
        return std::fprintf(stderr, "CUDA failed\n"), 1;

    cutune *c;
    cutune_handle *h; /* for the runtime's own context, which is current after the calls above */
    const cutune_kernel *k;
    if (cutune_open(nullptr, &c) || cutune_attach_cuda(c, nullptr, &h) ||
        cutune_transpose(h, stream, "f32", to, from, m, n) || /* looks up and launches */
        cutune_lookup(h, "transpose", "f32", sizes, 2, &k))   /* a second time: what was launched */
        return std::fprintf(stderr, "%s\n", cutune_error()), 1;
    std::printf("%s %s: %s\n", cutune_kernel_variant(k), cutune_kernel_config(k), cutune_kernel_why(k));

    int wrong = cudaMemcpyAsync(out.data(), to, bytes, cudaMemcpyDeviceToHost, stream) || cudaStreamSynchronize(stream);
    for (int64_t i = 0; i < m * n; i++)
        wrong += out[i % n * m + i / n] != in[i];
    std::printf("%d wrong\n", wrong);
    cutune_close(c);
    return wrong != 0;
}
