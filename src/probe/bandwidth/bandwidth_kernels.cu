/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that read words of four bytes as quickly as they can: the next address does not depend on
 * what was read. Written as C; every device runs the same.
 */
#include <cuda_runtime.h>
#include <stdint.h>

#include "probe/bandwidth/bandwidth_kernels.h"

#define WARP_LANES 32u

static __device__ const char *first_of(const char *base, const wpi_reads *reads, uint64_t *at) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t lane = thread % WARP_LANES;
    *at = (uint64_t)(thread / WARP_LANES) * reads->access_bytes % reads->span_bytes;
    return base + lane / reads->coalesced * reads->group_bytes + lane % reads->coalesced * 4;
}

static __device__ uint64_t next_of(uint64_t at, const wpi_reads *reads) {
    at += reads->step_bytes;
    return at < reads->span_bytes ? at : at - reads->span_bytes;
}

/* Four loads are in flight before the first is used. The memory holds zeros, so the sum is never
 * stored. */
#define LOADS WPI_BANDWIDTH_LOADS
#define READ(load)                                                                                 \
    uint64_t at;                                                                                   \
    const char *lane = first_of(base, &reads, &at);                                                \
    uint32_t sum = 0, words[LOADS];                                                                \
    for (uint32_t t = 0; t < reads.turns; t += LOADS) {                                            \
        _Pragma("unroll") for (uint32_t l = 0; l < LOADS; l++) {                                   \
            load;                                                                                  \
            at = next_of(at, &reads);                                                              \
        }                                                                                          \
        _Pragma("unroll") for (uint32_t l = 0; l < LOADS; l++) sum += words[l];                    \
    }                                                                                              \
    if (sum != 0) out[0] = sum

extern "C" __global__ void wp_bandwidth_past_l1(const char *base, wpi_reads reads, uint32_t *out) {
    READ(asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(words[l]) : "l"(lane + at)));
}

extern "C" __global__ void wp_bandwidth_cached(const char *base, wpi_reads reads, uint32_t *out) {
    READ(asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(words[l]) : "l"(lane + at)));
}

/* Each lane a bank of its own. */
extern "C" __global__ void wp_bandwidth_shared(const char *base, wpi_reads reads, uint32_t *out) {
    __shared__ uint32_t words[WPI_BANDWIDTH_SHARED_WORDS];
    const volatile uint32_t *own = words;
    (void)base;
    for (uint32_t w = threadIdx.x; w < WPI_BANDWIDTH_SHARED_WORDS; w += blockDim.x)
        words[w] = 0;
    __syncthreads();
    uint32_t sum = 0, at = threadIdx.x;
    for (uint32_t t = 0; t < reads.turns; t += LOADS) {
        uint32_t read[LOADS];
        _Pragma("unroll") for (uint32_t l = 0; l < LOADS; l++) {
            read[l] = own[at % WPI_BANDWIDTH_SHARED_WORDS];
            at += WARP_LANES;
        }
        _Pragma("unroll") for (uint32_t l = 0; l < LOADS; l++) sum += read[l];
    }
    if (sum != 0) out[0] = sum;
}

const void *wpi_bandwidth_kernel_of(wpi_bandwidth_kernel kernel) {
    switch (kernel) {
    case WPI_BANDWIDTH_PAST_L1: return (const void *)wp_bandwidth_past_l1;
    case WPI_BANDWIDTH_CACHED: return (const void *)wp_bandwidth_cached;
    case WPI_BANDWIDTH_SHARED:
    case WPI_BANDWIDTH_KERNEL_COUNT: break;
    }
    return (const void *)wp_bandwidth_shared;
}
