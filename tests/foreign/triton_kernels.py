# SPDX-License-Identifier: Apache-2.0
"""Kernels in Triton, whose compiler makes PTX of them (no GPU is needed), run by libwarpage and compared with NumPy."""
import ctypes
import os
import re
import sys

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from driver import run

random = np.random.default_rng(11)
KEEP = os.environ.get("KEEP_PTX")


def launch(driver, kernel, grid, args, num_warps=4, num_stages=3, **constants):
    """`args`: (name, value) in the kernel's order; arrays, int or float."""
    kinds = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32", "int8": "*i8", "float64": "*fp64"}
    signature, values = {}, []
    for name in kernel.arg_names:
        if name in constants:
            signature[name] = "constexpr"
            continue
        value = args[name]
        if isinstance(value, np.ndarray):
            signature[name] = kinds[str(value.dtype)]
        else:
            signature[name] = "fp32" if isinstance(value, float) else "i32"
            value = ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int32(value)
        values.append(value)
    attrs = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(kernel.arg_names)
             if isinstance(args.get(name), np.ndarray)}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs)
    target = GPUTarget("cuda", int(os.environ.get("TARGET", 80)), 32)
    made = triton.compile(source, target=target, options={"num_warps": num_warps, "num_stages": num_stages})
    ptx = made.asm["ptx"]
    if KEEP:
        with open(os.path.join(KEEP, kernel.__name__ + ".ptx"), "w") as file:
            file.write(ptx)
    entry = re.search(r"\.entry (\w+)\((.*?)\)\s*\n", ptx, re.S)
    values += [ctypes.c_uint64(0)] * (entry.group(2).count(".param") - len(values))  # scratch memory, unused
    grid = (tuple(grid) + (1, 1))[:3]
    driver.launch(ptx, entry.group(1), grid, (32 * num_warps, 1, 1), made.metadata.shared, values)


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


def vector_add(driver):
    n = 5000
    x, y, z = random.random(n, np.float32), random.random(n, np.float32), np.zeros(n, np.float32)
    launch(driver, add_kernel, (5,), {"x": x, "y": y, "z": z, "n": n}, BLOCK=1024)
    np.testing.assert_array_equal(z, x + y)


@triton.jit
def softmax_kernel(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, i < columns, -float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + i, v / tl.sum(v, 0), i < columns)


def softmax(driver):
    rows, columns = 5, 781
    x = random.standard_normal((rows, columns), np.float32)
    out = np.zeros_like(x)
    launch(driver, softmax_kernel, (rows,), {"out": out, "x": x, "columns": columns}, BLOCK=1024)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def norm_kernel(x, y, w, b, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, i < columns, 0.0)
    m = tl.sum(total, 0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, i < columns, 0.0)
        v = tl.where(i < columns, v - m, 0.0)
        squares += v * v
    r = 1 / tl.sqrt(tl.sum(squares, 0) / columns + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, i < columns, 0.0)
        v = (v - m) * r * tl.load(w + i, i < columns) + tl.load(b + i, i < columns)
        tl.store(y + row * columns + i, v, i < columns)


def layer_norm(driver):
    rows, columns = 4, 1151
    x = random.standard_normal((rows, columns), np.float32)
    w, b = random.random(columns, np.float32), random.random(columns, np.float32)
    y, mean, rstd = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    launch(driver, norm_kernel, (rows,), {"x": x, "y": y, "w": w, "b": b, "mean": mean, "rstd": rstd,
                                          "columns": columns, "eps": 1e-5}, BLOCK=256)
    r = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, (x - x.mean(1, keepdims=True)) * r * w + b, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, x.mean(1), atol=1e-6)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TF32: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa, pb = a + i[:, None] * K + k[None, :], b + k[:, None] * N + j[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        va = tl.load(pa, (i[:, None] < M) & (k[None, :] < K - at), 0.0)
        vb = tl.load(pb, (k[:, None] < K - at) & (j[None, :] < N), 0.0)
        total = tl.dot(va, vb, total, input_precision="tf32" if TF32 else "ieee")
        pa += BK
        pb += BK * N
    tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty), (i[:, None] < M) & (j[None, :] < N))


def product(driver, kind, m, n, k, tolerance, tf32=False, **options):
    a, b = (random.standard_normal(shape, np.float32).astype(kind) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    launch(driver, matmul_kernel, (-(-m // 64), -(-n // 64)), {"a": a, "b": b, "c": c, "M": m, "N": n, "K": k},
           BM=64, BN=64, BK=32, TF32=tf32, **options)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=tolerance, atol=tolerance)


def matmul_half(driver):
    product(driver, np.float16, 100, 96, 128, 1e-3)


def matmul_half_pipelined(driver):
    product(driver, np.float16, 128, 64, 256, 1e-3, num_stages=4, num_warps=8)


def matmul_tf32(driver):
    product(driver, np.float32, 64, 80, 96, 5e-2, tf32=True)


def matmul_float(driver):
    product(driver, np.float32, 64, 64, 64, 1e-4)


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    vq = tl.load(q + rows[:, None] * D + d[None, :])
    most = tl.full([BM], -float("inf"), tl.float32)
    weight = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    for at in range(0, N, BN):
        j = at + tl.arange(0, BN)
        vk = tl.load(k + j[None, :] * D + d[:, None])
        s = tl.dot(vq, vk) * scale
        s = tl.where(rows[:, None] >= j[None, :], s, -float("inf"))
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        old = tl.exp2(most - new)
        weight = weight * old + tl.sum(p, 1)
        total = total * old[:, None]
        vv = tl.load(v + j[:, None] * D + d[None, :])
        total = tl.dot(p.to(tl.float16), vv, total)
        most = new
    tl.store(out + rows[:, None] * D + d[None, :], total / weight[:, None])


def flash_attention(driver):
    n, d = 128, 64
    q, k, v = (random.standard_normal((n, d), np.float32).astype(np.float16) for _ in range(3))
    out = np.zeros((n, d), np.float32)
    launch(driver, attention_kernel, (n // 64,), {"q": q, "k": k, "v": v, "out": out, "scale": 0.125 * 1.44269504,
                                                  "N": n}, D=d, BM=64, BN=32)
    s = (q.astype(np.float32) @ k.astype(np.float32).T) * 0.125
    s[np.triu_indices(n, 1)] = -np.inf
    p = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(out, p / p.sum(1, keepdims=True) @ v.astype(np.float32), atol=5e-3)


@triton.jit
def histogram_kernel(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i, i < n, 0), 1, i < n)


def histogram(driver):
    n = 3000
    x, counts = random.integers(0, 16, n, np.int32), np.zeros(16, np.int32)
    launch(driver, histogram_kernel, (3,), {"x": x, "counts": counts, "n": n}, BLOCK=1024)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=16))


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, i < n) / (1 - p), 0.0), i < n)


def dropout(driver):
    n = 4096
    x, out = np.ones(n, np.float32), np.zeros(n, np.float32)
    launch(driver, dropout_kernel, (4,), {"x": x, "out": out, "n": n, "p": 0.25, "seed": 7}, BLOCK=1024)
    kept = out != 0
    np.testing.assert_allclose(out[kept], 1 / 0.75, rtol=1e-6)
    assert 0.72 < kept.mean() < 0.78, kept.mean()


@triton.jit
def scan_kernel(x, sums, order, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(v, 0))
    tl.store(order + i, tl.sort(v))


def scan_and_sort(driver):
    n = 512
    x, sums, order = random.integers(-999, 999, n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    launch(driver, scan_kernel, (1,), {"x": x, "sums": sums, "order": order}, BLOCK=n)
    np.testing.assert_array_equal(sums, np.cumsum(x))
    np.testing.assert_array_equal(order, np.sort(x))


@triton.jit
def gelu_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(y + i, (0.5 * v * (1 + tl.erf(v * 0.70710678))).to(tl.float16), i < n)


def gelu(driver):
    n = 777
    x, y = random.standard_normal(n, np.float32), np.zeros(n, np.float16)
    launch(driver, gelu_kernel, (4,), {"x": x, "y": y, "n": n}, BLOCK=256)
    erf = np.array([__import__("math").erf(v / 2 ** 0.5) for v in x])
    np.testing.assert_allclose(y, 0.5 * x * (1 + erf), atol=2e-3)


CASES = {f.__name__: f for f in (vector_add, softmax, layer_norm, matmul_half, matmul_half_pipelined, matmul_tf32,
                                 matmul_float, flash_attention, histogram, dropout, scan_and_sort, gelu)}
if __name__ == "__main__":
    sys.exit(run(CASES))
