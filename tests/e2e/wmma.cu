/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_80
// DEVICES: cpu cuda sim:v100 (the usual one has no tensor cores)
/* mma.h: D = A * B + C of every shape and type that wmma has, all layouts, in shared and global
 * memory, against a product in plain C. Small integers must come back exactly. */
#include <mma.h>

#include "check.h"

using namespace nvcuda;

enum { STRIDE = 40 }; /* of all matrices, in elements */

template <int m, int n, int k, typename T, typename E, typename D, typename C, typename LA,
          typename LB, wmma::layout_t layout>
__global__ void product(const E *a, const E *b, const C *c, D *d) {
    __shared__ E kept[STRIDE * 32];
    for (int i = threadIdx.x; i < STRIDE * 32; i += 32)
        kept[i] = a[i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, m, n, k, T, LA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, C> fc;
    wmma::fragment<wmma::accumulator, m, n, k, D> fd;
    wmma::load_matrix_sync(fa, kept, STRIDE);
    wmma::load_matrix_sync(fb, b, STRIDE);
    wmma::load_matrix_sync(fc, c, STRIDE, layout);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, STRIDE, layout);
}

/* Fragments element by element: 2 * A * B + 3. */
__global__ void elements(const __half *a, const __half *b, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fd;
    wmma::load_matrix_sync(fa, a, STRIDE);
    wmma::load_matrix_sync(fb, b, STRIDE);
    wmma::fill_fragment(fd, 1.5f);
    wmma::mma_sync(fd, fa, fb, fd);
    for (int i = 0; i < fd.num_elements; i++)
        fd.x[i] *= 2;
    wmma::store_matrix_sync(d, fd, STRIDE, wmma::mem_row_major);
}

__global__ void bits(const unsigned *a, const unsigned *b, int *d, int *both) {
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major>
        fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major>
        fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> fd;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::fill_fragment(fd, 7);
    wmma::bmma_sync(fd, fa, fb, fd);
    wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
    wmma::fill_fragment(fd, 0);
    wmma::bmma_sync(fd, fa, fb, fd, wmma::experimental::bmmaBitOpAND);
    wmma::store_matrix_sync(both, fd, 8, wmma::mem_col_major);
}

__global__ void nibbles(const unsigned *a, const unsigned *b, int *d) {
    wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::s4, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, wmma::experimental::precision::s4, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> fd;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::fill_fragment(fd, 0);
    wmma::mma_sync(fd, fa, fb, fd);
    wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
}

static unsigned seed = 99;
static int below(int limit) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)limit);
}

template <typename A, typename B> struct check_same {
    enum { value = 0 };
};
template <typename A> struct check_same<A, A> {
    enum { value = 1 };
};

template <typename T> static double number(T value) {
    return (double)value;
}
static double number(__half value) {
    return __half2float(value);
}
static double number(__nv_bfloat16 value) {
    return __bfloat162float(value);
}
template <typename T> static void set(T *to, int value) {
    *to = (T)value;
}
static void set(__half *to, int value) {
    *to = __float2half((float)value);
}
static void set(__nv_bfloat16 *to, int value) {
    *to = __float2bfloat16((float)value);
}

template <int m, int n, int k, typename T, typename E, typename D, typename C, typename LA,
          typename LB, wmma::layout_t layout>
static void try_layouts(void) {
    bool is_a_row = check_same<LA, wmma::row_major>::value;
    bool is_b_row = check_same<LB, wmma::row_major>::value;
    bool is_c_row = layout == wmma::mem_row_major;
    E *a = check_managed<E>(STRIDE * 32), *b = check_managed<E>(STRIDE * 32);
    C *c = check_managed<C>(STRIDE * 32);
    D *d = check_managed<D>(STRIDE * 32);
    for (int i = 0; i < STRIDE * 32; i++) {
        bool is_signed = (E)-1 < (E)1;
        set(&a[i], is_signed ? below(19) - 9 : below(200));
        set(&b[i], is_signed ? below(19) - 9 : below(200));
        set(&c[i], below(41) - 20);
        set(&d[i], 77);
    }
    product<m, n, k, T, E, D, C, LA, LB, layout><<<1, 32>>>(a, b, c, d);
    KERNEL_OK();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int at = is_c_row ? i * STRIDE + j : j * STRIDE + i;
            double sum = number(c[at]);
            for (int x = 0; x < k; x++)
                sum += number(a[is_a_row ? i * STRIDE + x : x * STRIDE + i]) *
                       number(b[is_b_row ? x * STRIDE + j : j * STRIDE + x]);
            CHECK_EQ(number(d[at]), sum);
        }
    CHECK_EQ(number(d[STRIDE - 1]), 77);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
}

template <int m, int n> static void try_types(void) {
    try_layouts<m, n, 16, __half, __half, float, float, wmma::row_major, wmma::col_major,
                wmma::mem_row_major>();
    try_layouts<m, n, 16, __half, __half, __half, __half, wmma::col_major, wmma::row_major,
                wmma::mem_col_major>();
    try_layouts<m, n, 16, __nv_bfloat16, __nv_bfloat16, float, float, wmma::row_major,
                wmma::row_major, wmma::mem_row_major>();
    try_layouts<m, n, 16, signed char, signed char, int, int, wmma::row_major, wmma::col_major,
                wmma::mem_col_major>();
}

int main(void) {
    try_types<16, 16>();
    try_types<32, 8>();
    try_types<8, 32>();
    try_layouts<16, 16, 16, __half, __half, float, __half, wmma::row_major, wmma::row_major,
                wmma::mem_row_major>();
    try_layouts<16, 16, 16, __half, __half, __half, float, wmma::col_major, wmma::col_major,
                wmma::mem_col_major>();
    try_layouts<32, 8, 16, unsigned char, unsigned char, int, int, wmma::col_major, wmma::row_major,
                wmma::mem_row_major>();
    try_layouts<16, 16, 8, wmma::precision::tf32, float, float, float, wmma::row_major,
                wmma::col_major, wmma::mem_row_major>();
    try_layouts<16, 16, 8, wmma::precision::tf32, float, float, float, wmma::col_major,
                wmma::row_major, wmma::mem_col_major>();
    try_layouts<8, 8, 4, double, double, double, double, wmma::row_major, wmma::row_major,
                wmma::mem_row_major>();
    try_layouts<8, 8, 4, double, double, double, double, wmma::col_major, wmma::col_major,
                wmma::mem_col_major>();

    __half *a = check_managed<__half>(STRIDE * 16), *b = check_managed<__half>(STRIDE * 16);
    float *d = check_managed<float>(STRIDE * 16);
    for (int i = 0; i < STRIDE * 16; i++) {
        set(&a[i], below(19) - 9);
        set(&b[i], below(19) - 9);
    }
    elements<<<1, 32>>>(a, b, d);
    KERNEL_OK();
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            double sum = 1.5;
            for (int x = 0; x < 16; x++)
                sum += number(a[i * STRIDE + x]) * number(b[j * STRIDE + x]);
            CHECK_EQ(d[i * STRIDE + j], 2 * sum);
        }

    unsigned *x = check_managed<unsigned>(32), *y = check_managed<unsigned>(32);
    int *differ = check_managed<int>(64), *both = check_managed<int>(64);
    for (int i = 0; i < 32; i++) {
        x[i] = (unsigned)below(1 << 16) << 16 | (unsigned)below(1 << 16);
        y[i] = (unsigned)below(1 << 16) << 16 | (unsigned)below(1 << 16);
    }
    bits<<<1, 32>>>(x, y, differ, both);
    KERNEL_OK();
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            int xors = 7, ands = 0;
            for (int w = 0; w < 4; w++) {
                xors += __builtin_popcount(x[4 * i + w] ^ y[4 * j + w]);
                ands += __builtin_popcount(x[4 * i + w] & y[4 * j + w]);
            }
            CHECK_EQ(differ[8 * i + j], xors);
            CHECK_EQ(both[8 * j + i], ands);
        }
    nibbles<<<1, 32>>>(x, y, differ);
    KERNEL_OK();
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            int sum = 0;
            for (int e = 0; e < 32; e++) {
                int p = (int)(x[4 * i + e / 8] >> (e % 8 * 4) & 15);
                int q = (int)(y[4 * j + e / 8] >> (e % 8 * 4) & 15);
                sum += (p < 8 ? p : p - 16) * (q < 8 ? q : q - 16);
            }
            CHECK_EQ(differ[8 * i + j], sum);
        }
    return check_done();
}
