/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS' QR factors and least squares of batches, of four types: products of the factors, columns that are orthogonal,
 * residuals that are orthogonal to the matrix, a matrix without full rank, wrong arguments. */
// FLAGS: -lcublas
#include <complex>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_SUCCESS)

typedef std::complex<double> number;

enum { BATCH = 3, LD_MORE = 2, MAX = 40 * 40 };

static number widen(float x) { return number((double)x, 0); }
static number widen(double x) { return number(x, 0); }
static number widen(cuComplex x) { return number((double)x.x, (double)x.y); }
static number widen(cuDoubleComplex x) { return number(x.x, x.y); }
static void narrow(number x, float *out) { *out = (float)x.real(); }
static void narrow(number x, double *out) { *out = x.real(); }
static void narrow(number x, cuComplex *out) { *out = make_cuComplex((float)x.real(), (float)x.imag()); }
static void narrow(number x, cuDoubleComplex *out) { *out = make_cuDoubleComplex(x.real(), x.imag()); }

#define CALLS(X, T)                                                                                                             \
    static cublasStatus_t geqrf(cublasHandle_t h, int m, int n, T *const *a, int lda, T *const *tau, int *info, int batch)        \
    {                                                                                                                           \
        return cublas##X##geqrfBatched(h, m, n, a, lda, tau, info, batch);                                                      \
    }                                                                                                                           \
    static cublasStatus_t gels(cublasHandle_t h, cublasOperation_t op, int m, int n, int nrhs, T *const *a, int lda,             \
                               T *const *c, int ldc, int *info, int *device_info, int batch)                                     \
    {                                                                                                                           \
        return cublas##X##gelsBatched(h, op, m, n, nrhs, a, lda, c, ldc, info, device_info, batch);                             \
    }
CALLS(S, float)
CALLS(D, double)
CALLS(C, cuComplex)
CALLS(Z, cuDoubleComplex)

static void near(const char *what, number got, number want, double unit)
{
    if (std::abs(got - want) > unit && check_note_failure())
        printf("FAIL: %s: %g %+gi, not %g %+gi\n", what, got.real(), got.imag(), want.real(), want.imag());
}

/* Element i of matrix b, with no imaginary part for real types. */
static number element(int b, int i, bool is_complex)
{
    return number((i * 37 + b * 11) % 23 - 11, is_complex ? (i * 29 + b * 5) % 19 - 9 : 0) / 8.0;
}

/* x, less (tau, or its conjugate) v v^H x. */
static void reflect(number tau, const number *v, number *x, int n)
{
    number sum = 0;
    for (int i = 0; i < n; i++) sum += std::conj(v[i]) * x[i];
    for (int i = 0; i < n; i++) x[i] -= tau * sum * v[i];
}

template <typename T> static void factors(cublasHandle_t blas, int m, int n, bool is_complex, double unit)
{
    const int ld = m + LD_MORE, steps = m < n ? m : n;
    T *data, *tau, **a, **taus;
    int info = -99;
    CUDA_OK(cudaMallocManaged(&data, BATCH * ld * n * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&tau, BATCH * steps * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&a, BATCH * sizeof *a));
    CUDA_OK(cudaMallocManaged(&taus, BATCH * sizeof *taus));
    for (int b = 0; b < BATCH; b++) {
        a[b] = data + b * ld * n;
        taus[b] = tau + b * steps;
        for (int i = 0; i < ld * n; i++) narrow(element(b, i, is_complex), &a[b][i]);
    }
    OK(geqrf(blas, m, n, a, ld, taus, &info, BATCH));
    CHECK_EQ(info, 0);
    CUDA_OK(cudaDeviceSynchronize());
    static number column[MAX], v[MAX];
    for (int b = 0; b < BATCH; b++)
        for (int j = 0; j < n; j++) { /* Q R is A, column by column: Q is the product of the reflectors */
            for (int i = 0; i < m; i++) column[i] = i <= j && i < steps ? widen(a[b][i + j * ld]) : 0;
            if (j < steps) near("R's diagonal", number(0, widen(a[b][j + j * ld]).imag()), 0, 1e-30);
            for (int k = steps - 1; k >= 0; k--) {
                for (int i = 0; i < m; i++) v[i] = i < k ? 0 : i == k ? 1 : widen(a[b][i + k * ld]);
                reflect(widen(taus[b][k]), v, column, m);
            }
            for (int i = 0; i < m; i++) near("Q R", column[i], element(b, i + j * ld, is_complex), unit * 10 * m);
            for (int i = m; i < ld; i++)
                near("behind the matrix", widen(a[b][i + j * ld]), element(b, i + j * ld, is_complex), unit);
        }
    CUDA_OK(cudaFree(data));
    CUDA_OK(cudaFree(tau));
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(taus));
}

template <typename T> static void least_squares(cublasHandle_t blas, int m, int n, int nrhs, bool is_complex, double unit)
{
    const int ld = m + LD_MORE;
    T *data, *right, **a, **c;
    int info = -99, *device_info;
    CUDA_OK(cudaMallocManaged(&data, BATCH * ld * n * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&right, BATCH * ld * nrhs * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&a, BATCH * sizeof *a));
    CUDA_OK(cudaMallocManaged(&c, BATCH * sizeof *c));
    CUDA_OK(cudaMallocManaged(&device_info, BATCH * sizeof(int)));
    for (int b = 0; b < BATCH; b++) {
        a[b] = data + b * ld * n;
        c[b] = right + b * ld * nrhs;
        for (int i = 0; i < ld * n; i++) narrow(element(b, i, is_complex), &a[b][i]);
        for (int i = 0; i < ld * nrhs; i++) narrow(element(b + 7, i, is_complex), &c[b][i]);
        if (b == 1 && n > 1) /* a column of zeros */
            for (int i = 0; i < m; i++) narrow(0, &a[b][i + ld]);
        device_info[b] = -99;
    }
    OK(gels(blas, CUBLAS_OP_N, m, n, nrhs, a, ld, c, ld, &info, device_info, BATCH));
    CHECK_EQ(info, 0);
    CUDA_OK(cudaDeviceSynchronize());
    for (int b = 0; b < BATCH; b++) {
        const bool is_singular = b == 1 && n > 1;
        CHECK_EQ(device_info[b], is_singular ? 2 : 0);
        if (is_singular) continue;
        for (int r = 0; r < nrhs; r++)
            for (int j = 0; j < n; j++) { /* A^H (b - A x) = 0 */
                number sum = 0;
                for (int i = 0; i < m; i++) {
                    number residual = element(b + 7, i + r * ld, is_complex);
                    for (int k = 0; k < n; k++) residual -= element(b, i + k * ld, is_complex) * widen(c[b][k + r * ld]);
                    sum += std::conj(element(b, i + j * ld, is_complex)) * residual;
                }
                near("A^H (b - A x)", sum, 0, unit * 300 * m);
            }
    }
    CHECK_EQ((int)gels(blas, CUBLAS_OP_T, m, n, nrhs, a, ld, c, ld, &info, NULL, BATCH), (int)CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_EQ((int)gels(blas, CUBLAS_OP_N, n - 1, n, nrhs, a, ld, c, ld, &info, NULL, BATCH), (int)CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_EQ((int)gels(blas, CUBLAS_OP_N, m, n, nrhs, a, m - 1, c, ld, &info, NULL, BATCH), (int)CUBLAS_STATUS_INVALID_VALUE);
    CHECK_EQ(info, -6);
    CHECK_EQ((int)geqrf(blas, -1, n, a, ld, c, &info, BATCH), (int)CUBLAS_STATUS_INVALID_VALUE);
    CHECK_EQ(info, -1);
    CUDA_OK(cudaFree(data));
    CUDA_OK(cudaFree(right));
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(c));
    CUDA_OK(cudaFree(device_info));
}

template <typename T> static void try_type(cublasHandle_t blas, bool is_complex, double unit)
{
    factors<T>(blas, 7, 5, is_complex, unit);
    factors<T>(blas, 4, 9, is_complex, unit);
    factors<T>(blas, 33, 33, is_complex, unit);
    factors<T>(blas, 1, 1, is_complex, unit);
    least_squares<T>(blas, 9, 4, 3, is_complex, unit);
    least_squares<T>(blas, 40, 20, 1, is_complex, unit);
    least_squares<T>(blas, 6, 1, 2, is_complex, unit);
}

int main(void)
{
    cublasHandle_t blas;
    OK(cublasCreate(&blas));
    try_type<float>(blas, false, 1e-6);
    try_type<double>(blas, false, 1e-15);
    try_type<cuComplex>(blas, true, 1e-6);
    try_type<cuDoubleComplex>(blas, true, 1e-15);
    OK(cublasDestroy(blas));
    return check_done();
}
