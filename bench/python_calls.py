#!/usr/bin/env python3
"""What calls of the Python package cost the host on a GPU, beside the same launch in C, Triton and PyTorch, and that they leak nothing.

Usage: bench/python_calls.py [--calls 1000000]
Needs PyTorch with CUDA, the package, and a C compiler. The contenders take turns, 400 calls each, with the stream empty before; medians of
15 rounds, in nanoseconds. Then memory of device and host before and after so many calls."""
import argparse, ctypes, pathlib, statistics, subprocess, tempfile, timeit

import torch

import cutune

LOOP = """
#include <stdint.h>
#include <time.h>
int cutune_open(const char *path, void **out);
int cutune_attach_cuda(void *c, void *context, void **out);
int cutune_lookup(void *h, const char *op, const char *types, const int64_t *sizes, int nsizes, const void **out);
int cutune_launch(const void *k, void *stream, void *const *buffers, int nbuffers);
double loop(void *h, const int64_t *sizes, void *stream, void *const *buffers, int calls, int look)
{
    struct timespec a, b;
    const void *k;
    int bad = cutune_lookup(h, "transpose", "f32", sizes, 2, &k);
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; !bad && i < calls; i++)
        bad = (look ? cutune_lookup(h, "transpose", "f32", sizes, 2, &k) : 0) || cutune_launch(k, stream, buffers, 2);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return bad ? -1 : ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / calls;
}
"""
M, N, CALLS, ROUNDS = 64, 48, 400, 15


def launches_in_c(x, out):
    """Calls that time launches, without and with a look-up each."""
    folder = tempfile.mkdtemp()
    source, library = pathlib.Path(folder, "loop.c"), pathlib.Path(folder, "loop.so")
    source.write_text(LOOP)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    own = pathlib.Path(cutune.__file__).parent / "lib" / "libcutune.so.0"
    cutune_library = ctypes.CDLL(str(own) if own.exists() else "libcutune.so.0", mode=ctypes.RTLD_GLOBAL)
    loop = ctypes.CDLL(str(library)).loop
    loop.restype = ctypes.c_double
    c, h = ctypes.c_void_p(), ctypes.c_void_p()
    if cutune_library.cutune_open(None, ctypes.byref(c)) or cutune_library.cutune_attach_cuda(c, None, ctypes.byref(h)):
        raise SystemExit("libcutune cannot be opened")
    sizes, buffers = (ctypes.c_int64 * 2)(M, N), (ctypes.c_void_p * 2)(out.data_ptr(), x.data_ptr())
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return [lambda look=look: loop(h, sizes, stream, buffers, CALLS, look) for look in (0, 1)]


def timed(statement, **names):
    """A call that times the statement, in a loop of its own: a function around it would cost a twentieth of what is measured."""
    timer = timeit.Timer(statement, globals=names)
    timer.timeit(1)
    return lambda: timer.timeit(CALLS) / CALLS * 1e9


def triton_call(x, out):
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(to, of, m, n, B: tl.constexpr):
        row = tl.program_id(0) * B + tl.arange(0, B)
        column = tl.program_id(1) * B + tl.arange(0, B)
        inside = (row[:, None] < m) & (column[None, :] < n)
        tl.store(to + column[None, :] * m + row[:, None], tl.load(of + row[:, None] * n + column[None, :], mask=inside), mask=inside)

    return timed("kernel[2, 2](out, x, M, N, B=32)", kernel=kernel, out=out, x=x, M=M, N=N)


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000000)
    calls = parser.parse_args().calls
    x, out = torch.randn(M, N, device="cuda"), torch.empty(N, M, device="cuda")
    transpose = cutune.transpose
    transpose(x, out=out)
    launch, lookup_launch = launches_in_c(x, out)
    contenders = {
        "cutune_launch in C": launch,
        "cutune_lookup and cutune_launch in C": lookup_launch,
        "cutune.transpose(x, out=y)": timed("transpose(x, out=y)", transpose=transpose, x=x, y=out),
        "cutune.transpose(x)": timed("transpose(x)", transpose=transpose, x=x),
        "nothing, in such a loop": timed("pass"),
        "torch.empty": timed("empty(n, m, device='cuda')", empty=torch.empty, m=M, n=N),
        "y.copy_(x.t())": timed("y.copy_(x.t())", x=x, y=out),
    }
    try:
        contenders["Triton"] = triton_call(x, out)
    except ImportError:
        pass
    times = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            torch.cuda.synchronize()
            times[name].append(run())
    for name, all in times.items():
        print(f"{name:40}{statistics.median(all):8.0f} ns")
    over = statistics.median(p - c for p, c in zip(times["cutune.transpose(x, out=y)"], times["cutune_launch in C"]))
    print(f"of cutune.transpose(x, out=y) over the launch in C{over:8.0f} ns")
    torch.cuda.synchronize()
    device, host = torch.cuda.memory_allocated(), resident()
    for _ in range(calls // 2):
        transpose(x), transpose(x, out=out)
    torch.cuda.synchronize()
    print(f"{calls} calls: device memory {torch.cuda.memory_allocated() - device:+d} bytes, host {resident() - host:+d} KiB")


main()
