#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes include/warpage/cuda/wp/curand_jumps.h: how the generators of curand_kernel.h skip ahead.

XORWOW (Marsaglia 2003): its five words are a linear map A over two-element numbers, and by Cayley and Hamilton
A^n = p(A) with p = x^n mod A's characteristic polynomial. MRG32k3a (L'Ecuyer 1999): powers of its two matrices.

    tools/curand-jumps.py > include/warpage/cuda/wp/curand_jumps.h
"""

BITS = 160
M32 = 0xFFFFFFFF


def step(v):
    t = v[0] ^ (v[0] >> 2)
    last = (v[4] ^ (v[4] << 4) & M32) ^ (t ^ (t << 1) & M32)
    return [v[1], v[2], v[3], v[4], last]


def characteristic():
    """The shortest recurrence of one output bit (Berlekamp and Massey)."""
    v, bits = [1, 2, 3, 4, 5], []
    for _ in range(4 * BITS):
        v = step(v)
        bits.append(v[4] & 1)
    current, other, length, since = 1, 1, 0, 1
    for n in range(len(bits)):
        d = 0
        for i in range(length + 1):
            d ^= (current >> i & 1) & bits[n - i]
        if d == 0:
            since += 1
            continue
        kept = current
        current ^= other << since
        if 2 * length <= n:
            length, other, since = n + 1 - length, kept, 1
        else:
            since += 1
    assert length == BITS
    return int(bin(current | 1 << BITS + 1)[:2:-1][: BITS + 1], 2)  # reversed: highest power first


def reduced(a, p):
    while a.bit_length() > BITS:
        a ^= p << a.bit_length() - BITS - 1
    return a


def product(a, b, p):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a <<= 1
        b >>= 1
    return reduced(r, p)


def applied(a, v):
    r = [0] * 5
    for i in range(BITS):
        if a >> i & 1:
            r = [x ^ y for x, y in zip(r, v)]
        v = step(v)
    return r


def power_of_two(k, p):
    a = 2  # x
    for _ in range(k):
        a = product(a, a, p)
    return a


def digits(first, p):
    """x^(d 16^k 2^first) for d of 1 to 15 and k of 0 to 15."""
    rows = []
    base = power_of_two(first, p)
    for _ in range(16):
        row, a = [], 1
        for _ in range(15):
            a = product(a, base, p)
            row.append(a)
        rows.append(row)
        base = product(a, base, p)
    return rows


M1, M2 = 4294967087, 4294944443
A1 = ((0, 1, 0), (0, 0, 1), (-810728 % M1, 1403580, 0))
A2 = ((0, 1, 0), (0, 0, 1), (-1370589 % M2, 0, 527612))


def times(a, b, m):
    return tuple(tuple(sum(a[i][k] * b[k][j] for k in range(3)) % m for j in range(3)) for i in range(3))


def squares(a, m, first, count):
    rows = []
    for k in range(first + count):
        if k >= first:
            rows.append(a)
        a = times(a, a, m)
    return rows


def words(numbers):
    return ", ".join("0x%08xu" % n for n in numbers)


def main():
    p = characteristic()
    v = [123456789, 362436069, 521288629, 88675123, 5783321]
    w = v
    for _ in range(1000):
        w = step(w)
    assert applied(reduced(1 << 1000, p), v) == w
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by tools/curand-jumps.py: powers of the generators of curand_kernel.h. */")
    print("#ifndef WARPAGE_CUDA_WP_CURAND_JUMPS_H\n#define WARPAGE_CUDA_WP_CURAND_JUMPS_H\n")
    for name, first, text in (("offset", 0, "d 16^k steps"), ("sequence", 67, "d 16^k 2^67 steps")):
        print("/* XORWOW: the polynomial of %s, at [k][d - 1]; the lowest powers first. */" % text)
        print("static __device__ const unsigned int wp_xorwow_%s[16][15][5] = {" % name)
        for row in digits(first, p):
            print("    {")
            for a in row:
                print("        {%s}," % words([a >> 32 * i & M32 for i in range(5)]))
            print("    },")
        print("};\n")
    for name, first, count, text in (("offset", 0, 64, "2^k"), ("subsequence", 76, 115, "2^(76 + k)")):
        for which, a, m in ((1, A1, M1), (2, A2, M2)):
            print("/* MRG32k3a: its matrix %d to the power of %s. */" % (which, text))
            print("static __device__ const unsigned int wp_mrg%d_%s[%d][9] = {" % (which, name, count))
            for matrix in squares(a, m, first, count):
                print("    {%s}," % words([x for row in matrix for x in row]))
            print("};\n")
    print("#endif")


main()
