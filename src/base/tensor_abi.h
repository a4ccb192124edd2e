/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The 128 bytes of a CUtensorMap. CUDA leaves their meaning open: here they are this structure, as
 * written by cuTensorMapEncodeTiled and read by tensor copies in kernels.
 */
#ifndef WP_BASE_TENSOR_ABI_H
#define WP_BASE_TENSOR_ABI_H

#include <stdint.h>

#define WP_TENSOR_RANK_MAX 5
#define WP_TENSOR_BOX_MAX 256
#define WP_TENSOR_MARK UINT32_C(0x50414d54) /* "TMAP" */

/** CUtensorMapDataType's values. */
typedef enum wp_tensor_type {
    WP_TENSOR_U8 = 0,
    WP_TENSOR_U16,
    WP_TENSOR_U32,
    WP_TENSOR_S32,
    WP_TENSOR_U64,
    WP_TENSOR_S64,
    WP_TENSOR_F16,
    WP_TENSOR_F32,
    WP_TENSOR_F64,
    WP_TENSOR_BF16,
    WP_TENSOR_F32_FTZ,
    WP_TENSOR_TF32,
    WP_TENSOR_TF32_FTZ,
    WP_TENSOR_TYPE_COUNT /* must be last */
} wp_tensor_type;

typedef struct wp_tensor_map {
    uint32_t mark;
    uint8_t type; /* wp_tensor_type */
    uint8_t rank;
    uint8_t swizzle_bits;                    /* of the address that change: 0 to 3 */
    uint8_t fills_nan;                       /* elements outside the tensor are NaN; else 0 */
    uint64_t address;                        /* of element (0, 0, …) */
    uint64_t dimensions[WP_TENSOR_RANK_MAX]; /* elements; 1 beyond the rank */
    uint64_t strides_bytes[WP_TENSOR_RANK_MAX - 1]; /* of dimension 1 and up */
    uint16_t box[WP_TENSOR_RANK_MAX];               /* elements; 1 beyond the rank */
    uint8_t steps[WP_TENSOR_RANK_MAX];              /* in elements; of dimension 0 always 1 */
    uint8_t unused[25];
} wp_tensor_map;

_Static_assert(sizeof(wp_tensor_map) == 128, "a CUtensorMap");

static inline uint32_t wpi_tensor_element_bytes(uint32_t type) {
    switch (type) {
    case WP_TENSOR_U8: return 1;
    case WP_TENSOR_U16:
    case WP_TENSOR_F16:
    case WP_TENSOR_BF16: return 2;
    case WP_TENSOR_U64:
    case WP_TENSOR_S64:
    case WP_TENSOR_F64: return 8;
    default: return 4;
    }
}

static inline uint32_t wpi_tensor_is_float(uint32_t type) {
    return type >= WP_TENSOR_F16 && type < WP_TENSOR_TYPE_COUNT;
}

#endif
