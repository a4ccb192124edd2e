/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of tensors for copies by kernels (base/tensor_abi.h). */
#include <string.h>

#include "base/log.h"
#include "base/tensor_abi.h"
#include "cudart/driver/driver.h"
#include "cudart/unsupported.h"

_Static_assert(sizeof(CUtensorMap) == sizeof(wp_tensor_map), "layout");

enum { MAP_ALIGN = 64, GLOBAL_ALIGN = 16, STEP_MAX = 8 };
#define DIMENSION_MAX (UINT64_C(1) << 32)
#define STRIDE_LIMIT (UINT64_C(1) << 40)

static bool is_aligned(uint64_t value, uint64_t to) {
    return value % to == 0;
}

static CUresult refuse(const char *what) {
    wpi_log(WP_LOG_WARN, "cuda", "cuTensorMapEncodeTiled: %s (CUDA_ERROR_INVALID_VALUE)", what);
    return CUDA_ERROR_INVALID_VALUE;
}

static const char *fault_in_dimensions(uint32_t rank, uint32_t element_bytes,
                                       const cuuint64_t *dimensions, const cuuint64_t *strides,
                                       const cuuint32_t *box, const cuuint32_t *steps) {
    for (uint32_t i = 0; i < rank; i++) {
        if (dimensions[i] == 0 || dimensions[i] > DIMENSION_MAX)
            return "a dimension is not 1 to 2^32";
        if (i > 0 && (!is_aligned(strides[i - 1], GLOBAL_ALIGN) || strides[i - 1] >= STRIDE_LIMIT))
            return "a stride is not a multiple of 16 bytes below 2^40";
        if (box[i] == 0 || box[i] > WP_TENSOR_BOX_MAX)
            return "a dimension of the box is not 1 to 256";
        if (steps[i] == 0 || steps[i] > STEP_MAX) return "an element stride is not 1 to 8";
    }
    return is_aligned((uint64_t)box[0] * element_bytes, GLOBAL_ALIGN)
               ? NULL
               : "the first dimension of the box is not a multiple of 16 bytes";
}

WP_API CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                       cuuint32_t tensorRank, void *globalAddress,
                                       const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                       const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion l2Promotion,
                                       CUtensorMapFloatOOBfill oobFill) {
    static atomic_bool is_said, is_said_interleave;
    const uint32_t type = (uint32_t)tensorDataType;
    if (strncmp(wpi_device_spec(), "cuda", 4) == 0)
        return (CUresult)wpi_unsupported("cuTensorMapEncodeTiled on a GPU", &is_said);
    if (tensorMap == NULL || !is_aligned((uintptr_t)tensorMap, MAP_ALIGN))
        return refuse("the map is not aligned to 64 bytes");
    if (type >= WP_TENSOR_TYPE_COUNT) return refuse("unknown element type");
    if (tensorRank == 0 || tensorRank > WP_TENSOR_RANK_MAX) return refuse("the rank is not 1 to 5");
    if ((unsigned)interleave > CU_TENSOR_MAP_INTERLEAVE_32B) return refuse("unknown interleave");
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return (CUresult)wpi_unsupported(
            "cuTensorMapEncodeTiled with an interleave of 16 or 32 bytes", &is_said_interleave);
    if ((unsigned)swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return refuse("unknown swizzle");
    if ((unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return refuse("unknown L2 promotion");
    if ((unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return refuse("unknown fill");
    const bool fills_nan = oobFill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    if (fills_nan && !wpi_tensor_is_float(type))
        return refuse("only elements of a floating-point type can be NaN");
    if (globalAddress == NULL || !is_aligned((uintptr_t)globalAddress, GLOBAL_ALIGN))
        return refuse("the tensor is not aligned to 16 bytes");
    if (globalDim == NULL || (globalStrides == NULL && tensorRank > 1) || boxDim == NULL ||
        elementStrides == NULL)
        return refuse("an array is missing");
    const uint32_t element_bytes = wpi_tensor_element_bytes(type);
    const char *fault = fault_in_dimensions(tensorRank, element_bytes, globalDim, globalStrides,
                                            boxDim, elementStrides);
    if (fault != NULL) return refuse(fault);
    const uint32_t swizzle_bits = (uint32_t)swizzle;
    if (swizzle_bits > 0 && boxDim[0] * element_bytes > 16u << swizzle_bits)
        return refuse("the first dimension of the box is wider than the swizzle");

    wp_tensor_map map = {.mark = WP_TENSOR_MARK,
                         .type = (uint8_t)type,
                         .rank = (uint8_t)tensorRank,
                         .swizzle_bits = (uint8_t)swizzle_bits,
                         .fills_nan = fills_nan,
                         .address = (uintptr_t)globalAddress};
    for (uint32_t i = 0; i < WP_TENSOR_RANK_MAX; i++) {
        const bool is_there = i < tensorRank;
        map.dimensions[i] = is_there ? globalDim[i] : 1;
        map.box[i] = is_there ? (uint16_t)boxDim[i] : 1;
        map.steps[i] = is_there && i > 0 ? (uint8_t)elementStrides[i] : 1; /* CUDA ignores [0] */
        if (is_there && i > 0) map.strides_bytes[i - 1] = globalStrides[i - 1];
    }
    memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
}

WP_API CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
    static atomic_bool is_said;
    if (strncmp(wpi_device_spec(), "cuda", 4) == 0)
        return (CUresult)wpi_unsupported("cuTensorMapReplaceAddress on a GPU", &is_said);
    wp_tensor_map map;
    if (tensorMap == NULL || globalAddress == NULL ||
        !is_aligned((uintptr_t)globalAddress, GLOBAL_ALIGN))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, tensorMap, sizeof map);
    if (map.mark != WP_TENSOR_MARK) return CUDA_ERROR_INVALID_VALUE;
    map.address = (uintptr_t)globalAddress;
    memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
}
