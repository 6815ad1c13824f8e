"""What benches share: lists of problems; cutune's calls in PyTorch's process, how contenders are timed, and what is made of the times."""
import ctypes, math, statistics, sys

try:
    import torch
except ImportError:  # a bench can still say what it is
    torch = None

TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16", "i32": "int32",
         "i64": "int64", "c64": "complex64", "c128": "complex128"}


def problems(path):
    """(op, type, "m=64,n=64") of a list such as tables.txt, in its order."""
    for number, line in enumerate(open(path), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 4:
            sys.exit(f"{path}:{number}: a line is: op, types, axes, and problems such as 64x64")
        op, types, axes, *shapes = words
        axes = axes.split(",")
        for dtype in types.split(","):
            for sizes in (shape.split("x") for shape in shapes):
                if len(sizes) != len(axes):
                    sys.exit(f"{path}:{number}: {'x'.join(sizes)} has not the axes {','.join(axes)}")
                yield op, dtype, ",".join(f"{a}={s}" for a, s in zip(axes, sizes))


def dtype_of(name):
    if name not in TYPES:
        sys.exit(f"'{name}' is none of the types {', '.join(TYPES)}")
    return getattr(torch, TYPES[name])


def need_torch():
    if torch is None or not torch.cuda.is_available():
        sys.exit("this takes PyTorch and a GPU that it can use")


class Tuned:
    """cutune's calls, on PyTorch's context."""

    def __init__(self, library, database):
        self.lib = ctypes.CDLL(library)
        self.lib.cutune_error.restype = ctypes.c_char_p
        for name in ("variant", "config", "why"):
            getattr(self.lib, "cutune_kernel_" + name).restype = ctypes.c_char_p
        torch.zeros(1, device="cuda")
        context = ctypes.c_void_p()
        ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context))
        self.cutune, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.cutune_open(database.encode() if database else None, ctypes.byref(self.cutune)))
        self.check(self.lib.cutune_attach_cuda(self.cutune, context, ctypes.byref(self.handle)))

    def check(self, code):
        if code:
            raise RuntimeError("cutune: " + self.lib.cutune_error().decode())

    def call(self, op, dtype, sizes, arguments):
        """A function that launches with these: tensors, and scalars of ctypes; and what was found."""
        kernel = ctypes.c_void_p()
        self.check(self.lib.cutune_lookup(self.handle, op.encode(), dtype.encode(), (ctypes.c_int64 * len(sizes))(*sizes), len(sizes),
                                          ctypes.byref(kernel)))
        entries = [a.data_ptr() if isinstance(a, torch.Tensor) else ctypes.addressof(a) for a in arguments]
        array = (ctypes.c_void_p * len(entries))(*entries)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        found = [getattr(self.lib, "cutune_kernel_" + name)(kernel).decode() for name in ("variant", "config", "why")]

        def launch():
            self.check(self.lib.cutune_launch(kernel, stream, array, len(entries)))
            return arguments[0]

        return launch, found


def fresh_cache():
    """A function that reads twice the L2 cache."""
    lines = torch.ones(torch.cuda.get_device_properties(0).L2_cache_size // 2, device="cuda", dtype=torch.float32)
    total = torch.zeros((), device="cuda")
    return lambda: torch.sum(lines, dim=0, out=total)


def sample(call, before=None):
    """Microseconds of one call. It is queued behind a kernel that waits, so no time of the host's is in them."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(500000)
    if before:
        before()
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


def measure(contenders, rounds, before=None):
    """The samples of each, taken in turns, `before` each sample what makes the cache cold; two rounds warm up."""
    names = list(contenders)
    samples = {name: [] for name in names}
    for i in range(rounds + 2):
        names.append(names.pop(0))  # each is the first of a round in its turn
        for name in names:
            call = contenders[name]
            if not before:
                call()  # its data into the cache
            us = sample(call, before)
            if i > 1:
                samples[name].append(us)
    return samples


def fastest(calls):
    """Of calls that do the same, by a few samples with the cache cold."""
    samples = measure(dict(enumerate(calls)), 5, fresh_cache())
    return calls[min(samples, key=lambda i: min(samples[i]))]


def compiled(forms, modes):
    """The fastest of torch.compile's modes, for several ways to write the same: (function, inputs)."""
    calls = []
    for call, inputs in forms:
        for mode in modes:
            torch._dynamo.reset()
            f = torch.compile(call, mode=mode, dynamic=False)
            f(*inputs)
            calls.append(lambda f=f, inputs=inputs: f(*inputs))
    return fastest(calls)


def median(values):
    """With its 95% interval: by ranks, since so many of n samples lie below the true median as a binomial says. As `cutune bench` does."""
    values, n = sorted(values), len(values)
    below, k = 0.0, 0
    while k < n // 2:
        below += math.comb(n, k) / 2**n
        if below > 0.025:
            break
        k += 1
    k = max(k - 1, 0)
    return statistics.median(values), values[k], values[n - 1 - k]
