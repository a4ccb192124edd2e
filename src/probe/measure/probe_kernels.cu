/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads that depend on one another, timed by the device's own clock. Written as C; every device
 * runs the same.
 */
#include <cuda_runtime.h>
#include <stdint.h>

#include "probe/measure/chain.h"
#include "probe/measure/probe_kernels.h"

/* Each place holds the distance to the next one, and the last one that back to the first. */
extern "C" __global__ void wp_probe_link(char *base, wpi_chain chain, const uint32_t *order) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.loads) return;
    const uint32_t next = i + 1 < chain.loads ? i + 1 : 0;
    const uint64_t here = wpi_chain_place(&chain, order != NULL ? order[i] : i);
    const uint64_t there = wpi_chain_place(&chain, order != NULL ? order[next] : next);
    *(uint64_t *)(base + here) = there - here;
}

/* Past L1, which would answer by virtual address and leave the TLBs alone. */
static __device__ const char *step(const char *place) {
    uint64_t distance;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(distance) : "l"(place) : "memory");
    return place + distance;
}

static __device__ const char *round_of(const char *place, uint32_t loads) {
    for (uint32_t i = 0; i < loads; i++)
        place = step(place);
    return place;
}

static __device__ uint32_t sm_id(void) {
    uint32_t id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

static __device__ void tell(wpi_probe_note *note, uint64_t launch) {
    note->sm = sm_id();
    note->launch = launch;
    __threadfence(); /* its translation must not come between the chain's */
}

/*
 * One CTA, the one on `sm`, goes round the chain. Its note's page must not take an entry from the
 * chain's: it is written before the untimed rounds, which then push it out, or behind timed ones.
 */
extern "C" __global__ void wp_probe_chase(const char *first, uint32_t loads, uint32_t untimed,
                                          uint32_t timed, uint32_t sm, uint64_t launch,
                                          wpi_probe_note *notes) {
    __shared__ int64_t cycles[WPI_PROBE_ROUNDS_MAX];
    wpi_probe_note *note = &notes[blockIdx.x];
    const char *place = first;
    if (sm != WPI_PROBE_ANY_SM && sm_id() != sm) return;
    if (untimed != 0) tell(note, launch);
    for (uint32_t r = 0; r < untimed; r++)
        place = round_of(place, loads);
    if (place == NULL) return; /* never: but now the last load has come */
    uint32_t same = 0, rounds = 0;
    while (rounds < timed && same < WPI_PROBE_ROUNDS_STEADY) {
        const long long start = clock64();
        place = round_of(place, loads);
        if (place == NULL) return;
        cycles[rounds] = clock64() - start;
        if (cycles[rounds++] == cycles[0]) same = same + 1 == rounds ? rounds : 0;
    }
    for (uint32_t r = 0; r < rounds; r++)
        note->cycles[r] = cycles[r];
    if (timed != 0) note->rounds = rounds;
    if (untimed == 0) tell(note, launch);
}

const void *wpi_probe_kernel_of(wpi_probe_kernel kernel) {
    return kernel == WPI_PROBE_LINK ? (const void *)wp_probe_link : (const void *)wp_probe_chase;
}
