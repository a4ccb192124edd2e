// FLAGS: -lcublasLt -lcublas
/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLASLt's product against loops in double: types, epilogues, orders, batches, pointer modes; statuses. */
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

#define LT_OK(call) CHECK_EQ((int)(call), CUBLAS_STATUS_SUCCESS)
#define LT_IS(call, status) CHECK_EQ((int)(call), (int)(status))

static size_t bytes_of(cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_8I: return 1;
    default: return 2;
    }
}

static double get(const void *data, cudaDataType type, size_t i)
{
    switch (type) {
    case CUDA_R_64F: return ((const double *)data)[i];
    case CUDA_R_32F: return ((const float *)data)[i];
    case CUDA_R_32I: return ((const int *)data)[i];
    case CUDA_R_8I: return ((const signed char *)data)[i];
    case CUDA_R_16F: return __half2float(((const __half *)data)[i]);
    default: return __bfloat162float(((const __nv_bfloat16 *)data)[i]);
    }
}

static void put(void *data, cudaDataType type, size_t i, double value)
{
    switch (type) {
    case CUDA_R_64F: ((double *)data)[i] = value; break;
    case CUDA_R_32F: ((float *)data)[i] = (float)value; break;
    case CUDA_R_32I: ((int *)data)[i] = (int)value; break;
    case CUDA_R_8I: ((signed char *)data)[i] = (signed char)value; break;
    case CUDA_R_16F: ((__half *)data)[i] = __float2half((float)value); break;
    default: ((__nv_bfloat16 *)data)[i] = __float2bfloat16((float)value); break;
    }
}

struct types {
    cudaDataType ab, d, scale;
    cublasComputeType_t compute;
    double tolerance; /* relative to the largest sum */
};

struct shape {
    int m, n, k, batch;
    cublasOperation_t a, b;
    cublasLtOrder_t a_order, b_order, d_order;
    bool is_apart; /* C is another matrix than D */
    bool is_on_device; /* alpha and beta are */
    cublasLtEpilogue_t epilogue;
};

static uint32_t state = 2463534242u;
static cublasLtHandle_t handle;

/* rows x cols elements with a distance of lines beyond the least; whole numbers where the type is */
struct matrix {
    void *data;
    cudaDataType type;
    cublasLtOrder_t order;
    int rows, cols, ld;
    long long stride;
    cublasLtMatrixLayout_t layout;

    size_t at(int b, int i, int j) const
    {
        return b * stride + (order == CUBLASLT_ORDER_ROW ? (size_t)i * ld + j : (size_t)j * ld + i);
    }
    void make(cudaDataType t, cublasLtOrder_t o, int r, int c, int batch)
    {
        type = t, order = o, rows = r, cols = c;
        ld = (o == CUBLASLT_ORDER_ROW ? c : r) + 3;
        stride = (long long)ld * (o == CUBLASLT_ORDER_ROW ? r : c) + 5;
        data = check_managed<char>(stride * batch * bytes_of(t));
        const bool is_whole = t == CUDA_R_8I || t == CUDA_R_32I;
        for (long long i = 0; i < stride * batch; i++) {
            const int x = (int)(check_random(&state) % 41) - 20;
            put(data, t, i, is_whole ? x : x / 16.0);
        }
        LT_OK(cublasLtMatrixLayoutCreate(&layout, t, r, c, ld));
        LT_OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &o, sizeof o));
        LT_OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
        LT_OK(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride));
    }
    void end()
    {
        LT_OK(cublasLtMatrixLayoutDestroy(layout));
        CUDA_OK(cudaFree(data));
    }
};

static double activate(double x, cublasLtEpilogue_t epilogue)
{
    if (epilogue & CUBLASLT_EPILOGUE_RELU) return x > 0 ? x : 0;
    if (epilogue & CUBLASLT_EPILOGUE_GELU) return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}

static void test(types t, shape s)
{
    matrix a, b, c, d;
    const bool ta = s.a != CUBLAS_OP_N, tb = s.b != CUBLAS_OP_N;
    a.make(t.ab, s.a_order, ta ? s.k : s.m, ta ? s.m : s.k, s.batch);
    b.make(t.ab, s.b_order, tb ? s.n : s.k, tb ? s.k : s.n, s.batch);
    c.make(t.d, s.d_order, s.m, s.n, s.batch);
    d.make(t.d, s.d_order, s.m, s.n, s.batch);
    const bool is_whole = t.scale == CUDA_R_32I;
    const double alpha = is_whole ? 2 : t.d == CUDA_R_8I ? 0.0625 : 1.5, beta = is_whole ? -1 : 0.5;
    void *factors = check_managed<double>(4);
    put(factors, t.scale, 0, alpha);
    put(factors, t.scale, 1, beta);
    const cudaDataType bias_type = t.d == CUDA_R_8I ? CUDA_R_32F : t.d;
    void *bias = check_managed<double>(s.m);
    for (int i = 0; i < s.m; i++)
        put(bias, bias_type, i, (int)(check_random(&state) % 9) - 4);

    cublasLtMatmulDesc_t desc;
    LT_OK(cublasLtMatmulDescCreate(&desc, t.compute, t.scale));
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &s.a, sizeof s.a));
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &s.b, sizeof s.b));
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &s.epilogue, sizeof s.epilogue));
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    cublasLtPointerMode_t mode = s.is_on_device ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode));
    cublasLtMatmulPreference_t preference;
    LT_OK(cublasLtMatmulPreferenceCreate(&preference));
    size_t workspace_bytes = 1 << 20;
    LT_OK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                               sizeof workspace_bytes));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    matrix &from = s.is_apart ? c : d;
    LT_OK(cublasLtMatmulAlgoGetHeuristic(handle, desc, a.layout, b.layout, from.layout, d.layout, preference, 1, &found,
                                         &count));
    CHECK_EQ(count, 1);
    CHECK(found.workspaceSize <= workspace_bytes);

    double *expected = (double *)malloc(sizeof(double) * s.batch * s.m * s.n), largest = 1;
    for (int x = 0; x < s.batch; x++)
        for (int i = 0; i < s.m; i++)
            for (int j = 0; j < s.n; j++) {
                double sum = 0;
                for (int l = 0; l < s.k; l++)
                    sum += get(a.data, t.ab, ta ? a.at(x, l, i) : a.at(x, i, l)) *
                           get(b.data, t.ab, tb ? b.at(x, j, l) : b.at(x, l, j));
                double value = alpha * sum + beta * get(from.data, t.d, from.at(x, i, j));
                if (s.epilogue & CUBLASLT_EPILOGUE_BIAS) value += get(bias, bias_type, i);
                value = activate(value, s.epilogue);
                if (t.d == CUDA_R_8I) value = rint(value < -128 ? -128 : value > 127 ? 127 : value);
                if (fabs(value) > largest) largest = fabs(value);
                expected[((size_t)x * s.m + i) * s.n + j] = value;
            }
    void *workspace = NULL;
    if (found.workspaceSize != 0 && s.m % 2 == 0) CUDA_OK(cudaMalloc(&workspace, found.workspaceSize));
    LT_OK(cublasLtMatmul(handle, desc, factors, a.data, a.layout, b.data, b.layout, (char *)factors + bytes_of(t.scale),
                         from.data, from.layout, d.data, d.layout, &found.algo, workspace,
                         workspace ? found.workspaceSize : 0, 0));
    CUDA_OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int x = 0; x < s.batch; x++)
        for (int i = 0; i < s.m; i++)
            for (int j = 0; j < s.n; j++) {
                const double got = get(d.data, t.d, d.at(x, i, j)), want = expected[((size_t)x * s.m + i) * s.n + j];
                if (fabs(got - want) <= t.tolerance * largest) continue;
                if (wrong++ == 0)
                    printf("types %d -> %d, epilogue %d, (%d, %d): expected %.9g, got %.9g\n", t.ab, t.d, s.epilogue, i, j,
                           want, got);
            }
    CHECK_EQ(wrong, 0);
    free(expected);
    CUDA_OK(cudaFree(workspace));
    CUDA_OK(cudaFree(factors));
    CUDA_OK(cudaFree(bias));
    a.end(), b.end(), c.end(), d.end();
    LT_OK(cublasLtMatmulPreferenceDestroy(preference));
    LT_OK(cublasLtMatmulDescDestroy(desc));
}

static void test_statuses(void)
{
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b;
    float one = 1, *data = check_managed<float>(64);
    LT_OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    LT_OK(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, 4, 4, 4));
    LT_OK(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, 5, 4, 5));
    LT_IS(cublasLtMatmul(handle, desc, &one, data, a, data, b, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_INVALID_VALUE);
    LT_IS(cublasLtMatmul(handle, desc, NULL, data, a, data, a, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_INVALID_VALUE);
    LT_IS(cublasLtMatmul(NULL, desc, &one, data, a, data, a, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_NOT_INITIALIZED);
    int epilogue = CUBLASLT_EPILOGUE_DGELU, small = 3;
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    LT_IS(cublasLtMatmul(handle, desc, &one, data, a, data, a, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_NOT_SUPPORTED);
    epilogue = CUBLASLT_EPILOGUE_BIAS; /* without a pointer */
    LT_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    LT_IS(cublasLtMatmul(handle, desc, &one, data, a, data, a, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_INVALID_VALUE);
    LT_IS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 1), CUBLAS_STATUS_INVALID_VALUE);
    LT_IS(cublasLtMatmulDescSetAttribute(desc, (cublasLtMatmulDescAttributes_t)999, &epilogue, 4),
          CUBLAS_STATUS_INVALID_VALUE);
    size_t bytes = 0;
    int read = 0;
    LT_OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &read, sizeof read, &bytes));
    CHECK_EQ(read, CUBLASLT_EPILOGUE_BIAS);
    CHECK_EQ(bytes, sizeof read);
    cublasLtOrder_t order = CUBLASLT_ORDER_COL32;
    LT_OK(cublasLtMatrixLayoutSetAttribute(a, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    LT_IS(cublasLtMatmul(handle, desc, &one, data, a, data, a, &one, data, a, data, a, NULL, NULL, 0, 0),
          CUBLAS_STATUS_NOT_SUPPORTED);
    cublasLtMatmulAlgo_t algo;
    LT_OK(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0,
                                 &algo));
    LT_OK(cublasLtMatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &small, sizeof small));
    LT_OK(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &read, sizeof read, NULL));
    CHECK_EQ(read, 3);
    LT_OK(cublasLtMatrixLayoutDestroy(a));
    LT_OK(cublasLtMatrixLayoutDestroy(b));
    LT_OK(cublasLtMatmulDescDestroy(desc));
    CUDA_OK(cudaFree(data));
    /* A handle of cuBLAS is one of cuBLASLt. */
    cublasHandle_t blas;
    LT_OK(cublasCreate(&blas));
    cublasLtHandle_t own = handle;
    handle = (cublasLtHandle_t)blas;
    test({CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5},
         {5, 6, 7, 1, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, CUBLASLT_ORDER_COL, false, false,
          CUBLASLT_EPILOGUE_DEFAULT});
    handle = own;
    LT_OK(cublasDestroy(blas));
}

int main(void)
{
    const types all[] = {{CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5},
                         {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 2e-3},
                         {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1e-12},
                         {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-3},
                         {CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5},
                         {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 8e-3},
                         {CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5},
                         {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 4e-3},
                         {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0},
                         {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, 0}};
    const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS,
                                            CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU,
                                            CUBLASLT_EPILOGUE_GELU_BIAS};
    const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};
    LT_OK(cublasLtCreate(&handle));
    CHECK(cublasLtGetVersion() >= 120000);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int e = 0; e < 6; e++) {
            const uint32_t r = check_random(&state);
            const bool is_whole = all[i].d == CUDA_R_8I || all[i].d == CUDA_R_32I;
            if (is_whole && (epilogues[e] & CUBLASLT_EPILOGUE_GELU)) continue; /* may be rounded either way, or is refused */
            test(all[i], {(int)(8 + r % 29), (int)(4 + r / 32 % 23), (int)(3 + r / 1024 % 40), 1 + (int)(e % 3), ops[r >> 20 & 1],
                          ops[r >> 21 & 1], (cublasLtOrder_t)(r >> 22 & 1), (cublasLtOrder_t)(r >> 23 & 1),
                          (cublasLtOrder_t)(r >> 24 & 1), (r >> 25 & 1) != 0, (r >> 26 & 1) != 0, epilogues[e]});
        }
    test_statuses();
    LT_OK(cublasLtDestroy(handle));
    return check_done();
}
