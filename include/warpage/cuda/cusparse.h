/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuSPARSE: products, triangular systems and conversions of sparse matrices, by the interface of
 * CUDA 12. Values are float, double or their complex numbers, of one type in a call; formats are
 * CSR, CSC and COO. libcusparse.so has the implementation; calls that it lacks log their name once
 * and return CUSPARSE_STATUS_NOT_SUPPORTED.
 */
#ifndef WARPAGE_CUDA_CUSPARSE_H
#define WARPAGE_CUDA_CUSPARSE_H

#define CUSPARSE_H_

#include <stdint.h>
#include <stdio.h>

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 2
#define CUSPARSE_VER_PATCH 0
#define CUSPARSE_VER_BUILD 1
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)
#define CUSPARSEAPI

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;

typedef enum {
    CUSPARSE_POINTER_MODE_HOST = 0,
    CUSPARSE_POINTER_MODE_DEVICE = 1
} cusparsePointerMode_t;

typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;

typedef enum {
    CUSPARSE_MATRIX_TYPE_GENERAL = 0,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
    CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} cusparseMatrixType_t;

typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;

typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;

typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;

typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;

typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;

typedef enum {
    CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0,
    CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1
} cusparseSolvePolicy_t;

typedef enum {
    CUSPARSE_CSR2CSC_ALG_DEFAULT = 1,
    CUSPARSE_CSR2CSC_ALG1 = 1,
    CUSPARSE_CSR2CSC_ALG2 = 2
} cusparseCsr2CscAlg_t;

typedef enum {
    CUSPARSE_FORMAT_CSR = 1,
    CUSPARSE_FORMAT_CSC = 2,
    CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BLOCKED_ELL = 5,
    CUSPARSE_FORMAT_BSR = 6,
    CUSPARSE_FORMAT_SLICED_ELLPACK = 7
} cusparseFormat_t;

typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;

typedef enum {
    CUSPARSE_INDEX_16U = 1,
    CUSPARSE_INDEX_32I = 2,
    CUSPARSE_INDEX_64I = 3
} cusparseIndexType_t;

typedef enum {
    CUSPARSE_SPMAT_FILL_MODE = 0,
    CUSPARSE_SPMAT_DIAG_TYPE = 1
} cusparseSpMatAttribute_t;

typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;

typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;

typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_MV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_COOMV_ALG = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_CSRMV_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
    CUSPARSE_CSRMV_ALG2 = 3,
    CUSPARSE_SPMV_COO_ALG2 = 4,
    CUSPARSE_SPMV_SELL_ALG1 = 5
} cusparseSpMVAlg_t;

typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;

typedef enum {
    CUSPARSE_SPSV_UPDATE_GENERAL = 0,
    CUSPARSE_SPSV_UPDATE_DIAGONAL = 1
} cusparseSpSVUpdate_t;

typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;

typedef enum {
    CUSPARSE_SPMM_ALG_DEFAULT = 0,
    CUSPARSE_MM_ALG_DEFAULT = 0,
    CUSPARSE_SPMM_COO_ALG1 = 1,
    CUSPARSE_COOMM_ALG1 = 1,
    CUSPARSE_SPMM_COO_ALG2 = 2,
    CUSPARSE_COOMM_ALG2 = 2,
    CUSPARSE_SPMM_COO_ALG3 = 3,
    CUSPARSE_COOMM_ALG3 = 3,
    CUSPARSE_SPMM_CSR_ALG1 = 4,
    CUSPARSE_CSRMM_ALG1 = 4,
    CUSPARSE_SPMM_COO_ALG4 = 5,
    CUSPARSE_SPMM_CSR_ALG2 = 6,
    CUSPARSE_SPMM_CSR_ALG3 = 12,
    CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13
} cusparseSpMMAlg_t;

typedef enum {
    CUSPARSE_SPGEMM_DEFAULT = 0,
    CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
    CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
    CUSPARSE_SPGEMM_ALG1 = 3,
    CUSPARSE_SPGEMM_ALG2 = 4,
    CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;

typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;

typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct csrsv2Info *csrsv2Info_t;
typedef struct csrsm2Info *csrsm2Info_t;
typedef struct csric02Info *csric02Info_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseSpVecDescr const *cusparseConstSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseDnVecDescr const *cusparseConstDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseSpMatDescr const *cusparseConstSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef struct cusparseDnMatDescr const *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef void (*cusparseLoggerCallback_t)(int logLevel, const char *functionName,
                                         const char *message);

/* ---- handles ---- */

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value);
const char *cusparseGetErrorName(cusparseStatus_t status);
const char *cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *streamId);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode);
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback);
cusparseStatus_t cusparseLoggerSetFile(FILE *file);
cusparseStatus_t cusparseLoggerOpenFile(const char *logFile);
cusparseStatus_t cusparseLoggerSetLevel(int level);
cusparseStatus_t cusparseLoggerSetMask(int mask);
cusparseStatus_t cusparseLoggerForceDisable(void);

/* ---- descriptions of the older calls ---- */

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descrA);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descrA, cusparseMatrixType_t value);
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descrA, cusparseFillMode_t value);
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descrA, cusparseDiagType_t value);
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descrA, cusparseIndexBase_t value);
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descrA);

/* ---- vectors and matrices ---- */

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *spVecDescr, int64_t size, int64_t nnz,
                                     void *indices, void *values, cusparseIndexType_t idxType,
                                     cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t spVecDescr, int64_t *size, int64_t *nnz,
                                  void **indices, void **values, cusparseIndexType_t *idxType,
                                  cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t spVecDescr, void **values);
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *dnVecDescr, int64_t size, void *values,
                                     cudaDataType valueType);
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t dnVecDescr, int64_t *size, void **values,
                                  cudaDataType *valueType);
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t dnVecDescr, void **values);
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *offsets, void *indices, void *values,
                                   cusparseIndexType_t offsetsType, cusparseIndexType_t indicesType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **offsets, void **indices, void **values,
                                cusparseIndexType_t *offsetsType, cusparseIndexType_t *indicesType,
                                cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *offsets, void *indices, void *values,
                                   cusparseIndexType_t offsetsType, cusparseIndexType_t indicesType,
                                   cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **offsets, void **indices, void **values,
                                cusparseIndexType_t *offsetsType, cusparseIndexType_t *indicesType,
                                cusparseIndexBase_t *idxBase, cudaDataType *valueType);
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols,
                                   int64_t nnz, void *cooRowInd, void *cooColInd, void *cooValues,
                                   cusparseIndexType_t cooIdxType, cusparseIndexBase_t idxBase,
                                   cudaDataType valueType);
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t spMatDescr, int64_t *rows, int64_t *cols,
                                int64_t *nnz, void **cooRowInd, void **cooColInd, void **cooValues,
                                cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                cudaDataType *valueType);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t spMatDescr, void **values);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *dnMatDescr, int64_t rows, int64_t cols,
                                     int64_t ld, void *values, cudaDataType valueType,
                                     cusparseOrder_t order);
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t dnMatDescr, int64_t *rows, int64_t *cols,
                                  int64_t *ld, void **values, cudaDataType *type,
                                  cusparseOrder_t *order);
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t dnMatDescr, void **values);
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *spVecDescr, int64_t size,
                                          int64_t nnz, const void *indices, const void *values,
                                          cusparseIndexType_t idxType, cusparseIndexBase_t idxBase,
                                          cudaDataType valueType);
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t spVecDescr, int64_t *size,
                                       int64_t *nnz, const void **indices, const void **values,
                                       cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                       cudaDataType *valueType);
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t spVecDescr,
                                             const void **values);
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *dnVecDescr, int64_t size,
                                          const void *values, cudaDataType valueType);
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t dnVecDescr, int64_t *size,
                                       const void **values, cudaDataType *valueType);
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t dnVecDescr,
                                             const void **values);
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *spMatDescr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *offsets,
                                        const void *indices, const void *values,
                                        cusparseIndexType_t offsetsType,
                                        cusparseIndexType_t indicesType,
                                        cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows,
                                     int64_t *cols, int64_t *nnz, const void **offsets,
                                     const void **indices, const void **values,
                                     cusparseIndexType_t *offsetsType,
                                     cusparseIndexType_t *indicesType, cusparseIndexBase_t *idxBase,
                                     cudaDataType *valueType);
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t *spMatDescr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *offsets,
                                        const void *indices, const void *values,
                                        cusparseIndexType_t offsetsType,
                                        cusparseIndexType_t indicesType,
                                        cusparseIndexBase_t idxBase, cudaDataType valueType);
cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows,
                                     int64_t *cols, int64_t *nnz, const void **offsets,
                                     const void **indices, const void **values,
                                     cusparseIndexType_t *offsetsType,
                                     cusparseIndexType_t *indicesType, cusparseIndexBase_t *idxBase,
                                     cudaDataType *valueType);
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *spMatDescr, int64_t rows,
                                        int64_t cols, int64_t nnz, const void *cooRowInd,
                                        const void *cooColInd, const void *cooValues,
                                        cusparseIndexType_t cooIdxType, cusparseIndexBase_t idxBase,
                                        cudaDataType valueType);
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows,
                                     int64_t *cols, int64_t *nnz, const void **cooRowInd,
                                     const void **cooColInd, const void **cooValues,
                                     cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                     cudaDataType *valueType);
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t spMatDescr,
                                             const void **values);
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *dnMatDescr, int64_t rows,
                                          int64_t cols, int64_t ld, const void *values,
                                          cudaDataType valueType, cusparseOrder_t order);
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t dnMatDescr, int64_t *rows,
                                       int64_t *cols, int64_t *ld, const void **values,
                                       cudaDataType *type, cusparseOrder_t *order);
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t dnMatDescr,
                                             const void **values);
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t spVecDescr);
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t spVecDescr, void *values);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t dnVecDescr, void *values);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr, void *values);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t dnMatDescr, void *values);
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t spVecDescr,
                                           cusparseIndexBase_t *idxBase);
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t spMatDescr,
                                        cusparseFormat_t *format);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t spMatDescr,
                                           cusparseIndexBase_t *idxBase);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t spMatDescr, int64_t *rows,
                                      int64_t *cols, int64_t *nnz);
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t spMatDescr,
                                              int *batchCount);
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount,
                                            int64_t batchStride);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount,
                                            int64_t offsetsBatchStride,
                                            int64_t columnsValuesBatchStride);
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t spMatDescr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t dataSize);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t spMatDescr,
                                           cusparseSpMatAttribute_t attribute, void *data,
                                           size_t dataSize);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t spMatDescr, void *offsets,
                                        void *indices, void *values);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t spMatDescr, void *offsets,
                                        void *indices, void *values);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr, void *cooRows,
                                        void *cooColumns, void *cooValues);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t dnMatDescr, int batchCount,
                                              int64_t batchStride);
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t dnMatDescr, int *batchCount,
                                              int64_t *batchStride);

/* ---- vectors ---- */

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha,
                               cusparseConstSpVecDescr_t vecX, const void *beta,
                               cusparseDnVecDescr_t vecY);
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t vecY,
                                cusparseSpVecDescr_t vecX);
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t vecX,
                                 cusparseDnVecDescr_t vecY);
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX,
                                         cusparseConstSpVecDescr_t vecX,
                                         cusparseConstDnVecDescr_t vecY, const void *result,
                                         cudaDataType computeType, size_t *bufferSize);
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX,
                              cusparseConstSpVecDescr_t vecX, cusparseConstDnVecDescr_t vecY,
                              void *result, cudaDataType computeType, void *externalBuffer);

/* ---- products and triangular systems ---- */

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         const void *alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnVecDescr_t vecX, const void *beta,
                                         cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                         cusparseSpMVAlg_t alg, size_t *bufferSize);
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                         const void *alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnVecDescr_t vecX, const void *beta,
                                         cusparseDnVecDescr_t vecY, cudaDataType computeType,
                                         cusparseSpMVAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnVecDescr_t vecX,
                              const void *beta, cusparseDnVecDescr_t vecY, cudaDataType computeType,
                              cusparseSpMVAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, const void *beta,
                                         cusparseDnMatDescr_t matC, cudaDataType computeType,
                                         cusparseSpMMAlg_t alg, size_t *bufferSize);
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, const void *beta,
                                         cusparseDnMatDescr_t matC, cudaDataType computeType,
                                         cusparseSpMMAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
                              cusparseOperation_t opB, const void *alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                              const void *beta, cusparseDnMatDescr_t matC, cudaDataType computeType,
                              cusparseSpMMAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                          cusparseOperation_t opB, const void *alpha,
                                          cusparseConstDnMatDescr_t matA,
                                          cusparseConstDnMatDescr_t matB, const void *beta,
                                          cusparseSpMatDescr_t matC, cudaDataType computeType,
                                          cusparseSDDMMAlg_t alg, size_t *bufferSize);
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                          cusparseOperation_t opB, const void *alpha,
                                          cusparseConstDnMatDescr_t matA,
                                          cusparseConstDnMatDescr_t matB, const void *beta,
                                          cusparseSpMatDescr_t matC, cudaDataType computeType,
                                          cusparseSDDMMAlg_t alg, void *externalBuffer);
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA,
                               cusparseOperation_t opB, const void *alpha,
                               cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                               const void *beta, cusparseSpMatDescr_t matC,
                               cudaDataType computeType, cusparseSDDMMAlg_t alg,
                               void *externalBuffer);
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         const void *alpha, cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                         cudaDataType computeType, cusparseSpSVAlg_t alg,
                                         cusparseSpSVDescr_t descr, size_t *bufferSize);
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t opA,
                                       const void *alpha, cusparseConstSpMatDescr_t matA,
                                       cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                       cudaDataType computeType, cusparseSpSVAlg_t alg,
                                       cusparseSpSVDescr_t descr, void *externalBuffer);
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t opA,
                                    const void *alpha, cusparseConstSpMatDescr_t matA,
                                    cusparseConstDnVecDescr_t vecX, cusparseDnVecDescr_t vecY,
                                    cudaDataType computeType, cusparseSpSVAlg_t alg,
                                    cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *descr);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                         cudaDataType computeType, cusparseSpSMAlg_t alg,
                                         cusparseSpSMDescr_t descr, size_t *bufferSize);
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t opA,
                                       cusparseOperation_t opB, const void *alpha,
                                       cusparseConstSpMatDescr_t matA,
                                       cusparseConstDnMatDescr_t matB, cusparseDnMatDescr_t matC,
                                       cudaDataType computeType, cusparseSpSMAlg_t alg,
                                       cusparseSpSMDescr_t descr, void *externalBuffer);
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA,
                                    cusparseOperation_t opB, const void *alpha,
                                    cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                                    cusparseDnMatDescr_t matC, cudaDataType computeType,
                                    cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descr,
                                           void *newValues, cusparseSpSVUpdate_t updatePart);
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA,
                                               cusparseOperation_t opB, const void *alpha,
                                               cusparseConstSpMatDescr_t matA,
                                               cusparseConstSpMatDescr_t matB, const void *beta,
                                               cusparseSpMatDescr_t matC, cudaDataType computeType,
                                               cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr,
                                               size_t *bufferSize1, void *externalBuffer1);
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA,
                                        cusparseOperation_t opB, const void *alpha,
                                        cusparseConstSpMatDescr_t matA,
                                        cusparseConstSpMatDescr_t matB, const void *beta,
                                        cusparseSpMatDescr_t matC, cudaDataType computeType,
                                        cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descr,
                                        size_t *bufferSize2, void *externalBuffer2);
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA,
                                     cusparseOperation_t opB, const void *alpha,
                                     cusparseConstSpMatDescr_t matA, cusparseConstSpMatDescr_t matB,
                                     const void *beta, cusparseSpMatDescr_t matC,
                                     cudaDataType computeType, cusparseSpGEMMAlg_t alg,
                                     cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t *num_prods);

/* ---- conversions ---- */

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstSpMatDescr_t matA,
                                                  cusparseDnMatDescr_t matB,
                                                  cusparseSparseToDenseAlg_t alg,
                                                  size_t *bufferSize);
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t matA,
                                       cusparseDnMatDescr_t matB, cusparseSparseToDenseAlg_t alg,
                                       void *externalBuffer);
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                  cusparseConstDnMatDescr_t matA,
                                                  cusparseSpMatDescr_t matB,
                                                  cusparseDenseToSparseAlg_t alg,
                                                  size_t *bufferSize);
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                cusparseConstDnMatDescr_t matA,
                                                cusparseSpMatDescr_t matB,
                                                cusparseDenseToSparseAlg_t alg,
                                                void *externalBuffer);
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
                                               cusparseConstDnMatDescr_t matA,
                                               cusparseSpMatDescr_t matB,
                                               cusparseDenseToSparseAlg_t alg,
                                               void *externalBuffer);
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n, int nnz,
                                               const void *csrVal, const int *csrRowPtr,
                                               const int *csrColInd, void *cscVal, int *cscColPtr,
                                               int *cscRowInd, cudaDataType valType,
                                               cusparseAction_t copyValues,
                                               cusparseIndexBase_t idxBase,
                                               cusparseCsr2CscAlg_t alg, size_t *bufferSize);
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz,
                                    const void *csrVal, const int *csrRowPtr, const int *csrColInd,
                                    void *cscVal, int *cscColPtr, int *cscRowInd,
                                    cudaDataType valType, cusparseAction_t copyValues,
                                    cusparseIndexBase_t idxBase, cusparseCsr2CscAlg_t alg,
                                    void *buffer);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *cooRowInd, int nnz, int m,
                                  int *csrSortedRowPtr, cusparseIndexBase_t idxBase);
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *csrSortedRowPtr, int nnz,
                                  int m, int *cooRowInd, cusparseIndexBase_t idxBase);
cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p);
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int *cooRowsA, const int *cooColsA,
                                                size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz,
                                       int *cooRowsA, int *cooColsA, int *P, void *pBuffer);
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz,
                                          int *cooRowsA, int *cooColsA, int *P, void *pBuffer);
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int *offsets, const int *indices,
                                                size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz,
                                  const cusparseMatDescr_t descrA, const int *offsets, int *indices,
                                  int *P, void *pBuffer);
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int *offsets, const int *indices,
                                                size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz,
                                  const cusparseMatDescr_t descrA, const int *offsets, int *indices,
                                  int *P, void *pBuffer);
cusparseStatus_t cusparseSnnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,
                              const cusparseMatDescr_t descrA, const float *A, int lda,
                              int *nnzPerRowCol, int *nnzTotalDevHostPtr);
cusparseStatus_t cusparseDnnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,
                              const cusparseMatDescr_t descrA, const double *A, int lda,
                              int *nnzPerRowCol, int *nnzTotalDevHostPtr);
cusparseStatus_t cusparseCnnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,
                              const cusparseMatDescr_t descrA, const cuComplex *A, int lda,
                              int *nnzPerRowCol, int *nnzTotalDevHostPtr);
cusparseStatus_t cusparseZnnz(cusparseHandle_t handle, cusparseDirection_t dirA, int m, int n,
                              const cusparseMatDescr_t descrA, const cuDoubleComplex *A, int lda,
                              int *nnzPerRowCol, int *nnzTotalDevHostPtr);

/* ---- incomplete factors ---- */

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t *info);
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info);
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info,
                                             int *position);
cusparseStatus_t cusparseScsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                              const cusparseMatDescr_t descrA, float *csrVal,
                                              const int *csrRowPtr, const int *csrColInd,
                                              csrilu02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseScsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                 const cusparseMatDescr_t descrA, float *csrVal,
                                                 const int *csrRowPtr, const int *csrColInd,
                                                 csrilu02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseScsrilu02_analysis(cusparseHandle_t handle, int m, int nnz,
                                            const cusparseMatDescr_t descrA, const float *csrVal,
                                            const int *csrRowPtr, const int *csrColInd,
                                            csrilu02Info_t info, cusparseSolvePolicy_t policy,
                                            void *pBuffer);
cusparseStatus_t cusparseScsrilu02(cusparseHandle_t handle, int m, int nnz,
                                   const cusparseMatDescr_t descrA, float *csrVal,
                                   const int *csrRowPtr, const int *csrColInd, csrilu02Info_t info,
                                   cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseDcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                              const cusparseMatDescr_t descrA, double *csrVal,
                                              const int *csrRowPtr, const int *csrColInd,
                                              csrilu02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseDcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                 const cusparseMatDescr_t descrA, double *csrVal,
                                                 const int *csrRowPtr, const int *csrColInd,
                                                 csrilu02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseDcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz,
                                            const cusparseMatDescr_t descrA, const double *csrVal,
                                            const int *csrRowPtr, const int *csrColInd,
                                            csrilu02Info_t info, cusparseSolvePolicy_t policy,
                                            void *pBuffer);
cusparseStatus_t cusparseDcsrilu02(cusparseHandle_t handle, int m, int nnz,
                                   const cusparseMatDescr_t descrA, double *csrVal,
                                   const int *csrRowPtr, const int *csrColInd, csrilu02Info_t info,
                                   cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                              const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                              const int *csrRowPtr, const int *csrColInd,
                                              csrilu02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseCcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                 const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                                 const int *csrRowPtr, const int *csrColInd,
                                                 csrilu02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseCcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz,
                                            const cusparseMatDescr_t descrA,
                                            const cuComplex *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrilu02Info_t info,
                                            cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsrilu02(cusparseHandle_t handle, int m, int nnz,
                                   const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                   const int *csrRowPtr, const int *csrColInd, csrilu02Info_t info,
                                   cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseZcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                              const cusparseMatDescr_t descrA,
                                              cuDoubleComplex *csrVal, const int *csrRowPtr,
                                              const int *csrColInd, csrilu02Info_t info,
                                              int *pBufferSizeInBytes);
cusparseStatus_t cusparseZcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                 const cusparseMatDescr_t descrA,
                                                 cuDoubleComplex *csrVal, const int *csrRowPtr,
                                                 const int *csrColInd, csrilu02Info_t info,
                                                 size_t *pBufferSize);
cusparseStatus_t cusparseZcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz,
                                            const cusparseMatDescr_t descrA,
                                            const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrilu02Info_t info,
                                            cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseZcsrilu02(cusparseHandle_t handle, int m, int nnz,
                                   const cusparseMatDescr_t descrA, cuDoubleComplex *csrVal,
                                   const int *csrRowPtr, const int *csrColInd, csrilu02Info_t info,
                                   cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t *info);
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info);
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info,
                                            int *position);
cusparseStatus_t cusparseScsric02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                             const cusparseMatDescr_t descrA, float *csrVal,
                                             const int *csrRowPtr, const int *csrColInd,
                                             csric02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseScsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                const cusparseMatDescr_t descrA, float *csrVal,
                                                const int *csrRowPtr, const int *csrColInd,
                                                csric02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseScsric02_analysis(cusparseHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const float *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           csric02Info_t info, cusparseSolvePolicy_t policy,
                                           void *pBuffer);
cusparseStatus_t cusparseScsric02(cusparseHandle_t handle, int m, int nnz,
                                  const cusparseMatDescr_t descrA, float *csrVal,
                                  const int *csrRowPtr, const int *csrColInd, csric02Info_t info,
                                  cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseDcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                             const cusparseMatDescr_t descrA, double *csrVal,
                                             const int *csrRowPtr, const int *csrColInd,
                                             csric02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseDcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                const cusparseMatDescr_t descrA, double *csrVal,
                                                const int *csrRowPtr, const int *csrColInd,
                                                csric02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseDcsric02_analysis(cusparseHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const double *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           csric02Info_t info, cusparseSolvePolicy_t policy,
                                           void *pBuffer);
cusparseStatus_t cusparseDcsric02(cusparseHandle_t handle, int m, int nnz,
                                  const cusparseMatDescr_t descrA, double *csrVal,
                                  const int *csrRowPtr, const int *csrColInd, csric02Info_t info,
                                  cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                             const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                             const int *csrRowPtr, const int *csrColInd,
                                             csric02Info_t info, int *pBufferSizeInBytes);
cusparseStatus_t cusparseCcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                                const int *csrRowPtr, const int *csrColInd,
                                                csric02Info_t info, size_t *pBufferSize);
cusparseStatus_t cusparseCcsric02_analysis(cusparseHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                           const int *csrRowPtr, const int *csrColInd,
                                           csric02Info_t info, cusparseSolvePolicy_t policy,
                                           void *pBuffer);
cusparseStatus_t cusparseCcsric02(cusparseHandle_t handle, int m, int nnz,
                                  const cusparseMatDescr_t descrA, cuComplex *csrVal,
                                  const int *csrRowPtr, const int *csrColInd, csric02Info_t info,
                                  cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseZcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz,
                                             const cusparseMatDescr_t descrA,
                                             cuDoubleComplex *csrVal, const int *csrRowPtr,
                                             const int *csrColInd, csric02Info_t info,
                                             int *pBufferSizeInBytes);
cusparseStatus_t cusparseZcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz,
                                                const cusparseMatDescr_t descrA,
                                                cuDoubleComplex *csrVal, const int *csrRowPtr,
                                                const int *csrColInd, csric02Info_t info,
                                                size_t *pBufferSize);
cusparseStatus_t cusparseZcsric02_analysis(cusparseHandle_t handle, int m, int nnz,
                                           const cusparseMatDescr_t descrA,
                                           const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                           const int *csrColInd, csric02Info_t info,
                                           cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseZcsric02(cusparseHandle_t handle, int m, int nnz,
                                  const cusparseMatDescr_t descrA, cuDoubleComplex *csrVal,
                                  const int *csrRowPtr, const int *csrColInd, csric02Info_t info,
                                  cusparseSolvePolicy_t policy, void *pBuffer);

/* ---- sums of two matrices; triangular systems of before CUDA 12 ---- */

cusparseStatus_t cusparseCreateCsrsv2Info(csrsv2Info_t *info);
cusparseStatus_t cusparseDestroyCsrsv2Info(csrsv2Info_t info);
cusparseStatus_t cusparseXcsrsv2_zeroPivot(cusparseHandle_t handle, csrsv2Info_t info,
                                           int *position);
cusparseStatus_t cusparseCreateCsrsm2Info(csrsm2Info_t *info);
cusparseStatus_t cusparseDestroyCsrsm2Info(csrsm2Info_t info);
cusparseStatus_t cusparseXcsrsm2_zeroPivot(cusparseHandle_t handle, csrsm2Info_t info,
                                           int *position);
cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n,
                                      const cusparseMatDescr_t descrA, int nnzA,
                                      const int *csrRowPtrA, const int *csrColIndA,
                                      const cusparseMatDescr_t descrB, int nnzB,
                                      const int *csrRowPtrB, const int *csrColIndB,
                                      const cusparseMatDescr_t descrC, int *csrRowPtrC,
                                      int *nnzTotalDevHostPtr, void *workspace);
cusparseStatus_t cusparseXcsrgeamNnz(cusparseHandle_t handle, int m, int n,
                                     const cusparseMatDescr_t descrA, int nnzA,
                                     const int *csrRowPtrA, const int *csrColIndA,
                                     const cusparseMatDescr_t descrB, int nnzB,
                                     const int *csrRowPtrB, const int *csrColIndB,
                                     const cusparseMatDescr_t descrC, int *csrRowPtrC,
                                     int *nnzTotalDevHostPtr);
cusparseStatus_t cusparseScsrgeam2_bufferSizeExt(
    cusparseHandle_t handle, int m, int n, const float *alpha, const cusparseMatDescr_t descrA,
    int nnzA, const float *csrValA, const int *csrRowPtrA, const int *csrColIndA, const float *beta,
    const cusparseMatDescr_t descrB, int nnzB, const float *csrValB, const int *csrRowPtrB,
    const int *csrColIndB, const cusparseMatDescr_t descrC, const float *csrValC,
    const int *csrRowPtrC, const int *csrColIndC, size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseScsrgeam(cusparseHandle_t handle, int m, int n, const float *alpha,
                                  const cusparseMatDescr_t descrA, int nnzA, const float *csrValA,
                                  const int *csrRowPtrA, const int *csrColIndA, const float *beta,
                                  const cusparseMatDescr_t descrB, int nnzB, const float *csrValB,
                                  const int *csrRowPtrB, const int *csrColIndB,
                                  const cusparseMatDescr_t descrC, float *csrValC, int *csrRowPtrC,
                                  int *csrColIndC);
cusparseStatus_t cusparseScsrgeam2(cusparseHandle_t handle, int m, int n, const float *alpha,
                                   const cusparseMatDescr_t descrA, int nnzA, const float *csrValA,
                                   const int *csrRowPtrA, const int *csrColIndA, const float *beta,
                                   const cusparseMatDescr_t descrB, int nnzB, const float *csrValB,
                                   const int *csrRowPtrB, const int *csrColIndB,
                                   const cusparseMatDescr_t descrC, float *csrValC, int *csrRowPtrC,
                                   int *csrColIndC, void *pBuffer);
cusparseStatus_t cusparseScsrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t transA,
                                            int m, int nnz, const cusparseMatDescr_t descrA,
                                            float *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrsv2Info_t info,
                                            int *pBufferSizeInBytes);
cusparseStatus_t cusparseScsrsv2_analysis(cusparseHandle_t handle, cusparseOperation_t transA,
                                          int m, int nnz, const cusparseMatDescr_t descrA,
                                          const float *csrVal, const int *csrRowPtr,
                                          const int *csrColInd, csrsv2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseScsrsv2_solve(cusparseHandle_t handle, cusparseOperation_t transA, int m,
                                       int nnz, const float *alpha, const cusparseMatDescr_t descrA,
                                       const float *csrVal, const int *csrRowPtr,
                                       const int *csrColInd, csrsv2Info_t info, const float *f,
                                       float *x, cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseScsrsm2_bufferSizeExt(
    cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB,
    int m, int nrhs, int nnz, const float *alpha, const cusparseMatDescr_t descrA,
    const float *csrVal, const int *csrRowPtr, const int *csrColInd, const float *B, int ldb,
    csrsm2Info_t info, cusparseSolvePolicy_t policy, size_t *pBufferSize);
cusparseStatus_t cusparseScsrsm2_analysis(cusparseHandle_t handle, int algo,
                                          cusparseOperation_t transA, cusparseOperation_t transB,
                                          int m, int nrhs, int nnz, const float *alpha,
                                          const cusparseMatDescr_t descrA, const float *csrVal,
                                          const int *csrRowPtr, const int *csrColInd,
                                          const float *B, int ldb, csrsm2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseScsrsm2_solve(cusparseHandle_t handle, int algo,
                                       cusparseOperation_t transA, cusparseOperation_t transB,
                                       int m, int nrhs, int nnz, const float *alpha,
                                       const cusparseMatDescr_t descrA, const float *csrVal,
                                       const int *csrRowPtr, const int *csrColInd, float *B,
                                       int ldb, csrsm2Info_t info, cusparseSolvePolicy_t policy,
                                       void *pBuffer);
cusparseStatus_t cusparseDcsrgeam2_bufferSizeExt(
    cusparseHandle_t handle, int m, int n, const double *alpha, const cusparseMatDescr_t descrA,
    int nnzA, const double *csrValA, const int *csrRowPtrA, const int *csrColIndA,
    const double *beta, const cusparseMatDescr_t descrB, int nnzB, const double *csrValB,
    const int *csrRowPtrB, const int *csrColIndB, const cusparseMatDescr_t descrC,
    const double *csrValC, const int *csrRowPtrC, const int *csrColIndC,
    size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseDcsrgeam(cusparseHandle_t handle, int m, int n, const double *alpha,
                                  const cusparseMatDescr_t descrA, int nnzA, const double *csrValA,
                                  const int *csrRowPtrA, const int *csrColIndA, const double *beta,
                                  const cusparseMatDescr_t descrB, int nnzB, const double *csrValB,
                                  const int *csrRowPtrB, const int *csrColIndB,
                                  const cusparseMatDescr_t descrC, double *csrValC, int *csrRowPtrC,
                                  int *csrColIndC);
cusparseStatus_t cusparseDcsrgeam2(cusparseHandle_t handle, int m, int n, const double *alpha,
                                   const cusparseMatDescr_t descrA, int nnzA, const double *csrValA,
                                   const int *csrRowPtrA, const int *csrColIndA, const double *beta,
                                   const cusparseMatDescr_t descrB, int nnzB, const double *csrValB,
                                   const int *csrRowPtrB, const int *csrColIndB,
                                   const cusparseMatDescr_t descrC, double *csrValC,
                                   int *csrRowPtrC, int *csrColIndC, void *pBuffer);
cusparseStatus_t cusparseDcsrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t transA,
                                            int m, int nnz, const cusparseMatDescr_t descrA,
                                            double *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrsv2Info_t info,
                                            int *pBufferSizeInBytes);
cusparseStatus_t cusparseDcsrsv2_analysis(cusparseHandle_t handle, cusparseOperation_t transA,
                                          int m, int nnz, const cusparseMatDescr_t descrA,
                                          const double *csrVal, const int *csrRowPtr,
                                          const int *csrColInd, csrsv2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseDcsrsv2_solve(cusparseHandle_t handle, cusparseOperation_t transA, int m,
                                       int nnz, const double *alpha,
                                       const cusparseMatDescr_t descrA, const double *csrVal,
                                       const int *csrRowPtr, const int *csrColInd,
                                       csrsv2Info_t info, const double *f, double *x,
                                       cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseDcsrsm2_bufferSizeExt(
    cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB,
    int m, int nrhs, int nnz, const double *alpha, const cusparseMatDescr_t descrA,
    const double *csrVal, const int *csrRowPtr, const int *csrColInd, const double *B, int ldb,
    csrsm2Info_t info, cusparseSolvePolicy_t policy, size_t *pBufferSize);
cusparseStatus_t cusparseDcsrsm2_analysis(cusparseHandle_t handle, int algo,
                                          cusparseOperation_t transA, cusparseOperation_t transB,
                                          int m, int nrhs, int nnz, const double *alpha,
                                          const cusparseMatDescr_t descrA, const double *csrVal,
                                          const int *csrRowPtr, const int *csrColInd,
                                          const double *B, int ldb, csrsm2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseDcsrsm2_solve(cusparseHandle_t handle, int algo,
                                       cusparseOperation_t transA, cusparseOperation_t transB,
                                       int m, int nrhs, int nnz, const double *alpha,
                                       const cusparseMatDescr_t descrA, const double *csrVal,
                                       const int *csrRowPtr, const int *csrColInd, double *B,
                                       int ldb, csrsm2Info_t info, cusparseSolvePolicy_t policy,
                                       void *pBuffer);
cusparseStatus_t cusparseCcsrgeam2_bufferSizeExt(
    cusparseHandle_t handle, int m, int n, const cuComplex *alpha, const cusparseMatDescr_t descrA,
    int nnzA, const cuComplex *csrValA, const int *csrRowPtrA, const int *csrColIndA,
    const cuComplex *beta, const cusparseMatDescr_t descrB, int nnzB, const cuComplex *csrValB,
    const int *csrRowPtrB, const int *csrColIndB, const cusparseMatDescr_t descrC,
    const cuComplex *csrValC, const int *csrRowPtrC, const int *csrColIndC,
    size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseCcsrgeam(cusparseHandle_t handle, int m, int n, const cuComplex *alpha,
                                  const cusparseMatDescr_t descrA, int nnzA,
                                  const cuComplex *csrValA, const int *csrRowPtrA,
                                  const int *csrColIndA, const cuComplex *beta,
                                  const cusparseMatDescr_t descrB, int nnzB,
                                  const cuComplex *csrValB, const int *csrRowPtrB,
                                  const int *csrColIndB, const cusparseMatDescr_t descrC,
                                  cuComplex *csrValC, int *csrRowPtrC, int *csrColIndC);
cusparseStatus_t
cusparseCcsrgeam2(cusparseHandle_t handle, int m, int n, const cuComplex *alpha,
                  const cusparseMatDescr_t descrA, int nnzA, const cuComplex *csrValA,
                  const int *csrRowPtrA, const int *csrColIndA, const cuComplex *beta,
                  const cusparseMatDescr_t descrB, int nnzB, const cuComplex *csrValB,
                  const int *csrRowPtrB, const int *csrColIndB, const cusparseMatDescr_t descrC,
                  cuComplex *csrValC, int *csrRowPtrC, int *csrColIndC, void *pBuffer);
cusparseStatus_t cusparseCcsrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t transA,
                                            int m, int nnz, const cusparseMatDescr_t descrA,
                                            cuComplex *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrsv2Info_t info,
                                            int *pBufferSizeInBytes);
cusparseStatus_t cusparseCcsrsv2_analysis(cusparseHandle_t handle, cusparseOperation_t transA,
                                          int m, int nnz, const cusparseMatDescr_t descrA,
                                          const cuComplex *csrVal, const int *csrRowPtr,
                                          const int *csrColInd, csrsv2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsrsv2_solve(cusparseHandle_t handle, cusparseOperation_t transA, int m,
                                       int nnz, const cuComplex *alpha,
                                       const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                       const int *csrRowPtr, const int *csrColInd,
                                       csrsv2Info_t info, const cuComplex *f, cuComplex *x,
                                       cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsrsm2_bufferSizeExt(
    cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB,
    int m, int nrhs, int nnz, const cuComplex *alpha, const cusparseMatDescr_t descrA,
    const cuComplex *csrVal, const int *csrRowPtr, const int *csrColInd, const cuComplex *B,
    int ldb, csrsm2Info_t info, cusparseSolvePolicy_t policy, size_t *pBufferSize);
cusparseStatus_t cusparseCcsrsm2_analysis(cusparseHandle_t handle, int algo,
                                          cusparseOperation_t transA, cusparseOperation_t transB,
                                          int m, int nrhs, int nnz, const cuComplex *alpha,
                                          const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                          const int *csrRowPtr, const int *csrColInd,
                                          const cuComplex *B, int ldb, csrsm2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseCcsrsm2_solve(cusparseHandle_t handle, int algo,
                                       cusparseOperation_t transA, cusparseOperation_t transB,
                                       int m, int nrhs, int nnz, const cuComplex *alpha,
                                       const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                       const int *csrRowPtr, const int *csrColInd, cuComplex *B,
                                       int ldb, csrsm2Info_t info, cusparseSolvePolicy_t policy,
                                       void *pBuffer);
cusparseStatus_t cusparseZcsrgeam2_bufferSizeExt(
    cusparseHandle_t handle, int m, int n, const cuDoubleComplex *alpha,
    const cusparseMatDescr_t descrA, int nnzA, const cuDoubleComplex *csrValA,
    const int *csrRowPtrA, const int *csrColIndA, const cuDoubleComplex *beta,
    const cusparseMatDescr_t descrB, int nnzB, const cuDoubleComplex *csrValB,
    const int *csrRowPtrB, const int *csrColIndB, const cusparseMatDescr_t descrC,
    const cuDoubleComplex *csrValC, const int *csrRowPtrC, const int *csrColIndC,
    size_t *pBufferSizeInBytes);
cusparseStatus_t cusparseZcsrgeam(cusparseHandle_t handle, int m, int n,
                                  const cuDoubleComplex *alpha, const cusparseMatDescr_t descrA,
                                  int nnzA, const cuDoubleComplex *csrValA, const int *csrRowPtrA,
                                  const int *csrColIndA, const cuDoubleComplex *beta,
                                  const cusparseMatDescr_t descrB, int nnzB,
                                  const cuDoubleComplex *csrValB, const int *csrRowPtrB,
                                  const int *csrColIndB, const cusparseMatDescr_t descrC,
                                  cuDoubleComplex *csrValC, int *csrRowPtrC, int *csrColIndC);
cusparseStatus_t
cusparseZcsrgeam2(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *alpha,
                  const cusparseMatDescr_t descrA, int nnzA, const cuDoubleComplex *csrValA,
                  const int *csrRowPtrA, const int *csrColIndA, const cuDoubleComplex *beta,
                  const cusparseMatDescr_t descrB, int nnzB, const cuDoubleComplex *csrValB,
                  const int *csrRowPtrB, const int *csrColIndB, const cusparseMatDescr_t descrC,
                  cuDoubleComplex *csrValC, int *csrRowPtrC, int *csrColIndC, void *pBuffer);
cusparseStatus_t cusparseZcsrsv2_bufferSize(cusparseHandle_t handle, cusparseOperation_t transA,
                                            int m, int nnz, const cusparseMatDescr_t descrA,
                                            cuDoubleComplex *csrVal, const int *csrRowPtr,
                                            const int *csrColInd, csrsv2Info_t info,
                                            int *pBufferSizeInBytes);
cusparseStatus_t cusparseZcsrsv2_analysis(cusparseHandle_t handle, cusparseOperation_t transA,
                                          int m, int nnz, const cusparseMatDescr_t descrA,
                                          const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                          const int *csrColInd, csrsv2Info_t info,
                                          cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t cusparseZcsrsv2_solve(cusparseHandle_t handle, cusparseOperation_t transA, int m,
                                       int nnz, const cuDoubleComplex *alpha,
                                       const cusparseMatDescr_t descrA,
                                       const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                       const int *csrColInd, csrsv2Info_t info,
                                       const cuDoubleComplex *f, cuDoubleComplex *x,
                                       cusparseSolvePolicy_t policy, void *pBuffer);
cusparseStatus_t
cusparseZcsrsm2_bufferSizeExt(cusparseHandle_t handle, int algo, cusparseOperation_t transA,
                              cusparseOperation_t transB, int m, int nrhs, int nnz,
                              const cuDoubleComplex *alpha, const cusparseMatDescr_t descrA,
                              const cuDoubleComplex *csrVal, const int *csrRowPtr,
                              const int *csrColInd, const cuDoubleComplex *B, int ldb,
                              csrsm2Info_t info, cusparseSolvePolicy_t policy, size_t *pBufferSize);
cusparseStatus_t cusparseZcsrsm2_analysis(cusparseHandle_t handle, int algo,
                                          cusparseOperation_t transA, cusparseOperation_t transB,
                                          int m, int nrhs, int nnz, const cuDoubleComplex *alpha,
                                          const cusparseMatDescr_t descrA,
                                          const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                          const int *csrColInd, const cuDoubleComplex *B, int ldb,
                                          csrsm2Info_t info, cusparseSolvePolicy_t policy,
                                          void *pBuffer);
cusparseStatus_t cusparseZcsrsm2_solve(
    cusparseHandle_t handle, int algo, cusparseOperation_t transA, cusparseOperation_t transB,
    int m, int nrhs, int nnz, const cuDoubleComplex *alpha, const cusparseMatDescr_t descrA,
    const cuDoubleComplex *csrVal, const int *csrRowPtr, const int *csrColInd, cuDoubleComplex *B,
    int ldb, csrsm2Info_t info, cusparseSolvePolicy_t policy, void *pBuffer);

/* ---- calls before CUDA 11 and 12, for older programs ---- */

cusparseStatus_t cusparseSdense2csr(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const float *A, int lda,
                                    const int *nnzPerRow, float *csrVal, int *csrRowPtr,
                                    int *csrColInd);
cusparseStatus_t cusparseScsr2dense(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const float *csrVal,
                                    const int *csrRowPtr, const int *csrColInd, float *A, int lda);
cusparseStatus_t cusparseDdense2csr(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const double *A, int lda,
                                    const int *nnzPerRow, double *csrVal, int *csrRowPtr,
                                    int *csrColInd);
cusparseStatus_t cusparseDcsr2dense(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const double *csrVal,
                                    const int *csrRowPtr, const int *csrColInd, double *A, int lda);
cusparseStatus_t cusparseCdense2csr(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const cuComplex *A, int lda,
                                    const int *nnzPerRow, cuComplex *csrVal, int *csrRowPtr,
                                    int *csrColInd);
cusparseStatus_t cusparseCcsr2dense(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                    const int *csrRowPtr, const int *csrColInd, cuComplex *A,
                                    int lda);
cusparseStatus_t cusparseZdense2csr(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const cuDoubleComplex *A,
                                    int lda, const int *nnzPerRow, cuDoubleComplex *csrVal,
                                    int *csrRowPtr, int *csrColInd);
cusparseStatus_t cusparseZcsr2dense(cusparseHandle_t handle, int m, int n,
                                    const cusparseMatDescr_t descrA, const cuDoubleComplex *csrVal,
                                    const int *csrRowPtr, const int *csrColInd, cuDoubleComplex *A,
                                    int lda);
cusparseStatus_t cusparseScsrmv(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int nnz, const float *alpha, const cusparseMatDescr_t descrA,
                                const float *csrVal, const int *csrRowPtr, const int *csrColInd,
                                const float *x, const float *beta, float *y);
cusparseStatus_t cusparseScsrmm(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int k, int nnz, const float *alpha, const cusparseMatDescr_t descrA,
                                const float *csrVal, const int *csrRowPtr, const int *csrColInd,
                                const float *B, int ldb, const float *beta, float *C, int ldc);
cusparseStatus_t cusparseScsrmm2(cusparseHandle_t handle, cusparseOperation_t transA,
                                 cusparseOperation_t transB, int m, int n, int k, int nnz,
                                 const float *alpha, const cusparseMatDescr_t descrA,
                                 const float *csrVal, const int *csrRowPtr, const int *csrColInd,
                                 const float *B, int ldb, const float *beta, float *C, int ldc);
cusparseStatus_t cusparseDcsrmv(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int nnz, const double *alpha, const cusparseMatDescr_t descrA,
                                const double *csrVal, const int *csrRowPtr, const int *csrColInd,
                                const double *x, const double *beta, double *y);
cusparseStatus_t cusparseDcsrmm(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int k, int nnz, const double *alpha,
                                const cusparseMatDescr_t descrA, const double *csrVal,
                                const int *csrRowPtr, const int *csrColInd, const double *B,
                                int ldb, const double *beta, double *C, int ldc);
cusparseStatus_t cusparseDcsrmm2(cusparseHandle_t handle, cusparseOperation_t transA,
                                 cusparseOperation_t transB, int m, int n, int k, int nnz,
                                 const double *alpha, const cusparseMatDescr_t descrA,
                                 const double *csrVal, const int *csrRowPtr, const int *csrColInd,
                                 const double *B, int ldb, const double *beta, double *C, int ldc);
cusparseStatus_t cusparseCcsrmv(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int nnz, const cuComplex *alpha, const cusparseMatDescr_t descrA,
                                const cuComplex *csrVal, const int *csrRowPtr, const int *csrColInd,
                                const cuComplex *x, const cuComplex *beta, cuComplex *y);
cusparseStatus_t cusparseCcsrmm(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int k, int nnz, const cuComplex *alpha,
                                const cusparseMatDescr_t descrA, const cuComplex *csrVal,
                                const int *csrRowPtr, const int *csrColInd, const cuComplex *B,
                                int ldb, const cuComplex *beta, cuComplex *C, int ldc);
cusparseStatus_t cusparseCcsrmm2(cusparseHandle_t handle, cusparseOperation_t transA,
                                 cusparseOperation_t transB, int m, int n, int k, int nnz,
                                 const cuComplex *alpha, const cusparseMatDescr_t descrA,
                                 const cuComplex *csrVal, const int *csrRowPtr,
                                 const int *csrColInd, const cuComplex *B, int ldb,
                                 const cuComplex *beta, cuComplex *C, int ldc);
cusparseStatus_t cusparseZcsrmv(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int nnz, const cuDoubleComplex *alpha,
                                const cusparseMatDescr_t descrA, const cuDoubleComplex *csrVal,
                                const int *csrRowPtr, const int *csrColInd,
                                const cuDoubleComplex *x, const cuDoubleComplex *beta,
                                cuDoubleComplex *y);
cusparseStatus_t cusparseZcsrmm(cusparseHandle_t handle, cusparseOperation_t transA, int m, int n,
                                int k, int nnz, const cuDoubleComplex *alpha,
                                const cusparseMatDescr_t descrA, const cuDoubleComplex *csrVal,
                                const int *csrRowPtr, const int *csrColInd,
                                const cuDoubleComplex *B, int ldb, const cuDoubleComplex *beta,
                                cuDoubleComplex *C, int ldc);
cusparseStatus_t cusparseZcsrmm2(cusparseHandle_t handle, cusparseOperation_t transA,
                                 cusparseOperation_t transB, int m, int n, int k, int nnz,
                                 const cuDoubleComplex *alpha, const cusparseMatDescr_t descrA,
                                 const cuDoubleComplex *csrVal, const int *csrRowPtr,
                                 const int *csrColInd, const cuDoubleComplex *B, int ldb,
                                 const cuDoubleComplex *beta, cuDoubleComplex *C, int ldc);

/* ---- tridiagonal systems ---- */

cusparseStatus_t cusparseSgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                              const float *dl, const float *d, const float *du,
                                              const float *B, int ldb, size_t *bufferSizeInBytes);
cusparseStatus_t cusparseSgtsv2(cusparseHandle_t handle, int m, int n, const float *dl,
                                const float *d, const float *du, float *B, int ldb, void *pBuffer);
cusparseStatus_t cusparseSgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                                      const float *dl, const float *d,
                                                      const float *du, const float *B, int ldb,
                                                      size_t *bufferSizeInBytes);
cusparseStatus_t cusparseSgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const float *dl,
                                        const float *d, const float *du, float *B, int ldb,
                                        void *pBuffer);
cusparseStatus_t cusparseSgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m,
                                                          const float *dl, const float *d,
                                                          const float *du, const float *x,
                                                          int batchCount, int batchStride,
                                                          size_t *bufferSizeInBytes);
cusparseStatus_t cusparseSgtsv2StridedBatch(cusparseHandle_t handle, int m, const float *dl,
                                            const float *d, const float *du, float *x,
                                            int batchCount, int batchStride, void *pBuffer);
cusparseStatus_t cusparseDgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                              const double *dl, const double *d, const double *du,
                                              const double *B, int ldb, size_t *bufferSizeInBytes);
cusparseStatus_t cusparseDgtsv2(cusparseHandle_t handle, int m, int n, const double *dl,
                                const double *d, const double *du, double *B, int ldb,
                                void *pBuffer);
cusparseStatus_t cusparseDgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                                      const double *dl, const double *d,
                                                      const double *du, const double *B, int ldb,
                                                      size_t *bufferSizeInBytes);
cusparseStatus_t cusparseDgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const double *dl,
                                        const double *d, const double *du, double *B, int ldb,
                                        void *pBuffer);
cusparseStatus_t cusparseDgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m,
                                                          const double *dl, const double *d,
                                                          const double *du, const double *x,
                                                          int batchCount, int batchStride,
                                                          size_t *bufferSizeInBytes);
cusparseStatus_t cusparseDgtsv2StridedBatch(cusparseHandle_t handle, int m, const double *dl,
                                            const double *d, const double *du, double *x,
                                            int batchCount, int batchStride, void *pBuffer);
cusparseStatus_t cusparseCgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                              const cuComplex *dl, const cuComplex *d,
                                              const cuComplex *du, const cuComplex *B, int ldb,
                                              size_t *bufferSizeInBytes);
cusparseStatus_t cusparseCgtsv2(cusparseHandle_t handle, int m, int n, const cuComplex *dl,
                                const cuComplex *d, const cuComplex *du, cuComplex *B, int ldb,
                                void *pBuffer);
cusparseStatus_t cusparseCgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                                      const cuComplex *dl, const cuComplex *d,
                                                      const cuComplex *du, const cuComplex *B,
                                                      int ldb, size_t *bufferSizeInBytes);
cusparseStatus_t cusparseCgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const cuComplex *dl,
                                        const cuComplex *d, const cuComplex *du, cuComplex *B,
                                        int ldb, void *pBuffer);
cusparseStatus_t cusparseCgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m,
                                                          const cuComplex *dl, const cuComplex *d,
                                                          const cuComplex *du, const cuComplex *x,
                                                          int batchCount, int batchStride,
                                                          size_t *bufferSizeInBytes);
cusparseStatus_t cusparseCgtsv2StridedBatch(cusparseHandle_t handle, int m, const cuComplex *dl,
                                            const cuComplex *d, const cuComplex *du, cuComplex *x,
                                            int batchCount, int batchStride, void *pBuffer);
cusparseStatus_t cusparseZgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n,
                                              const cuDoubleComplex *dl, const cuDoubleComplex *d,
                                              const cuDoubleComplex *du, const cuDoubleComplex *B,
                                              int ldb, size_t *bufferSizeInBytes);
cusparseStatus_t cusparseZgtsv2(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl,
                                const cuDoubleComplex *d, const cuDoubleComplex *du,
                                cuDoubleComplex *B, int ldb, void *pBuffer);
cusparseStatus_t cusparseZgtsv2_nopivot_bufferSizeExt(
    cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl, const cuDoubleComplex *d,
    const cuDoubleComplex *du, const cuDoubleComplex *B, int ldb, size_t *bufferSizeInBytes);
cusparseStatus_t cusparseZgtsv2_nopivot(cusparseHandle_t handle, int m, int n,
                                        const cuDoubleComplex *dl, const cuDoubleComplex *d,
                                        const cuDoubleComplex *du, cuDoubleComplex *B, int ldb,
                                        void *pBuffer);
cusparseStatus_t
cusparseZgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, const cuDoubleComplex *dl,
                                         const cuDoubleComplex *d, const cuDoubleComplex *du,
                                         const cuDoubleComplex *x, int batchCount, int batchStride,
                                         size_t *bufferSizeInBytes);
cusparseStatus_t cusparseZgtsv2StridedBatch(cusparseHandle_t handle, int m,
                                            const cuDoubleComplex *dl, const cuDoubleComplex *d,
                                            const cuDoubleComplex *du, cuDoubleComplex *x,
                                            int batchCount, int batchStride, void *pBuffer);

/* ---- calls without an implementation ---- */

#if defined(__cplusplus)
#define WP_CUSPARSE_MISSING(name) cusparseStatus_t name(...);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define WP_CUSPARSE_MISSING(name) cusparseStatus_t name();
#endif
#include "wp/cusparse_missing.h"
#undef WP_CUSPARSE_MISSING
#if !defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

#if defined(__cplusplus)
}
#endif
#endif
