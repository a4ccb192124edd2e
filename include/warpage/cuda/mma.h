/* SPDX-License-Identifier: Apache-2.0 */
/**
 * nvcuda::wmma: products of matrices by the lanes of a warp, as inline PTX.
 *
 * A fragment's element x[i] is unspecified, except that it is the same for fragments of one kind.
 */
#ifndef WARPAGE_CUDA_MMA_H
#define WARPAGE_CUDA_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

template <typename T> struct wp_storage {
    typedef T element;
    typedef T storage;
    enum { packed = 1 };
};
template <> struct wp_storage<precision::tf32> {
    typedef float element;
    typedef float storage;
    enum { packed = 1 };
};
template <> struct wp_storage<experimental::precision::u4> {
    typedef unsigned element;
    typedef unsigned storage;
    enum { packed = 8 };
};
template <> struct wp_storage<experimental::precision::s4> {
    typedef int element;
    typedef int storage;
    enum { packed = 8 };
};
template <> struct wp_storage<experimental::precision::b1> {
    typedef unsigned element;
    typedef unsigned storage;
    enum { packed = 32 };
};

template <typename T, int count> struct wp_fragment {
    enum { num_elements = count, num_storage_elements = count / wp_storage<T>::packed };
    typedef typename wp_storage<T>::element element_type;
    typedef typename wp_storage<T>::storage storage_element_type;
    alignas(8) storage_element_type x[count / wp_storage<T>::packed];
};

template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

#define WP_FRAGMENT(m, n, k, T, a, b)                                                              \
    template <typename Layout>                                                                     \
    class fragment<matrix_a, m, n, k, T, Layout> : public wp_fragment<T, a> {};                    \
    template <typename Layout>                                                                     \
    class fragment<matrix_b, m, n, k, T, Layout> : public wp_fragment<T, b> {};
#define WP_ACCUMULATOR(m, n, k, T, c)                                                              \
    template <> class fragment<accumulator, m, n, k, T> : public wp_fragment<T, c> {};

/* Elements of a lane. Fragments of halves have each element twice or more often. */
WP_FRAGMENT(16, 16, 16, __half, 16, 16)
WP_FRAGMENT(32, 8, 16, __half, 16, 16)
WP_FRAGMENT(8, 32, 16, __half, 16, 16)
WP_FRAGMENT(16, 16, 16, __nv_bfloat16, 8, 8)
WP_FRAGMENT(32, 8, 16, __nv_bfloat16, 16, 4)
WP_FRAGMENT(8, 32, 16, __nv_bfloat16, 4, 16)
WP_FRAGMENT(16, 16, 16, signed char, 8, 8)
WP_FRAGMENT(32, 8, 16, signed char, 16, 4)
WP_FRAGMENT(8, 32, 16, signed char, 4, 16)
WP_FRAGMENT(16, 16, 16, unsigned char, 8, 8)
WP_FRAGMENT(32, 8, 16, unsigned char, 16, 4)
WP_FRAGMENT(8, 32, 16, unsigned char, 4, 16)
WP_FRAGMENT(16, 16, 8, precision::tf32, 4, 4)
WP_FRAGMENT(8, 8, 4, double, 1, 1)
WP_FRAGMENT(8, 8, 32, experimental::precision::u4, 8, 8)
WP_FRAGMENT(8, 8, 32, experimental::precision::s4, 8, 8)
WP_FRAGMENT(8, 8, 128, experimental::precision::b1, 32, 32)
WP_ACCUMULATOR(16, 16, 16, __half, 8)
WP_ACCUMULATOR(32, 8, 16, __half, 8)
WP_ACCUMULATOR(8, 32, 16, __half, 8)
WP_ACCUMULATOR(16, 16, 16, float, 8)
WP_ACCUMULATOR(32, 8, 16, float, 8)
WP_ACCUMULATOR(8, 32, 16, float, 8)
WP_ACCUMULATOR(16, 16, 8, float, 8)
WP_ACCUMULATOR(16, 16, 16, int, 8)
WP_ACCUMULATOR(32, 8, 16, int, 8)
WP_ACCUMULATOR(8, 32, 16, int, 8)
WP_ACCUMULATOR(8, 8, 32, int, 2)
WP_ACCUMULATOR(8, 8, 128, int, 2)
WP_ACCUMULATOR(8, 8, 4, double, 2)
#undef WP_FRAGMENT
#undef WP_ACCUMULATOR

template <typename T, int count, typename V>
__device__ inline void fill_fragment(wp_fragment<T, count> &f, const V &value) {
#pragma unroll
    for (int i = 0; i < wp_fragment<T, count>::num_storage_elements; i++)
        f.x[i] = value;
}

/** Rounds to TF32's 10 bits of mantissa, ties away from zero. */
__device__ inline float __float_to_tf32(float value) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

/* ---- registers of a fragment as asm operands: w.w[i] ---- */

template <typename W, int count> struct wp_words {
    W w[count];
};

#define WP_O1(r, p, x) [p##0] "=" r(x[0])
#define WP_O2(r, p, x) WP_O1(r, p, x), [p##1] "=" r(x[1])
#define WP_O4(r, p, x) WP_O2(r, p, x), [p##2] "=" r(x[2]), [p##3] "=" r(x[3])
#define WP_O8(r, p, x)                                                                             \
    WP_O4(r, p, x), [p##4] "=" r(x[4]), [p##5] "=" r(x[5]), [p##6] "=" r(x[6]), [p##7] "=" r(x[7])
#define WP_I1(r, p, x) [p##0] r(x[0])
#define WP_I2(r, p, x) WP_I1(r, p, x), [p##1] r(x[1])
#define WP_I4(r, p, x) WP_I2(r, p, x), [p##2] r(x[2]), [p##3] r(x[3])
#define WP_I8(r, p, x)                                                                             \
    WP_I4(r, p, x), [p##4] r(x[4]), [p##5] r(x[5]), [p##6] r(x[6]), [p##7] r(x[7])
#define WP_T1(p) "{%[" p "0]}"
#define WP_T2(p) "{%[" p "0],%[" p "1]}"
#define WP_T4(p) "{%[" p "0],%[" p "1],%[" p "2],%[" p "3]}"
#define WP_T8(p) "{%[" p "0],%[" p "1],%[" p "2],%[" p "3],%[" p "4],%[" p "5],%[" p "6],%[" p "7]}"

/* ---- loads and stores ---- */

#define WP_LOAD_TEXT(part, layout, shape, type, count)                                             \
    "wmma.load." part ".sync.aligned." layout "." shape "." type                                   \
    " " WP_T##count("d") ", [%[p]], %[stride];"

#define WP_LOAD(use, part, m, n, k, T, Element, type, W, r, count, Layout, layout)                 \
    __device__ inline void load_matrix_sync(fragment<use, m, n, k, T, Layout> &f,                  \
                                            const Element *p, unsigned stride) {                   \
        W d[count];                                                                                \
        asm volatile(WP_LOAD_TEXT(part, layout, "m" #m "n" #n "k" #k, type, count)                 \
                     : WP_O##count(r, d, d)                                                        \
                     : [p] "l"(p), [stride] "r"(stride)                                            \
                     : "memory");                                                                  \
        __builtin_memcpy(f.x, d, sizeof d);                                                        \
    }
#define WP_LOADS(m, n, k, T, Element, type, W, r, a, b)                                            \
    WP_LOAD(matrix_a, "a", m, n, k, T, Element, type, W, r, a, row_major, "row")                   \
    WP_LOAD(matrix_a, "a", m, n, k, T, Element, type, W, r, a, col_major, "col")                   \
    WP_LOAD(matrix_b, "b", m, n, k, T, Element, type, W, r, b, row_major, "row")                   \
    WP_LOAD(matrix_b, "b", m, n, k, T, Element, type, W, r, b, col_major, "col")

WP_LOADS(16, 16, 16, __half, __half, "f16", unsigned, "r", 8, 8)
WP_LOADS(32, 8, 16, __half, __half, "f16", unsigned, "r", 8, 8)
WP_LOADS(8, 32, 16, __half, __half, "f16", unsigned, "r", 8, 8)
WP_LOADS(16, 16, 16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned, "r", 4, 4)
WP_LOADS(32, 8, 16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned, "r", 8, 2)
WP_LOADS(8, 32, 16, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned, "r", 2, 8)
WP_LOADS(16, 16, 16, signed char, signed char, "s8", unsigned, "r", 2, 2)
WP_LOADS(32, 8, 16, signed char, signed char, "s8", unsigned, "r", 4, 1)
WP_LOADS(8, 32, 16, signed char, signed char, "s8", unsigned, "r", 1, 4)
WP_LOADS(16, 16, 16, unsigned char, unsigned char, "u8", unsigned, "r", 2, 2)
WP_LOADS(32, 8, 16, unsigned char, unsigned char, "u8", unsigned, "r", 4, 1)
WP_LOADS(8, 32, 16, unsigned char, unsigned char, "u8", unsigned, "r", 1, 4)
WP_LOADS(16, 16, 8, precision::tf32, float, "tf32", unsigned, "r", 4, 4)
WP_LOADS(8, 8, 4, double, double, "f64", double, "d", 1, 1)
/* Elements shorter than a byte lie along K in memory. */
#define WP_LOADS_PACKED(k, T, type)                                                                \
    WP_LOAD(matrix_a, "a", 8, 8, k, T, void, type, unsigned, "r", 1, row_major, "row")             \
    WP_LOAD(matrix_b, "b", 8, 8, k, T, void, type, unsigned, "r", 1, col_major, "col")
WP_LOADS_PACKED(32, experimental::precision::u4, "u4")
WP_LOADS_PACKED(32, experimental::precision::s4, "s4")
WP_LOADS_PACKED(128, experimental::precision::b1, "b1")

#define WP_STORE_TEXT(layout, shape, type, count)                                                  \
    "wmma.store.d.sync.aligned." layout "." shape "." type                                         \
    " [%[p]], " WP_T##count("d") ", %[stride];"

#define WP_ACCUMULATOR(m, n, k, T, type, W, r, count)                                              \
    __device__ inline void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p,      \
                                            unsigned stride, layout_t layout) {                    \
        W d[count];                                                                                \
        if (layout == mem_row_major)                                                               \
            asm volatile(WP_LOAD_TEXT("c", "row", "m" #m "n" #n "k" #k, type, count)               \
                         : WP_O##count(r, d, d)                                                    \
                         : [p] "l"(p), [stride] "r"(stride)                                        \
                         : "memory");                                                              \
        else                                                                                       \
            asm volatile(WP_LOAD_TEXT("c", "col", "m" #m "n" #n "k" #k, type, count)               \
                         : WP_O##count(r, d, d)                                                    \
                         : [p] "l"(p), [stride] "r"(stride)                                        \
                         : "memory");                                                              \
        __builtin_memcpy(f.x, d, sizeof d);                                                        \
    }                                                                                              \
    __device__ inline void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f,     \
                                             unsigned stride, layout_t layout) {                   \
        W d[count];                                                                                \
        __builtin_memcpy(d, f.x, sizeof d);                                                        \
        if (layout == mem_row_major)                                                               \
            asm volatile(WP_STORE_TEXT("row", "m" #m "n" #n "k" #k, type, count)                   \
                         :                                                                         \
                         : [p] "l"(p), WP_I##count(r, d, d), [stride] "r"(stride)                  \
                         : "memory");                                                              \
        else                                                                                       \
            asm volatile(WP_STORE_TEXT("col", "m" #m "n" #n "k" #k, type, count)                   \
                         :                                                                         \
                         : [p] "l"(p), WP_I##count(r, d, d), [stride] "r"(stride)                  \
                         : "memory");                                                              \
    }
WP_ACCUMULATOR(16, 16, 16, __half, "f16", unsigned, "r", 4)
WP_ACCUMULATOR(32, 8, 16, __half, "f16", unsigned, "r", 4)
WP_ACCUMULATOR(8, 32, 16, __half, "f16", unsigned, "r", 4)
WP_ACCUMULATOR(16, 16, 16, float, "f32", float, "f", 8)
WP_ACCUMULATOR(32, 8, 16, float, "f32", float, "f", 8)
WP_ACCUMULATOR(8, 32, 16, float, "f32", float, "f", 8)
WP_ACCUMULATOR(16, 16, 8, float, "f32", float, "f", 8)
WP_ACCUMULATOR(16, 16, 16, int, "s32", unsigned, "r", 8)
WP_ACCUMULATOR(32, 8, 16, int, "s32", unsigned, "r", 8)
WP_ACCUMULATOR(8, 32, 16, int, "s32", unsigned, "r", 8)
WP_ACCUMULATOR(8, 8, 32, int, "s32", unsigned, "r", 2)
WP_ACCUMULATOR(8, 8, 128, int, "s32", unsigned, "r", 2)
WP_ACCUMULATOR(8, 8, 4, double, "f64", double, "d", 2)

/* ---- products ---- */

#define WP_PRODUCT(ar, an, bn, dr, dn, cr, cn, text)                                               \
    asm volatile(text                                                                              \
                 " " WP_T##dn("d") ", " WP_T##an("a") ", " WP_T##bn("b") ", " WP_T##cn("c") ";"    \
                 : WP_O##dn(dr, d, dw)                                                             \
                 : WP_I##an(ar, a, aw), WP_I##bn(ar, b, bw), WP_I##cn(cr, c, cw));

#define WP_MMA(m, n, k, T, LA, la, LB, lb, D, C, types, AW, ar, a, b, DW, dr, dn, CW, cr, cn,      \
               has_saturation, saturated)                                                          \
    __device__ inline void mma_sync(                                                               \
        fragment<accumulator, m, n, k, D> &fd, const fragment<matrix_a, m, n, k, T, LA> &fa,       \
        const fragment<matrix_b, m, n, k, T, LB> &fb, const fragment<accumulator, m, n, k, C> &fc, \
        bool saturates = false) {                                                                  \
        AW aw[a], bw[b];                                                                           \
        CW cw[cn];                                                                                 \
        DW dw[dn];                                                                                 \
        __builtin_memcpy(aw, fa.x, sizeof aw);                                                     \
        __builtin_memcpy(bw, fb.x, sizeof bw);                                                     \
        __builtin_memcpy(cw, fc.x, sizeof cw);                                                     \
        if (has_saturation && saturates)                                                           \
            WP_PRODUCT(ar, a, b, dr, dn, cr, cn,                                                   \
                       "wmma.mma.sync.aligned." la "." lb ".m" #m "n" #n "k" #k types saturated)   \
        else                                                                                       \
            WP_PRODUCT(ar, a, b, dr, dn, cr, cn,                                                   \
                       "wmma.mma.sync.aligned." la "." lb ".m" #m "n" #n "k" #k types)             \
        __builtin_memcpy(fd.x, dw, sizeof dw);                                                     \
    }
#define WP_MMA_LAYOUTS(m, n, k, T, ...)                                                            \
    WP_MMA(m, n, k, T, row_major, "row", row_major, "row", __VA_ARGS__)                            \
    WP_MMA(m, n, k, T, row_major, "row", col_major, "col", __VA_ARGS__)                            \
    WP_MMA(m, n, k, T, col_major, "col", row_major, "row", __VA_ARGS__)                            \
    WP_MMA(m, n, k, T, col_major, "col", col_major, "col", __VA_ARGS__)

#define WP_MMA_HALF(m, n)                                                                          \
    WP_MMA_LAYOUTS(m, n, 16, __half, float, float, ".f32.f32", unsigned, "r", 8, 8, float, "f", 8, \
                   float, "f", 8, 0, "")                                                           \
    WP_MMA_LAYOUTS(m, n, 16, __half, __half, float, ".f16.f32", unsigned, "r", 8, 8, unsigned,     \
                   "r", 4, float, "f", 8, 0, "")                                                   \
    WP_MMA_LAYOUTS(m, n, 16, __half, float, __half, ".f32.f16", unsigned, "r", 8, 8, float, "f",   \
                   8, unsigned, "r", 4, 0, "")                                                     \
    WP_MMA_LAYOUTS(m, n, 16, __half, __half, __half, ".f16.f16", unsigned, "r", 8, 8, unsigned,    \
                   "r", 4, unsigned, "r", 4, 0, "")
WP_MMA_HALF(16, 16)
WP_MMA_HALF(32, 8)
WP_MMA_HALF(8, 32)

#define WP_MMA_OTHERS(m, n, a16, b16, a8, b8)                                                      \
    WP_MMA_LAYOUTS(m, n, 16, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", unsigned, "r",     \
                   a16, b16, float, "f", 8, float, "f", 8, 0, "")                                  \
    WP_MMA_LAYOUTS(m, n, 16, signed char, int, int, ".s32.s8.s8.s32", unsigned, "r", a8, b8,       \
                   unsigned, "r", 8, unsigned, "r", 8, 1, ".satfinite")                            \
    WP_MMA_LAYOUTS(m, n, 16, unsigned char, int, int, ".s32.u8.u8.s32", unsigned, "r", a8, b8,     \
                   unsigned, "r", 8, unsigned, "r", 8, 1, ".satfinite")
WP_MMA_OTHERS(16, 16, 4, 4, 2, 2)
WP_MMA_OTHERS(32, 8, 8, 2, 4, 1)
WP_MMA_OTHERS(8, 32, 2, 8, 1, 4)
WP_MMA_LAYOUTS(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", unsigned, "r", 4, 4,
               float, "f", 8, float, "f", 8, 0, "")
WP_MMA_LAYOUTS(8, 8, 4, double, double, double, ".f64.f64.f64.f64", double, "d", 1, 1, double, "d",
               2, double, "d", 2, 0, "")
WP_MMA(8, 8, 32, experimental::precision::s4, row_major, "row", col_major, "col", int, int,
       ".s32.s4.s4.s32", unsigned, "r", 1, 1, unsigned, "r", 2, unsigned, "r", 2, 1, ".satfinite")
WP_MMA(8, 8, 32, experimental::precision::u4, row_major, "row", col_major, "col", int, int,
       ".s32.u4.u4.s32", unsigned, "r", 1, 1, unsigned, "r", 2, unsigned, "r", 2, 1, ".satfinite")

/** Counts bits in which rows of A and columns of B differ, or which both have set. */
__device__ inline void
bmma_sync(fragment<accumulator, 8, 8, 128, int> &fd,
          const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &fa,
          const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &fb,
          const fragment<accumulator, 8, 8, 128, int> &fc,
          experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
          experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
    const unsigned *aw = fa.x, *bw = fb.x;
    const int *cw = fc.x;
    int *dw = fd.x;
    if (op == experimental::bmmaBitOpAND)
        asm volatile("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 " WP_T2(
                         "d") ", " WP_T1("a") ", " WP_T1("b") ", " WP_T2("c") ";"
                     : WP_O2("r", d, dw)
                     : WP_I1("r", a, aw), WP_I1("r", b, bw), WP_I2("r", c, cw));
    else
        asm volatile("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 " WP_T2(
                         "d") ", " WP_T1("a") ", " WP_T1("b") ", " WP_T2("c") ";"
                     : WP_O2("r", d, dw)
                     : WP_I1("r", a, aw), WP_I1("r", b, bw), WP_I2("r", c, cw));
}

namespace experimental {
using wmma::bmma_sync;
}

#undef WP_O1
#undef WP_O2
#undef WP_O4
#undef WP_O8
#undef WP_I1
#undef WP_I2
#undef WP_I4
#undef WP_I8
#undef WP_T1
#undef WP_T2
#undef WP_T4
#undef WP_T8
#undef WP_LOAD_TEXT
#undef WP_LOAD
#undef WP_LOADS
#undef WP_LOADS_PACKED
#undef WP_STORE_TEXT
#undef WP_ACCUMULATOR
#undef WP_PRODUCT
#undef WP_MMA
#undef WP_MMA_LAYOUTS
#undef WP_MMA_HALF
#undef WP_MMA_OTHERS

} // namespace wmma
} // namespace nvcuda

#endif
#endif
