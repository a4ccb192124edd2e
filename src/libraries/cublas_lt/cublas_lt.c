/* SPDX-License-Identifier: Apache-2.0 */
/* Products. One that cuBLAS has as it is goes there; others are summed into temporary memory in the
 * type of the sums, and a kernel finishes them, so that bias and activation see unrounded sums. */
#include <stdbool.h>
#include <string.h>

#include "libraries/cublas/compute_type.h"
#include "libraries/cublas_lt/lt_descriptions.h"
#include "libraries/cublas_lt/lt_shared.h"
#include "warpage/cuda/cublas_v2.h"
#include "warpage/error.h"

/* ---- handles: those of cuBLAS ---- */

static cublasHandle_t blas_of(cublasLtHandle_t handle) {
    return (cublasHandle_t)(void *)handle;
}

WP_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *lightHandle) {
    return cublasCreate_v2((cublasHandle_t *)(void *)lightHandle);
}

WP_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t lightHandle) {
    return cublasDestroy_v2(blas_of(lightHandle));
}

WP_API const char *cublasLtGetStatusName(cublasStatus_t status) {
    return cublasGetStatusName(status);
}

WP_API const char *cublasLtGetStatusString(cublasStatus_t status) {
    return cublasGetStatusString(status);
}

WP_API size_t cublasLtGetVersion(void) {
    return CUBLAS_VERSION;
}

WP_API size_t cublasLtGetCudartVersion(void) {
    return CUDART_VERSION;
}

WP_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value) {
    return cublasGetProperty(type, value);
}

/* ---- what a product is ---- */

typedef struct type_row {
    cudaDataType ab, d, scale;
    cublasComputeType_t compute, pedantic;
    cudaDataType sum; /* of temporary memory */
    bool is_direct;   /* cuBLAS has it */
} type_row;

static const type_row type_rows[] = {
    {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
     CUDA_R_32F, true},
    {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC,
     CUDA_R_64F, true},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
     CUDA_R_32F, true},
    {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
     CUDA_R_32F, true},
    {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC,
     CUDA_R_16F, true},
    {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
     CUDA_R_32F, true},
    {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC,
     CUDA_R_32F, true},
    {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC, CUDA_R_32I,
     true},
    {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC, CUDA_R_32I,
     false},
    {CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F,
     true},
};

typedef struct plan {
    const type_row *types;
    const wpi_lt_desc *desc;
    const wpi_lt_layout *a, *b, *c, *d;
    cublasComputeType_t compute; /* without the fast forms, which do not round operands here */
    int m, n, k, batch;
    wpi_lt_activation activation;
    bool has_bias;
    bool is_direct;
    size_t temporary_bytes;
} plan;

static size_t bytes_of(cudaDataType type) {
    switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_8I: return 1;
    default: return 2;
    }
}

static const type_row *find_types(const wpi_lt_desc *desc, cublasComputeType_t compute, uint32_t ab,
                                  uint32_t d) {
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++) {
        const type_row *r = &type_rows[i];
        if (r->ab == ab && r->d == d && (int32_t)r->scale == desc->scale_type &&
            (compute == r->compute || compute == r->pedantic))
            return r;
    }
    return NULL;
}

static bool is_layout(const wpi_lt_layout *l) {
    const uint64_t lines = l->order == CUBLASLT_ORDER_ROW ? l->cols : l->rows;
    return l->rows <= INT32_MAX && l->cols <= INT32_MAX && l->ld <= INT32_MAX &&
           l->ld >= (int64_t)lines && l->batch_count > 0;
}

/* The number of rows (or columns) of op(x). */
static int rows_of(const wpi_lt_layout *l, int32_t op, bool is_columns) {
    return (int)((op != CUBLAS_OP_N) != is_columns ? l->cols : l->rows);
}

static bool is_op(int32_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static bool choose_epilogue(plan *p) {
    p->has_bias = (p->desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
    switch (p->desc->epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_BIAS: p->activation = WPI_LT_NONE; return true;
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS: p->activation = WPI_LT_RELU; return true;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS: p->activation = WPI_LT_GELU; return p->d->type != CUDA_R_32I;
    default: return false;
    }
}

static bool is_same_layout(const wpi_lt_layout *c, const wpi_lt_layout *d) {
    return c->order == d->order && c->ld == d->ld && c->batch_stride == d->batch_stride;
}

static bool has_scales(const wpi_lt_desc *d) {
    return d->a_scale != NULL || d->b_scale != NULL || d->c_scale != NULL || d->d_scale != NULL ||
           d->d_amax != NULL;
}

static cublasStatus_t make_plan(plan *p, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                cublasLtMatrixLayout_t d) {
    if (desc == NULL || a == NULL || b == NULL || c == NULL || d == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *p = (plan){.desc = wpi_lt_desc_of(desc),
                .a = wpi_lt_layout_of(a),
                .b = wpi_lt_layout_of(b),
                .c = wpi_lt_layout_of(c),
                .d = wpi_lt_layout_of(d)};
    const wpi_lt_layout *const all[] = {p->a, p->b, p->c, p->d};
    bool is_by_columns = true;
    for (int i = 0; i < 4; i++) {
        if (all[i]->order != CUBLASLT_ORDER_COL && all[i]->order != CUBLASLT_ORDER_ROW)
            return CUBLAS_STATUS_NOT_SUPPORTED;
        if (!is_layout(all[i]) || all[i]->batch_count != p->d->batch_count)
            return CUBLAS_STATUS_INVALID_VALUE;
        is_by_columns = is_by_columns && all[i]->order == CUBLASLT_ORDER_COL;
    }
    p->m = (int)p->d->rows;
    p->n = (int)p->d->cols;
    p->batch = p->d->batch_count;
    if (!is_op(p->desc->transa) || !is_op(p->desc->transb)) return CUBLAS_STATUS_INVALID_VALUE;
    p->k = rows_of(p->a, p->desc->transa, true);
    if (rows_of(p->a, p->desc->transa, false) != p->m ||
        rows_of(p->b, p->desc->transb, false) != p->k ||
        rows_of(p->b, p->desc->transb, true) != p->n || p->c->rows != p->d->rows ||
        p->c->cols != p->d->cols)
        return CUBLAS_STATUS_INVALID_VALUE;
    p->compute = wpi_cublas_plain_compute((cublasComputeType_t)p->desc->compute_type);
    p->types = find_types(p->desc, p->compute, p->a->type, p->d->type);
    const bool has_modes = p->desc->pointer_mode == CUBLASLT_POINTER_MODE_HOST ||
                           p->desc->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    if (p->types == NULL || p->b->type != p->a->type || p->c->type != p->d->type || !has_modes ||
        !choose_epilogue(p) || p->desc->transc != CUBLAS_OP_N ||
        p->desc->fill_mode != CUBLAS_FILL_MODE_FULL || has_scales(p->desc))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    p->is_direct = p->types->is_direct && is_by_columns && !p->has_bias &&
                   p->activation == WPI_LT_NONE && is_same_layout(p->c, p->d);
    p->temporary_bytes = (size_t)p->m * (size_t)p->n * (size_t)p->batch * bytes_of(p->types->sum);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- the product ---- */

static cublasStatus_t status_of(cudaError_t error) {
    if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                              : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* A matrix by rows is the transposed one by columns. */
static cublasOperation_t op_of(const wpi_lt_layout *l, int32_t op) {
    return (op != CUBLAS_OP_N) != (l->order == CUBLASLT_ORDER_ROW) ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/* Calls cuBLAS in the stream, with factors in host or device memory, and leaves the handle as it
 * was. */
static cublasStatus_t multiply(cublasHandle_t blas, const plan *p, cublasPointerMode_t mode,
                               const void *alpha, const void *A, const void *B, const void *beta,
                               void *C, cudaDataType c_type, int ldc, long long c_stride,
                               cudaStream_t stream) {
    cudaStream_t own;
    cublasPointerMode_t own_mode;
    cublasStatus_t status = cublasGetStream_v2(blas, &own);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    (void)cublasGetPointerMode_v2(blas, &own_mode);
    (void)cublasSetStream_v2(blas, stream);
    (void)cublasSetPointerMode_v2(blas, mode);
    status = cublasGemmStridedBatchedEx(
        blas, op_of(p->a, p->desc->transa), op_of(p->b, p->desc->transb), p->m, p->n, p->k, alpha,
        A, p->types->ab, (int)p->a->ld, p->a->batch_stride, B, p->types->ab, (int)p->b->ld,
        p->b->batch_stride, beta, C, c_type, ldc, c_stride, p->batch, p->compute,
        CUBLAS_GEMM_DEFAULT);
    (void)cublasSetStream_v2(blas, own);
    (void)cublasSetPointerMode_v2(blas, own_mode);
    return status;
}

/* Into temporary memory, with factors 1 and 0. */
static cublasStatus_t sum(cublasHandle_t blas, const plan *p, const void *A, const void *B,
                          void *temporary, cudaStream_t stream) {
    static const float ones = 1, zeros = 0;
    static const double one = 1, zero = 0;
    static const int32_t whole = 1, nothing = 0;
    static const uint16_t half_one = 0x3c00, half_zero = 0;
    const void *alpha = &ones, *beta = &zeros;
    if (p->types->sum == CUDA_R_64F) {
        alpha = &one;
        beta = &zero;
    } else if (p->types->sum == CUDA_R_32I) {
        alpha = &whole;
        beta = &nothing;
    } else if (p->types->sum == CUDA_R_16F) {
        alpha = &half_one;
        beta = &half_zero;
    }
    return multiply(blas, p, CUBLAS_POINTER_MODE_HOST, alpha, A, B, beta, temporary, p->types->sum,
                    p->m > 0 ? p->m : 1, (long long)p->m * p->n, stream);
}

static wpi_lt_matrix matrix_of(const wpi_lt_layout *l, const void *data) {
    const bool is_by_rows = l->order == CUBLASLT_ORDER_ROW;
    return (wpi_lt_matrix){.data = (void *)(uintptr_t)data,
                           .type = (cudaDataType)l->type,
                           .row = is_by_rows ? l->ld : 1,
                           .column = is_by_rows ? 1 : l->ld,
                           .stride = l->batch_stride};
}

static double half_value(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0 ? fraction : fraction + 1024;
    for (int e = exponent == 0 ? 1 : exponent; e < 25; e++)
        value /= 2;
    for (int e = exponent; e > 25; e--)
        value *= 2;
    return bits >> 15 != 0 ? -value : value;
}

static double factor_of(const plan *p, const void *value) {
    switch (p->types->scale) {
    case CUDA_R_64F: return *(const double *)value;
    case CUDA_R_32I: return *(const int32_t *)value;
    case CUDA_R_16F: return half_value(*(const uint16_t *)value);
    default: return (double)*(const float *)value;
    }
}

/* Of a product with 8-bit results the bias is float, else as the results. */
static cudaDataType bias_type(const plan *p) {
    if (p->desc->bias_type >= 0) return (cudaDataType)p->desc->bias_type;
    return p->types->d == CUDA_R_8I ? CUDA_R_32F : p->types->d;
}

static cublasStatus_t finish(const plan *p, const void *alpha, const void *beta, void *temporary,
                             const void *C, void *D, cudaStream_t stream) {
    const bool is_on_device = p->desc->pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    wpi_lt_epilogue e = {.m = p->m,
                         .n = p->n,
                         .batch = p->batch,
                         .sum = {.data = temporary,
                                 .type = p->types->sum,
                                 .row = 1,
                                 .column = p->m,
                                 .stride = (long long)p->m * p->n},
                         .c = matrix_of(p->c, C),
                         .d = matrix_of(p->d, D),
                         .bias = p->has_bias ? p->desc->bias : NULL,
                         .bias_type = bias_type(p),
                         .bias_stride = p->desc->bias_stride,
                         .activation = p->activation,
                         .scale_type = p->types->scale};
    if (is_on_device) {
        e.alpha = alpha;
        e.beta = beta;
    } else {
        e.alpha_value = factor_of(p, alpha);
        e.beta_value = factor_of(p, beta);
    }
    return status_of(wpi_lt_finish(stream, &e));
}

WP_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc,
                                     const void *alpha, const void *A, cublasLtMatrixLayout_t Adesc,
                                     const void *B, cublasLtMatrixLayout_t Bdesc, const void *beta,
                                     const void *C, cublasLtMatrixLayout_t Cdesc, void *D,
                                     cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t *algo,
                                     void *workspace, size_t workspaceSizeInBytes,
                                     cudaStream_t stream) {
    cublasHandle_t blas = blas_of(lightHandle);
    plan p;
    (void)algo; /* there is one */
    cublasStatus_t status = make_plan(&p, computeDesc, Adesc, Bdesc, Cdesc, Ddesc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (alpha == NULL || beta == NULL || D == NULL || (p.has_bias && p.desc->bias == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (p.is_direct && (C == D || C == NULL))
        return multiply(blas, &p, (cublasPointerMode_t)p.desc->pointer_mode, alpha, A, B, beta, D,
                        p.types->d, (int)p.d->ld, p.d->batch_stride, stream);
    if (p.temporary_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    void *temporary = workspace;
    const bool is_own = workspace == NULL || workspaceSizeInBytes < p.temporary_bytes;
    if (is_own) status = status_of(cudaMallocAsync(&temporary, p.temporary_bytes, stream));
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    status = sum(blas, &p, A, B, temporary, stream);
    if (status == CUBLAS_STATUS_SUCCESS) status = finish(&p, alpha, beta, temporary, C, D, stream);
    if (is_own) {
        const cublasStatus_t freed = status_of(cudaFreeAsync(temporary, stream));
        if (status == CUBLAS_STATUS_SUCCESS) status = freed;
    }
    return status;
}

/* ---- algorithms ---- */

static void describe(const plan *p, uint64_t workspace_max, cublasLtMatmulHeuristicResult_t *r) {
    memset(r, 0, sizeof *r);
    r->state = CUBLAS_STATUS_SUCCESS;
    r->wavesCount = 1;
    if (!p->is_direct && p->temporary_bytes <= workspace_max) r->workspaceSize = p->temporary_bytes;
}

WP_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    cublasLtMatmulPreference_t preference, int requestedAlgoCount,
    cublasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount) {
    (void)lightHandle;
    plan p;
    if (requestedAlgoCount <= 0 || heuristicResultsArray == NULL || returnAlgoCount == NULL ||
        preference == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returnAlgoCount = 0;
    const cublasStatus_t status = make_plan(&p, operationDesc, Adesc, Bdesc, Cdesc, Ddesc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const wpi_lt_preference *wanted = (const wpi_lt_preference *)(const void *)preference;
    describe(&p, wanted->workspace_bytes, heuristicResultsArray);
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t lightHandle,
                                               cublasComputeType_t computeType,
                                               cudaDataType scaleType, cudaDataType Atype,
                                               cudaDataType Btype, cudaDataType Ctype,
                                               cudaDataType Dtype, int requestedAlgoCount,
                                               int algoIdsArray[], int *returnAlgoCount) {
    (void)lightHandle;
    const wpi_lt_desc desc = {.scale_type = (int32_t)scaleType};
    if (requestedAlgoCount <= 0 || algoIdsArray == NULL || returnAlgoCount == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returnAlgoCount = 0;
    if (Atype != Btype || Ctype != Dtype || find_types(&desc, computeType, Atype, Dtype) == NULL)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    algoIdsArray[0] = 0;
    *returnAlgoCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t lightHandle,
                                             cublasComputeType_t computeType,
                                             cudaDataType scaleType, cudaDataType Atype,
                                             cudaDataType Btype, cudaDataType Ctype,
                                             cudaDataType Dtype, int algoId,
                                             cublasLtMatmulAlgo_t *algo) {
    int id, count;
    if (algo == NULL || algoId != 0) return CUBLAS_STATUS_INVALID_VALUE;
    memset(algo, 0, sizeof *algo);
    return cublasLtMatmulAlgoGetIds(lightHandle, computeType, scaleType, Atype, Btype, Ctype, Dtype,
                                    1, &id, &count);
}

WP_API cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc, cublasLtMatrixLayout_t Adesc,
    cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result) {
    (void)lightHandle;
    plan p;
    if (algo == NULL || result == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = make_plan(&p, operationDesc, Adesc, Bdesc, Cdesc, Ddesc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    describe(&p, UINT64_MAX, result);
    result->algo = *algo;
    return CUBLAS_STATUS_SUCCESS;
}
