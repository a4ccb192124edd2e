/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_89
// DEVICES: cpu sim:h200 (the driver's stand-in does not have these instructions)
/* PTX's conversions of pairs of 8-bit floats beside those of cuda_fp8.h: of all halves, of numbers halfway between two
 * 8-bit ones and next to these, of infinities and NaN. */
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check.h"

#define NARROW(name, instruction)                                                                                       \
    __device__ static unsigned short name(float high, float low)                                                        \
    {                                                                                                                   \
        unsigned short pair;                                                                                            \
        asm(instruction " %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));                                              \
        return pair;                                                                                                    \
    }
NARROW(to_e4m3, "cvt.rn.satfinite.e4m3x2.f32")
NARROW(to_e5m2, "cvt.rn.satfinite.e5m2x2.f32")
NARROW(to_e4m3_relu, "cvt.rn.satfinite.relu.e4m3x2.f32")

#define WIDEN(name, instruction)                                                                                        \
    __device__ static unsigned name(unsigned short pair)                                                                \
    {                                                                                                                   \
        unsigned halves;                                                                                                \
        asm(instruction " %0, %1;" : "=r"(halves) : "h"(pair));                                                          \
        return halves;                                                                                                  \
    }
WIDEN(from_e4m3, "cvt.rn.f16x2.e4m3x2")
WIDEN(from_e5m2, "cvt.rn.f16x2.e5m2x2")

__device__ static unsigned short pair_to_e4m3(unsigned halves)
{
    unsigned short pair;
    asm("{ .reg .b16 d; cvt.rn.satfinite.e4m3x2.f16x2 d, %1; mov.b16 %0, d; }" : "=h"(pair) : "r"(halves));
    return pair;
}

__device__ static bool is_nan(unsigned half)
{
    return (half & 0x7fffu) > 0x7c00u;
}

/* Number `i` of those to narrow, and one that differs by at most one unit in the last place of a float. */
__device__ static float number(unsigned i)
{
    const float half = __half2float(__ushort_as_half((unsigned short)(i >> 2)));
    return __int_as_float(__float_as_int(half) + ((i & 3) == 1) - ((i & 3) == 2));
}

__global__ void narrow(unsigned *wrong)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = number(i), y = number(i * 2654435761u >> 14);
    const unsigned short e4m3 = __nv_cvt_float2_to_fp8x2(make_float2(y, x), __NV_SATFINITE, __NV_E4M3);
    const unsigned short e5m2 = __nv_cvt_float2_to_fp8x2(make_float2(y, x), __NV_SATFINITE, __NV_E5M2);
    unsigned bad = to_e4m3(x, y) != e4m3;
    bad += to_e5m2(x, y) != e5m2;
    const float none = x != x ? x : x < 0 ? 0 : x;
    bad += to_e4m3(none, y) >> 8 != to_e4m3_relu(x, y) >> 8 && x != 0;
    const unsigned short half = (unsigned short)(i >> 2);
    bad += (pair_to_e4m3(half | 0x3c000000u) & 0xff) != (to_e4m3(1.0f, __half2float(__ushort_as_half(half))) & 0xff);
    if (bad != 0) atomicAdd(wrong, bad);
}

__global__ void widen(unsigned *wrong)
{
    const unsigned pair = blockIdx.x * blockDim.x + threadIdx.x;
    for (int format = 0; format < 2; format++) {
        const unsigned halves = format == 0 ? from_e4m3((unsigned short)pair) : from_e5m2((unsigned short)pair);
        for (int side = 0; side < 2; side++) {
            const unsigned half = halves >> side * 16 & 0xffff;
            const __half_raw wanted = __nv_cvt_fp8_to_halfraw(pair >> side * 8 & 0xff, format == 0 ? __NV_E4M3 : __NV_E5M2);
            if (half != wanted.x && !(is_nan(half) && is_nan(wanted.x))) atomicAdd(wrong, 1);
        }
    }
}

int main(void)
{
    unsigned *wrong = check_managed<unsigned>(2);
    wrong[0] = wrong[1] = 0;
    narrow<<<1024, 256>>>(&wrong[0]);
    widen<<<256, 256>>>(&wrong[1]);
    KERNEL_OK();
    CHECK_EQ(wrong[0], 0u);
    CHECK_EQ(wrong[1], 0u);
    return check_done();
}
