#!/usr/bin/env python3
"""Times cutune's tuned kernels of transpose, dot and gemm beside those of PyTorch (eager; torch.compile with max-autotune, whose
kernels are Triton's), Triton, CuPy with cuBLAS, CUB and Helion, as far as they are here. `cutune bench` has the peers that need no Python.

Usage: bench/peers.py LIBRARY DATABASE --op transpose [--dtype f32 ...] [--shape m=8192,n=8192 ...] [--json]
LIBRARY is libcutune.so, or a C file of `cutune export --format c` built with cc -shared -fPIC; then DATABASE is "". Without --dtype and
--shape it takes those of peers.txt.

All run in one process, on one stream, on the same buffers, and in turns: once with a cold L2, twice its size being read before each
sample, and once with a warm one. Times are of device events around one call, medians over the rounds, with the 95% interval of the ratio
to cutune's, round by round; it is a tie if 1 lies within. Each result is checked before: a transpose must be the same; a dot product of
small whole numbers, too; a matrix product is compared with one in f64. The copy is the device's own of the same bytes."""
import argparse, ctypes, json, logging, math, os, subprocess, sys, tempfile, traceback

from beside import Tuned, compiled, dtype_of, fastest, fresh_cache, measure, median, need_torch, problems, torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None
try:
    import cupy
    from cupy.cuda.device import get_cublas_handle
    from cupy_backends.cuda.libs import cublas
except ImportError:
    cupy = None
try:
    import helion
    import helion.language as hl
except ImportError:
    helion = None

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.txt")
AXES = {"transpose": "mn", "dot": "n", "gemm": "mnk"}
HELION = {}

if triton:
    @triton.jit
    def transpose_tile(out, x, m, n, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
        across = tl.cdiv(n, WIDTH)
        i = (tl.program_id(0) // across).to(tl.int64) * HEIGHT + tl.arange(0, HEIGHT)
        j = (tl.program_id(0) % across).to(tl.int64) * WIDTH + tl.arange(0, WIDTH)
        inside = (i < m)[:, None] & (j < n)[None, :]
        values = tl.load(x + i[:, None] * n + j[None, :], mask=inside)
        tl.store(out + j[:, None] * m + i[None, :], tl.trans(values), mask=tl.trans(inside))

if helion:  # at module level, since it takes no closures
    @helion.kernel(autotune_effort="quick", static_shapes=True)
    def helion_transpose(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        out = torch.empty([n, m], dtype=x.dtype, device=x.device)
        for tile_m, tile_n in hl.tile([m, n]):
            out[tile_n, tile_m] = x[tile_m, tile_n].transpose(0, 1)
        return out

    @helion.kernel(autotune_effort="quick", static_shapes=True, dot_precision="ieee")
    def helion_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        m, k = a.size()
        _, n = b.size()
        out = torch.empty([m, n], dtype=a.dtype, device=a.device)
        for tile_m, tile_n in hl.tile([m, n]):
            sums = hl.zeros([tile_m, tile_n], dtype=torch.float32)
            for tile_k in hl.tile(k):
                sums = torch.addmm(sums, a[tile_m, tile_k], b[tile_k, tile_n])
            out[tile_m, tile_n] = sums.to(out.dtype)
        return out

    HELION = {"transpose": helion_transpose, "gemm": helion_gemm}

CUB = r"""
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

template <class N> struct product {
    const ELEMENT *x, *y;
    __host__ __device__ SUM operator()(N i) const { return (SUM)x[i] * (SUM)y[i]; }
};
struct plus {
    __host__ __device__ SUM operator()(SUM a, SUM b) const { return a + b; }
};
template <class N> static int reduce(void *work, size_t *bytes, SUM *out, const ELEMENT *x, const ELEMENT *y, N n, cudaStream_t stream)
{
    auto products = thrust::make_transform_iterator(thrust::make_counting_iterator(N(0)), product<N>{x, y});
    return (int)cub::DeviceReduce::Reduce(work, *bytes, products, out, n, plus(), SUM(0), stream);
}
extern "C" int cub_dot(void *work, size_t *bytes, void *out, const void *x, const void *y, long long n, void *stream)
{
    if (n < 1LL << 31)
        return reduce(work, bytes, (SUM *)out, (const ELEMENT *)x, (const ELEMENT *)y, (int)n, (cudaStream_t)stream);
    return reduce(work, bytes, (SUM *)out, (const ELEMENT *)x, (const ELEMENT *)y, n, (cudaStream_t)stream);
}
"""
C_TYPES = {"f32": ("float", "float"), "f64": ("double", "double"), "f16": ("__half", "float"), "bf16": ("__nv_bfloat16", "float"),
           "i32": ("int", "int")}


class Cub:
    """Its reduction over a product iterator, compiled for each type while other things are done."""

    def __init__(self, folder, dtypes):
        self.folder, self.building = folder, {}
        with open(os.path.join(folder, "dot.cu"), "w") as f:
            f.write(CUB)
        cc = "sm_%d%d" % torch.cuda.get_device_capability()
        for dtype in dtypes:
            names = [f"-D{k}={v}" for k, v in zip(("ELEMENT", "SUM"), C_TYPES[dtype])]
            command = ["nvcc", "-O3", "-std=c++17", "-arch", cc, "-shared", "-Xcompiler", "-fPIC", *names, f.name, "-o", self.path(dtype)]
            try:
                self.building[dtype] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            except OSError:
                pass  # no nvcc

    def path(self, dtype):
        return os.path.join(self.folder, f"dot-{dtype}.so")

    def call(self, dtype, x, y):
        if dtype not in self.building:
            raise NotImplementedError("no nvcc is here")
        said = self.building[dtype].communicate()[1] if self.building[dtype].returncode is None else ""
        if self.building[dtype].returncode:
            raise RuntimeError("nvcc: " + (said.strip().splitlines() or ["it failed"])[0])
        f, bytes = ctypes.CDLL(self.path(dtype)).cub_dot, ctypes.c_size_t()
        out = torch.empty((), device="cuda", dtype={"f64": torch.float64, "i32": torch.int32}.get(dtype, torch.float32))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        rest = [ctypes.byref(bytes)] + [ctypes.c_void_p(t.data_ptr()) for t in (out, x, y)] + [ctypes.c_longlong(x.numel()), stream]
        f(None, *rest)
        work = torch.empty(max(bytes.value, 1), device="cuda", dtype=torch.uint8)
        at = ctypes.c_void_p(work.data_ptr())

        def run(keep=work):
            if f(at, *rest):
                raise RuntimeError("it failed")
            return out

        return run


def max_autotuned(*forms):
    return compiled(forms, ["max-autotune-no-cudagraphs"])


def numbers(dtype, *shape):
    if dtype.startswith("i"):
        return torch.randint(-100, 100, shape, device="cuda", dtype=dtype_of(dtype))
    wide = {"f64": torch.float64, "c128": torch.complex128, "c64": torch.complex64}.get(dtype, torch.float32)
    return torch.randn(shape, device="cuda", dtype=wide).to(dtype_of(dtype))


# Each op: what cutune is asked and given; output and inputs; bytes and operations; whether a result is right; how each contender is made.

def transpose(o, dtype, sizes):
    m, n = sizes
    x, out = numbers(dtype, m, n), torch.empty(n, m, device="cuda", dtype=dtype_of(dtype))

    def tiles():
        def call(height, width, warps):
            grid = (triton.cdiv(m, height) * triton.cdiv(n, width),)
            return lambda: transpose_tile[grid](out, x, m, n, height, width, num_warps=warps) and out
        sides = [(h, w) for h in (16, 32, 64, 128) for w in (16, 32, 64, 128) if 1024 <= h * w <= 8192]
        return fastest([call(h, w, warps) for h, w in sides for warps in (4, 8)])

    def geam():
        into, of = cupy.from_dlpack(out), cupy.from_dlpack(x)
        call = getattr(cublas, {"f32": "sgeam", "f64": "dgeam", "c64": "cgeam", "c128": "zgeam"}[dtype])
        handle, numbers = get_cublas_handle(), [cupy.array(v, dtype=of.dtype).get() for v in (1, 0)]
        one, none = (v.ctypes.data for v in numbers)

        def run(keep=(into, of, numbers)):
            call(handle, 1, 0, m, n, one, of.data.ptr, n, none, into.data.ptr, m, into.data.ptr, m)
            return out

        return run

    def cupy_copy():
        into, of = cupy.from_dlpack(out), cupy.from_dlpack(x)
        return lambda: cupy.copyto(into, of.T) or out

    contenders = {
        "torch eager": lambda: lambda: out.copy_(x.t()),
        "torch.compile": lambda: max_autotuned((lambda out, x: out.copy_(x.t()), (out, x)), (lambda x: x.t().contiguous(), (x,))),
        "cupy": cupy_copy,
    }
    if dtype in ("f32", "f64", "c64", "c128"):
        contenders["cublas geam"] = geam
    if triton and dtype not in ("c64", "c128"):
        contenders["triton tile"] = tiles
    return (sizes, [out, x]), [out, x], 2 * x.nbytes, 0, lambda got: torch.equal(got, x.t()), contenders


def dot(o, dtype, sizes):
    wide = {"f64": torch.float64, "i32": torch.int32}.get(dtype, torch.float32)
    x, y = (torch.randint(-3, 4, sizes, device="cuda", dtype=torch.int8).to(dtype_of(dtype)) for _ in range(2))
    out = torch.empty((), device="cuda", dtype=dtype_of(dtype))
    want = sum((a.double() * b.double()).sum().item() for a, b in zip(x.split(1 << 26), y.split(1 << 26)))

    def right(got):
        off = 0 if got.dtype not in (torch.float16, torch.bfloat16) else torch.finfo(got.dtype).eps
        return abs(got.double().item() - want) <= off * abs(want) or off and math.isinf(got.item()) and abs(want) >= 65504

    contenders = {
        "torch eager": lambda: lambda: torch.dot(x, y, out=out),
        "torch.compile": lambda: max_autotuned((lambda x, y: torch.sum(x.to(wide) * y.to(wide)).to(x.dtype), (x, y))),
        "cub": lambda: o.cub.call(dtype, x, y),
    }
    return (sizes, [out, x, y]), [out, x, y], 2 * x.nbytes, 2 * x.numel(), right, contenders


def gemm(o, dtype, sizes):
    m, n, k = sizes
    a, b = numbers(dtype, m, k), numbers(dtype, k, n)
    out = torch.empty(m, n, device="cuda", dtype=dtype_of(dtype))
    want = a.double() @ b.double()
    share = max(torch.finfo(out.dtype).eps, 16 * math.sqrt(k) * torch.finfo(torch.float64 if dtype == "f64" else torch.float32).eps)

    def right(got):
        return bool(((got.double() - want).abs() <= share * (want.abs() + want.abs().mean())).all())

    def cupy_product():
        into, x, y = (cupy.from_dlpack(t) for t in (out, a, b))
        return lambda: cupy.matmul(x, y, out=into) is not None and out

    contenders = {
        "torch eager": lambda: lambda: torch.mm(a, b, out=out),
        "torch.compile": lambda: max_autotuned((torch.mm, (a, b))),
    }
    if dtype != "bf16":  # NumPy has none
        contenders["cupy"] = cupy_product
    number = ctypes.c_double if dtype == "f64" else ctypes.c_float
    asked = [m, n, k, 0, 0, k, n, n, 1], [out, number(1), a, b, number(0)]  # not transposed, packed, one matrix; alpha and beta
    return asked, [out, a, b], a.nbytes + b.nbytes + out.nbytes, 2 * m * n * k, right, contenders


OPS = {"transpose": transpose, "dot": dot, "gemm": gemm}


def ready(o, op, make, right):
    """A contender that is checked: its call, outcome and reason."""
    try:
        call = make()
        got = call()
        torch.cuda.synchronize()
        return (call, "ok", "") if right(got) else (None, "wrong", "")
    except Exception as e:  # whatever it is, it costs this contender only
        if o.trace:
            traceback.print_exc()
        return None, "failed", f"{type(e).__name__}: {e}".strip().splitlines()[0][:200]


def compare(o, op, dtype, sizes):
    """Rows as those of `cutune bench --json`."""
    asked, buffers, moved, flops, right, makers = OPS[op](o, dtype, sizes)
    found = []

    def tuned():
        launch, told = o.tuned.call(op, dtype, *asked)
        found.extend(told)
        return launch

    target = torch.empty_like(buffers[1])
    makers = {"tuned": tuned, "copy": lambda: lambda: target.copy_(buffers[1]), **makers}
    if op != "transpose":  # a copy of half the bytes moves as many as the op
        target = torch.empty(moved // 2, device="cuda", dtype=torch.uint8)
        source = torch.empty_like(target)
        makers["copy"] = lambda: lambda: target.copy_(source)
    if o.helion and op in HELION:
        makers["helion"] = lambda: lambda: HELION[op](*buffers[1:])
    players = {}
    for name, make in makers.items():
        if not o.only or name in o.only or name in ("tuned", "copy"):
            buffers[0].zero_()
            players[name] = ready(o, op, make, right if name != "copy" else lambda got: True)
    calls = {name: call for name, (call, outcome, _) in players.items() if outcome == "ok"}
    caches = {"cold": measure(calls, o.rounds, o.flush), "warm": measure(calls, o.rounds)}
    base = next(name for name in players if name in calls)
    for name, (call, outcome, reason) in players.items():
        row = {"op": op, "dtype": dtype, "problem": dict(zip(AXES[op], sizes)), "name": name, "base": base, "outcome": outcome,
               "reason": reason, "detail": f"{found[0]} {found[1]} ({found[2].split(':')[0]})" if name == "tuned" and found else ""}
        for cache, samples in caches.items() if call else ():
            us, low, high = median(samples[name])
            row |= {f"{cache}_ns": us * 1e3, f"{cache}_low_ns": low * 1e3, f"{cache}_high_ns": high * 1e3, f"{cache}_gb_per_s": moved / us / 1e3}
            if flops and name != "copy":
                row[f"{cache}_gflop_per_s"] = flops / us / 1e3
            if name != base:
                ratio, low, high = median([a / b for a, b in zip(samples[name], samples[base])])
                row |= {f"{cache}_ratio": ratio, f"{cache}_ratio_low": low, f"{cache}_ratio_high": high, f"{cache}_tie": low <= 1 <= high}
        yield row


def cell(row, cache):
    if cache + "_ratio" not in row:
        return ""
    return "tie" if row[cache + "_tie"] else "{:.3f} ({:.3f} to {:.3f})".format(*(row[cache + w] for w in ("_ratio", "_ratio_low", "_ratio_high")))


def show(rows):
    first = rows[0]
    print(f"{first['op']} {first['dtype']} {','.join(f'{k}={v}' for k, v in first['problem'].items())}; ratio: time relative to {first['base']}")
    print(f"{'':15}{'L2 cold':>10}{'GB/s':>7}{'GFLOP/s':>9}  {'ratio (95%)':24}{'L2 warm':>10}  ratio (95%)")
    for row in rows:
        if row["outcome"] == "ok":
            print(f"{row['name']:15}{row['cold_ns'] / 1e3:7.2f} us{row['cold_gb_per_s']:7.0f}{row.get('cold_gflop_per_s', 0):9.0f}  "
                  f"{cell(row, 'cold'):24}{row['warm_ns'] / 1e3:7.2f} us  {cell(row, 'warm')} {row['detail']}")
        else:
            print(f"{row['name']:15}{row['outcome']}: {row['reason']}")
    print(flush=True)


def sizes_of(op, text):
    """m=4096,n=1024 or 4096x1024"""
    given = text.replace(",", "x").split("x")
    sizes = [int(float(word.split("=")[-1])) for word in given]
    names = [word.split("=")[0] for word in given if "=" in word]
    if len(sizes) != len(AXES[op]) or names and names != list(AXES[op]):
        raise SystemExit(f"--shape {text}: {op} takes {','.join(a + '=...' for a in AXES[op])}")
    return sizes


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("library"), p.add_argument("database")
    p.add_argument("--op", required=True, choices=OPS)
    p.add_argument("--dtype", action="append"), p.add_argument("--shape", action="append")
    p.add_argument("--rounds", type=int, default=30)
    p.add_argument("--only", action="append", help="beside cutune and the copy just this contender; may be given again")
    p.add_argument("--helion", action="store_true", help="also Helion, which tunes each problem for a minute")
    p.add_argument("--json", action="store_true", help="rows like those of `cutune bench --json`")
    p.add_argument("--trace", action="store_true", help="where contenders fail")
    o = p.parse_args()
    listed = [p for p in problems(LIST) if p[0] == o.op]
    dtypes = o.dtype or list(dict.fromkeys(p[1] for p in listed))
    shapes = [sizes_of(o.op, s) for s in o.shape or dict.fromkeys(p[2] for p in listed)]
    need_torch()
    if not o.trace:
        logging.disable(logging.ERROR)  # of what max-autotune tried in vain
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    o.tuned, o.flush, rows = Tuned(o.library, o.database), fresh_cache(), []
    with tempfile.TemporaryDirectory() as folder:
        if o.op == "dot" and (not o.only or "cub" in o.only):
            o.cub = Cub(folder, [t for t in dtypes if t in C_TYPES])
        for dtype in dtypes:
            for sizes in shapes:
                try:
                    these = list(compare(o, o.op, dtype, sizes))
                except torch.cuda.OutOfMemoryError:
                    print(f"{o.op} {dtype} {sizes}: it does not fit into the memory", file=sys.stderr)
                    continue
                rows += these
                show(these) if not o.json else print(f"{o.op} {dtype} {sizes}", file=sys.stderr)
    if o.json:
        print(json.dumps(rows, indent=1))
    return any(row["outcome"] == "wrong" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
