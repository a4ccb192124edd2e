/* SPDX-License-Identifier: Apache-2.0 */
/* Math functions at zeros, infinities, NaNs and subnormals, as C's annex F says. */
#include "check.h"

#define CASES(X)                                                                                   \
    X(sqrt(-one), nan)                                                                             \
    X(sqrt(-zero), -zero)                                                                          \
    X(log(zero), -inf)                                                                             \
    X(log(-one), nan)                                                                              \
    X(log(inf), inf)                                                                               \
    X(exp(inf), inf)                                                                               \
    X(exp(-inf), zero)                                                                             \
    X(exp(one * 100000), inf)                                                                      \
    X(pow(zero, -one), inf)                                                                        \
    X(pow(-one, inf), one)                                                                         \
    X(pow(nan, zero), one)                                                                         \
    X(pow(one, nan), one)                                                                          \
    X(pow(-one * 8, one / 3), nan)                                                                 \
    X(pow(-one * 2, one * 3), -one * 8)                                                            \
    X(pow(inf, -one), zero)                                                                        \
    X(fmax(nan, one), one)                                                                         \
    X(fmin(one, nan), one)                                                                         \
    X(fmax(nan, nan), nan)                                                                         \
    X(fmod(one, zero), nan)                                                                        \
    X(fmod(one, inf), one)                                                                         \
    X(atan2(zero, -one), (T)3.14159265358979323846)                                                \
    X(atan2(-zero, one), -zero)                                                                    \
    X(atan2(inf, inf), (T)0.78539816339744830962)                                                  \
    X(sin(inf), nan)                                                                               \
    X(cos(-inf), nan)                                                                              \
    X(sin(-zero), -zero)                                                                           \
    X(asin(one * 2), nan)                                                                          \
    X(acosh(one / 2), nan)                                                                         \
    X(atanh(one), inf)                                                                             \
    X(tanh(inf), one)                                                                              \
    X(cbrt(-inf), -inf)                                                                            \
    X(hypot(inf, nan), inf)                                                                        \
    X(floor(-zero), -zero)                                                                         \
    X(rint(one / 2), zero)                                                                         \
    X(round(-one / 2), -one)                                                                       \
    X(rsqrt(zero), inf)                                                                            \
    X(erf(inf), one)                                                                               \
    X(tgamma(zero), inf)                                                                           \
    X(lgamma(one), zero)                                                                           \
    X(one / zero, inf)                                                                             \
    X(zero / zero, nan)                                                                            \
    X(tiny / 2 * 2, tiny)                                                                          \
    X(-zero + zero, zero)                                                                          \
    X(inf - inf, nan)

enum {
#define COUNT(expression, expected) +1
    CASE_COUNT = 0 CASES(COUNT)
};

template <class T> __global__ void compute(T zero, T one, T inf, T nan, T tiny, T *out)
{
    int i = 0;
#define COMPUTE(expression, expected) out[i++] = (T)(expression);
    CASES(COMPUTE)
}

template <class T> static void check_type(T tiny)
{
    T *out = check_managed<T>(CASE_COUNT);
    const T zero = 0, one = 1, inf = (T)INFINITY, nan = (T)NAN;
    compute<T><<<1, 1>>>(zero, one, inf, nan, tiny, out);
    KERNEL_OK();
    int i = 0;
#define COMPARE(expression, expected)                                                              \
    {                                                                                              \
        T got = out[i++], want = (expected);                                                       \
        if (!(check_ulps(got, want) <= 1 && (got != got || signbit(got) == signbit(want)))         \
            && check_note_failure())                                                               \
            printf("FAIL: %s (%zu bytes): expected %g, got %g\n", #expression, sizeof(T),          \
                   (double)want, (double)got);                                                     \
    }
    CASES(COMPARE)
}

__global__ void constants(float *f, double *d)
{
    f[0] = __int_as_float(0x7f800000);
    f[1] = nanf("");
    f[2] = INFINITY;
    f[3] = -HUGE_VALF;
    d[0] = nan("");
    d[1] = (double)INFINITY;
    d[2] = M_PI;
    d[3] = __longlong_as_double(0x7ff0000000000000LL);
}

int main(void)
{
    check_type<float>(1.5e-39f);    /* subnormal: kept without -ftz */
    check_type<double>(1.5e-310);
    float *f = check_managed<float>(4);
    double *d = check_managed<double>(4);
    constants<<<1, 1>>>(f, d);
    KERNEL_OK();
    CHECK(isinf(f[0]) && isnan(f[1]) && isinf(f[2]) && f[3] < 0 && isinf(f[3]));
    CHECK(isnan(d[0]) && isinf(d[1]) && d[2] == M_PI && isinf(d[3]));
    return check_done();
}
