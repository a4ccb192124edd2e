/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures this machine's TLBs: pinned threads follow chains in memory of small or huge pages.
 * Native code, not a kernel on the CPU device, where the system chooses the workers' processors and
 * the pages of memory. An "SM" is a processor that this process may use. Cycles are the core's,
 * counted by dependent additions.
 *
 * Chains are always shuffled, both halves alike: processors prefetch sequential accesses. One
 * thread at a time.
 */
#ifndef WP_PROBE_CPU_H
#define WP_PROBE_CPU_H

#include "probe/measure/probe_gpu.h"

typedef enum wpi_cpu_pages {
    WPI_CPU_PAGES_SMALL = 0, /* 4 KiB */
    WPI_CPU_PAGES_HUGE,      /* 2 MiB, if the system has them */
    WPI_CPU_PAGES_COUNT
} wpi_cpu_pages;

typedef struct wpi_cpu_sampler wpi_cpu_sampler;

/** Reserves `memory_bytes`; only touched pages take memory. UNSUPPORTED: not x86-64, or no huge
 * pages. */
WP_NODISCARD wp_status wpi_cpu_sampler_create(wpi_cpu_pages pages, uint64_t memory_bytes,
                                              const wpi_round_listener *listener,
                                              wpi_cpu_sampler **out, wp_error *err);
void wpi_cpu_sampler_destroy(wpi_cpu_sampler *sampler); /* NULL allowed */

/** Borrowed: as long as the object lives. */
const wpi_sampler *wpi_cpu_sampler_get(wpi_cpu_sampler *sampler);

/** The number of an SM's processor, as the system counts. */
unsigned wpi_cpu_sampler_processor(const wpi_cpu_sampler *sampler, uint32_t sm);

#endif
