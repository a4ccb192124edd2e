/* SPDX-License-Identifier: Apache-2.0 */
/* Math functions of several arguments or results, in float and double by C++'s overloads and by
 * their own names: against the host's long double libm, within CUDA's bounds. */
#include "check.h"

#define N 300
enum { ATAN2, POW, HYPOT, RHYPOT, FMOD, REMAINDER, FDIM, FMAX, FMIN, COPYSIGN, NEXTAFTER, FMA, LDEXP,
       SCALBN, FREXP, MODF, WHOLE, SIN, COS, SINPI, COSPI, NORM3, NORM4, REMQUO, POWI, J0, J1, JN, Y0, Y1, YN, REALS };
enum { ILOGB, FREXP_E, LRINT, LROUND, LLRINT, LLROUND, QUOTIENT, CLASSES, INTS };

template <class T> struct named;
template <> struct named<float> {
    static __device__ float rhypot(float a, float b) { return rhypotf(a, b); }
    static __device__ float norm3(float a, float b, float c) { return norm3df(a, b, c); }
    static __device__ float norm4(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
    static __device__ void sincos_of(float a, float *s, float *c) { sincosf(a, s, c); }
    static __device__ void sincospi_of(float a, float *s, float *c) { sincospif(a, s, c); }
    static __device__ float modf_of(float a, float *i) { return modff(a, i); }
    static __device__ float frexp_of(float a, int *e) { return frexpf(a, e); }
    static __device__ float remquo_of(float a, float b, int *q) { return remquof(a, b, q); }
    static __device__ void bessel(float x, float *o)
    {
        o[0] = j0f(x), o[1] = j1f(x), o[2] = jnf(3, x), o[3] = y0f(x), o[4] = y1f(x), o[5] = ynf(2, x);
    }
};
template <> struct named<double> {
    static __device__ double rhypot(double a, double b) { return ::rhypot(a, b); }
    static __device__ double norm3(double a, double b, double c) { return norm3d(a, b, c); }
    static __device__ double norm4(double a, double b, double c, double d) { return norm4d(a, b, c, d); }
    static __device__ void sincos_of(double a, double *s, double *c) { sincos(a, s, c); }
    static __device__ void sincospi_of(double a, double *s, double *c) { sincospi(a, s, c); }
    static __device__ double modf_of(double a, double *i) { return modf(a, i); }
    static __device__ double frexp_of(double a, int *e) { return frexp(a, e); }
    static __device__ double remquo_of(double a, double b, int *q) { return remquo(a, b, q); }
    static __device__ void bessel(double x, double *o)
    {
        o[0] = j0(x), o[1] = j1(x), o[2] = jn(3, x), o[3] = y0(x), o[4] = y1(x), o[5] = yn(2, x);
    }
};

template <class T> __global__ void compute(const T *in, T *reals, int *ints)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= N)
        return;
    T a = in[2 * t], b = in[2 * t + 1], s, c, whole, o[6];
    T *r = reals + t * REALS;
    int *i = ints + t * INTS, e, q;
    r[ATAN2] = atan2(a, b);
    r[POW] = pow(abs(a), b / 4);
    r[HYPOT] = hypot(a, b);
    r[RHYPOT] = named<T>::rhypot(a, b);
    r[FMOD] = fmod(a, b);
    r[REMAINDER] = remainder(a, b);
    r[FDIM] = fdim(a, b);
    r[FMAX] = fmax(a, b);
    r[FMIN] = fmin(a, b);
    r[COPYSIGN] = copysign(a, b);
    r[NEXTAFTER] = nextafter(a, b);
    r[FMA] = fma(a, b, a);
    r[LDEXP] = ldexp(a, (int)b);
    r[SCALBN] = scalbn(a, t % 20 - 10);
    r[FREXP] = named<T>::frexp_of(a, &e);
    r[MODF] = named<T>::modf_of(a, &whole);
    r[WHOLE] = whole;
    named<T>::sincos_of(a, &s, &c);
    r[SIN] = s;
    r[COS] = c;
    named<T>::sincospi_of(a, &s, &c);
    r[SINPI] = s;
    r[COSPI] = c;
    r[NORM3] = named<T>::norm3(a, b, 3);
    r[NORM4] = named<T>::norm4(a, b, -4, 2);
    r[REMQUO] = named<T>::remquo_of(a, b, &q);
    r[POWI] = pow(b, 3);
    named<T>::bessel(fabs(a) + (T)0.1, o);
    for (int k = 0; k < 6; k++)
        r[J0 + k] = o[k];
    i[ILOGB] = ilogb(a);
    i[FREXP_E] = e;
    i[LRINT] = (int)lrint(a);
    i[LROUND] = (int)lround(a);
    i[LLRINT] = (int)llrint(b);
    i[LLROUND] = (int)llround(b);
    i[QUOTIENT] = q & 7;
    i[CLASSES] = (isfinite(a) ? 1 : 0) + (isnan(a) ? 2 : 0) + (isinf(a) ? 4 : 0) + (signbit(a) ? 8 : 0);
}

template <class T> static void check_type(const uint64_t *ulps)
{
    T *in = check_managed<T>(2 * N), *reals = check_managed<T>(N * REALS);
    int *ints = check_managed<int>(N * INTS);
    uint32_t seed = 5;
    for (int i = 0; i < 2 * N; i++)
        in[i] = (T)((check_random(&seed) / 4294967296.0 - 0.5) * 40);
    in[0] = 2.5; /* halfway */
    in[1] = -3.5;
    compute<T><<<5, 64>>>(in, reals, ints);
    KERNEL_OK();
    const long double pi = 3.14159265358979323846264338327950288L;
    for (int t = 0; t < N; t++) {
        T a = in[2 * t], b = in[2 * t + 1];
        long double x = a, y = b, z = (T)(fabs((double)a) + (double)(T)0.1), whole, e[REALS];
        if (sizeof(T) == 4)
            z = fabsf((float)a) + 0.1f;
        int exponent, q;
        e[ATAN2] = atan2l(x, y);
        e[POW] = powl(fabsl(x), (T)(b / 4));
        e[HYPOT] = hypotl(x, y);
        e[RHYPOT] = 1 / hypotl(x, y);
        e[FMOD] = fmodl(x, y);
        e[REMAINDER] = remainderl(x, y);
        e[FDIM] = x > y ? x - y : 0;
        e[FMAX] = x > y ? x : y;
        e[FMIN] = x > y ? y : x;
        e[COPYSIGN] = copysignl(x, y);
        e[NEXTAFTER] = sizeof(T) == 4 ? (long double)nextafterf((float)a, (float)b) : (long double)nextafter((double)a, (double)b);
        e[FMA] = sizeof(T) == 4 ? (long double)fmaf((float)a, (float)b, (float)a) : (long double)fma((double)a, (double)b, (double)a);
        e[LDEXP] = ldexpl(x, (int)b);
        e[SCALBN] = scalbnl(x, t % 20 - 10);
        e[FREXP] = frexpl(x, &exponent);
        e[MODF] = modfl(x, &whole);
        e[WHOLE] = whole;
        e[SIN] = sinl(x);
        e[COS] = cosl(x);
        e[SINPI] = sinl(pi * (x - 2 * roundl(x / 2)));
        e[COSPI] = sinl(pi * (0.5L - fabsl(x - 2 * roundl(x / 2)))); /* exact zeros at halves */
        e[NORM3] = sqrtl(x * x + y * y + 9);
        e[NORM4] = sqrtl(x * x + y * y + 20);
        e[REMQUO] = remquol(x, y, &q);
        e[POWI] = y * y * y;
        e[J0] = j0l(z), e[J1] = j1l(z), e[JN] = jnl(3, z);
        e[Y0] = y0l(z), e[Y1] = y1l(z), e[YN] = ynl(2, z);
        for (int k = 0; k < REALS; k++) {
            T got = reals[t * REALS + k], expected = (T)e[k];
            bool near = check_ulps(got, expected) <= ulps[k];
            if (k >= J0) /* near zeros of Bessel functions the bound is absolute */
                near = near || fabsl((long double)got - e[k]) < (sizeof(T) == 4 ? 3e-6 : 2e-13);
            if (!near && check_note_failure())
                printf("FAIL: function %d (%zu bytes) of %.17g, %.17g: expected %.17g, got %.17g\n", k,
                       sizeof(T), (double)a, (double)b, (double)expected, (double)got);
        }
        int *i = ints + t * INTS;
        CHECK_EQ(i[ILOGB], ilogbl(x));
        CHECK_EQ(i[FREXP_E], exponent);
        CHECK_EQ(i[LRINT], lrintl(x));
        CHECK_EQ(i[LROUND], lroundl(x));
        CHECK_EQ(i[LLRINT], lrintl(y));
        CHECK_EQ(i[LLROUND], lroundl(y));
        CHECK_EQ(i[QUOTIENT], q & 7);
        CHECK_EQ(i[CLASSES], 1 + (a < 0 ? 8 : 0));
    }
}

int main(void)
{
    /*                         ATAN2 POW HYPOT RHYPOT … exact ones … MODF SIN … NORM … REMQUO POWI, Bessel */
    const uint64_t single[REALS] = {3, 4, 3, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 0, 4, 9, 9, 9, 9, 9, 9};
    const uint64_t twice[REALS] = {2, 2, 2, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 2, 7, 7, 7, 7, 7, 7};
    check_type<float>(single);
    check_type<double>(twice);
    return check_done();
}
