/* SPDX-License-Identifier: Apache-2.0 */
/* Math functions of one argument in float, against the host's libm in double, within CUDA's bounds. */
#include "check.h"

#define N 400
#define PI_L 3.14159265358979323846264338327950288L

/*   name       reference            from      to        ulps */
#define UNARY(X)                                                                                   \
    X(expf,           exp,             -80,    80,     2)                                          \
    X(exp2f,          exp2,            -120,   120,    2)                                          \
    X(exp10f,         ref_exp10,       -35,    35,     2)                                          \
    X(expm1f,         expm1,           -5,     20,     1)                                          \
    X(logf,           log,             1e-30,  1e+30,  1)                                          \
    X(log2f,          log2,            0.001,  1000.0, 1)                                          \
    X(log10f,         log10,           0.001,  1000.0, 3)                                          \
    X(log1pf,         log1p,           -0.9,   50,     1)                                          \
    X(sinf,           sin,             -1000,  1000,   2)                                          \
    X(cosf,           cos,             -1000,  1000,   2)                                          \
    X(tanf,           tan,             -100,   100,    4)                                          \
    X(asinf,          asin,            -1,     1,      2)                                          \
    X(acosf,          acos,            -1,     1,      2)                                          \
    X(atanf,          atan,            -50,    50,     2)                                          \
    X(sinhf,          sinh,            -20,    20,     3)                                          \
    X(coshf,          cosh,            -20,    20,     2)                                          \
    X(tanhf,          tanh,            -5,     5,      2)                                          \
    X(asinhf,         asinh,           -100,   100,    3)                                          \
    X(acoshf,         acosh,           1,      100,    4)                                          \
    X(atanhf,         atanh,           -0.999, 0.999,  3)                                          \
    X(sqrtf,          sqrt,            0,      1e+20,  0)                                          \
    X(rsqrtf,         ref_rsqrt,       1e-10,  10000000000.0, 2)                                   \
    X(cbrtf,          cbrt,            -1000000.0, 1000000.0, 1)                                   \
    X(rcbrtf,         ref_rcbrt,       1e-06,  1000000.0, 1)                                       \
    X(erff,           erf,             -4,     4,      2)                                          \
    X(erfcf,          erfc,            -4,     9,      4)                                          \
    X(erfcxf,         ref_erfcx,       -2,     8,      4)                                          \
    X(erfinvf,        ref_erfinv,      -0.999, 0.999,  2)                                          \
    X(erfcinvf,       ref_erfcinv,     0.01,   1.99,   4)                                          \
    X(normcdff,       ref_normcdf,     -5,     5,      5)                                          \
    X(normcdfinvf,    ref_normcdfinv,  0.01,   0.99,   5)                                          \
    X(lgammaf,        lgamma,          0.1,    50,     6)                                          \
    X(tgammaf,        tgamma,          0.1,    30,     11)                                         \
    X(sinpif,         ref_sinpi,       -100,   100,    2)                                          \
    X(cospif,         ref_cospi,       -100,   100,    2)                                          \
    X(cyl_bessel_i0f, ref_i0,          -8,     8,      6)                                          \
    X(cyl_bessel_i1f, ref_i1,          -8,     8,      6)                                          \
    X(floorf,         floor,           -10000.0, 10000.0, 0)                                       \
    X(ceilf,          ceil,            -10000.0, 10000.0, 0)                                       \
    X(truncf,         trunc,           -10000.0, 10000.0, 0)                                       \
    X(roundf,         round,           -10000.0, 10000.0, 0)                                       \
    X(rintf,          rint,            -10000.0, 10000.0, 0)                                       \
    X(nearbyintf,     nearbyint,       -10000.0, 10000.0, 0)                                       \
    X(fabsf,          fabs,            -10000.0, 10000.0, 0)                                       \
    X(logbf,          logb,            1e-10,  10000000000.0, 0)

static double ref_exp10(double x) { return pow((double)10, x); }
static double ref_rsqrt(double x) { return 1 / sqrt(x); }
static double ref_rcbrt(double x) { return 1 / cbrt(x); }
static double ref_sinpi(double x) { return (double)sinl(PI_L * (long double)(x - 2 * round(x / 2))); }
static double ref_cospi(double x) { return (double)sinl(PI_L * (0.5L - fabsl((long double)(x - 2 * round(x / 2))))); }
static double ref_normcdf(double x) { return (double)(erfcl(-(long double)x / sqrtl(2.0L)) / 2); }
static double ref_erfcx(double x) { return (double)(expl((long double)x * x) * erfcl(x)); }
static long double ref_erfcinv_l(long double y) /* Newton's method on erfc */
{
    long double x = 0, target = y;
    if (y < 0.1)
        x = sqrtl(-logl(target));
    for (int i = 0; i < 60; i++)
        x += (erfcl(x) - target) * expl(x * x) * sqrtl(PI_L) / 2;
    return x;
}
static double ref_erfcinv(double y) { return (double)ref_erfcinv_l(y); }
static double ref_erfinv(double y) { return (double)ref_erfcinv_l(1 - (long double)y); }
static double ref_normcdfinv(double p) { return (double)(-sqrtl(2.0L) * ref_erfcinv_l(2 * (long double)p)); }
static double ref_i0(double x) /* power series */
{
    long double term = 1, sum = 1, q = (long double)x * x / 4;
    for (int k = 1; k < 60; k++)
        sum += term *= q / ((long double)k * k);
    return (double)sum;
}
static double ref_i1(double x)
{
    long double term = (long double)x / 2, sum = term, q = (long double)x * x / 4;
    for (int k = 1; k < 60; k++)
        sum += term *= q / ((long double)k * (k + 1));
    return (double)sum;
}

enum {
#define ENUM(name, reference, from, to, ulps) OP_##name,
    UNARY(ENUM) OP_COUNT
};

__global__ void compute(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
#define COMPUTE(name, reference, from, to, ulps) out[OP_##name * N + i] = name(in[OP_##name * N + i]);
    UNARY(COMPUTE)
}

static void compare(const char *name, double (*reference)(double), uint64_t ulps, const float *in,
                    const float *out)
{
    for (int i = 0; i < N; i++) {
        float expected = (float)reference(in[i]);
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
    float *in = check_managed<float>(OP_COUNT * N), *out = check_managed<float>(OP_COUNT * N);
    uint32_t seed = 1;
#define FILL(name, reference, from, to, ulps)                                                      \
    for (int i = 0; i < N; i++) {                                                                  \
        double u = (check_random(&seed) + check_random(&seed) / 4294967296.0) / 4294967296.0;      \
        in[OP_##name * N + i] = (float)((from) + u * ((to) - (from)));                              \
    }
    UNARY(FILL)
    compute<<<(N + 63) / 64, 64>>>(in, out);
    KERNEL_OK();
#define COMPARE(name, reference, from, to, ulps)                                                   \
    compare(#name, reference, ulps, in + OP_##name * N, out + OP_##name * N);
    UNARY(COMPARE)
    return check_done();
}
