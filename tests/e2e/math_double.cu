/* SPDX-License-Identifier: Apache-2.0 */
/* Math functions of one argument in double, against the host's libm in long double, within CUDA's bounds. */
#include "check.h"

#define N 400
#define PI_L 3.14159265358979323846264338327950288L

/*   name       reference            from      to        ulps */
#define UNARY(X)                                                                                   \
    X(exp,            expl,            -80,    80,     1)                                          \
    X(exp2,           exp2l,           -120,   120,    1)                                          \
    X(exp10,          ref_exp10,       -35,    35,     1)                                          \
    X(expm1,          expm1l,          -5,     20,     1)                                          \
    X(log,            logl,            1e-30,  1e+30,  1)                                          \
    X(log2,           log2l,           0.001,  1000.0, 1)                                          \
    X(log10,          log10l,          0.001,  1000.0, 1)                                          \
    X(log1p,          log1pl,          -0.9,   50,     1)                                          \
    X(sin,            sinl,            -1000,  1000,   2)                                          \
    X(cos,            cosl,            -1000,  1000,   2)                                          \
    X(tan,            tanl,            -100,   100,    2)                                          \
    X(asin,           asinl,           -1,     1,      2)                                          \
    X(acos,           acosl,           -1,     1,      2)                                          \
    X(atan,           atanl,           -50,    50,     2)                                          \
    X(sinh,           sinhl,           -20,    20,     2)                                          \
    X(cosh,           coshl,           -20,    20,     1)                                          \
    X(tanh,           tanhl,           -5,     5,      2)                                          \
    X(asinh,          asinhl,          -100,   100,    3)                                          \
    X(acosh,          acoshl,          1,      100,    3)                                          \
    X(atanh,          atanhl,          -0.999, 0.999,  2)                                          \
    X(sqrt,           sqrtl,           0,      1e+20,  0)                                          \
    X(rsqrt,          ref_rsqrt,       1e-10,  10000000000.0, 1)                                   \
    X(cbrt,           cbrtl,           -1000000.0, 1000000.0, 1)                                   \
    X(rcbrt,          ref_rcbrt,       1e-06,  1000000.0, 1)                                       \
    X(erf,            erfl,            -4,     4,      2)                                          \
    X(erfc,           erfcl,           -4,     9,      5)                                          \
    X(erfcx,          ref_erfcx,       -2,     8,      4)                                          \
    X(erfinv,         ref_erfinv,      -0.999, 0.999,  5)                                          \
    X(erfcinv,        ref_erfcinv,     0.01,   1.99,   6)                                          \
    X(normcdf,        ref_normcdf,     -5,     5,      5)                                          \
    X(normcdfinv,     ref_normcdfinv,  0.01,   0.99,   8)                                          \
    X(lgamma,         lgammal,         0.1,    50,     4)                                          \
    X(tgamma,         tgammal,         0.1,    30,     10)                                         \
    X(sinpi,          ref_sinpi,       -100,   100,    2)                                          \
    X(cospi,          ref_cospi,       -100,   100,    2)                                          \
    X(cyl_bessel_i0,  ref_i0,          -8,     8,      6)                                          \
    X(cyl_bessel_i1,  ref_i1,          -8,     8,      6)                                          \
    X(floor,          floorl,          -10000.0, 10000.0, 0)                                       \
    X(ceil,           ceill,           -10000.0, 10000.0, 0)                                       \
    X(trunc,          truncl,          -10000.0, 10000.0, 0)                                       \
    X(round,          roundl,          -10000.0, 10000.0, 0)                                       \
    X(rint,           rintl,           -10000.0, 10000.0, 0)                                       \
    X(nearbyint,      nearbyintl,      -10000.0, 10000.0, 0)                                       \
    X(fabs,           fabsl,           -10000.0, 10000.0, 0)                                       \
    X(logb,           logbl,           1e-10,  10000000000.0, 0)

static long double ref_exp10(long double x) { return powl((long double)10, x); }
static long double ref_rsqrt(long double x) { return 1 / sqrtl(x); }
static long double ref_rcbrt(long double x) { return 1 / cbrtl(x); }
static long double ref_sinpi(long double x) { return (long double)sinl(PI_L * (long double)(x - 2 * roundl(x / 2))); }
static long double ref_cospi(long double x) { return (long double)sinl(PI_L * (0.5L - fabsl((long double)(x - 2 * roundl(x / 2))))); }
static long double ref_normcdf(long double x) { return (long double)(erfcl(-(long double)x / sqrtl(2.0L)) / 2); }
static long double ref_erfcx(long double x) { return (long double)(expl((long double)x * x) * erfcl(x)); }
static long double ref_erfcinv_l(long double y) /* Newton's method on erfc */
{
    long double x = 0, target = y;
    if (y < 0.1)
        x = sqrtl(-logl(target));
    for (int i = 0; i < 60; i++)
        x += (erfcl(x) - target) * expl(x * x) * sqrtl(PI_L) / 2;
    return x;
}
static long double ref_erfcinv(long double y) { return (long double)ref_erfcinv_l(y); }
static long double ref_erfinv(long double y) { return (long double)ref_erfcinv_l(1 - (long double)y); }
static long double ref_normcdfinv(long double p) { return (long double)(-sqrtl(2.0L) * ref_erfcinv_l(2 * (long double)p)); }
static long double ref_i0(long double x) /* power series */
{
    long double term = 1, sum = 1, q = (long double)x * x / 4;
    for (int k = 1; k < 60; k++)
        sum += term *= q / ((long double)k * k);
    return (long double)sum;
}
static long double ref_i1(long double x)
{
    long double term = (long double)x / 2, sum = term, q = (long double)x * x / 4;
    for (int k = 1; k < 60; k++)
        sum += term *= q / ((long double)k * (k + 1));
    return (long double)sum;
}

enum {
#define ENUM(name, reference, from, to, ulps) OP_##name,
    UNARY(ENUM) OP_COUNT
};

__global__ void compute(const double *in, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
#define COMPUTE(name, reference, from, to, ulps) out[OP_##name * N + i] = name(in[OP_##name * N + i]);
    UNARY(COMPUTE)
}

static void compare(const char *name, long double (*reference)(long double), uint64_t ulps, const double *in,
                    const double *out)
{
    for (int i = 0; i < N; i++) {
        double expected = (double)reference(in[i]);
        uint64_t far = check_ulps(out[i], expected);
        if (far > ulps && check_note_failure()) {
            printf("FAIL: %s(%.17g): expected %.17g, got %.17g (%llu ulps, %llu allowed)\n", name,
                   (double)in[i], (double)expected, (double)out[i], (unsigned long long)far,
                   (unsigned long long)ulps);
            return;
        }
    }
}

int main(void)
{
    double *in = check_managed<double>(OP_COUNT * N), *out = check_managed<double>(OP_COUNT * N);
    uint32_t seed = 1;
#define FILL(name, reference, from, to, ulps)                                                      \
    for (int i = 0; i < N; i++) {                                                                  \
        double u = (check_random(&seed) + check_random(&seed) / 4294967296.0) / 4294967296.0;      \
        in[OP_##name * N + i] = (double)((from) + u * ((to) - (from)));                              \
    }
    UNARY(FILL)
    compute<<<(N + 63) / 64, 64>>>(in, out);
    KERNEL_OK();
#define COMPARE(name, reference, from, to, ulps)                                                   \
    compare(#name, reference, ulps, in + OP_##name * N, out + OP_##name * N);
    UNARY(COMPARE)
    return check_done();
}
