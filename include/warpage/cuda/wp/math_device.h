/* SPDX-License-Identifier: Apache-2.0 */
/** Mathematical functions of kernels that clang's headers leave out: min and max of every type,
 *  the float overloads of CUDA's own functions, and a few conversions. */
#ifndef WARPAGE_CUDA_WP_MATH_DEVICE_H
#define WARPAGE_CUDA_WP_MATH_DEVICE_H

#define WP_MINMAX(type_a, type_b, type, min_fn, max_fn)                                            \
    WP_DEVICE type min(type_a a, type_b b) {                                                       \
        return (type)min_fn((type)a, (type)b);                                                     \
    }                                                                                              \
    WP_DEVICE type max(type_a a, type_b b) {                                                       \
        return (type)max_fn((type)a, (type)b);                                                     \
    }
/* min(int, int) is clang's. */
WP_MINMAX(int, unsigned int, unsigned int, __nv_umin, __nv_umax)
WP_MINMAX(unsigned int, int, unsigned int, __nv_umin, __nv_umax)
WP_MINMAX(unsigned int, unsigned int, unsigned int, __nv_umin, __nv_umax)
WP_MINMAX(long, long, long, __nv_llmin, __nv_llmax)
WP_MINMAX(long, unsigned long, unsigned long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(unsigned long, long, unsigned long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(unsigned long, unsigned long, unsigned long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(long long, long long, long long, __nv_llmin, __nv_llmax)
WP_MINMAX(long long, unsigned long long, unsigned long long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(unsigned long long, long long, unsigned long long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(unsigned long long, unsigned long long, unsigned long long, __nv_ullmin, __nv_ullmax)
WP_MINMAX(float, float, float, __nv_fminf, __nv_fmaxf)
WP_MINMAX(float, double, double, __nv_fmin, __nv_fmax)
WP_MINMAX(double, float, double, __nv_fmin, __nv_fmax)
WP_MINMAX(double, double, double, __nv_fmin, __nv_fmax)
#undef WP_MINMAX

WP_DEVICE float rsqrt(float a) {
    return rsqrtf(a);
}
WP_DEVICE float rcbrt(float a) {
    return rcbrtf(a);
}
WP_DEVICE float sinpi(float a) {
    return sinpif(a);
}
WP_DEVICE float cospi(float a) {
    return cospif(a);
}
WP_DEVICE void sincospi(float a, float *s, float *c) {
    sincospif(a, s, c);
}
WP_DEVICE void sincos(float a, float *s, float *c) {
    sincosf(a, s, c);
}
WP_DEVICE float exp10(float a) {
    return exp10f(a);
}
WP_DEVICE float j0(float a) {
    return j0f(a);
}
WP_DEVICE float j1(float a) {
    return j1f(a);
}
WP_DEVICE float jn(int n, float a) {
    return jnf(n, a);
}
WP_DEVICE float y0(float a) {
    return y0f(a);
}
WP_DEVICE float y1(float a) {
    return y1f(a);
}
WP_DEVICE float yn(int n, float a) {
    return ynf(n, a);
}
WP_DEVICE float erfinv(float a) {
    return erfinvf(a);
}
WP_DEVICE float erfcinv(float a) {
    return erfcinvf(a);
}
WP_DEVICE float normcdf(float a) {
    return normcdff(a);
}
WP_DEVICE float normcdfinv(float a) {
    return normcdfinvf(a);
}
WP_DEVICE float erfcx(float a) {
    return erfcxf(a);
}
WP_DEVICE float cyl_bessel_i0(float a) {
    return cyl_bessel_i0f(a);
}
WP_DEVICE float cyl_bessel_i1(float a) {
    return cyl_bessel_i1f(a);
}
WP_DEVICE float rhypot(float a, float b) {
    return rhypotf(a, b);
}
WP_DEVICE float norm3d(float a, float b, float c) {
    return norm3df(a, b, c);
}
WP_DEVICE float fdivide(float a, float b) {
    return a / b;
}

/* Overloads of the C++ library that clang only declares. */
WP_DEVICE float acosh(float a) {
    return acoshf(a);
}
WP_DEVICE float asinh(float a) {
    return asinhf(a);
}
WP_DEVICE float atanh(float a) {
    return atanhf(a);
}
WP_DEVICE float cbrt(float a) {
    return cbrtf(a);
}
WP_DEVICE float copysign(float a, float b) {
    return copysignf(a, b);
}
WP_DEVICE float erf(float a) {
    return erff(a);
}
WP_DEVICE float erfc(float a) {
    return erfcf(a);
}
WP_DEVICE float exp2(float a) {
    return exp2f(a);
}
WP_DEVICE float expm1(float a) {
    return expm1f(a);
}
WP_DEVICE float fdim(float a, float b) {
    return fdimf(a, b);
}
WP_DEVICE float fma(float a, float b, float c) {
    return fmaf(a, b, c);
}
WP_DEVICE float fmax(float a, float b) {
    return fmaxf(a, b);
}
WP_DEVICE float fmin(float a, float b) {
    return fminf(a, b);
}
WP_DEVICE float hypot(float a, float b) {
    return hypotf(a, b);
}
WP_DEVICE int ilogb(float a) {
    return ilogbf(a);
}
WP_DEVICE float lgamma(float a) {
    return lgammaf(a);
}
WP_DEVICE long long llrint(float a) {
    return llrintf(a);
}
WP_DEVICE long long llround(float a) {
    return llroundf(a);
}
WP_DEVICE float log1p(float a) {
    return log1pf(a);
}
WP_DEVICE float log2(float a) {
    return log2f(a);
}
WP_DEVICE float logb(float a) {
    return logbf(a);
}
WP_DEVICE long lrint(float a) {
    return lrintf(a);
}
WP_DEVICE long lround(float a) {
    return lroundf(a);
}
WP_DEVICE float nearbyint(float a) {
    return nearbyintf(a);
}
WP_DEVICE float nextafter(float a, float b) {
    return nextafterf(a, b);
}
WP_DEVICE float remainder(float a, float b) {
    return remainderf(a, b);
}
WP_DEVICE float remquo(float a, float b, int *q) {
    return remquof(a, b, q);
}
WP_DEVICE float rint(float a) {
    return rintf(a);
}
WP_DEVICE float round(float a) {
    return roundf(a);
}
WP_DEVICE float scalbln(float a, long n) {
    return scalblnf(a, n);
}
WP_DEVICE float scalbn(float a, int n) {
    return scalbnf(a, n);
}
WP_DEVICE float tgamma(float a) {
    return tgammaf(a);
}
WP_DEVICE float trunc(float a) {
    return truncf(a);
}
WP_DEVICE double nan(const char *tag) {
    return __nv_nan((const signed char *)tag);
}
WP_DEVICE float nanf(const char *tag) {
    return __nv_nanf((const signed char *)tag);
}

#endif
