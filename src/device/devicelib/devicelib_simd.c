/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SIMD within a word: two 16-bit or four 8-bit lanes in 32 bits. Each function widens its lanes,
 * computes one by one and packs again, a form that vectorises.
 *
 * Suffixes: 2 or 4 lanes; s signed, u unsigned; ss and us saturate to the lane's range.
 */
#include "device/devicelib/devicelib.h"

#include <stdint.h>

/* Lane `i` of `bits` bits, sign- or zero-extended. */
static int32_t lane_s(uint32_t v, unsigned int i, unsigned int bits) {
    return (int32_t)(v << (32u - bits * (i + 1u))) >> (32u - bits);
}

static int32_t lane_u(uint32_t v, unsigned int i, unsigned int bits) {
    return (int32_t)((v >> (bits * i)) & ((1u << bits) - 1u));
}

static uint32_t place(int32_t value, unsigned int i, unsigned int bits) {
    return ((uint32_t)value & ((1u << bits) - 1u)) << (bits * i);
}

static int32_t clamp(int32_t v, int32_t low, int32_t high) {
    return v < low ? low : v > high ? high : v;
}

/* The range of a lane. */
#define S_MIN(bits) (-(1 << ((bits) - 1)))
#define S_MAX(bits) ((1 << ((bits) - 1)) - 1)
#define U_MAX(bits) ((1 << (bits)) - 1)

/* One lane at a time: x and y are lanes of a and b, `value` the lane of the result. */
#define LANES(name, count, bits, lane, value)                                                      \
    int name(int a, int b) {                                                                       \
        uint32_t result = 0;                                                                       \
        for (unsigned int i = 0; i < (count); i++) {                                               \
            const int32_t x = lane((uint32_t)a, i, bits);                                          \
            const int32_t y = lane((uint32_t)b, i, bits);                                          \
            result |= place(value, i, bits);                                                       \
        }                                                                                          \
        return (int)result;                                                                        \
    }
#define LANES_1(name, count, bits, lane, value)                                                    \
    int name(int a) {                                                                              \
        uint32_t result = 0;                                                                       \
        for (unsigned int i = 0; i < (count); i++) {                                               \
            const int32_t x = lane((uint32_t)a, i, bits);                                          \
            result |= place(value, i, bits);                                                       \
        }                                                                                          \
        return (int)result;                                                                        \
    }
/* Sum over the lanes of |x - y|. */
#define LANES_SUM(name, count, bits, lane)                                                         \
    int name(int a, int b) {                                                                       \
        int sum = 0;                                                                               \
        for (unsigned int i = 0; i < (count); i++) {                                               \
            const int32_t x = lane((uint32_t)a, i, bits);                                          \
            const int32_t y = lane((uint32_t)b, i, bits);                                          \
            sum += x < y ? y - x : x - y;                                                          \
        }                                                                                          \
        return sum;                                                                                \
    }
/* set: 1 where it holds; cmp: all bits of the lane. */
#define COMPARE(suffix, count, bits, lane, relation)                                               \
    LANES(__nv_vset##suffix##count, count, bits, lane, x relation y ? 1 : 0)                       \
    LANES(__nv_vcmp##suffix##count, count, bits, lane, x relation y ? -1 : 0)

#define FAMILY(n, bits)                                                                            \
    LANES_1(__nv_vabs##n, n, bits, lane_s, x < 0 ? -x : x)                                         \
    LANES_1(__nv_vabsss##n, n, bits, lane_s, clamp(x < 0 ? -x : x, 0, S_MAX(bits)))                \
    LANES_1(__nv_vneg##n, n, bits, lane_s, -x)                                                     \
    LANES_1(__nv_vnegss##n, n, bits, lane_s, clamp(-x, S_MIN(bits), S_MAX(bits)))                  \
    LANES(__nv_vadd##n, n, bits, lane_u, x + y)                                                    \
    LANES(__nv_vaddss##n, n, bits, lane_s, clamp(x + y, S_MIN(bits), S_MAX(bits)))                 \
    LANES(__nv_vaddus##n, n, bits, lane_u, clamp(x + y, 0, U_MAX(bits)))                           \
    LANES(__nv_vsub##n, n, bits, lane_u, x - y)                                                    \
    LANES(__nv_vsubss##n, n, bits, lane_s, clamp(x - y, S_MIN(bits), S_MAX(bits)))                 \
    LANES(__nv_vsubus##n, n, bits, lane_u, clamp(x - y, 0, U_MAX(bits)))                           \
    LANES(__nv_vabsdiffs##n, n, bits, lane_s, x < y ? y - x : x - y)                               \
    LANES(__nv_vabsdiffu##n, n, bits, lane_u, x < y ? y - x : x - y)                               \
    LANES(__nv_vavgs##n, n, bits, lane_s, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)                     \
    LANES(__nv_vavgu##n, n, bits, lane_u, (x + y + 1) >> 1)                                        \
    LANES(__nv_vhaddu##n, n, bits, lane_u, (x + y) >> 1)                                           \
    LANES(__nv_vmins##n, n, bits, lane_s, x < y ? x : y)                                           \
    LANES(__nv_vminu##n, n, bits, lane_u, x < y ? x : y)                                           \
    LANES(__nv_vmaxs##n, n, bits, lane_s, x > y ? x : y)                                           \
    LANES(__nv_vmaxu##n, n, bits, lane_u, x > y ? x : y)                                           \
    LANES_SUM(__nv_vsads##n, n, bits, lane_s)                                                      \
    LANES_SUM(__nv_vsadu##n, n, bits, lane_u)                                                      \
    COMPARE(eq, n, bits, lane_u, ==)                                                               \
    COMPARE(ne, n, bits, lane_u, !=)                                                               \
    COMPARE(ges, n, bits, lane_s, >=)                                                              \
    COMPARE(geu, n, bits, lane_u, >=)                                                              \
    COMPARE(gts, n, bits, lane_s, >)                                                               \
    COMPARE(gtu, n, bits, lane_u, >)                                                               \
    COMPARE(les, n, bits, lane_s, <=)                                                              \
    COMPARE(leu, n, bits, lane_u, <=)                                                              \
    COMPARE(lts, n, bits, lane_s, <)                                                               \
    COMPARE(ltu, n, bits, lane_u, <)

FAMILY(2, 16u)
FAMILY(4, 8u)
