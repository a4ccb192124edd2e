/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checking kernels (`warpage run --check`): calls of the CPU device to the checker, and the
 * checker's results. The guards themselves are in the variant "check" of the kernels (base/abi.h).
 *
 *     guard in kernel code ──► wp_rt_check… ──► locate the address ──► finding: said once, counted
 *     allocation and freeing ──► numbers, callers, a quarantine of freed ranges
 *     block scheduler ──► barriers at which threads part
 *
 * Callable from any thread.
 */
#ifndef WP_DEVICE_CPU_CHECK_H
#define WP_DEVICE_CPU_CHECK_H

#include "device/cpu/code.h"
#include "device/cpu/cpu.h"
#include "device/cpu/variant_cache.h"

/** Set before the first device is open; do not write. */
extern bool wpi_check_enabled;

static inline bool wpi_check_is_on(void) {
    return wpi_check_enabled;
}

/** Whether races between threads of a block are looked for, too. */
bool wpi_check_finds_races(void);

/** Reads the parameters. PARSE, INVALID. */
WP_NODISCARD wp_status wpi_check_start(wp_error *err);
/** Whether checks are asked for, also on a device that makes none. */
bool wpi_check_is_wanted(void);

/* ---- memory ---- */

/** The size of the gaps between allocations, so that small overruns do not reach the next.
 */
size_t wpi_check_gap_bytes(void);
/** Numbers an allocation and records its caller. */
void wpi_check_allocated(wpi_memory_entry *entry);
/** Takes over the pages of a freed allocation, so that its addresses are not reused soon.
 */
void wpi_check_freed(const wpi_memory_entry *entry);

wpi_memory_map *wpi_check_freed_map(void);

typedef struct wpi_check_place {
    bool is_known;          /* there is a nearest allocation */
    bool is_freed;          /* … and it was freed */
    bool is_good;           /* all bytes lie in a live one */
    int64_t distance_bytes; /* as wpi_memory_map_nearest; 0 also when the access starts inside and
                               leaves it */
    wpi_memory_entry entry;
} wpi_check_place;

/** Locates [address, address + size_bytes) relative to the nearest live or freed allocation.
 */
wpi_check_place wpi_check_locate(wpi_memory_map *live, wpi_memory_map *freed, const void *address,
                                 uint64_t size_bytes);

/* ---- kernels ---- */

/** Loads the variant "check" or "races" of `code`, with the same variables. */
WP_NODISCARD wp_status wpi_check_load(const wp_image_header *image, const wpi_cpu_code *code,
                                      uint32_t instance, void *const *variables,
                                      wpi_variant_library *out, wp_error *err);
const wp_check_site *wpi_check_sites(const wpi_variant_library *variant, uint32_t *count);

/** Allocates what checked kernels need in a block's storage; guards start empty. False: out of
 * memory. */
bool wpi_check_prepare(wpi_block *block);
void wpi_check_release(wpi_block *block);

/** A barrier of the block completes: reports threads that are at another one or have returned. The
 * block is together or mixed, as at the barrier. */
void wpi_check_barrier(wpi_block *block);
/** The device's first error counts as a finding if the checker looks for errors of its kind. */
void wpi_check_device_error(const wp_error *error);

#endif
