#!/usr/bin/env python3
"""Compares tuned kernels of the ops over rows with PyTorch: eager, torch.compile, and Helion where it can be imported.

Usage: bench/rows.py LIBRARY DATABASE [--ops softmax,rmsnorm,layernorm] [--dtypes f32,bf16] [--shapes 16384x1024,...] [--rounds 60]
LIBRARY is libcutune.so, or a C file of `cutune export --format c` built with cc -shared -fPIC; then DATABASE is "". All contenders
run in this process and take turns, each time with its inputs out of the L2 cache: before each sample a buffer of twice that cache is
read. Times are of device events around one call, medians over the rounds, in microseconds, and "of best" the paired ratio of
the fastest other's time to cutune's with its 95% interval: 1 in it is a tie; the launches are queued behind a kernel that
waits, so that no time of the host's is in them. The copy is the device's own of the same bytes. Every result is compared with
PyTorch's in double. torch.compile is the faster of its default and of max-autotune (without CUDA graphs, whose copies of the inputs
would count)."""
import argparse, ctypes, statistics, sys, time

import torch

from beside import Tuned, compiled, dtype_of, fresh_cache, measure, median

SIZES = "16384x1024,4096x8192,32768x333,128x100000"
MODES = ("default", "max-autotune-no-cudagraphs")
EPS = 1e-5
F = torch.nn.functional
OPS = {  # the call, and how many vectors of n come with x
    "softmax": (lambda x: torch.softmax(x, -1), 0),
    "rmsnorm": (lambda x, w: F.rms_norm(x, (x.shape[1],), w, EPS), 1),
    "layernorm": (lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b, EPS), 2),
}


try:  # at module level, since Helion takes no closures
    import helion
    import helion.language as hl
except ImportError:
    helion = None

HELION = {}
if helion:
    @helion.kernel(autotune_effort="quick", static_shapes=True)
    def whole_softmax(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile_m in hl.tile(x.size(0)):
            out[tile_m, :] = torch.softmax(x[tile_m, :], dim=1)
        return out

    @helion.kernel(autotune_effort="quick", static_shapes=True)
    def long_softmax(x: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        out = torch.empty_like(x)
        block_m, block_n = hl.register_block_size(m), hl.register_block_size(n)
        for tile_m in hl.tile(m, block_size=block_m):
            most = hl.full([tile_m], float("-inf"), dtype=torch.float32)
            total = hl.zeros([tile_m], dtype=torch.float32)
            for tile_n in hl.tile(n, block_size=block_n):
                values = x[tile_m, tile_n].to(torch.float32)
                new = torch.maximum(most, torch.amax(values, dim=1))
                total = total * torch.exp(most - new) + torch.exp(values - new[:, None]).sum(dim=1)
                most = new
            for tile_n in hl.tile(n, block_size=block_n):
                values = x[tile_m, tile_n].to(torch.float32)
                out[tile_m, tile_n] = (torch.exp(values - most[:, None]) / total[:, None]).to(out.dtype)
        return out

    @helion.kernel(autotune_effort="quick", static_shapes=True)
    def rmsnorm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        m, n = x.size()
        out = torch.empty_like(x)
        for tile_m in hl.tile(m):
            values = x[tile_m, :].to(torch.float32)
            scale = torch.rsqrt(torch.mean(values * values, dim=-1) + EPS)
            out[tile_m, :] = (values * scale[:, None] * w[:].to(torch.float32)).to(out.dtype)
        return out

    def softmax(x):  # rows that a block can hold are read once
        return (whole_softmax if x.shape[1] <= 16384 else long_softmax)(x)

    HELION = {"softmax": softmax, "rmsnorm": rmsnorm}


def share_wrong(got, want):
    """The largest error, in units of what f32 or the type itself allows."""
    allowed = max(2e-4, 4 * torch.finfo(got.dtype).eps) * (want.abs() + want.abs().mean())
    return ((got.double() - want).abs() / allowed).max().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library"), p.add_argument("database")
    p.add_argument("--ops", default="softmax,rmsnorm"), p.add_argument("--dtypes", default="f32,bf16")
    p.add_argument("--shapes", default=SIZES), p.add_argument("--rounds", type=int, default=60)
    p.add_argument("--helion", action="store_true", help="also Helion, which tunes for minutes")
    o = p.parse_args()
    tuned, of_helion = Tuned(o.library, o.database), HELION if o.helion else {}
    flush = fresh_cache()
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}; microseconds, medians of {o.rounds}, L2 cold")
    print(f'{"op":10}{"type":5}{"shape":>13}{"copy":>8}{"cutune":>8}{"eager":>8}{"compile":>8}{"Helion":>8}  of copy  of best{"":17}GB/s  kernel')
    failed = 0
    for op in o.ops.split(","):
        call, vectors = OPS[op]
        for dtype in o.dtypes.split(","):
            for shape in o.shapes.split(","):
                m, n = (int(v) for v in shape.split("x"))
                began = time.time()
                inputs = [torch.randn(m, n, device="cuda").to(dtype_of(dtype))]
                inputs += [torch.randn(n, device="cuda").to(dtype_of(dtype)) for _ in range(vectors)]
                want = call(*(t.double() for t in inputs))
                scalars = [ctypes.c_float(EPS)] if vectors else []
                launch, (variant, config, why) = tuned.call(op, dtype, (m, n), [torch.empty_like(inputs[0])] + inputs + scalars)
                target = torch.empty_like(inputs[0])
                contenders = {
                    "copy": lambda: target.copy_(inputs[0]),
                    "cutune": launch,
                    "eager": lambda: call(*inputs),
                    "compile": compiled([(call, inputs)], MODES),
                }
                if op in of_helion:
                    of_helion[op](*inputs)  # tunes
                    contenders["Helion"] = lambda: of_helion[op](*inputs)
                for name, f in contenders.items():
                    if name != "copy" and not share_wrong(f(), want) <= 1:
                        failed += 1
                        print(f"WRONG: {name} {op} {dtype} {shape}: {share_wrong(f(), want):.3g} times what is allowed")
                del want
                samples = measure(contenders, o.rounds, flush)
                t = {k: statistics.median(v) for k, v in samples.items()}
                best = min((k for k in t if k not in ("copy", "cutune")), key=t.get)
                ratio, low, high = median([b / c for b, c in zip(samples[best], samples["cutune"])])
                gb = (2 * m * n + vectors * n) * inputs[0].element_size() / t["cutune"] / 1e3
                columns = "".join(f"{t[k]:8.2f}" if k in t else f'{"-":>8}' for k in ("copy", "cutune", "eager", "compile", "Helion"))
                print(f'{op:10}{dtype:5}{shape:>13}{columns}{t["copy"] / t["cutune"]:9.3f}{ratio:9.3f} ({low:.3f} to {high:.3f}){gb:6.0f}'
                      f"  {variant} {config} ({why.split(':')[0]}; {time.time() - began:.0f} s)", flush=True)
                del inputs, target, contenders
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
