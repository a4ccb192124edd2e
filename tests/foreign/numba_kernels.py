# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python, of which Numba makes PTX (no GPU is needed), run by libwarpage and compared with NumPy."""
import ctypes
import math
import os
import re
import sys

import numpy as np

os.environ.setdefault("NUMBA_CUDA_USE_NVIDIA_BINDING", "0")
from numba import cuda, float32, float64, int32, types, uint32  # noqa: E402

from driver import run  # noqa: E402

random = np.random.default_rng(5)
KEEP = os.environ.get("KEEP_PTX")


def launch(driver, function, grid, block, *args, **options):
    """An array is seven arguments: two pointers, items, bytes of an item, data, shape, strides."""
    kinds = {"float32": float32, "float64": float64, "int32": int32, "uint32": uint32}
    signature, values = [], []
    for arg in args:
        if isinstance(arg, np.ndarray):
            signature.append(types.Array(kinds[str(arg.dtype)], arg.ndim, "C"))
            values += [ctypes.c_uint64(0), ctypes.c_uint64(0), ctypes.c_int64(arg.size), ctypes.c_int64(arg.itemsize),
                       arg]
            values += [ctypes.c_int64(n) for n in arg.shape + arg.strides]
        else:
            signature.append(float32 if isinstance(arg, float) else int32)
            values.append(ctypes.c_float(arg) if isinstance(arg, float) else ctypes.c_int32(arg))
    ptx, _ = cuda.compile_ptx(function, tuple(signature), cc=(8, 0), **options)
    if KEEP:
        with open(os.path.join(KEEP, "numba_" + function.__name__ + ".ptx"), "w") as file:
            file.write(ptx)
    entry = re.search(r"\.entry (\w+)\(", ptx).group(1)
    driver.launch(ptx, entry, (grid + (1, 1))[:3], (block + (1, 1))[:3], 0, values)


def add(x, y, z):
    i = cuda.grid(1)
    if i < z.size:
        z[i] = x[i] + y[i]


def vector_add(driver):
    x, y = random.random(1000), random.random(1000)
    z = np.zeros(1000)
    launch(driver, add, (8,), (128,), x, y, z)
    np.testing.assert_array_equal(z, x + y)


TILE = 16


def tiles(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for at in range(0, a.shape[1], TILE):
        sa[ty, tx] = a[y, at + tx] if y < a.shape[0] and at + tx < a.shape[1] else 0
        sb[ty, tx] = b[at + ty, x] if x < b.shape[1] and at + ty < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def shared_matmul(driver):
    a, b = random.random((50, 40), np.float32), random.random((40, 33), np.float32)
    c = np.zeros((50, 33), np.float32)
    launch(driver, tiles, (3, 4), (TILE, TILE), a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def block_sum(x, sums):
    part = cuda.shared.array(256, float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(sums, 0, part[0])


def reduction(driver):
    x, sums = random.random(3000), np.zeros(1)
    launch(driver, block_sum, (12,), (256,), x, sums)
    np.testing.assert_allclose(sums[0], x.sum(), rtol=1e-12)


def count(x, counts):
    mine = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, x[i] % 32, 1)
    cuda.syncthreads()
    if t < 32:
        cuda.atomic.add(counts, t, mine[t])


def histogram(driver):
    x, counts = random.integers(0, 999, 5000, np.int32), np.zeros(32, np.int32)
    launch(driver, count, (4,), (128,), x, counts)
    np.testing.assert_array_equal(counts, np.bincount(x % 32, minlength=32))


def warp_sum(x, out):
    i = cuda.grid(1)
    v = x[i]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
    votes = cuda.ballot_sync(0xFFFFFFFF, x[i] > 50)
    if cuda.laneid == 0:
        out[i // 32, 0] = v
        out[i // 32, 1] = cuda.popc(votes)


def shuffles(driver):
    x, out = random.integers(0, 100, 128, np.int32), np.zeros((4, 2), np.int32)
    launch(driver, warp_sum, (2,), (64,), x, out)
    rows = x.reshape(4, 32)
    np.testing.assert_array_equal(out, np.stack([rows.sum(1), (rows > 50).sum(1)], 1))


def points(image, left, top, step, most):
    x, y = cuda.grid(2)
    if y >= image.shape[0] or x >= image.shape[1]:
        return
    c = complex(left + x * step, top + y * step)
    z = 0j
    n = 0
    while n < most and z.real * z.real + z.imag * z.imag < 4:
        z = z * z + c
        n += 1
    image[y, x] = n


def mandelbrot(driver):
    image = np.zeros((24, 32), np.int32)
    launch(driver, points, (4, 3), (8, 8), image, -2.0, -1.2, 0.1, 50)
    x, y = np.meshgrid(np.arange(32), np.arange(24))
    c = (np.float32(-2) + x * np.float64(np.float32(0.1))) + 1j * (np.float64(np.float32(-1.2)) + y * np.float64(np.float32(0.1)))
    z, n = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(50):
        live = np.abs(z) < 2
        z[live] = z[live] ** 2 + c[live]
        n[live] += 1
    assert (image != n).mean() < 0.02, (image != n).sum()  # products are fused in the kernel


@cuda.jit(device=True)
def normal(d):
    return 0.5 * math.erfc(-d / math.sqrt(2.0))


def prices(s, k, t, out):
    i = cuda.grid(1)
    if i >= s.size:
        return
    d1 = (math.log(s[i] / k[i]) + (0.02 + 0.045) * t[i]) / (0.3 * math.sqrt(t[i]))
    d2 = d1 - 0.3 * math.sqrt(t[i])
    out[i] = s[i] * normal(d1) - k[i] * math.exp(-0.02 * t[i]) * normal(d2)


def black_scholes(driver):
    n = 500
    s, k, t = 5 + 25 * random.random(n), 1 + 99 * random.random(n), 0.25 + 9.75 * random.random(n)
    out = np.zeros(n)
    launch(driver, prices, (4,), (128,), s, k, t, out)
    d1 = (np.log(s / k) + 0.065 * t) / (0.3 * np.sqrt(t))
    phi = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    np.testing.assert_allclose(out, s * phi(d1) - k * np.exp(-0.02 * t) * phi(d1 - 0.3 * np.sqrt(t)), rtol=1e-9)


def functions(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[i, 0] = math.sin(v)
    out[i, 1] = math.cos(1000 * v)  # reduction of large arguments
    out[i, 2] = math.pow(v + 1, v)
    out[i, 3] = math.tanh(v) + math.atan2(v, 0.3)
    out[i, 4] = math.lgamma(v + 1)
    out[i, 5] = v // 0.07 + v % 0.07


def mathematics(driver):
    x, out = np.linspace(0.1, 4, 64), np.zeros((64, 6))
    launch(driver, functions, (2,), (32,), x, out)
    lgamma = np.vectorize(math.lgamma)(x + 1)
    want = [np.sin(x), np.cos(1000 * x), (x + 1) ** x, np.tanh(x) + np.arctan2(x, 0.3), lgamma, x // 0.07 + x % 0.07]
    np.testing.assert_allclose(out, np.stack(want, 1), rtol=1e-9, atol=1e-12)


def find(x, out):
    buffer = cuda.local.array(8, int32)
    i = cuda.grid(1)
    for k in range(8):
        buffer[k] = x[(i + k) % x.size]
    for k in range(7):  # sorts its eight
        for j in range(7 - k):
            if buffer[j] > buffer[j + 1]:
                buffer[j], buffer[j + 1] = buffer[j + 1], buffer[j]
    out[i] = buffer[3]
    cuda.atomic.max(out, out.size - 1, buffer[7])


def medians(driver):
    x, out = random.integers(0, 1000, 64, np.int32), np.zeros(65, np.int32)
    launch(driver, find, (2,), (32,), x, out)
    want = [sorted(x[(i + k) % 64] for k in range(8))[3] for i in range(64)] + [x.max()]
    np.testing.assert_array_equal(out, want)


CASES = {f.__name__: f for f in (vector_add, shared_matmul, reduction, histogram, shuffles, mandelbrot, black_scholes,
                                 mathematics, medians)}
if __name__ == "__main__":
    sys.exit(run(CASES))
