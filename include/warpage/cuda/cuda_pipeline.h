/* SPDX-License-Identifier: Apache-2.0 */
/** Asynchronous copies to shared memory: cp.async from sm_80 on, before that plain copies. */
#ifndef WARPAGE_CUDA_PIPELINE_H
#define WARPAGE_CUDA_PIPELINE_H

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)

/** Copies 4, 8 or 16 bytes; the last `zero_bytes` of them are set to zero. */
static __device__ __inline__ void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                                          size_t zero_bytes = 0) {
    const size_t copied = bytes - zero_bytes;
#if __CUDA_ARCH__ >= 800
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to), present = (unsigned)copied;
    if (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(present)
                     : "memory");
    else if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(from),
                     "r"(present)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from),
                     "r"(present)
                     : "memory");
#else
    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = i < copied ? ((const char *)from)[i] : (char)0;
    }
#endif
}
static __device__ __inline__ void __pipeline_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
static __device__ __inline__ void __pipeline_wait_prior(size_t prior) {
#if __CUDA_ARCH__ >= 800
    switch (prior) { /* the instruction takes a constant; waiting for more is right, too */
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    }
#else
    (void)prior;
#endif
}

#endif
#endif
