/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level 3: matrices. Each call is one product whose operands have a shape (blas_shared.h), or, for
 * equations, a sequence of solved blocks and products.
 */
#include "libraries/cublas/compute_type.h"
#include "libraries/cublas/cublas_handle.h"

static bool is_turned(cublasOperation_t op) {
    return op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

/* ---- general products ---- */

static cublasStatus_t gemm(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const void *alpha,
                           wpi_matrix a, wpi_matrix b, const void *beta, wpi_matrix c, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_op(transa) || !wpi_cublas_is_op(transb) || m < 0 || n < 0 || k < 0 ||
        batch < 0 || a.ld < wpi_at_least_1(is_turned(transa) ? k : m) ||
        b.ld < wpi_at_least_1(is_turned(transb) ? n : k) || c.ld < wpi_at_least_1(m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || beta == NULL || (c.data == NULL && c.array == NULL) ||
        (k > 0 && ((a.data == NULL && a.array == NULL) || (b.data == NULL && b.array == NULL))))
        return CUBLAS_STATUS_INVALID_VALUE;
    a.op = (wpi_op)transa;
    b.op = (wpi_op)transb;
    const wpi_product product = {.m = m,
                                 .n = n,
                                 .k = k,
                                 .batch = batch,
                                 .a = a,
                                 .b = b,
                                 .c = c,
                                 .alpha = wpi_cublas_scalar(handle, type, alpha),
                                 .beta = wpi_cublas_scalar(handle, type, beta)};
    return wpi_cublas_product(handle, type, &product);
}

static wpi_matrix plain(const void *data, int ld) {
    return wpi_cublas_matrix(data, ld, CUBLAS_OP_N);
}

static wpi_matrix strided(const void *data, int ld, long long stride) {
    wpi_matrix m = plain(data, ld);
    m.stride = stride;
    return m;
}

/* The cast: operands are never written. */
static wpi_matrix batched(const void *array, int ld) {
    return (wpi_matrix){.array = (void *const *)(uintptr_t)array, .ld = ld};
}

#define GEMM_CALLS(X, T, name_of_gemm, type)                                                       \
    WP_API cublasStatus_t name_of_gemm(cublasHandle_t handle, cublasOperation_t transa,            \
                                       cublasOperation_t transb, int m, int n, int k,              \
                                       const T *alpha, const T *A, int lda, const T *B, int ldb,   \
                                       const T *beta, T *C, int ldc) {                             \
        return gemm(handle, type, transa, transb, m, n, k, alpha, plain(A, lda), plain(B, ldb),    \
                    beta, plain(C, ldc), 1);                                                       \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##gemmBatched(                                                  \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *const A[], int lda, const T *const B[], int ldb,           \
        const T *beta, T *const C[], int ldc, int batchCount) {                                    \
        return gemm(handle, type, transa, transb, m, n, k, alpha, batched(A, lda),                 \
                    batched(B, ldb), beta, batched(C, ldc), batchCount);                           \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##gemmStridedBatched(                                           \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        int k, const T *alpha, const T *A, int lda, long long int strideA, const T *B, int ldb,    \
        long long int strideB, const T *beta, T *C, int ldc, long long int strideC,                \
        int batchCount) {                                                                          \
        return gemm(handle, type, transa, transb, m, n, k, alpha, strided(A, lda, strideA),        \
                    strided(B, ldb, strideB), beta, strided(C, ldc, strideC), batchCount);         \
    }

GEMM_CALLS(S, float, cublasSgemm_v2, WPI_BLAS_S)
GEMM_CALLS(D, double, cublasDgemm_v2, WPI_BLAS_D)
GEMM_CALLS(C, cuComplex, cublasCgemm_v2, WPI_BLAS_C)
GEMM_CALLS(Z, cuDoubleComplex, cublasZgemm_v2, WPI_BLAS_Z)
GEMM_CALLS(H, __half, cublasHgemm, WPI_BLAS_HH)

/* ---- types named by arguments ---- */

typedef struct product_row {
    cudaDataType ab, c;
    cublasComputeType_t compute, pedantic;
    wpi_blas_type type;
} product_row;

static bool product_type(cudaDataType a, cudaDataType b, cudaDataType c,
                         cublasComputeType_t compute, wpi_blas_type *out) {
    static const product_row rows[] = {
        {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_S},
        {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_C},
        {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC, WPI_BLAS_D},
        {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC, WPI_BLAS_Z},
        {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_H},
        {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_HS},
        {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_16F_PEDANTIC, WPI_BLAS_HH},
        {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_B},
        {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_BS},
        {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC, WPI_BLAS_I},
        {CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC, WPI_BLAS_IS}};
    compute = wpi_cublas_plain_compute(compute);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const product_row *r = &rows[i];
        if (a != r->ab || b != r->ab || c != r->c) continue;
        if (compute != r->compute && compute != r->pedantic) continue;
        *out = r->type;
        return true;
    }
    return false;
}

WP_API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void *alpha,
                                   const void *A, cudaDataType Atype, int lda, const void *B,
                                   cudaDataType Btype, int ldb, const void *beta, void *C,
                                   cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                                   cublasGemmAlgo_t algo) {
    wpi_blas_type type;
    (void)algo; /* there is one */
    if (!product_type(Atype, Btype, Ctype, computeType, &type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    return gemm(handle, type, transa, transb, m, n, k, alpha, plain(A, lda), plain(B, ldb), beta,
                plain(C, ldc), 1);
}

WP_API cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *const Aarray[],
                                          cudaDataType Atype, int lda, const void *const Barray[],
                                          cudaDataType Btype, int ldb, const void *beta,
                                          void *const Carray[], cudaDataType Ctype, int ldc,
                                          int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo) {
    wpi_blas_type type;
    (void)algo;
    if (!product_type(Atype, Btype, Ctype, computeType, &type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    return gemm(handle, type, transa, transb, m, n, k, alpha, batched(Aarray, lda),
                batched(Barray, ldb), beta, batched(Carray, ldc), batchCount);
}

WP_API cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void *alpha, const void *A, cudaDataType Atype, int lda, long long int strideA,
    const void *B, cudaDataType Btype, int ldb, long long int strideB, const void *beta, void *C,
    cudaDataType Ctype, int ldc, long long int strideC, int batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo) {
    wpi_blas_type type;
    (void)algo;
    if (!product_type(Atype, Btype, Ctype, computeType, &type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    return gemm(handle, type, transa, transb, m, n, k, alpha, strided(A, lda, strideA),
                strided(B, ldb, strideB), beta, strided(C, ldc, strideC), batchCount);
}

/* ---- groups of batches: each has shapes and factors of its own, arrays in host memory ---- */

typedef struct gemm_groups {
    int count;
    const int *sizes;
    const cublasOperation_t *transa, *transb;
    const int *m, *n, *k, *lda, *ldb, *ldc;
    const char *alpha, *beta;
    const void *const *a, *const *b;
    void *const
        *c; /* in device memory, as the other two: those of all groups, one after the other */
} gemm_groups;

static cublasStatus_t gemm_grouped(cublasHandle_t handle, wpi_blas_type type, size_t factor_bytes,
                                   const gemm_groups *g) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (handle->pointer_mode != CUBLAS_POINTER_MODE_HOST) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (g->count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (g->count == 0) return CUBLAS_STATUS_SUCCESS;
    if (g->sizes == NULL || g->transa == NULL || g->transb == NULL || g->m == NULL ||
        g->n == NULL || g->k == NULL || g->lda == NULL || g->ldb == NULL || g->ldc == NULL ||
        g->alpha == NULL || g->beta == NULL || g->a == NULL || g->b == NULL || g->c == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    size_t first = 0;
    for (int i = 0; i < g->count; i++) {
        CUBLAS_TRY(gemm(handle, type, g->transa[i], g->transb[i], g->m[i], g->n[i], g->k[i],
                        g->alpha + (size_t)i * factor_bytes, batched(g->a + first, g->lda[i]),
                        batched(g->b + first, g->ldb[i]), g->beta + (size_t)i * factor_bytes,
                        batched(g->c + first, g->ldc[i]), g->sizes[i]));
        first += (size_t)g->sizes[i];
    }
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasGemmGroupedBatchedEx(
    cublasHandle_t handle, const cublasOperation_t transa_array[],
    const cublasOperation_t transb_array[], const int m_array[], const int n_array[],
    const int k_array[], const void *alpha_array, const void *const Aarray[], cudaDataType Atype,
    const int lda_array[], const void *const Barray[], cudaDataType Btype, const int ldb_array[],
    const void *beta_array, void *const Carray[], cudaDataType Ctype, const int ldc_array[],
    int group_count, const int group_size[], cublasComputeType_t computeType) {
    wpi_blas_type type;
    if (!product_type(Atype, Btype, Ctype, computeType, &type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (type != WPI_BLAS_S && type != WPI_BLAS_D && type != WPI_BLAS_H && type != WPI_BLAS_B)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const gemm_groups groups = {.count = group_count,
                                .sizes = group_size,
                                .transa = transa_array,
                                .transb = transb_array,
                                .m = m_array,
                                .n = n_array,
                                .k = k_array,
                                .lda = lda_array,
                                .ldb = ldb_array,
                                .ldc = ldc_array,
                                .alpha = alpha_array,
                                .beta = beta_array,
                                .a = Aarray,
                                .b = Barray,
                                .c = Carray};
    return gemm_grouped(handle, type, type == WPI_BLAS_D ? sizeof(double) : sizeof(float), &groups);
}

/* The casts only drop qualifiers of pointers to pointers. */
#define GROUPED_CALL(X, T, data_type, compute)                                                     \
    WP_API cublasStatus_t cublas##X##gemmGroupedBatched(                                           \
        cublasHandle_t handle, const cublasOperation_t transa_array[],                             \
        const cublasOperation_t transb_array[], const int m_array[], const int n_array[],          \
        const int k_array[], const T alpha_array[], const T *const Aarray[],                       \
        const int lda_array[], const T *const Barray[], const int ldb_array[],                     \
        const T beta_array[], T *const Carray[], const int ldc_array[], int group_count,           \
        const int group_size[]) {                                                                  \
        return cublasGemmGroupedBatchedEx(handle, transa_array, transb_array, m_array, n_array,    \
                                          k_array, alpha_array, (const void *const *)Aarray,       \
                                          data_type, lda_array, (const void *const *)Barray,       \
                                          data_type, ldb_array, beta_array, (void *const *)Carray, \
                                          data_type, ldc_array, group_count, group_size, compute); \
    }

GROUPED_CALL(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
GROUPED_CALL(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)

WP_API cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                    cublasOperation_t transb, int m, int n, int k,
                                    const float *alpha, const void *A, cudaDataType Atype, int lda,
                                    const void *B, cudaDataType Btype, int ldb, const float *beta,
                                    void *C, cudaDataType Ctype, int ldc) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta,
                        C, Ctype, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/* ---- symmetric and triangular operands ---- */

static bool is_side(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

/* c = alpha a b + beta c, or with b a: `shaped` is a, of order m or n. */
static cublasStatus_t shaped_product(cublasHandle_t handle, wpi_blas_type type,
                                     cublasSideMode_t side, int m, int n, wpi_scalar alpha,
                                     wpi_matrix shaped, wpi_matrix other, wpi_scalar beta,
                                     wpi_matrix c) {
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const wpi_product product = {.m = m,
                                 .n = n,
                                 .k = is_left ? m : n,
                                 .batch = 1,
                                 .a = is_left ? shaped : other,
                                 .b = is_left ? other : shaped,
                                 .c = c,
                                 .alpha = alpha,
                                 .beta = beta};
    return wpi_cublas_product(handle, type, &product);
}

static cublasStatus_t symm(cublasHandle_t handle, wpi_blas_type type, wpi_shape shape,
                           cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                           const void *alpha, const void *A, int lda, const void *B, int ldb,
                           const void *beta, void *C, int ldc) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!is_side(side) || !wpi_cublas_is_fill(uplo) || m < 0 || n < 0 ||
        lda < wpi_at_least_1(side == CUBLAS_SIDE_LEFT ? m : n) || ldb < wpi_at_least_1(m) ||
        ldc < wpi_at_least_1(m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || A == NULL || B == NULL || beta == NULL || C == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    wpi_matrix a = plain(A, lda);
    a.shape = shape;
    a.triangle = wpi_cublas_triangle(uplo);
    return shaped_product(handle, type, side, m, n, wpi_cublas_scalar(handle, type, alpha), a,
                          plain(B, ldb), wpi_cublas_scalar(handle, type, beta), plain(C, ldc));
}

static bool is_triangular(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int m, int n, int lda, int ldb) {
    return is_side(side) && wpi_cublas_is_fill(uplo) && wpi_cublas_is_op(trans) &&
           (unsigned)diag <= 1 && m >= 0 && n >= 0 &&
           lda >= wpi_at_least_1(side == CUBLAS_SIDE_LEFT ? m : n) && ldb >= wpi_at_least_1(m);
}

static wpi_matrix triangular(cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                             wpi_matrix a) {
    a.op = (wpi_op)trans;
    a.shape = WPI_SHAPE_TRIANGULAR;
    a.triangle = wpi_cublas_triangle(uplo);
    a.is_unit = diag == CUBLAS_DIAG_UNIT;
    return a;
}

/* In place, if C is B: then the product is made of a copy. */
static cublasStatus_t trmm(cublasHandle_t handle, wpi_blas_type type, cublasSideMode_t side,
                           cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
                           int m, int n, const void *alpha, const void *A, int lda, const void *B,
                           int ldb, void *C, int ldc) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!is_triangular(side, uplo, trans, diag, m, n, lda, ldb) || ldc < wpi_at_least_1(m) ||
        (B == C && ldb != ldc))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || A == NULL || B == NULL || C == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    void *kept = NULL;
    wpi_matrix b = plain(B, ldb);
    if (B == C) {
        const size_t bytes = wpi_cublas_element_bytes(type);
        if (cudaMalloc(&kept, (size_t)m * (size_t)n * bytes) != cudaSuccess)
            return CUBLAS_STATUS_ALLOC_FAILED;
        const cudaError_t error =
            cudaMemcpy2DAsync(kept, (size_t)m * bytes, B, (size_t)ldb * bytes, (size_t)m * bytes,
                              (size_t)n, cudaMemcpyDeviceToDevice, handle->stream);
        if (error != cudaSuccess) {
            (void)cudaFree(kept);
            return wpi_cublas_status(error);
        }
        b = plain(kept, m);
    }
    const cublasStatus_t status = shaped_product(
        handle, type, side, m, n, wpi_cublas_scalar(handle, type, alpha),
        triangular(uplo, trans, diag, plain(A, lda)), b, wpi_cublas_constant(0), plain(C, ldc));
    const cudaError_t freed = kept != NULL ? cudaFree(kept) : cudaSuccess;
    return status != CUBLAS_STATUS_SUCCESS ? status : wpi_cublas_status(freed);
}

/* ---- products of a matrix with itself ---- */

static cublasStatus_t syrk(cublasHandle_t handle, wpi_blas_type type, bool is_hermitian,
                           bool has_two, cublasFillMode_t uplo, cublasOperation_t trans, int n,
                           int k, const void *alpha, const void *A, int lda, const void *B, int ldb,
                           const void *beta, void *C, int ldc) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    const int rows = trans == CUBLAS_OP_N ? n : k;
    /* Of complex matrices the other operation is another call's. */
    const bool is_complex = type == WPI_BLAS_C || type == WPI_BLAS_Z;
    const bool is_wrong = is_complex && trans == (is_hermitian ? CUBLAS_OP_T : CUBLAS_OP_C);
    if (!wpi_cublas_is_fill(uplo) || !wpi_cublas_is_op(trans) || trans == CUBLAS_OP_CONJG ||
        is_wrong || n < 0 || k < 0 || lda < wpi_at_least_1(rows) ||
        (has_two && ldb < wpi_at_least_1(rows)) || ldc < wpi_at_least_1(n))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || beta == NULL || C == NULL ||
        (k > 0 && (A == NULL || (has_two && B == NULL))))
        return CUBLAS_STATUS_INVALID_VALUE;
    /* Real factors of Hermitian products are read here: the kernel's factors have the type of the
     * elements. */
    wpi_scalar u = {0}, v = {0};
    if (is_hermitian) {
        CUBLAS_TRY(wpi_cublas_read(handle, type, has_two, alpha, &u));
        CUBLAS_TRY(wpi_cublas_read(handle, type, false, beta, &v));
    } else {
        u = wpi_cublas_scalar(handle, type, alpha);
        v = wpi_cublas_scalar(handle, type, beta);
    }

    const wpi_op turned = is_hermitian ? WPI_OP_C : WPI_OP_T;
    wpi_product product = {.m = n,
                           .n = n,
                           .k = k,
                           .batch = 1,
                           .a = plain(A, lda),
                           .b = has_two ? plain(B, ldb) : plain(A, lda),
                           .c = plain(C, ldc),
                           .alpha = u,
                           .beta = v,
                           .is_real_diagonal = is_hermitian};
    product.a.op = trans == CUBLAS_OP_N ? WPI_OP_N : turned;
    product.b.op = trans == CUBLAS_OP_N ? turned : WPI_OP_N;
    product.c.triangle = wpi_cublas_triangle(uplo);
    CUBLAS_TRY(wpi_cublas_product(handle, type, &product));
    if (!has_two) return CUBLAS_STATUS_SUCCESS;
    const wpi_matrix a = product.a, b = product.b;
    product.a = b;
    product.a.op = a.op;
    product.b = a;
    product.b.op = b.op;
    if (is_hermitian) product.alpha.im = -product.alpha.im;
    product.beta = wpi_cublas_constant(1);
    return wpi_cublas_product(handle, type, &product);
}

/* ---- equations ---- */

#define SOLVED 32 /* rows that a launch solves */

/*
 * op(a) x = alpha b, in place. With a on the right, the rows of b are the right-hand sides of the
 * transposed equations: `a` is turned and b is read across.
 */
static cublasStatus_t trsm(cublasHandle_t handle, wpi_blas_type type, cublasSideMode_t side, int m,
                           int n, wpi_scalar alpha, wpi_matrix a, wpi_matrix b, int batch) {
    const bool is_left = side == CUBLAS_SIDE_LEFT;
    const bool is_turned_a = a.op == WPI_OP_T || a.op == WPI_OP_C;
    const int order = is_left ? m : n;
    static const wpi_op turned[] = {[WPI_OP_N] = WPI_OP_T,
                                    [WPI_OP_T] = WPI_OP_N,
                                    [WPI_OP_C] = WPI_OP_CONJ,
                                    [WPI_OP_CONJ] = WPI_OP_C};
    wpi_matrix general = a;
    general.shape = WPI_SHAPE_GENERAL;
    general.is_unit = 0;
    if (!wpi_cublas_is(alpha, 1)) { /* b = alpha b */
        const wpi_product scale = {.m = m,
                                   .n = n,
                                   .k = 0,
                                   .batch = batch,
                                   .c = b,
                                   .alpha = wpi_cublas_constant(0),
                                   .beta = alpha};
        CUBLAS_TRY(wpi_cublas_status(wpi_blas_product(handle->stream, type, &scale)));
    }
    const wpi_op op = is_left ? a.op : turned[a.op];
    const bool is_forward =
        (a.triangle == WPI_TRIANGLE_LOWER) != (op == WPI_OP_T || op == WPI_OP_C);
    for (int done = 0; done < order; done += SOLVED) {
        const int size = order - done < SOLVED ? order - done : SOLVED;
        const int rest = order - done - size;
        const int first = is_forward ? done : rest, next = is_forward ? done + size : 0;
        wpi_solve solve = {.size = size,
                           .count = is_left ? n : m,
                           .batch = batch,
                           .a = a,
                           .b = b,
                           .element = is_left ? 1 : b.ld,
                           .side = is_left ? b.ld : 1};
        solve.a.op = op;
        solve.a.offset = first + (long long)first * a.ld;
        solve.b.offset = first * solve.element;
        CUBLAS_TRY(wpi_cublas_status(wpi_blas[type].solve(handle->stream, &solve)));
        if (rest == 0) break;
        /* The block of op(a) that joins the solved unknowns and the others. */
        wpi_matrix part = general, solved = b, others = b;
        const int row = is_left ? next : first, column = is_left ? first : next;
        part.offset = is_turned_a ? column + (long long)row * a.ld : row + (long long)column * a.ld;
        solved.offset = first * solve.element;
        others.offset = next * solve.element;
        const wpi_product product = {.m = is_left ? rest : m,
                                     .n = is_left ? n : rest,
                                     .k = size,
                                     .batch = batch,
                                     .a = is_left ? part : solved,
                                     .b = is_left ? solved : part,
                                     .c = others,
                                     .alpha = wpi_cublas_constant(-1),
                                     .beta = wpi_cublas_constant(1)};
        CUBLAS_TRY(wpi_cublas_product(handle, type, &product));
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t trsm_checked(cublasHandle_t handle, wpi_blas_type type, cublasSideMode_t side,
                                   cublasFillMode_t uplo, cublasOperation_t trans,
                                   cublasDiagType_t diag, int m, int n, const void *alpha,
                                   wpi_matrix a, wpi_matrix b, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!is_triangular(side, uplo, trans, diag, m, n, a.ld, b.ld) || batch < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || (a.data == NULL && a.array == NULL) || (b.data == NULL && b.array == NULL))
        return CUBLAS_STATUS_INVALID_VALUE;
    return trsm(handle, type, side, m, n, wpi_cublas_scalar(handle, type, alpha),
                triangular(uplo, trans, diag, a), b, batch);
}

/* ---- LU factors, batched ---- */

static cublasStatus_t getrf(cublasHandle_t handle, wpi_blas_type type, int n, const void *A,
                            int lda, int *pivots, int *info, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n < 0 || batch < 0 || lda < wpi_at_least_1(n)) return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (A == NULL || info == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(
        wpi_blas[type].getrf(handle->stream, n, batched(A, lda), pivots, info, batch));
}

/* b = op(a)^-1 b by the factors in a. */
static cublasStatus_t solve_by_factors(cublasHandle_t handle, wpi_blas_type type,
                                       cublasOperation_t trans, int n, int nrhs, const void *A,
                                       int lda, const int *pivots, wpi_matrix b, int batch) {
    const wpi_matrix a = batched(A, lda);
    const wpi_scalar one = wpi_cublas_constant(1);
    const wpi_matrix lower = triangular(CUBLAS_FILL_MODE_LOWER, trans, CUBLAS_DIAG_UNIT, a);
    const wpi_matrix upper = triangular(CUBLAS_FILL_MODE_UPPER, trans, CUBLAS_DIAG_NON_UNIT, a);
    const bool is_back = is_turned(trans);
    if (pivots != NULL && !is_back)
        CUBLAS_TRY(wpi_cublas_status(
            wpi_blas[type].permute(handle->stream, n, nrhs, pivots, false, b, batch)));
    CUBLAS_TRY(
        trsm(handle, type, CUBLAS_SIDE_LEFT, n, nrhs, one, is_back ? upper : lower, b, batch));
    CUBLAS_TRY(
        trsm(handle, type, CUBLAS_SIDE_LEFT, n, nrhs, one, is_back ? lower : upper, b, batch));
    if (pivots != NULL && is_back)
        CUBLAS_TRY(wpi_cublas_status(
            wpi_blas[type].permute(handle->stream, n, nrhs, pivots, true, b, batch)));
    return CUBLAS_STATUS_SUCCESS;
}

/* `info` is of the host: 0, or minus the number of a wrong argument. */
static cublasStatus_t getrs(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t trans,
                            int n, int nrhs, const void *A, int lda, const int *pivots,
                            const void *B, int ldb, int *info, int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (info == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *info = !wpi_cublas_is_op(trans)  ? -1
            : n < 0                   ? -2
            : nrhs < 0                ? -3
            : lda < wpi_at_least_1(n) ? -5
            : ldb < wpi_at_least_1(n) ? -8
            : batch < 0               ? -10
                                      : 0;
    if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0 || nrhs == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (A == NULL || B == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return solve_by_factors(handle, type, trans, n, nrhs, A, lda, pivots, batched(B, ldb), batch);
}

static cublasStatus_t getri(cublasHandle_t handle, wpi_blas_type type, int n, const void *A,
                            int lda, const int *pivots, const void *C, int ldc, int *info,
                            int batch) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (n < 0 || batch < 0 || lda < wpi_at_least_1(n) || ldc < wpi_at_least_1(n))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
    if (A == NULL || C == NULL || info == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_matrix c = batched(C, ldc);
    cudaError_t error = cudaMemsetAsync(info, 0, (size_t)batch * sizeof *info, handle->stream);
    if (error == cudaSuccess) error = wpi_blas[type].identity(handle->stream, n, c, batch);
    if (error != cudaSuccess) return wpi_cublas_status(error);
    return solve_by_factors(handle, type, CUBLAS_OP_N, n, n, A, lda, pivots, c, batch);
}

/* ---- element by element ---- */

static cublasStatus_t geam(cublasHandle_t handle, wpi_blas_type type, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const void *alpha, const void *A,
                           int lda, const void *beta, const void *B, int ldb, void *C, int ldc) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!wpi_cublas_is_op(transa) || !wpi_cublas_is_op(transb) || m < 0 || n < 0 ||
        lda < wpi_at_least_1(is_turned(transa) ? n : m) ||
        ldb < wpi_at_least_1(is_turned(transb) ? n : m) || ldc < wpi_at_least_1(m) ||
        (A == C && A != NULL && (transa != CUBLAS_OP_N || lda != ldc)) ||
        (B == C && B != NULL && (transb != CUBLAS_OP_N || ldb != ldc)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (alpha == NULL || beta == NULL || C == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const wpi_scalar u = wpi_cublas_scalar(handle, type, alpha);
    const wpi_scalar v = wpi_cublas_scalar(handle, type, beta);
    if ((A == NULL && !wpi_cublas_is(u, 0)) || (B == NULL && !wpi_cublas_is(v, 0)))
        return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(wpi_blas[type].geam(handle->stream, m, n, u,
                                                 wpi_cublas_matrix(A, lda, transa), v,
                                                 wpi_cublas_matrix(B, ldb, transb), plain(C, ldc)));
}

static cublasStatus_t dgmm(cublasHandle_t handle, wpi_blas_type type, cublasSideMode_t mode, int m,
                           int n, const void *A, int lda, const void *x, int incx, void *C,
                           int ldc) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    if (!is_side(mode) || m < 0 || n < 0 || lda < wpi_at_least_1(m) || ldc < wpi_at_least_1(m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (A == NULL || x == NULL || C == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    const bool is_left = mode == CUBLAS_SIDE_LEFT;
    return wpi_cublas_status(wpi_blas[type].dgmm(handle->stream, m, n, is_left, plain(A, lda),
                                                 wpi_cublas_vector(type, is_left ? m : n, x, incx),
                                                 plain(C, ldc)));
}

/* ---- by type ---- */

#define PRODUCT_CALLS(X, T)                                                                        \
    WP_API cublasStatus_t cublas##X##symm_v2(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc) {  \
        return symm(handle, WPI_BLAS_##X, WPI_SHAPE_SYMMETRIC, side, uplo, m, n, alpha, A, lda, B, \
                    ldb, beta, C, ldc);                                                            \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##syrk_v2(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
        const T *alpha, const T *A, int lda, const T *beta, T *C, int ldc) {                       \
        return syrk(handle, WPI_BLAS_##X, false, false, uplo, trans, n, k, alpha, A, lda, NULL, 0, \
                    beta, C, ldc);                                                                 \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##syr2k_v2(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc) {  \
        return syrk(handle, WPI_BLAS_##X, false, true, uplo, trans, n, k, alpha, A, lda, B, ldb,   \
                    beta, C, ldc);                                                                 \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trmm_v2(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha, const T *A,  \
        int lda, const T *B, int ldb, T *C, int ldc) {                                             \
        return trmm(handle, WPI_BLAS_##X, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, \
                    ldc);                                                                          \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trsm_v2(cublasHandle_t handle, cublasSideMode_t side,         \
                                             cublasFillMode_t uplo, cublasOperation_t trans,       \
                                             cublasDiagType_t diag, int m, int n, const T *alpha,  \
                                             const T *A, int lda, T *B, int ldb) {                 \
        return trsm_checked(handle, WPI_BLAS_##X, side, uplo, trans, diag, m, n, alpha,            \
                            plain(A, lda), plain(B, ldb), 1);                                      \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##trsmBatched(                                                  \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                       \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha,              \
        const T *const A[], int lda, T *const B[], int ldb, int batchCount) {                      \
        return trsm_checked(handle, WPI_BLAS_##X, side, uplo, trans, diag, m, n, alpha,            \
                            batched(A, lda), batched(B, ldb), batchCount);                         \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const A[],      \
                                                  int lda, int *P, int *info, int batchSize) {     \
        return getrf(handle, WPI_BLAS_##X, n, A, lda, P, info, batchSize);                         \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##getrsBatched(                                                 \
        cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *const Aarray[],  \
        int lda, const int *devIpiv, T *const Barray[], int ldb, int *info, int batchSize) {       \
        return getrs(handle, WPI_BLAS_##X, trans, n, nrhs, Aarray, lda, devIpiv, Barray, ldb,      \
                     info, batchSize);                                                             \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##getriBatched(                                                 \
        cublasHandle_t handle, int n, const T *const A[], int lda, const int *P, T *const C[],     \
        int ldc, int *info, int batchSize) {                                                       \
        return getri(handle, WPI_BLAS_##X, n, A, lda, P, C, ldc, info, batchSize);                 \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##geam(                                                         \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
        const T *alpha, const T *A, int lda, const T *beta, const T *B, int ldb, T *C, int ldc) {  \
        return geam(handle, WPI_BLAS_##X, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C,    \
                    ldc);                                                                          \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m,     \
                                          int n, const T *A, int lda, const T *x, int incx, T *C,  \
                                          int ldc) {                                               \
        return dgmm(handle, WPI_BLAS_##X, mode, m, n, A, lda, x, incx, C, ldc);                    \
    }

PRODUCT_CALLS(S, float)
PRODUCT_CALLS(D, double)
PRODUCT_CALLS(C, cuComplex)
PRODUCT_CALLS(Z, cuDoubleComplex)

#define HERMITIAN_CALLS(X, T, R)                                                                   \
    WP_API cublasStatus_t cublas##X##hemm_v2(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,         \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta, T *C, int ldc) {  \
        return symm(handle, WPI_BLAS_##X, WPI_SHAPE_HERMITIAN, side, uplo, m, n, alpha, A, lda, B, \
                    ldb, beta, C, ldc);                                                            \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##herk_v2(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
        const R *alpha, const T *A, int lda, const R *beta, T *C, int ldc) {                       \
        return syrk(handle, WPI_BLAS_##X, true, false, uplo, trans, n, k, alpha, A, lda, NULL, 0,  \
                    beta, C, ldc);                                                                 \
    }                                                                                              \
    WP_API cublasStatus_t cublas##X##her2k_v2(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,       \
        const T *alpha, const T *A, int lda, const T *B, int ldb, const R *beta, T *C, int ldc) {  \
        return syrk(handle, WPI_BLAS_##X, true, true, uplo, trans, n, k, alpha, A, lda, B, ldb,    \
                    beta, C, ldc);                                                                 \
    }

HERMITIAN_CALLS(C, cuComplex, float)
HERMITIAN_CALLS(Z, cuDoubleComplex, double)
