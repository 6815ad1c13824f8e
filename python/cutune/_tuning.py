"""Tuning, pins and scripts, by the program; and ops held against a function of the user's own."""

import atexit
import difflib
import errno
import io
import json
import operator
import os
import re
import reprlib
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Collection, Iterable, Mapping

import cutune

from . import _frameworks, _program

_folder = None  # for the tables of scripts; and the process that made it


def _run(arguments, **options):
    """The program's standard output; what it says of a failure is the exception."""
    done = subprocess.run([_program.program(), *arguments], capture_output=True, text=True, errors="replace", **options)
    _check(done.returncode, done.stderr)
    return done.stdout


def _check(status, said):
    if status:
        raise _error(status, said)


def _error(status, said):
    text = re.sub("^cutune [a-z-]+: ", "", _last(said) or f"the program ended with status {status}")  # nobody called that command
    error = (cutune.InvalidError if status == 2 else cutune.Error)(text)
    error.rows = []
    return error


def _last(said):
    """The line about what went wrong."""
    lines = [line for line in said.strip().splitlines() if not line.startswith("Try `")]
    complaints = [line for line in lines if line.startswith("cutune ")]  # others are about the progress
    return (complaints or lines or [None])[-1]


def _own_folder():
    """After a fork the child makes one of its own, and leaves the parent's alone."""
    global _folder
    if _folder is None or _folder[1] != os.getpid():
        _folder = tempfile.mkdtemp(prefix="cutune-"), os.getpid()
        atexit.register(_remove, *_folder)
    return _folder[0]


def _remove(folder, process):
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def load(script, *, ptx="auto", **options):
    """The function of a script's op. It starts with the script's own defaults; what is tuned of it is in the module's database.

    script: a Lua file (docs/op-authors.md). options: of Database, such as the path of another one. Unless an op that ships has the same
    name, it is the op's name from now on, too, as in cutune.NAME.
    """
    script = os.fspath(script)
    script = script if os.sep in script else os.path.join(os.curdir, script)
    if not os.path.exists(script):
        raise cutune.NotFoundError(f"{script}: {os.strerror(errno.ENOENT)}")
    tables = os.path.join(tempfile.mkdtemp(dir=_own_folder()), "tables.db")
    try:
        _run(["tables", "--ptx", ptx, "--op", script, tables])
    except cutune.Error as error:  # about the script: that there is a file of its tables is nothing to the caller
        raise type(error)(str(error).removeprefix(f"{tables}: ")) from None
    alone = cutune.Database(os.path.abspath(tables), tables="")
    name = alone.ops()[0]
    alone.close()
    options.setdefault("path", _path_of(cutune._database))
    database = cutune.Database(**{**options, "tables": tables})
    function = database.op(name)
    ships = _ships(name)
    with cutune._lock:
        cutune._scripts[function.__self__] = os.path.abspath(script), database
        if ships:
            cutune._trace(function)
        else:
            cutune._name(name, function)
    return function


def _ships(name):
    try:
        return bool(_run(["ops", f"--op={name}"]))
    except cutune.InvalidError:
        return False


def _told(op):
    """What the program says of it: sizes, types, checks."""
    return json.loads(_run(["ops", "--json", f"--op={_name_of(op)}"]))[0]


def _named(op):
    """The function that a name stands for by now; a name that was not used yet, or a script's, stays one."""
    return cutune._named.get(op, op) if isinstance(op, str) else op


def _name_of(op):
    """What the program calls it: a name, or a script."""
    op = _named(op)
    if isinstance(op, str):
        return op
    found = cutune._op_of(op)
    return cutune._scripts[found][0] if found in cutune._scripts else found.name


def _serving(op):
    """The database that serves it; None: none is open yet."""
    op = _named(op)
    return cutune._database if isinstance(op, str) else cutune._op_of(op).database


def _path_of(database):
    return None if database is None else database.path


def _sizes(problem):
    return ",".join(f"{axis}={operator.index(size)}" for axis, size in problem.items())


def _shape(op, shape):
    """As the program reads it. op: what sizes without names are of."""
    if isinstance(shape, str):
        return shape
    if isinstance(shape, Mapping):
        return _sizes(shape)
    if not _is_sizes(shape):
        raise TypeError(f"a shape is {{'m': 1111, 'n': 113}}, (1111, 113) or 'm=1111,n=113', not {reprlib.repr(shape)}")
    told, sizes = _told(op), list(shape) if isinstance(shape, Iterable) else [shape]
    axes = [axis for axis in told["problem"] if axis not in told["optional"]]
    if len(sizes) != len(axes):
        raise cutune.InvalidError(f"{told['op']} expects {len(axes)} sizes ({', '.join(axes)}), not {reprlib.repr(shape)}: "
                                  f"give one for each, or {{'{axes[0]}': ...}}")
    return _sizes(dict(zip(axes, sizes)))


def _is_sizes(x):
    return hasattr(x, "__index__") or (isinstance(x, Collection) and len(x) > 0 and all(hasattr(size, "__index__") for size in x))


def _shapes(op, shapes):
    if shapes is None:
        return []
    one = isinstance(shapes, (str, Mapping)) or _is_sizes(shapes) or not isinstance(shapes, Iterable)
    all = [_shape(op, shape) for shape in ([shapes] if one else shapes)]
    if not all:
        raise cutune.InvalidError("shapes is empty: leave it out to tune the op's own")
    return all


_TYPES = {
    **{theirs: ours for ours, theirs in _frameworks._NUMPY.items()},
    "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}


def _type(dtype):
    """What cutune calls a type of NumPy's or PyTorch's, or its name there."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    parts = [part.rpartition("=") for part in name.removeprefix("torch.").split(",")]
    return ",".join(of + equals + _TYPES.get(name, name) for of, equals, name in parts)


def _types(dtypes):
    if dtypes is None:
        return []
    one = isinstance(dtypes, str) or not isinstance(dtypes, Iterable)
    return [_type(dtype) for dtype in ([dtypes] if one else dtypes)]


def _many(value):
    return [] if value is None else [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def _database_of(op, db):
    path = db or _path_of(_serving(op))
    return ["--db", os.fspath(path)] if path else []


def _flags(more):
    flags = []
    for name, value in more.items():
        name = "--" + name.replace("_", "-")
        flags += [name] if value is True else [] if value is False else [f"{name}={one}" for one in _many(value)]
    return flags


def _refresh(op):
    for database in {*cutune._databases(), _serving(op)} - {None}:
        database.refresh()


def _can_show():
    """Whether stderr is there: where its descriptor was closed, the next file that is opened has that."""
    try:
        os.fstat(sys.stderr.fileno())
    except io.UnsupportedOperation:  # it is no file, as in a notebook
        return True
    except (OSError, ValueError):
        return False
    except AttributeError:
        return sys.stderr is not None
    return True


def _in_terminal():
    try:
        return os.isatty(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):
        return False


class _Shown:
    """Lines about the progress, where there is no terminal: in a notebook one that changes."""

    def __init__(self):
        self.handle = None
        self.notebook = "ipykernel" in sys.modules
        self.held = []

    def take(self, line):
        """Shows a line of the program's. One that may be about its end waits until it goes on."""
        if line.startswith(("cutune ", "Try `")):
            self.held.append(line)
        else:
            self.let_go()
            self.show(line)

    def let_go(self, but=None):
        for line in self.held:
            if line != but and not (but and line.startswith("Try `")):
                self.show(line)
        self.held = []

    def show(self, line):
        if not self.notebook:
            print(line, file=sys.stderr, flush=True)
            return
        from IPython.display import display

        text = {"text/plain": line}
        if self.handle is None:
            self.handle = display(text, raw=True, display_id=True)
        else:
            self.handle.update(text, raw=True)


def _lines_of_terminal(end):
    """Shows what the program writes to a terminal that is ours, as it comes; then the lines of it, in plain text."""
    said = b""
    while True:
        try:
            data = os.read(end, 4096)
        except OSError:  # Linux says so when the other end is closed
            data = b""
        if not data:
            break
        said += data
        sys.stderr.buffer.write(data)
        sys.stderr.flush()
    return re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode(errors="replace")))


def _follow(arguments, progress):
    """Runs the program and shows its progress; its standard output, and an exception or None."""
    progress = progress and _can_show()
    terminal = progress and _in_terminal()
    shown = _Shown()
    if progress and not terminal:
        arguments = [*arguments, f"--progress={1 if shown.notebook else 30}s"]
    said, command = [], [_program.program(), *arguments]
    ours = theirs = None
    if terminal:  # of our own, as large as that: so that what is said of a failure is known, too
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, termios.tcgetwinsize(sys.stderr.fileno()))
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=theirs if terminal else subprocess.PIPE, text=True, errors="replace")
        try:
            if terminal:
                os.close(theirs)
                said = [line + "\n" for line in _lines_of_terminal(ours)]
            for line in child.stderr or []:
                said.append(line)
                if progress:
                    shown.take(line.rstrip())
            status = child.wait()
            shown.let_go(_last("".join(said)) if status else None)  # which the exception has
        except BaseException:  # an interrupt, too: the run ends well, and what it measured is kept
            child.send_signal(signal.SIGINT)
            if terminal:
                _lines_of_terminal(ours)
            child.wait()
            raise
        finally:
            if child.stderr:
                child.stderr.close()
            if terminal:
                os.close(ours)
        out.seek(0)
        return out.read(), _error(status, "".join(said)) if status else None


def tune(op, shapes=None, dtype=None, budget=None, *, device=None, db=None, progress=True, **more):
    """Tunes an op; a dict for each measurement, the fastest first of each problem: pandas.DataFrame(cutune.tune(...)).

    op: a name, a function of cutune's, or a script. shapes: {"m": 1111, "n": 113} or (1111, 113), which are the op's sizes in its order,
    those that have to be given; or several; without it the op's own for the device. dtype: "f32", numpy.float32, torch.float32, or
    several. budget, of each problem: seconds as "60s", configurations as 200, or both. more: what else `cutune run` takes, such as
    effort="quick", strategy="random", retune=True. From then on calls take the new winners. If one of the problems failed, the exception's
    attribute `rows` is what was measured of those that were tuned.
    """
    if "shape" in more:
        raise TypeError("tune() has no argument 'shape': perhaps 'shapes'?")
    arguments = ["run", "--json", f"--parent={os.getpid()}", f"--op={_name_of(op)}", *_database_of(op, db)]
    arguments += [f"--shape={s}" for s in _shapes(op, shapes)]
    arguments += [f"--dtype={t}" for t in _types(dtype)]
    arguments += [f"--budget={b}" for b in _many(budget)]
    arguments += [f"--device={device}"] if device else []
    arguments += [] if progress else ["--quiet"]
    _refresh(op)  # here, not after all the work, it turns out that a database is closed
    said, error = _follow([*arguments, *_flags(more)], progress)
    try:
        told = json.loads(said)
    except ValueError:  # nothing was tuned, or the end is missing
        raise _option_error(error) if error else cutune.InvalidError(f"cutune run measures nothing with {' '.join(_flags(more))}") from None
    try:
        _refresh(op)
        rows = _measurements(told, op, db)
    except cutune.Error:
        if error:  # which came first
            raise error from None
        raise
    if error:
        error.rows = rows
        raise error
    return rows


def _option_error(error):
    """The error; of an option that the program does not know, what it may have been."""
    unknown = re.match(r"unrecognized option '--([\w-]+)", str(error))
    if not unknown:
        return error
    known = [name.replace("-", "_") for name in re.findall("^ +--([a-z-]+)", _run(["run", "--help"]), re.MULTILINE)]
    name = unknown[1].replace("-", "_")
    near = difflib.get_close_matches(name, known, 1)
    return TypeError(f"tune() has no argument '{name}'" + (f": perhaps '{near[0]}'?" if near else ""))


def _measurements(told, op, db):
    device = told["device"]
    problems = {(r["dtype"], _sizes(r["problem"])) for r in told["results"]}
    rows = json.loads(_run(["list", "--measurements", "--json", f"--op={_name_of(op)}", *_database_of(op, db)]))
    kept = []
    for row in rows:
        if (row["dtype"], row["problem"]) in problems and all(
            row[ours] == device[theirs] for ours, theirs in (("backend", "backend"), ("device", "name"), ("arch", "arch"))
        ):
            config = row.pop("config")
            kept.append({**row, **{f"config.{name}": value for name, value in config.items()}})
    return kept


def pin(op, shape, config, *, dtype=None, variant=None, device=None, db=None):
    """Gives a problem a configuration of your own choice, whatever later runs find, once it is proved right here."""
    text = config if isinstance(config, str) else ",".join(f"{name}={_word(value)}" for name, value in config.items())
    _pin(op, shape, [f"--config={text}", *([f"--variant={variant}"] if variant else [])], dtype, device, db)


def unpin(op, shape, *, dtype=None, device=None, db=None):
    """Removes the pin: calls get the problem's winner again."""
    _pin(op, shape, ["--remove"], dtype, device, db)


def _word(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pin(op, shape, arguments, dtype, device, db):
    arguments = [f"--op={_name_of(op)}", f"--shape={_shape(op, shape)}", *arguments, *_database_of(op, db)]
    arguments += [f"--dtype={t}" for t in _types(dtype)]
    arguments += [f"--device={device}"] if device else []
    _refresh(op)
    _run(["pin", *arguments])
    _refresh(op)


# ---- check

_RTOL = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-4, "complex64": 2e-4, "float16": 4 * 2**-11, "bfloat16": 4 * 2**-8}


def _copy(x):
    for way in ("clone", "copy"):
        if hasattr(x, way) and hasattr(x, "shape"):
            return getattr(x, way)()
    return x


def _numbers(x):
    """As NumPy's, and the name of the type that it had."""
    import numpy

    name = str(getattr(x, "dtype", "")).rpartition(".")[2]
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        x = x.float() if name == "bfloat16" else x
        x = x.numpy()
    elif hasattr(x, "get") and type(x).__module__.partition(".")[0] == "cupy":
        x = x.get()
    return numpy.asarray(x), name


def _unequal(got, want):
    """By bits; by value where the reference gives another type."""
    import numpy

    if got.dtype != want.dtype:
        return (got != want) & ~((got != got) & (want != want))
    bits = [numpy.ascontiguousarray(x).view("u1").reshape(*x.shape, x.itemsize) for x in (got, want)]
    return (bits[0] != bits[1]).any(-1)


def _compare(got, want, exact, rtol, atol, what):
    import numpy

    (got, name), (want, _) = _numbers(got), _numbers(want)
    if got.shape != want.shape:
        raise AssertionError(f"{what}: its shape is {got.shape}, the reference's {want.shape}")
    exact = rtol is None and atol is None and (exact or name not in _RTOL)
    if exact:
        off = _unequal(got, want)
        error = numpy.where(off, 1.0, 0.0)
    else:
        wide = numpy.complex128 if numpy.iscomplexobj(got) or numpy.iscomplexobj(want) else numpy.float64
        left, right = got.astype(wide), want.astype(wide)
        rtol = _RTOL.get(name, 0.0) if rtol is None else rtol
        size = numpy.abs(right[numpy.isfinite(right)])
        if atol is None:  # of a typical element: a small result of large terms has their errors
            atol = rtol * (float(numpy.mean(numpy.sqrt(size))) ** 2 if size.size else 0.0)
        same = (left == right) | (numpy.isnan(left) & numpy.isnan(right))
        with numpy.errstate(invalid="ignore"):
            error = numpy.where(same, 0.0, numpy.abs(left - right))
            off = ~(error <= atol + rtol * numpy.abs(right)) & ~same
            off |= numpy.isinf(right) & ~same  # of which any number would be within rtol
    if off.any():
        at = tuple(int(i) for i in numpy.unravel_index(int(numpy.argmax(off)), off.shape))
        raise AssertionError(f"{what}: {int(off.sum())} of {off.size} elements are wrong; the first is {at}: {got[at]}, not {want[at]}")
    return {"output": what, "elements": int(off.size), "exact": exact, "rtol": 0.0 if exact else float(rtol),
            "atol": 0.0 if exact else float(atol), "largest_error": float(error.max()) if error.size else 0.0}


def check(op, *args, reference, rtol=None, atol=None, **kwargs):
    """Holds op(*args, **kwargs) against reference(*args) on these inputs; a dict for each output.

    reference: a function of yours, in NumPy, torch or CuPy. It gets copies of the positional arguments, and returns what the op writes; so a
    kernel that changes an input shows. What a run compares bit for bit (an op's check is "exact") has to be equal, and so have integers; other
    numbers within atol + rtol * |the reference's|. Without both, rtol goes by the type, and atol is rtol of a typical element; with one of
    them all are compared so. AssertionError, with the first wrong element, if they are not.
    """
    function = cutune.op(op) if isinstance(op, str) else op
    told = cutune._op_of(function).describe()
    try:
        kinds = _told(op)["check"]
    except cutune.InvalidError:  # the database's, of a script that is elsewhere
        kinds = {}
    given = [_copy(a) for a in args]
    want = reference(*[_copy(a) for a in args])
    got = function(*given, **kwargs)
    outputs = [a["name"] for a in told["args"] if a["kind"] == "output"]
    positional = [a for a in told["args"] if a["kind"] != "output"]
    written = outputs or [a["name"] for a in positional if a["kind"] == "inout"]
    got, want = (x if isinstance(x, tuple) else (x,) for x in (got, want))
    if any(w is None for w in want):
        raise AssertionError(f"{told['name']}: the reference returned None")
    if len(got) != len(want):
        raise AssertionError(f"{told['name']} writes {len(got)} arrays, the reference gives {len(want)}")
    for a, before, after in zip(positional, args, given):
        if a["kind"] == "input" and not (_numbers(before)[0].tobytes() == _numbers(after)[0].tobytes()):
            raise AssertionError(f"{told['name']}: its input {a['name']} was changed")
    return [_compare(g, w, kinds.get(name) == "exact", rtol, atol, f"{told['name']}: {name}") for g, w, name in zip(got, want, written)]
