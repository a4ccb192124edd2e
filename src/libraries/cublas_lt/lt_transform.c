/* SPDX-License-Identifier: Apache-2.0 */
/* C = alpha op(A) + beta op(B), between types and orders: the kernel that ends products does it. */
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "libraries/cublas_lt/lt_descriptions.h"
#include "libraries/cublas_lt/lt_shared.h"
#include "warpage/error.h"

#define OK CUBLAS_STATUS_SUCCESS
#define INVALID CUBLAS_STATUS_INVALID_VALUE

typedef struct transform {
    int32_t scale_type, pointer_mode, transa, transb;
} transform;

_Static_assert(sizeof(transform) <= sizeof(cublasLtMatrixTransformDescOpaque_t), "it must fit");

/* ---- descriptions ---- */

WP_API cublasStatus_t cublasLtMatrixTransformDescInit_internal(
    cublasLtMatrixTransformDesc_t transformDesc, size_t size, cudaDataType scaleType) {
    if (transformDesc == NULL || size < sizeof *transformDesc) return INVALID;
    memset(transformDesc, 0, sizeof *transformDesc);
    *(transform *)(void *)transformDesc = (transform){.scale_type = (int32_t)scaleType};
    return OK;
}

WP_API cublasStatus_t cublasLtMatrixTransformDescCreate(
    cublasLtMatrixTransformDesc_t *transformDesc, cudaDataType scaleType) {
    if (transformDesc == NULL) return INVALID;
    *transformDesc = wpi_malloc(sizeof **transformDesc);
    if (*transformDesc == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    return cublasLtMatrixTransformDescInit_internal(*transformDesc, sizeof **transformDesc,
                                                    scaleType);
}

WP_API cublasStatus_t
cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t transformDesc) {
    wpi_free(transformDesc);
    return OK;
}

/* All members are numbers of 32 bits, in the order of the attributes. */
static int32_t *member(cublasLtMatrixTransformDesc_t desc,
                       cublasLtMatrixTransformDescAttributes_t attr) {
    if (desc == NULL || (unsigned)attr > CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB) return NULL;
    transform *t = (transform *)(void *)desc;
    int32_t *const members[] = {&t->scale_type, &t->pointer_mode, &t->transa, &t->transb};
    return members[attr];
}

WP_API cublasStatus_t cublasLtMatrixTransformDescSetAttribute(
    cublasLtMatrixTransformDesc_t transformDesc, cublasLtMatrixTransformDescAttributes_t attr,
    const void *buf, size_t sizeInBytes) {
    int32_t *to = member(transformDesc, attr);
    if (to == NULL || buf == NULL || sizeInBytes != sizeof *to) return INVALID;
    memcpy(to, buf, sizeof *to);
    return OK;
}

WP_API cublasStatus_t cublasLtMatrixTransformDescGetAttribute(
    cublasLtMatrixTransformDesc_t transformDesc, cublasLtMatrixTransformDescAttributes_t attr,
    void *buf, size_t sizeInBytes, size_t *sizeWritten) {
    const int32_t *from = member(transformDesc, attr);
    if (from == NULL || (sizeInBytes == 0 && sizeWritten == NULL) ||
        (sizeInBytes != 0 && (buf == NULL || sizeInBytes != sizeof *from)))
        return INVALID;
    if (sizeInBytes != 0) memcpy(buf, from, sizeof *from);
    if (sizeWritten != NULL) *sizeWritten = sizeof *from;
    return OK;
}

/* ---- the transform ---- */

static bool is_type(uint32_t type) {
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF ||
           type == CUDA_R_32I || type == CUDA_R_8I;
}

static cublasStatus_t check(const wpi_lt_layout *l, int32_t op, const wpi_lt_layout *c) {
    if (!is_type(l->type) || (l->order != CUBLASLT_ORDER_COL && l->order != CUBLASLT_ORDER_ROW))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool is_turned = op != CUBLAS_OP_N;
    const uint64_t lines = l->order == CUBLASLT_ORDER_ROW ? l->cols : l->rows;
    if ((unsigned)op > CUBLAS_OP_C || l->rows > INT32_MAX || l->cols > INT32_MAX ||
        l->ld < (int64_t)lines || l->rows != (is_turned ? c->cols : c->rows) ||
        l->cols != (is_turned ? c->rows : c->cols) || l->batch_count != c->batch_count)
        return INVALID;
    return OK;
}

/* Of op(X): a transposed matrix has the other order. */
static wpi_lt_matrix operand(const wpi_lt_layout *l, int32_t op, const void *data) {
    const bool is_by_rows = (l->order == CUBLASLT_ORDER_ROW) != (op != CUBLAS_OP_N);
    return (wpi_lt_matrix){.data = (void *)(uintptr_t)data,
                           .type = (cudaDataType)l->type,
                           .row = is_by_rows ? l->ld : 1,
                           .column = is_by_rows ? 1 : l->ld,
                           .stride = l->batch_stride};
}

static bool read_factor(int32_t type, const void *value, double *out) {
    switch (type) {
    case CUDA_R_64F: *out = *(const double *)value; return true;
    case CUDA_R_32I: *out = *(const int32_t *)value; return true;
    case CUDA_R_32F: *out = (double)*(const float *)value; return true;
    default: return false;
    }
}

WP_API cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t lightHandle,
                                              cublasLtMatrixTransformDesc_t transformDesc,
                                              const void *alpha, const void *A,
                                              cublasLtMatrixLayout_t Adesc, const void *beta,
                                              const void *B, cublasLtMatrixLayout_t Bdesc, void *C,
                                              cublasLtMatrixLayout_t Cdesc, cudaStream_t stream) {
    if (lightHandle == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (transformDesc == NULL || alpha == NULL || A == NULL || Adesc == NULL || C == NULL ||
        Cdesc == NULL || (B != NULL && (Bdesc == NULL || beta == NULL)))
        return INVALID;
    const transform *t = (const transform *)(const void *)transformDesc;
    const wpi_lt_layout *a = wpi_lt_layout_of(Adesc), *c = wpi_lt_layout_of(Cdesc);
    const wpi_lt_layout *b = B != NULL ? wpi_lt_layout_of(Bdesc) : NULL;
    cublasStatus_t status = check(a, t->transa, c);
    if (status == OK && b != NULL) status = check(b, t->transb, c);
    if (status == OK) status = check(c, CUBLAS_OP_N, c);
    if (status != OK) return status;
    wpi_lt_epilogue e = {.m = (int)c->rows,
                         .n = (int)c->cols,
                         .batch = c->batch_count,
                         .sum = operand(a, t->transa, A),
                         .d = operand(c, CUBLAS_OP_N, C),
                         .scale_type = (cudaDataType)t->scale_type};
    const bool is_on_device = t->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    double unused;
    if (!is_on_device && !read_factor(t->scale_type, alpha, &e.alpha_value))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (is_on_device && !read_factor(t->scale_type, &(double){0}, &unused))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (is_on_device) e.alpha = alpha;
    if (b != NULL) {
        e.c = operand(b, t->transb, B);
        if (is_on_device)
            e.beta = beta;
        else
            (void)read_factor(t->scale_type, beta, &e.beta_value);
    }
    const cudaError_t error = wpi_lt_finish(stream, &e);
    return error == cudaSuccess                 ? OK
           : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* ---- what the one algorithm can ---- */

WP_API cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                        cublasLtMatmulAlgoCapAttributes_t attr,
                                                        void *buf, size_t sizeInBytes,
                                                        size_t *sizeWritten) {
    static const uint32_t epilogues =
        CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
    uint32_t value = 0;
    const uint64_t whole = 0;
    const void *from = &value;
    size_t bytes = sizeof value;
    switch (attr) {
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES: value = 1; break;
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE: break;
    case CUBLASLT_ALGO_CAP_TILE_IDS: /* lists of one: undefined */
    case CUBLASLT_ALGO_CAP_STAGES_IDS: break;
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK: value = 3; break; /* host, device */
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK: value = epilogues; break;
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS: from = &whole, bytes = sizeof whole; break;
    default: return INVALID;
    }
    if (algo == NULL || (sizeInBytes == 0 && sizeWritten == NULL) ||
        (sizeInBytes != 0 && (buf == NULL || sizeInBytes < bytes)))
        return INVALID;
    if (sizeInBytes != 0) memcpy(buf, from, bytes);
    if (sizeWritten != NULL) *sizeWritten = bytes;
    return OK;
}
