/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcupti.so for programs that ask for its version at start, as JAX does. No profiler is behind
 * it: `warpage run --timeline` and reports take its place.
 */
#include <stddef.h>
#include <stdint.h>

#include "libraries/cuda_library.h"
#include "warpage/error.h"

typedef enum CUptiResult {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_NOT_SUPPORTED = 27,
} CUptiResult;

#define VERSION 24u /* of CUDA 12.5 to 12.8 */

WP_API CUptiResult cuptiGetVersion(uint32_t *version);
WP_API CUptiResult cuptiGetVersion(uint32_t *version) {
    if (version == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    *version = VERSION;
    return CUPTI_SUCCESS;
}

WP_API CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
WP_API CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    if (text == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    *text = result == CUPTI_SUCCESS               ? "CUPTI_SUCCESS"
            : result == CUPTI_ERROR_NOT_SUPPORTED ? "CUPTI_ERROR_NOT_SUPPORTED"
                                                  : "CUPTI_ERROR_INVALID_PARAMETER";
    return CUPTI_SUCCESS;
}

#define MISSING(name) WPI_LIBRARY_MISSING("cupti", CUptiResult, CUPTI_ERROR_NOT_SUPPORTED, name)
MISSING(cuptiSubscribe)
MISSING(cuptiSubscribe_v2)
MISSING(cuptiActivityEnable)
MISSING(cuptiActivityRegisterCallbacks)
