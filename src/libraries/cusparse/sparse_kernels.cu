/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over sparse matrices: those of indices alone, then those of the four element types, from one text. */
#include <cuda_runtime.h>

#include "libraries/cusparse/sparse_index.h"

#define BLOCK 256
#include "libraries/cublas/blas_launch.h"
#include "libraries/element_loop.h"

static cudaError_t launch_one(const void *kernel, cudaStream_t stream, void **arguments) {
    return cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, stream);
}

#define LAUNCH_ONE(kernel, ...) launch_one((const void *)kernel, stream, (void *[]){__VA_ARGS__})

static __device__ void set_index(wpi_indices s, long long i, long long value) {
    if (s.is_long)
        ((long long *)s.data)[i] = value + s.base;
    else
        ((int *)s.data)[i] = (int)value + s.base;
}

/* ---- indices ---- */

#define NOWHERE 0x7fffffffffffffffll /* behind all positions */

/* One thread: a GPU would do it by blocks, but its time is little beside the rest. */
extern "C" __global__ void wpk_sparse_scan(const long long *sizes, long long *starts, long long count) {
    long long sum = 0;
    for (long long i = 0; i < count; i++) {
        const long long size = sizes[i];
        starts[i] = sum;
        sum += size;
    }
    starts[count] = sum;
}

extern "C" __global__ void wpk_sparse_store(const long long *starts, wpi_indices to, long long count) {
    FOR_EACH(i, count + 1) set_index(to, i, starts[i]);
}

extern "C" __global__ void wpk_sparse_bounds(wpi_sparse a, wpi_sparse b, long long *sizes) {
    FOR_EACH(i, a.lines) {
        long long size = 0;
        for (long long k = index_of(a.offsets, i), end = index_of(a.offsets, i + 1); k < end; k++) {
            const long long line = index_of(a.at, k);
            size += index_of(b.offsets, line + 1) - index_of(b.offsets, line);
        }
        sizes[i] = size;
    }
}

extern "C" __global__ void wpk_sparse_sum_sizes(wpi_sparse a, wpi_sparse b, long long *sizes) {
    FOR_EACH(i, a.lines) {
        long long k = index_of(a.offsets, i), l = index_of(b.offsets, i), size = 0;
        const long long end = index_of(a.offsets, i + 1), last = index_of(b.offsets, i + 1);
        for (; k < end || l < last; size++) {
            const long long left = k < end ? index_of(a.at, k) : NOWHERE, right = l < last ? index_of(b.at, l) : NOWHERE;
            k += left <= right;
            l += right <= left;
        }
        sizes[i] = size;
    }
}

extern "C" __global__ void wpk_sparse_compress(const int *line, long long count, int *offsets, long long lines, int base) {
    FOR_EACH(i, lines + 1) {
        long long low = 0, high = count;
        while (low < high) {
            const long long middle = (low + high) / 2;
            if (line[middle] - base < i)
                low = middle + 1;
            else
                high = middle;
        }
        offsets[i] = (int)low + base;
    }
}

extern "C" __global__ void wpk_sparse_uncompress(const int *offsets, long long lines, int *line, int base) {
    FOR_EACH(i, lines) {
        for (long long k = offsets[i] - base; k < offsets[i + 1] - base; k++)
            line[k] = (int)i + base;
    }
}

extern "C" __global__ void wpk_sparse_identity(int *order, long long count) {
    FOR_EACH(i, count) order[i] = (int)i;
}

static __device__ bool is_before(const int *line, const int *at, long long a, long long b) {
    if (line != NULL && line[a] != line[b]) return line[a] < line[b];
    return at[a] < at[b];
}

static __device__ void exchange(int *list, long long a, long long b) {
    if (list == NULL) return;
    const int kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

static __device__ void sink(int *line, int *at, int *order, long long from, long long count) {
    for (long long child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && is_before(line, at, child, child + 1)) child++;
        if (!is_before(line, at, from, child)) return;
        exchange(line, from, child);
        exchange(at, from, child);
        exchange(order, from, child);
    }
}

static __device__ void heap_sort(int *line, int *at, int *order, long long count) {
    for (long long i = count / 2; i-- > 0;)
        sink(line, at, order, i, count);
    for (long long i = count; i-- > 1;) {
        exchange(line, 0, i);
        exchange(at, 0, i);
        exchange(order, 0, i);
        sink(line, at, order, 0, i);
    }
}

extern "C" __global__ void wpk_sparse_sort_lines(const int *offsets, long long lines, int *at, int *order, int base) {
    FOR_EACH(i, lines) {
        const long long start = offsets[i] - base;
        heap_sort(NULL, at + start, order == NULL ? NULL : order + start, offsets[i + 1] - base - start);
    }
}

extern "C" __global__ void wpk_sparse_sort(int *line, int *at, int *order, long long count) {
    heap_sort(line, at, order, count);
}

extern "C" cudaError_t wpi_sparse_scan(cudaStream_t stream, const long long *sizes, long long *starts, long long count) {
    return LAUNCH_ONE(wpk_sparse_scan, &sizes, &starts, &count);
}

extern "C" cudaError_t wpi_sparse_store(cudaStream_t stream, const long long *starts, const wpi_indices *to, long long count) {
    return LAUNCH(wpk_sparse_store, blocks(count + 1), &starts, (void *)to, &count);
}

extern "C" cudaError_t wpi_sparse_bounds(cudaStream_t stream, const wpi_sparse *a, const wpi_sparse *b, long long *sizes) {
    return LAUNCH(wpk_sparse_bounds, blocks(a->lines), (void *)a, (void *)b, &sizes);
}

extern "C" cudaError_t wpi_sparse_compress(cudaStream_t stream, const int *line, long long count, int *offsets, long long lines,
                                           int base) {
    return LAUNCH(wpk_sparse_compress, blocks(lines + 1), &line, &count, &offsets, &lines, &base);
}

extern "C" cudaError_t wpi_sparse_sum_sizes(cudaStream_t stream, const wpi_sparse *a, const wpi_sparse *b, long long *sizes) {
    return LAUNCH(wpk_sparse_sum_sizes, blocks(a->lines), (void *)a, (void *)b, &sizes);
}

extern "C" cudaError_t wpi_sparse_uncompress(cudaStream_t stream, const int *offsets, long long lines, int *line, int base) {
    return LAUNCH(wpk_sparse_uncompress, blocks(lines), &offsets, &lines, &line, &base);
}

extern "C" cudaError_t wpi_sparse_sort_lines(cudaStream_t stream, const int *offsets, long long lines, int *at, int *order,
                                             int base) {
    return LAUNCH(wpk_sparse_sort_lines, blocks(lines), &offsets, &lines, &at, &order, &base);
}

extern "C" cudaError_t wpi_sparse_sort(cudaStream_t stream, int *line, int *at, int *order, long long count) {
    return LAUNCH_ONE(wpk_sparse_sort, &line, &at, &order, &count);
}

extern "C" cudaError_t wpi_sparse_identity(cudaStream_t stream, int *order, long long count) {
    return LAUNCH(wpk_sparse_identity, blocks(count), &order, &count);
}

/* ---- elements ---- */

#define TEXT "libraries/cusparse/sparse_element.h"
#include "libraries/cublas/blas_types.h"

#define LAUNCHES(x)                                                                                \
    {                                                                                              \
        product_##x, solve_##x, sampled_##x, expand_##x, collect_##x, count_##x, gather_lines_##x, \
            spread_lines_##x, transpose_##x, axpby_##x, gather_##x, scatter_##x, dot_##x,          \
            factor_##x, add_matrices_##x, pivot_##x, band_##x                                      \
    }

extern "C" const wpi_sparse_launches wpi_sparse_of[WPI_SPARSE_TYPES] = {LAUNCHES(s), LAUNCHES(d), LAUNCHES(c),
                                                                        LAUNCHES(z)};
