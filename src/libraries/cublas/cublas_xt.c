/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLASXt over cuBLAS. A product's parts are copied to the device and multiplied one after the
 * other:
 *
 *     each part of C, block_dim by block_dim:  C = beta C, then for each part along k:  C += alpha
 * A B
 *
 * so that three parts are on the device at a time, whatever the matrices' sizes. The other calls
 * copy whole matrices. */
#include "warpage/cuda/cublasXt.h"

#include "base/alloc.h"
#include "libraries/cublas/cublas_handle.h"

#define MAGIC 0x776172706278742du
#define BLOCK_DIM 2048

struct cublasXtContext {
    uint64_t magic;
    cublasHandle_t blas; /* of the device that does the work; NULL before the first call */
    int device, block_dim;
    cublasXtPinnedMemMode_t pinning;
};

static bool is_handle(cublasXtHandle_t handle) {
    return handle != NULL && handle->magic == MAGIC;
}

/* ---- handles ---- */

WP_API cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle) {
    if (handle == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = NULL;
    struct cublasXtContext *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    *made = (struct cublasXtContext){.magic = MAGIC, .block_dim = BLOCK_DIM};
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t status =
        handle->blas != NULL ? cublasDestroy_v2(handle->blas) : CUBLAS_STATUS_SUCCESS;
    handle->magic = 0;
    wpi_free(handle);
    return status;
}

WP_API cublasStatus_t cublasXtGetNumBoards(int nbDevices, int deviceId[], int *nbBoards) {
    if (nbDevices <= 0 || deviceId == NULL || nbBoards == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *nbBoards = nbDevices; /* each device is a board */
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtMaxBoards(int *nbGpuBoards) {
    if (nbGpuBoards == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return wpi_cublas_status(cudaGetDeviceCount(nbGpuBoards));
}

WP_API cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[]) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return CUBLAS_STATUS_INTERNAL_ERROR;
    if (nbDevices <= 0 || deviceId == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < nbDevices; i++)
        if (deviceId[i] < 0 || deviceId[i] >= count) return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->blas != NULL) CUBLAS_TRY(cublasDestroy_v2(handle->blas));
    handle->blas = NULL;
    handle->device = deviceId[0];
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (blockDim <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    handle->block_dim = blockDim;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *blockDim) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (blockDim == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *blockDim = handle->block_dim;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle,
                                                cublasXtPinnedMemMode_t mode) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)mode > CUBLASXT_PINNING_ENABLED) return CUBLAS_STATUS_INVALID_VALUE;
    handle->pinning = mode; /* copies of pageable memory are as fast */
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle,
                                                cublasXtPinnedMemMode_t *mode) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->pinning;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- parts of matrices on the device ---- */

/* Makes the handle's device current; leave() makes the caller's so again. */
static cublasStatus_t enter(cublasXtHandle_t handle, int *caller_device) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (cudaGetDevice(caller_device) != cudaSuccess || cudaSetDevice(handle->device) != cudaSuccess)
        return CUBLAS_STATUS_INTERNAL_ERROR;
    const cublasStatus_t status =
        handle->blas == NULL ? cublasCreate_v2(&handle->blas) : CUBLAS_STATUS_SUCCESS;
    if (status != CUBLAS_STATUS_SUCCESS) (void)cudaSetDevice(*caller_device);
    return status;
}

static cublasStatus_t leave(int caller_device, cublasStatus_t status) {
    const cudaError_t error = cudaSetDevice(caller_device);
    return status == CUBLAS_STATUS_SUCCESS ? wpi_cublas_status(error) : status;
}

/* A matrix by columns, wherever it is. */
typedef struct matrix {
    char *data;
    size_t ld, element_bytes;
} matrix;

static matrix matrix_of(const void *data, size_t ld, size_t element_bytes) {
    return (matrix){(char *)(uintptr_t)data, ld, element_bytes};
}

static void *at(matrix m, size_t row, size_t column) {
    return m.data + (column * m.ld + row) * m.element_bytes;
}

/* Copies rows by columns to a dense part, or back. */
static cudaError_t load(void *part, matrix from, size_t row, size_t column, size_t rows,
                        size_t columns) {
    return cudaMemcpy2D(part, rows * from.element_bytes, at(from, row, column),
                        from.ld * from.element_bytes, rows * from.element_bytes, columns,
                        cudaMemcpyDefault);
}

static cudaError_t store(matrix to, size_t row, size_t column, const void *part, size_t rows,
                         size_t columns) {
    return cudaMemcpy2D(at(to, row, column), to.ld * to.element_bytes, part,
                        rows * to.element_bytes, rows * to.element_bytes, columns,
                        cudaMemcpyDefault);
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

#define XT_TRY(expression)                                                                         \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != CUBLAS_STATUS_SUCCESS) goto done;                                            \
    } while (0)

/* ---- products ---- */

typedef cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t transa,
                                cublasOperation_t transb, int m, int n, int k, const void *alpha,
                                const void *a, int lda, const void *b, int ldb, const void *beta,
                                void *c, int ldc);

/* c of m by n, one part: beta c + alpha op(a) op(b), with op(a)'s rows from `row` on. */
typedef struct product {
    cublasOperation_t transa, transb;
    size_t k;
    const void *alpha, *beta, *one;
    matrix a, b, c;
    void *parts[3];
    multiply *multiply;
    bool has_beta;
} product;

static cublasStatus_t make_part(cublasXtHandle_t handle, const product *p, size_t row,
                                size_t column, size_t m, size_t n) {
    const size_t step = (size_t)handle->block_dim;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (p->has_beta) XT_TRY(wpi_cublas_status(load(p->parts[2], p->c, row, column, m, n)));
    size_t first = 0;
    do {
        const size_t k = smaller(step, p->k - first);
        const bool is_a_plain = p->transa == CUBLAS_OP_N, is_b_plain = p->transb == CUBLAS_OP_N;
        XT_TRY(wpi_cublas_status(is_a_plain ? load(p->parts[0], p->a, row, first, m, k)
                                            : load(p->parts[0], p->a, first, row, k, m)));
        XT_TRY(wpi_cublas_status(is_b_plain ? load(p->parts[1], p->b, first, column, k, n)
                                            : load(p->parts[1], p->b, column, first, n, k)));
        const int rows_a = wpi_at_least_1((int)(is_a_plain ? m : k));
        const int rows_b = wpi_at_least_1((int)(is_b_plain ? k : n));
        XT_TRY(p->multiply(handle->blas, p->transa, p->transb, (int)m, (int)n, (int)k, p->alpha,
                           p->parts[0], rows_a, p->parts[1], rows_b, first == 0 ? p->beta : p->one,
                           p->parts[2], (int)m));
        first += k;
    } while (first < p->k);
    XT_TRY(wpi_cublas_status(store(p->c, row, column, p->parts[2], m, n)));
done:
    return status;
}

static cublasStatus_t make_product(cublasXtHandle_t handle, product *p, size_t m, size_t n) {
    const size_t step = (size_t)handle->block_dim, bytes = p->c.element_bytes;
    const size_t rows = smaller(step, m), columns = smaller(step, n), depth = smaller(step, p->k);
    const size_t sizes[] = {rows * depth, depth * columns, rows * columns};
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < 3; i++)
        if (sizes[i] > 0) XT_TRY(wpi_cublas_status(cudaMalloc(&p->parts[i], sizes[i] * bytes)));
    for (size_t column = 0; column < n; column += step)
        for (size_t row = 0; row < m; row += step)
            XT_TRY(make_part(handle, p, row, column, smaller(step, m - row),
                             smaller(step, n - column)));
done:
    for (int i = 0; i < 3; i++)
        (void)cudaFree(p->parts[i]);
    return status;
}

static cublasStatus_t gemm(cublasXtHandle_t handle, product *p, size_t m, size_t n) {
    if (!is_handle(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    const size_t rows_a = p->transa == CUBLAS_OP_N ? m : p->k;
    const size_t rows_b = p->transb == CUBLAS_OP_N ? p->k : n;
    if (!wpi_cublas_is_op(p->transa) || !wpi_cublas_is_op(p->transb) || p->alpha == NULL ||
        p->beta == NULL || p->a.ld < rows_a || p->b.ld < rows_b || p->c.ld < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (p->c.data == NULL || (p->k > 0 && (p->a.data == NULL || p->b.data == NULL)))
        return CUBLAS_STATUS_INVALID_VALUE;
    int caller_device;
    CUBLAS_TRY(enter(handle, &caller_device));
    return leave(caller_device, make_product(handle, p, m, n));
}

#define GEMM(X, T, one_value, is_zero)                                                             \
    static cublasStatus_t multiply_##X(cublasHandle_t handle, cublasOperation_t transa,            \
                                       cublasOperation_t transb, int m, int n, int k,              \
                                       const void *alpha, const void *a, int lda, const void *b,   \
                                       int ldb, const void *beta, void *c, int ldc) {              \
        return cublas##X##gemm_v2(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                                  ldc);                                                            \
    }                                                                                              \
    WP_API cublasStatus_t cublasXt##X##gemm(                                                       \
        cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, size_t m,     \
        size_t n, size_t k, const T *alpha, const T *A, size_t lda, const T *B, size_t ldb,        \
        const T *beta, T *C, size_t ldc) {                                                         \
        const T one = one_value;                                                                   \
        product p = {.transa = transa,                                                             \
                     .transb = transb,                                                             \
                     .k = k,                                                                       \
                     .alpha = alpha,                                                               \
                     .beta = beta,                                                                 \
                     .one = &one,                                                                  \
                     .a = matrix_of(A, lda, sizeof *A),                                            \
                     .b = matrix_of(B, ldb, sizeof *B),                                            \
                     .c = matrix_of(C, ldc, sizeof *C),                                            \
                     .multiply = multiply_##X,                                                     \
                     .has_beta = beta != NULL && !(is_zero)};                                      \
        return gemm(handle, &p, m, n);                                                             \
    }
GEMM(S, float, 1.0f, *beta == 0)
GEMM(D, double, 1.0, *beta == 0)
GEMM(C, cuComplex, make_cuComplex(1, 0), beta->x == 0 && beta->y == 0)
GEMM(Z, cuDoubleComplex, make_cuDoubleComplex(1, 0), beta->x == 0 && beta->y == 0)

/* ---- whole matrices ---- */

/* A copy of `rows` by `columns` on the device; the caller frees it. */
static cublasStatus_t copy_whole(matrix from, size_t rows, size_t columns, void **copy) {
    CUBLAS_TRY(wpi_cublas_status(cudaMalloc(copy, rows * columns * from.element_bytes)));
    return wpi_cublas_status(load(*copy, from, 0, 0, rows, columns));
}

#define SYRK(X, T)                                                                                 \
    WP_API cublasStatus_t cublasXt##X##syrk(                                                       \
        cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, size_t n,         \
        size_t k, const T *alpha, const T *A, size_t lda, const T *beta, T *C, size_t ldc) {       \
        const size_t rows = trans == CUBLAS_OP_N ? n : k, columns = trans == CUBLAS_OP_N ? k : n;  \
        const matrix c = matrix_of(C, ldc, sizeof *C);                                             \
        void *a_copy = NULL, *c_copy = NULL;                                                       \
        cublasStatus_t status;                                                                     \
        int caller_device;                                                                         \
        CUBLAS_TRY(enter(handle, &caller_device));                                                 \
        if (n == 0) return leave(caller_device, CUBLAS_STATUS_SUCCESS);                            \
        if (lda < rows || ldc < n || (k > 0 && A == NULL) || C == NULL)                            \
            return leave(caller_device, CUBLAS_STATUS_INVALID_VALUE);                              \
        if (k > 0) XT_TRY(copy_whole(matrix_of(A, lda, sizeof *A), rows, columns, &a_copy));       \
        XT_TRY(copy_whole(c, n, n, &c_copy));                                                      \
        XT_TRY(cublas##X##syrk_v2(handle->blas, uplo, trans, (int)n, (int)k, alpha, a_copy,        \
                                  wpi_at_least_1((int)rows), beta, c_copy, (int)n));               \
        XT_TRY(wpi_cublas_status(store(c, 0, 0, c_copy, n, n)));                                   \
    done:                                                                                          \
        (void)cudaFree(a_copy);                                                                    \
        (void)cudaFree(c_copy);                                                                    \
        return leave(caller_device, status);                                                       \
    }
SYRK(S, float)
SYRK(D, double)

#define TRSM(X, T)                                                                                 \
    WP_API cublasStatus_t cublasXt##X##trsm(                                                       \
        cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                     \
        cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n, const T *alpha,        \
        const T *A, size_t lda, T *B, size_t ldb) {                                                \
        const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;                                     \
        const matrix b = matrix_of(B, ldb, sizeof *B);                                             \
        void *a_copy = NULL, *b_copy = NULL;                                                       \
        cublasStatus_t status;                                                                     \
        int caller_device;                                                                         \
        CUBLAS_TRY(enter(handle, &caller_device));                                                 \
        if (m == 0 || n == 0) return leave(caller_device, CUBLAS_STATUS_SUCCESS);                  \
        if (lda < order || ldb < m || A == NULL || B == NULL)                                      \
            return leave(caller_device, CUBLAS_STATUS_INVALID_VALUE);                              \
        XT_TRY(copy_whole(matrix_of(A, lda, sizeof *A), order, order, &a_copy));                   \
        XT_TRY(copy_whole(b, m, n, &b_copy));                                                      \
        XT_TRY(cublas##X##trsm_v2(handle->blas, side, uplo, trans, diag, (int)m, (int)n, alpha,    \
                                  a_copy, (int)order, b_copy, (int)m));                            \
        XT_TRY(wpi_cublas_status(store(b, 0, 0, b_copy, m, n)));                                   \
    done:                                                                                          \
        (void)cudaFree(a_copy);                                                                    \
        (void)cudaFree(b_copy);                                                                    \
        return leave(caller_device, status);                                                       \
    }
TRSM(S, float)
TRSM(D, double)
