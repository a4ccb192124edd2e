/* SPDX-License-Identifier: Apache-2.0 */
// DEVICES: cpu sim (the driver's stand-in does not have these instructions)
/* Inline PTX: narrowing to 16 bits by directed rounding, comparisons of pairs of halves. */
#include "check.h"

#define NARROW(name, how)                                                                          \
    __device__ unsigned short name(float value)                                                    \
    {                                                                                              \
        unsigned short bits;                                                                       \
        asm("cvt." how ".f16.f32 %0, %1;" : "=h"(bits) : "f"(value));                              \
        return bits;                                                                               \
    }
NARROW(to_zero, "rz")
NARROW(down, "rm")
NARROW(up, "rp")

/* By rounding to zero, down, up. */
__global__ void narrow(unsigned short *bits, const float *values, int count)
{
    int i = threadIdx.x;
    if (i >= count) return;
    bits[3 * i] = to_zero(values[i]);
    bits[3 * i + 1] = down(values[i]);
    bits[3 * i + 2] = up(values[i]);
}

/* Of (1, 4) < (2, 3): predicates, 1.0 each, 16 bits each. */
__global__ void compare(unsigned *results)
{
    unsigned a = 0x44003c00, b = 0x42004000, low, high, ones, masks;
    asm("{ .reg .pred p, q; setp.lt.f16x2 p|q, %2, %3; selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
        : "=r"(low), "=r"(high)
        : "r"(a), "r"(b));
    asm("set.lt.f16x2.f16x2 %0, %1, %2;" : "=r"(ones) : "r"(a), "r"(b));
    asm("set.lt.u32.f16x2 %0, %1, %2;" : "=r"(masks) : "r"(a), "r"(b));
    results[0] = low;
    results[1] = high;
    results[2] = ones;
    results[3] = masks;
}

int main()
{
    static const float values[] = {1.0f, 1.0001f, -1.0001f, 1e6f, -1e6f, 1e-10f, -1e-10f};
    static const unsigned short wanted[] = {
        0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c01, 0xbc00, 0xbc01, 0xbc00, 0x7bff, 0x7bff,
        0x7c00, 0xfbff, 0xfc00, 0xfbff, 0x0000, 0x0000, 0x0001, 0x8000, 0x8001, 0x8000};
    enum { COUNT = sizeof values / sizeof *values };
    float *in;
    unsigned short *bits;
    unsigned *results;
    CUDA_OK(cudaMallocManaged(&in, sizeof values));
    CUDA_OK(cudaMallocManaged(&bits, sizeof wanted));
    CUDA_OK(cudaMallocManaged(&results, 4 * sizeof *results));
    for (int i = 0; i < COUNT; i++) in[i] = values[i];
    narrow<<<1, 32>>>(bits, in, COUNT);
    compare<<<1, 1>>>(results);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3 * COUNT; i++) CHECK_EQ(bits[i], wanted[i]);
    CHECK_EQ(results[0], 1u);
    CHECK_EQ(results[1], 0u);
    CHECK_EQ(results[2], 0x3c00u);
    CHECK_EQ(results[3], 0xffffu);
    return check_done();
}
