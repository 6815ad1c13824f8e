"""examples/python: all are Python, and the one that can run on NumPy is right."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_calls import opencl

folder = pathlib.Path(__file__).parents[2] / "examples" / "python"


class Examples(unittest.TestCase):
    def test_are_python(self):
        files = sorted(folder.glob("*.py"))
        self.assertIn("train.py", [f.name for f in files])
        for file in files:
            compile(file.read_text(), file, "exec")

    @unittest.skipUnless(opencl, "no OpenCL device")
    def test_attention_is_right_and_what_it_asks_for_is_written_down(self):
        with tempfile.TemporaryDirectory() as home:
            db = os.path.join(home, "a.db")
            said = subprocess.run([sys.executable, "-W", "error", folder / "attention.py"], capture_output=True, text=True,
                                  env={**os.environ, "CUTUNE_DB": db})
            self.assertEqual((said.returncode, said.stderr), (0, ""))
            wanted = subprocess.run([os.environ["CUTUNE_PROGRAM"], "list", "--wanted", "--db", db], capture_output=True, text=True).stdout
        self.assertRegex(said.stdout, r"softmax by \w+ .*: default.*\nlargest error \de-0[6-9]\n")
        for problem in "m=111,n=333,k=64,tb=1", "softmax  f32    m=111,n=333", "m=111,n=96,k=333":
            self.assertIn(problem, wanted)


if __name__ == "__main__":
    unittest.main()
