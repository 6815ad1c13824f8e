"""Ops called with PyTorch's tensors, on the processor; skipped without PyTorch. bench/python_calls.py is for GPUs."""

import subprocess
import sys
import unittest
import warnings

import numpy

import cutune
import scripts
from test_calls import opencl

try:
    import torch
except ImportError:
    torch = None


@unittest.skipUnless(torch and opencl, "no PyTorch, or no OpenCL device")
class Torch(unittest.TestCase):
    def test_transposes_any_type(self):
        for dtype in torch.float32, torch.bfloat16, torch.int8, torch.complex64:
            x = (torch.rand(37, 5) * 100).to(dtype)
            out = cutune.transpose(x)
            self.assertIs(type(out), torch.Tensor)
            self.assertEqual(out.dtype, dtype)
            self.assertTrue(torch.equal(out, x.t()))

    def test_refuses_in_one_line(self):
        x = torch.rand(3, 4)
        freed = torch.rand(3, 4)
        freed.untyped_storage().resize_(0)
        for line, call in (
            ("in is not contiguous", lambda: cutune.transpose(x.t())),
            ("in has no elements", lambda: cutune.transpose(x[:0])),
            ("in is of bool", lambda: cutune.transpose(x > 0)),
            ("in requires a gradient", lambda: cutune.transpose(x.clone().requires_grad_())),
            ("in cannot be read: ", lambda: cutune.transpose(torch.empty(3, 4, device="meta"))),
            ("in cannot be read: ", lambda: cutune.transpose(torch.eye(3).to_sparse())),
            ("in is null", lambda: cutune.transpose(freed)),
        ):
            with self.subTest(line), self.assertRaises(cutune.InvalidError) as raised:
                call()
            self.assertIn(line, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        with torch.no_grad():
            cutune.transpose(x.clone().requires_grad_())

    def test_refuses_what_is_no_tensor(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        x = torch.rand(3, 4)
        for other in torch.nn.Linear(2, 2), x.shape, x.dtype, x.untyped_storage(), torch:
            with self.assertRaisesRegex(TypeError, r"^transpose: in is a \w+, not an array"):
                cutune.transpose(other)
        with FakeTensorMode() as fake:
            x = fake.from_tensor(x)
            for call in (lambda: cutune.rmsnorm(x, numpy.ones(4, "float32"), 1e-5), lambda: cutune.rmsnorm(x, w=5, eps=1e-5),
                         lambda: cutune.transpose(x, out=numpy.ones((4, 3), "float32"))):
                with self.assertRaisesRegex(TypeError, "^(rmsnorm|transpose): torch traces this call, so all arrays have to be tensors$"):
                    call()

    def test_refuses_what_pytorch_has_yet_to_negate_or_conjugate(self):
        z = torch.full((2, 3), 1 + 2j)
        one = z[:1, :1].conj().imag  # of more its elements have gaps between them, which are refused anyway
        for line, call in (
            ("in is conjugated, which its memory is not: pass in.resolve_conj()", lambda: cutune.transpose(z.conj())),
            ("out is conjugated", lambda: cutune.transpose(z, out=torch.empty(3, 2, dtype=z.dtype).conj())),
            ("in is negated, which its memory is not: pass in.resolve_neg()", lambda: cutune.transpose(one)),
            ("out is negated", lambda: cutune.transpose(torch.zeros(1, 1), out=one)),
        ):
            with self.subTest(line), self.assertRaises(cutune.InvalidError) as raised:
                call()
            self.assertIn(line, str(raised.exception))
        self.assertTrue(torch.equal(cutune.transpose(z.conj().resolve_conj()), z.t().conj()))
        self.assertEqual(cutune.transpose(one.resolve_neg()).item(), -2)
        self.assertEqual(cutune.transpose(z[:1, :1].imag).item(), 2)

    def test_a_write_counts_once_whoever_makes_the_call(self):
        class Named(torch.Tensor):
            pass

        x = torch.rand(3, 4)
        traced = torch.compile(lambda x, out: cutune.transpose(x, out=out), backend="eager")
        for call in (lambda out: cutune.transpose(x, out=out), lambda out: torch.ops.cutune.transpose_out(x, out), lambda out: traced(x, out),
                     lambda out: cutune.transpose(x.as_subclass(Named), out=out)):
            out = torch.empty(4, 3)
            call(out)
            self.assertEqual(out._version, 1)
            self.assertTrue(torch.equal(out, x.t()))

    def test_refuses_to_overwrite_what_a_gradient_is_asked_of(self):
        class Named(torch.Tensor):
            pass

        x, square = torch.rand(3, 4), torch.ones(3, 3).as_subclass(Named)
        w = torch.ones(4, 3, requires_grad=True).as_subclass(Named)
        for call in lambda: cutune.transpose(x, out=w * 2), lambda: cutune.gemm(square, 1.0, w[:3], torch.ones(3, 3), 0.0):
            with self.assertRaisesRegex(cutune.InvalidError, "(out|a) requires a gradient"):
                call()
            with torch.no_grad():
                call()
        with torch.autograd.forward_ad.dual_level(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's own, of what it did to find out
            dual = torch.autograd.forward_ad.make_dual(x, x).as_subclass(Named)
            with self.assertRaisesRegex(cutune.InvalidError, "in_ has a tangent"):
                cutune.transpose(dual, out=torch.empty(4, 3))

    def test_forward_mode_without_tangents_is_no_matter(self):
        x, out = torch.rand(3, 4), torch.empty(4, 3)
        with torch.autograd.forward_ad.dual_level():
            torch.ops.cutune.transpose_out(x, out)
        self.assertTrue(torch.equal(out, x.t()))

    def test_threads_that_begin_at_once_register_an_op_once(self):
        code = """if True:
            import threading, torch, cutune
            barrier = threading.Barrier(8)
            def begin():
                barrier.wait()
                cutune.softmax(torch.ones(2, 3))
            threads = [threading.Thread(target=begin) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(hasattr(torch.ops.cutune, "softmax"), hasattr(torch.ops.cutune, "softmax_2"))"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("True False\n", ""))

    def test_takes_subclasses(self):
        class Named(torch.Tensor):
            pass

        class Wrapper(torch.Tensor):
            @staticmethod
            def __new__(cls, of):
                return torch.Tensor._make_wrapper_subclass(cls, of.shape, dtype=of.dtype, strides=of.stride())

            def __init__(self, of):
                self.of = of

            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                return cls(function(*[a.of if isinstance(a, cls) else a for a in args], **(kwargs or {})))

        x, out = torch.rand(3, 4), torch.empty(4, 3).as_subclass(Named)
        for made in cutune.transpose(x.as_subclass(Named)), cutune.transpose(x.as_subclass(Named), out=out):
            self.assertIs(type(made), Named)
            self.assertTrue(torch.equal(made.as_subclass(torch.Tensor), x.t()))
        self.assertIs(cutune.transpose(x, out=out), out)
        cutune.check("transpose", x.as_subclass(Named), reference=lambda x: x.t())
        self.assertTrue(torch.equal(cutune.transpose(Wrapper(x)).of, x.t()))

    def test_is_seen_by_what_traces_with_plain_tensors(self):
        from torch.fx.experimental.proxy_tensor import make_fx

        x, zeros = torch.rand(2, 3), torch.zeros(2, 3)
        cutune.transpose(x)
        for trace, call in (make_fx, cutune.transpose), (lambda f: lambda x: torch.jit.trace(f, (x,)), torch.ops.cutune.transpose):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # which one of PyTorch's own ways is out of favour
                traced = trace(lambda x: call(x) + 1)(x)
            self.assertTrue(torch.equal(traced(x), x.t() + 1))
            self.assertTrue(torch.equal(traced(zeros), torch.ones(3, 2)))
        self.assertTrue(torch.equal(cutune.transpose(x), x.t()))

    def test_refuses_tangents(self):
        from torch.autograd import forward_ad

        x = torch.rand(2, 3)
        with forward_ad.dual_level():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # as above
                dual = forward_ad.make_dual(x, x)
            for call in cutune.transpose, torch.ops.cutune.transpose:
                with self.assertRaisesRegex(cutune.InvalidError, r"in has a tangent .*: pass in.detach\(\)"):
                    call(dual)
            self.assertTrue(torch.equal(cutune.transpose(x), x.t()))

    def test_tells_pytorch_what_it_writes(self):
        """Else a backward pass would go by numbers that are not there any more."""
        a, b, c = torch.rand(2, 4), torch.rand(4, 3), torch.rand(2, 3)
        for write in lambda: cutune.transpose(torch.rand(3, 2), out=c), lambda: cutune.gemm(c, 1.0, a, b, 0.0):
            w = torch.ones(2, 3, requires_grad=True)
            lost = (w * c).sum()
            write()
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                lost.backward()
        self.assertEqual((a._version, b._version), (0, 0))
        with torch.inference_mode():  # whose tensors have no versions
            cutune.transpose(torch.rand(3, 2), out=torch.empty(2, 3))

    def test_is_a_custom_op(self):
        x, w, c = torch.rand(6, 8), torch.rand(8), torch.zeros(6, 5)
        a, b = torch.rand(6, 8), torch.rand(8, 5)
        cutune.transpose(x), cutune.rmsnorm(x, w, 1e-5), cutune.gemm(c, 1.0, a, b, 0.0)
        for op, args in (
            (torch.ops.cutune.transpose.default, (x,)),
            (torch.ops.cutune.transpose_out.default, (x, torch.empty(8, 6))),
            (torch.ops.cutune.rmsnorm.default, (x, w, 1e-5)),
            (torch.ops.cutune.gemm.default, (c, 1.0, a, b, 0.0)),
        ):
            self.assertEqual(set(torch.library.opcheck(op, args).values()), {"SUCCESS"})

    def test_is_a_custom_op_whatever_its_arguments_are_called(self):
        args = 'output("stream", "T", { "n" }), input("in_", "T", { "n" }), input("in", "T", { "n" })'
        clash = scripts.load("lambda", args, "GLOBAL T *out, GLOBAL const T *a, GLOBAL const T *b", "out[i] = a[i] - b[i]")
        a, b, out = torch.rand(5), torch.rand(5), torch.empty(5)
        compiled = torch.compile(lambda a, b, out: clash(in__=b, in_=a, stream_=out) + 1, fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(a, b, out), a - b + 1))
        self.assertTrue(torch.equal(out, a - b))

    def test_compiles_without_graph_breaks(self):
        def forward(x, w, out):
            y = cutune.rmsnorm(cutune.transpose(x * 2), w, 1e-5)
            return cutune.transpose(y, out=out).sin()

        x, w, out = torch.rand(48, 64), torch.rand(48), torch.empty(48, 64)
        want = forward(x, w, torch.empty_like(out))
        got = torch.compile(forward, fullgraph=True, backend="aot_eager")(x, w, out)
        self.assertTrue(torch.equal(got, want))

    def test_says_in_traced_programs_that_there_is_no_derivative(self):
        forward = torch.compile(lambda x: cutune.softmax(x).sum(), backend="aot_eager")
        with self.assertRaisesRegex(Exception, "no autograd formula"):
            forward(torch.rand(3, 4, requires_grad=True)).backward()

    def test_fake_tensors(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        x = torch.rand(2, 3, 4)
        cutune.transpose(x)
        with FakeTensorMode() as fake:
            out = cutune.transpose(fake.from_tensor(x))
            with self.assertRaisesRegex(cutune.InvalidError, "a look-up takes tensors with data"):
                cutune.lookup("transpose", fake.from_tensor(x))
            self.assertEqual(cutune.lookup("transpose", x).types, "f32")
        self.assertEqual(tuple(out.shape), (2, 4, 3))


if __name__ == "__main__":
    unittest.main()
