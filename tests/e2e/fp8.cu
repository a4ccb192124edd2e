/* SPDX-License-Identifier: Apache-2.0 */
/* 8-bit floats: every number, every tie between two, both ends, pairs and fours. */
#include "check.h"
#include <cuda_fp8.h>

enum { KINDS = 2, CODES = 128, INPUTS = 3 * CODES };

/* What a code without sign stands for, by the definition of the format. */
static double value_of(int code, int is_e4m3)
{
    const int fraction_bits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
    const int exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    if (exponent == 0)
        return ldexp(fraction, 1 - bias - fraction_bits);
    return ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/* The code of the nearest number, by looking at all; past the largest: its next. */
static int nearest(double x, int is_e4m3, int largest)
{
    int best = 0;
    for (int code = 1; code <= largest + 1; code++) {
        const double d = fabs(value_of(code, is_e4m3) - x), b = fabs(value_of(best, is_e4m3) - x);
        if (d < b || (d == b && (code & 1) == 0))
            best = code;
    }
    return best;
}

__global__ void narrow(const double *in, unsigned char *finite, unsigned char *open, float *wide)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= KINDS * INPUTS)
        return;
    const __nv_fp8_interpretation_t kind = i < INPUTS ? __NV_E4M3 : __NV_E5M2;
    finite[i] = __nv_cvt_double_to_fp8(in[i], __NV_SATFINITE, kind);
    open[i] = __nv_cvt_float_to_fp8((float)-in[i], __NV_NOSAT, kind);
    const __half_raw half = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(i % 256), kind);
    wide[i] = __half2float(__half(half));
}

__global__ void types(float *out, unsigned int *bits)
{
    const __nv_fp8_e4m3 a(3.3f), b(1000), c(__float2half(-0.4375f));
    const __nv_fp8_e5m2 d(-70000.0), e(__float2bfloat16(0.1f)), f(7ull);
    out[0] = (float)a;
    out[1] = (float)b;
    out[2] = __half2float((__half)c);
    out[3] = (float)(double)d;
    out[4] = __bfloat162float((__nv_bfloat16)e);
    out[5] = (float)f;
    const float2 pair = (float2)__nv_fp8x2_e5m2(make_float2(-1.5f, 96.0f));
    out[6] = pair.x;
    out[7] = pair.y;
    const __nv_fp8x4_e4m3 four(make_float4(1.0f, -2.0f, 3.0f, 0.0f));
    const float4 back = (float4)four;
    out[8] = back.x;
    out[9] = back.y;
    out[10] = back.z;
    out[11] = back.w;
    memcpy(&bits[0], &four, sizeof four);
    const __nv_fp8x4_e5m2 of_halves(__floats2half2_rn(1.0f, -2.0f), __floats2half2_rn(3.0f, 0.0f));
    memcpy(&bits[1], &of_halves, sizeof of_halves);
    bits[2] = sizeof(__nv_fp8_e4m3) + 16 * sizeof(__nv_fp8x2_e5m2) + 256 * sizeof(__nv_fp8x4_e4m3);
}

int main(void)
{
    double *in = check_managed<double>(KINDS * INPUTS);
    unsigned char *finite = check_managed<unsigned char>(KINDS * INPUTS);
    unsigned char *open = check_managed<unsigned char>(KINDS * INPUTS);
    float *wide = check_managed<float>(KINDS * INPUTS);
    for (int k = 0; k < KINDS; k++)
        for (int code = 0; code < CODES; code++) {
            const double low = value_of(code, k == 0), high = value_of(code + 1, k == 0);
            double *to = in + k * INPUTS + 3 * code;
            to[0] = low;
            to[1] = (low + high) / 2;
            to[2] = nextafterf((float)to[1], code % 2 ? 0.0f : INFINITY);
        }
    narrow<<<(KINDS * INPUTS + 127) / 128, 128>>>(in, finite, open, wide);
    KERNEL_OK();

    for (int i = 0; i < KINDS * INPUTS; i++) {
        const int is_e4m3 = i < INPUTS, largest = is_e4m3 ? 0x7e : 0x7b;
        const int code = nearest(in[i], is_e4m3, largest);
        CHECK_EQ(finite[i], code > largest ? largest : code);
        CHECK_EQ(open[i], (code <= largest ? code : is_e4m3 ? 0x7f : 0x7c) | 0x80);
        CHECK_EQ(finite[i], __nv_cvt_double_to_fp8(in[i], __NV_SATFINITE,
                                                   is_e4m3 ? __NV_E4M3 : __NV_E5M2));
        const int pattern = i % 256, magnitude = pattern & 0x7f;
        if (magnitude <= largest)
            CHECK_EQ(wide[i], (pattern & 0x80 ? -1 : 1) * value_of(magnitude, is_e4m3));
        else if (!is_e4m3 && magnitude == 0x7c)
            CHECK_EQ(wide[i], pattern & 0x80 ? -INFINITY : INFINITY);
        else
            CHECK(wide[i] != wide[i]);
    }
    CHECK_EQ(__nv_cvt_float_to_fp8(-INFINITY, __NV_SATFINITE, __NV_E4M3), 0xfe);
    CHECK_EQ(__nv_cvt_float_to_fp8(NAN, __NV_SATFINITE, __NV_E4M3), 0x7f);
    CHECK_EQ(__nv_cvt_double_to_fp8(-1e-300, __NV_NOSAT, __NV_E5M2), 0x80);

    float *out = check_managed<float>(12);
    unsigned int *bits = check_managed<unsigned int>(3);
    types<<<1, 1>>>(out, bits);
    KERNEL_OK();
    const float expected[12] = {3.25f, 448.0f, -0.4375f, -57344.0f, 0.09375f, 7.0f,
                                -1.5f, 96.0f,  1.0f,     -2.0f,     3.0f,     0.0f};
    for (int i = 0; i < 12; i++)
        CHECK_EQ(out[i], expected[i]);
    CHECK_EQ(bits[0], 0x0044c038u);
    CHECK_EQ(bits[1], 0x0042c03cu);
    CHECK_EQ(bits[2], 1u + 16 * 2 + 256 * 4);
    return check_done();
}
