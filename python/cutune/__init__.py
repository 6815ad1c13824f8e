"""Tuned kernels for arrays of NumPy, PyTorch, CuPy, and any library with DLPack.

    import cutune
    out = cutune.transpose(x)        # any op that the database or the shipped tables know
    cutune.lookup("transpose", x)    # the kernel that this launches, and why
    cutune.tune("transpose", [{"m": 1111, "n": 113}])

Each op is a function with a docstring: help(cutune.transpose). docs/python.md is the guide.
"""

import atexit as _atexit
import os as _os
import threading as _threading
from typing import NamedTuple as _NamedTuple

from . import _program
from ._native import Database, DeviceError, Error, InvalidError, NotFoundError, Op, StrictError, device
from ._native import version as __version__

__all__ = [
    "Database", "DeviceError", "Error", "InvalidError", "Kernel", "NotFoundError", "Op", "StrictError", "check", "database", "device",
    "flush", "load", "lookup", "op", "open", "ops", "pin", "refresh", "tune", "unpin", "why", "winners",
]


class Kernel(_NamedTuple):
    """What a look-up gives. match: 'exact', 'near', 'device' or 'default'; time_ns: 0 if it is not known."""

    match: str
    why: str
    variant: str
    config: str
    time_ns: float
    types: str
    sizes: dict


_lock = _threading.RLock()  # held while a database is opened, or an op is added here or registered with PyTorch
_database = None
_named = {}  # ops that were asked for by name, which are attributes of the module, too
_scripts = {}  # of ops that were loaded: their script, and the database that serves them


def _unlock():
    """In the child of a fork, where the thread that held it does not exist."""
    global _lock
    _lock = _threading.RLock()


_os.register_at_fork(after_in_child=_unlock)


def _forget():
    """Ops of a database that is left; those that were loaded have one of their own."""
    for name in [name for name, function in _named.items() if function.__self__ not in _scripts]:
        globals().pop(name, None)
        del _named[name]


def open(path=None, **options):
    """Opens a database in place of the usual one, with Database's options; from now on the module's ops use it."""
    global _database
    with _lock:
        opened = Database(path, **_program.options(options))
        _forget()
        _database = opened
        return opened


def _databases():
    """Those that the module keeps."""
    return [*([] if _database is None else [_database]), *(database for _, database in list(_scripts.values()))]


@_atexit.register
def _write_misses():
    """At exit: what was given to PyTorch lives on past the end, so nothing else closes the databases then."""
    for kept in _databases():
        try:
            kept.flush()
        except Error:
            pass


def database():
    """The database that the module's ops use, opened when it is first needed."""
    with _lock:
        return _database if _database is not None else open()


def op(name):
    """The function of an op: what `cutune.NAME` is, whatever the name."""
    with _lock:
        if name not in _named:
            found = database()
            try:
                _name(name, found.op(name))
            except NotFoundError:
                raise NotFoundError(_unknown(name)) from None
        return _named[name]


def _name(name, function):
    _named[name] = function
    if name not in __all__ and not name.startswith("_"):
        globals()[name] = function
    _trace(function)


def _unknown(name):
    import difflib

    near = difflib.get_close_matches(name, ops(), 1)
    return f"there is no op '{name}'" + (f": perhaps '{near[0]}'?" if near else "; cutune.ops() lists those there are")


def ops():
    """The names of all ops that the database and the shipped tables know, and of those that were loaded."""
    known = database().ops()
    return [*known, *(name for name in list(_named) if name not in known)]


def winners():
    """A dict for each winner in the database."""
    return database().winners()


def refresh():
    """Reads what was tuned since the last time; the number of problems that got another kernel."""
    return database().refresh()


def flush():
    """Writes the misses that were captured so far (open(capture=True)), for `cutune run --wanted`."""
    database().flush()


def _op_of(function):
    function = op(function) if isinstance(function, str) else function
    found = getattr(function, "__self__", None)
    if not isinstance(found, Op):
        raise TypeError(f"expected an op's name or a function of cutune's, not a {type(function).__name__}")
    return found


def lookup(function, *args, **kwargs):
    """The kernel that function(*args, **kwargs) launches. function: an op's function, or its name."""
    found = _op_of(function)
    match, why, variant, config, time_ns, types, sizes = found.lookup(*args, **kwargs)
    names = [axis["name"] for axis in found.describe()["axes"]]
    return Kernel(match, why, variant, config, time_ns, types, dict(zip(names, sizes)))


def why(function, *args, **kwargs):
    """One line: which kernel such a call launches, and why."""
    kernel = lookup(function, *args, **kwargs)
    return f"{kernel.variant} {kernel.config}: {kernel.why}".replace(" :", ":")


def _trace(function):
    """Lets PyTorch trace calls of it, if PyTorch is there."""
    import sys

    if "torch" in sys.modules:
        from . import _torch

        _torch.register(function)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'cutune' has no attribute '{name}'")
    if name in ("check", "load", "pin", "tune", "unpin"):
        from . import _tuning

        globals().update({n: getattr(_tuning, n) for n in ("check", "load", "pin", "tune", "unpin")})
        return globals()[name]
    database()  # if there is none, that is no missing attribute
    try:
        return op(name)
    except NotFoundError as error:
        raise AttributeError(f"module 'cutune' has no attribute '{name}': {error}") from None


def __dir__():
    try:
        return sorted({*__all__, *ops()})
    except Error:
        return __all__
