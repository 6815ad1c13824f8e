"""Tuning by the program, scripts, pins, checks, stubs."""

import ast
import contextlib
import inspect
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import cutune
import scripts
from cutune import _tuning
from test_calls import in_threads, numbers, opencl

examples = pathlib.Path(__file__).parents[2] / "docs" / "examples"
axpy = examples / "axpy.lua"
stubs = pathlib.Path(__file__).parents[1] / "cutune" / "__init__.pyi"


class Tuning(unittest.TestCase):
    def test_gives_a_table_of_all_measurements(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "a.db")
            rows = cutune.tune("transpose", [{"m": 64, "n": 32}, "m=8,n=8"], ["f32", "f64"], [3, "60s"], device="null:0", db=db,
                               progress=False)
            again = cutune.tune(cutune.transpose, {"m": 8, "n": 8}, "f64", 3, device="null:0", db=db, progress=False)
        self.assertEqual({(r["dtype"], r["problem"]) for r in rows},
                         {(t, p) for t in ("f32", "f64") for p in ("m=64,n=32", "m=8,n=8")})
        self.assertEqual(len(rows), 12)
        self.assertEqual(sum(r["winner"] for r in rows), 4)
        self.assertTrue(all("config.TILE" in r for r in rows if r["variant"] == "tile"))
        self.assertEqual([r for r in rows if (r["dtype"], r["problem"]) == ("f64", "m=8,n=8")], again)

    def test_takes_options_as_python_has_them(self):
        self.assertEqual(_tuning._flags({"retune": True, "warm": False, "seed": 0, "effort": None, "include_dir": ["a", "b"], "jobs": np.int8(2)}),
                         ["--retune", "--seed=0", "--include-dir=a", "--include-dir=b", "--jobs=2"])
        with tempfile.TemporaryDirectory() as folder:
            options = {"device": "null:0", "db": pathlib.Path(folder, "a.db"), "progress": False}
            for budget in np.int64(2), [np.int64(2), "60s"], (2,):
                self.assertEqual(len(cutune.tune("transpose", (8, 4), "f32", budget, retune=True, seed=0, **options)), 2)
            for flag in "help", "version", "usage":
                with self.assertRaisesRegex(cutune.InvalidError, f"^cutune run measures nothing with --{flag}$"):
                    cutune.tune("transpose", **{flag: True}, **options)

    def test_takes_sizes_without_names_and_types_of_other_libraries(self):
        self.assertEqual(_tuning._types([np.float32, np.dtype("float16"), "int8", "T=float16,ACC=float32", "f64"]),
                         ["f32", "f16", "i8", "T=f16,ACC=f32", "f64"])
        self.assertEqual(_tuning._types(type("dtype", (), {"__str__": lambda self: "torch.bfloat16"})()), ["bf16"])
        with tempfile.TemporaryDirectory() as folder:
            options = {"device": "null:0", "db": os.path.join(folder, "a.db")}
            for op, shapes, problems in (
                ("transpose", np.empty((64, 32)).shape, {"m=64,n=32"}),
                ("transpose", [(8, 4), {"m": 3, "n": np.int64(2)}], {"m=8,n=4", "m=3,n=2"}),
                (axpy, 1000, {"n=1000"}), (str(axpy), [(1001,), "n=1002"], {"n=1001", "n=1002"}),
            ):
                op = cutune.load(op) if op is axpy else op
                rows = cutune.tune(op, shapes, np.float32, 1, progress=False, **options)
                self.assertEqual({(row["dtype"], row["problem"]) for row in rows}, {("f32", problem) for problem in problems})
            cutune.pin("transpose", (64, 32), {"TILE": 32}, variant="tile", dtype="float32", **options)
        for kind, line, shapes in (
            (cutune.InvalidError, "transpose expects 2 sizes (m, n), not (2, 3, 4)", (2, 3, 4)),
            (cutune.InvalidError, "transpose expects 2 sizes (m, n), not 5", 5),
            (TypeError, "a shape is {'m': 1111, 'n': 113}, (1111, 113) or 'm=1111,n=113', not 1.5", 1.5),
            (TypeError, "not None", [None]),
        ):
            with self.subTest(line), self.assertRaises(kind) as raised:
                cutune.tune("transpose", shapes)
            self.assertIn(line, str(raised.exception))

    def test_says_what_the_program_says(self):
        for kind, line, call in (
            (cutune.InvalidError, "there is no op 'nothing'", lambda: cutune.tune("nothing", progress=False)),
            (cutune.InvalidError, "m=a is not a number", lambda: cutune.tune("transpose", "m=a", progress=False)),
            (cutune.Error, "no device null:77", lambda: cutune.tune("transpose", device="null:77", progress=False)),
            (cutune.NotFoundError, "./none.lua: No such file", lambda: cutune.load("none.lua")),
            (cutune.InvalidError, "no variant has `TILE=7`", lambda: cutune.pin("transpose", {"m": 3, "n": 4}, {"TILE": 7}, device="null:0")),
            (TypeError, "not a builtin_function_or_method", lambda: cutune.tune(print)),
            (TypeError, "no argument 'efort': perhaps 'effort'?", lambda: cutune.tune("transpose", efort="quick", progress=False)),
            (TypeError, "no argument 'shape': perhaps 'shapes'?", lambda: cutune.tune("transpose", shape=(2, 3))),
            (cutune.InvalidError, "shapes is empty", lambda: cutune.tune("transpose", [])),
        ):
            with self.subTest(line), self.assertRaises(kind) as raised:
                call()
            self.assertIn(line, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))

    def test_keeps_what_was_measured_beside_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (pathlib.Path(__file__).parents[2] / "tests" / "cli" / "ops").glob("copy*"):
                shutil.copy(file, folder)
                if file.suffix == ".cu" and "reference" not in file.name:
                    with open(os.path.join(folder, file.name), "a") as template:
                        template.write('\n//@ if T == "f32" then\n//null: wrong\n//@ end\n')
            for progress in False, True:
                with self.assertRaises(cutune.Error) as raised, contextlib.redirect_stderr(io.StringIO()):
                    cutune.tune(os.path.join(folder, "copy.lua"), 1000, ["f32", "i32"], device="null:0", progress=progress,
                                db=os.path.join(folder, "a.db"))
                self.assertIn("copy f32 n=1000: no configuration was right (the default: wrong", str(raised.exception))
                self.assertEqual({row["dtype"] for row in raised.exception.rows if row["winner"]}, {"i32"})

    def test_says_of_a_script_what_is_wrong_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "none.lua")
            pathlib.Path(script).write_text("return 1")
            with self.assertRaises(cutune.Error) as raised:
                cutune.load(script)
        self.assertTrue(str(raised.exception).startswith(script + ": "), raised.exception)

    def test_says_so_once_elsewhere(self):
        code = "import cutune\ncutune.tune('transpose', ['m=8,n=8', 'm=0,n=1'], 'f32', 3, device='null:0', db='{}')"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", code.format(os.path.join(folder, "a.db"))], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([done.stderr.count(said) for said in ("m=0 is", "Try `", "InvalidError: ")], [1, 0, 1], done.stderr)

    def test_says_so_in_a_terminal_too(self):
        ours, theirs = os.openpty()
        code = "import cutune\ntry:\n cutune.tune('nothing')\nexcept cutune.InvalidError as error:\n print(error)"
        done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, text=True)
        shown = os.read(ours, 4096).decode()
        os.close(theirs)
        os.close(ours)
        self.assertIn("there is no op 'nothing'", shown)
        self.assertTrue(done.stdout.startswith("there is no op 'nothing'"), done.stdout)

    def test_a_run_ends_with_python(self):
        """However that ends. Both have an end of a fifo, which tells when they are gone."""
        endless = pathlib.Path(__file__).parents[2] / "tests" / "cli" / "ops" / "endless.lua"
        code = "import cutune, os, sys\nos.open(sys.argv[1], os.O_WRONLY)\ncutune.tune(sys.argv[2], budget='1000h', device='null:0', db=sys.argv[3])"
        with tempfile.TemporaryDirectory() as folder:
            fifo, program, db = (os.path.join(folder, name) for name in ("fifo", "program", "a.db"))
            os.mkfifo(fifo)
            pathlib.Path(program).write_text(f"#!/bin/sh\nexec 9>'{fifo}'\necho >&9\nexec '{os.environ['CUTUNE_PROGRAM']}' \"$@\"\n")
            os.chmod(program, 0o755)
            with subprocess.Popen([sys.executable, "-c", code, fifo, endless, db], stderr=subprocess.DEVNULL,
                                  env={**os.environ, "CUTUNE_PROGRAM": program}) as child, open(fifo, "rb") as running:
                self.assertEqual(running.read(1), b"\n")
                child.kill()
                self.assertEqual(running.read(), b"")

    def test_tunes_where_nothing_can_be_shown(self):
        code = "import cutune, os, sys\n{}\nprint(len(cutune.tune('transpose', (8, 4), 'f32', 2, device='null:0', db=sys.argv[1])))"
        for before in "os.close(2)", "sys.stderr = None", "sys.stderr.close()":
            with self.subTest(before), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-c", code.format(before), os.path.join(folder, "a.db")], stdout=subprocess.PIPE, text=True)
                self.assertEqual(done.stdout, "2\n")

    def test_the_command_ends_quietly_where_nobody_reads_on(self):
        program = subprocess.Popen([sys.executable, "-c", "from cutune import _program\n_program.main()", "ops"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        program.stdout.close()
        self.assertEqual((program.stderr.read(), program.wait()), (b"", -signal.SIGPIPE))
        program.stderr.close()

    def test_finds_no_program(self):
        named = os.environ.pop("CUTUNE_PROGRAM")
        path, os.environ["PATH"] = os.environ["PATH"], ""
        try:
            with self.assertRaisesRegex(FileNotFoundError, "CUTUNE_PROGRAM"):
                cutune.tune("transpose")
        finally:
            os.environ["CUTUNE_PROGRAM"], os.environ["PATH"] = named, path

    def test_stubs_are_those_of_the_ops(self):
        from cutune import _stubs

        self.assertEqual(_stubs.text(), stubs.read_text())

    def test_parameters_have_names_of_their_own(self):
        """Whatever the op's are called: words of Python, a call's own, or what others became."""
        from cutune import _stubs

        args = 'output("stream", "T", { "n" }), input("in_", "T", { "n" }), input("in", "T", { "n" }), scalar("None", "T", 2)'
        parameters = "GLOBAL T *out, GLOBAL const T *a, GLOBAL const T *b, T c"
        clash = scripts.load("lambda", args, parameters, "out[i] = a[i] - b[i] * c", sizes='size "n", flag("in__", { default = 0 })')
        names = "in_", "in__", "None_", "stream_", "n", "in___", "stream"
        self.assertEqual(tuple(inspect.signature(clash).parameters), names)
        told = clash.__self__.describe()
        self.assertEqual([a["parameter"] for a in (*told["args"], *told["axes"])], ["stream_", "in_", "in__", "None_", "n", "in___"])
        stub = _stubs.stub(clash)
        self.assertEqual(stub, "# lambda is a word of Python: cutune.op('lambda')\n")
        ast.parse(stub)
        a, b, out = numbers(5), numbers(5), np.empty(5, "float32")
        if opencl:
            self.assertIs(clash(a, None_=3, in__=b, stream_=out, in___=0), out)
            np.testing.assert_array_equal(out, a - 3 * b)
        plain = scripts.load("clashes", args, parameters, "out[i] = a[i] - b[i] * c", sizes='size "n", flag("in__", { default = 0 })')
        self.assertEqual([a.arg for a in ast.parse(_stubs.stub(plain)).body[0].args.kwonlyargs], ["stream_", "n", "in___", "stream"])
        self.assertIn(" None_: complex, *, stream_: Array | None = None, n: int | None = None,", _stubs.stub(plain))

    def test_stubs_of_the_rest_are_those_of_the_module(self):
        told = {f.name: [a.arg for a in (*f.args.args, *f.args.kwonlyargs, *filter(None, (f.args.vararg, f.args.kwarg)))]
                for f in ast.parse(stubs.read_text()).body if isinstance(f, ast.FunctionDef) and f.name in cutune.__all__}
        self.assertEqual(set(told), {name for name in cutune.__all__ if not isinstance(getattr(cutune, name), type)})
        for name, parameters in told.items():
            self.assertEqual(set(parameters), set(inspect.signature(getattr(cutune, name)).parameters), name)


class Loading(unittest.TestCase):
    def test_may_be_done_by_several_threads(self):
        """Each at the point where it has a name for its tables, and has not written them."""
        named, together, run = [], threading.Barrier(2, timeout=60), _tuning._run

        def wait(arguments, **options):
            if arguments[0] == "tables":
                named.append(arguments[-1])
                together.wait()
            return run(arguments, **options)

        with mock.patch.object(_tuning, "_run", wait):
            in_threads(2, lambda i: cutune.load(axpy))
        self.assertEqual(len(set(named)), 2)

    def test_leaves_a_fork_its_own_tables(self):
        program = """if True:
            import os, pathlib, sys
            import cutune
            cutune.load(sys.argv[1])
            if os.fork() == 0:
                cutune.load(sys.argv[1])
                sys.exit()
            os.wait()
            print(len(list(pathlib.Path(os.environ["TMPDIR"]).rglob("*.db"))))"""
        with tempfile.TemporaryDirectory() as folder:
            told = subprocess.run([sys.executable, "-c", program, axpy], capture_output=True, text=True,
                                  env={**os.environ, "TMPDIR": folder})
            self.assertEqual(told.stdout + told.stderr, "1\n")
            self.assertEqual(os.listdir(folder), [])


@unittest.skipUnless(opencl, "no OpenCL device")
class Scripts(unittest.TestCase):
    def test_loads_tunes_and_pins_a_script(self):
        run = cutune.load(axpy)
        a, x, y = numbers(1), numbers(1000), numbers(1000)
        np.testing.assert_array_equal(run(a, x, y), a * x + y)
        self.assertIn("a: T [1], read", run.__doc__)
        self.assertEqual(cutune.lookup(run, a, x, y).match, "default")
        self.assertIn("the first of the op's own defaults", cutune.why(run, a, x, y))
        cutune.tune(run, {"n": 1000}, budget=1, device="opencl:0", progress=False)
        self.assertEqual(cutune.lookup(run, a, x, y).match, "exact")
        cutune.pin(run, {"n": 1000}, {"BLOCK": 64, "ITEMS": 2}, device="opencl:0")
        self.assertEqual(cutune.lookup(run, a, x, y).config, "BLOCK=64,ITEMS=2")
        np.testing.assert_array_equal(run(a, x, y), a * x + y)
        cutune.unpin(run, {"n": 1000}, device="opencl:0")
        self.assertEqual(cutune.lookup(run, a, x, y).config, "BLOCK=256,ITEMS=4")

    def test_goes_to_the_database_of_the_function(self):
        """Whichever the module's is by then, and wherever one is."""
        arguments = numbers(1), numbers(300), numbers(300)
        x = numbers(5, 6)
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
            try:
                os.chdir(folder)
                for name in "a.db", "b.db":  # so that there is one to open
                    cutune.tune("dot", 7, "f32", 1, device="null:0", db=name, progress=False)
                cutune.open("a.db")
                transpose, loaded = cutune.transpose, cutune.load(axpy)
                cutune.open("b.db")
                other, apart = cutune.load(axpy, path="a.db"), cutune.Database("a.db")
                self.assertEqual(cutune.database().path, os.path.realpath("b.db"))
                os.chdir(elsewhere)
                for function, shape, given in (
                    (loaded, 300, arguments), (other, 301, [numbers(1), *2 * [numbers(301)]]), (transpose, (5, 6), [x]),
                    (apart.op("transpose"), (7, 8), [numbers(7, 8)]),
                ):
                    cutune.tune(function, shape, "f32", 1, device="opencl:0", progress=False)
                    self.assertEqual(cutune.lookup(function, *given).match, "exact")
                cutune.pin(loaded, 300, {"BLOCK": 64, "ITEMS": 2}, device="opencl:0")
                self.assertEqual(cutune.lookup(loaded, *arguments).config, "BLOCK=64,ITEMS=2")
                cutune.unpin(loaded, 300, device="opencl:0")
                self.assertNotEqual(cutune.lookup("transpose", x).match, "exact")
                cutune.tune("transpose", (5, 6), "f32", 1, device="opencl:0", progress=False)
                self.assertEqual(cutune.lookup("transpose", x).match, "exact")
                self.assertEqual(os.listdir(elsewhere), [])
                with mock.patch.dict(os.environ, CUTUNE_DB="../" + os.path.basename(folder) + "/a.db"):
                    usual = cutune.Database().op("transpose")
                    os.chdir("/")
                    cutune.tune(usual, (9, 9), "f32", 1, device="opencl:0", progress=False)
                self.assertEqual(cutune.lookup(usual, numbers(9, 9)).match, "exact")
                listed = [{row["sizes"] for row in cutune.Database(os.path.join(folder, name)).winners()} for name in ("a.db", "b.db")]
            finally:
                os.chdir(here)
                cutune.open()
        self.assertLess({"n=300", "n=301"}, listed[0])
        self.assertEqual([sum(sizes.startswith("m=") for sizes in each) for each in listed], [3, 1])

    def test_a_script_s_op_has_its_name(self):
        run = cutune.load(axpy)
        cutune.open()
        self.assertIs(cutune.axpy, run)
        self.assertIn("axpy", cutune.ops())
        self.assertIn("axpy", dir(cutune))
        arguments = numbers(1), numbers(900), numbers(900)
        for op in "axpy", run:
            cutune.pin(op, {"n": 900}, {"BLOCK": 64, "ITEMS": 2}, device="opencl:0")
            self.assertEqual(cutune.lookup("axpy", *arguments).match, "exact")
            cutune.unpin(op, {"n": 900}, device="opencl:0")
            self.assertNotEqual(cutune.lookup("axpy", *arguments).config, "BLOCK=64,ITEMS=2")
        shipped = cutune.transpose
        with tempfile.TemporaryDirectory() as folder:
            for file in examples.glob("axpy*"):
                pathlib.Path(folder, file.name).write_text(file.read_text().replace('name = "axpy"', 'name = "transpose"'))
            loaded = cutune.load(os.path.join(folder, "axpy.lua"))
        self.assertEqual(loaded.__name__, "transpose")
        self.assertIs(cutune.transpose, shipped)
        self.assertIs(cutune.op("transpose"), shipped)

    def test_writes_misses_of_a_script_at_exit_even_if_something_keeps_the_database(self):
        program = """if True:
            import ctypes, sys, numpy, cutune
            run = cutune.load(sys.argv[1], capture=True)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(run))
            run(*[numpy.ones(n, "float32") for n in (1, 999, 999)])"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wanted.db")
            subprocess.run([sys.executable, "-c", program, axpy], check=True, env={**os.environ, "CUTUNE_DB": path})
            wanted = subprocess.run([os.environ["CUTUNE_PROGRAM"], "list", "--wanted", "--db", path], capture_output=True, text=True)
        self.assertRegex(wanted.stdout, r"axpy +f32 +n=999 ")

    def test_checks_against_a_function(self):
        x = rows = numbers(7, 9)
        (exact,) = cutune.check("transpose", x.astype("int32"), reference=lambda x: x.T)
        self.assertTrue(exact["exact"])
        (close,) = cutune.check("softmax", rows, reference=lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True))
        self.assertLess(close["largest_error"], 1e-5)
        c, a, b = numbers(5, 7), numbers(5, 3), numbers(3, 7)
        kept = c.copy()
        cutune.check("gemm", c, 2.0, a, b, 1.0, reference=lambda c, alpha, a, b, beta: alpha * a @ b + beta * c)
        np.testing.assert_array_equal(c, kept)
        with self.assertRaisesRegex(AssertionError, r"transpose: out: 1 of 63 elements are wrong; the first is \(2, 3\)"):
            cutune.check("transpose", x, reference=lambda x: x.T + 99 * (np.indices((9, 7)) == [[[2]], [[3]]]).all(0))
        with self.assertRaisesRegex(AssertionError, "its shape is"):
            cutune.check("transpose", x, reference=lambda x: x)

    def test_checks_that_infinity_is_infinity(self):
        x = np.array([[1, np.inf], [-np.inf, 2]], "float32")
        (close,) = cutune.check("transpose", x, reference=lambda x: x.T, rtol=0.1)
        self.assertEqual(close["largest_error"], 0)
        for want in np.inf, -np.inf, np.nan:
            with self.subTest(want), self.assertRaisesRegex(AssertionError, "softmax: y: 63 of 63 elements are wrong"):
                cutune.check("softmax", numbers(7, 9), reference=lambda x: np.full_like(x, want))
        for wrong in -x.T, np.where(np.isinf(x.T), np.nan, x.T), np.where(np.isinf(x.T), 5, x.T):
            with self.assertRaisesRegex(AssertionError, "2 of 4 elements|4 of 4 elements"):
                cutune.check("transpose", x, reference=lambda x: wrong, rtol=0.1)

    def test_checks_by_bits_what_a_run_does(self):
        x = np.arange(1111 * 113, dtype="float32").reshape(1111, 113)
        for wrong in lambda x: x.T + 10, lambda x: x.T * np.float32(1.0001), lambda x: np.where(x.T == 0, np.float32(-0.0), x.T):
            with self.assertRaisesRegex(AssertionError, "elements are wrong"):
                cutune.check("transpose", x, reference=wrong)
        x[3, 5] = np.nan
        for right in lambda x: x.T, lambda x: x.T.astype("float64"):
            (exact,) = cutune.check("transpose", x, reference=right)
            self.assertEqual((exact["exact"], exact["rtol"], exact["atol"]), (True, 0, 0))
        (close,) = cutune.check("transpose", x, reference=lambda x: x.T + 10, atol=10)
        self.assertEqual((close["exact"], close["atol"]), (False, 10))
        (close,) = cutune.check("transpose", numbers(7, 9, dtype="int32"), reference=lambda x: x.T + 1, atol=1)
        self.assertEqual(close["largest_error"], 1)


if __name__ == "__main__":
    unittest.main()
