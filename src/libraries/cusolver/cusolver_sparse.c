/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse systems. The rows and columns are reordered (reverse Cuthill and McKee), so that the
 * entries lie in a band around the diagonal, and one block of threads factors the band: by
 * Householder's reflectors, or by Cholesky where the matrix is positive definite.
 *
 * The pattern and the entries are read on the host, which makes the band.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "libraries/cusolver/cusolver_handle.h"
#include "warpage/cuda/cusolverSp.h"
#include "warpage/cudart.h"

#define OK CUSOLVER_STATUS_SUCCESS
#define INVALID CUSOLVER_STATUS_INVALID_VALUE
#define MAGIC 0x776172702d737073u

struct cusolverSpContext {
    uint64_t magic;
    cudaStream_t stream;
};

WP_API cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *handle) {
    if (handle == NULL) return INVALID;
    *handle = NULL;
    if (wp_cudart_device() == NULL) return CUSOLVER_STATUS_NOT_INITIALIZED;
    struct cusolverSpContext *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUSOLVER_STATUS_ALLOC_FAILED;
    made->magic = MAGIC;
    *handle = made;
    return OK;
}

static cusolverStatus_t enter(cusolverSpHandle_t handle) {
    return handle != NULL && handle->magic == MAGIC ? OK : CUSOLVER_STATUS_NOT_INITIALIZED;
}

WP_API cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
    CUSOLVER_TRY(enter(handle));
    handle->magic = 0;
    wpi_free(handle);
    return OK;
}

WP_API cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId) {
    CUSOLVER_TRY(enter(handle));
    handle->stream = streamId;
    return OK;
}

WP_API cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *streamId) {
    CUSOLVER_TRY(enter(handle));
    if (streamId == NULL) return INVALID;
    *streamId = handle->stream;
    return OK;
}

/* ---- a system on the host ---- */

/* Rows from 0. `place[i]` is the place of row and column i in the band's order. */
typedef struct sparse_system {
    int type, n, count;
    int *offsets, *at, *place;
    char *values, *right; /* elements of the type */
    bool is_definite;     /* the lower triangle stands for both */
} sparse_system;

static void release(sparse_system *s) {
    wpi_free(s->offsets);
    wpi_free(s->at);
    wpi_free(s->place);
    wpi_free(s->values);
    wpi_free(s->right);
}

/* Takes offsets and columns, which may be the system's own, off their base, and the given order. */
static cusolverStatus_t copy_pattern(sparse_system *s, const int *offsets, const int *at,
                                     int base) {
    for (int i = 0; i <= s->n; i++) {
        s->offsets[i] = offsets[i] - base;
        if (s->offsets[i] < (i > 0 ? s->offsets[i - 1] : 0) || s->offsets[i] > s->count)
            return INVALID;
    }
    for (int k = 0; k < s->count; k++) {
        s->at[k] = at[k] - base;
        if (s->at[k] < 0 || s->at[k] >= s->n) return INVALID;
    }
    for (int i = 0; i < s->n; i++)
        s->place[i] = i;
    return s->offsets[s->n] == s->count ? OK : INVALID;
}

static cusolverStatus_t read_system(sparse_system *s, cudaStream_t stream, const void *values,
                                    const int *offsets, const int *at, int base,
                                    const void *right) {
    const size_t bytes = wpi_cusolver_bytes(s->type), n = (size_t)s->n, count = (size_t)s->count;
    s->offsets = wpi_malloc((n + 1) * sizeof *s->offsets);
    s->at = wpi_malloc((count + 1) * sizeof *s->at);
    s->place = wpi_malloc((n + 1) * sizeof *s->place);
    s->values = wpi_malloc(count * bytes + 1);
    s->right = wpi_malloc(n * bytes + 1);
    if (s->offsets == NULL || s->at == NULL || s->place == NULL || s->values == NULL ||
        s->right == NULL)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } copies[] = {{s->offsets, offsets, (n + 1) * sizeof *offsets},
                  {s->at, at, count * sizeof *at},
                  {s->values, values, count * bytes},
                  {s->right, right, n * bytes}};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        CUSOLVER_TRY(wpi_cusolver_status(cudaMemcpyAsync(
            copies[i].to, copies[i].from, copies[i].bytes, cudaMemcpyDefault, stream)));
    CUSOLVER_TRY(wpi_cusolver_status(cudaStreamSynchronize(stream)));
    return copy_pattern(s, s->offsets, s->at, base);
}

/* ---- the order ---- */

typedef struct neighbours {
    int *offsets, *at, *degree;
} neighbours;

/* Of each row, the others that it has an entry for, or that have one for it; some occur twice. */
static bool list_neighbours(const sparse_system *s, neighbours *g) {
    const size_t n = (size_t)s->n;
    g->offsets = wpi_calloc(n + 2, sizeof *g->offsets);
    g->at = wpi_malloc((2 * (size_t)s->count + 1) * sizeof *g->at);
    g->degree = wpi_calloc(n + 1, sizeof *g->degree);
    if (g->offsets == NULL || g->at == NULL || g->degree == NULL) return false;
    for (int i = 0; i < s->n; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            if (s->at[k] != i) g->degree[i]++, g->degree[s->at[k]]++;
    for (int i = 0; i < s->n; i++)
        g->offsets[i + 1] = g->offsets[i] + g->degree[i];
    memset(g->degree, 0, n * sizeof *g->degree);
    for (int i = 0; i < s->n; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
            const int j = s->at[k];
            if (j == i) continue;
            g->at[g->offsets[i] + g->degree[i]++] = j;
            g->at[g->offsets[j] + g->degree[j]++] = i;
        }
    return true;
}

/* Breadth first, from a row of the lowest degree of each component, neighbours by their degree; the
 * order is turned around. */
static bool reorder(sparse_system *s) {
    neighbours g = {0};
    int *queue = wpi_malloc(((size_t)s->n + 1) * sizeof *queue);
    bool is_made = queue != NULL && list_neighbours(s, &g);
    for (int i = 0; i < s->n && is_made; i++)
        s->place[i] = -1;
    for (int taken = 0, next = 0; next < s->n && is_made;) {
        if (taken == next) { /* another component */
            int start = -1;
            for (int i = 0; i < s->n; i++)
                if (s->place[i] < 0 && (start < 0 || g.degree[i] < g.degree[start])) start = i;
            s->place[start] = s->n - 1 - next;
            queue[next++] = start;
        }
        const int row = queue[taken++], first = next;
        for (int k = g.offsets[row]; k < g.offsets[row + 1]; k++) {
            const int other = g.at[k];
            if (s->place[other] >= 0) continue;
            s->place[other] = 0; /* seen */
            int to = next++;
            for (; to > first && g.degree[queue[to - 1]] > g.degree[other]; to--)
                queue[to] = queue[to - 1];
            queue[to] = other;
        }
        for (int i = first; i < next; i++)
            s->place[queue[i]] = s->n - 1 - i;
    }
    wpi_free(queue);
    wpi_free(g.offsets);
    wpi_free(g.at);
    wpi_free(g.degree);
    return is_made;
}

/* ---- patterns, on the host ---- */

/* The pattern of a matrix, without entries; *status says why there is none. */
static bool read_pattern(sparse_system *s, cusolverSpHandle_t handle, int n, int count,
                         const cusparseMatDescr_t descr, const int *offsets, const int *at,
                         cusolverStatus_t *status) {
    *s = (sparse_system){.n = n, .count = count};
    *status = enter(handle);
    if (*status == OK && (n < 0 || count < 0 || descr == NULL || offsets == NULL || at == NULL))
        *status = INVALID;
    if (*status != OK) return false;
    const size_t rows = (size_t)n + 1;
    const int base = (int)cusparseGetMatIndexBase(descr);
    s->offsets = wpi_malloc(rows * sizeof *s->offsets);
    s->at = wpi_malloc(((size_t)count + 1) * sizeof *s->at);
    s->place = wpi_malloc(rows * sizeof *s->place);
    if (s->offsets == NULL || s->at == NULL || s->place == NULL)
        *status = CUSOLVER_STATUS_ALLOC_FAILED;
    else
        *status = copy_pattern(s, offsets, at, base);
    return *status == OK;
}

/* order[i] is the row that becomes row i. */
static cusolverStatus_t find_order(cusolverSpHandle_t handle, int n, int count,
                                   const cusparseMatDescr_t descr, const int *offsets,
                                   const int *at, int *order) {
    sparse_system s = {0};
    cusolverStatus_t status = order == NULL ? INVALID : OK;
    if (status == OK && read_pattern(&s, handle, n, count, descr, offsets, at, &status)) {
        if (!reorder(&s)) status = CUSOLVER_STATUS_ALLOC_FAILED;
        for (int i = 0; i < n && status == OK; i++)
            order[s.place[i]] = i;
    }
    release(&s);
    return status;
}

/* All are orders in which few places are filled; there is one method. */
#define ORDER(name)                                                                                \
    WP_API cusolverStatus_t cusolverSpX##name##Host(                                               \
        cusolverSpHandle_t handle, int n, int nnzA, const cusparseMatDescr_t descrA,               \
        const int *csrRowPtrA, const int *csrColIndA, int *p) {                                    \
        return find_order(handle, n, nnzA, descrA, csrRowPtrA, csrColIndA, p);                     \
    }
ORDER(csrsymrcm)
ORDER(csrsymmdq)
ORDER(csrsymamd)

WP_API cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnzA,
                                                  const cusparseMatDescr_t descrA,
                                                  const int *csrRowPtrA, const int *csrColIndA,
                                                  const int64_t *options, int *p) {
    (void)options;
    return find_order(handle, n, nnzA, descrA, csrRowPtrA, csrColIndA, p);
}

static bool has_entry(const sparse_system *s, int row, int column) {
    for (int k = s->offsets[row]; k < s->offsets[row + 1]; k++)
        if (s->at[k] == column) return true;
    return false;
}

WP_API cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnzA,
                                                const cusparseMatDescr_t descrA,
                                                const int *csrRowPtrA, const int *csrEndPtrA,
                                                const int *csrColIndA, int *issym) {
    sparse_system s = {0};
    cusolverStatus_t status = issym == NULL || csrEndPtrA != csrRowPtrA + 1 ? INVALID : OK;
    if (status == OK &&
        read_pattern(&s, handle, m, nnzA, descrA, csrRowPtrA, csrColIndA, &status)) {
        *issym = 1;
        for (int i = 0; i < m; i++)
            for (int k = s.offsets[i]; k < s.offsets[i + 1]; k++)
                if (!has_entry(&s, s.at[k], i)) *issym = 0;
    }
    release(&s);
    return status;
}

WP_API cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n,
                                                          int nnzA, const cusparseMatDescr_t descrA,
                                                          const int *csrRowPtrA,
                                                          const int *csrColIndA, const int *p,
                                                          const int *q, size_t *bufferSizeInBytes) {
    (void)descrA, (void)csrRowPtrA, (void)csrColIndA, (void)p, (void)q;
    CUSOLVER_TRY(enter(handle));
    if (m < 0 || n < 0 || nnzA < 0 || bufferSizeInBytes == NULL) return INVALID;
    *bufferSizeInBytes = 1;
    return OK;
}

/* Row i becomes row p[i] of the given matrix, column j column q[j]; rows stay sorted, and `map`
 * goes along with the entries. */
static void permute_rows(const sparse_system *s, const int *p, const int *from, int *offsets,
                         int *at, int *map, const int *old_map, int base) {
    int next = 0;
    for (int i = 0; i < s->n; i++) {
        const int first = next;
        offsets[i] = next + base;
        for (int k = s->offsets[p[i]]; k < s->offsets[p[i] + 1]; k++) {
            const int column = from[s->at[k]];
            int to = next++;
            for (; to > first && at[to - 1] > column + base; to--)
                at[to] = at[to - 1], map[to] = map[to - 1];
            at[to] = column + base;
            map[to] = old_map[k];
        }
    }
    offsets[s->n] = next + base;
}

static bool is_permutation(const int *p, int n, int *inverse) {
    for (int i = 0; i < n; i++)
        inverse[i] = -1;
    for (int i = 0; i < n; i++) {
        if (p[i] < 0 || p[i] >= n || inverse[p[i]] >= 0) return false;
        inverse[p[i]] = i;
    }
    return true;
}

WP_API cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                               const cusparseMatDescr_t descrA, int *csrRowPtrA,
                                               int *csrColIndA, const int *p, const int *q,
                                               int *map, void *pBuffer) {
    (void)pBuffer;
    sparse_system s = {0};
    cusolverStatus_t status = p == NULL || q == NULL || map == NULL ? INVALID : OK;
    if (status == OK && m != n) status = CUSOLVER_STATUS_NOT_SUPPORTED;
    if (status == OK &&
        read_pattern(&s, handle, m, nnzA, descrA, csrRowPtrA, csrColIndA, &status)) {
        int *old_map = wpi_malloc(((size_t)nnzA + 1) * sizeof *old_map);
        int *inverse = wpi_malloc(((size_t)n + 1) * sizeof *inverse);
        if (old_map == NULL || inverse == NULL) {
            status = CUSOLVER_STATUS_ALLOC_FAILED;
        } else if (!is_permutation(p, m, inverse) || !is_permutation(q, n, inverse)) {
            status = INVALID;
        } else {
            memcpy(old_map, map, (size_t)nnzA * sizeof *old_map);
            permute_rows(&s, p, inverse, csrRowPtrA, csrColIndA, map, old_map,
                         (int)cusparseGetMatIndexBase(descrA));
        }
        wpi_free(old_map);
        wpi_free(inverse);
    }
    release(&s);
    return status;
}

/* ---- the band ---- */

/* Entries below and above the diagonal, at most. */
static void widths(const sparse_system *s, int *below, int *above) {
    *below = *above = 0;
    for (int i = 0; i < s->n; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
            const int distance = s->place[i] - s->place[s->at[k]];
            if (distance > *below) *below = distance;
            if (-distance > *above) *above = -distance;
        }
    if (s->is_definite) *below = *above = *below > *above ? *below : *above;
}

/* Adds to an element of the band, or its conjugate. Entries may occur twice in a row. */
static void put(const sparse_system *s, char *to, const char *from, bool is_conjugated) {
    const int parts = s->type / 2 + 1;
    for (int p = 0; p < parts; p++) {
        const int sign = is_conjugated && p == 1 ? -1 : 1;
        if (s->type % 2 == 0)
            ((float *)(void *)to)[p] += (float)sign * ((const float *)(const void *)from)[p];
        else
            ((double *)(void *)to)[p] += sign * ((const double *)(const void *)from)[p];
    }
}

static char *make_band(const sparse_system *s, const wpi_solver_band *b) {
    const size_t bytes = wpi_cusolver_bytes(s->type);
    char *band = wpi_calloc((size_t)b->n * (size_t)b->width + 1, bytes);
    for (int i = 0; band != NULL && i < s->n; i++)
        for (int k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
            int row = s->place[i], column = s->place[s->at[k]];
            if (s->is_definite && s->at[k] > i) continue;
            const bool is_turned = s->is_definite && column > row;
            if (is_turned) {
                const int kept = row;
                row = column, column = kept;
            }
            put(s,
                band + ((size_t)row * (size_t)b->width + (size_t)(column - row + b->below)) * bytes,
                s->values + (size_t)k * bytes, is_turned);
        }
    return band;
}

static void permute(const sparse_system *s, char *to, const char *from, bool is_back) {
    const size_t bytes = wpi_cusolver_bytes(s->type);
    for (int i = 0; i < s->n; i++) {
        const size_t original = (size_t)i * bytes, place = (size_t)s->place[i] * bytes;
        memcpy(to + (is_back ? original : place), from + (is_back ? place : original), bytes);
    }
}

/* On the device: band, right-hand side, one reflector, the place of the first bad pivot. */
static cusolverStatus_t factor(const sparse_system *s, cudaStream_t stream, wpi_solver_band *b,
                               const char *band, char *x, int *singularity) {
    const size_t bytes = wpi_cusolver_bytes(s->type);
    const size_t band_bytes = (size_t)b->n * (size_t)b->width * bytes;
    const size_t x_bytes = (size_t)b->n * bytes;
    char *room;
    CUSOLVER_TRY(wpi_cusolver_status(
        cudaMalloc((void **)&room, band_bytes + x_bytes + (size_t)(b->below + 1) * bytes + 16)));
    b->a = room, b->x = room + band_bytes, b->v = room + band_bytes + x_bytes;
    b->singularity = (int *)(void *)(room + band_bytes + x_bytes + (size_t)(b->below + 1) * bytes);
    cudaError_t error = cudaMemcpyAsync(b->a, band, band_bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(b->x, x, x_bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = wpi_solver[s->type].band(stream, b);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(x, b->x, x_bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(singularity, b->singularity, sizeof *singularity,
                                cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    const cudaError_t freed = cudaFree(room);
    return wpi_cusolver_status(error != cudaSuccess ? error : freed);
}

static cusolverStatus_t solve_on_host(sparse_system *s, cudaStream_t stream, double tolerance,
                                      char *x, int *singularity) {
    wpi_solver_band b = {.n = s->n, .is_definite = s->is_definite, .tolerance = tolerance};
    widths(s, &b.below, &b.above);
    b.width = s->is_definite ? b.below + 1 : 2 * b.below + b.above + 1;
    char *band = make_band(s, &b),
         *permuted = wpi_malloc((size_t)s->n * wpi_cusolver_bytes(s->type));
    cusolverStatus_t status = CUSOLVER_STATUS_ALLOC_FAILED;
    if (band != NULL && permuted != NULL) {
        permute(s, permuted, s->right, false);
        status = factor(s, stream, &b, band, permuted, singularity);
        permute(s, x, permuted, true);
    }
    wpi_free(band);
    wpi_free(permuted);
    return status;
}

/* Memory of the program may be of the host or of the device. */
static cusolverStatus_t solve(cusolverSpHandle_t handle, int type, bool is_definite, int n,
                              int count, const cusparseMatDescr_t descr, const void *values,
                              const int *offsets, const int *at, const void *right,
                              double tolerance, int order, void *x, int *singularity) {
    CUSOLVER_TRY(enter(handle));
    if (n < 0 || count < 0 || descr == NULL || singularity == NULL || order < 0 || order > 3)
        return INVALID;
    if (cusparseGetMatType(descr) != CUSPARSE_MATRIX_TYPE_GENERAL)
        return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
    *singularity = -1;
    if (n == 0) return OK;
    sparse_system s = {.type = type, .n = n, .count = count, .is_definite = is_definite};
    const size_t x_bytes = (size_t)n * wpi_cusolver_bytes(type);
    char *found = wpi_malloc(x_bytes);
    cusolverStatus_t status = found == NULL
                                  ? CUSOLVER_STATUS_ALLOC_FAILED
                                  : read_system(&s, handle->stream, values, offsets, at,
                                                (int)cusparseGetMatIndexBase(descr), right);
    if (status == OK && order != 0 && !reorder(&s)) status = CUSOLVER_STATUS_ALLOC_FAILED;
    if (status == OK) status = solve_on_host(&s, handle->stream, tolerance, found, singularity);
    if (status == OK)
        status = wpi_cusolver_status(
            cudaMemcpyAsync(x, found, x_bytes, cudaMemcpyDefault, handle->stream));
    if (status == OK) status = wpi_cusolver_status(cudaStreamSynchronize(handle->stream));
    release(&s);
    wpi_free(found);
    return status;
}

#define SOLVE(X, T, R, type, name, is_definite)                                                    \
    WP_API cusolverStatus_t cusolverSp##X##name(                                                   \
        cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t descrA,                \
        const T *csrVal, const int *csrRowPtr, const int *csrColInd, const T *b, R tol,            \
        int reorder, T *x, int *singularity) {                                                     \
        return solve(handle, type, is_definite, m, nnz, descrA, csrVal, csrRowPtr, csrColInd, b,   \
                     (double)tol, reorder, x, singularity);                                        \
    }

#define CALLS(X, T, R, type)                                                                       \
    SOLVE(X, T, R, type, csrlsvqr, false)                                                          \
    SOLVE(X, T, R, type, csrlsvqrHost, false)                                                      \
    SOLVE(X, T, R, type, csrlsvluHost, false)                                                      \
    SOLVE(X, T, R, type, csrlsvchol, true)                                                         \
    SOLVE(X, T, R, type, csrlsvcholHost, true)

CALLS(S, float, float, 0)
CALLS(D, double, double, 1)
CALLS(C, cuComplex, float, 2)
CALLS(Z, cuDoubleComplex, double, 3)
