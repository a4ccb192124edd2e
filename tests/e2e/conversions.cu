/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between numbers: rounding modes, saturation, NaN, reinterpretation, casts in C. */
#include "check.h"

__global__ void to_int(const float *f, const double *d, int n, int *out, long long *wide)
{
    for (int t = 0; t < n; t++, out += 16, wide += 12) {
        float x = f[t];
        double y = d[t];
        int i = 0;
        out[i++] = __float2int_rn(x);
        out[i++] = __float2int_rz(x);
        out[i++] = __float2int_ru(x);
        out[i++] = __float2int_rd(x);
        out[i++] = (int)__float2uint_rn(x);
        out[i++] = (int)__float2uint_rz(x);
        out[i++] = (int)__float2uint_ru(x);
        out[i++] = (int)__float2uint_rd(x);
        out[i++] = __double2int_rn(y);
        out[i++] = __double2int_rz(y);
        out[i++] = __double2int_ru(y);
        out[i++] = __double2int_rd(y);
        out[i++] = (int)__double2uint_rn(y);
        out[i++] = (int)__double2uint_rz(y);
        out[i++] = (int)__double2uint_ru(y);
        out[i++] = (int)__double2uint_rd(y);
        i = 0;
        wide[i++] = __float2ll_rn(x);
        wide[i++] = __float2ll_rz(x);
        wide[i++] = __float2ll_ru(x);
        wide[i++] = __float2ll_rd(x);
        wide[i++] = __double2ll_rn(y);
        wide[i++] = __double2ll_rz(y);
        wide[i++] = __double2ll_ru(y);
        wide[i++] = __double2ll_rd(y);
        wide[i++] = (long long)__float2ull_rz(x);
        wide[i++] = (long long)__float2ull_rn(x);
        wide[i++] = (long long)__double2ull_rz(y);
        wide[i++] = (long long)__double2ull_ru(y);
    }
}

__global__ void to_real(int *same, float *f, double *d)
{
    int i = 0;
    f[i++] = __int2float_rn(16777217);
    f[i++] = __int2float_rz(-16777219);
    f[i++] = __int2float_ru(16777217);
    f[i++] = __int2float_rd(-16777217);
    f[i++] = __uint2float_rn(0xffffffffu);
    f[i++] = __uint2float_rz(0xffffffffu);
    f[i++] = __ll2float_rn(0x7fffffffffffffffLL);
    f[i++] = __ll2float_rz(0x7fffffffffffffffLL);
    f[i++] = __ull2float_rd(0xffffffffffffffffull);
    f[i++] = __double2float_rn(1.0 + 1e-8);
    f[i++] = __double2float_ru(1.0 + 1e-8);
    f[i++] = __double2float_rd(-1.0 - 1e-8);
    f[i++] = __double2float_rz(-1.0 - 1e-8);
    i = 0;
    d[i++] = __int2double_rn(-7);
    d[i++] = __uint2double_rn(0xfffffffeu);
    d[i++] = __ll2double_rn(9007199254740993LL);
    d[i++] = __ll2double_ru(9007199254740993LL);
    d[i++] = __ll2double_rz(9007199254740995LL);
    d[i++] = __ull2double_rd(0xffffffffffffffffull);
    d[i++] = __hiloint2double(0x40091eb8, 0x51eb851f);
    i = 0;
    same[i++] = __float_as_int(-1.5f);
    same[i++] = (int)__float_as_uint(2.0f);
    same[i++] = __int_as_float(0x3fc00000) == 1.5f;
    same[i++] = __uint_as_float(0xbf800000u) == -1.0f;
    same[i++] = __double2hiint(3.14);
    same[i++] = __double2loint(3.14);
    same[i++] = __double_as_longlong(1.0) == 0x3ff0000000000000LL;
    same[i++] = __longlong_as_double(0xc000000000000000LL) == -2.0;
}

/* What C leaves undefined: a conversion ends at the bounds of 32 bits, which are cut, and NaN gives 0. */
__global__ void to_narrow(const float *f, const double *d, int n, int *out)
{
    const int t = threadIdx.x;
    if (t >= n) return;
    out += 8 * t;
    out[0] = (signed char)f[t];
    out[1] = (unsigned char)f[t];
    out[2] = (short)f[t];
    out[3] = (unsigned short)f[t];
    out[4] = (signed char)d[t];
    out[5] = (unsigned char)d[t];
    out[6] = (short)d[t];
    out[7] = (unsigned short)d[t];
}

static unsigned word_of(double x, double least, double most)
{
    if (x != x) return 0;
    return (unsigned)(long long)(x <= least ? least : x >= most ? most : x);
}

static void check_narrow(void)
{
    enum { N = 64 };
    const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.9, -0.9, 127.9, 128, -128.9, -129, 255.5, 256, 32767.9, 32768,
                          -32768.5, -32769, 65535.9, 65536, 1e30, -1e30, 2147483648.0, 4294967296.0};
    const int count = (int)(sizeof odd / sizeof *odd);
    float *f;
    double *d;
    int *out;
    CUDA_OK(cudaMallocManaged(&f, N * sizeof *f));
    CUDA_OK(cudaMallocManaged(&d, N * sizeof *d));
    CUDA_OK(cudaMallocManaged(&out, N * 8 * sizeof *out));
    for (int t = 0; t < N; t++) {
        d[t] = t < count ? odd[t] : (t - 40) * 11.25;
        f[t] = (float)d[t];
    }
    to_narrow<<<1, N>>>(f, d, N, out);
    KERNEL_OK();
    for (int t = 0; t < N; t++)
        for (int from = 0; from < 2; from++) {
            const double x = from ? d[t] : (double)f[t];
            CHECK_EQ(out[8 * t + 4 * from], (signed char)word_of(x, -2147483648.0, 2147483647.0));
            CHECK_EQ(out[8 * t + 4 * from + 1], (unsigned char)word_of(x, 0, 4294967295.0));
            CHECK_EQ(out[8 * t + 4 * from + 2], (short)word_of(x, -2147483648.0, 2147483647.0));
            CHECK_EQ(out[8 * t + 4 * from + 3], (unsigned short)word_of(x, 0, 4294967295.0));
        }
}

__global__ void casts(float f, double d, int i, long long l, unsigned char c, int *out)
{
    out[0] = (int)f;
    out[1] = (signed char)i;
    out[2] = (unsigned short)i;
    out[3] = (int)(f * 2) + (int)d;
    out[4] = (float)l == 1099511627776.0f;
    out[5] = (char)(c + 100);
    out[6] = (bool)f + (bool)0.0;
    out[7] = (int)(unsigned)(l >> 8);
    out[8] = (short)d;
    out[9] = i / -3 - i % -3;
    out[10] = (int)((unsigned)i >> 28);
    out[11] = i >> 28;
}

/* Beyond the type, and known when it is compiled. */
__global__ void of_constants(int *out)
{
    out[0] = __float2int_rz(3e9f);
    out[1] = __double2int_rz(-1e20);
    out[2] = __float2int_rz(NAN);
    out[3] = (int)__float2uint_rz(-5.0f);
    out[4] = (int)(__double2ll_rz(1e30) >> 32);
    out[5] = __ull2float_rz(~0ull) == 18446742974197923840.0f;
}

template <class W> static W clamp_to(long double x, long double low, long double high)
{
    return x < low ? (W)low : x > high ? (W)high : (W)x;
}

static long double round_by(long double x, int mode)
{
    return mode == 0 ? rintl(x) : mode == 1 ? truncl(x) : mode == 2 ? ceill(x) : floorl(x);
}

int main(void)
{
    const double values[] = {0, -0.5, 0.5, 1.5, 2.5, -1.5, -2.5, 0.49, 3.999, -3.999, 123456.75,
                             2147483520.0, -2147483648.0, 3e9, 4294967040.0, 5e9, -5e9, 1e15, -1e15,
                             1e20, -1e20, INFINITY, -INFINITY, NAN};
    const int n = sizeof values / sizeof values[0];
    float *f = check_managed<float>(n);
    double *d = check_managed<double>(n);
    int *out = check_managed<int>(n * 16);
    long long *wide = check_managed<long long>(n * 12);
    for (int i = 0; i < n; i++) {
        f[i] = (float)values[i];
        d[i] = values[i];
    }
    to_int<<<1, 1>>>(f, d, n, out, wide);
    KERNEL_OK();
    const long double long_max = 9223372036854775807.0L, ulong_max = 18446744073709551615.0L;
    for (int t = 0; t < n; t++) {
        bool is_nan = values[t] != values[t];
        for (int k = 0; k < 16; k++) {
            long double x = round_by(k < 8 ? (long double)f[t] : (long double)d[t], k % 4);
            int e = k % 8 < 4 ? clamp_to<int>(x, -2147483648.0L, 2147483647.0L)
                              : (int)clamp_to<unsigned>(x, 0, 4294967295.0L);
            if (is_nan) /* zero from 32 bits to 32 bits, else only the top bit */
                e = k < 8 ? 0 : (int)0x80000000;
            if (out[t * 16 + k] != e && check_note_failure())
                printf("FAIL: 32-bit conversion %d of %g: expected %d, got %d\n", k, values[t], e,
                       out[t * 16 + k]);
        }
        static const int modes[12] = {0, 1, 2, 3, 0, 1, 2, 3, 1, 0, 1, 2};
        for (int k = 0; k < 12; k++) {
            long double x = round_by(k < 4 || k == 8 || k == 9 ? (long double)f[t] : (long double)d[t], modes[k]);
            long long e = k < 8 ? clamp_to<long long>(x, -long_max - 1, long_max)
                                : (long long)clamp_to<unsigned long long>(x, 0, ulong_max);
            if (is_nan)
                e = (long long)0x8000000000000000ull;
            if (wide[t * 12 + k] != e && check_note_failure())
                printf("FAIL: 64-bit conversion %d of %g: expected %lld, got %lld\n", k, values[t], e,
                       wide[t * 12 + k]);
        }
    }
    to_real<<<1, 1>>>(out, f, d);
    KERNEL_OK();
    const float ef[] = {16777216.0f, -16777218.0f, 16777218.0f, -16777218.0f, 4294967296.0f, 4294967040.0f,
                        9223372036854775808.0f, 9223371487098961920.0f, 18446742974197923840.0f, 1.0f,
                        nextafterf(1.0f, 2.0f), -nextafterf(1.0f, 2.0f), -1.0f};
    for (int i = 0; i < 13; i++)
        CHECK_EQ(f[i], ef[i]);
    const double ed[] = {-7.0, 4294967294.0, 9007199254740992.0, 9007199254740994.0, 9007199254740994.0,
                         18446744073709549568.0, 3.14};
    for (int i = 0; i < 7; i++)
        CHECK_EQ(d[i], ed[i]);
    const int es[] = {(int)0xbfc00000, 0x40000000, 1, 1, 0x40091eb8, 0x51eb851f, 1, 1};
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], es[i]);
    casts<<<1, 1>>>(-7.9f, 300.7, -300000001, 1ll << 40, 200, out);
    KERNEL_OK();
    const int ec[] = {-7, (signed char)-300000001, (unsigned short)-300000001, -15 + 300, 1,
                      (signed char)300, 1, 0, 300, -300000001 / -3 - -300000001 % -3,
                      (int)(3994967295u >> 28), -300000001 >> 28};
    for (int i = 0; i < 12; i++)
        CHECK_EQ(out[i], ec[i]);
    of_constants<<<1, 1>>>(out);
    KERNEL_OK();
    const int constants[] = {0x7fffffff, (int)0x80000000, 0, 0, 0x7fffffff, 1};
    for (int i = 0; i < 6; i++)
        CHECK_EQ(out[i], constants[i]);
    check_narrow();
    return check_done();
}
