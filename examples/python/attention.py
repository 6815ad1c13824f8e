"""One head of attention, softmax(Q K' / sqrt(d)) V, from three of cutune's kernels, for the arrays of NumPy or CuPy.

    python3 attention.py            NumPy, on an OpenCL device
    python3 attention.py cupy       CuPy, on its current device and stream
    cutune run --wanted             tunes what it asked for; the next run takes that up
"""

import importlib
import math
import sys

import cutune

np = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "numpy")


def attention(q, k, v):
    (m, d), n = q.shape, len(k)
    scores = cutune.gemm(np.empty((m, n), q.dtype), 1 / math.sqrt(d), q, k, 0.0, tb=1)  # k lies in memory transposed
    return cutune.gemm(np.empty((m, v.shape[1]), q.dtype), 1.0, cutune.softmax(scores), v, 0.0)


def expected(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True) @ v


cutune.open(capture=True)  # what was not tuned is written down
np.random.seed(1)
q, k, v = (np.random.standard_normal(shape).astype("float32") for shape in ((111, 64), (333, 64), (333, 96)))
out = attention(q, k, v)
print("softmax by", cutune.why("softmax", np.empty((111, 333), "float32")))
print(f"largest error {float(abs(out - expected(q, k, v)).max()):.0e}")
np.testing.assert_allclose(out, expected(q, k, v), atol=1e-4)
