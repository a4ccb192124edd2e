/* SPDX-License-Identifier: Apache-2.0 */
/* bfloat16: conversions in all roundings, pairs, comparisons, shuffles, atomics. */
#include "check.h"
#include <cuda_bf16.h>

/* The bfloat16 nearest to x, by looking at both neighbours. */
static unsigned short nearest(double x, int mode) /* 0 nearest even, 1 down, 2 up, 3 to zero */
{
    float f = (float)fabs(x);
    unsigned bits;
    memcpy(&bits, &f, sizeof bits);
    unsigned short low = (unsigned short)(bits >> 16);
    unsigned wide = (unsigned)low << 16;
    float value, next;
    memcpy(&value, &wide, sizeof value);
    if ((double)value > fabs(x)) { /* float rounded up over it */
        low--;
        wide = (unsigned)low << 16;
        memcpy(&value, &wide, sizeof value);
    }
    wide = (unsigned)(low + 1) << 16;
    memcpy(&next, &wide, sizeof next);
    const double below = fabs(x) - value, above = next - fabs(x);
    unsigned short chosen = low;
    if (below != 0) {
        if (mode == 0)
            chosen = below < above || (below == above && (low & 1) == 0) ? low : low + 1;
        else if ((mode == 1 && x < 0) || (mode == 2 && x > 0))
            chosen = low + 1;
    }
    return (unsigned short)(chosen | (x < 0 ? 0x8000u : 0));
}

__global__ void convert(const float *in, const long long *integers, unsigned short *out, int *back)
{
    const int i = threadIdx.x;
    unsigned short *o = out + 8 * i;
    o[0] = __bfloat16_as_ushort(__float2bfloat16_rn(in[i]));
    o[1] = __bfloat16_as_ushort(__float2bfloat16_rd(in[i]));
    o[2] = __bfloat16_as_ushort(__float2bfloat16_ru(in[i]));
    o[3] = __bfloat16_as_ushort(__float2bfloat16_rz(in[i]));
    o[4] = __bfloat16_as_ushort(__ll2bfloat16_rn(integers[i]));
    o[5] = __bfloat16_as_ushort(__int2bfloat16_rz((int)integers[i]));
    o[6] = __bfloat16_as_ushort(__ull2bfloat16_ru((unsigned long long)integers[i]));
    o[7] = __bfloat16_as_ushort(__short2bfloat16_rd((short)integers[i]));
    const __nv_bfloat16 b = __float2bfloat16(in[i]);
    back[4 * i] = __bfloat162int_rn(b);
    back[4 * i + 1] = (int)__bfloat162uint_rz(b);
    back[4 * i + 2] = __bfloat162short_ru(b);
    back[4 * i + 3] = __bfloat162ushort_rd(b);
}

__global__ void pairs(__nv_bfloat162 *sum, __nv_bfloat16 *one, float *out)
{
    const __nv_bfloat162 mine = make_bfloat162(__float2bfloat16(1.0f), __float2bfloat16(2.0f));
    atomicAdd(sum, mine);
    atomicAdd(one, __float2bfloat16(1.0f));
    const __nv_bfloat162 lane =
        __floats2bfloat162_rn((float)threadIdx.x, -(float)threadIdx.x);
    const __nv_bfloat162 other = __shfl_xor_sync(0xffffffffu, lane, 1);
    out[threadIdx.x] = __high2float(other) + __low2float(__hmax2(lane, __hneg2(lane)));
    if (threadIdx.x == 0) {
        out[32] = __low2float(__heq2(lane, lane)) + (__hbgt2(mine, lane) ? 10.0f : 0.0f);
        out[33] = __bfloat162float(hsqrt(__float2bfloat16(16.0f)));
        out[34] = __low2float(h2exp(make_bfloat162(__float2bfloat16(0.0f), __float2bfloat16(1.0f))));
        out[35] = __bfloat162float(__hfma_relu(mine.x, mine.y, __float2bfloat16(-9.0f)));
    }
}

static int clamped(float f, double low, double high)
{
    if (f != f)
        return 0;
    return (int)(long long)(f < low ? low : f > high ? high : f);
}

int main(void)
{
    const int count = 256;
    float *in = check_managed<float>(count);
    long long *integers = check_managed<long long>(count);
    unsigned short *out = check_managed<unsigned short>(8 * count);
    int *back = check_managed<int>(4 * count);
    uint32_t state = 3;
    for (int i = 0; i < count; i++) {
        in[i] = ldexpf((float)(int)check_random(&state), -(int)(check_random(&state) % 40));
        integers[i] = (long long)(((uint64_t)check_random(&state) << 32 | check_random(&state)) >>
                                  (1 + check_random(&state) % 60));
        if (i % 2 == 0)
            integers[i] = -integers[i];
    }
    integers[1] = (1ll << 62) + (1ll << 54) + 1; /* just above the middle of two */
    integers[2] = (1ll << 62) + (1ll << 54);
    convert<<<1, count>>>(in, integers, out, back);
    KERNEL_OK();
    for (int i = 0; i < count; i++) {
        for (int mode = 0; mode < 4; mode++)
            CHECK_EQ(out[8 * i + mode], nearest(in[i], mode));
        if (i != 1) {
            const long long n = integers[i];
            if (llabs(n) < 1ll << 24) /* a double has all digits: the check is exact */
                CHECK_EQ(out[8 * i + 4], nearest((double)n, 0));
        }
        CHECK_EQ(out[8 * i + 5], nearest((double)(int)integers[i], 3));
        CHECK_EQ(out[8 * i + 7], nearest((double)(short)integers[i], 1));
        unsigned wide = (unsigned)out[8 * i] << 16;
        float f;
        memcpy(&f, &wide, sizeof f);
        CHECK_EQ(back[4 * i], clamped(rintf(f), -2147483648.0, 2147483647.0));
        CHECK_EQ((unsigned)back[4 * i + 1],
                 (unsigned)(f <= 0 ? 0 : f >= 4294967295.0 ? 4294967295u : (unsigned)f));
        CHECK_EQ(back[4 * i + 2], clamped(ceilf(f), -32768, 32767));
        CHECK_EQ(back[4 * i + 3], clamped(floorf(f), 0, 65535));
    }
    CHECK_EQ(out[8 * 1 + 4], nearest(4611686018427387904.0 + 36028797018963968.0, 0));
    CHECK_EQ(out[8 * 2 + 4], nearest(4611686018427387904.0, 0)); /* the even one */

    __nv_bfloat162 *sum = check_managed<__nv_bfloat162>(1);
    __nv_bfloat16 *one = check_managed<__nv_bfloat16>(2);
    float *seen = check_managed<float>(36);
    pairs<<<1, 32>>>(sum, one, seen);
    KERNEL_OK();
    CHECK_EQ(__bfloat162float(sum->x), 32.0f);
    CHECK_EQ(__bfloat162float(sum->y), 64.0f);
    CHECK_EQ(__bfloat162float(one[0]), 32.0f);
    CHECK_EQ(__bfloat162float(one[1]), 0.0f);
    for (int i = 0; i < 32; i++)
        CHECK_EQ(seen[i], -(float)(i ^ 1) + i);
    CHECK_EQ(seen[32], 11.0f);
    CHECK_EQ(seen[33], 4.0f);
    CHECK_EQ(seen[34], 1.0f);
    CHECK_EQ(seen[35], 0.0f);
    volatile __nv_bfloat16 kept = __float2bfloat16(1.5f);
    kept = (__nv_bfloat16_raw)__float2bfloat16(2.5f);
    const __nv_bfloat16 copy(kept);
    CHECK_EQ(__bfloat162float(copy), 2.5f);
    return check_done();
}
