/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arithmetic of one complex type T, two parts of the type REAL, by the operators and names that
 * real elements have, so that solver_element.h is one text for both. Included once a type.
 */
static __device__ T operator+(T a, T b) {
    return {a.x + b.x, a.y + b.y};
}
static __device__ T operator-(T a, T b) {
    return {a.x - b.x, a.y - b.y};
}
static __device__ T operator-(T a) {
    return {-a.x, -a.y};
}
static __device__ T operator*(T a, T b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
static __device__ T operator*(T a, REAL b) {
    return {a.x * b, a.y * b};
}
static __device__ T operator*(REAL a, T b) {
    return b * a;
}
static __device__ T operator/(T a, REAL b) {
    return {a.x / b, a.y / b};
}
/* Scaled by the larger part of b, so that no square overflows. */
static __device__ T operator/(T a, T b) {
    if (fabs(b.x) >= fabs(b.y)) {
        const REAL q = b.y / b.x, d = b.x + b.y * q;
        return {(a.x + a.y * q) / d, (a.y - a.x * q) / d};
    }
    const REAL q = b.x / b.y, d = b.x * q + b.y;
    return {(a.x * q + a.y) / d, (a.y * q - a.x) / d};
}
static __device__ void operator+=(T &a, T b) {
    a = a + b;
}
static __device__ void operator-=(T &a, T b) {
    a = a - b;
}
static __device__ void operator*=(T &a, T b) {
    a = a * b;
}
static __device__ void operator/=(T &a, T b) {
    a = a / b;
}
static __device__ __attribute__((unused)) void operator/=(T &a, REAL b) {
    a = a / b;
}
static __device__ T conjugate(T a) {
    return {a.x, -a.y};
}
static __device__ REAL real_part(T a) {
    return a.x;
}
static __device__ REAL imaginary_part(T a) {
    return a.y;
}
/* What a pivot is chosen by, as LAPACK's: the sum of the parts. */
static __device__ REAL pivot_size(T a) {
    return fabs(a.x) + fabs(a.y);
}
static __device__ REAL square(T a) {
    return a.x * a.x + a.y * a.y;
}
/* a = size * phase. */
static __device__ __attribute__((unused)) REAL split(T a, T *phase) {
    const REAL size = hypot(a.x, a.y);
    *phase = a / size;
    return size;
}
