"""Ops called with tensors of PyTorch and arrays of CuPy on a GPU; skipped without one. What calls cost is for bench/python_calls.py."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import cutune

try:
    import torch

    gpus = torch.cuda.device_count()
except ImportError:
    gpus = 0


def rmsnorm(x, w):
    return x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5) * w


def forward(x, w):
    return cutune.rmsnorm(cutune.transpose(x * 2), w, 1e-5).sin()


def wanted(x, w):
    return rmsnorm((x * 2).t(), w).sin()


@unittest.skipUnless(gpus, "no PyTorch with a GPU")
class Cuda(unittest.TestCase):
    def test_transposes_any_type_and_shape(self):
        for dtype in torch.float32, torch.bfloat16, torch.int8, torch.float64, torch.complex128:
            for shape in (1, 1), (37, 5), (1111, 113), (3, 10007), (10007, 3), (255, 257), (2, 33, 65):
                with self.subTest(dtype=dtype, shape=shape):
                    x = (torch.rand(shape, device="cuda") * 100).to(dtype)
                    self.assertTrue(torch.equal(cutune.transpose(x), x.mT))

    def test_takes_the_tables_kernels(self):
        x = torch.rand(255, 257, device="cuda")
        cutune.transpose(x)
        self.assertNotIn("default", cutune.why("transpose", x))

    def test_gemm_is_right(self):
        for m, n, k in (1, 1, 1), (77, 50, 33), (1, 4096, 4096), (300, 2000, 150):
            for dtype, tol in ((torch.float32, 1e-4), (torch.bfloat16, 2e-2)):
                with self.subTest(dtype=dtype, shape=(m, n, k)):
                    a, b = torch.randn(m, k, device="cuda").to(dtype), torch.randn(k, n, device="cuda").to(dtype)
                    c = torch.zeros(m, n, device="cuda", dtype=dtype)
                    cutune.gemm(c, 1.0, a, b, 0.0)
                    want = a.double() @ b.double()
                    self.assertLess(((c.double() - want).abs() / (want.abs() + k**0.5)).max().item(), tol)

    def test_refuses_in_one_line(self):
        x, freed = torch.rand(3, 4, device="cuda"), torch.rand(3, 4, device="cuda")
        freed.untyped_storage().resize_(0)
        for line, call in (
            ("in is not contiguous", lambda: cutune.transpose(x.t())),
            ("in has no elements", lambda: cutune.transpose(x[:0])),
            ("in is of bool", lambda: cutune.transpose(x > 0)),
            ("in is null", lambda: cutune.transpose(freed)),
            ("all have to be on one device", lambda: cutune.transpose(x, out=torch.empty(4, 3))),
            ("all have to be on one device", lambda: cutune.transpose(x.cpu(), out=torch.empty(4, 3, device="cuda"))),
        ):
            with self.subTest(line), self.assertRaises(cutune.Error) as raised:
                call()
            self.assertIn(line, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        torch.cuda.synchronize()

    def test_compiles_without_graph_breaks(self):
        for shape in (48, 64), (333, 1111):
            x, w = torch.rand(shape, device="cuda"), torch.rand(shape[0], device="cuda")
            for mode in "default", "reduce-overhead":
                with self.subTest(shape=shape, mode=mode):
                    compiled = torch.compile(forward, fullgraph=True, mode=mode)
                    for _ in range(4):  # the third of them replays a graph
                        torch.testing.assert_close(compiled(x, w), wanted(x, w), atol=1e-5, rtol=1e-4)
                        x = torch.rand(shape, device="cuda")
            torch.compiler.reset()

    def test_is_a_custom_op(self):
        x, w = torch.rand(6, 8, device="cuda"), torch.rand(8, device="cuda")
        cutune.transpose(x), cutune.rmsnorm(x, w, 1e-5)
        for op, args in (
            (torch.ops.cutune.transpose.default, (x,)),
            (torch.ops.cutune.transpose_out.default, (x, torch.empty(8, 6, device="cuda"))),
            (torch.ops.cutune.rmsnorm.default, (x, w, 1e-5)),
        ):
            self.assertEqual(set(torch.library.opcheck(op, args).values()), {"SUCCESS"})

    def test_is_captured_into_graphs(self):
        x, w = torch.rand(77, 131, device="cuda"), torch.rand(77, device="cuda")
        forward(x, w)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = forward(x, w)
        for _ in range(3):
            x.copy_(torch.rand_like(x))
            graph.replay()
            torch.testing.assert_close(out, wanted(x, w), atol=1e-5, rtol=1e-4)

    def test_goes_on_the_current_stream_and_waits_for_nothing(self):
        x, out = torch.zeros(64, 48, device="cuda"), torch.empty(48, 64, device="cuda")
        cutune.transpose(x, out=out)
        torch.cuda.synchronize()
        side, slept = torch.cuda.Stream(), torch.cuda.Event()
        with torch.cuda.stream(side):
            torch.cuda._sleep(4000000000)  # two seconds of the GPU's clock
            slept.record()
            x.fill_(1)
            cutune.transpose(x, out=out)
            self.assertFalse(slept.query())
        side.synchronize()
        self.assertTrue(bool((out == 1).all()))

    @unittest.skipUnless(gpus > 1, "one GPU")
    def test_follows_the_tensors_device(self):
        for i in 1, 0, 1:
            x = torch.rand(111, 77, device=f"cuda:{i}")
            out = cutune.transpose(x)  # while the current device is another
            self.assertEqual(out.device, x.device)
            self.assertTrue(torch.equal(out, x.t()))
        with self.assertRaises(cutune.Error) as raised:
            cutune.transpose(x, out=torch.empty(77, 111, device="cuda:0"))
        self.assertNotIn("\n", str(raised.exception))

    def test_trains(self):
        train = pathlib.Path(__file__).parents[2] / "examples" / "python" / "train.py"
        with tempfile.TemporaryDirectory() as home:
            env = {**os.environ, "CUTUNE_DB": os.path.join(home, "a.db")}
            said = subprocess.run([sys.executable, train], capture_output=True, text=True, env=env)
        self.assertEqual(said.returncode, 0, said.stderr)
        first, last = map(float, re.findall(r"\d+\.\d+", said.stdout)[-2:])
        self.assertLess(last, first / 2)

    def test_takes_arrays_of_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("no CuPy")
        x = cupy.random.rand(113, 1111, dtype="float32")
        out = cutune.transpose(x)
        self.assertIs(type(out), cupy.ndarray)
        self.assertTrue(bool((out == x.T).all()))
        for view in x[::-1], x[:, ::2], x[:0]:
            with self.assertRaises(cutune.InvalidError):
                cutune.transpose(view)


if __name__ == "__main__":
    unittest.main()
