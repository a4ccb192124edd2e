/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS' groups of batches: shapes, transpositions and factors of each group's own, an empty group, types of float, double,
 * half and bfloat16, refused types. Against sums in double. */
// FLAGS: -lcublas
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "check.h"

#define OK(call) CHECK_EQ((int)(call), 0)

enum { GROUPS = 4, PROBLEMS = 6, M_MAX = 40, LD = M_MAX + 3, ROOM = LD * M_MAX };

static double widen(float x) { return (double)x; }
static double widen(double x) { return x; }
static double widen(__half x) { return (double)__half2float(x); }
static double widen(__nv_bfloat16 x) { return (double)__bfloat162float(x); }
static void narrow(float x, float *out) { *out = x; }
static void narrow(float x, double *out) { *out = x; }
static void narrow(float x, __half *out) { *out = __float2half(x); }
static void narrow(float x, __nv_bfloat16 *out) { *out = __float2bfloat16(x); }

static const int sizes[GROUPS] = {3, 1, 0, 2};
static const int ms[GROUPS] = {5, 40, 7, 33}, ns[GROUPS] = {17, 40, 7, 2}, ks[GROUPS] = {9, 33, 7, 0};
static const int lda[GROUPS] = {LD, LD, LD, M_MAX}, ldb[GROUPS] = {M_MAX, LD, LD, LD}, ldc[GROUPS] = {LD, M_MAX, LD, LD};
static const cublasOperation_t ta[GROUPS] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_N, CUBLAS_OP_C};
static const cublasOperation_t tb[GROUPS] = {CUBLAS_OP_T, CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_T};

static cublasStatus_t by_name(cublasHandle_t h, const float *alpha, const float *const *a, const float *const *b,
                              const float *beta, float *const *c)
{
    return cublasSgemmGroupedBatched(h, ta, tb, ms, ns, ks, alpha, a, lda, b, ldb, beta, c, ldc, GROUPS, sizes);
}
static cublasStatus_t by_name(cublasHandle_t h, const double *alpha, const double *const *a, const double *const *b,
                              const double *beta, double *const *c)
{
    return cublasDgemmGroupedBatched(h, ta, tb, ms, ns, ks, alpha, a, lda, b, ldb, beta, c, ldc, GROUPS, sizes);
}
template <typename T, typename F>
static cublasStatus_t by_name(cublasHandle_t, const F *, const T *const *, const T *const *, const F *, T *const *)
{
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* All problems of a type T with factors of type F. */
template <typename T, typename F>
static void try_type(cublasHandle_t blas, cudaDataType type, cublasComputeType_t compute, bool is_named, double unit)
{
    const F alpha[GROUPS] = {F(0.5), F(-1), F(9), F(2)}, beta[GROUPS] = {F(0), F(1), F(9), F(0.25)};
    T *data, **places;
    OK(cudaMallocManaged(&data, 3 * PROBLEMS * ROOM * sizeof(T)));
    OK(cudaMallocManaged(&places, 3 * PROBLEMS * sizeof(T *)));
    static double expected[PROBLEMS][ROOM];
    for (int i = 0; i < 3 * PROBLEMS * ROOM; i++) narrow((float)((i * 7 + i / 11) % 19 - 9) / 8, &data[i]);
    for (int i = 0; i < 3 * PROBLEMS; i++) places[i] = data + (size_t)i * ROOM;
    for (int g = 0, p = 0; g < GROUPS; g++)
        for (int s = 0; s < sizes[g]; s++, p++) {
            const T *a = places[p], *b = places[PROBLEMS + p], *c = places[2 * PROBLEMS + p];
            for (int i = 0; i < ROOM; i++) expected[p][i] = widen(c[i]);
            for (int j = 0; j < ns[g]; j++)
                for (int i = 0; i < ms[g]; i++) {
                    double sum = 0;
                    for (int l = 0; l < ks[g]; l++)
                        sum += widen(ta[g] == CUBLAS_OP_N ? a[i + l * lda[g]] : a[l + i * lda[g]]) *
                               widen(tb[g] == CUBLAS_OP_N ? b[l + j * ldb[g]] : b[j + l * ldb[g]]);
                    double &out = expected[p][i + j * ldc[g]];
                    out = alpha[g] * sum + beta[g] * out;
                }
        }
    const T *const *a = places, *const *b = places + PROBLEMS;
    T *const *c = places + 2 * PROBLEMS;
    if (is_named)
        OK(by_name(blas, alpha, a, b, beta, c));
    else
        OK(cublasGemmGroupedBatchedEx(blas, ta, tb, ms, ns, ks, alpha, (const void *const *)a, type, lda,
                                      (const void *const *)b, type, ldb, beta, (void *const *)c, type, ldc, GROUPS, sizes,
                                      compute));
    OK(cudaDeviceSynchronize());
    for (int p = 0; p < PROBLEMS; p++)
        for (int i = 0; i < ROOM; i++) {
            const double got = widen(c[p][i]), want = expected[p][i];
            if (fabs(got - want) > unit * fmax(1, fabs(want)) && check_note_failure())
                printf("FAIL: problem %d, element %d: %g, not %g\n", p, i, got, want);
        }
    /* One group fails: its leading dimension is too small. */
    const int narrow_ld[GROUPS] = {1, 1, 1, 1};
    CHECK_EQ((int)cublasGemmGroupedBatchedEx(blas, ta, tb, ms, ns, ks, alpha, (const void *const *)a, type, narrow_ld,
                                             (const void *const *)b, type, ldb, beta, (void *const *)c, type, ldc, GROUPS,
                                             sizes, compute),
             (int)CUBLAS_STATUS_INVALID_VALUE);
    OK(cudaFree(data));
    OK(cudaFree(places));
}

int main(void)
{
    cublasHandle_t blas;
    OK(cublasCreate(&blas));
    try_type<float, float>(blas, CUDA_R_32F, CUBLAS_COMPUTE_32F, true, 1e-5);
    try_type<float, float>(blas, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, false, 1e-5);
    try_type<double, double>(blas, CUDA_R_64F, CUBLAS_COMPUTE_64F, true, 1e-13);
    try_type<__half, float>(blas, CUDA_R_16F, CUBLAS_COMPUTE_32F, false, 1e-3);
    try_type<__nv_bfloat16, float>(blas, CUDA_R_16BF, CUBLAS_COMPUTE_32F, false, 8e-3);

    const float one = 1;
    CHECK_EQ((int)cublasGemmGroupedBatchedEx(blas, ta, tb, ms, ns, ks, &one, NULL, CUDA_R_8I, lda, NULL, CUDA_R_8I, ldb, &one,
                                             NULL, CUDA_R_32I, ldc, 1, sizes, CUBLAS_COMPUTE_32I),
             (int)CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_EQ((int)cublasSgemmGroupedBatched(blas, ta, tb, ms, ns, ks, &one, NULL, lda, NULL, ldb, &one, NULL, ldc, 1, sizes),
             (int)CUBLAS_STATUS_INVALID_VALUE);
    OK(cublasSgemmGroupedBatched(blas, ta, tb, ms, ns, ks, &one, NULL, lda, NULL, ldb, &one, NULL, ldc, 0, sizes));
    OK(cublasDestroy(blas));
    return check_done();
}
