/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of cublas.h that cublas_v2.h has by the same names. Included once, by cublas.h. */

/* ---- vectors ---- */

#define WP_VECTOR_CALLS(X, x_, T, R, Real)                                                         \
    void cublas##X##axpy(int n, T alpha, const T *x, int incx, T *y, int incy);                    \
    void cublas##X##copy(int n, const T *x, int incx, T *y, int incy);                             \
    void cublas##X##swap(int n, T *x, int incx, T *y, int incy);                                   \
    void cublas##X##scal(int n, T alpha, T *x, int incx);                                          \
    void cublas##X##rot(int n, T *x, int incx, T *y, int incy, Real c, T s);                       \
    Real cublas##R##nrm2(int n, const T *x, int incx);                                             \
    Real cublas##R##asum(int n, const T *x, int incx);                                             \
    int cublasI##x_##amax(int n, const T *x, int incx);                                            \
    int cublasI##x_##amin(int n, const T *x, int incx);
WP_VECTOR_CALLS(S, s, float, S, float)
WP_VECTOR_CALLS(D, d, double, D, double)
WP_VECTOR_CALLS(C, c, cuComplex, Sc, float)
WP_VECTOR_CALLS(Z, z, cuDoubleComplex, Dz, double)
#undef WP_VECTOR_CALLS

float cublasSdot(int n, const float *x, int incx, const float *y, int incy);
double cublasDdot(int n, const double *x, int incx, const double *y, int incy);
cuComplex cublasCdotu(int n, const cuComplex *x, int incx, const cuComplex *y, int incy);
cuComplex cublasCdotc(int n, const cuComplex *x, int incx, const cuComplex *y, int incy);
cuDoubleComplex cublasZdotu(int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y,
                            int incy);
cuDoubleComplex cublasZdotc(int n, const cuDoubleComplex *x, int incx, const cuDoubleComplex *y,
                            int incy);
void cublasCsscal(int n, float alpha, cuComplex *x, int incx);
void cublasZdscal(int n, double alpha, cuDoubleComplex *x, int incx);
void cublasCsrot(int n, cuComplex *x, int incx, cuComplex *y, int incy, float c, float s);
void cublasZdrot(int n, cuDoubleComplex *x, int incx, cuDoubleComplex *y, int incy, double c,
                 double s);

/* ---- matrices ---- */

#define WP_MATRIX_CALLS(X, T)                                                                      \
    void cublas##X##gemv(char trans, int m, int n, T alpha, const T *A, int lda, const T *x,       \
                         int incx, T beta, T *y, int incy);                                        \
    void cublas##X##trmv(char uplo, char trans, char diag, int n, const T *A, int lda, T *x,       \
                         int incx);                                                                \
    void cublas##X##trsv(char uplo, char trans, char diag, int n, const T *A, int lda, T *x,       \
                         int incx);                                                                \
    void cublas##X##gemm(char transa, char transb, int m, int n, int k, T alpha, const T *A,       \
                         int lda, const T *B, int ldb, T beta, T *C, int ldc);                     \
    void cublas##X##symm(char side, char uplo, int m, int n, T alpha, const T *A, int lda,         \
                         const T *B, int ldb, T beta, T *C, int ldc);                              \
    void cublas##X##syrk(char uplo, char trans, int n, int k, T alpha, const T *A, int lda,        \
                         T beta, T *C, int ldc);                                                   \
    void cublas##X##syr2k(char uplo, char trans, int n, int k, T alpha, const T *A, int lda,       \
                          const T *B, int ldb, T beta, T *C, int ldc);                             \
    void cublas##X##trmm(char side, char uplo, char trans, char diag, int m, int n, T alpha,       \
                         const T *A, int lda, T *B, int ldb);                                      \
    void cublas##X##trsm(char side, char uplo, char trans, char diag, int m, int n, T alpha,       \
                         const T *A, int lda, T *B, int ldb);
WP_MATRIX_CALLS(S, float)
WP_MATRIX_CALLS(D, double)
WP_MATRIX_CALLS(C, cuComplex)
WP_MATRIX_CALLS(Z, cuDoubleComplex)
#undef WP_MATRIX_CALLS

/* Rank-1 and rank-2 updates, and products with a symmetric or Hermitian matrix. */
#define WP_RANK_CALLS(mv, r, r2, T, Real)                                                          \
    void cublas##mv(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta,  \
                    T *y, int incy);                                                               \
    void cublas##r(char uplo, int n, Real alpha, const T *x, int incx, T *A, int lda);             \
    void cublas##r2(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A,   \
                    int lda);
WP_RANK_CALLS(Ssymv, Ssyr, Ssyr2, float, float)
WP_RANK_CALLS(Dsymv, Dsyr, Dsyr2, double, double)
WP_RANK_CALLS(Chemv, Cher, Cher2, cuComplex, float)
WP_RANK_CALLS(Zhemv, Zher, Zher2, cuDoubleComplex, double)
#undef WP_RANK_CALLS

#define WP_OUTER_CALL(name, T)                                                                     \
    void cublas##name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A,     \
                      int lda);
WP_OUTER_CALL(Sger, float)
WP_OUTER_CALL(Dger, double)
WP_OUTER_CALL(Cgeru, cuComplex)
WP_OUTER_CALL(Cgerc, cuComplex)
WP_OUTER_CALL(Zgeru, cuDoubleComplex)
WP_OUTER_CALL(Zgerc, cuDoubleComplex)
#undef WP_OUTER_CALL

#define WP_HERMITIAN_CALLS(X, T, Real)                                                             \
    void cublas##X##hemm(char side, char uplo, int m, int n, T alpha, const T *A, int lda,         \
                         const T *B, int ldb, T beta, T *C, int ldc);                              \
    void cublas##X##herk(char uplo, char trans, int n, int k, Real alpha, const T *A, int lda,     \
                         Real beta, T *C, int ldc);                                                \
    void cublas##X##her2k(char uplo, char trans, int n, int k, T alpha, const T *A, int lda,       \
                          const T *B, int ldb, Real beta, T *C, int ldc);
WP_HERMITIAN_CALLS(C, cuComplex, float)
WP_HERMITIAN_CALLS(Z, cuDoubleComplex, double)
#undef WP_HERMITIAN_CALLS
