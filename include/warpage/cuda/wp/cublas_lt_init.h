/* SPDX-License-Identifier: Apache-2.0 */
/** cuBLASLt's descriptions in the program's own memory. C++ only, as in CUDA. */
#ifndef WARPAGE_CUDA_WP_CUBLAS_LT_INIT_H
#define WARPAGE_CUDA_WP_CUBLAS_LT_INIT_H

static inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t matLayout,
                                                      cudaDataType type, uint64_t rows,
                                                      uint64_t cols, int64_t ld) {
    return cublasLtMatrixLayoutInit_internal(matLayout, sizeof(*matLayout), type, rows, cols, ld);
}
static inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t matmulDesc,
                                                    cublasComputeType_t computeType,
                                                    cudaDataType scaleType) {
    return cublasLtMatmulDescInit_internal(matmulDesc, sizeof(*matmulDesc), computeType, scaleType);
}
static inline cublasStatus_t
cublasLtMatrixTransformDescInit(cublasLtMatrixTransformDesc_t transformDesc,
                                cudaDataType scaleType) {
    return cublasLtMatrixTransformDescInit_internal(transformDesc, sizeof(*transformDesc),
                                                    scaleType);
}
static inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t pref) {
    return cublasLtMatmulPreferenceInit_internal(pref, sizeof(*pref));
}

#endif
