/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loads and stores with cache hints. A hint never changes the value; the compiler records it for the
 * model of caches (__wp_cache_…). __ldcv and __stwt are volatile accesses, as they must go to memory
 * each time.
 */
#ifndef WARPAGE_CUDA_WP_MEMORY_H
#define WARPAGE_CUDA_WP_MEMORY_H

#define WP_HINTS(type)                                                                             \
    WP_DEVICE type __ldcg(const type *address) {                                                   \
        return *(const type *)__wp_cache_global(address);                                          \
    }                                                                                              \
    WP_DEVICE type __ldca(const type *address) {                                                   \
        return *address;                                                                           \
    }                                                                                              \
    WP_DEVICE type __ldcs(const type *address) {                                                   \
        return *(const type *)__wp_cache_stream(address);                                          \
    }                                                                                              \
    WP_DEVICE type __ldlu(const type *address) {                                                   \
        return *(const type *)__wp_cache_stream(address);                                          \
    }                                                                                              \
    WP_DEVICE void __stwb(type *address, type value) {                                             \
        *address = value;                                                                          \
    }                                                                                              \
    WP_DEVICE void __stcg(type *address, type value) {                                             \
        *(type *)__wp_cache_global(address) = value;                                               \
    }                                                                                              \
    WP_DEVICE void __stcs(type *address, type value) {                                             \
        *(type *)__wp_cache_stream(address) = value;                                               \
    }
#define WP_HINTS_1(type)                                                                           \
    WP_HINTS(type)                                                                                 \
    WP_DEVICE type __ldcv(const type *address) {                                                   \
        return *(const volatile type *)address;                                                    \
    }                                                                                              \
    WP_DEVICE void __stwt(type *address, type value) {                                             \
        *(volatile type *)address = value;                                                         \
    }
#define WP_HINTS_2(type)                                                                           \
    WP_HINTS(type)                                                                                 \
    WP_DEVICE type __ldcv(const type *address) {                                                   \
        const volatile type *p = address;                                                          \
        type v;                                                                                    \
        v.x = p->x;                                                                                \
        v.y = p->y;                                                                                \
        return v;                                                                                  \
    }                                                                                              \
    WP_DEVICE void __stwt(type *address, type value) {                                             \
        volatile type *p = address;                                                                \
        p->x = value.x;                                                                            \
        p->y = value.y;                                                                            \
    }
#define WP_HINTS_4(type)                                                                           \
    WP_HINTS(type)                                                                                 \
    WP_DEVICE type __ldcv(const type *address) {                                                   \
        const volatile type *p = address;                                                          \
        type v;                                                                                    \
        v.x = p->x;                                                                                \
        v.y = p->y;                                                                                \
        v.z = p->z;                                                                                \
        v.w = p->w;                                                                                \
        return v;                                                                                  \
    }                                                                                              \
    WP_DEVICE void __stwt(type *address, type value) {                                             \
        volatile type *p = address;                                                                \
        p->x = value.x;                                                                            \
        p->y = value.y;                                                                            \
        p->z = value.z;                                                                            \
        p->w = value.w;                                                                            \
    }
WP_HINTS_1(char)
WP_HINTS_1(signed char)
WP_HINTS_1(unsigned char)
WP_HINTS_1(short)
WP_HINTS_1(unsigned short)
WP_HINTS_1(int)
WP_HINTS_1(unsigned int)
WP_HINTS_1(long)
WP_HINTS_1(unsigned long)
WP_HINTS_1(long long)
WP_HINTS_1(unsigned long long)
WP_HINTS_1(float)
WP_HINTS_1(double)
WP_HINTS_2(char2)
WP_HINTS_2(uchar2)
WP_HINTS_2(short2)
WP_HINTS_2(ushort2)
WP_HINTS_2(int2)
WP_HINTS_2(uint2)
WP_HINTS_2(longlong2)
WP_HINTS_2(ulonglong2)
WP_HINTS_2(float2)
WP_HINTS_2(double2)
WP_HINTS_4(char4)
WP_HINTS_4(uchar4)
WP_HINTS_4(short4)
WP_HINTS_4(ushort4)
WP_HINTS_4(int4)
WP_HINTS_4(uint4)
WP_HINTS_4(float4)
#undef WP_HINTS
#undef WP_HINTS_1
#undef WP_HINTS_2
#undef WP_HINTS_4

#endif
