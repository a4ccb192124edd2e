/* SPDX-License-Identifier: Apache-2.0 */
/* The first interface (cublas.h): each call is that of cublas_v2.h of the same name, by one handle
 * of the whole program. */
#include <ctype.h>
#include <pthread.h>
#include <stddef.h>

#include "warpage/cuda/cublas.h"
#include "warpage/error.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the handle and the status */
static cublasHandle_t handle;                            /* NULL before cublasInit */
static cublasStatus_t first_error = CUBLAS_STATUS_SUCCESS;

static cublasHandle_t enter(void) {
    pthread_mutex_lock(&lock);
    return handle; /* the calls refuse NULL */
}

static void leave(cublasStatus_t status) {
    if (first_error == CUBLAS_STATUS_SUCCESS) first_error = status;
    pthread_mutex_unlock(&lock);
}

/* Runs a call of cublas_v2.h with the handle. */
#define CALL(name, ...) leave(name##_v2(enter(), __VA_ARGS__))

/* Letters; another one becomes a value that the calls refuse. */
static cublasOperation_t op(char c) {
    switch (toupper((unsigned char)c)) {
    case 'N': return CUBLAS_OP_N;
    case 'T': return CUBLAS_OP_T;
    case 'C': return CUBLAS_OP_C;
    default: return (cublasOperation_t)-1;
    }
}

static int which(char c, char zero, char one) {
    c = (char)toupper((unsigned char)c);
    return c == zero ? 0 : c == one ? 1 : -1;
}

static cublasFillMode_t fill(char c) {
    return (cublasFillMode_t)which(c, 'L', 'U');
}

static cublasSideMode_t at_side(char c) {
    return (cublasSideMode_t)which(c, 'L', 'R');
}

static cublasDiagType_t diagonal(char c) {
    return (cublasDiagType_t)which(c, 'N', 'U');
}

/* ---- state, memory ---- */

WP_API cublasStatus_t cublasInit(void) {
    pthread_mutex_lock(&lock);
    const cublasStatus_t status = handle == NULL ? cublasCreate_v2(&handle) : CUBLAS_STATUS_SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}

WP_API cublasStatus_t cublasShutdown(void) {
    const cublasStatus_t status = cublasDestroy_v2(enter());
    handle = NULL;
    pthread_mutex_unlock(&lock);
    return status;
}

WP_API cublasStatus_t cublasGetError(void) {
    pthread_mutex_lock(&lock);
    const cublasStatus_t status = first_error;
    first_error = CUBLAS_STATUS_SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}

WP_API cublasStatus_t cublasGetVersion(int *version) {
    return cublasGetVersion_v2(NULL, version);
}

WP_API cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
    const cublasStatus_t status = cublasSetStream_v2(enter(), stream);
    pthread_mutex_unlock(&lock);
    return status;
}

WP_API cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr) {
    if (n <= 0 || elemSize <= 0 || devicePtr == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    return cudaMalloc(devicePtr, (size_t)n * (size_t)elemSize) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_ALLOC_FAILED;
}

WP_API cublasStatus_t cublasFree(void *devicePtr) {
    return cudaFree(devicePtr) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                              : CUBLAS_STATUS_INTERNAL_ERROR;
}

/* ---- vectors ---- */

#define VECTOR_CALLS(X, T, Real)                                                                   \
    WP_API void cublas##X##axpy(int n, T alpha, const T *x, int incx, T *y, int incy) {            \
        CALL(cublas##X##axpy, n, &alpha, x, incx, y, incy);                                        \
    }                                                                                              \
    WP_API void cublas##X##copy(int n, const T *x, int incx, T *y, int incy) {                     \
        CALL(cublas##X##copy, n, x, incx, y, incy);                                                \
    }                                                                                              \
    WP_API void cublas##X##swap(int n, T *x, int incx, T *y, int incy) {                           \
        CALL(cublas##X##swap, n, x, incx, y, incy);                                                \
    }                                                                                              \
    WP_API void cublas##X##scal(int n, T alpha, T *x, int incx) {                                  \
        CALL(cublas##X##scal, n, &alpha, x, incx);                                                 \
    }                                                                                              \
    WP_API void cublas##X##rot(int n, T *x, int incx, T *y, int incy, Real c, T s) {               \
        CALL(cublas##X##rot, n, x, incx, y, incy, &c, &s);                                         \
    }
VECTOR_CALLS(S, float, float)
VECTOR_CALLS(D, double, double)
VECTOR_CALLS(C, cuComplex, float)
VECTOR_CALLS(Z, cuDoubleComplex, double)

#define RESULT_CALL(name, T, R)                                                                    \
    WP_API R name(int n, const T *x, int incx) {                                                   \
        R result = 0;                                                                              \
        CALL(name, n, x, incx, &result);                                                           \
        return result;                                                                             \
    }
RESULT_CALL(cublasSnrm2, float, float)
RESULT_CALL(cublasDnrm2, double, double)
RESULT_CALL(cublasScnrm2, cuComplex, float)
RESULT_CALL(cublasDznrm2, cuDoubleComplex, double)
RESULT_CALL(cublasSasum, float, float)
RESULT_CALL(cublasDasum, double, double)
RESULT_CALL(cublasScasum, cuComplex, float)
RESULT_CALL(cublasDzasum, cuDoubleComplex, double)
RESULT_CALL(cublasIsamax, float, int)
RESULT_CALL(cublasIdamax, double, int)
RESULT_CALL(cublasIcamax, cuComplex, int)
RESULT_CALL(cublasIzamax, cuDoubleComplex, int)
RESULT_CALL(cublasIsamin, float, int)
RESULT_CALL(cublasIdamin, double, int)
RESULT_CALL(cublasIcamin, cuComplex, int)
RESULT_CALL(cublasIzamin, cuDoubleComplex, int)

#define DOT_CALL(name, T, zero)                                                                    \
    WP_API T name(int n, const T *x, int incx, const T *y, int incy) {                             \
        T result = zero;                                                                           \
        CALL(name, n, x, incx, y, incy, &result);                                                  \
        return result;                                                                             \
    }
DOT_CALL(cublasSdot, float, 0)
DOT_CALL(cublasDdot, double, 0)
DOT_CALL(cublasCdotu, cuComplex, make_cuComplex(0, 0))
DOT_CALL(cublasCdotc, cuComplex, make_cuComplex(0, 0))
DOT_CALL(cublasZdotu, cuDoubleComplex, make_cuDoubleComplex(0, 0))
DOT_CALL(cublasZdotc, cuDoubleComplex, make_cuDoubleComplex(0, 0))

#define REAL_FACTOR_CALLS(scal, rot, T, Real)                                                      \
    WP_API void scal(int n, Real alpha, T *x, int incx) {                                          \
        CALL(scal, n, &alpha, x, incx);                                                            \
    }                                                                                              \
    WP_API void rot(int n, T *x, int incx, T *y, int incy, Real c, Real s) {                       \
        CALL(rot, n, x, incx, y, incy, &c, &s);                                                    \
    }
REAL_FACTOR_CALLS(cublasCsscal, cublasCsrot, cuComplex, float)
REAL_FACTOR_CALLS(cublasZdscal, cublasZdrot, cuDoubleComplex, double)

/* ---- matrices ---- */

#define MATRIX_CALLS(X, T)                                                                         \
    WP_API void cublas##X##gemv(char trans, int m, int n, T alpha, const T *A, int lda,            \
                                const T *x, int incx, T beta, T *y, int incy) {                    \
        CALL(cublas##X##gemv, op(trans), m, n, &alpha, A, lda, x, incx, &beta, y, incy);           \
    }                                                                                              \
    WP_API void cublas##X##trmv(char uplo, char trans, char diag, int n, const T *A, int lda,      \
                                T *x, int incx) {                                                  \
        CALL(cublas##X##trmv, fill(uplo), op(trans), diagonal(diag), n, A, lda, x, incx);          \
    }                                                                                              \
    WP_API void cublas##X##trsv(char uplo, char trans, char diag, int n, const T *A, int lda,      \
                                T *x, int incx) {                                                  \
        CALL(cublas##X##trsv, fill(uplo), op(trans), diagonal(diag), n, A, lda, x, incx);          \
    }                                                                                              \
    WP_API void cublas##X##gemm(char transa, char transb, int m, int n, int k, T alpha,            \
                                const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc) { \
        CALL(cublas##X##gemm, op(transa), op(transb), m, n, k, &alpha, A, lda, B, ldb, &beta, C,   \
             ldc);                                                                                 \
    }                                                                                              \
    WP_API void cublas##X##symm(char side, char uplo, int m, int n, T alpha, const T *A, int lda,  \
                                const T *B, int ldb, T beta, T *C, int ldc) {                      \
        CALL(cublas##X##symm, at_side(side), fill(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C,   \
             ldc);                                                                                 \
    }                                                                                              \
    WP_API void cublas##X##syrk(char uplo, char trans, int n, int k, T alpha, const T *A, int lda, \
                                T beta, T *C, int ldc) {                                           \
        CALL(cublas##X##syrk, fill(uplo), op(trans), n, k, &alpha, A, lda, &beta, C, ldc);         \
    }                                                                                              \
    WP_API void cublas##X##syr2k(char uplo, char trans, int n, int k, T alpha, const T *A,         \
                                 int lda, const T *B, int ldb, T beta, T *C, int ldc) {            \
        CALL(cublas##X##syr2k, fill(uplo), op(trans), n, k, &alpha, A, lda, B, ldb, &beta, C,      \
             ldc);                                                                                 \
    }                                                                                              \
    WP_API void cublas##X##trmm(char side, char uplo, char trans, char diag, int m, int n,         \
                                T alpha, const T *A, int lda, T *B, int ldb) {                     \
        CALL(cublas##X##trmm, at_side(side), fill(uplo), op(trans), diagonal(diag), m, n, &alpha,  \
             A, lda, B, ldb, B, ldb);                                                              \
    }                                                                                              \
    WP_API void cublas##X##trsm(char side, char uplo, char trans, char diag, int m, int n,         \
                                T alpha, const T *A, int lda, T *B, int ldb) {                     \
        CALL(cublas##X##trsm, at_side(side), fill(uplo), op(trans), diagonal(diag), m, n, &alpha,  \
             A, lda, B, ldb);                                                                      \
    }
MATRIX_CALLS(S, float)
MATRIX_CALLS(D, double)
MATRIX_CALLS(C, cuComplex)
MATRIX_CALLS(Z, cuDoubleComplex)

#define RANK_CALLS(mv, r, r2, T, Real)                                                             \
    WP_API void mv(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta,   \
                   T *y, int incy) {                                                               \
        CALL(mv, fill(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy);                          \
    }                                                                                              \
    WP_API void r(char uplo, int n, Real alpha, const T *x, int incx, T *A, int lda) {             \
        CALL(r, fill(uplo), n, &alpha, x, incx, A, lda);                                           \
    }                                                                                              \
    WP_API void r2(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A,    \
                   int lda) {                                                                      \
        CALL(r2, fill(uplo), n, &alpha, x, incx, y, incy, A, lda);                                 \
    }
RANK_CALLS(cublasSsymv, cublasSsyr, cublasSsyr2, float, float)
RANK_CALLS(cublasDsymv, cublasDsyr, cublasDsyr2, double, double)
RANK_CALLS(cublasChemv, cublasCher, cublasCher2, cuComplex, float)
RANK_CALLS(cublasZhemv, cublasZher, cublasZher2, cuDoubleComplex, double)

#define OUTER_CALL(name, T)                                                                        \
    WP_API void name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A,      \
                     int lda) {                                                                    \
        CALL(name, m, n, &alpha, x, incx, y, incy, A, lda);                                        \
    }
OUTER_CALL(cublasSger, float)
OUTER_CALL(cublasDger, double)
OUTER_CALL(cublasCgeru, cuComplex)
OUTER_CALL(cublasCgerc, cuComplex)
OUTER_CALL(cublasZgeru, cuDoubleComplex)
OUTER_CALL(cublasZgerc, cuDoubleComplex)

#define HERMITIAN_CALLS(X, T, Real)                                                                \
    WP_API void cublas##X##hemm(char side, char uplo, int m, int n, T alpha, const T *A, int lda,  \
                                const T *B, int ldb, T beta, T *C, int ldc) {                      \
        CALL(cublas##X##hemm, at_side(side), fill(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C,   \
             ldc);                                                                                 \
    }                                                                                              \
    WP_API void cublas##X##herk(char uplo, char trans, int n, int k, Real alpha, const T *A,       \
                                int lda, Real beta, T *C, int ldc) {                               \
        CALL(cublas##X##herk, fill(uplo), op(trans), n, k, &alpha, A, lda, &beta, C, ldc);         \
    }                                                                                              \
    WP_API void cublas##X##her2k(char uplo, char trans, int n, int k, T alpha, const T *A,         \
                                 int lda, const T *B, int ldb, Real beta, T *C, int ldc) {         \
        CALL(cublas##X##her2k, fill(uplo), op(trans), n, k, &alpha, A, lda, B, ldb, &beta, C,      \
             ldc);                                                                                 \
    }
HERMITIAN_CALLS(C, cuComplex, float)
HERMITIAN_CALLS(Z, cuDoubleComplex, double)
