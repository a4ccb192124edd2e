/* SPDX-License-Identifier: Apache-2.0 */
/** __match_any_sync and __match_all_sync for all types, over the 32 and 64-bit forms that clang's
 *  intrinsics header, which includes this one, defines just before. */
#ifndef WARPAGE_CUDA_SM_70_RT_HPP
#define WARPAGE_CUDA_SM_70_RT_HPP

#define WP_MATCH(type, bits, as_bits)                                                              \
    static __device__ __inline__ unsigned int __match_any_sync(unsigned int mask, type value) {    \
        return __match##bits##_any_sync(mask, as_bits(value));                                     \
    }                                                                                              \
    static __device__ __inline__ unsigned int __match_all_sync(unsigned int mask, type value,      \
                                                               int *pred) {                        \
        return __match##bits##_all_sync(mask, as_bits(value), pred);                               \
    }
WP_MATCH(unsigned int, 32, (unsigned int))
WP_MATCH(int, 32, (unsigned int))
WP_MATCH(unsigned long, 64, (unsigned long long))
WP_MATCH(long, 64, (unsigned long long))
WP_MATCH(unsigned long long, 64, (unsigned long long))
WP_MATCH(long long, 64, (unsigned long long))
WP_MATCH(float, 32, __float_as_uint)
WP_MATCH(double, 64, (unsigned long long)__double_as_longlong)
#undef WP_MATCH

#endif
