/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts, descriptions of products, preferences: structures of the program or of ours, read and
 * written by the numbers of their members. */
#include "libraries/cublas_lt/lt_descriptions.h"

#include <string.h>

#include "base/alloc.h"
#include "warpage/error.h"

/* ---- members ---- */

typedef struct member {
    int attribute;
    uint32_t offset, bytes;
} member;

#define MEMBER(attribute, type, name)                                                              \
    {attribute, (uint32_t)offsetof(type, name), (uint32_t)sizeof(((type *)NULL)->name)}

static const member layout_members[] = {
    MEMBER(CUBLASLT_MATRIX_LAYOUT_TYPE, wpi_lt_layout, type),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_ORDER, wpi_lt_layout, order),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_ROWS, wpi_lt_layout, rows),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_COLS, wpi_lt_layout, cols),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_LD, wpi_lt_layout, ld),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, wpi_lt_layout, batch_count),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, wpi_lt_layout, batch_stride),
    MEMBER(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, wpi_lt_layout, plane_offset),
    {-1, 0, 0}};

static const member desc_members[] = {
    MEMBER(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, wpi_lt_desc, compute_type),
    MEMBER(CUBLASLT_MATMUL_DESC_SCALE_TYPE, wpi_lt_desc, scale_type),
    MEMBER(CUBLASLT_MATMUL_DESC_POINTER_MODE, wpi_lt_desc, pointer_mode),
    MEMBER(CUBLASLT_MATMUL_DESC_TRANSA, wpi_lt_desc, transa),
    MEMBER(CUBLASLT_MATMUL_DESC_TRANSB, wpi_lt_desc, transb),
    MEMBER(CUBLASLT_MATMUL_DESC_TRANSC, wpi_lt_desc, transc),
    MEMBER(CUBLASLT_MATMUL_DESC_FILL_MODE, wpi_lt_desc, fill_mode),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE, wpi_lt_desc, epilogue),
    MEMBER(CUBLASLT_MATMUL_DESC_BIAS_POINTER, wpi_lt_desc, bias),
    MEMBER(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, wpi_lt_desc, bias_stride),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, wpi_lt_desc, aux),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, wpi_lt_desc, aux_ld),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, wpi_lt_desc, aux_stride),
    MEMBER(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, wpi_lt_desc, alpha_stride),
    MEMBER(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, wpi_lt_desc, sm_count),
    MEMBER(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, wpi_lt_desc, a_scale),
    MEMBER(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, wpi_lt_desc, b_scale),
    MEMBER(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, wpi_lt_desc, c_scale),
    MEMBER(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, wpi_lt_desc, d_scale),
    MEMBER(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, wpi_lt_desc, d_amax),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, wpi_lt_desc, aux_type),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, wpi_lt_desc, aux_scale),
    MEMBER(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, wpi_lt_desc, aux_amax),
    MEMBER(CUBLASLT_MATMUL_DESC_FAST_ACCUM, wpi_lt_desc, fast_accum),
    MEMBER(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, wpi_lt_desc, bias_type),
    {-1, 0, 0}};

static const member preference_members[] = {
    MEMBER(CUBLASLT_MATMUL_PREF_SEARCH_MODE, wpi_lt_preference, search_mode),
    MEMBER(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, wpi_lt_preference, workspace_bytes),
    MEMBER(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, wpi_lt_preference, reduction_mask),
    MEMBER(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, wpi_lt_preference, a_align),
    MEMBER(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, wpi_lt_preference, b_align),
    MEMBER(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, wpi_lt_preference, c_align),
    MEMBER(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, wpi_lt_preference, d_align),
    MEMBER(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, wpi_lt_preference, waves),
    MEMBER(CUBLASLT_MATMUL_PREF_IMPL_MASK, wpi_lt_preference, implementation_mask),
    {-1, 0, 0}};

static const member *find(const member *members, int attribute) {
    while (members->attribute != -1 && members->attribute != attribute)
        members++;
    return members->attribute != -1 ? members : NULL;
}

static cublasStatus_t set(void *object, const member *members, int attribute, const void *from,
                          size_t bytes) {
    const member *m = find(members, attribute);
    if (object == NULL || from == NULL || m == NULL || bytes != m->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + m->offset, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* 0 bytes: only asks for the size. */
static cublasStatus_t get(const void *object, const member *members, int attribute, void *to,
                          size_t bytes, size_t *written) {
    const member *m = find(members, attribute);
    if (object == NULL || m == NULL || (bytes == 0 && written == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != 0 && (to == NULL || bytes != m->bytes)) return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != 0) memcpy(to, (const char *)object + m->offset, bytes);
    if (written != NULL) *written = m->bytes;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- layouts ---- */

WP_API cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout,
                                                        size_t size, cudaDataType type,
                                                        uint64_t rows, uint64_t cols, int64_t ld) {
    if (matLayout == NULL || size < sizeof *matLayout) return CUBLAS_STATUS_INVALID_VALUE;
    memset(matLayout, 0, sizeof *matLayout);
    *(wpi_lt_layout *)(void *)matLayout =
        (wpi_lt_layout){.type = type, .rows = rows, .cols = cols, .ld = ld, .batch_count = 1};
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matLayout,
                                                 cudaDataType type, uint64_t rows, uint64_t cols,
                                                 int64_t ld) {
    if (matLayout == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *matLayout = wpi_malloc(sizeof **matLayout);
    if (*matLayout == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    return cublasLtMatrixLayoutInit_internal(*matLayout, sizeof **matLayout, type, rows, cols, ld);
}

WP_API cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) {
    wpi_free(matLayout);
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout,
                                                       cublasLtMatrixLayoutAttribute_t attr,
                                                       const void *buf, size_t sizeInBytes) {
    return set(matLayout, layout_members, (int)attr, buf, sizeInBytes);
}

WP_API cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout,
                                                       cublasLtMatrixLayoutAttribute_t attr,
                                                       void *buf, size_t sizeInBytes,
                                                       size_t *sizeWritten) {
    return get(matLayout, layout_members, (int)attr, buf, sizeInBytes, sizeWritten);
}

/* ---- descriptions of products ---- */

WP_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc, size_t size,
                                                      cublasComputeType_t computeType,
                                                      cudaDataType scaleType) {
    if (matmulDesc == NULL || size < sizeof *matmulDesc) return CUBLAS_STATUS_INVALID_VALUE;
    memset(matmulDesc, 0, sizeof *matmulDesc);
    *(wpi_lt_desc *)(void *)matmulDesc = (wpi_lt_desc){.compute_type = (int32_t)computeType,
                                                       .scale_type = (int32_t)scaleType,
                                                       .fill_mode = CUBLAS_FILL_MODE_FULL,
                                                       .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                                       .bias_type = -1,
                                                       .aux_type = -1};
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *matmulDesc,
                                               cublasComputeType_t computeType,
                                               cudaDataType scaleType) {
    if (matmulDesc == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *matmulDesc = wpi_malloc(sizeof **matmulDesc);
    if (*matmulDesc == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    return cublasLtMatmulDescInit_internal(*matmulDesc, sizeof **matmulDesc, computeType,
                                           scaleType);
}

WP_API cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) {
    wpi_free(matmulDesc);
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc,
                                                     cublasLtMatmulDescAttributes_t attr,
                                                     const void *buf, size_t sizeInBytes) {
    return set(matmulDesc, desc_members, (int)attr, buf, sizeInBytes);
}

WP_API cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc,
                                                     cublasLtMatmulDescAttributes_t attr, void *buf,
                                                     size_t sizeInBytes, size_t *sizeWritten) {
    return get(matmulDesc, desc_members, (int)attr, buf, sizeInBytes, sizeWritten);
}

/* ---- preferences ---- */

WP_API cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t pref,
                                                            size_t size) {
    if (pref == NULL || size < sizeof *pref) return CUBLAS_STATUS_INVALID_VALUE;
    memset(pref, 0, sizeof *pref);
    *(wpi_lt_preference *)(void *)pref =
        (wpi_lt_preference){.reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK,
                            .implementation_mask = UINT64_MAX,
                            .a_align = 256,
                            .b_align = 256,
                            .c_align = 256,
                            .d_align = 256};
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *pref) {
    if (pref == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *pref = wpi_malloc(sizeof **pref);
    if (*pref == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    return cublasLtMatmulPreferenceInit_internal(*pref, sizeof **pref);
}

WP_API cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) {
    wpi_free(pref);
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t pref, cublasLtMatmulPreferenceAttributes_t attr, const void *buf,
    size_t sizeInBytes) {
    return set(pref, preference_members, (int)attr, buf, sizeInBytes);
}

WP_API cublasStatus_t cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t pref, cublasLtMatmulPreferenceAttributes_t attr, void *buf,
    size_t sizeInBytes, size_t *sizeWritten) {
    return get(pref, preference_members, (int)attr, buf, sizeInBytes, sizeWritten);
}

/* ---- algorithms: word i of the structure is attribute i ---- */

WP_API cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(
    cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, const void *buf,
    size_t sizeInBytes) {
    if (algo == NULL || buf == NULL || (unsigned)attr > CUBLASLT_ALGO_CONFIG_STAGES_ID ||
        attr == CUBLASLT_ALGO_CONFIG_ID || sizeInBytes > sizeof algo->data[0] || sizeInBytes == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    algo->data[attr] = 0;
    memcpy(&algo->data[attr], buf, sizeInBytes);
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr, void *buf,
    size_t sizeInBytes, size_t *sizeWritten) {
    const size_t bytes = sizeof(uint32_t);
    if (algo == NULL || (unsigned)attr > CUBLASLT_ALGO_CONFIG_STAGES_ID ||
        (sizeInBytes == 0 && sizeWritten == NULL) ||
        (sizeInBytes != 0 && (buf == NULL || sizeInBytes != bytes)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (sizeInBytes != 0) memcpy(buf, &algo->data[attr], bytes);
    if (sizeWritten != NULL) *sizeWritten = bytes;
    return CUBLAS_STATUS_SUCCESS;
}
