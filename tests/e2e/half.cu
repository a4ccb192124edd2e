/* SPDX-License-Identifier: Apache-2.0 */
/* __half: storage, conversions in every rounding mode, arithmetic, comparison, math; each result is the
 * correctly rounded one. */
#include "check.h"
#include <cuda_fp16.h>

/* the value of a bit pattern, written from the format's definition */
static double value_of(unsigned short bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return bits & 0x8000 ? -v : v;
}

/* mode 0 nearest even, 1 to zero, 2 up, 3 down */
static unsigned short half_of(double x, int mode)
{
    if (x != x)
        return 0x7fff;
    unsigned short sign = signbit(x) ? 0x8000 : 0;
    double a = fabs(x);
    bool away = (mode == 2 && !sign) || (mode == 3 && sign);
    if (a == INFINITY)
        return sign | 0x7c00;
    int exponent = a > 0 ? ilogb(a) : -100;
    double unit = ldexp(1, (exponent < -14 ? -14 : exponent) - 10), steps = a / unit;
    double whole = mode == 0 ? rint(steps) : away ? ceil(steps) : floor(steps);
    double rounded = whole * unit;
    if (rounded > 65504) {
        bool to_infinity = mode == 0 || away;
        return sign | (to_infinity ? 0x7c00 : 0x7bff);
    }
    int e = rounded > 0 ? ilogb(rounded) : -100;
    if (e < -14)
        return sign | (unsigned short)(rounded / ldexp(1, -24));
    return sign | (unsigned short)((e + 15) << 10 | ((int)(rounded / ldexp(1, e - 10)) - 1024));
}

__global__ void widen(float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half2float(__ushort_as_half((unsigned short)i));
}

__global__ void narrow(const float *in, int n, unsigned short *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[4 * i + 0] = __half_as_ushort(__float2half_rn(in[i]));
    out[4 * i + 1] = __half_as_ushort(__float2half_rz(in[i]));
    out[4 * i + 2] = __half_as_ushort(__float2half_ru(in[i]));
    out[4 * i + 3] = __half_as_ushort(__float2half_rd(in[i]));
}

#define OPS 24
__global__ void arithmetic(const __half *in, int n, unsigned short *out, int *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], d = a;
    __half r[OPS];
    int k = 0;
    r[k++] = __hadd(a, b);
    r[k++] = __hsub(a, b);
    r[k++] = __hmul(a, b);
    r[k++] = __hdiv(a, b);
    r[k++] = __hfma(a, b, c);
    r[k++] = __hneg(a);
    r[k++] = __habs(a);
    r[k++] = a + b;
    r[k++] = a - b;
    r[k++] = a * b;
    r[k++] = a / b;
    d += b;
    r[k++] = d;
    r[k++] = -a;
    r[k++] = hfloor(a);
    r[k++] = hceil(a);
    r[k++] = htrunc(a);
    r[k++] = hrint(a);
    r[k++] = hsqrt(__habs(a));
    r[k++] = __int2half_rn(__half2int_rz(a));
    r[k++] = __float2half(1.0f / 3);
    r[k++] = __double2half(0.1);
    r[k++] = __short2half_rn((short)-77);
    r[k++] = __uint2half_rn(2049u);
    r[k++] = (__half)0.75f;
    for (k = 0; k < OPS; k++)
        out[i * OPS + k] = __half_as_ushort(r[k]);
    flags[i] = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4
               | __hge(a, b) << 5 | __hisnan(a) << 6 | (a == b) << 7 | (a < b) << 8 | (a >= b) << 9;
}

__global__ void functions(const __half *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half a = __habs(in[i]);
    out[i * 8 + 0] = __half2float(hexp(in[i]));
    out[i * 8 + 1] = __half2float(hlog(a));
    out[i * 8 + 2] = __half2float(hsin(in[i]));
    out[i * 8 + 3] = __half2float(hcos(in[i]));
    out[i * 8 + 4] = __half2float(hrcp(in[i]));
    out[i * 8 + 5] = __half2float(hrsqrt(a));
    out[i * 8 + 6] = __half2float(hexp2(in[i]));
    out[i * 8 + 7] = __half2float(hlog2(a));
}

int main(void)
{
    float *wide = check_managed<float>(65536);
    widen<<<256, 256>>>(wide);
    KERNEL_OK();
    for (unsigned i = 0; i < 65536; i++)
        CHECK_NEAR((double)wide[i], value_of((unsigned short)i), 0);

    const int n = 3000;
    float *in = check_managed<float>(n);
    unsigned short *out = check_managed<unsigned short>(n * OPS);
    uint32_t seed = 11;
    for (int i = 0; i < n; i++) {
        uint32_t bits = check_random(&seed);
        if (i % 2) /* exponents that halves have, and a little around */
            bits = (bits & 0x807fffffu) | (98 + check_random(&seed) % 46) << 23;
        memcpy(&in[i], &bits, 4);
        if (i < 8)
            in[i] = i < 2 ? 65519.99f + 0.02f * i : i < 4 ? 65504 + i : i == 4 ? 0.0f : i == 5 ? -0.0f : 6e-8f / (i - 5);
    }
    narrow<<<(n + 127) / 128, 128>>>(in, n, out);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        for (int m = 0; m < 4; m++)
            if (in[i] == in[i])
                CHECK_EQ(out[4 * i + m], half_of(in[i], m));

    __half *halves = (__half *)check_managed<unsigned short>(3 * n);
    unsigned short *bits = (unsigned short *)halves;
    int *flags = check_managed<int>(n);
    for (int i = 0; i < 3 * n; i++) /* moderate numbers, so that a double holds every product and sum */
        bits[i] = (unsigned short)((check_random(&seed) & 0x83ff) | (10 + check_random(&seed) % 10) << 10);
    bits[1] = bits[0];
    arithmetic<<<(n + 63) / 64, 64>>>(halves, n, out, flags);
    KERNEL_OK();
    for (int i = 0; i < n; i++) {
        double a = value_of(bits[3 * i]), b = value_of(bits[3 * i + 1]), c = value_of(bits[3 * i + 2]);
        const double e[OPS] = {a + b, a - b, a * b, a / b, a * b + c, -a, fabs(a), a + b, a - b, a * b,
                               a / b, a + b, -a, floor(a), ceil(a), trunc(a), rint(a), sqrt(fabs(a)),
                               (double)(int)a, (double)(1.0f / 3), 0.1, -77, 2048, 0.75};
        for (int k = 0; k < OPS; k++)
            if (value_of(out[i * OPS + k]) != value_of(half_of(e[k], 0)) && check_note_failure())
                printf("FAIL: operation %d of %g, %g, %g: expected %g, got %g\n", k, a, b, c,
                       value_of(half_of(e[k], 0)), value_of(out[i * OPS + k]));
        CHECK_EQ(flags[i], (a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4
                               | (a >= b) << 5 | (a == b) << 7 | (a < b) << 8 | (a >= b) << 9);
    }

    float *results = check_managed<float>(n * 8);
    functions<<<(n + 63) / 64, 64>>>(halves, n, results);
    KERNEL_OK();
    for (int i = 0; i < n; i++) {
        double a = value_of(bits[i]), p = fabs(a);
        const double e[8] = {exp(a), log(p), sin(a), cos(a), 1 / a, 1 / sqrt(p), exp2(a), log2(p)};
        for (int k = 0; k < 8; k++) {
            double far = fabs(results[i * 8 + k] - e[k]), unit = fabs(e[k]) / 512 + 1e-3;
            if (!(far <= unit) && fabs(e[k]) < 65504 && check_note_failure())
                printf("FAIL: function %d of %g: expected %g, got %g\n", k, a, e[k],
                       (double)results[i * 8 + k]);
        }
    }
    /* on the host */
    for (unsigned i = 0; i < 65536; i++)
        CHECK_NEAR((double)__half2float(__ushort_as_half((unsigned short)i)), value_of((unsigned short)i), 0);
    for (int i = 0; i < n; i++)
        if (in[i] == in[i])
            CHECK_EQ(__half_as_ushort(__float2half_rn(in[i])), half_of(in[i], 0));
    CHECK_EQ(__half2float(__float2half(0.333251953125f)), 0.333251953125f);
    CHECK_EQ(sizeof(__half), (size_t)2);
    volatile __half kept = __float2half(1.5f);
    kept = (__half_raw)__float2half(2.5f);
    const __half copy(kept);
    CHECK_EQ(__half2float(copy), 2.5f);
    __half2 pair;
    pair = (__half2_raw)__floats2half2_rn(3.0f, 4.0f);
    CHECK_EQ(__half2float(pair.y), 4.0f);
    return check_done();
}
