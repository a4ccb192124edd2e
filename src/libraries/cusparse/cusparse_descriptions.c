/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of vectors and matrices. Those that are constant are the same, as in CUDA's library.
 */
#include <string.h>

#include "base/alloc.h"
#include "libraries/cusparse/cusparse_handle.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define INVALID CUSPARSE_STATUS_INVALID_VALUE

/* A copy of `value` as a description. */
static cusparseStatus_t make(void *out, const void *value, size_t bytes) {
    void *made = wpi_calloc(1, bytes);
    if (made == NULL) return CUSPARSE_STATUS_ALLOC_FAILED;
    memcpy(made, value, bytes);
    memcpy(out, (void *)&made, sizeof made);
    return OK;
}

/* A pointer without `const`: descriptions of constants share their text with the others. */
static void *plain(const void *p) {
    return (void *)(uintptr_t)p;
}

static cusparseStatus_t destroy(const void *description) {
    if (description == NULL) return INVALID;
    wpi_free(plain(description));
    return OK;
}

static bool is_index(cusparseIndexType_t type) {
    return type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}

static bool is_base(cusparseIndexBase_t base) {
    return (unsigned)base <= CUSPARSE_INDEX_BASE_ONE;
}

/* Stores a field for a caller who may not want it. */
#define PUT(out, value)                                                                            \
    do {                                                                                           \
        if ((out) == NULL) return INVALID;                                                         \
        *(out) = (value);                                                                          \
    } while (0)

/* ---- older descriptions ---- */

WP_API cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descrA) {
    return descrA == NULL ? INVALID
                          : make((void *)descrA,
                                 &(struct cusparseMatDescr){.type = CUSPARSE_MATRIX_TYPE_GENERAL},
                                 sizeof **descrA);
}

WP_API cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA) {
    wpi_free(descrA); /* none is no error */
    return OK;
}

#define SETTING(name, type_name, field, last)                                                      \
    WP_API cusparseStatus_t cusparseSetMat##name(cusparseMatDescr_t descrA, type_name value) {     \
        if (descrA == NULL || (unsigned)value > (unsigned)(last)) return INVALID;                  \
        descrA->field = value;                                                                     \
        return OK;                                                                                 \
    }                                                                                              \
    WP_API type_name cusparseGetMat##name(const cusparseMatDescr_t descrA) {                       \
        return descrA->field;                                                                      \
    }

SETTING(Type, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
SETTING(FillMode, cusparseFillMode_t, fill_mode, CUSPARSE_FILL_MODE_UPPER)
SETTING(DiagType, cusparseDiagType_t, diag_type, CUSPARSE_DIAG_TYPE_UNIT)
SETTING(IndexBase, cusparseIndexBase_t, index_base, CUSPARSE_INDEX_BASE_ONE)

/* ---- sparse vectors ---- */

WP_API cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *spVecDescr, int64_t size,
                                            int64_t nnz, void *indices, void *values,
                                            cusparseIndexType_t idxType,
                                            cusparseIndexBase_t idxBase, cudaDataType valueType) {
    if (spVecDescr == NULL || size < 0 || nnz < 0 || nnz > size || !is_index(idxType) ||
        !is_base(idxBase))
        return INVALID;
    return make((void *)spVecDescr,
                &(struct cusparseSpVecDescr){size, nnz, plain(indices), plain(values), idxType,
                                             idxBase, valueType},
                sizeof **spVecDescr);
}

WP_API cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t v, int64_t *size, int64_t *nnz,
                                         void **indices, void **values,
                                         cusparseIndexType_t *idxType, cusparseIndexBase_t *idxBase,
                                         cudaDataType *valueType) {
    if (v == NULL) return INVALID;
    PUT(size, v->size);
    PUT(nnz, v->count);
    PUT(indices, v->indices);
    PUT(values, v->values);
    PUT(idxType, v->index_type);
    PUT(idxBase, v->base);
    PUT(valueType, v->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *spVecDescr,
                                                 int64_t size, int64_t nnz, const void *indices,
                                                 const void *values, cusparseIndexType_t idxType,
                                                 cusparseIndexBase_t idxBase,
                                                 cudaDataType valueType) {
    if (spVecDescr == NULL || size < 0 || nnz < 0 || nnz > size || !is_index(idxType) ||
        !is_base(idxBase))
        return INVALID;
    return make((void *)spVecDescr,
                &(struct cusparseSpVecDescr){size, nnz, plain(indices), plain(values), idxType,
                                             idxBase, valueType},
                sizeof **spVecDescr);
}

WP_API cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t v, int64_t *size,
                                              int64_t *nnz, const void **indices,
                                              const void **values, cusparseIndexType_t *idxType,
                                              cusparseIndexBase_t *idxBase,
                                              cudaDataType *valueType) {
    if (v == NULL) return INVALID;
    PUT(size, v->size);
    PUT(nnz, v->count);
    PUT(indices, v->indices);
    PUT(values, v->values);
    PUT(idxType, v->index_type);
    PUT(idxBase, v->base);
    PUT(valueType, v->type);
    return OK;
}

WP_API cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t v,
                                                  cusparseIndexBase_t *idxBase) {
    if (v == NULL) return INVALID;
    PUT(idxBase, v->base);
    return OK;
}

/* ---- dense vectors ---- */

WP_API cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *dnVecDescr, int64_t size,
                                            void *values, cudaDataType valueType) {
    if (dnVecDescr == NULL || size < 0) return INVALID;
    return make((void *)dnVecDescr, &(struct cusparseDnVecDescr){size, plain(values), valueType},
                sizeof **dnVecDescr);
}

WP_API cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t v, int64_t *size, void **values,
                                         cudaDataType *valueType) {
    if (v == NULL) return INVALID;
    PUT(size, v->size);
    PUT(values, v->values);
    PUT(valueType, v->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *dnVecDescr,
                                                 int64_t size, const void *values,
                                                 cudaDataType valueType) {
    if (dnVecDescr == NULL || size < 0) return INVALID;
    return make((void *)dnVecDescr, &(struct cusparseDnVecDescr){size, plain(values), valueType},
                sizeof **dnVecDescr);
}

WP_API cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t v, int64_t *size,
                                              const void **values, cudaDataType *valueType) {
    if (v == NULL) return INVALID;
    PUT(size, v->size);
    PUT(values, v->values);
    PUT(valueType, v->type);
    return OK;
}

/* ---- sparse matrices ---- */

static cusparseStatus_t make_matrix(void *out, const struct cusparseSpMatDescr *m) {
    if (out == NULL || m->rows < 0 || m->columns < 0 || m->count < 0 || !is_index(m->offset_type) ||
        !is_index(m->index_type) || !is_base(m->base))
        return INVALID;
    return make(out, m, sizeof *m);
}

WP_API cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *spMatDescr, int64_t rows,
                                          int64_t cols, int64_t nnz, void *offsets, void *indices,
                                          void *values, cusparseIndexType_t offsetsType,
                                          cusparseIndexType_t indicesType,
                                          cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return make_matrix((void *)spMatDescr, &(struct cusparseSpMatDescr){
                                               CUSPARSE_FORMAT_CSR, rows, cols, nnz, plain(offsets),
                                               plain(indices), plain(values), offsetsType,
                                               indicesType, idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                       int64_t *nnz, void **offsets, void **indices, void **values,
                                       cusparseIndexType_t *offsetsType,
                                       cusparseIndexType_t *indicesType,
                                       cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSR) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(offsets, m->offsets);
    PUT(indices, m->indices);
    PUT(values, m->values);
    PUT(offsetsType, m->offset_type);
    PUT(indicesType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstCsr(
    cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
    const void *offsets, const void *indices, const void *values, cusparseIndexType_t offsetsType,
    cusparseIndexType_t indicesType, cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return make_matrix((void *)spMatDescr, &(struct cusparseSpMatDescr){
                                               CUSPARSE_FORMAT_CSR, rows, cols, nnz, plain(offsets),
                                               plain(indices), plain(values), offsetsType,
                                               indicesType, idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t m, int64_t *rows,
                                            int64_t *cols, int64_t *nnz, const void **offsets,
                                            const void **indices, const void **values,
                                            cusparseIndexType_t *offsetsType,
                                            cusparseIndexType_t *indicesType,
                                            cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSR) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(offsets, m->offsets);
    PUT(indices, m->indices);
    PUT(values, m->values);
    PUT(offsetsType, m->offset_type);
    PUT(indicesType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *spMatDescr, int64_t rows,
                                          int64_t cols, int64_t nnz, void *offsets, void *indices,
                                          void *values, cusparseIndexType_t offsetsType,
                                          cusparseIndexType_t indicesType,
                                          cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return make_matrix((void *)spMatDescr, &(struct cusparseSpMatDescr){
                                               CUSPARSE_FORMAT_CSC, rows, cols, nnz, plain(offsets),
                                               plain(indices), plain(values), offsetsType,
                                               indicesType, idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                       int64_t *nnz, void **offsets, void **indices, void **values,
                                       cusparseIndexType_t *offsetsType,
                                       cusparseIndexType_t *indicesType,
                                       cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSC) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(offsets, m->offsets);
    PUT(indices, m->indices);
    PUT(values, m->values);
    PUT(offsetsType, m->offset_type);
    PUT(indicesType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstCsc(
    cusparseConstSpMatDescr_t *spMatDescr, int64_t rows, int64_t cols, int64_t nnz,
    const void *offsets, const void *indices, const void *values, cusparseIndexType_t offsetsType,
    cusparseIndexType_t indicesType, cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return make_matrix((void *)spMatDescr, &(struct cusparseSpMatDescr){
                                               CUSPARSE_FORMAT_CSC, rows, cols, nnz, plain(offsets),
                                               plain(indices), plain(values), offsetsType,
                                               indicesType, idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t m, int64_t *rows,
                                            int64_t *cols, int64_t *nnz, const void **offsets,
                                            const void **indices, const void **values,
                                            cusparseIndexType_t *offsetsType,
                                            cusparseIndexType_t *indicesType,
                                            cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSC) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(offsets, m->offsets);
    PUT(indices, m->indices);
    PUT(values, m->values);
    PUT(offsetsType, m->offset_type);
    PUT(indicesType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *spMatDescr, int64_t rows,
                                          int64_t cols, int64_t nnz, void *cooRowInd,
                                          void *cooColInd, void *cooValues,
                                          cusparseIndexType_t cooIdxType,
                                          cusparseIndexBase_t idxBase, cudaDataType valueType) {
    return make_matrix((void *)spMatDescr,
                       &(struct cusparseSpMatDescr){CUSPARSE_FORMAT_COO, rows, cols, nnz,
                                                    plain(cooRowInd), plain(cooColInd),
                                                    plain(cooValues), cooIdxType, cooIdxType,
                                                    idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t m, int64_t *rows, int64_t *cols,
                                       int64_t *nnz, void **cooRowInd, void **cooColInd,
                                       void **cooValues, cusparseIndexType_t *idxType,
                                       cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_COO) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(cooRowInd, m->offsets);
    PUT(cooColInd, m->indices);
    PUT(cooValues, m->values);
    PUT(idxType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *spMatDescr, int64_t rows,
                                               int64_t cols, int64_t nnz, const void *cooRowInd,
                                               const void *cooColInd, const void *cooValues,
                                               cusparseIndexType_t cooIdxType,
                                               cusparseIndexBase_t idxBase,
                                               cudaDataType valueType) {
    return make_matrix((void *)spMatDescr,
                       &(struct cusparseSpMatDescr){CUSPARSE_FORMAT_COO, rows, cols, nnz,
                                                    plain(cooRowInd), plain(cooColInd),
                                                    plain(cooValues), cooIdxType, cooIdxType,
                                                    idxBase, valueType, .batch = 1});
}

WP_API cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t m, int64_t *rows,
                                            int64_t *cols, int64_t *nnz, const void **cooRowInd,
                                            const void **cooColInd, const void **cooValues,
                                            cusparseIndexType_t *idxType,
                                            cusparseIndexBase_t *idxBase, cudaDataType *valueType) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_COO) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    PUT(cooRowInd, m->offsets);
    PUT(cooColInd, m->indices);
    PUT(cooValues, m->values);
    PUT(idxType, m->index_type);
    PUT(idxBase, m->base);
    PUT(valueType, m->type);
    return OK;
}

WP_API cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t m, void *offsets, void *indices,
                                               void *values) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSR) return INVALID;
    m->offsets = offsets;
    m->indices = indices;
    m->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t m, void *offsets, void *indices,
                                               void *values) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSC) return INVALID;
    m->offsets = offsets;
    m->indices = indices;
    m->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t m, void *cooRows,
                                               void *cooColumns, void *cooValues) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_COO) return INVALID;
    m->offsets = cooRows;
    m->indices = cooColumns;
    m->values = cooValues;
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t m,
                                               cusparseFormat_t *format) {
    if (m == NULL) return INVALID;
    PUT(format, m->format);
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t m,
                                                  cusparseIndexBase_t *idxBase) {
    if (m == NULL) return INVALID;
    PUT(idxBase, m->base);
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t m, int64_t *rows,
                                             int64_t *cols, int64_t *nnz) {
    if (m == NULL) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(nnz, m->count);
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t m, int *batchCount) {
    if (m == NULL) return INVALID;
    PUT(batchCount, m->batch);
    return OK;
}

WP_API cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t m, int batchCount,
                                                   int64_t batchStride) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_COO || batchCount < 1 ||
        (batchStride != 0 && batchStride < m->count))
        return INVALID;
    m->batch = batchCount;
    m->stride = batchStride;
    return OK;
}

WP_API cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t m, int batchCount,
                                                   int64_t offsetsBatchStride,
                                                   int64_t columnsValuesBatchStride) {
    if (m == NULL || m->format != CUSPARSE_FORMAT_CSR || batchCount < 1) return INVALID;
    m->batch = batchCount;
    m->offsets_stride = offsetsBatchStride;
    m->stride = columnsValuesBatchStride;
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t m,
                                                  cusparseSpMatAttribute_t attribute, void *data,
                                                  size_t dataSize) {
    if (m == NULL || data == NULL || dataSize != sizeof(int) ||
        (unsigned)attribute > CUSPARSE_SPMAT_DIAG_TYPE)
        return INVALID;
    const int value = attribute == CUSPARSE_SPMAT_FILL_MODE ? (int)m->fill_mode : (int)m->diag_type;
    memcpy(data, &value, sizeof value);
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t m,
                                                  cusparseSpMatAttribute_t attribute, void *data,
                                                  size_t dataSize) {
    int value;
    if (m == NULL || data == NULL || dataSize != sizeof value ||
        (unsigned)attribute > CUSPARSE_SPMAT_DIAG_TYPE)
        return INVALID;
    memcpy(&value, data, sizeof value);
    if (value != 0 && value != 1) return INVALID;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        m->fill_mode = (cusparseFillMode_t)value;
    else
        m->diag_type = (cusparseDiagType_t)value;
    return OK;
}

/* ---- dense matrices ---- */

WP_API cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *dnMatDescr, int64_t rows,
                                            int64_t cols, int64_t ld, void *values,
                                            cudaDataType valueType, cusparseOrder_t order) {
    if (dnMatDescr == NULL || rows < 0 || cols < 0 ||
        (order != CUSPARSE_ORDER_COL && order != CUSPARSE_ORDER_ROW) ||
        ld < (order == CUSPARSE_ORDER_COL ? rows : cols))
        return INVALID;
    return make(
        (void *)dnMatDescr,
        &(struct cusparseDnMatDescr){rows, cols, ld, plain(values), valueType, order, .batch = 1},
        sizeof **dnMatDescr);
}

WP_API cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t m, int64_t *rows, int64_t *cols,
                                         int64_t *ld, void **values, cudaDataType *type,
                                         cusparseOrder_t *order) {
    if (m == NULL) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(ld, m->ld);
    PUT(values, m->values);
    PUT(type, m->type);
    PUT(order, m->order);
    return OK;
}

WP_API cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *dnMatDescr,
                                                 int64_t rows, int64_t cols, int64_t ld,
                                                 const void *values, cudaDataType valueType,
                                                 cusparseOrder_t order) {
    if (dnMatDescr == NULL || rows < 0 || cols < 0 ||
        (order != CUSPARSE_ORDER_COL && order != CUSPARSE_ORDER_ROW) ||
        ld < (order == CUSPARSE_ORDER_COL ? rows : cols))
        return INVALID;
    return make(
        (void *)dnMatDescr,
        &(struct cusparseDnMatDescr){rows, cols, ld, plain(values), valueType, order, .batch = 1},
        sizeof **dnMatDescr);
}

WP_API cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t m, int64_t *rows,
                                              int64_t *cols, int64_t *ld, const void **values,
                                              cudaDataType *type, cusparseOrder_t *order) {
    if (m == NULL) return INVALID;
    PUT(rows, m->rows);
    PUT(cols, m->columns);
    PUT(ld, m->ld);
    PUT(values, m->values);
    PUT(type, m->type);
    PUT(order, m->order);
    return OK;
}

WP_API cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t m, int batchCount,
                                                     int64_t batchStride) {
    if (m == NULL || batchCount < 1) return INVALID;
    m->batch = batchCount;
    m->stride = batchStride;
    return OK;
}

WP_API cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t m, int *batchCount,
                                                     int64_t *batchStride) {
    if (m == NULL) return INVALID;
    PUT(batchCount, m->batch);
    PUT(batchStride, m->stride);
    return OK;
}

/* ---- values of all kinds ---- */

WP_API cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t description) {
    return destroy(description);
}

WP_API cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t description, void *values) {
    if (description == NULL) return INVALID;
    description->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t description, void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t description,
                                                    const void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t description) {
    return destroy(description);
}

WP_API cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t description, void *values) {
    if (description == NULL) return INVALID;
    description->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t description, void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t description,
                                                    const void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t description) {
    return destroy(description);
}

WP_API cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t description, void *values) {
    if (description == NULL) return INVALID;
    description->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t description, void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t description,
                                                    const void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t description) {
    return destroy(description);
}

WP_API cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t description, void *values) {
    if (description == NULL) return INVALID;
    description->values = values;
    return OK;
}

WP_API cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t description, void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

WP_API cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t description,
                                                    const void **values) {
    if (description == NULL) return INVALID;
    PUT(values, description->values);
    return OK;
}

/* ---- as the kernels take them ---- */

static wpi_indices indices(const void *data, cusparseIndexType_t type, int base) {
    return (wpi_indices){plain(data), type == CUSPARSE_INDEX_64I, base};
}

wpi_sparse wpi_cusparse_matrix(const struct cusparseSpMatDescr *m, cusparseOperation_t op) {
    const bool is_csc = m->format == CUSPARSE_FORMAT_CSC, is_coo = m->format == CUSPARSE_FORMAT_COO;
    const wpi_indices offsets = indices(m->offsets, m->offset_type, (int)m->base);
    wpi_sparse s = {.at = indices(m->indices, m->index_type, (int)m->base),
                    .values = m->values,
                    .lines = is_csc ? m->columns : m->rows,
                    .width = is_csc ? m->rows : m->columns,
                    .count = m->count,
                    .offsets_stride = m->offsets_stride,
                    .stride = m->stride,
                    .is_transposed = (op != CUSPARSE_OPERATION_NON_TRANSPOSE) != is_csc,
                    .is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
    if (is_coo)
        s.line = offsets;
    else
        s.offsets = offsets;
    return s;
}

wpi_sparse wpi_cusparse_rows(const void *values, const int *offsets, const int *at, long long m,
                             long long n, long long count, int base) {
    return (wpi_sparse){.offsets = indices(offsets, CUSPARSE_INDEX_32I, base),
                        .at = indices(at, CUSPARSE_INDEX_32I, base),
                        .values = plain(values),
                        .lines = m,
                        .width = n,
                        .count = count};
}

wpi_sparse_dense wpi_cusparse_dense(const struct cusparseDnMatDescr *m, cusparseOperation_t op) {
    const bool is_by_columns =
        (m->order == CUSPARSE_ORDER_COL) == (op == CUSPARSE_OPERATION_NON_TRANSPOSE);
    return (wpi_sparse_dense){.data = m->values,
                              .row = is_by_columns ? 1 : m->ld,
                              .column = is_by_columns ? m->ld : 1,
                              .stride = m->stride,
                              .is_conjugated = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
}

wpi_sparse wpi_cusparse_vector(const struct cusparseSpVecDescr *v) {
    return (wpi_sparse){.at = indices(v->indices, v->index_type, (int)v->base),
                        .values = v->values,
                        .width = v->size,
                        .count = v->count};
}
