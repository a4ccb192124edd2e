/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sums, maxima and minima of two and three integers, for dynamic programming (DPX), on host and
 * device. The suffix says the type: s32, u32, or two halves of a word as s16x2, u16x2. Sums wrap
 * around. `_relu`: clamped at 0. `__vib…` also return which operand was selected.
 */
#ifndef WARPAGE_CUDA_WP_DPX_H
#define WARPAGE_CUDA_WP_DPX_H

#define WP_DPX static __inline__ __host__ __device__

WP_DPX int wp_low_s16(unsigned int a) {
    return (short)(a & 0xffffu);
}
WP_DPX int wp_high_s16(unsigned int a) {
    return (short)(a >> 16);
}
WP_DPX unsigned int wp_low_u16(unsigned int a) {
    return a & 0xffffu;
}
WP_DPX unsigned int wp_high_u16(unsigned int a) {
    return a >> 16;
}

#define WP_DPX_KIND(max, op)                                                                       \
    WP_DPX int wp_##max##_s32(int a, int b) {                                                      \
        return a op b ? a : b;                                                                     \
    }                                                                                              \
    WP_DPX unsigned int wp_##max##_u32(unsigned int a, unsigned int b) {                           \
        return a op b ? a : b;                                                                     \
    }                                                                                              \
    WP_DPX unsigned int wp_##max##_s16x2(unsigned int a, unsigned int b) {                         \
        const unsigned int low = wp_low_s16(a) op wp_low_s16(b) ? a : b;                           \
        const unsigned int high = wp_high_s16(a) op wp_high_s16(b) ? a : b;                        \
        return (low & 0xffffu) | (high & 0xffff0000u);                                             \
    }                                                                                              \
    WP_DPX unsigned int wp_##max##_u16x2(unsigned int a, unsigned int b) {                         \
        const unsigned int low = wp_low_u16(a) op wp_low_u16(b) ? a : b;                           \
        const unsigned int high = wp_high_u16(a) op wp_high_u16(b) ? a : b;                        \
        return (low & 0xffffu) | (high & 0xffff0000u);                                             \
    }                                                                                              \
    WP_DPX int __vib##max##_s32(const int a, const int b, bool *const is_first) {                  \
        *is_first = a op b;                                                                        \
        return wp_##max##_s32(a, b);                                                               \
    }                                                                                              \
    WP_DPX unsigned int __vib##max##_u32(const unsigned int a, const unsigned int b,               \
                                         bool *const is_first) {                                   \
        *is_first = a op b;                                                                        \
        return wp_##max##_u32(a, b);                                                               \
    }                                                                                              \
    WP_DPX unsigned int __vib##max##_s16x2(const unsigned int a, const unsigned int b,             \
                                           bool *const is_first_high, bool *const is_first_low) {  \
        *is_first_high = wp_high_s16(a) op wp_high_s16(b);                                         \
        *is_first_low = wp_low_s16(a) op wp_low_s16(b);                                            \
        return wp_##max##_s16x2(a, b);                                                             \
    }                                                                                              \
    WP_DPX unsigned int __vib##max##_u16x2(const unsigned int a, const unsigned int b,             \
                                           bool *const is_first_high, bool *const is_first_low) {  \
        *is_first_high = wp_high_u16(a) op wp_high_u16(b);                                         \
        *is_first_low = wp_low_u16(a) op wp_low_u16(b);                                            \
        return wp_##max##_u16x2(a, b);                                                             \
    }
WP_DPX_KIND(max, >=)
WP_DPX_KIND(min, <=)
#undef WP_DPX_KIND

WP_DPX int wp_add_s32(int a, int b) {
    return (int)((unsigned int)a + (unsigned int)b);
}
WP_DPX unsigned int wp_add_u32(unsigned int a, unsigned int b) {
    return a + b;
}
WP_DPX unsigned int wp_add_u16x2(unsigned int a, unsigned int b) {
    return ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}
WP_DPX unsigned int wp_add_s16x2(unsigned int a, unsigned int b) {
    return wp_add_u16x2(a, b);
}

#define WP_DPX_TYPE(max, suffix, type)                                                             \
    WP_DPX type __vi##max##3_##suffix(const type a, const type b, const type c) {                  \
        return wp_##max##_##suffix(wp_##max##_##suffix(a, b), c);                                  \
    }                                                                                              \
    WP_DPX type __viadd##max##_##suffix(const type a, const type b, const type c) {                \
        return wp_##max##_##suffix(wp_add_##suffix(a, b), c);                                      \
    }
#define WP_DPX_RELU(max, suffix, type)                                                             \
    WP_DPX_TYPE(max, suffix, type)                                                                 \
    WP_DPX type __vi##max##_##suffix##_relu(const type a, const type b) {                          \
        return wp_max_##suffix(wp_##max##_##suffix(a, b), 0);                                      \
    }                                                                                              \
    WP_DPX type __vi##max##3_##suffix##_relu(const type a, const type b, const type c) {           \
        return wp_max_##suffix(__vi##max##3_##suffix(a, b, c), 0);                                 \
    }                                                                                              \
    WP_DPX type __viadd##max##_##suffix##_relu(const type a, const type b, const type c) {         \
        return wp_max_##suffix(__viadd##max##_##suffix(a, b, c), 0);                               \
    }
WP_DPX_RELU(max, s32, int)
WP_DPX_RELU(min, s32, int)
WP_DPX_RELU(max, s16x2, unsigned int)
WP_DPX_RELU(min, s16x2, unsigned int)
WP_DPX_TYPE(max, u32, unsigned int)
WP_DPX_TYPE(min, u32, unsigned int)
WP_DPX_TYPE(max, u16x2, unsigned int)
WP_DPX_TYPE(min, u16x2, unsigned int)
#undef WP_DPX_TYPE
#undef WP_DPX_RELU
#undef WP_DPX

#endif
