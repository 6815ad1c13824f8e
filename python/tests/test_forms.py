"""An op whose interface changes while its database is open."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

import numpy as np

import cutune
from test_calls import opencl

examples = pathlib.Path(__file__).parents[2] / "docs" / "examples"


def tables(folder, name, *changes):
    """A database of axpy.lua's defaults, in whose files each (a, b) is exchanged."""
    home = pathlib.Path(folder, name)
    home.mkdir()
    for file in "axpy.lua", "axpy.cu", "axpy_ref.cu":
        text = (examples / file).read_text()
        for a, b in changes:
            text = text.replace(a, "\0").replace(b, a).replace("\0", b)
        (home / file).write_text(text)
    subprocess.run([os.environ["CUTUNE_PROGRAM"], "tables", "--ptx", "no", "--op", home / "axpy.lua", home / "a.db"], check=True,
                   capture_output=True)
    return home / "a.db"


EXCHANGED = (('output("out", "T", { "n" })', 'input("x", "T", { "n" })'), ("GLOBAL T *__restrict__ out", "GLOBAL const T *__restrict__ x"),
             ("BLOCK = 256, ITEMS = 4", "BLOCK = 64, ITEMS = 2"))


@unittest.skipUnless(opencl, "no OpenCL device")
class Forms(unittest.TestCase):
    """With `out` and `x` in each other's place, a launch by the earlier form would write into x."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.live = tables(self.folder, "before")

    def open(self, **options):
        d = cutune.Database(str(self.live), tables="", **options)
        return d, d.op("axpy")

    def check(self, axpy, count, **sizes):
        a, x, y = np.full(1, 2, "float32"), np.arange(count, dtype="float32"), np.ones(count, "float32")
        out = axpy(a=a, x=x, y=y, **sizes)  # by name, since the order is the form's
        np.testing.assert_array_equal(x, np.arange(count))
        np.testing.assert_array_equal(out, 2 * x + 1)

    def wait(self, until):
        end = time.monotonic() + 300
        while not until():
            self.assertLess(time.monotonic(), end, "no refresh within five minutes")

    def test_a_refresh_in_the_background_brings_another(self):
        d, axpy = self.open(refresh_ms=1)
        self.check(axpy, 1000)
        os.replace(tables(self.folder, "after", *EXCHANGED), self.live)
        x = np.ones(1000, "float32")
        self.wait(lambda: axpy.__self__.lookup(a=x[:1], x=x, y=x)[3] == "BLOCK=64,ITEMS=2")
        self.check(axpy, 1000)
        self.check(axpy, 1001)
        self.assertEqual([a["name"] for a in axpy.__self__.describe()["args"]], ["x", "a", "out", "y"])

    def test_a_refresh_in_the_background_brings_one_of_another_size(self):
        d, axpy = self.open(refresh_ms=1)
        self.check(axpy, 1000)
        os.replace(tables(self.folder, "after", ('problem = { size "n" }', 'problem = { size "n", flag "twice" }')), self.live)
        refused = []

        def asks_for_more():
            try:
                self.check(axpy, 1000)
            except cutune.Error as error:
                refused.append(str(error))
            return refused

        self.wait(asks_for_more)
        self.assertEqual(refused, ["axpy: the arrays leave open what twice is: give it by name"])
        self.check(axpy, 1000, twice=1)

    def test_a_refresh_while_a_call_is_under_way_brings_another(self):
        d, axpy = self.open()
        test, after = self, tables(self.folder, "after", *EXCHANGED)

        class Size:
            asked = 0

            def __index__(self):
                self.asked += 1
                if self.asked == 1:
                    os.replace(after, test.live)
                    test.assertEqual(d.refresh(), 1)
                    test.check(axpy, 1000)
                return 1000

        self.check(axpy, 1000)
        self.check(axpy, 1000, n=Size())


if __name__ == "__main__":
    unittest.main()
