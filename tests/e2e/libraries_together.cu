/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublas -lcusolver
/* Two libraries that have a kernel for the same factors, in one program: each calls its own. */
#include <cublas_v2.h>
#include <cusolverDn.h>

#include "check.h"

int main() {
    const int n = 3;
    const double a[n * n] = {1, 4, 7, 2, 5, 8, 3, 6, 10}; /* by columns; L U = A without exchanges */
    double *x = check_managed<double>(n * n), *y = check_managed<double>(n * n);
    double **list = check_managed<double *>(1);
    int *info = check_managed<int>(2);
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    CHECK_EQ((int)cublasCreate(&blas), 0);
    CHECK_EQ((int)cusolverDnCreate(&solver), 0);
    for (int i = 0; i < n * n; i++)
        x[i] = y[i] = a[i];
    *list = x;
    CHECK_EQ((int)cublasDgetrfBatched(blas, n, list, n, nullptr, info, 1), 0);
    CHECK_EQ((int)cusolverDnDgetrf(solver, n, n, y, n, nullptr, nullptr, info + 1), 0);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(info[0], 0);
    CHECK_EQ(info[1], 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sums[2] = {0, 0};
            for (int k = 0; k <= (i < j ? i : j); k++) {
                sums[0] += (k == i ? 1 : x[k * n + i]) * x[j * n + k];
                sums[1] += (k == i ? 1 : y[k * n + i]) * y[j * n + k];
            }
            for (double sum : sums)
                CHECK(sum > a[j * n + i] - 1e-12 && sum < a[j * n + i] + 1e-12);
        }
    CHECK_EQ((int)cusolverDnDestroy(solver), 0);
    CHECK_EQ((int)cublasDestroy(blas), 0);
    return check_done();
}
