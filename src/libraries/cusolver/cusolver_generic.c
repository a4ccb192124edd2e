/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of 64-bit numbers, in which arguments name the types, by the calls of
 * cusolver_dense.c. */
#include "base/alloc.h"
#include "libraries/cusolver/cusolver_handle.h"
#include "libraries/cusolver/solver_shared.h"

#define OK CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE

/* ---- parameters, which change nothing: there is one algorithm ---- */

struct cusolverDnParams {
    int unused;
};

WP_API cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params) {
    if (params == NULL) return INVALID;
    *params = wpi_calloc(1, sizeof **params);
    return *params == NULL ? CUSOLVER_STATUS_ALLOC_FAILED : OK;
}

WP_API cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
    wpi_free(params);
    return OK;
}

WP_API cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params,
                                                cusolverDnFunction_t function,
                                                cusolverAlgMode_t algo) {
    return params == NULL || (unsigned)function > CUSOLVERDN_SYEVBATCHED ||
                   (unsigned)algo > CUSOLVER_ALG_2
               ? INVALID
               : OK;
}

/* ---- arguments ---- */

/* The number of an element type; negative, if there is none. */
static int type_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_32F: return 0;
    case CUDA_R_64F: return 1;
    case CUDA_C_32F: return 2;
    case CUDA_C_64F: return 3;
    default: return -1;
    }
}

static cusolverStatus_t enter(cusolverDnHandle_t handle, cudaDataType a, cudaDataType other,
                              cudaDataType compute) {
    CUSOLVER_TRY(wpi_cusolver_enter(handle));
    if (a != other || a != compute) return INVALID;
    return type_of(a) >= 0 ? OK
                           : wpi_cusolver_refuse("a matrix of another type than float, double and "
                                                 "their complex numbers");
}

/* The same, where the values of a matrix are real. */
static cusolverStatus_t enter_values(cusolverDnHandle_t handle, cudaDataType a, cudaDataType values,
                                     cudaDataType compute) {
    CUSOLVER_TRY(enter(handle, a, a, compute));
    return type_of(values) == type_of(a) % 2 ? OK : INVALID;
}

static bool fits(int64_t x) {
    return x >= 0 && x <= INT32_MAX;
}

/* Bytes for the elements that a call of the type needs. */
static cusolverStatus_t work_bytes(cusolverStatus_t status, cudaDataType type, int elements,
                                   size_t *device, size_t *host) {
    if (status != OK) return status;
    if (device == NULL || host == NULL) return INVALID;
    *device = (size_t)elements * wpi_cusolver_bytes(type_of(type));
    *host = 0;
    return OK;
}

static int elements_of(size_t bytes, cudaDataType type) {
    const size_t elements = bytes / wpi_cusolver_bytes(type_of(type));
    return elements < INT32_MAX ? (int)elements : INT32_MAX;
}

/* A call by the type of A; of complex numbers, some have another name. */
#define BY_NAME(type, name, complex_name, ...)                                                     \
    ((type) == CUDA_R_32F   ? cusolverDnS##name(__VA_ARGS__)                                       \
     : (type) == CUDA_R_64F ? cusolverDnD##name(__VA_ARGS__)                                       \
     : (type) == CUDA_C_32F ? cusolverDnC##complex_name(__VA_ARGS__)                               \
                            : cusolverDnZ##complex_name(__VA_ARGS__))
#define BY_TYPE(type, name, ...) BY_NAME(type, name, name, __VA_ARGS__)

/* ---- systems ---- */

WP_API cusolverStatus_t cusolverDnXpotrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo, int64_t n,
    cudaDataType dataTypeA, const void *A, int64_t lda, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    int elements = 0;
    (void)params;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, computeType));
    if (!fits(n) || !fits(lda)) return INVALID;
    void *a = (void *)(uintptr_t)A;
    const cusolverStatus_t status =
        BY_TYPE(dataTypeA, potrf_bufferSize, handle, uplo, (int)n, a, (int)lda, &elements);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                         void *A, int64_t lda, cudaDataType computeType,
                                         void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                         void *bufferOnHost, size_t workspaceInBytesOnHost,
                                         int *info) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, computeType));
    if (!fits(n) || !fits(lda)) return INVALID;
    return BY_TYPE(dataTypeA, potrf, handle, uplo, (int)n, A, (int)lda, bufferOnDevice,
                   elements_of(workspaceInBytesOnDevice, dataTypeA), info);
}

WP_API cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                         cudaDataType dataTypeA, const void *A, int64_t lda,
                                         cudaDataType dataTypeB, void *B, int64_t ldb, int *info) {
    (void)params;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeB, dataTypeA));
    if (!fits(n) || !fits(nrhs) || !fits(lda) || !fits(ldb)) return INVALID;
    return BY_TYPE(dataTypeA, potrs, handle, uplo, (int)n, (int)nrhs, A, (int)lda, B, (int)ldb,
                   info);
}

WP_API cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle,
                                                    cusolverDnParams_t params, int64_t m, int64_t n,
                                                    cudaDataType dataTypeA, const void *A,
                                                    int64_t lda, cudaDataType computeType,
                                                    size_t *workspaceInBytesOnDevice,
                                                    size_t *workspaceInBytesOnHost) {
    int elements = 0;
    (void)params;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, computeType));
    if (!fits(m) || !fits(n) || !fits(lda)) return INVALID;
    void *a = (void *)(uintptr_t)A;
    const cusolverStatus_t status =
        BY_TYPE(dataTypeA, getrf_bufferSize, handle, (int)m, (int)n, a, (int)lda, &elements);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         int64_t m, int64_t n, cudaDataType dataTypeA, void *A,
                                         int64_t lda, int64_t *ipiv, cudaDataType computeType,
                                         void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                         void *bufferOnHost, size_t workspaceInBytesOnHost,
                                         int *info) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    (void)bufferOnDevice, (void)workspaceInBytesOnDevice;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, computeType));
    if (!fits(m) || !fits(n) || !fits(lda)) return INVALID;
    return wpi_cusolver_lu(handle, type_of(dataTypeA), (int)m, (int)n, A, (int)lda, ipiv, true,
                           info);
}

WP_API cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         cublasOperation_t trans, int64_t n, int64_t nrhs,
                                         cudaDataType dataTypeA, const void *A, int64_t lda,
                                         const int64_t *ipiv, cudaDataType dataTypeB, void *B,
                                         int64_t ldb, int *info) {
    (void)params;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeB, dataTypeA));
    if (!fits(n) || !fits(nrhs) || !fits(lda) || !fits(ldb)) return INVALID;
    return wpi_cusolver_lu_solve(handle, type_of(dataTypeA), trans, (int)n, (int)nrhs, A, (int)lda,
                                 ipiv, true, B, (int)ldb, info);
}

/* ---- QR ---- */

WP_API cusolverStatus_t cusolverDnXgeqrf_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
    cudaDataType dataTypeA, const void *A, int64_t lda, cudaDataType dataTypeTau, const void *tau,
    cudaDataType computeType, size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    int elements = 0;
    (void)params, (void)tau;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeTau, computeType));
    if (!fits(m) || !fits(n) || !fits(lda)) return INVALID;
    void *a = (void *)(uintptr_t)A;
    const cusolverStatus_t status =
        BY_TYPE(dataTypeA, geqrf_bufferSize, handle, (int)m, (int)n, a, (int)lda, &elements);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         int64_t m, int64_t n, cudaDataType dataTypeA, void *A,
                                         int64_t lda, cudaDataType dataTypeTau, void *tau,
                                         cudaDataType computeType, void *bufferOnDevice,
                                         size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                         size_t workspaceInBytesOnHost, int *info) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeTau, computeType));
    if (!fits(m) || !fits(n) || !fits(lda)) return INVALID;
    return BY_TYPE(dataTypeA, geqrf, handle, (int)m, (int)n, A, (int)lda, tau, bufferOnDevice,
                   elements_of(workspaceInBytesOnDevice, dataTypeA), info);
}

/* ---- eigenvalues ---- */

WP_API cusolverStatus_t cusolverDnXsyevd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeW, const void *W, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    int elements = 0;
    (void)params;
    CUSOLVER_TRY(enter_values(handle, dataTypeA, dataTypeW, computeType));
    if (!fits(n) || !fits(lda)) return INVALID;
    const cusolverStatus_t status = BY_NAME(dataTypeA, syevd_bufferSize, heevd_bufferSize, handle,
                                            jobz, uplo, (int)n, A, (int)lda, W, &elements);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                         cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                         cudaDataType dataTypeA, void *A, int64_t lda,
                                         cudaDataType dataTypeW, void *W, cudaDataType computeType,
                                         void *bufferOnDevice, size_t workspaceInBytesOnDevice,
                                         void *bufferOnHost, size_t workspaceInBytesOnHost,
                                         int *info) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter_values(handle, dataTypeA, dataTypeW, computeType));
    if (!fits(n) || !fits(lda)) return INVALID;
    return BY_NAME(dataTypeA, syevd, heevd, handle, jobz, uplo, (int)n, A, (int)lda, W,
                   bufferOnDevice, elements_of(workspaceInBytesOnDevice, dataTypeA), info);
}

/* Matrices one behind the other, by the calls of Jacobi's method, which is the same. */
WP_API cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeW, const void *W, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost, int64_t batchSize) {
    int elements = 0;
    (void)params;
    CUSOLVER_TRY(enter_values(handle, dataTypeA, dataTypeW, computeType));
    if (!fits(n) || !fits(lda) || !fits(batchSize)) return INVALID;
    const cusolverStatus_t status =
        BY_NAME(dataTypeA, syevjBatched_bufferSize, heevjBatched_bufferSize, handle, jobz, uplo,
                (int)n, A, (int)lda, W, &elements, NULL, (int)batchSize);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                               int64_t n, cudaDataType dataTypeA, void *A,
                                               int64_t lda, cudaDataType dataTypeW, void *W,
                                               cudaDataType computeType, void *bufferOnDevice,
                                               size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                               size_t workspaceInBytesOnHost, int *info,
                                               int64_t batchSize) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter_values(handle, dataTypeA, dataTypeW, computeType));
    if (!fits(n) || !fits(lda) || !fits(batchSize)) return INVALID;
    return BY_NAME(dataTypeA, syevjBatched, heevjBatched, handle, jobz, uplo, (int)n, A, (int)lda,
                   W, bufferOnDevice, elements_of(workspaceInBytesOnDevice, dataTypeA), info, NULL,
                   (int)batchSize);
}

WP_API cusolverStatus_t cusolverDnXsyevdx_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
    cusolverEigRange_t range, cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
    const void *A, int64_t lda, void *vl, void *vu, int64_t il, int64_t iu, int64_t *h_meig,
    cudaDataType dataTypeW, const void *W, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    (void)range, (void)vl, (void)vu, (void)il, (void)iu, (void)h_meig;
    return cusolverDnXsyevd_bufferSize(handle, params, jobz, uplo, n, dataTypeA, A, lda, dataTypeW,
                                       W, computeType, workspaceInBytesOnDevice,
                                       workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                          cusolverEigMode_t jobz, cusolverEigRange_t range,
                                          cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                          void *A, int64_t lda, void *vl, void *vu, int64_t il,
                                          int64_t iu, int64_t *h_meig, cudaDataType dataTypeW,
                                          void *W, cudaDataType computeType, void *bufferOnDevice,
                                          size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                          size_t workspaceInBytesOnHost, int *info) {
    int found = 0;
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter_values(handle, dataTypeA, dataTypeW, computeType));
    if (!fits(n) || !fits(lda) || h_meig == NULL) return INVALID;
    const bool is_interval = range == CUSOLVER_EIG_RANGE_V;
    if (is_interval && (vl == NULL || vu == NULL)) return INVALID;
    if (range == CUSOLVER_EIG_RANGE_I && (!fits(il) || !fits(iu))) return INVALID;
    const int elements = elements_of(workspaceInBytesOnDevice, dataTypeA);
    double above = 0, to = 0;
    if (is_interval && dataTypeW == CUDA_R_64F)
        above = *(double *)vl, to = *(double *)vu;
    else if (is_interval)
        above = (double)*(float *)vl, to = (double)*(float *)vu;
    cusolverStatus_t status;
    switch (dataTypeA) {
#define CASE(type, call, R)                                                                        \
    case type:                                                                                     \
        status = call(handle, jobz, range, uplo, (int)n, A, (int)lda, (R)above, (R)to, (int)il,    \
                      (int)iu, &found, W, bufferOnDevice, elements, info);                         \
        break;
        CASE(CUDA_R_32F, cusolverDnSsyevdx, float)
        CASE(CUDA_C_32F, cusolverDnCheevdx, float)
        CASE(CUDA_C_64F, cusolverDnZheevdx, double)
    default: CASE(CUDA_R_64F, cusolverDnDsyevdx, double)
#undef CASE
    }
    *h_meig = found;
    return status;
}

/* ---- singular values ---- */

static cusolverStatus_t singular_types(cusolverDnHandle_t handle, cudaDataType a, cudaDataType s,
                                       cudaDataType u, cudaDataType v, cudaDataType compute) {
    CUSOLVER_TRY(enter_values(handle, a, s, compute));
    return u == a && v == a ? OK : INVALID;
}

/* ---- eigenvalues of general matrices ---- */

typedef struct general_types {
    cudaDataType a, values, left, right, compute;
} general_types;

/* Eigenvalues are complex, or, of a real matrix, two real numbers each. */
static cusolverStatus_t enter_general(cusolverDnHandle_t handle, const general_types *t, int64_t n,
                                      int64_t lda) {
    CUSOLVER_TRY(enter(handle, t->a, t->left, t->compute));
    if (t->a != t->right || n < 0 || n > INT16_MAX || !fits(lda) || lda < (n > 1 ? n : 1))
        return INVALID;
    const int type = type_of(t->a), values = type_of(t->values);
    return values == type || values == type % 2 + 2 ? OK : INVALID;
}

WP_API cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
    cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeW, const void *W, cudaDataType dataTypeVL, const void *VL, int64_t ldvl,
    cudaDataType dataTypeVR, const void *VR, int64_t ldvr, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    const general_types types = {dataTypeA, dataTypeW, dataTypeVL, dataTypeVR, computeType};
    (void)params, (void)jobvl, (void)jobvr, (void)A, (void)W;
    (void)VL, (void)VR, (void)ldvl, (void)ldvr;
    CUSOLVER_TRY(enter_general(handle, &types, n, lda));
    if (workspaceInBytesOnDevice == NULL || workspaceInBytesOnHost == NULL) return INVALID;
    *workspaceInBytesOnDevice =
        (size_t)WPI_SOLVER_GENERAL_WORK(n) * 2 * wpi_cusolver_real_bytes(type_of(dataTypeA));
    *workspaceInBytesOnHost = 0;
    return OK;
}

WP_API cusolverStatus_t cusolverDnXgeev(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl,
    cusolverEigMode_t jobvr, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda,
    cudaDataType dataTypeW, void *W, cudaDataType dataTypeVL, void *VL, int64_t ldvl,
    cudaDataType dataTypeVR, void *VR, int64_t ldvr, cudaDataType computeType, void *bufferOnDevice,
    size_t workspaceInBytesOnDevice, void *bufferOnHost, size_t workspaceInBytesOnHost, int *info) {
    const general_types types = {dataTypeA, dataTypeW, dataTypeVL, dataTypeVR, computeType};
    size_t needed = 0, host = 0;
    (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(enter_general(handle, &types, n, lda));
    CUSOLVER_TRY(cusolverDnXgeev_bufferSize(handle, params, jobvl, jobvr, n, dataTypeA, A, lda,
                                            dataTypeW, W, dataTypeVL, VL, ldvl, dataTypeVR, VR,
                                            ldvr, computeType, &needed, &host));
    const bool has_left = jobvl == CUSOLVER_EIG_MODE_VECTOR;
    const bool has_right = jobvr == CUSOLVER_EIG_MODE_VECTOR;
    if (info == NULL || (has_left && (VL == NULL || ldvl < n)) ||
        (has_right && (VR == NULL || ldvr < n)))
        return INVALID;
    if (n == 0) return wpi_cusolver_status(cudaMemsetAsync(info, 0, sizeof *info, handle->stream));
    if (A == NULL || W == NULL || bufferOnDevice == NULL || workspaceInBytesOnDevice < needed)
        return INVALID;
    const int type = type_of(dataTypeA);
    const wpi_solver_general call = {.a = A,
                                     .values = W,
                                     .left = has_left ? VL : NULL,
                                     .right = has_right ? VR : NULL,
                                     .work = bufferOnDevice,
                                     .lda = lda,
                                     .ld_left = ldvl,
                                     .ld_right = ldvr,
                                     .n = (int)n,
                                     .has_real_values = type_of(dataTypeW) < 2,
                                     .info = info};
    return wpi_cusolver_status(wpi_solver_geev[type](handle->stream, &call));
}

WP_API cusolverStatus_t cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU, const void *U, int64_t ldu,
    cudaDataType dataTypeVT, const void *VT, int64_t ldvt, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    int elements = 0;
    (void)params, (void)jobu, (void)jobvt, (void)A, (void)lda, (void)S, (void)U, (void)ldu;
    (void)VT, (void)ldvt;
    CUSOLVER_TRY(singular_types(handle, dataTypeA, dataTypeS, dataTypeU, dataTypeVT, computeType));
    if (!fits(m) || !fits(n)) return INVALID;
    const cusolverStatus_t status = cusolverDnDgesvd_bufferSize(handle, (int)m, (int)n, &elements);
    return work_bytes(status, dataTypeA, elements, workspaceInBytesOnDevice,
                      workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXgesvd(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobvt,
    int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType dataTypeS,
    void *S, cudaDataType dataTypeU, void *U, int64_t ldu, cudaDataType dataTypeVT, void *VT,
    int64_t ldvt, cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
    void *bufferOnHost, size_t workspaceInBytesOnHost, int *info) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(singular_types(handle, dataTypeA, dataTypeS, dataTypeU, dataTypeVT, computeType));
    if (!fits(m) || !fits(n) || !fits(lda) || !fits(ldu) || !fits(ldvt)) return INVALID;
    return BY_TYPE(dataTypeA, gesvd, handle, jobu, jobvt, (int)m, (int)n, A, (int)lda, S, U,
                   (int)ldu, VT, (int)ldvt, bufferOnDevice,
                   elements_of(workspaceInBytesOnDevice, dataTypeA), NULL, info);
}

/* By polar factors in CUDA's library, which may shift small values: an error that is none here. */
WP_API cusolverStatus_t cusolverDnXgesvdp_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, int econ,
    int64_t m, int64_t n, cudaDataType dataTypeA, const void *A, int64_t lda,
    cudaDataType dataTypeS, const void *S, cudaDataType dataTypeU, const void *U, int64_t ldu,
    cudaDataType dataTypeV, const void *V, int64_t ldv, cudaDataType computeType,
    size_t *workspaceInBytesOnDevice, size_t *workspaceInBytesOnHost) {
    (void)jobz, (void)econ;
    return cusolverDnXgesvd_bufferSize(handle, params, 'N', 'N', m, n, dataTypeA, A, lda, dataTypeS,
                                       S, dataTypeU, U, ldu, dataTypeV, V, ldv, computeType,
                                       workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXgesvdp(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, int econ,
    int64_t m, int64_t n, cudaDataType dataTypeA, void *A, int64_t lda, cudaDataType dataTypeS,
    void *S, cudaDataType dataTypeU, void *U, int64_t ldu, cudaDataType dataTypeV, void *V,
    int64_t ldv, cudaDataType computeType, void *bufferOnDevice, size_t workspaceInBytesOnDevice,
    void *bufferOnHost, size_t workspaceInBytesOnHost, int *d_info, double *h_err_sigma) {
    (void)params, (void)bufferOnHost, (void)workspaceInBytesOnHost;
    CUSOLVER_TRY(singular_types(handle, dataTypeA, dataTypeS, dataTypeU, dataTypeV, computeType));
    if (!fits(m) || !fits(n) || !fits(lda) || !fits(ldu) || !fits(ldv)) return INVALID;
    if (h_err_sigma != NULL) *h_err_sigma = 0;
    return BY_TYPE(dataTypeA, gesvdj, handle, jobz, econ, (int)m, (int)n, A, (int)lda, S, U,
                   (int)ldu, V, (int)ldv, bufferOnDevice,
                   elements_of(workspaceInBytesOnDevice, dataTypeA), d_info, NULL);
}

/* ---- the inverse of a triangle ---- */

WP_API cusolverStatus_t cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle,
                                                    cublasFillMode_t uplo, cublasDiagType_t diag,
                                                    int64_t n, cudaDataType dataTypeA, void *A,
                                                    int64_t lda, size_t *workspaceInBytesOnDevice,
                                                    size_t *workspaceInBytesOnHost) {
    (void)uplo, (void)diag, (void)A;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, dataTypeA));
    if (!fits(n) || !fits(lda) || lda < n) return INVALID;
    return work_bytes(OK, dataTypeA, 1, workspaceInBytesOnDevice, workspaceInBytesOnHost);
}

WP_API cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                         cublasDiagType_t diag, int64_t n, cudaDataType dataTypeA,
                                         void *A, int64_t lda, void *bufferOnDevice,
                                         size_t workspaceInBytesOnDevice, void *bufferOnHost,
                                         size_t workspaceInBytesOnHost, int *devInfo) {
    (void)bufferOnHost, (void)workspaceInBytesOnHost;
    (void)bufferOnDevice, (void)workspaceInBytesOnDevice;
    CUSOLVER_TRY(enter(handle, dataTypeA, dataTypeA, dataTypeA));
    if (!fits(n) || !fits(lda) || lda < n) return INVALID;
    return wpi_cusolver_triangle(handle, type_of(dataTypeA), uplo, diag == CUBLAS_DIAG_UNIT, (int)n,
                                 A, (int)lda, devInfo);
}
