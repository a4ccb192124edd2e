/* SPDX-License-Identifier: Apache-2.0 */
/* 64-bit atomics: add, exchange, compare-and-swap, min, max, and, or, xor; contended, values past 32 bits. */
#include "check.h"

typedef unsigned long long u64;
typedef long long i64;
#define N (30 * 192)

__global__ void contend(u64 *u, i64 *s, u64 *old)
{
    u64 i = blockIdx.x * blockDim.x + threadIdx.x;
    old[i] = atomicAdd(&u[0], 0x100000001ull);
    atomicMin(&u[1], 0xffff000000000000ull - i);
    atomicMax(&u[2], 0x8000000000000000ull + i);
    atomicAnd(&u[3], ~(1ull << (i % 60)));
    atomicOr(&u[4], 1ull << (i % 63));
    atomicXor(&u[5], i << 32);
    atomicExch(&u[6], (i << 40) | i);
    atomicCAS(&u[7], 0ull, (i << 33) + 1);
    atomicMin(&s[0], -(i64)(i << 33));
    atomicMax(&s[1], (i64)(i << 33));
    atomicAdd((u64 *)&s[2], (u64)-3LL);
}

__global__ void in_shared(u64 *out)
{
    __shared__ u64 total, largest, bits;
    if (threadIdx.x == 0) {
        total = largest = 0;
        bits = ~0ull;
    }
    __syncthreads();
    atomicAdd(&total, (u64)threadIdx.x << 31);
    atomicMax(&largest, (u64)threadIdx.x << 34);
    atomicAnd(&bits, ~(1ull << (threadIdx.x % 50)));
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = total;
        out[1] = largest;
        out[2] = bits;
        out[3] = atomicExch(&total, 1ull << 50);
        out[4] = atomicCAS(&total, 1ull << 50, 2);
        out[5] = total;
    }
}

int main(void)
{
    u64 *u = check_managed<u64>(8), *old = check_managed<u64>(N), *out = check_managed<u64>(6);
    i64 *s = check_managed<i64>(3);
    u[1] = u[3] = ~0ull;
    contend<<<30, 192>>>(u, s, old);
    KERNEL_OK();
    u64 x = 0, count = N;
    for (u64 i = 0; i < count; i++)
        x ^= i << 32;
    CHECK_EQ(u[0], 0x100000001ull * count);
    CHECK_EQ(u[1], 0xffff000000000000ull - (count - 1));
    CHECK_EQ(u[2], 0x8000000000000000ull + (count - 1));
    CHECK_EQ(u[3], 0xf000000000000000ull);
    CHECK_EQ(u[4], 0x7fffffffffffffffull);
    CHECK_EQ(u[5], x);
    CHECK_EQ(u[6] >> 40, u[6] & 0xffffff);
    CHECK_EQ(u[7] & 1, 1ull);
    CHECK_EQ(s[0], -(i64)((count - 1) << 33));
    CHECK_EQ(s[1], (i64)((count - 1) << 33));
    CHECK_EQ(s[2], -3LL * N);
    static unsigned char seen[N];
    for (int i = 0; i < N; i++) {
        u64 ticket = old[i] & 0xffffffffu;
        CHECK(ticket < N && ticket == old[i] >> 32 && !seen[ticket]);
        if (ticket < N)
            seen[ticket] = 1;
    }
    in_shared<<<1, 256>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], (u64)(255 * 128) << 31);
    CHECK_EQ(out[1], (u64)255 << 34);
    CHECK_EQ(out[2], ~0ull << 50);
    CHECK_EQ(out[3], out[0]);
    CHECK_EQ(out[4], 1ull << 50);
    CHECK_EQ(out[5], 2ull);
    return check_done();
}
