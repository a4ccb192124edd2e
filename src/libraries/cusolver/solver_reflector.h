/* SPDX-License-Identifier: Apache-2.0 */
/** Householder's reflections of one element type T (solver_element.h), and an element of a matrix.
 * Included once a type; the includer undefines AT. */
#define AT(a, ld, i, j) (a)[(long long)(j) * (ld) + (i)]

static __device__ T NAME(of_real)(REAL a) {
#if IS_COMPLEX
    return {a, 0};
#else
    return a;
#endif
}

/* One thread: the reflector I - tau v v^T, whose transpose makes x, of `n` elements, a real beta
 * and zeros. x[0] becomes beta, the others v, whose v[0] is 1. */
static __device__ T NAME(reflector)(T *x, int n) {
    REAL scale = 0, sum = 0;
    for (int i = 1; i < n; i++)
        scale = fmax(scale, pivot_size(x[i]));
    if (scale == 0 && imaginary_part(x[0]) == 0) return NAME(of_real)(0);
    scale = fmax(scale, pivot_size(x[0]));
    for (int i = 0; i < n; i++)
        sum += square(x[i] / scale);
    const T alpha = x[0];
    const REAL norm = scale * sqrt(sum), beta = real_part(alpha) > 0 ? -norm : norm;
    for (int i = 1; i < n; i++)
        x[i] /= alpha - NAME(of_real)(beta);
    x[0] = NAME(of_real)(beta);
    return (NAME(of_real)(beta) - alpha) / beta;
}

/* A column x (a row, with `is_row`) less the reflector v, whose v[k] is 1, behind zeros: x[k] to
 * x[length - 1]. */
static __device__ void NAME(reflect)(const T *v, T tau, T *x, long long step, int k, int length,
                                     int is_row) {
    T sum = x[k * step];
    for (int i = k + 1; i < length; i++)
        sum += (is_row ? v[i] : conjugate(v[i])) * x[i * step];
    sum *= tau;
    x[k * step] -= sum;
    for (int i = k + 1; i < length; i++)
        x[i * step] -= (is_row ? conjugate(v[i]) : v[i]) * sum;
}
