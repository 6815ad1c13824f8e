"""Ops called with NumPy arrays: on OpenCL, through host memory."""

import ctypes
import decimal
import fractions
import gc
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import cutune
import scripts

rng = np.random.default_rng(1)


def numbers(*shape, dtype="float32"):
    return rng.integers(-9, 9, shape).astype(dtype)


try:
    cutune.device("opencl")
    opencl = True
except cutune.Error as error:
    print("skipped, since there is no OpenCL device:", error)
    opencl = False


def in_threads(n, run):
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


@unittest.skipUnless(opencl, "no OpenCL device")
class Calls(unittest.TestCase):
    def test_transposes_any_type(self):
        for dtype in "float32", "float16", "int8", "uint64", "complex128":
            x = numbers(37, 5, dtype=dtype)
            out = cutune.transpose(x)
            self.assertEqual(out.dtype, x.dtype)
            np.testing.assert_array_equal(out, x.T)

    def test_writes_into_an_output_that_is_given(self):
        x, out = numbers(3, 4), np.empty((4, 3), "float32")
        self.assertIs(cutune.transpose(x, out=out), out)
        np.testing.assert_array_equal(out, x.T)

    def test_takes_batches(self):
        x = numbers(2, 3, 4)
        np.testing.assert_array_equal(cutune.transpose(x), x.transpose(0, 2, 1))
        np.testing.assert_array_equal(cutune.transpose(x[:1]), x[:1].transpose(0, 2, 1))

    def test_what_lacks_the_batch_has_one(self):
        x, many = np.arange(24, dtype="f4").reshape(4, 6), np.ones((4, 4, 6), "f4")
        for call in (
            lambda: cutune.transpose(x, batch=3),
            lambda: cutune.transpose(x, out=np.zeros((6, 4), "f4"), batch=1000),
            lambda: cutune.transpose(many, out=np.zeros((6, 4), "f4")),
            lambda: cutune.gemm(np.zeros((4, 4, 4), "f4"), 1.0, np.ones((4, 4, 4), "f4"), np.ones((4, 4), "f4"), 0.0),
        ):
            with self.assertRaisesRegex(cutune.InvalidError, r"has 2 axes, which is for a batch of 1, not of [0-9]+"):
                call()
        self.assertEqual(cutune.transpose(x, batch=1).shape, (6, 4))

    def test_leaves_gaps_alone(self):
        x, out = numbers(3, 8), np.full((5, 6), 99, "float32")
        cutune.transpose(x, n=5, out=out)
        np.testing.assert_array_equal(out[:, :3], x[:, :5].T)
        self.assertTrue((out[:, 3:] == 99).all())

    def test_passes_scalars_and_flags(self):
        a, b, c = numbers(5, 3), numbers(3, 7), numbers(5, 7)
        want = 2 * (a @ b) - c
        self.assertIs(cutune.gemm(c, 2, a, np.ascontiguousarray(b.T), -1.0, tb=1), c)
        np.testing.assert_array_equal(c, want)
        x = numbers(4, 6)
        np.testing.assert_allclose(cutune.reduce(x, columns=1, largest=1, mean=0), x.max(0))

    def test_passes_scalars_of_any_type(self):
        class Both:
            def __float__(self):
                return 5.0

            def __complex__(self):
                return 1 + 2j

        filled = scripts.load("filled", 'output("out", "T", { "n" }), scalar("a", "T", 2)', "GLOBAL T *out, T a", "out[i] = a",
                              ("f32", "f64", "c64", "c128", "u8", "u64", "i8", "i64"))
        for dtype, given in (
            ("complex64", (3, 0.5, 1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j), np.clongdouble(1 + 2j), np.array(1 + 2j))),
            ("complex128", (np.complex64(1 + 2j), np.float32(0.1), fractions.Fraction(1, 2), Both())),
            ("float32", (3, 0.5, np.float16(0.5), np.float64(0.5), np.array(0.5), fractions.Fraction(1, 2), np.complex64(3))),
            ("float64", (decimal.Decimal("0.1"), np.int8(-3), np.longdouble(0.5))),
            ("uint8", (3, np.uint64(255), np.int64(3), np.array(3), True)), ("uint64", (2**64 - 1, np.uint64(2**64 - 1), np.int8(3))),
            ("int8", (-128, np.int64(-128), np.uint8(127))), ("int64", (-(2**63), np.int64(-(2**63)), np.array(3))),
        ):
            for value in given:
                with self.subTest(dtype=dtype, value=value):
                    want = np.full(3, complex(value) if dtype[0] == "c" else getattr(value, "real", value)).astype(dtype)
                    np.testing.assert_array_equal(filled(value, out=np.zeros(3, dtype)), want)
        for kind, line, dtype, value in (
            (TypeError, "must be real number, not complex|has an imaginary part", "float32", 1 + 2j),
            (TypeError, "is no f32, since it has an imaginary part", "float32", np.complex64(1 + 2j)),
            (TypeError, "is no f64, since it has an imaginary part", "float64", Both()),
            (TypeError, r"^\w+: \w+: must be real number, not str", "complex64", "1"),
            (TypeError, "cannot be interpreted as an integer", "uint8", 3.0), (TypeError, "cannot be interpreted as an integer", "int8", 3.0),
            (OverflowError, "256 is no u8", "uint8", np.int64(256)), (OverflowError, "-129 is no i8", "int8", np.int64(-129)),
        ):
            with self.subTest(dtype=dtype, value=value), self.assertRaisesRegex(kind, line):
                filled(value, out=np.zeros(3, dtype))

    def test_an_exception_with_odd_text_is_one_line(self):
        class Text(str):
            def splitlines(self, *_):
                return [object]

        class Odd(Exception):
            def __str__(self):
                return Text("first\nsecond")

        class Array:
            __dlpack__ = None

            def __dlpack_device__(self):
                raise Odd

        with self.assertRaises(cutune.InvalidError) as raised:
            cutune.transpose(Array())
        self.assertEqual(str(raised.exception), "transpose: in cannot be read: first")

    def test_refuses_what_is_wrong_in_one_line(self):
        x = numbers(4, 6)
        read_only = np.empty((6, 4), "float32")
        read_only.flags.writeable = False
        invalid, wrong = cutune.InvalidError, TypeError
        for kind, line, call in (
            (invalid, "in is not contiguous: axis 1 has a stride of -1 ", lambda: cutune.transpose(x[:, ::-1])),
            (invalid, "in is not contiguous: axis 0 has a stride of 6 ", lambda: cutune.transpose(x[:, :4])),
            (invalid, "in is not contiguous: axis 0 has a stride of 0 ", lambda: cutune.transpose(np.broadcast_to(x[0], (4, 6)))),
            (invalid, "in has no elements", lambda: cutune.transpose(x[:0])),
            (invalid, "in has 1 axis, not 2 or 3", lambda: cutune.transpose(x[0])),
            (invalid, "in has 4 axes, not 2 or 3", lambda: cutune.transpose(x.reshape(2, 2, 2, 3))),
            (invalid, "in has 9 axes: more than 8", lambda: cutune.transpose(x.reshape((1,) * 7 + (4, 6)))),
            (invalid, "in is of bool, which no op takes", lambda: cutune.transpose(x > 0)),
            (invalid, "out has 5 elements along axis 0, not 6 (n)", lambda: cutune.transpose(x, out=np.empty((5, 4), "float32"))),
            (invalid, "out is read-only", lambda: cutune.transpose(x, out=read_only)),
            (invalid, "rmsnorm does not take f32 (x) with f64 (w): it takes f32, f16, bf16", lambda: cutune.rmsnorm(x, np.ones(6), 1e-5)),
            (invalid, "leave open what columns is", lambda: cutune.reduce(x)),
            (wrong, "in is a list, not an array", lambda: cutune.transpose([1, 2])),
            (wrong, "in is a poly1d, not an array", lambda: cutune.transpose(np.poly1d([1, 2]))),
            (wrong, f"in is a {type(x.dtype).__name__}, not an array", lambda: cutune.transpose(x.dtype)),
            (wrong, "in is a MaskedArray, whose mask no op knows: pass in.filled(...)", lambda: cutune.transpose(np.ma.masked_array(x))),
            (wrong, "out is a MaskedArray", lambda: cutune.transpose(x, out=np.ma.empty((6, 4), "float32"))),
            (invalid, "in is of >f4, which no op takes", lambda: cutune.transpose(x.astype(">f4"))),
            (invalid, "in is of |O, which no op takes", lambda: cutune.transpose(x.astype(object))),
            (invalid, "in is of <c32, which no op takes", lambda: cutune.transpose(x.astype(np.clongdouble))),
            (invalid, "n cannot be -1", lambda: cutune.transpose(x, n=-1)),
            (invalid, "n cannot be 0", lambda: cutune.transpose(x, n=0)),
            (wrong, "the name of an op is a str, not <class 'int'>", lambda: cutune.op(3)),
            (ValueError, "it has a NUL", lambda: cutune.op("transpose\0x")),
            (wrong, "gemm() is missing 'a': gemm(c, alpha, a, b, beta, *, m=None, n=None, k=None, ta=None", lambda: cutune.gemm(x, x)),
            (wrong, "takes 1 positional argument, not 2; outputs are given by name", lambda: cutune.transpose(x, x)),
            (wrong, "takes 3 positional arguments, not 4", lambda: cutune.rmsnorm(x, x, 1, x)),
            (wrong, "no argument 'axis'", lambda: cutune.transpose(x, axis=1)),
            (wrong, "real number, not str", lambda: cutune.rmsnorm(x, numbers(6), "a")),
            (AttributeError, "there is no op 'nothing'; cutune.ops() lists those there are", lambda: cutune.nothing),
            (cutune.NotFoundError, "there is no op 'tranpose': perhaps 'transpose'?", lambda: cutune.lookup("tranpose", x)),
        ):
            with self.subTest(line), self.assertRaises(kind) as raised:
                call()
            self.assertIn(line, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_reads_any_array_interface(self):
        class Other:
            def __init__(self, of):
                self.__array_interface__ = of.__array_interface__
                self.of = of

        class OnlyDLPack:
            def __init__(self, of):
                self.__dlpack__, self.__dlpack_device__ = of.__dlpack__, of.__dlpack_device__

        # A type must have them, so that instances do.
        Other.__array_interface__ = None
        OnlyDLPack.__dlpack__ = None
        x, out = numbers(3, 4), np.empty((4, 3), "float32")
        for made in Other(x), OnlyDLPack(x):
            out[:] = 0
            cutune.transpose(made, out=out)
            np.testing.assert_array_equal(out, x.T)
        with self.assertRaisesRegex(TypeError, "pass the output by name"):
            cutune.transpose(Other(x))

    def test_asks_for_dlpack_1(self):
        """Whose tensors say that they are read-only; of what does not know it an older one is read."""
        x = numbers(3, 4)

        class Tensor(ctypes.Structure):  # DLManagedTensorVersioned, as dlpack.h has it
            _fields_ = [
                ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
            ]

        class New:
            def __init__(self, of, **change):
                self.of, self.shape = of, (ctypes.c_int64 * 2)(*of.shape)
                told = {"major": 1, "device": 1, "ndim": 2, "code": 2, "bits": 32, "lanes": 1, "data": of.ctypes.data}
                self.tensor = Tensor(**{**told, "shape": ctypes.addressof(self.shape), **change})

            def __dlpack__(self, *, stream=None, max_version=None):
                asked.append(max_version)
                make = ctypes.pythonapi.PyCapsule_New
                make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
                return make(ctypes.addressof(self.tensor), b"dltensor_versioned", None)

            def __dlpack_device__(self):
                return 1, 0

        class Old(New):
            def __dlpack__(self, *, stream=None):
                asked.append(None)
                return self.of.__dlpack__()

        for kind, versions in (New, [(1, 0)] * 4), (Old, [None] * 4):
            asked = []
            for _ in range(2):
                out = np.empty((4, 3), "float32")
                cutune.transpose(kind(x), out=kind(out))
                np.testing.assert_array_equal(out, x.T)
            self.assertEqual(asked, versions)
        with self.assertRaisesRegex(cutune.InvalidError, "out is read-only"):
            cutune.transpose(New(x), out=New(out, flags=1))
        np.testing.assert_array_equal(cutune.transpose(New(x, flags=1), out=out), x.T)
        with self.assertRaisesRegex((TypeError, cutune.InvalidError), "gives no DLPack tensor"):
            cutune.transpose(New(x, major=2), out=out)

    def test_reads_any_number_of_types(self):
        x = numbers(3, 4)
        for i in range(40):
            np.testing.assert_array_equal(cutune.transpose(x.view(type(f"Sub{i}", (np.ndarray,), {}))), x.T)

    def test_survives_malformed_arrays(self):
        x = numbers(4, 6)
        good = dict(x.__array_interface__)

        class Lies:
            __array_interface__ = {}

        for change in (
            {"typestr": "<"}, {"typestr": "<f"}, {"typestr": "<f99"}, {"typestr": "<f0"}, {"shape": (4,), "strides": (24, 4)},
            {"shape": ("4", 6)}, {"shape": (1 << 70, 6)}, {"shape": (-4, 6)}, {"strides": (1 << 63, 4)}, {"strides": (3, 1)},
            {"typestr": None}, {"typestr": "\n\n"}, {"shape": None}, {"shape": 5}, {"strides": 5}, {"data": None}, {"data": ("a", False)},
            {"data": (1.5, False)}, {"data": (-1, False)}, {"data": (0, False)}, {"data": (1 << 64, False)}, {"data": ()}, {"shape": (1 << 61, 1 << 61)},
        ):
            Lies.__array_interface__ = {**good, **change}
            with self.subTest(change), self.assertRaises((TypeError, cutune.InvalidError)) as raised:
                cutune.transpose(Lies(), out=np.empty((6, 4), "float32"))
            self.assertRegex(str(raised.exception), r"^transpose: .*\bin\b[^\n]*$")
        Lies.__array_interface__ = {}
        with self.assertRaises(TypeError):
            cutune.transpose(Lies(), out=x)

        class BadDLPack:
            capsule = None

            def __dlpack__(self, **kwargs):
                return self.capsule

            def __dlpack_device__(self):
                return self.device

        for BadDLPack.device, BadDLPack.capsule in (((1, 0), None), ((1, 0), "dltensor"), ((), x.__dlpack__()), (None, None)):
            with self.assertRaises((TypeError, cutune.InvalidError)):
                cutune.transpose(BadDLPack(), out=x)
        used = x.__dlpack__()
        np.from_dlpack(type("Used", (), {"__dlpack__": lambda self, **k: used, "__dlpack_device__": lambda self: (1, 0)})())
        BadDLPack.device, BadDLPack.capsule = (1, 0), used
        with self.assertRaisesRegex((TypeError, cutune.InvalidError), "gives no DLPack tensor"):
            cutune.transpose(BadDLPack(), out=x)

    def test_an_interrupt_while_an_array_is_read_stays_one(self):
        class Interrupted:
            def __dlpack__(self, **kwargs):
                raise self.by

            def __dlpack_device__(self):
                return 1, 0

        for Interrupted.by in KeyboardInterrupt(), SystemExit(3), MemoryError():
            with self.assertRaises(type(Interrupted.by)):
                cutune.transpose(Interrupted(), out=np.empty((6, 4), "float32"))

    def test_an_argument_s_own_code_may_call_ops_but_not_for_ever(self):
        x, out = numbers(3, 4), np.empty((4, 3), "float32")

        class Array:
            def __dlpack__(self, **kwargs):
                return again(self)

            def __dlpack_device__(self):
                return 1, 0

        class Number:
            def __float__(self):
                return again(self)

            __index__ = __float__

        transpose, rms = cutune.transpose, cutune.rmsnorm
        for again, argument in (
            (lambda x: transpose(x, out=out), Array()), (lambda x: transpose.__self__.lookup(x, out=out), Array()),
            (lambda eps: rms(x, numbers(4), eps), Number()), (lambda n: transpose.__self__.forms(("f32", (3, 4), (4, 1)), n=n), Number()),
        ):
            with self.assertRaises((RecursionError, cutune.InvalidError)) as raised:
                again(argument)
            self.assertRegex(str(raised.exception), "^(transpose: in cannot be read: )?calls of ops within each other, 32 deep$")
        np.testing.assert_array_equal(transpose(x), x.T)
        self.assertIs(transpose(x, out=out), out)

    def test_asks_for_a_size_once(self):
        class Size:
            asked = 0

            def __index__(self):
                self.asked += 1
                return 6

        for call in (lambda size: cutune.transpose(numbers(4, 6), n=size), lambda size: cutune.lookup("transpose", numbers(4, 6), n=size)):
            size = Size()
            call(size)
            self.assertEqual(size.asked, 1)
        with self.assertRaises(TypeError):  # not half of a row
            cutune.tune("transpose", {"m": 3.7, "n": 3}, "f32", 1)

    def test_says_what_it_launches(self):
        x = numbers(1111, 113)
        kernel = cutune.lookup("transpose", x)
        self.assertEqual(kernel.match, "default")
        self.assertEqual(kernel.types, "f32")
        self.assertEqual(kernel.sizes["m"], 1111)
        self.assertEqual(cutune.why(cutune.transpose, x), f"{kernel.variant} {kernel.config}: {kernel.why}")

    def test_has_signatures_and_docstrings(self):
        self.assertEqual(str(inspect.signature(cutune.rmsnorm)), "(x, w, eps, *, y=None, m=None, n=None, stream=None)")
        for line in ("in_: T [batch, m, ldin], read", "ldin: no argument: elements from one row to the next; without gaps n",
                     "batch: batch size; default: 1, and the arrays may omit its axis"):
            self.assertIn(f"    {line}\n", cutune.transpose.__doc__)
        for line in ("a: T [batch, (k if ta == 1 else m), lda], read",
                     "lda: no argument: elements from one row to the next; without gaps (m if ta == 1 else k)"):
            self.assertIn(f"    {line}\n", cutune.gemm.__doc__)
        self.assertIn("transpose", dir(cutune))

    def test_runs_in_threads(self):
        x = numbers(33, 65)
        wrong = []

        def run(i):
            for n in range(1, 9):
                if not np.array_equal(cutune.transpose(x[: n + i].copy()), x[: n + i].T):
                    wrong.append((i, n))

        in_threads(4, run)
        self.assertEqual(wrong, [])

    def test_runs_in_threads_beside_refreshes(self):
        """Ops, types of arrays and problems that are new to all threads at once; with Python's global lock, and without if it has none."""
        class Array(np.ndarray):
            pass

        ops, wrong, start = ("transpose", "softmax", "asum", "nrm2"), [], threading.Barrier(8)

        def run(i):
            start.wait()
            for n in range(1, 5):
                x = numbers(n + i, 5).view(Array)
                try:
                    if not np.array_equal(cutune.transpose(x), x.T):
                        wrong.append((i, n))
                    cutune.lookup(ops[n % 2], x)
                    cutune.lookup(ops[2 + n % 2], x.reshape(-1))
                    cutune.refresh()
                except Exception as error:
                    wrong.append(error)

        in_threads(8, run)
        self.assertEqual(wrong, [])

    def test_has_the_lock_that_python_has(self):
        """Importing the module must not bring the global lock back."""
        without = sysconfig.get_config_var("Py_GIL_DISABLED") and os.environ.get("PYTHON_GIL") != "1"
        self.assertEqual(getattr(sys, "_is_gil_enabled", lambda: True)(), not without)

    def test_keeps_no_references(self):
        x, out = numbers(3, 4), np.empty((4, 3), "float32")
        cutune.transpose(x, out=out)
        before = sys.getrefcount(x), sys.getrefcount(out)
        for _ in range(5):
            cutune.transpose(x, out=out)
            with self.assertRaises(cutune.InvalidError):
                cutune.transpose(x[:, :2], out=out)
        gc.collect()
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(out)), before)


class Databases(unittest.TestCase):
    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_threads_may_be_the_first_to_look_for_devices(self):
        """While PoCL looks for its devices it tells other threads that there are none."""
        script = """
import cutune, threading
start, found = threading.Barrier(8), []
def look():
    start.wait()
    found.append(cutune.device("opencl")["backend"])
threads = [threading.Thread(target=look) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(*found)
"""
        out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertEqual((out.stdout, out.stderr), (" ".join(["opencl"] * 8) + "\n", ""))

    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_says_in_a_fork_that_opencl_is_not_for_it(self):
        program = """if True:
            import os, numpy, cutune
            x = numpy.ones((2, 3), "float32")
            cutune.transpose(x)
            if os.fork() == 0:
                for call in lambda: cutune.transpose(x), lambda: cutune.open() and cutune.transpose(x), lambda: cutune.device("opencl"):
                    try:
                        print(call())
                    except cutune.Error as error:
                        print(error)
                os._exit(0)
            os.wait()
            print(cutune.transpose(x).shape)"""
        told = subprocess.run([sys.executable, "-u", "-c", program], capture_output=True, text=True)
        before, *after, last = told.stdout.splitlines() or [told.stderr]
        self.assertIn("opened before a fork", before)
        self.assertEqual([("OpenCL was used before this process was forked" in line) for line in after], [True, True], told.stdout)
        self.assertEqual(last, "(3, 2)")

    def test_lists_ops(self):
        self.assertIn("transpose", cutune.ops())
        self.assertEqual(cutune.winners(), [])
        self.assertEqual(cutune.refresh(), 0)

    def test_refuses_what_is_no_database(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.db")
            path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
            with self.assertRaises(cutune.Error) as raised:
                cutune.Database(str(path))
            self.assertIn("a.db", str(raised.exception))
            with self.assertRaises(cutune.NotFoundError):
                cutune.Database(os.path.join(folder, "none.db"))
        with self.assertRaisesRegex(cutune.InvalidError, "'off', 'log' or 'error'"):
            cutune.Database(strict="very")

    def test_takes_paths_of_any_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            odd = os.fsencode(folder) + b"/\xff.db"  # no UTF-8
            shutil.copy(os.environ["CUTUNE_TABLES"], odd)
            for path in odd, os.fsdecode(odd), pathlib.Path(os.fsdecode(odd)):
                d = cutune.Database(path, tables=path, cache=path)
                self.assertIn("transpose", d.ops())
                self.assertEqual(d.path, os.fsdecode(odd))
                d.close()
        with self.assertRaisesRegex(TypeError, "not int"):
            cutune.Database(3)
        with self.assertRaisesRegex(ValueError, "null"):
            cutune.Database("a\0b")

    def test_none_there_is_no_missing_attribute(self):
        program = "import cutune; print(dir(cutune) == cutune.__all__); cutune.transpose"
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "CUTUNE_DB": "/none.db"})
        self.assertEqual(told.stdout, "True\n")
        self.assertIn("NotFoundError: /none.db: no such database", told.stderr.splitlines()[-1])

    def test_ends_with_close(self):
        d = cutune.Database()
        transpose = d.op("transpose")
        d.close()
        d.close()
        for call in lambda: d.op("transpose"), d.ops, d.refresh, lambda: transpose(np.ones((2, 2), "float32")):
            with self.assertRaisesRegex(cutune.InvalidError, "was closed"):
                call()

    def test_is_opened_once(self):
        d = cutune.Database()
        transpose = d.op("transpose").__self__
        for _ in range(2):
            with self.assertRaisesRegex(cutune.InvalidError, "opened once"):
                d.__init__()
            d.close()
        with self.assertRaisesRegex(cutune.InvalidError, "was closed"):
            transpose.describe()

    def test_stays_open_while_something_is_asked_of_an_op(self):
        """Python's code may run meanwhile: of a size, of a module, of what the collector finds."""
        class Size:
            def __index__(self):
                d.close()
                return 3

        class Garbage:
            def __del__(self):
                d.close()

        d = cutune.Database()
        transpose = d.op("transpose").__self__
        with self.assertRaisesRegex(cutune.InvalidError, "cannot be closed"):
            transpose.forms(("f32", (3, 5), (5, 1)), m=Size())
        with mock.patch("keyword.iskeyword", lambda name: d.close()), self.assertRaisesRegex(cutune.InvalidError, "cannot be closed"):
            d.op("dot")
        if sys.version_info < (3, 12):  # since then the collector waits for the end of a call
            gc.disable()
            garbage, refused, before = Garbage(), [], gc.get_threshold()
            garbage.itself = garbage
            del garbage
            with mock.patch("sys.unraisablehook", lambda failed: refused.append(str(failed.exc_value))):
                kept = [({}, []) for _ in range(100)]  # so that the next ones are not from Python's stock
                gc.set_threshold(1)
                gc.enable()
                transpose.describe()
            gc.set_threshold(*before)
            del kept
            self.assertIn("cannot be closed", "".join(refused))
        self.assertEqual(transpose.describe()["name"], "transpose")

    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_captures_misses_and_refuses_in_strict_mode(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wanted.db")
            d = cutune.Database(path, capture=True)
            d.op("transpose")(np.ones((2, 3), "float32"))
            d.flush()
            self.assertTrue(os.path.exists(path))
            d.close()
        d = cutune.Database(strict="error")
        with self.assertRaisesRegex(cutune.StrictError, "no exact answer for transpose f32 m=2,n=3"):
            d.op("transpose")(np.ones((2, 3), "float32"))

    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_writes_misses_at_exit_even_if_something_keeps_the_database(self):
        program = """if True:
            import ctypes, sys, numpy, cutune
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(cutune.open(sys.argv[1], capture=True)))
            cutune.transpose(numpy.ones((2, 3), "float32"))"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wanted.db")
            subprocess.run([sys.executable, "-c", program, path], check=True)
            wanted = subprocess.run([os.environ["CUTUNE_PROGRAM"], "list", "--wanted", "--db", path], capture_output=True, text=True)
        self.assertIn("transpose  f32    m=2,n=3", wanted.stdout)

    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_lets_other_threads_run_while_it_waits_for_the_file(self):
        """Another process has it, until this one's main thread runs; the library waits ten seconds for it."""
        holds = """if True:
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute(sys.argv[2])
            print(flush=True)
            sys.stdin.read()"""
        interval = sys.getswitchinterval()
        x = np.ones((5, 7), "float32")
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(os.environ["CUTUNE_TABLES"], folder)
            d = cutune.Database(path, tables="", capture=True)
            transpose = d.op("transpose").__self__
            transpose.lookup(x)
            for name, how, call in (
                ("ops", "begin exclusive", d.ops), ("winners", "begin exclusive", d.winners), ("refresh", "begin exclusive", d.refresh),
                ("op", "begin exclusive", lambda: d.op("dot")), ("lookup", "begin exclusive", lambda: transpose.lookup(x[1:])),
                ("flush", "begin immediate", d.flush),  # the last, as it may change how the file is locked
            ):
                with self.subTest(name):
                    child = subprocess.Popen([sys.executable, "-c", holds, path, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    child.stdout.readline()
                    started, failed = threading.Event(), []

                    def run():
                        started.set()
                        try:
                            call()
                        except Exception as error:
                            failed.append(error)

                    thread = threading.Thread(target=run)
                    sys.setswitchinterval(1000)  # so that the thread goes on until it waits
                    try:
                        thread.start()
                        started.wait()
                        child.communicate()
                        thread.join()
                    finally:
                        sys.setswitchinterval(interval)
                    self.assertEqual(failed, [])

    def test_lists_while_the_collector_lets_other_threads_run(self):
        """Which may need what the library has locked: here each piece of garbage waits for such a thread, and leaves another one."""
        script = """if True:
            import gc, os, threading
            import cutune
            d = cutune.Database(os.environ["CUTUNE_TABLES"], tables="")
            go, back, left = threading.Lock(), threading.Lock(), 50  # which are garbage of no kind themselves
            go.acquire(), back.acquire()
            class Garbage:
                def __init__(self):
                    self.itself = self
                def __del__(self):
                    global left
                    left -= 1
                    go.release()
                    back.acquire()
                    if left:
                        Garbage()
            def other():
                while left:
                    go.acquire()
                    d.op("dot")
                    back.release()
            thread = threading.Thread(target=other, daemon=True)
            thread.start()
            Garbage()
            gc.set_threshold(1)
            d.winners(), d.ops()
            while left:
                gc.collect()
            print("ended")"""
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        self.assertEqual(told.stdout + told.stderr, "ended\n")

    def test_forms_need_no_data(self):
        types, sizes, outputs = cutune.transpose.__self__.forms(("f16", (3, 5), (5, 1)))
        self.assertEqual((types, sizes[:2], outputs), ("f16", (3, 5), [("out", "f16", (5, 3))]))
        for told in 3, None, [], (), ("f16", 3, 4), ("f16", (3,), (5, 1)):
            with self.subTest(told), self.assertRaises((TypeError, cutune.InvalidError)):
                cutune.transpose.__self__.forms(told)


if __name__ == "__main__":
    unittest.main()
