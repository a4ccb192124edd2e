/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products on the CPU device by the host's own BLAS, through its C interface. Device memory is host
 * memory there, so the product is a host function of the stream.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "libraries/cublas/cublas_handle.h"
#include "libraries/cuda_library.h"

#define BY_COLUMNS 102 /* cblas.h: CblasColMajor */

typedef void (*gemm_s)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                       int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void (*gemm_d)(int order, int ta, int tb, int m, int n, int k, double alpha,
                       const double *a, int lda, const double *b, int ldb, double beta, double *c,
                       int ldc);
typedef void (*gemm_complex)(int order, int ta, int tb, int m, int n, int k, const void *alpha,
                             const void *a, int lda, const void *b, int ldb, const void *beta,
                             void *c, int ldc);

static struct {
    gemm_s s;
    gemm_d d;
    gemm_complex c, z;
    bool is_there;
} blas;

/* A pointer to a function of a library: ISO C has no cast for it. */
static void find(void *library, const char *name, void *function) {
    void *const found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

/* The kernels of OpenBLAS that the processor can run, by name. */
static const char *core_type(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
}

/* OpenBLAS chooses its kernels when it is loaded, by the processor's model; for a model that is
 * newer than the library, those of 2004. */
static void *with_fast_kernels(void *library, const char *const *names) {
    char *(*core_name)(void) = NULL;
    const char *type = core_type();
    find(library, "openblas_get_corename", &core_name);
    if (core_name == NULL || type == NULL || strcmp(core_name(), "Prescott") != 0 ||
        getenv("OPENBLAS_CORETYPE") != NULL)
        return library;
    dlclose(library);
    setenv("OPENBLAS_CORETYPE", type, 1);
    library = wpi_host_library(names);
    unsetenv("OPENBLAS_CORETYPE");
    return library;
}

static void load(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2",
                                        "libblis.so.4", NULL};
    void *library = wpi_host_library(names);
    if (library != NULL) library = with_fast_kernels(library, names);
    if (library == NULL) return;
    find(library, "cblas_sgemm", &blas.s);
    find(library, "cblas_dgemm", &blas.d);
    find(library, "cblas_cgemm", &blas.c);
    find(library, "cblas_zgemm", &blas.z);
    blas.is_there = blas.s != NULL && blas.d != NULL && blas.c != NULL && blas.z != NULL;
}

typedef struct work {
    wpi_blas_type type;
    wpi_product product;
} work;

static void *at(const wpi_matrix *m, long long batch, size_t element_bytes) {
    char *data = m->array != NULL ? m->array[batch]
                                  : (char *)m->data + batch * m->stride * (long long)element_bytes;
    return data + m->offset * (long long)element_bytes;
}

static int op_of(const wpi_matrix *m) {
    static const int ops[] = {111, 112, 113, 114}; /* no, transposed, both, conjugated */
    return ops[m->op];
}

/* The value of a factor as the type stores it. */
static const void *factor(wpi_scalar s, wpi_blas_type type, double store[2]) {
    if (s.pointer != NULL) return s.pointer;
    if (type == WPI_BLAS_D || type == WPI_BLAS_Z) {
        store[0] = s.re, store[1] = s.im;
    } else {
        const float values[2] = {(float)s.re, (float)s.im};
        memcpy(store, values, sizeof values);
    }
    return store;
}

static void multiply(void *argument) {
    work *w = argument;
    const wpi_product *p = &w->product;
    const size_t bytes = wpi_cublas_element_bytes(w->type);
    const int ta = op_of(&p->a), tb = op_of(&p->b);
    double alpha_store[2], beta_store[2];
    const void *alpha = factor(p->alpha, w->type, alpha_store);
    const void *beta = factor(p->beta, w->type, beta_store);
    for (int i = 0; i < p->batch; i++) {
        void *a = at(&p->a, i, bytes), *b = at(&p->b, i, bytes), *c = at(&p->c, i, bytes);
        switch (w->type) {
        case WPI_BLAS_S:
            blas.s(BY_COLUMNS, ta, tb, p->m, p->n, p->k, *(const float *)alpha, a, p->a.ld, b,
                   p->b.ld, *(const float *)beta, c, p->c.ld);
            break;
        case WPI_BLAS_D:
            blas.d(BY_COLUMNS, ta, tb, p->m, p->n, p->k, *(const double *)alpha, a, p->a.ld, b,
                   p->b.ld, *(const double *)beta, c, p->c.ld);
            break;
        case WPI_BLAS_C:
            blas.c(BY_COLUMNS, ta, tb, p->m, p->n, p->k, alpha, a, p->a.ld, b, p->b.ld, beta, c,
                   p->c.ld);
            break;
        default:
            blas.z(BY_COLUMNS, ta, tb, p->m, p->n, p->k, alpha, a, p->a.ld, b, p->b.ld, beta, c,
                   p->c.ld);
            break;
        }
    }
    wpi_free(w);
}

bool wpi_host_blas_product(cudaStream_t stream, wpi_blas_type type, const wpi_product *p,
                           cudaError_t *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (type >= WPI_BLAS_TYPES || p->k == 0 || p->a.shape != WPI_SHAPE_GENERAL ||
        p->b.shape != WPI_SHAPE_GENERAL || p->c.triangle != WPI_TRIANGLE_ALL || p->is_real_diagonal)
        return false;
    pthread_once(&once, load);
    if (!blas.is_there) return false;
    work *w = wpi_malloc(sizeof *w);
    if (w == NULL) return false;
    *w = (work){type, *p};
    *error = cudaLaunchHostFunc(stream, multiply, w);
    if (*error != cudaSuccess) wpi_free(w);
    return true;
}
