/* SPDX-License-Identifier: Apache-2.0 */
/** Asynchronous copies to shared memory, performed synchronously; commits and waits keep their
 *  guarantees. */
#ifndef WARPAGE_CUDA_PIPELINE_H
#define WARPAGE_CUDA_PIPELINE_H

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)

/** Copies 4, 8 or 16 bytes; the last `zero_bytes` of them are set to zero. */
static __device__ __inline__ void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                                          size_t zero_bytes = 0) {
    const size_t copied = bytes - zero_bytes;
    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = i < copied ? ((const char *)from)[i] : (char)0;
    }
}
static __device__ __inline__ void __pipeline_commit() {
}
static __device__ __inline__ void __pipeline_wait_prior(size_t) {
}

#endif
#endif
