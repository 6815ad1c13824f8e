"""Ops as torch custom ops, `torch.ops.cutune.NAME`, for what traces: torch.compile, fake tensors, make_fx; and for subclasses.

Plain tensors come here only while something traces them: else the native module launches for them directly."""

import torch
from torch.autograd import forward_ad

import cutune

_TYPES = {"f32", "f64", "f16", "bf16"}
_WHOLE = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}
_NAMES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.complex64: "c64",
    torch.complex128: "c128", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8",
}
for _torch_name, _name in (("uint16", "u16"), ("uint32", "u32"), ("uint64", "u64"), ("float8_e4m3fn", "f8e4m3"), ("float8_e5m2", "f8e5m2")):
    if hasattr(torch, _torch_name):
        _NAMES[getattr(torch, _torch_name)] = _name
DTYPES = {name: dtype for dtype, name in _NAMES.items()}

_calls = {}  # by op
_taken = set()


def _form(x):
    if not isinstance(x, torch.Tensor):
        return x
    return _NAMES.get(x.dtype, str(x.dtype)), tuple(int(n) for n in x.shape), tuple(int(n) for n in x.stride())


def _scalar(type):
    return "float" if type in _TYPES else "int" if type in _WHOLE else "Scalar"


def register(function):
    """Makes a function of cutune's known to torch. Returns what calls it through torch's dispatcher."""
    op = function.__self__
    with cutune._lock:
        if op not in _calls:
            _calls[op] = _make(function, op)
        return _calls[op]


def _make(function, op):
    told = op.describe()
    args, axes = told["args"], [a["parameter"] for a in told["axes"] if a["parameter"]]
    positional = [a for a in args if a["kind"] != "output"]
    outputs = [a["parameter"] for a in args if a["kind"] == "output"]
    inouts = [a["parameter"] for a in positional if a["kind"] == "inout"]
    name, n = told["name"], 2
    while name in _taken:
        name, n = f"{told['name']}_{n}", n + 1
    _taken.update((name, name + "_out"))

    def declared(a, i):
        if a["kind"] == "scalar":
            return f"{_scalar(a['type'])} {a['parameter']}"
        return f"Tensor{f'(a{i}!)' if a['kind'] == 'inout' else ''} {a['parameter']}"

    first = ", ".join(declared(a, i) for i, a in enumerate(positional))
    sizes = "".join(f", SymInt? {a}=None" for a in axes)
    sizes = ", *" + sizes if sizes else ""
    written = "".join(f", Tensor(o{i}!) {a}" for i, a in enumerate(outputs))
    returned = "Tensor" if len(outputs) == 1 else f"({', '.join('Tensor' for _ in outputs)})"

    def run(*args, **kwargs):
        out = op.launch(*args, **kwargs)
        return out if outputs else None

    def run_out(*args, **kwargs):
        op.launch(*args[: len(positional)], **dict(zip(outputs, args[len(positional) :])), **kwargs)

    def make(*args, **kwargs):
        forms = op.forms(*map(_form, args), **{k: None if v is None else int(v) for k, v in kwargs.items()})[2]
        tensor = next(a for a in args if isinstance(a, torch.Tensor))
        made = tuple(tensor.new_empty(shape, dtype=DTYPES[type]) for _, type, shape in forms)
        return made[0] if len(made) == 1 else made

    def check_out(*args, **kwargs):
        op.forms(*map(_form, args[: len(positional)]), **{k: _form(v) for k, v in zip(outputs, args[len(positional) :])},
                 **{k: None if v is None else int(v) for k, v in kwargs.items()})

    def define(name, run, fake, mutates, schema):
        custom = torch.library.custom_op(f"cutune::{name}", run, mutates_args=mutates, schema=schema)
        custom.register_fake(fake)
        return getattr(torch.ops.cutune, name).default

    if outputs:
        plain = define(name, run, make, inouts, f"({first}{sizes}) -> {returned}")
        out = define(name + "_out", run_out, check_out, [*inouts, *outputs], f"({first}{written}{sizes}) -> ()")
    else:
        plain = define(name, run, lambda *args, **kwargs: check_out(*args, **kwargs), inouts, f"({first}{sizes}) -> ()")
        out = None
    names = [a["parameter"] for a in positional]
    tensors = [i for i, a in enumerate(positional) if a["kind"] != "scalar"]

    def call(*args, **kwargs):
        if kwargs.get("stream") is not None:
            raise ValueError(f"{name}: no stream can be given to a call that torch traces")
        kwargs = {k: v for k, v in kwargs.items() if v is not None and k != "stream"}
        args = [*args, *[kwargs.pop(a) for a in names[len(args) :]]]
        given = [kwargs.pop(a) for a in outputs if a in kwargs]
        if not all(isinstance(a, torch.Tensor) for a in [args[i] for i in tensors] + given):
            raise TypeError(f"{name}: torch traces this call, so all arrays have to be tensors")
        if given and len(given) < len(outputs):
            raise ValueError(f"{name}: give all of {', '.join(outputs)}, or none")
        if given or inouts:  # autograd ignores custom ops that write to their arguments
            for a, x in [*((names[i], args[i]) for i in tensors), *zip(outputs, given)]:
                if x.requires_grad and torch.is_grad_enabled():
                    raise cutune.InvalidError(f"{name}: {a} requires a gradient, and this op has no derivative: call it under "
                                              f"torch.no_grad(), or pass {a}.detach()")
                if forward_ad._current_level >= 0 and forward_ad.unpack_dual(x).tangent is not None:
                    raise cutune.InvalidError(f"{name}: {a} has a tangent (torch.autograd.forward_ad), and this op has no derivative: "
                                              f"pass {a}.detach()")
        if given:
            out(*args, *given, **kwargs)
            return given[0] if len(given) == 1 else tuple(given)
        made = plain(*args, **kwargs)
        if outputs:
            return made
        kept = [args[names.index(a)] for a in inouts]
        return kept[0] if len(kept) == 1 else tuple(kept)

    substitute = getattr(torch.compiler, "substitute_in_graph", None)
    if substitute:
        substitute(function, skip_signature_check=True)(call)
    return call


def dispatch(function, args, kwargs):
    return register(function)(*args, **kwargs)
