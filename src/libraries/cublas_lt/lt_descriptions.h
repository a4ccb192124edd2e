/* SPDX-License-Identifier: Apache-2.0 */
/** What is behind cuBLASLt's opaque structures. */
#ifndef WP_LIBRARIES_LT_DESCRIPTIONS_H
#define WP_LIBRARIES_LT_DESCRIPTIONS_H

#include "warpage/cuda/cublasLt.h"

typedef struct wpi_lt_layout {
    uint32_t type;
    int32_t order;
    uint64_t rows, cols;
    int64_t ld;
    int32_t batch_count;
    int64_t batch_stride, plane_offset; /* elements */
} wpi_lt_layout;

typedef struct wpi_lt_desc {
    int32_t compute_type, scale_type, pointer_mode, transa, transb, transc, fill_mode;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    void *aux;
    int64_t aux_ld, aux_stride, alpha_stride;
    int32_t sm_count, bias_type, aux_type;
    int8_t fast_accum;
    const void *a_scale, *b_scale, *c_scale, *d_scale, *aux_scale; /* of FP8, which is not there */
    void *d_amax, *aux_amax;
} wpi_lt_desc;

typedef struct wpi_lt_preference {
    uint32_t search_mode, reduction_mask;
    uint64_t workspace_bytes, implementation_mask;
    uint32_t a_align, b_align, c_align, d_align;
    float waves;
} wpi_lt_preference;

_Static_assert(sizeof(wpi_lt_layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "it must fit");
_Static_assert(sizeof(wpi_lt_desc) <= sizeof(cublasLtMatmulDescOpaque_t), "it must fit");
_Static_assert(sizeof(wpi_lt_preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "…");

static inline const wpi_lt_layout *wpi_lt_layout_of(cublasLtMatrixLayout_t layout) {
    return (const wpi_lt_layout *)(const void *)layout;
}
static inline const wpi_lt_desc *wpi_lt_desc_of(cublasLtMatmulDesc_t desc) {
    return (const wpi_lt_desc *)(const void *)desc;
}

#endif
