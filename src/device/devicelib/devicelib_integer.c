/* SPDX-License-Identifier: Apache-2.0 */
/** Integer functions that every device computes alike: extremes, counts of bits, averages. */
#include "device/devicelib/devicelib.h"

#include <stdint.h>

int __nv_abs(int a) {
    return (int)(a < 0 ? 0u - (unsigned int)a : (unsigned int)a);
}
long long __nv_llabs(long long a) {
    return (long long)(a < 0 ? 0ull - (unsigned long long)a : (unsigned long long)a);
}
#define MIN_MAX(min, max, type)                                                                    \
    type __nv_##min(type a, type b) {                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    type __nv_##max(type a, type b) {                                                              \
        return a > b ? a : b;                                                                      \
    }
MIN_MAX(min, max, int)
MIN_MAX(umin, umax, unsigned int)
MIN_MAX(llmin, llmax, long long)
MIN_MAX(ullmin, ullmax, unsigned long long)

int __nv_clz(int a) {
    return a == 0 ? 32 : __builtin_clz((unsigned int)a);
}
int __nv_clzll(long long a) {
    return a == 0 ? 64 : __builtin_clzll((unsigned long long)a);
}
int __nv_ffs(int a) {
    return __builtin_ffs(a);
}
int __nv_ffsll(long long a) {
    return __builtin_ffsll(a);
}
int __nv_popc(unsigned int a) {
    return __builtin_popcount(a);
}
int __nv_popcll(unsigned long long a) {
    return __builtin_popcountll(a);
}

/* Averages without overflow, rounded down (h) or up (rh). */
int __nv_hadd(int a, int b) {
    return (int)(((int64_t)a + b) >> 1);
}
int __nv_rhadd(int a, int b) {
    return (int)(((int64_t)a + b + 1) >> 1);
}
int __nv_uhadd(unsigned int a, unsigned int b) {
    return (int)(uint32_t)(((uint64_t)a + b) >> 1);
}
unsigned int __nv_urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((uint64_t)a + b + 1) >> 1);
}
