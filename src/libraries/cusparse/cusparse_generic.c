/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generic calls. None needs the program's buffers, except where a conversion keeps something
 * between two calls; sizes are not 0, since programs allocate them.
 */
#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cusparse/cusparse_handle.h"
#include "libraries/cusparse/mixed/cusparse_mixed.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE
#define BUFFER_BYTES 8

static cusparseStatus_t small_buffer(cusparseHandle_t handle, size_t *bufferSize) {
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (bufferSize == NULL) return INVALID;
    *bufferSize = BUFFER_BYTES;
    return OK;
}

/* Refused, with a message: what this library lacks of a call. */
static cusparseStatus_t refuse(const char *what, atomic_bool *is_said) {
    wpi_library_missing("cusparse", what, "CUSPARSE_STATUS_NOT_SUPPORTED", is_said);
    return CUSPARSE_STATUS_NOT_SUPPORTED;
}

/* The type that all of a call's operands have. */
static cusparseStatus_t common_type(const char *call, cudaDataType a, cudaDataType b,
                                    cudaDataType c, cudaDataType compute, wpi_blas_type *type) {
    static atomic_bool is_said;
    CUSPARSE_TRY(wpi_cusparse_type(call, compute, type));
    if (a == compute && b == compute && c == compute) return OK;
    return refuse("a call with operands of several types", &is_said);
}

static int64_t rows_of(const struct cusparseSpMatDescr *m, cusparseOperation_t op) {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m->rows : m->columns;
}
static int64_t columns_of(const struct cusparseSpMatDescr *m, cusparseOperation_t op) {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m->columns : m->rows;
}
static int64_t dense_rows(const struct cusparseDnMatDescr *m, cusparseOperation_t op) {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m->rows : m->columns;
}
static int64_t dense_columns(const struct cusparseDnMatDescr *m, cusparseOperation_t op) {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? m->columns : m->rows;
}

static wpi_sparse_dense as_column(const struct cusparseDnVecDescr *v) {
    return (wpi_sparse_dense){.data = v->values, .row = 1, .column = v->size};
}

/* ---- vectors ---- */

WP_API cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha,
                                      cusparseConstSpVecDescr_t vecX, const void *beta,
                                      cusparseDnVecDescr_t vecY) {
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || beta == NULL || vecX == NULL || vecY == NULL || vecX->size != vecY->size)
        return INVALID;
    CUSPARSE_TRY(
        common_type("cusparseAxpby", vecX->type, vecY->type, vecY->type, vecY->type, &type));
    const wpi_sparse x = wpi_cusparse_vector(vecX);
    return wpi_cusparse_status(
        wpi_sparse_of[type].axpby(handle->stream, wpi_cusparse_scalar(handle, type, alpha), &x,
                                  wpi_cusparse_scalar(handle, type, beta), vecY->values));
}

WP_API cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t vecY,
                                       cusparseSpVecDescr_t vecX) {
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (vecX == NULL || vecY == NULL || vecX->size != vecY->size) return INVALID;
    CUSPARSE_TRY(
        common_type("cusparseGather", vecX->type, vecY->type, vecY->type, vecY->type, &type));
    const wpi_sparse x = wpi_cusparse_vector(vecX);
    return wpi_cusparse_status(wpi_sparse_of[type].gather(handle->stream, vecY->values, &x));
}

WP_API cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t vecX,
                                        cusparseDnVecDescr_t vecY) {
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (vecX == NULL || vecY == NULL || vecX->size != vecY->size) return INVALID;
    CUSPARSE_TRY(
        common_type("cusparseScatter", vecX->type, vecY->type, vecY->type, vecY->type, &type));
    const wpi_sparse x = wpi_cusparse_vector(vecX);
    return wpi_cusparse_status(wpi_sparse_of[type].scatter(handle->stream, &x, vecY->values));
}

WP_API cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX,
                                                cusparseConstSpVecDescr_t vecX,
                                                cusparseConstDnVecDescr_t vecY, const void *result,
                                                cudaDataType computeType, size_t *bufferSize) {
    (void)opX, (void)vecX, (void)vecY, (void)result, (void)computeType;
    return small_buffer(handle, bufferSize);
}

WP_API cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX,
                                     cusparseConstSpVecDescr_t vecX, cusparseConstDnVecDescr_t vecY,
                                     void *result, cudaDataType computeType, void *externalBuffer) {
    (void)externalBuffer;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (vecX == NULL || vecY == NULL || result == NULL || vecX->size != vecY->size) return INVALID;
    CUSPARSE_TRY(
        common_type("cusparseSpVV", vecX->type, vecY->type, vecY->type, computeType, &type));
    const wpi_sparse x = wpi_cusparse_vector(vecX);
    const bool is_device = handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
    CUSPARSE_CUDA(wpi_sparse_of[type].dot(handle->stream, &x, vecY->values,
                                          opX == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
                                          is_device ? result : handle->result));
    if (is_device) return OK;
    CUSPARSE_CUDA(cudaMemcpyAsync(result, handle->result, wpi_cusparse_bytes(type),
                                  cudaMemcpyDeviceToHost, handle->stream));
    /* A call that is captured has its result when the graph has run. */
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CUSPARSE_CUDA(cudaStreamIsCapturing(handle->stream, &capture));
    if (capture == cudaStreamCaptureStatusActive) return OK;
    return wpi_cusparse_status(cudaStreamSynchronize(handle->stream));
}

/* ---- products with a dense vector or matrix ---- */

/* C = alpha A B + beta C, of one type or of one of the mixes. */
static cusparseStatus_t product(cusparseHandle_t handle, const char *call,
                                const wpi_cusparse_types *types, wpi_sparse_product *p,
                                const void *alpha, const void *beta, void *buffer) {
    wpi_blas_type type;
    wpi_sparse_mix mix;
    if (wpi_cusparse_is_mix(types, &mix))
        return wpi_cusparse_mix_product(handle, mix, p, alpha, beta, buffer);
    CUSPARSE_TRY(common_type(call, types->a, types->b, types->c, types->compute, &type));
    p->alpha = wpi_cusparse_scalar(handle, type, alpha);
    p->beta = wpi_cusparse_scalar(handle, type, beta);
    return wpi_cusparse_status(wpi_sparse_of[type].product(handle->stream, p));
}

static cusparseStatus_t product_buffer(cusparseHandle_t handle, const wpi_cusparse_types *types,
                                       const wpi_sparse_product *p, size_t *bytes) {
    wpi_sparse_mix mix;
    CUSPARSE_TRY(small_buffer(handle, bytes));
    const size_t needed = wpi_cusparse_is_mix(types, &mix) ? wpi_cusparse_mix_bytes(mix, p) : 0;
    if (needed > *bytes) *bytes = needed;
    return OK;
}

static wpi_sparse_product vector_product(cusparseConstSpMatDescr_t a, cusparseOperation_t op,
                                         cusparseConstDnVecDescr_t x, cusparseConstDnVecDescr_t y) {
    return (wpi_sparse_product){.a = wpi_cusparse_matrix(a, op),
                                .b = as_column(x),
                                .c = as_column(y),
                                .rows = y->size,
                                .columns = 1,
                                .batch = 1};
}

/* One A or one B may serve a batch. */
static wpi_sparse_product matrix_product(cusparseConstSpMatDescr_t a, cusparseOperation_t op_a,
                                         cusparseConstDnMatDescr_t b, cusparseOperation_t op_b,
                                         cusparseConstDnMatDescr_t c) {
    return (wpi_sparse_product){.a = wpi_cusparse_matrix(a, op_a),
                                .b = wpi_cusparse_dense(b, op_b),
                                .c = wpi_cusparse_dense(c, CUSPARSE_OPERATION_NON_TRANSPOSE),
                                .rows = c->rows,
                                .columns = c->columns,
                                .batch = c->batch};
}

WP_API cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA,
                                     const void *alpha, cusparseConstSpMatDescr_t matA,
                                     cusparseConstDnVecDescr_t vecX, const void *beta,
                                     cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                     cusparseSpMVAlg_t alg, void *externalBuffer) {
    (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || beta == NULL || matA == NULL || vecX == NULL || vecY == NULL ||
        !wpi_cusparse_is_op(opA) || columns_of(matA, opA) != vecX->size ||
        rows_of(matA, opA) != vecY->size)
        return INVALID;
    const wpi_cusparse_types types = {matA->type, vecX->type, vecY->type, computeType};
    wpi_sparse_product p = vector_product(matA, opA, vecX, vecY);
    return product(handle, "cusparseSpMV", &types, &p, alpha, beta, externalBuffer);
}

WP_API cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                const void *alpha, cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnVecDescr_t vecX, const void *beta,
                                                cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                                cusparseSpMVAlg_t alg, size_t *bufferSize) {
    (void)alpha, (void)beta, (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (matA == NULL || vecX == NULL || vecY == NULL || !wpi_cusparse_is_op(opA)) return INVALID;
    const wpi_cusparse_types types = {matA->type, vecX->type, vecY->type, computeType};
    const wpi_sparse_product p = vector_product(matA, opA, vecX, vecY);
    return product_buffer(handle, &types, &p, bufferSize);
}

WP_API cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                                const void *alpha, cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnVecDescr_t vecX, const void *beta,
                                                cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                                cusparseSpMVAlg_t alg, void *externalBuffer) {
    (void)opA, (void)alpha, (void)matA, (void)vecX, (void)beta, (void)vecY, (void)computeType;
    (void)alg, (void)externalBuffer;
    return wpi_cusparse_enter(handle);
}

WP_API cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
                                     cusparseOperation_t opB, const void *alpha,
                                     cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                     const void *beta, cusparseDnMatDescr_t matC,
                                     cudaDataType computeType, cusparseSpMMAlg_t alg,
                                     void *externalBuffer) {
    (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || beta == NULL || matA == NULL || matB == NULL || matC == NULL ||
        !wpi_cusparse_is_op(opA) || !wpi_cusparse_is_op(opB) || rows_of(matA, opA) != matC->rows ||
        columns_of(matA, opA) != dense_rows(matB, opB) || dense_columns(matB, opB) != matC->columns)
        return INVALID;
    const wpi_cusparse_types types = {matA->type, matB->type, matC->type, computeType};
    wpi_sparse_product p = matrix_product(matA, opA, matB, opB, matC);
    return product(handle, "cusparseSpMM", &types, &p, alpha, beta, externalBuffer);
}

WP_API cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                cusparseOperation_t opB, const void *alpha,
                                                cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnMatDescr_t matB, const void *beta,
                                                cusparseDnMatDescr_t matC, cudaDataType computeType,
                                                cusparseSpMMAlg_t alg, size_t *bufferSize) {
    (void)alpha, (void)beta, (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (matA == NULL || matB == NULL || matC == NULL || !wpi_cusparse_is_op(opA) ||
        !wpi_cusparse_is_op(opB))
        return INVALID;
    const wpi_cusparse_types types = {matA->type, matB->type, matC->type, computeType};
    const wpi_sparse_product p = matrix_product(matA, opA, matB, opB, matC);
    return product_buffer(handle, &types, &p, bufferSize);
}

WP_API cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                                cusparseOperation_t opB, const void *alpha,
                                                cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnMatDescr_t matB, const void *beta,
                                                cusparseDnMatDescr_t matC, cudaDataType computeType,
                                                cusparseSpMMAlg_t alg, void *externalBuffer) {
    (void)opA, (void)opB, (void)alpha, (void)matA, (void)matB, (void)beta, (void)matC;
    (void)computeType, (void)alg, (void)externalBuffer;
    return wpi_cusparse_enter(handle);
}

WP_API cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA,
                                      cusparseOperation_t opB, const void *alpha,
                                      cusparseConstDnMatDescr_t matA,
                                      cusparseConstDnMatDescr_t matB, const void *beta,
                                      cusparseSpMatDescr_t matC, cudaDataType computeType,
                                      cusparseSDDMMAlg_t alg, void *externalBuffer) {
    (void)alg, (void)externalBuffer;
    static atomic_bool is_said;
    wpi_blas_type type;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || beta == NULL || matA == NULL || matB == NULL || matC == NULL ||
        !wpi_cusparse_is_op(opA) || !wpi_cusparse_is_op(opB) ||
        dense_rows(matA, opA) != matC->rows || dense_columns(matA, opA) != dense_rows(matB, opB) ||
        dense_columns(matB, opB) != matC->columns)
        return INVALID;
    if (matC->format == CUSPARSE_FORMAT_COO) return refuse("cusparseSDDMM to COO", &is_said);
    wpi_sparse_sampled s = {.a = wpi_cusparse_dense(matA, opA),
                            .b = wpi_cusparse_dense(matB, opB),
                            .c = wpi_cusparse_matrix(matC, CUSPARSE_OPERATION_NON_TRANSPOSE),
                            .depth = dense_columns(matA, opA)};
    const wpi_cusparse_types types = {matA->type, matB->type, matC->type, computeType};
    wpi_sparse_mix mix;
    if (wpi_cusparse_is_mix(&types, &mix) && types.a == types.b)
        return wpi_cusparse_mix_sampled(handle, mix, &s, alpha, beta);
    CUSPARSE_TRY(
        common_type("cusparseSDDMM", matA->type, matB->type, matC->type, computeType, &type));
    s.alpha = wpi_cusparse_scalar(handle, type, alpha);
    s.beta = wpi_cusparse_scalar(handle, type, beta);
    return wpi_cusparse_status(wpi_sparse_of[type].sampled(handle->stream, &s));
}

WP_API cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                 cusparseOperation_t opB, const void *alpha,
                                                 cusparseConstDnMatDescr_t matA,
                                                 cusparseConstDnMatDescr_t matB, const void *beta,
                                                 cusparseSpMatDescr_t matC,
                                                 cudaDataType computeType, cusparseSDDMMAlg_t alg,
                                                 size_t *bufferSize) {
    (void)opA, (void)opB, (void)alpha, (void)matA, (void)matB, (void)beta, (void)matC;
    (void)computeType, (void)alg;
    return small_buffer(handle, bufferSize);
}

WP_API cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                                 cusparseOperation_t opB, const void *alpha,
                                                 cusparseConstDnMatDescr_t matA,
                                                 cusparseConstDnMatDescr_t matB, const void *beta,
                                                 cusparseSpMatDescr_t matC,
                                                 cudaDataType computeType, cusparseSDDMMAlg_t alg,
                                                 void *externalBuffer) {
    (void)opA, (void)opB, (void)alpha, (void)matA, (void)matB, (void)beta, (void)matC;
    (void)computeType, (void)alg, (void)externalBuffer;
    return wpi_cusparse_enter(handle);
}

/* ---- triangular systems ---- */

struct cusparseSpSVDescr {
    struct cusparseSpMatDescr *matrix; /* that was analysed; the caller's */
};
struct cusparseSpSMDescr {
    int unused;
};

static cusparseStatus_t solve(cusparseHandle_t handle, const char *call, cusparseOperation_t op,
                              const void *alpha, cusparseConstSpMatDescr_t a,
                              const wpi_sparse_dense *b, cudaDataType b_type,
                              const wpi_sparse_dense *x, cudaDataType x_type, int64_t columns,
                              cudaDataType compute) {
    static atomic_bool is_said;
    wpi_blas_type type;
    CUSPARSE_TRY(common_type(call, a->type, b_type, x_type, compute, &type));
    if (a->format == CUSPARSE_FORMAT_COO) return refuse("a triangular system in COO", &is_said);
    const bool is_csc = a->format == CUSPARSE_FORMAT_CSC;
    const wpi_sparse_system s = {.a = wpi_cusparse_matrix(a, op),
                                 .b = *b,
                                 .x = *x,
                                 .alpha = wpi_cusparse_scalar(handle, type, alpha),
                                 .columns = columns,
                                 .is_lower = (a->fill_mode == CUSPARSE_FILL_MODE_LOWER) != is_csc,
                                 .is_unit = a->diag_type == CUSPARSE_DIAG_TYPE_UNIT};
    return wpi_cusparse_status(wpi_sparse_of[type].solve(handle->stream, &s));
}

WP_API cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr) {
    if (descr == NULL) return INVALID;
    *descr = wpi_calloc(1, sizeof **descr);
    return *descr == NULL ? CUSPARSE_STATUS_ALLOC_FAILED : OK;
}

WP_API cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr) {
    wpi_free(descr);
    return OK;
}

WP_API cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                const void *alpha, cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnVecDescr_t vecX,
                                                cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                                cusparseSpSVAlg_t alg, cusparseSpSVDescr_t descr,
                                                size_t *bufferSize) {
    (void)opA, (void)alpha, (void)matA, (void)vecX, (void)vecY, (void)computeType, (void)alg;
    (void)descr;
    return small_buffer(handle, bufferSize);
}

WP_API cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t opA,
                                              const void *alpha, cusparseConstSpMatDescr_t matA,
                                              cusparseConstDnVecDescr_t vecX,
                                              cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                              cusparseSpSVAlg_t alg, cusparseSpSVDescr_t descr,
                                              void *externalBuffer) {
    (void)opA, (void)alpha, (void)vecX, (void)vecY, (void)computeType, (void)alg;
    (void)externalBuffer;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (descr == NULL || matA == NULL) return INVALID;
    descr->matrix = (struct cusparseSpMatDescr *)(uintptr_t)matA;
    return OK;
}

WP_API cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t opA,
                                           const void *alpha, cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnVecDescr_t vecX,
                                           cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                           cusparseSpSVAlg_t alg, cusparseSpSVDescr_t descr) {
    (void)alg;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || matA == NULL || vecX == NULL || vecY == NULL || descr == NULL ||
        !wpi_cusparse_is_op(opA) || matA->rows != matA->columns || matA->rows != vecX->size ||
        matA->rows != vecY->size)
        return INVALID;
    const wpi_sparse_dense b = as_column(vecX), x = as_column(vecY);
    return solve(handle, "cusparseSpSV", opA, alpha, matA, &b, vecX->type, &x, vecY->type, 1,
                 computeType);
}

WP_API cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle,
                                                  cusparseSpSVDescr_t descr, void *newValues,
                                                  cusparseSpSVUpdate_t updatePart) {
    static atomic_bool is_said;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (descr == NULL || descr->matrix == NULL || newValues == NULL) return INVALID;
    if (updatePart != CUSPARSE_SPSV_UPDATE_GENERAL)
        return refuse("cusparseSpSV_updateMatrix of the diagonal", &is_said);
    descr->matrix->values = newValues;
    return OK;
}

WP_API cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *descr) {
    if (descr == NULL) return INVALID;
    *descr = wpi_calloc(1, sizeof **descr);
    return *descr == NULL ? CUSPARSE_STATUS_ALLOC_FAILED : OK;
}

WP_API cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr) {
    wpi_free(descr);
    return OK;
}

WP_API cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                                cusparseOperation_t opB, const void *alpha,
                                                cusparseConstSpMatDescr_t matA,
                                                cusparseConstDnMatDescr_t matB,
                                                cusparseDnMatDescr_t matC, cudaDataType computeType,
                                                cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descr,
                                                size_t *bufferSize) {
    (void)opA, (void)opB, (void)alpha, (void)matA, (void)matB, (void)matC, (void)computeType;
    (void)alg, (void)descr;
    return small_buffer(handle, bufferSize);
}

WP_API cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t opA,
                                              cusparseOperation_t opB, const void *alpha,
                                              cusparseConstSpMatDescr_t matA,
                                              cusparseConstDnMatDescr_t matB,
                                              cusparseDnMatDescr_t matC, cudaDataType computeType,
                                              cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descr,
                                              void *externalBuffer) {
    (void)opA, (void)opB, (void)alpha, (void)matA, (void)matB, (void)matC, (void)computeType;
    (void)alg, (void)descr, (void)externalBuffer;
    return wpi_cusparse_enter(handle);
}

WP_API cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA,
                                           cusparseOperation_t opB, const void *alpha,
                                           cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnMatDescr_t matB,
                                           cusparseDnMatDescr_t matC, cudaDataType computeType,
                                           cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descr) {
    (void)alg, (void)descr;
    CUSPARSE_TRY(wpi_cusparse_enter(handle));
    if (alpha == NULL || matA == NULL || matB == NULL || matC == NULL || !wpi_cusparse_is_op(opA) ||
        !wpi_cusparse_is_op(opB) || matA->rows != matA->columns || matA->rows != matC->rows ||
        dense_rows(matB, opB) != matC->rows || dense_columns(matB, opB) != matC->columns)
        return INVALID;
    const wpi_sparse_dense b = wpi_cusparse_dense(matB, opB),
                           x = wpi_cusparse_dense(matC, CUSPARSE_OPERATION_NON_TRANSPOSE);
    return solve(handle, "cusparseSpSM", opA, alpha, matA, &b, matB->type, &x, matC->type,
                 matC->columns, computeType);
}
