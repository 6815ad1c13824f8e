"""What cutune asks of array libraries beside DLPack: new arrays, the current stream, and their own ways to trace a program.

One helper for each library; the native module asks `of` for it when it first sees a type."""

import sys

from ._native import InvalidError

_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NUMPY = {
    "f32": "float32", "f64": "float64", "f16": "float16", "c64": "complex64", "c128": "complex128", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}


class _Helper:
    tensors = False  # its arrays are PyTorch's: `asked` and the like are there, too
    interface = False  # `describe` reads them, in place of DLPack

    def stands(self, type):
        """Whether arrays of this type may stand for others, which have the data."""
        return False

    def attached(self, device):
        """A context manager in which the device's context is current."""
        raise NotImplementedError

    def describe(self, x, op, name):
        return _describe(x, op, name)


def _describe(x, op, name):
    cuda = getattr(x, "__cuda_array_interface__", None)
    told = cuda or getattr(x, "__array_interface__", None)
    try:
        read = _read(x, told, bool(cuda))
    except (KeyError, ValueError, AttributeError, IndexError, TypeError) as error:
        raise TypeError(f"{op}: the array interface of {name} is malformed: {type(error).__name__} {error}") from None
    if read is None:
        raise InvalidError(f"{op}: {name} is of {' '.join(told['typestr'].split())}, which no op takes")
    return read


def _device_of(x, at):
    """Which CUDA device an array is on: as its library says, else as the driver does."""
    device = getattr(getattr(x, "device", None), "id", None)
    if isinstance(device, int) or at == 0:
        return device or 0
    import ctypes

    found = ctypes.c_int()
    ordinal = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    try:
        failed = ctypes.CDLL("libcuda.so.1").cuPointerGetAttribute(ctypes.byref(found), ordinal, ctypes.c_uint64(at))
    except OSError:
        failed = True
    if failed:
        raise ValueError("data, which is on no CUDA device")
    return found.value


def _read(x, told, cuda):
    """As array.c takes it; None for a type that no op takes."""
    kind, digits = told["typestr"][1], told["typestr"][2:]
    if told["typestr"][0] == ">" or kind not in _CODES or not digits.isdigit():
        return None
    size = int(digits)
    if size == 0:
        raise ValueError("typestr")
    if size >= 32:
        return None
    shape = tuple(told["shape"])
    strides = told.get("strides")
    if strides is None:
        strides, by = [], size
        for n in reversed(shape):
            strides.insert(0, by)
            by *= n
    if len(strides) != len(shape) or not all(isinstance(n, int) and abs(n) < 2**62 for n in (*shape, *strides)):
        raise ValueError("shape and strides")
    elements = tuple(s // size if s % size == 0 else 0 for s in strides)
    at, read_only = told["data"]
    if not isinstance(at, int) or not 0 <= at < 2**64:
        raise ValueError("data")
    return at, 2 if cuda else 1, _device_of(x, at) if cuda else 0, _CODES[kind], size * 8, bool(read_only), shape, elements, x


class _NumPy(_Helper):
    interface = True

    def empty(self, shape, dtype, kind, device):
        import numpy

        if dtype not in _NUMPY:
            raise TypeError(f"NumPy has no type for {dtype}")
        x = numpy.empty(shape, _NUMPY[dtype])
        return x, x.ctypes.data


class _CuPy(_Helper):
    interface = False

    def __init__(self):
        import cupy

        self.cupy = cupy
        self.current = cupy.cuda.get_current_stream

    def empty(self, shape, dtype, kind, device):
        if dtype not in _NUMPY:
            raise TypeError(f"CuPy has no type for {dtype}")
        with self.cupy.cuda.Device(device):
            x = self.cupy.empty(shape, _NUMPY[dtype])
        return x, x.data.ptr

    def stream(self, device):
        return self.current(device).ptr

    def attached(self, device):
        return self.cupy.cuda.Device(device)


class _Torch(_Helper):
    tensors = True

    def __init__(self):
        import torch
        from torch.autograd import forward_ad, graph

        from . import _torch

        def written(tensors):
            for tensor in tensors:
                graph.increment_version(tensor)

        try:
            torch._C._increment_version(())
            written = torch._C._increment_version
        except (AttributeError, RuntimeError, TypeError):  # an older one takes a single tensor
            pass
        self.asked = torch.Tensor.requires_grad, torch._C._len_torch_dispatch_stack, vars(forward_ad), written  # tensor.c
        self.forward_ad = forward_ad
        self.torch = torch
        self.dtypes = _torch.DTYPES
        import cutune

        for function in list(cutune._named.values()):  # from before torch was imported
            cutune._trace(function)

    def stands(self, type):
        return type not in (self.torch.Tensor, self.torch.nn.Parameter)

    def grad_enabled(self):
        return self.torch.is_grad_enabled()

    def has_tangent(self, x):
        try:
            return self.forward_ad.unpack_dual(x).tangent is not None
        except RuntimeError:  # of ops that write to their arguments it cannot be asked within PyTorch's dispatcher: _torch.py does before
            return False

    def empty(self, shape, dtype, kind, device):
        x = self.torch.empty(shape, dtype=self.dtypes[dtype], device="cpu" if kind == 1 else f"cuda:{device}")
        return x, x.data_ptr()

    def stream(self, device):
        return self.torch.cuda.current_stream(device).cuda_stream

    def attached(self, device):
        return self.torch.cuda.device(device)

    def traced(self, function, args, kwargs):
        """A call that PyTorch is to see: by its dispatcher."""
        from . import _torch

        return _torch.dispatch(function, args, kwargs)


class _Other(_Helper):
    """Any library with DLPack, or with one of the two array interfaces."""

    def __init__(self, type):
        self.interface = not hasattr(type, "__dlpack__")

    def empty(self, shape, dtype, kind, device):
        raise TypeError("cutune makes outputs with NumPy, CuPy and PyTorch only: pass the output by name")

    def stream(self, device):
        raise TypeError("cutune knows the current stream of CuPy and PyTorch only: pass stream=")

    def attached(self, device):
        raise TypeError("cutune attaches to a CUDA device through CuPy or PyTorch: call it once with an array of one of these")


_made = {}
_MAKERS = {"torch": ("Tensor", _Torch), "cupy": ("ndarray", _CuPy), "numpy": ("ndarray", _NumPy)}


def _is(type, library, name):
    return issubclass(type, getattr(sys.modules.get(library), name, ()))


def of(type, op, name):
    """The helper for arrays of this type, which the op's argument `name` is of."""
    if _is(type, "numpy.ma", "MaskedArray"):
        raise TypeError(f"{op}: {name} is a {type.__name__}, whose mask no op knows: pass {name}.filled(...)")
    for library, (arrays, maker) in _MAKERS.items():
        if _is(type, library, arrays):
            if library not in _made:
                _made[library] = maker()
            return _made[library]
    if not any(hasattr(type, way) for way in ("__dlpack__", "__cuda_array_interface__", "__array_interface__")):
        raise TypeError(f"{op}: {name} is a {type.__name__}, not an array with DLPack or an array interface")
    return _Other(type)
