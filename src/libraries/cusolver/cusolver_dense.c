/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the four types, from one text. */
#include "base/alloc.h"
#include "libraries/cusolver/cusolver_handle.h"

#define OK CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE

/* Work that a call does not need still has a size, since programs allocate it. */
static cusolverStatus_t work_size(cusolverDnHandle_t handle, bool is_valid, long long needed,
                                  int *elements) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (!is_valid || elements == NULL || needed > INT32_MAX) return INVALID;
    *elements = needed > 1 ? (int)needed : 1;
    return OK;
}

static wpi_solver_matrix matrix(const void *data, int ld) {
    return (wpi_solver_matrix){.data = (void *)(uintptr_t)data, .ld = ld};
}

static int at_least_1(int n) {
    return n > 1 ? n : 1;
}

static bool is_vector(cusolverEigMode_t mode) {
    return mode == CUSOLVER_EIG_MODE_VECTOR;
}

static bool is_upper(cublasFillMode_t uplo) {
    return uplo == CUBLAS_FILL_MODE_UPPER;
}

typedef cudaError_t launch(cudaStream_t, const wpi_solver_call *);

static cusolverStatus_t run(cusolverDnHandle_t handle, launch *to, const wpi_solver_call *call) {
    return call->batch == 0 ? OK : wpi_cusolver_status(to(handle->stream, call));
}

static cusolverStatus_t cholesky(cusolverDnHandle_t handle, int type, cublasFillMode_t uplo, int n,
                                 wpi_solver_matrix a, int *info, int batch) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || a.ld < at_least_1(n) || batch < 0) return INVALID;
    return run(handle, wpi_solver[type].potrf,
               &(wpi_solver_call){
                   .a = a, .n = n, .is_upper = is_upper(uplo), .info = info, .batch = batch});
}

static cusolverStatus_t cholesky_solve(cusolverDnHandle_t handle, int type, cublasFillMode_t uplo,
                                       int n, int columns, wpi_solver_matrix a, wpi_solver_matrix b,
                                       int *info, int batch) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || columns < 0 || a.ld < at_least_1(n) || b.ld < at_least_1(n) || batch < 0)
        return INVALID;
    if (info != NULL)
        CUSOLVER_TRY(wpi_cusolver_status(cudaMemsetAsync(info, 0, sizeof *info, handle->stream)));
    return run(handle, wpi_solver[type].potrs,
               &(wpi_solver_call){.a = a,
                                  .b = b,
                                  .n = n,
                                  .columns = columns,
                                  .is_upper = is_upper(uplo),
                                  .batch = batch});
}

cusolverStatus_t wpi_cusolver_lu(cusolverDnHandle_t handle, int type, int m, int n, void *a,
                                 int lda, void *pivots, bool is_wide, int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (m < 0 || n < 0 || lda < at_least_1(m)) return INVALID;
    return run(handle, wpi_solver[type].getrf,
               &(wpi_solver_call){.a = matrix(a, lda),
                                  .m = m,
                                  .n = n,
                                  .pivots = pivots,
                                  .has_wide_pivots = is_wide,
                                  .info = info,
                                  .batch = 1});
}

cusolverStatus_t wpi_cusolver_lu_solve(cusolverDnHandle_t handle, int type, cublasOperation_t trans,
                                       int n, int columns, const void *a, int lda,
                                       const void *pivots, bool is_wide, void *b, int ldb,
                                       int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || columns < 0 || lda < at_least_1(n) || ldb < at_least_1(n)) return INVALID;
    if (info != NULL)
        CUSOLVER_TRY(wpi_cusolver_status(cudaMemsetAsync(info, 0, sizeof *info, handle->stream)));
    return run(handle, wpi_solver[type].getrs,
               &(wpi_solver_call){.a = matrix(a, lda),
                                  .b = matrix(b, ldb),
                                  .n = n,
                                  .columns = columns,
                                  .is_transposed = trans != CUBLAS_OP_N,
                                  .is_conjugated = trans == CUBLAS_OP_C,
                                  .pivots = (void *)(uintptr_t)pivots,
                                  .has_wide_pivots = is_wide,
                                  .batch = 1});
}

cusolverStatus_t wpi_cusolver_triangle(cusolverDnHandle_t handle, int type, cublasFillMode_t uplo,
                                       bool is_unit, int n, void *a, int lda, int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || lda < at_least_1(n)) return INVALID;
    return run(handle, wpi_solver[type].trtri,
               &(wpi_solver_call){.a = matrix(a, lda),
                                  .n = n,
                                  .is_upper = is_upper(uplo),
                                  .is_unit = is_unit,
                                  .info = info,
                                  .batch = 1});
}

static cusolverStatus_t eigen(cusolverDnHandle_t handle, int type, cusolverEigMode_t jobz,
                              cublasFillMode_t uplo, int n, void *a, int lda, void *values,
                              void *work, int lwork, int *info, int batch) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || lda < at_least_1(n) || batch < 0 || work == NULL ||
        lwork < WPI_SOLVER_EIGEN_WORK(n) * batch)
        return INVALID;
    return run(handle, wpi_solver[type].syev,
               &(wpi_solver_call){.a = {.data = a, .ld = lda, .stride = (long long)lda * n},
                                  .n = n,
                                  .is_upper = is_upper(uplo),
                                  .has_vectors = is_vector(jobz),
                                  .values = values,
                                  .work = work,
                                  .work_stride = WPI_SOLVER_EIGEN_WORK(n),
                                  .info = info,
                                  .batch = batch});
}

/* B gets its factor, A its vectors. */
static cusolverStatus_t pair(cusolverDnHandle_t handle, int type, cusolverEigType_t itype,
                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, void *a, int lda,
                             void *b, int ldb, void *values, void *work, int lwork, int *info) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (n < 0 || lda < at_least_1(n) || ldb < at_least_1(n) || work == NULL ||
        lwork < WPI_SOLVER_EIGEN_WORK(n))
        return INVALID;
    if (itype != CUSOLVER_EIG_TYPE_1) return wpi_cusolver_refuse("sygvd of type 2 or 3");
    CUSOLVER_TRY(cholesky(handle, type, uplo, n, matrix(b, ldb), info, 1));
    int failed = 0;
    if (info != NULL) {
        CUSOLVER_TRY(wpi_cusolver_status(
            cudaMemcpyAsync(&failed, info, sizeof failed, cudaMemcpyDeviceToHost, handle->stream)));
        CUSOLVER_TRY(wpi_cusolver_status(cudaStreamSynchronize(handle->stream)));
    }
    if (failed != 0) { /* LAPACK's number: B is not positive definite */
        failed += n;
        return wpi_cusolver_status(
            cudaMemcpy(info, &failed, sizeof failed, cudaMemcpyHostToDevice));
    }
    const wpi_solver_call call = {
        .a = matrix(a, lda), .b = matrix(b, ldb), .n = n, .is_upper = is_upper(uplo), .batch = 1};
    CUSOLVER_TRY(run(handle, wpi_solver[type].sygst, &call));
    CUSOLVER_TRY(eigen(handle, type, jobz, uplo, n, a, lda, values, work, lwork, info, 1));
    return is_vector(jobz) ? run(handle, wpi_solver[type].back, &call) : OK;
}

typedef struct selection {
    cusolverEigRange_t range;
    double above, to; /* an interval: above < value <= to */
    int first, last;  /* numbers, from 1 */
} selection;

/* Moves the chosen values and their vectors to the front; all have been computed. */
static cusolverStatus_t choose(cusolverDnHandle_t handle, int type, const selection *chosen,
                               bool has_vectors, int n, void *a, int lda, void *values,
                               int *count) {
    if (count == NULL) return INVALID;
    const size_t bytes = wpi_cusolver_real_bytes(type);
    int first = 0, outer = n;
    if (chosen->range == CUSOLVER_EIG_RANGE_I) {
        first = chosen->first - 1, outer = chosen->last;
    } else if (chosen->range == CUSOLVER_EIG_RANGE_V) {
        char *host = wpi_malloc((size_t)n * bytes + 1);
        if (host == NULL) return CUSOLVER_STATUS_ALLOC_FAILED;
        cudaError_t error = cudaMemcpyAsync(host, values, (size_t)n * bytes, cudaMemcpyDeviceToHost,
                                            handle->stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(handle->stream);
        outer = 0;
        for (int i = 0; i < n && error == cudaSuccess; i++) {
            const double value = bytes == sizeof(double) ? ((const double *)host)[i]
                                                         : (double)((const float *)host)[i];
            first += value <= chosen->above;
            outer += value <= chosen->to;
        }
        wpi_free(host);
        CUSOLVER_TRY(wpi_cusolver_status(error));
    }
    *count = outer > first ? outer - first : 0;
    for (int i = 0; i < *count && first > 0; i++) {
        char *to = (char *)values + (size_t)i * bytes;
        CUSOLVER_TRY(wpi_cusolver_status(cudaMemcpyAsync(
            to, to + (size_t)first * bytes, bytes, cudaMemcpyDeviceToDevice, handle->stream)));
        const size_t element = wpi_cusolver_bytes(type), column = (size_t)lda * element;
        to = (char *)a + (size_t)i * column;
        if (has_vectors)
            CUSOLVER_TRY(wpi_cusolver_status(
                cudaMemcpyAsync(to, to + (size_t)first * column, (size_t)n * element,
                                cudaMemcpyDeviceToDevice, handle->stream)));
    }
    return OK;
}

static bool is_selection(const selection *s, int n) {
    switch (s->range) {
    case CUSOLVER_EIG_RANGE_ALL: return true;
    case CUSOLVER_EIG_RANGE_I:
        return n == 0 || (1 <= s->first && s->first <= s->last && s->last <= n);
    case CUSOLVER_EIG_RANGE_V: return s->above < s->to;
    default: return false;
    }
}

static cusolverStatus_t singular(cusolverDnHandle_t handle, int type, const wpi_solver_svd *wanted,
                                 int lwork) {
    wpi_solver_svd all = *wanted;
    const wpi_solver_svd *call = &all;
    all.count = all.n, all.values_stride = all.n;
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (call->m < call->n || call->n < 0 || call->a.ld < at_least_1(call->m) || call->batch < 0 ||
        call->work == NULL || lwork < call->work_stride * call->batch ||
        (call->u != NULL && call->ldu < at_least_1(call->m)) ||
        (call->vt != NULL && call->ldvt < at_least_1(call->is_v ? call->n : call->vt_rows)))
        return INVALID;
    if (call->n == 0 || call->batch == 0) return OK;
    return wpi_cusolver_status(wpi_solver[type].gesvd(handle->stream, call));
}

/* More columns than rows: A^T = V S U^T, of other memory. */
static cusolverStatus_t singular_wide(cusolverDnHandle_t handle, int type, wpi_solver_svd call,
                                      int lwork) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    const int m = call.n, n = call.m, u_columns = call.u_columns;
    if (call.m < 0 || call.a.ld < at_least_1(call.m) || call.batch < 0) return INVALID;
    if (n == 0 || call.batch == 0) return OK;
    void *turned = NULL, *const u = call.u;
    const long long ldu = call.ldu, stride = (long long)m * n;
    CUSOLVER_TRY(wpi_cusolver_status(cudaMallocAsync(
        &turned, (size_t)stride * (size_t)call.batch * wpi_cusolver_bytes(type), handle->stream)));
    const wpi_solver_call transpose = {.a = call.a,
                                       .b = {.data = turned, .ld = m, .stride = stride},
                                       .m = n,
                                       .n = m,
                                       .batch = call.batch};
    cusolverStatus_t status = run(handle, wpi_solver[type].transpose, &transpose);
    call.a = transpose.b, call.m = m, call.n = n;
    const long long u_stride = call.u_stride;
    call.u = call.vt, call.ldu = call.ldvt, call.u_stride = call.vt_stride;
    call.u_columns = call.vt_rows;
    call.vt = u, call.ldvt = ldu, call.vt_stride = u_stride, call.vt_rows = u_columns;
    if (status == OK) status = singular(handle, type, &call, lwork);
    const cudaError_t freed = cudaFreeAsync(turned, handle->stream);
    return status != OK ? status : wpi_cusolver_status(freed);
}

/* Of either shape, with U and V. */
static cusolverStatus_t singular_pair(cusolverDnHandle_t handle, int type,
                                      const wpi_solver_svd *call, int lwork) {
    return call->m < call->n ? singular_wide(handle, type, *call, lwork)
                             : singular(handle, type, call, lwork);
}

/* Of U or V^T by a letter: A all columns, S and O (in the matrix) the first n, N none. */
static cusolverStatus_t columns_of(signed char job, int all, int first, int *columns) {
    if (job != 'A' && job != 'S' && job != 'O' && job != 'N') return INVALID;
    *columns = job == 'A' ? all : job == 'N' ? 0 : first;
    return OK;
}

/* U, or with `is_vt` V^T, takes the matrix' place: the kernel reads that to the end, so they are in
 * other memory first. */
static cusolverStatus_t singular_in_place(cusolverDnHandle_t handle, int type, wpi_solver_svd call,
                                          bool is_vt, int lwork) {
    const size_t element_bytes = wpi_cusolver_bytes(type);
    void *vectors = NULL, *const matrix = call.a.data;
    const size_t rows = (size_t)(is_vt ? call.n : call.m);
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (call.m < call.n || call.n < 0 || call.a.ld < call.m) return INVALID;
    if (call.n == 0) return OK;
    CUSOLVER_TRY(wpi_cusolver_status(
        cudaMallocAsync(&vectors, rows * (size_t)call.n * element_bytes, handle->stream)));
    *(is_vt ? &call.vt : &call.u) = vectors;
    *(is_vt ? &call.ldvt : &call.ldu) = (int)rows;
    cusolverStatus_t status = singular(handle, type, &call, lwork);
    if (status == OK)
        status = wpi_cusolver_status(cudaMemcpy2DAsync(
            matrix, (size_t)call.a.ld * element_bytes, vectors, rows * element_bytes,
            rows * element_bytes, (size_t)call.n, cudaMemcpyDeviceToDevice, handle->stream));
    const cudaError_t freed = cudaFreeAsync(vectors, handle->stream);
    return status != OK ? status : wpi_cusolver_status(freed);
}

#define SYSTEMS(X, T, type)                                                                        \
    WP_API cusolverStatus_t cusolverDn##X##potrf_bufferSize(                                       \
        cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, T *A, int lda, int *Lwork) {      \
        (void)uplo, (void)A;                                                                       \
        return work_size(handle, n >= 0 && lda >= at_least_1(n), 1, Lwork);                        \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##potrf(cusolverDnHandle_t handle, cublasFillMode_t uplo, \
                                                 int n, T *A, int lda, T *Workspace, int Lwork,    \
                                                 int *devInfo) {                                   \
        (void)Workspace, (void)Lwork;                                                              \
        return cholesky(handle, type, uplo, n, matrix(A, lda), devInfo, 1);                        \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##potrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, \
                                                 int n, int nrhs, const T *A, int lda, T *B,       \
                                                 int ldb, int *devInfo) {                          \
        return cholesky_solve(handle, type, uplo, n, nrhs, matrix(A, lda), matrix(B, ldb),         \
                              devInfo, 1);                                                         \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##potrfBatched(cusolverDnHandle_t handle,                 \
                                                        cublasFillMode_t uplo, int n, T *Aarray[], \
                                                        int lda, int *infoArray, int batchSize) {  \
        return cholesky(handle, type, uplo, n,                                                     \
                        (wpi_solver_matrix){.pointers = (void *const *)Aarray, .ld = lda},         \
                        infoArray, batchSize);                                                     \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##potrsBatched(                                           \
        cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int nrhs, T *A[], int lda,        \
        T *B[], int ldb, int *d_info, int batchSize) {                                             \
        return cholesky_solve(handle, type, uplo, n, nrhs,                                         \
                              (wpi_solver_matrix){.pointers = (void *const *)A, .ld = lda},        \
                              (wpi_solver_matrix){.pointers = (void *const *)B, .ld = ldb},        \
                              d_info, batchSize);                                                  \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##getrf_bufferSize(cusolverDnHandle_t handle, int m,      \
                                                            int n, T *A, int lda, int *Lwork) {    \
        (void)A;                                                                                   \
        return work_size(handle, m >= 0 && n >= 0 && lda >= at_least_1(m), 1, Lwork);              \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##getrf(cusolverDnHandle_t handle, int m, int n, T *A,    \
                                                 int lda, T *Workspace, int *devIpiv,              \
                                                 int *devInfo) {                                   \
        (void)Workspace;                                                                           \
        return wpi_cusolver_lu(handle, type, m, n, A, lda, devIpiv, false, devInfo);               \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##getrs(                                                  \
        cusolverDnHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *A, int lda,  \
        const int *devIpiv, T *B, int ldb, int *devInfo) {                                         \
        return wpi_cusolver_lu_solve(handle, type, trans, n, nrhs, A, lda, devIpiv, false, B, ldb, \
                                     devInfo);                                                     \
    }

#define QR(X, OR, T, type)                                                                         \
    WP_API cusolverStatus_t cusolverDn##X##geqrf_bufferSize(cusolverDnHandle_t handle, int m,      \
                                                            int n, T *A, int lda, int *lwork) {    \
        (void)A, (void)lda; /* not tested in CUDA's library: CuPy passes n */                      \
        return work_size(handle, m >= 0 && n >= 0, 1, lwork);                                      \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##geqrf(cusolverDnHandle_t handle, int m, int n, T *A,    \
                                                 int lda, T *TAU, T *Workspace, int Lwork,         \
                                                 int *devInfo) {                                   \
        (void)Workspace, (void)Lwork;                                                              \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        if (m < 0 || n < 0 || lda < at_least_1(m)) return INVALID;                                 \
        return run(                                                                                \
            handle, wpi_solver[type].geqrf,                                                        \
            &(wpi_solver_call){                                                                    \
                .a = matrix(A, lda), .m = m, .n = n, .tau = TAU, .info = devInfo, .batch = 1});    \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##OR##gqr_bufferSize(cusolverDnHandle_t handle, int m,    \
                                                              int n, int k, const T *A, int lda,   \
                                                              const T *tau, int *lwork) {          \
        (void)A, (void)tau;                                                                        \
        return work_size(handle, n >= 0 && m >= n && k >= 0 && k <= n && lda >= at_least_1(m), 1,  \
                         lwork);                                                                   \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##OR##gqr(cusolverDnHandle_t handle, int m, int n, int k, \
                                                   T *A, int lda, const T *tau, T *work,           \
                                                   int lwork, int *info) {                         \
        (void)work, (void)lwork;                                                                   \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        if (n < 0 || m < n || k < 0 || k > n || lda < at_least_1(m)) return INVALID;               \
        return run(handle, wpi_solver[type].orgqr,                                                 \
                   &(wpi_solver_call){.a = matrix(A, lda),                                         \
                                      .m = m,                                                      \
                                      .n = n,                                                      \
                                      .columns = k,                                                \
                                      .tau = (void *)(uintptr_t)tau,                               \
                                      .info = info,                                                \
                                      .batch = 1});                                                \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##OR##mqr_bufferSize(                                     \
        cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,   \
        int k, const T *A, int lda, const T *tau, const T *C, int ldc, int *lwork) {               \
        (void)side, (void)trans, (void)A, (void)lda, (void)tau, (void)C;                           \
        return work_size(handle, m >= 0 && n >= 0 && k >= 0 && ldc >= at_least_1(m), 1, lwork);    \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##OR##mqr(                                                \
        cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t trans, int m, int n,   \
        int k, const T *A, int lda, const T *tau, T *C, int ldc, T *work, int lwork,               \
        int *devInfo) {                                                                            \
        (void)work, (void)lwork;                                                                   \
        CUSOLVER_TRY(wpi_cusolver_enter(handle));                                                  \
        const bool is_right = side == CUBLAS_SIDE_RIGHT;                                           \
        if (m < 0 || n < 0 || k < 0 || k > (is_right ? n : m) || ldc < at_least_1(m))              \
            return INVALID;                                                                        \
        return run(handle, wpi_solver[type].ormqr,                                                 \
                   &(wpi_solver_call){.a = matrix(A, lda),                                         \
                                      .b = matrix(C, ldc),                                         \
                                      .m = m,                                                      \
                                      .n = n,                                                      \
                                      .columns = k,                                                \
                                      .is_transposed = trans != CUBLAS_OP_N,                       \
                                      .is_right = is_right,                                        \
                                      .tau = (void *)(uintptr_t)tau,                               \
                                      .info = devInfo,                                             \
                                      .batch = 1});                                                \
    }

#define EIGEN(X, SY, T, R, type)                                                                   \
    WP_API cusolverStatus_t cusolverDn##X##SY##evd_bufferSize(                                     \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,           \
        const T *A, int lda, const R *W, int *lwork) {                                             \
        (void)jobz, (void)uplo, (void)A, (void)W;                                                  \
        return work_size(handle, n >= 0 && lda >= at_least_1(n), WPI_SOLVER_EIGEN_WORK(n), lwork); \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evd(                                                \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,     \
        int lda, R *W, T *work, int lwork, int *info) {                                            \
        return eigen(handle, type, jobz, uplo, n, A, lda, W, work, lwork, info, 1);                \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evj_bufferSize(                                     \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,           \
        const T *A, int lda, const R *W, int *lwork, syevjInfo_t params) {                         \
        (void)params;                                                                              \
        return cusolverDn##X##SY##evd_bufferSize(handle, jobz, uplo, n, A, lda, W, lwork);         \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evj(                                                \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,     \
        int lda, R *W, T *work, int lwork, int *info, syevjInfo_t params) {                        \
        (void)params;                                                                              \
        return eigen(handle, type, jobz, uplo, n, A, lda, W, work, lwork, info, 1);                \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evjBatched_bufferSize(                              \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n,           \
        const T *A, int lda, const R *W, int *lwork, syevjInfo_t params, int batchSize) {          \
        (void)jobz, (void)uplo, (void)A, (void)W, (void)params;                                    \
        return work_size(handle, n >= 0 && lda >= at_least_1(n) && batchSize >= 0,                 \
                         WPI_SOLVER_EIGEN_WORK(n) * batchSize, lwork);                             \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evjBatched(                                         \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cublasFillMode_t uplo, int n, T *A,     \
        int lda, R *W, T *work, int lwork, int *info, syevjInfo_t params, int batchSize) {         \
        (void)params;                                                                              \
        return eigen(handle, type, jobz, uplo, n, A, lda, W, work, lwork, info, batchSize);        \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvd_bufferSize(                                     \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cublasFillMode_t uplo, int n, const T *A, int lda, const T *B, int ldb, const R *W,        \
        int *lwork) {                                                                              \
        (void)itype, (void)B, (void)ldb;                                                           \
        return cusolverDn##X##SY##evd_bufferSize(handle, jobz, uplo, n, A, lda, W, lwork);         \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvd(                                                \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R *W, T *work, int lwork,      \
        int *info) {                                                                               \
        return pair(handle, type, itype, jobz, uplo, n, A, lda, B, ldb, W, work, lwork, info);     \
    }

#define SELECTION(vl, vu, il, iu)                                                                  \
    {.range = range, .above = (double)(vl), .to = (double)(vu), .first = (il), .last = (iu)}

#define EIGEN_PARTS(X, SY, T, R, type)                                                             \
    WP_API cusolverStatus_t cusolverDn##X##SY##evdx_bufferSize(                                    \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,               \
        cublasFillMode_t uplo, int n, const T *A, int lda, R vl, R vu, int il, int iu, int *meig,  \
        const R *W, int *lwork) {                                                                  \
        (void)range, (void)vl, (void)vu, (void)il, (void)iu, (void)meig;                           \
        return cusolverDn##X##SY##evd_bufferSize(handle, jobz, uplo, n, A, lda, W, lwork);         \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##evdx(                                               \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, cusolverEigRange_t range,               \
        cublasFillMode_t uplo, int n, T *A, int lda, R vl, R vu, int il, int iu, int *meig, R *W,  \
        T *work, int lwork, int *info) {                                                           \
        const selection chosen = SELECTION(vl, vu, il, iu);                                        \
        if (!is_selection(&chosen, n) || meig == NULL) return INVALID;                             \
        CUSOLVER_TRY(eigen(handle, type, jobz, uplo, n, A, lda, W, work, lwork, info, 1));         \
        return choose(handle, type, &chosen, is_vector(jobz), n, A, lda, W, meig);                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvdx_bufferSize(                                    \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cusolverEigRange_t range, cublasFillMode_t uplo, int n, const T *A, int lda, const T *B,   \
        int ldb, R vl, R vu, int il, int iu, int *meig, const R *W, int *lwork) {                  \
        (void)itype, (void)B, (void)ldb, (void)range, (void)vl, (void)vu, (void)il, (void)iu;      \
        (void)meig;                                                                                \
        return cusolverDn##X##SY##evd_bufferSize(handle, jobz, uplo, n, A, lda, W, lwork);         \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvdx(                                               \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cusolverEigRange_t range, cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb,      \
        R vl, R vu, int il, int iu, int *meig, R *W, T *work, int lwork, int *info) {              \
        const selection chosen = SELECTION(vl, vu, il, iu);                                        \
        if (!is_selection(&chosen, n) || meig == NULL) return INVALID;                             \
        CUSOLVER_TRY(                                                                              \
            pair(handle, type, itype, jobz, uplo, n, A, lda, B, ldb, W, work, lwork, info));       \
        return choose(handle, type, &chosen, is_vector(jobz), n, A, lda, W, meig);                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvj_bufferSize(                                     \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cublasFillMode_t uplo, int n, const T *A, int lda, const T *B, int ldb, const R *W,        \
        int *lwork, syevjInfo_t params) {                                                          \
        (void)params;                                                                              \
        return cusolverDn##X##SY##gvd_bufferSize(handle, itype, jobz, uplo, n, A, lda, B, ldb, W,  \
                                                 lwork);                                           \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##SY##gvj(                                                \
        cusolverDnHandle_t handle, cusolverEigType_t itype, cusolverEigMode_t jobz,                \
        cublasFillMode_t uplo, int n, T *A, int lda, T *B, int ldb, R *W, T *work, int lwork,      \
        int *info, syevjInfo_t params) {                                                           \
        (void)params;                                                                              \
        return pair(handle, type, itype, jobz, uplo, n, A, lda, B, ldb, W, work, lwork, info);     \
    }

#define SINGULAR(X, T, R, type)                                                                    \
    WP_API cusolverStatus_t cusolverDn##X##gesvd_bufferSize(cusolverDnHandle_t handle, int m,      \
                                                            int n, int *lwork) {                   \
        return work_size(handle, n >= 0 && m >= n, WPI_SOLVER_SVD_WORK(n), lwork);                 \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvd(                                                  \
        cusolverDnHandle_t handle, signed char jobu, signed char jobvt, int m, int n, T *A,        \
        int lda, R *S, T *U, int ldu, T *VT, int ldvt, T *work, int lwork, R *rwork, int *info) {  \
        (void)rwork;                                                                               \
        int u_columns = 0, vt_rows = 0;                                                            \
        CUSOLVER_TRY(columns_of(jobu, m, n, &u_columns));                                          \
        CUSOLVER_TRY(columns_of(jobvt, n, n, &vt_rows));                                           \
        const wpi_solver_svd call = {.a = matrix(A, lda),                                          \
                                     .m = m,                                                       \
                                     .n = n,                                                       \
                                     .u_columns = u_columns,                                       \
                                     .vt_rows = vt_rows,                                           \
                                     .values = S,                                                  \
                                     .u = u_columns > 0 ? U : NULL,                                \
                                     .vt = vt_rows > 0 ? VT : NULL,                                \
                                     .work = work,                                                 \
                                     .ldu = ldu,                                                   \
                                     .ldvt = ldvt,                                                 \
                                     .work_stride = WPI_SOLVER_SVD_WORK(n),                        \
                                     .info = info,                                                 \
                                     .batch = 1};                                                  \
        if (jobu == 'O' && jobvt == 'O') return INVALID;                                           \
        if (jobu == 'O' || jobvt == 'O')                                                           \
            return singular_in_place(handle, type, call, jobvt == 'O', lwork);                     \
        return singular(handle, type, &call, lwork);                                               \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdj_bufferSize(                                      \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n, const T *A,     \
        int lda, const R *S, const T *U, int ldu, const T *V, int ldv, int *lwork,                 \
        gesvdjInfo_t params) {                                                                     \
        (void)jobz, (void)econ, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V,          \
            (void)ldv, (void)params;                                                               \
        return work_size(handle, m >= 0 && n >= 0, WPI_SOLVER_SVD_WORK(m < n ? m : n), lwork);     \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdj(                                                 \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int econ, int m, int n, T *A, int lda,  \
        R *S, T *U, int ldu, T *V, int ldv, T *work, int lwork, int *info, gesvdjInfo_t params) {  \
        (void)params;                                                                              \
        return singular_pair(handle, type,                                                         \
                             &(wpi_solver_svd){.a = matrix(A, lda),                                \
                                               .m = m,                                             \
                                               .n = n,                                             \
                                               .u_columns = econ && n < m ? n : m,                 \
                                               .vt_rows = econ && m < n ? m : n,                   \
                                               .is_v = 1,                                          \
                                               .values = S,                                        \
                                               .u = is_vector(jobz) ? U : NULL,                    \
                                               .vt = is_vector(jobz) ? V : NULL,                   \
                                               .work = work,                                       \
                                               .ldu = ldu,                                         \
                                               .ldvt = ldv,                                        \
                                               .work_stride = WPI_SOLVER_SVD_WORK(m < n ? m : n),  \
                                               .info = info,                                       \
                                               .batch = 1},                                        \
                             lwork);                                                               \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdjBatched_bufferSize(                               \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, const T *A, int lda,      \
        const R *S, const T *U, int ldu, const T *V, int ldv, int *lwork, gesvdjInfo_t params,     \
        int batchSize) {                                                                           \
        (void)jobz, (void)A, (void)lda, (void)S, (void)U, (void)ldu, (void)V, (void)ldv,           \
            (void)params;                                                                          \
        return work_size(handle, m >= 0 && n >= 0 && batchSize >= 0,                               \
                         WPI_SOLVER_SVD_WORK(m < n ? m : n) * batchSize, lwork);                   \
    }                                                                                              \
    WP_API cusolverStatus_t cusolverDn##X##gesvdjBatched(                                          \
        cusolverDnHandle_t handle, cusolverEigMode_t jobz, int m, int n, T *A, int lda, R *S,      \
        T *U, int ldu, T *V, int ldv, T *work, int lwork, int *info, gesvdjInfo_t params,          \
        int batchSize) {                                                                           \
        (void)params;                                                                              \
        return singular_pair(                                                                      \
            handle, type,                                                                          \
            &(wpi_solver_svd){.a = {.data = A, .ld = lda, .stride = (long long)lda * n},           \
                              .m = m,                                                              \
                              .n = n,                                                              \
                              .u_columns = m,                                                      \
                              .vt_rows = n,                                                        \
                              .is_v = 1,                                                           \
                              .values = S,                                                         \
                              .u = is_vector(jobz) ? U : NULL,                                     \
                              .vt = is_vector(jobz) ? V : NULL,                                    \
                              .work = work,                                                        \
                              .ldu = ldu,                                                          \
                              .ldvt = ldv,                                                         \
                              .u_stride = (long long)ldu * m,                                      \
                              .vt_stride = (long long)ldv * n,                                     \
                              .work_stride = WPI_SOLVER_SVD_WORK(m < n ? m : n),                   \
                              .info = info,                                                        \
                              .batch = batchSize},                                                 \
            lwork);                                                                                \
    }

#define CALLS(X, SY, OR, T, R, type)                                                               \
    SYSTEMS(X, T, type)                                                                            \
    QR(X, OR, T, type)                                                                             \
    EIGEN(X, SY, T, R, type) EIGEN_PARTS(X, SY, T, R, type) SINGULAR(X, T, R, type)

CALLS(S, sy, or, float, float, 0)
CALLS(D, sy, or, double, double, 1)
CALLS(C, he, un, cuComplex, float, 2)
CALLS(Z, he, un, cuDoubleComplex, double, 3)
