/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublas
/* cuBLASXt: matrices in host memory, in parts smaller than they are; small integers, so that results are exact. */
#include <cublasXt.h>
#include <vector>

#include "check.h"

static uint32_t state = 521288629u;

template <class T> static std::vector<T> numbers(size_t n) {
    std::vector<T> v(n);
    for (T &x : v)
        x = (T)(check_random(&state) % 9) - 4;
    return v;
}

static void multiply(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, float beta, bool on_device) {
    const size_t m = 45, n = 38, k = 51, lda = 60, ldb = 57, ldc = 47;
    const std::vector<float> a = numbers<float>(lda * 60), b = numbers<float>(ldb * 60), c = numbers<float>(ldc * n);
    std::vector<float> out = c;
    float *data = out.data();
    if (on_device) {
        CUDA_OK(cudaMalloc((void **)&data, ldc * n * sizeof(float)));
        CUDA_OK(cudaMemcpy(data, c.data(), ldc * n * sizeof(float), cudaMemcpyHostToDevice));
    }
    const float alpha = 2;
    CHECK_EQ(cublasXtSgemm(handle, transa, transb, m, n, k, &alpha, a.data(), lda, b.data(), ldb, &beta, data, ldc),
             CUBLAS_STATUS_SUCCESS);
    if (on_device) {
        CUDA_OK(cudaMemcpy(out.data(), data, ldc * n * sizeof(float), cudaMemcpyDeviceToHost));
        CUDA_OK(cudaFree(data));
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < ldc; i++) {
            float expected = c[j * ldc + i]; /* rows beyond m stay */
            if (i < m) {
                expected *= beta;
                for (size_t l = 0; l < k; l++)
                    expected += alpha * (transa == CUBLAS_OP_N ? a[l * lda + i] : a[i * lda + l]) *
                                (transb == CUBLAS_OP_N ? b[j * ldb + l] : b[l * ldb + j]);
            }
            CHECK_EQ(out[j * ldc + i], expected);
        }
}

static void solve(cublasXtHandle_t handle) {
    const size_t n = 33;
    std::vector<double> t(n * n, 0.0), b(2 * n), c(n * n, 1.0);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++)
            t[j * n + i] = 1;
    for (size_t i = 0; i < 2 * n; i++)
        b[i] = (double)(i * i);
    const double one = 1;
    CHECK_EQ(cublasXtDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 2, &one,
                           t.data(), n, b.data(), n),
             CUBLAS_STATUS_SUCCESS);
    for (size_t i = 1; i < n; i++)
        CHECK_EQ(b[i], (double)(i * i - (i - 1) * (i - 1)));
    CHECK_EQ(cublasXtDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n, &one, t.data(), n, &one, c.data(), n),
             CUBLAS_STATUS_SUCCESS);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(c[j * n + i], i >= j ? (double)j + 2 : 1.0);
    const double two = 2; /* without a product C is still scaled */
    CHECK_EQ(cublasXtDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, 0, &one, NULL, n, &two, c.data(), n),
             CUBLAS_STATUS_SUCCESS);
    CHECK(c[0] == 4 && c[n] == 1);
}

/* Programs of before CUDA 11 name the type of the sums by a cudaDataType. */
static void old_types() {
    cublasHandle_t handle;
    const float one = 1, zero = 0, a[] = {1, 2, 3, 4}, b[] = {1, 0, 2, 1};
    float *data, c[4];
    CHECK_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    CUDA_OK(cudaMalloc((void **)&data, 12 * sizeof *data));
    CUDA_OK(cudaMemcpy(data, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(data + 4, b, sizeof b, cudaMemcpyHostToDevice));
    CHECK_EQ(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, data, CUDA_R_32F, 2, data + 4, CUDA_R_32F, 2,
                          &zero, data + 8, CUDA_R_32F, 2, CUDA_R_32F, CUBLAS_GEMM_DFALT),
             CUBLAS_STATUS_SUCCESS);
    CUDA_OK(cudaMemcpy(c, data + 8, sizeof c, cudaMemcpyDeviceToHost));
    CHECK(c[0] == 1 && c[1] == 2 && c[2] == 5 && c[3] == 8);
    CHECK_EQ(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, data, CUDA_R_32F, 2, 4, data + 4,
                                        CUDA_R_32F, 2, 4, &zero, data + 8, CUDA_R_32F, 2, 4, 1, CUDA_R_8I, CUBLAS_GEMM_DFALT),
             CUBLAS_STATUS_NOT_SUPPORTED);
    CUDA_OK(cudaFree(data));
    CHECK_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

int main() {
    old_types();
    cublasXtHandle_t handle = nullptr;
    int device[] = {0}, bad[] = {99}, dim = 0;
    const float one = 1;
    CHECK_EQ(cublasXtSetBlockDim(handle, 16), CUBLAS_STATUS_NOT_INITIALIZED);
    CHECK_EQ(cublasXtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    CHECK_EQ(cublasXtDeviceSelect(handle, 1, bad), CUBLAS_STATUS_INVALID_VALUE);
    CHECK_EQ(cublasXtDeviceSelect(handle, 1, device), CUBLAS_STATUS_SUCCESS);
    CHECK_EQ(cublasXtSetBlockDim(handle, 0), CUBLAS_STATUS_INVALID_VALUE);
    CHECK_EQ(cublasXtSetBlockDim(handle, 16), CUBLAS_STATUS_SUCCESS);
    CHECK_EQ(cublasXtGetBlockDim(handle, &dim), CUBLAS_STATUS_SUCCESS);
    CHECK_EQ(dim, 16);
    multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, false);
    multiply(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, false);
    multiply(handle, CUBLAS_OP_N, CUBLAS_OP_T, -1, true);
    multiply(handle, CUBLAS_OP_T, CUBLAS_OP_T, 1, false);
    CHECK_EQ(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, &one, 3, &one, 4, &one, nullptr, 4),
             CUBLAS_STATUS_INVALID_VALUE);
    solve(handle);
    CHECK_EQ(cublasXtDestroy(handle), CUBLAS_STATUS_SUCCESS);
    return check_done();
}
