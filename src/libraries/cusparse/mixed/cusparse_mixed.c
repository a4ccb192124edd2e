/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cusparse/mixed/cusparse_mixed.h"

bool wpi_cusparse_is_mix(const wpi_cusparse_types *types, wpi_sparse_mix *out) {
    static const wpi_cusparse_types rows[WPI_SPARSE_MIXES] = {
        [WPI_SPARSE_HALF] = {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F},
        [WPI_SPARSE_HALF_FLOAT] = {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F},
        [WPI_SPARSE_BFLOAT] = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F},
        [WPI_SPARSE_BFLOAT_FLOAT] = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F},
        [WPI_SPARSE_BYTE_INT] = {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I},
        [WPI_SPARSE_BYTE_FLOAT] = {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F},
        [WPI_SPARSE_FLOAT_DOUBLE] = {CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F}};
    for (int i = 0; i < WPI_SPARSE_MIXES; i++) {
        const wpi_cusparse_types *r = &rows[i];
        *out = (wpi_sparse_mix)i;
        if (types->a == r->a && types->b == r->b && types->c == r->c &&
            types->compute == r->compute)
            return true;
    }
    return false;
}

static bool has_wide_sums(wpi_sparse_mix mix) {
    return mix == WPI_SPARSE_FLOAT_DOUBLE;
}

size_t wpi_cusparse_mix_bytes(wpi_sparse_mix mix, const wpi_sparse_product *p) {
    if (!wpi_sparse_needs_sums(&p->a)) return 0;
    return (size_t)(p->rows * p->columns * p->batch) *
           (has_wide_sums(mix) ? sizeof(double) : sizeof(float));
}

static wpi_scalar factor(cusparseHandle_t handle, wpi_sparse_mix mix, const void *value) {
    if (handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE || mix != WPI_SPARSE_BYTE_INT)
        return wpi_cusparse_scalar(handle, has_wide_sums(mix) ? WPI_BLAS_D : WPI_BLAS_S, value);
    return (wpi_scalar){.re = *(const int *)value};
}

cusparseStatus_t wpi_cusparse_mix_product(cusparseHandle_t handle, wpi_sparse_mix mix,
                                          wpi_sparse_product *p, const void *alpha,
                                          const void *beta, void *buffer) {
    if (buffer == NULL && wpi_cusparse_mix_bytes(mix, p) != 0) return CUSPARSE_STATUS_INVALID_VALUE;
    p->alpha = factor(handle, mix, alpha);
    p->beta = factor(handle, mix, beta);
    return wpi_cusparse_status(wpi_sparse_mixed[mix].product(handle->stream, p, buffer));
}

cusparseStatus_t wpi_cusparse_mix_sampled(cusparseHandle_t handle, wpi_sparse_mix mix,
                                          wpi_sparse_sampled *s, const void *alpha,
                                          const void *beta) {
    s->alpha = factor(handle, mix, alpha);
    s->beta = factor(handle, mix, beta);
    return wpi_cusparse_status(wpi_sparse_mixed[mix].sampled(handle->stream, s));
}
