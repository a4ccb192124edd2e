/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arithmetic of one element type, for the kernels that a .cu file makes of blas_vector.h,
 * blas_matrix.h or blas_tiles.h. Before it is included: NAME(x), the name x of this type; T, the
 * element; REAL, its real type; IS_COMPLEX. Included once a type.
 */
#if IS_COMPLEX
static __device__ __attribute__((unused)) T NAME(make)(REAL re, REAL im) {
    T r;
    r.x = re;
    r.y = im;
    return r;
}
static __device__ __attribute__((unused)) T NAME(add)(T a, T b) {
    return NAME(make)(a.x + b.x, a.y + b.y);
}
static __device__ __attribute__((unused)) T NAME(sub)(T a, T b) {
    return NAME(make)(a.x - b.x, a.y - b.y);
}
static __device__ __attribute__((unused)) T NAME(mul)(T a, T b) {
    return NAME(make)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
/* Scaled by the larger part of b, so that no square overflows. */
static __device__ __attribute__((unused)) T NAME(div)(T a, T b) {
    const REAL re = b.x < 0 ? -b.x : b.x, im = b.y < 0 ? -b.y : b.y;
    if (re >= im) {
        const REAL q = b.y / b.x, d = b.x + b.y * q;
        return NAME(make)((a.x + a.y * q) / d, (a.y - a.x * q) / d);
    }
    const REAL q = b.x / b.y, d = b.x * q + b.y;
    return NAME(make)((a.x * q + a.y) / d, (a.y * q - a.x) / d);
}
static __device__ __attribute__((unused)) T NAME(conj)(T a) {
    return NAME(make)(a.x, -a.y);
}
static __device__ __attribute__((unused)) T NAME(real_part)(T a) {
    return NAME(make)(a.x, 0);
}
static __device__ __attribute__((unused)) double NAME(re)(T a) {
    return (double)a.x;
}
static __device__ __attribute__((unused)) double NAME(im)(T a) {
    return (double)a.y;
}
static __device__ __attribute__((unused)) bool NAME(is_zero)(T a) {
    return a.x == 0 && a.y == 0;
}
#else
static __device__ __attribute__((unused)) T NAME(make)(REAL re, REAL im) {
    (void)im;
    return (T)re;
}
static __device__ __attribute__((unused)) T NAME(add)(T a, T b) {
    return a + b;
}
static __device__ __attribute__((unused)) T NAME(sub)(T a, T b) {
    return a - b;
}
static __device__ __attribute__((unused)) T NAME(mul)(T a, T b) {
    return a * b;
}
static __device__ __attribute__((unused)) T NAME(div)(T a, T b) {
    return a / b;
}
static __device__ __attribute__((unused)) T NAME(conj)(T a) {
    return a;
}
static __device__ __attribute__((unused)) T NAME(real_part)(T a) {
    return a;
}
static __device__ __attribute__((unused)) double NAME(re)(T a) {
    return (double)a;
}
static __device__ __attribute__((unused)) double NAME(im)(T a) {
    (void)a;
    return 0;
}
static __device__ __attribute__((unused)) bool NAME(is_zero)(T a) {
    return a == (T)0;
}
#endif

static __device__ __attribute__((unused)) T NAME(scalar)(wpi_scalar s) {
    return s.pointer != NULL ? *(const T *)s.pointer : NAME(make)((REAL)s.re, (REAL)s.im);
}

/* Of a factor of the real type. */
static __device__ __attribute__((unused)) T NAME(real_scalar)(wpi_scalar s) {
    return NAME(make)(s.pointer != NULL ? *(const REAL *)s.pointer : (REAL)s.re, 0);
}
