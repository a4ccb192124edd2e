/* SPDX-License-Identifier: Apache-2.0 */
/* 4-bit floats: conversions in both directions against the nearest of the eight numbers, ties, signs, infinities and
 * NaN; the same on host and device; pairs and fours. */
#include <cuda_fp4.h>

#include "check.h"

static const double numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

/* The nearest number's code; of two that are as near, the even one. */
static unsigned nearest(double x) {
    const double size = fabs(x);
    unsigned best = 0;
    for (unsigned i = 1; i < 8; i++) {
        const double further = fabs(numbers[i] - size) - fabs(numbers[best] - size);
        if (further < 0 || (further == 0 && i % 2 == 0)) best = i;
    }
    if (size > 6) best = 7; /* infinity, too */
    return best | (signbit(x) ? 8 : 0);
}

__global__ void convert(const float *x, int n, unsigned char *codes, float *back, unsigned short *fours) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __nv_fp4_e2m1 v(x[i]);
    codes[i] = v.__x;
    back[i] = (float)v;
    const __nv_fp4x4_e2m1 four(make_float4(x[i], 1.0f, -x[i], -6.0f));
    fours[i] = four.__x;
}

static void check_one(float x) {
    const unsigned wanted = nearest(x);
    CHECK_EQ((unsigned)__nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest), wanted);
    CHECK_EQ((unsigned)__nv_fp4_e2m1((double)x).__x, wanted);
}

int main() {
    for (unsigned code = 0; code < 16; code++) {
        __nv_fp4_e2m1 v;
        v.__x = (unsigned char)code;
        const double wanted = code < 8 ? numbers[code] : -numbers[code - 8];
        CHECK_EQ((double)(float)v, wanted);
        CHECK_EQ((double)v, wanted);
        CHECK_EQ((double)__half2float((__half)v), wanted);
        CHECK_EQ((double)__bfloat162float((__nv_bfloat16)v), wanted);
        CHECK_EQ((bool)v, wanted != 0);
        CHECK_EQ((double)__half2float(__half(__nv_cvt_fp4_to_halfraw(v.__x, __NV_E2M1))), wanted);
        check_one((float)wanted);
    }
    const int n = 4001;
    float *x = check_managed<float>(n), *back = check_managed<float>(n);
    unsigned char *codes = check_managed<unsigned char>(n);
    unsigned short *fours = check_managed<unsigned short>(n);
    for (int i = 0; i < n; i++)
        x[i] = (i - 2000) / 256.0f; /* all ties are among them */
    convert<<<(n + 255) / 256, 256>>>(x, n, codes, back, fours);
    KERNEL_OK();
    for (int i = 0; i < n; i++) {
        const unsigned wanted = nearest(x[i]);
        check_one(x[i]);
        CHECK_EQ((unsigned)codes[i], wanted);
        CHECK_EQ((double)back[i], (wanted & 8 ? -1 : 1) * numbers[wanted & 7]);
        CHECK_EQ((unsigned)fours[i], wanted | 2u << 4 | (wanted ^ 8) << 8 | 15u << 12);
    }
    check_one(INFINITY);
    check_one(-INFINITY);
    check_one(-0.0f);
    check_one(1e30f);
    CHECK_EQ((unsigned)__nv_cvt_float_to_fp4(NAN, __NV_E2M1, cudaRoundNearest), 7u);
    CHECK_EQ((unsigned)__nv_cvt_halfraw_to_fp4(__half_raw(__float2half(2.6f)), __NV_E2M1, cudaRoundNearest), 5u);
    CHECK_EQ((unsigned)__nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw(__float2bfloat16(-4.0f)), __NV_E2M1, cudaRoundNearest), 14u);

    const __nv_fp4x2_e2m1 pair(make_float2(0.5f, -3.0f));
    CHECK_EQ((unsigned)pair.__x, 1u | 13u << 4);
    CHECK_EQ((double)((float2)pair).x, 0.5);
    CHECK_EQ((double)((float2)pair).y, -3.0);
    CHECK_EQ((unsigned)__nv_fp4x2_e2m1(__floats2half2_rn(6.0f, 1.5f)).__x, 7u | 3u << 4);
    const float4 four = (float4)__nv_fp4x4_e2m1(make_double4(1, -2, 3, -4));
    CHECK(four.x == 1 && four.y == -2 && four.z == 3 && four.w == -4);
    CHECK_EQ((unsigned)sizeof(__nv_fp4_e2m1), 1u);
    CHECK_EQ((unsigned)sizeof(__nv_fp4x4_e2m1), 2u);
    return check_done();
}
