/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublasLt
/* cublasLtMatrixTransform: sums, transposes, orders, types and batches against loops in double; where factors are; what
 * an algorithm can; statuses. */
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_##status)

static uint32_t state = 362436069u;
static cublasLtHandle_t handle;

template <typename T> struct type;
template <> struct type<float> { static constexpr cudaDataType name = CUDA_R_32F; };
template <> struct type<double> { static constexpr cudaDataType name = CUDA_R_64F; };
template <> struct type<__half> { static constexpr cudaDataType name = CUDA_R_16F; };
template <> struct type<__nv_bfloat16> { static constexpr cudaDataType name = CUDA_R_16BF; };
template <> struct type<int> { static constexpr cudaDataType name = CUDA_R_32I; };
template <> struct type<signed char> { static constexpr cudaDataType name = CUDA_R_8I; };

/* Small whole numbers, which all types hold; results too, but for the sums of halves. */
template <typename T> struct matrix {
    T *data;
    int rows, cols, ld, batch;
    bool is_by_rows;
    long long stride;
    cublasLtMatrixLayout_t layout = nullptr;
    matrix(int m, int n, int count, bool by_rows)
        : rows(m), cols(n), ld((by_rows ? n : m) + 3), batch(count), is_by_rows(by_rows), stride((long long)ld * (by_rows ? m : n) + 5) {
        data = check_managed<T>(stride * batch);
        for (long long i = 0; i < stride * batch; i++)
            data[i] = (T)(float)((int)(check_random(&state) % 13) - 6);
        const cublasLtOrder_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        OK(cublasLtMatrixLayoutCreate(&layout, type<T>::name, m, n, ld));
        OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
        OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
        OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    }
    matrix(const matrix &) = delete;
    ~matrix() {
        OK(cublasLtMatrixLayoutDestroy(layout));
        CUDA_OK(cudaFree(data));
    }
    double at(int i, int j, int b) const { return (double)(float)data[b * stride + (is_by_rows ? (long long)i * ld + j : i + (long long)j * ld)]; }
    double op(bool is_turned, int i, int j, int b) const { return is_turned ? at(j, i, b) : at(i, j, b); }
};

template <typename S, typename A, typename B, typename C> void check_transform(int m, int n, int batch, int forms) {
    const bool turns_a = forms & 1, turns_b = forms & 2, is_on_device = forms & 32;
    const matrix<A> a(turns_a ? n : m, turns_a ? m : n, batch, forms & 4);
    const matrix<B> b(turns_b ? n : m, turns_b ? m : n, batch, forms & 8);
    const matrix<C> c(m, n, batch, forms & 16), kept(m, n, batch, forms & 16);
    S *factors = check_managed<S>(2);
    factors[0] = (S)2, factors[1] = (S)-3;
    cublasLtMatrixTransformDesc_t desc;
    const cublasOperation_t turned = CUBLAS_OP_T;
    const cublasLtPointerMode_t mode = CUBLASLT_POINTER_MODE_DEVICE;
    OK(cublasLtMatrixTransformDescCreate(&desc, type<S>::name));
    if (turns_a) OK(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &turned, sizeof turned));
    if (turns_b) OK(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &turned, sizeof turned));
    if (is_on_device) OK(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, &mode, sizeof mode));
    OK(cublasLtMatrixTransform(handle, desc, factors, a.data, a.layout, factors + 1, b.data, b.layout, c.data, c.layout, nullptr));
    OK(cublasLtMatrixTransform(handle, desc, factors, a.data, a.layout, factors + 1, nullptr, nullptr, kept.data, kept.layout, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
    for (int k = 0; k < batch; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                const double one = 2 * a.op(turns_a, i, j, k);
                CHECK_EQ(c.at(i, j, k), one - 3 * b.op(turns_b, i, j, k));
                CHECK_EQ(kept.at(i, j, k), one);
            }
    OK(cublasLtMatrixTransformDescDestroy(desc));
    CUDA_OK(cudaFree(factors));
}

static void check_capabilities() {
    cublasLtMatmulAlgo_t algo = {};
    uint32_t tiles[4] = {9, 9, 9, 9}, mask = 0;
    int32_t has_batches = 0, has_splits = 5;
    uint64_t flags = 7;
    size_t bytes = 0;
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0, &bytes));
    CHECK_EQ(bytes, sizeof *tiles);
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &bytes));
    CHECK_EQ(bytes, sizeof *tiles);
    CHECK_EQ(tiles[0], 0u);
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, &has_batches, sizeof has_batches, nullptr));
    CHECK_EQ(has_batches, 1);
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, &has_splits, sizeof has_splits, nullptr));
    CHECK_EQ(has_splits, 0);
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_EPILOGUE_MASK, &mask, sizeof mask, nullptr));
    CHECK((mask & CUBLASLT_EPILOGUE_BIAS) != 0);
    OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &bytes));
    CHECK_EQ(bytes, sizeof flags);
    IS(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, 4, &bytes), INVALID_VALUE);
    IS(cublasLtMatmulAlgoCapGetAttribute(&algo, (cublasLtMatmulAlgoCapAttributes_t)99, &flags, 8, &bytes), INVALID_VALUE);
}

static void check_statuses() {
    const matrix<float> a(3, 4, 1, false), c(3, 4, 1, false), other(4, 3, 1, false), tiled(3, 4, 1, false);
    const float one = 1;
    const cublasLtOrder_t order = CUBLASLT_ORDER_COL32;
    cublasLtMatrixTransformDescOpaque_t own;
    cublasDataType_t scale = CUDA_R_8I;
    size_t bytes = 0;
    OK(cublasLtMatrixTransformDescInit(&own, CUDA_R_32F));
    OK(cublasLtMatrixTransformDescGetAttribute(&own, CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, &scale, sizeof scale, &bytes));
    CHECK_EQ((int)scale, (int)CUDA_R_32F);
    IS(cublasLtMatrixTransformDescSetAttribute(&own, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &one, 1), INVALID_VALUE);
    IS(cublasLtMatrixTransform(handle, &own, &one, a.data, a.layout, &one, nullptr, nullptr, c.data, other.layout, nullptr), INVALID_VALUE);
    IS(cublasLtMatrixTransform(nullptr, &own, &one, a.data, a.layout, &one, nullptr, nullptr, c.data, c.layout, nullptr), NOT_INITIALIZED);
    OK(cublasLtMatrixLayoutSetAttribute(tiled.layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    IS(cublasLtMatrixTransform(handle, &own, &one, a.data, a.layout, &one, nullptr, nullptr, c.data, tiled.layout, nullptr), NOT_SUPPORTED);
}

int main() {
    OK(cublasLtCreate(&handle));
    for (int forms = 0; forms < 64; forms++)
        check_transform<float, float, float, float>(5, 7, 1 + forms % 2, forms);
    for (int forms : {0, 3, 21, 40}) {
        check_transform<double, double, double, double>(9, 4, 2, forms);
        check_transform<float, __half, __half, __half>(9, 4, 2, forms);
        check_transform<float, __nv_bfloat16, float, float>(4, 9, 2, forms);
        check_transform<float, signed char, signed char, float>(4, 9, 1, forms);
        check_transform<float, signed char, int, signed char>(4, 9, 1, forms);
        check_transform<int, int, int, int>(6, 6, 3, forms);
    }
    check_capabilities();
    check_statuses();
    OK(cublasLtDestroy(handle));
    return check_done();
}
