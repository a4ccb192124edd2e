/* SPDX-License-Identifier: Apache-2.0 */
/** Atomic operations that kernels and their twins on the host share: what they update is the same,
 *  so are the results. All are relaxed, and every GPU since Kepler has them. */
#ifndef APP_STREAMING_ATOMICS_H
#define APP_STREAMING_ATOMICS_H

#include <cuda_runtime.h>
#include <stdint.h>

static __host__ __device__ __forceinline__ void app_add(unsigned long long *at,
                                                        unsigned long long value) {
#ifdef __CUDA_ARCH__
    atomicAdd(at, value);
#else
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

/** Returns what was there. */
static __host__ __device__ __forceinline__ uint32_t app_add(uint32_t *at, uint32_t value) {
#ifdef __CUDA_ARCH__
    return atomicAdd(at, value);
#else
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

static __host__ __device__ __forceinline__ void app_or(uint32_t *at, uint32_t value) {
#ifdef __CUDA_ARCH__
    atomicOr(at, value);
#else
    __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
#endif
}

/** Puts `value` where `expected` is; returns what was there. */
static __host__ __device__ __forceinline__ unsigned long long
app_swap_if(unsigned long long *at, unsigned long long expected, unsigned long long value) {
#ifdef __CUDA_ARCH__
    return atomicCAS(at, expected, value);
#else
    __atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
#endif
}

#endif
