/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checking kernels (`warpage run --check`): what the CPU device tells the checker, and what the
 * checker finds out. The guards themselves are in the variant "check" of the kernels (base/abi.h).
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

/** Reads the parameters; PARSE or INVALID when they are wrong. */
WP_NODISCARD wp_status wpi_check_start(wp_error *err);

/* ---- memory -------------------------------------------------------------------------------------
 */

/** Between allocations lie so many bytes of nothing, so that small overruns do not reach the next.
 */
size_t wpi_check_gap_bytes(void);
/** Numbers an allocation and notes who asked for it. */
void wpi_check_allocated(wpi_memory_entry *entry);
/** Takes over the pages of a freed allocation, so that its addresses are not given out again soon.
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

/** Where [address, address + size_bytes) lies among live and freed allocations: the nearest of all.
 */
wpi_check_place wpi_check_locate(wpi_memory_map *live, wpi_memory_map *freed, const void *address,
                                 uint64_t size_bytes);

/* ---- kernels ------------------------------------------------------------------------------------
 */

/** The variant "check" of `code`, over the same variables. */
WP_NODISCARD wp_status wpi_check_load(const wp_image_header *image, const wpi_cpu_code *code,
                                      wpi_variant_library *out, wp_error *err);
const wp_check_site *wpi_check_sites(const wpi_variant_library *variant, uint32_t *count);

/** What checked kernels need in a block's storage; guards start empty. False when memory is out. */
bool wpi_check_prepare(wpi_block *block);
void wpi_check_release(wpi_block *block);

/** All that come to the block's barrier of this completion have; some of the block may be
 * elsewhere. The block is together or mixed, as it stands at the barrier. */
void wpi_check_barrier(wpi_block *block);
/** The device's first error counts as a finding when the checker looks for mistakes of its kind. */
void wpi_check_device_error(const wp_error *error);

#endif
