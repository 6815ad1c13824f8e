"""python3 -m cutune._stubs [SCRIPT.lua...]: type stubs of the module's ops, or of the scripts'. __init__.pyi is what it prints."""

import inspect
import json
import subprocess
import sys

from . import _program

_HEAD = '''# Printed by python3 -m cutune._stubs.
from os import PathLike
from typing import Any, Callable, Iterable, NamedTuple, TypeVar

__version__: str
Array = TypeVar("Array")  # of NumPy, PyTorch, CuPy, or anything with DLPack

class Error(RuntimeError): ...
class InvalidError(Error, ValueError): ...
class NotFoundError(Error, LookupError): ...
class StrictError(Error): ...
class DeviceError(Error): ...

class Kernel(NamedTuple):
    match: str
    why: str
    variant: str
    config: str
    time_ns: float
    types: str
    sizes: dict[str, int]

class Op:
    name: str
    def describe(self) -> dict[str, Any]: ...
    def lookup(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...
    def forms(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...

class Database:
    def __init__(
        self, path: str | None = None, tables: str | None = None, cache: str | None = None, capture: bool = False, refresh_ms: int = 0,
        strict: str | None = None, device: str = "opencl",
    ) -> None: ...
    def close(self) -> None: ...
    def refresh(self) -> int: ...
    def flush(self) -> None: ...
    def op(self, name: str) -> Callable[..., Any]: ...
    def ops(self) -> list[str]: ...
    def winners(self) -> list[dict[str, Any]]: ...

def open(path: str | None = None, **options: Any) -> Database: ...
def database() -> Database: ...
def op(name: str) -> Callable[..., Any]: ...
def ops() -> list[str]: ...
def winners() -> list[dict[str, Any]]: ...
def refresh() -> int: ...
def flush() -> None: ...
def lookup(function: str | Callable[..., Any], *args: Any, **kwargs: Any) -> Kernel: ...
def why(function: str | Callable[..., Any], *args: Any, **kwargs: Any) -> str: ...
def device(id: str | None = None) -> dict[str, Any]: ...
def load(path: str | PathLike[str], *, ptx: str = "auto", **options: Any) -> Callable[..., Any]: ...
def tune(
    op: str | Callable[..., Any], shapes: Any = None, dtype: str | Iterable[str] | None = None, budget: Any = None, *,
    device: str | None = None, db: str | PathLike[str] | None = None, progress: bool = True, **more: Any,
) -> list[dict[str, Any]]: ...
def check(
    op: str | Callable[..., Any], *args: Any, reference: Callable[..., Any], rtol: float | None = None, atol: float | None = None,
    **kwargs: Any,
) -> list[dict[str, Any]]: ...
def pin(
    op: str | Callable[..., Any], shape: Any, config: Any, *, dtype: str | None = None, variant: str | None = None,
    device: str | None = None, db: str | PathLike[str] | None = None,
) -> None: ...
def unpin(
    op: str | Callable[..., Any], shape: Any, *, dtype: str | None = None, device: str | None = None,
    db: str | PathLike[str] | None = None,
) -> None: ...
'''


def stub(function):
    """One line: the function with its types."""
    told = function.__self__.describe()
    kinds = {(a["name"]): a["kind"] for a in told["args"]}
    params, outputs = [], [a for a in told["args"] if a["kind"] == "output"] or [a for a in told["args"] if a["kind"] == "inout"]
    for p in inspect.signature(function).parameters.values():
        kind = kinds.get(p.name) or kinds.get(p.name.rstrip("_"))
        if p.kind is p.KEYWORD_ONLY and "*" not in params:
            params.append("*")
        type = {"scalar": "complex", "output": "Array | None", None: "int | None"}.get(kind, "Array")
        params.append(f"{p.name}: {type}" + ("" if p.default is p.empty else " = None"))
    returned = "Array" if len(outputs) == 1 else f"tuple[{', '.join('Array' for _ in outputs)}]"
    return f"def {told['name']}({', '.join(params)}) -> {returned}: ...\n"


def text(scripts=()):
    import cutune

    if scripts:
        return 'from typing import TypeVar\n\nArray = TypeVar("Array")\n\n' + "".join(stub(cutune.load(s)) for s in scripts)
    shipped = json.loads(subprocess.run([_program.program(), "ops", "--json"], capture_output=True, check=True).stdout)
    return _HEAD + "\n" + "".join(stub(cutune.op(op["op"])) for op in shipped)


if __name__ == "__main__":
    print(text(sys.argv[1:]), end="")
