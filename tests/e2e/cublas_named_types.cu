/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS' level 1 with types as arguments: halves and bfloat16 with sums in float, real results of complex vectors; strides,
 * both pointer modes, refused combinations. Against sums in double. */
// FLAGS: -lcublas
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "check.h"

#define OK(call) CHECK_EQ((int)(call), 0)

enum { N = 1000, ROOM = 3 * N };

static void near(const char *what, double got, double expected, double error)
{
    if (fabs(got - expected) <= error * fmax(1, fabs(expected))) return;
    if (check_note_failure()) printf("FAIL: %s: %g, not %g\n", what, got, expected);
}

static double widen(__half x) { return (double)__half2float(x); }
static double widen(__nv_bfloat16 x) { return (double)__bfloat162float(x); }
static void narrow(float x, __half *out) { *out = __float2half(x); }
static void narrow(float x, __nv_bfloat16 *out) { *out = __float2bfloat16(x); }

/* Element i of a vector of n elements with an increment, as BLAS counts. */
static int at(int n, int inc, int i) { return inc > 0 ? i * inc : (n - 1 - i) * -inc; }

template <typename T> static void try_type(cublasHandle_t blas, cudaDataType type, double unit, int n, int inc)
{
    T *x, *y, *result;
    float factor = 0.75f, *on_device;
    OK(cudaMallocManaged(&x, ROOM * sizeof(T)));
    OK(cudaMallocManaged(&y, ROOM * sizeof(T)));
    OK(cudaMallocManaged(&result, sizeof(T)));
    OK(cudaMallocManaged(&on_device, sizeof(float)));
    *on_device = factor;
    double dot = 0, squares = 0;
    static double sum[N], scaled[N];
    for (int i = 0; i < ROOM; i++) {
        narrow((float)(i % 17 - 8) / 16, &x[i]);
        narrow((float)(i % 13) / 8, &y[i]);
    }
    for (int i = 0; i < n; i++) {
        const double a = widen(x[at(n, inc, i)]), b = widen(y[at(n, 1, i)]);
        dot += a * b;
        squares += a * a;
        sum[i] = factor * a + b;
        scaled[i] = factor * a;
    }
    narrow(-7, result);
    OK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasDotEx(blas, n, x, type, inc, y, type, 1, result, type, CUDA_R_32F));
    OK(cudaDeviceSynchronize());
    near("dot", widen(*result), dot, unit);
    OK(cublasAxpyEx(blas, n, on_device, CUDA_R_32F, x, type, inc, y, type, 1, CUDA_R_32F));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) near("axpy", widen(y[i]), sum[i], unit);
    OK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
    if (inc > 0) {
        T norm;
        OK(cublasNrm2Ex(blas, n, x, type, inc, &norm, type, CUDA_R_32F));
        near("nrm2", widen(norm), sqrt(squares), unit);
        OK(cublasScalEx(blas, n, &factor, CUDA_R_32F, x, type, inc, CUDA_R_32F));
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++) near("scal", widen(x[i * inc]), scaled[i], unit);
        near("between", widen(x[1]), inc == 1 && n > 1 ? scaled[1] : (double)(1 % 17 - 8) / 16, unit);
    }
    OK(cudaFree(x));
    OK(cudaFree(y));
    OK(cudaFree(result));
    OK(cudaFree(on_device));
}

int main(void)
{
    cublasHandle_t blas;
    OK(cublasCreate(&blas));
    for (int n : {0, 1, 31, (int)N})
        for (int inc : {1, 3, -2}) {
            try_type<__half>(blas, CUDA_R_16F, 1e-3, n, inc);
            try_type<__nv_bfloat16>(blas, CUDA_R_16BF, 8e-3, n, inc);
        }

    cuComplex *z;
    float norm, half_of = 0.5f;
    OK(cudaMallocManaged(&z, 2 * sizeof *z));
    z[0] = make_cuComplex(3, 4);
    z[1] = make_cuComplex(0, 12);
    OK(cublasNrm2Ex(blas, 2, z, CUDA_C_32F, 1, &norm, CUDA_R_32F, CUDA_R_32F));
    near("complex nrm2", norm, 13, 1e-6);
    CHECK_EQ(cublasNrm2Ex(blas, 2, z, CUDA_C_32F, 1, &norm, CUDA_C_32F, CUDA_C_32F), CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_EQ(cublasScalEx(blas, 2, &half_of, CUDA_R_32F, z, CUDA_R_16F, 1, CUDA_R_16F), CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_EQ(cublasDotEx(blas, 2, z, CUDA_R_16F, 1, z, CUDA_R_16BF, 1, &norm, CUDA_R_16F, CUDA_R_32F),
             CUBLAS_STATUS_NOT_SUPPORTED);
    OK(cudaFree(z));
    OK(cublasDestroy(blas));
    return check_done();
}
