/* SPDX-License-Identifier: Apache-2.0 */
/** The names of solver_complex.h for elements of the type REAL. Included once a type. */
static __device__ REAL conjugate(REAL a) {
    return a;
}
static __device__ REAL real_part(REAL a) {
    return a;
}
static __device__ REAL imaginary_part(REAL) {
    return 0;
}
static __device__ REAL pivot_size(REAL a) {
    return fabs(a);
}
static __device__ REAL square(REAL a) {
    return a * a;
}
/* The phase is 1: the sign stays with the size. */
static __device__ __attribute__((unused)) REAL split(REAL a, REAL *phase) {
    *phase = 1;
    return a;
}
