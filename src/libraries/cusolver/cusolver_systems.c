/* SPDX-License-Identifier: Apache-2.0 */
/* Systems solved by one call, inverses of definite matrices, and a few singular values of many
 * matrices, of the four types, from one text. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "libraries/cusolver/cusolver_handle.h"

#define OK CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE

static int at_least_1(int n) {
    return n > 1 ? n : 1;
}

static cusolverStatus_t run(cusolverDnHandle_t handle,
                            cudaError_t (*to)(cudaStream_t, const wpi_solver_call *),
                            const wpi_solver_call *call) {
    return wpi_cusolver_status(to(handle->stream, call));
}

static cusolverStatus_t copy(cusolverDnHandle_t handle, size_t element_bytes, void *to, int ld_to,
                             const void *from, int ld_from, int rows, int columns) {
    return wpi_cusolver_status(cudaMemcpy2DAsync(
        to, (size_t)ld_to * element_bytes, from, (size_t)ld_from * element_bytes,
        (size_t)rows * element_bytes, (size_t)columns, cudaMemcpyDeviceToDevice, handle->stream));
}

/* ---- the inverse, from Cholesky's factor ---- */

static cusolverStatus_t inverse(cusolverDnHandle_t handle, int type, cublasFillMode_t uplo, int n,
                                void *a, int lda, int *info) {
    if (info == NULL) return INVALID;
    CUSOLVER_TRY(wpi_cusolver_triangle(handle, type, uplo, false, n, a, lda, info));
    return run(handle, wpi_solver[type].potri,
               &(wpi_solver_call){.a = {.data = a, .ld = lda},
                                  .n = n,
                                  .is_upper = uplo == CUBLAS_FILL_MODE_UPPER,
                                  .info = info,
                                  .batch = 1});
}

/* ---- systems: iterations that refine a solution in a narrower type are none, since the factors
 * are those of the matrix' own type ---- */

static cusolverStatus_t square_system(cusolverDnHandle_t handle, int type, int n, int columns,
                                      void *a, int lda, int *pivots, const void *b, int ldb,
                                      void *x, int ldx, int *iterations, int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || columns < 0 || lda < at_least_1(n) || ldb < at_least_1(n) || ldx < at_least_1(n) ||
        iterations == NULL)
        return INVALID;
    *iterations = 0;
    if (n == 0 || columns == 0) return OK;
    CUSOLVER_TRY(copy(handle, wpi_cusolver_bytes(type), x, ldx, b, ldb, n, columns));
    CUSOLVER_TRY(wpi_cusolver_lu(handle, type, n, n, a, lda, pivots, false, info));
    return wpi_cusolver_lu_solve(handle, type, CUBLAS_OP_N, n, columns, a, lda, pivots, false, x,
                                 ldx, NULL);
}

static size_t least_squares_bytes(int type, int m, int n, int columns) {
    return ((size_t)n + (size_t)m * (size_t)columns) * wpi_cusolver_bytes(type) + 1;
}

/* Factors of Q R; behind them in the work memory, Q^T B, whose first n rows R solves. */
static cusolverStatus_t least_squares(cusolverDnHandle_t handle, int type, int m, int n,
                                      int columns, void *a, int lda, const void *b, int ldb,
                                      void *x, int ldx, void *work, size_t work_bytes,
                                      int *iterations, int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || m < n || columns < 0 || lda < at_least_1(m) || ldb < at_least_1(m) ||
        ldx < at_least_1(n) || iterations == NULL)
        return INVALID;
    *iterations = 0;
    if (n == 0 || columns == 0) return OK;
    if (work == NULL || work_bytes < least_squares_bytes(type, m, n, columns)) return INVALID;
    const size_t element_bytes = wpi_cusolver_bytes(type);
    char *right = (char *)work + (size_t)n * element_bytes;
    wpi_solver_call call = {.a = {.data = a, .ld = lda},
                            .b = {.data = right, .ld = m},
                            .m = m,
                            .n = n,
                            .columns = n,
                            .is_transposed = 1,
                            .tau = work,
                            .info = info,
                            .batch = 1};
    CUSOLVER_TRY(run(handle, wpi_solver[type].geqrf, &call));
    CUSOLVER_TRY(copy(handle, element_bytes, right, m, b, ldb, m, columns));
    call.n = columns;
    CUSOLVER_TRY(run(handle, wpi_solver[type].ormqr, &call));
    call.n = n, call.columns = columns;
    CUSOLVER_TRY(run(handle, wpi_solver[type].upper, &call));
    return copy(handle, element_bytes, x, ldx, right, m, n, columns);
}

/* ---- the first singular values of each matrix of a batch ---- */

/* A matrix' work: what its values need, then its copy, since rotations change it. */
static long long few_work(int m, int n) {
    return WPI_SOLVER_SVD_WORK(n) + (long long)m * n;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What U S V^T lacks of A: the root of the squares of the other values, which the work memory has
 * behind V. */
static cusolverStatus_t residual(cusolverDnHandle_t handle, int type, int n, int rank,
                                 const void *work, double *norm) {
    const size_t real_bytes = wpi_cusolver_real_bytes(type);
    double *values = wpi_malloc((size_t)n * sizeof *values + 1);
    if (values == NULL) return CUSOLVER_STATUS_ALLOC_FAILED;
    const char *from = (const char *)work + (size_t)n * (size_t)n * wpi_cusolver_bytes(type);
    cudaError_t error = cudaMemcpyAsync(values, from, (size_t)n * real_bytes,
                                        cudaMemcpyDeviceToHost, handle->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(handle->stream);
    if (error == cudaSuccess && real_bytes == sizeof(float))
        for (int i = n - 1; i >= 0; i--)
            values[i] = (double)((const float *)(const void *)values)[i];
    qsort(values, (size_t)n, sizeof *values, by_size);
    double sum = 0;
    for (int i = 0; i < n - rank; i++)
        sum += values[i] * values[i];
    *norm = sqrt(sum);
    wpi_free(values);
    return wpi_cusolver_status(error);
}

typedef struct few_values {
    cusolverEigMode_t jobz;
    int rank, m, n, lda, batch;
    const void *a;
    void *s, *u, *v;
    int ldu, ldv;
    long long a_stride, s_stride, u_stride, v_stride;
} few_values;

static bool is_few(const few_values *f) {
    return f->n >= 0 && f->m >= f->n && f->rank >= 0 && f->rank <= f->n && f->batch >= 0 &&
           f->lda >= at_least_1(f->m) &&
           (f->jobz != CUSOLVER_EIG_MODE_VECTOR ||
            (f->ldu >= at_least_1(f->m) && f->ldv >= at_least_1(f->n)));
}

static cusolverStatus_t few_size(cusolverDnHandle_t handle, const few_values *f, int *elements) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    const long long needed = few_work(f->m, f->n) * f->batch;
    if (!is_few(f) || elements == NULL || needed > INT32_MAX) return INVALID;
    *elements = needed > 1 ? (int)needed : 1;
    return OK;
}

static cusolverStatus_t few(cusolverDnHandle_t handle, int type, const few_values *f, void *work,
                            int lwork, int *info, double *norms) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    const long long each = few_work(f->m, f->n), before = WPI_SOLVER_SVD_WORK(f->n);
    if (!is_few(f) || work == NULL || lwork < each * f->batch) return INVALID;
    if (f->n == 0 || f->batch == 0) return OK;
    const size_t bytes = wpi_cusolver_bytes(type);
    char *const copies = (char *)work + (size_t)before * bytes;
    for (int i = 0; i < f->batch; i++)
        CUSOLVER_TRY(copy(handle, bytes, copies + (size_t)(i * each) * bytes, f->m,
                          (const char *)f->a + (size_t)(i * f->a_stride) * bytes, f->lda, f->m,
                          f->n));
    const bool has_vectors = f->jobz == CUSOLVER_EIG_MODE_VECTOR;
    const wpi_solver_svd call = {.a = {.data = copies, .ld = f->m, .stride = each},
                                 .m = f->m,
                                 .n = f->n,
                                 .count = f->rank,
                                 .u_columns = f->rank,
                                 .vt_rows = f->rank,
                                 .is_v = 1,
                                 .values = f->s,
                                 .u = has_vectors ? f->u : NULL,
                                 .vt = has_vectors ? f->v : NULL,
                                 .work = work,
                                 .ldu = f->ldu,
                                 .ldvt = f->ldv,
                                 .values_stride = f->s_stride,
                                 .u_stride = f->u_stride,
                                 .vt_stride = f->v_stride,
                                 .work_stride = each,
                                 .info = info,
                                 .batch = f->batch};
    CUSOLVER_TRY(wpi_cusolver_status(wpi_solver[type].gesvd(handle->stream, &call)));
    for (int i = 0; i < f->batch && norms != NULL; i++)
        CUSOLVER_TRY(residual(handle, type, f->n, f->rank,
                              (const char *)work + (size_t)(i * each) * bytes, norms + i));
    return OK;
}

/* ---- calls ---- */

#define TYPED(X, T, R, type)                                                                       \
    WP_API cusolverStatus_t cusolverDn##X##potri_bufferSize(                                       \
        cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, int *lwork) {      \
        (void)uplo, (void)A;                                                                       \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        if (n < 0 || lda < at_least_1(n) || lwork == NULL) return INVALID;                         \
        *lwork = 1;                                                                                \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##potri(cusolverDnHandle_t handle, cublasFillMode_t uplo, \
                                                 int n, T *A, int lda, T *work, int lwork,         \
                                                 int *devInfo) {                                   \
        (void)work, (void)lwork;                                                                   \
        return inverse(handle, type, uplo, n, A, lda, devInfo);                                    \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdaStridedBatched_bufferSize(                        \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T *d_A,   \
        int lda, long long int strideA, const R *d_S, long long int strideS, const T *d_U,         \
        int ldu, long long int strideU, const T *d_V, int ldv, long long int strideV, int *lwork,  \
        int batchSize) {                                                                           \
        (void)d_A, (void)strideA, (void)d_S, (void)strideS, (void)d_U, (void)strideU, (void)d_V,   \
            (void)strideV;                                                                         \
        const few_values f = {.jobz = jobz,                                                        \
                              .rank = rank,                                                        \
                              .m = m,                                                              \
                              .n = n,                                                              \
                              .lda = lda,                                                          \
                              .batch = batchSize,                                                  \
                              .ldu = ldu,                                                          \
                              .ldv = ldv};                                                         \
        return few_size(handle, &f, lwork);                                                        \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdaStridedBatched(                                   \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int rank, int m, int n, const T *d_A,   \
        int lda, long long int strideA, R *d_S, long long int strideS, T *d_U, int ldu,            \
        long long int strideU, T *d_V, int ldv, long long int strideV, T *d_work, int lwork,       \
        int *d_info, double *h_R_nrmF, int batchSize) {                                            \
        const few_values f = {.jobz = jobz,                                                        \
                              .rank = rank,                                                        \
                              .m = m,                                                              \
                              .n = n,                                                              \
                              .lda = lda,                                                          \
                              .batch = batchSize,                                                  \
                              .a = d_A,                                                            \
                              .s = d_S,                                                            \
                              .u = d_U,                                                            \
                              .v = d_V,                                                            \
                              .ldu = ldu,                                                          \
                              .ldv = ldv,                                                          \
                              .a_stride = strideA,                                                 \
                              .s_stride = strideS,                                                 \
                              .u_stride = strideU,                                                 \
                              .v_stride = strideV};                                                \
        return few(handle, type, &f, d_work, lwork, d_info, h_R_nrmF);                             \
    }

/* Two letters: the type, and the one that CUDA's library factors in. */
#define MIXED(X, T, type)                                                                          \
    WP_API cusolverStatus_t cusolverDn##X##gesv_bufferSize(                                        \
        cusolverDnHandle_t handle, int n, int nrhs, T *dA, int ldda, int *dipiv, T *dB, int lddb,  \
        T *dX, int lddx, void *dWorkspace, size_t *lwork_bytes) {                                  \
        (void)dA, (void)dipiv, (void)dB, (void)dX, (void)dWorkspace;                               \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        if (n < 0 || nrhs < 0 || ldda < at_least_1(n) || lddb < at_least_1(n) ||                   \
            lddx < at_least_1(n) || lwork_bytes == NULL)                                           \
            return INVALID;                                                                        \
        *lwork_bytes = 1;                                                                          \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesv(                                                   \
        cusolverDnHandle_t handle, int n, int nrhs, T *dA, int ldda, int *dipiv, T *dB, int lddb,  \
        T *dX, int lddx, void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info) {           \
        (void)dWorkspace, (void)lwork_bytes;                                                       \
        return square_system(handle, type, n, nrhs, dA, ldda, dipiv, dB, lddb, dX, lddx, iter,     \
                             d_info);                                                              \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gels_bufferSize(                                        \
        cusolverDnHandle_t handle, int m, int n, int nrhs, T *dA, int ldda, T *dB, int lddb,       \
        T *dX, int lddx, void *dWorkspace, size_t *lwork_bytes) {                                  \
        (void)dA, (void)dB, (void)dX, (void)dWorkspace;                                            \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        if (n < 0 || m < n || nrhs < 0 || ldda < at_least_1(m) || lddb < at_least_1(m) ||          \
            lddx < at_least_1(n) || lwork_bytes == NULL)                                           \
            return INVALID;                                                                        \
        *lwork_bytes = least_squares_bytes(type, m, n, nrhs);                                      \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gels(                                                   \
        cusolverDnHandle_t handle, int m, int n, int nrhs, T *dA, int ldda, T *dB, int lddb,       \
        T *dX, int lddx, void *dWorkspace, size_t lwork_bytes, int *iter, int *d_info) {           \
        return least_squares(handle, type, m, n, nrhs, dA, ldda, dB, lddb, dX, lddx, dWorkspace,   \
                             lwork_bytes, iter, d_info);                                           \
    }

TYPED(S, float, float, 0)
TYPED(D, double, double, 1)
TYPED(C, cuComplex, float, 2)
TYPED(Z, cuDoubleComplex, double, 3)

MIXED(SS, float, 0)
MIXED(SH, float, 0)
MIXED(SB, float, 0)
MIXED(SX, float, 0)
MIXED(DD, double, 1)
MIXED(DS, double, 1)
MIXED(DH, double, 1)
MIXED(DB, double, 1)
MIXED(DX, double, 1)
MIXED(CC, cuComplex, 2)
MIXED(CK, cuComplex, 2)
MIXED(CE, cuComplex, 2)
MIXED(CY, cuComplex, 2)
MIXED(ZZ, cuDoubleComplex, 3)
MIXED(ZC, cuDoubleComplex, 3)
MIXED(ZK, cuDoubleComplex, 3)
MIXED(ZE, cuDoubleComplex, 3)
MIXED(ZY, cuDoubleComplex, 3)
