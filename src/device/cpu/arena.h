/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses that are the same in every run: a range of the address space that systems do not use,
 * allocated from its start. Memory of simulated devices is placed there, so that results that
 * depend on addresses (TLB pages, cache sets, hashes of pointers) are reproducible. Device memory,
 * managed memory and page-locked host memory have an area each, so that an address determines its
 * kind. Managed memory is mapped shared (MAP_SHARED), the rest private.
 *
 * Thread rule: any thread.
 */
#ifndef WP_DEVICE_CPU_ARENA_H
#define WP_DEVICE_CPU_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitizer.h"

#if defined(WP_HAS_TSAN) /* its shadow memory is at the arena's usual place */
#define WPI_ARENA_FIRST UINT64_C(0x4000000000)
#define WPI_ARENA_BYTES UINT64_C(0x4000000000)
#else
#define WPI_ARENA_FIRST UINT64_C(0x200000000000)
#define WPI_ARENA_BYTES UINT64_C(0x200000000000)
#endif
#define WPI_ARENA_MANAGED_FIRST (WPI_ARENA_FIRST + WPI_ARENA_BYTES / 4)
#define WPI_ARENA_HOST_FIRST (WPI_ARENA_FIRST + WPI_ARENA_BYTES / 2)

typedef enum wpi_arena_area {
    WPI_ARENA_DEVICE = 0,
    WPI_ARENA_MANAGED,
    WPI_ARENA_HOST,
    WPI_ARENA_AREA_COUNT /* must be last */
} wpi_arena_area;

/** Whether the address is in the arena, allocated or not. */
static inline bool wpi_arena_has(uint64_t address) {
    return address / WPI_ARENA_BYTES == WPI_ARENA_FIRST / WPI_ARENA_BYTES;
}

/** Whether all addresses are in the arena. */
static inline bool wpi_arena_has_all(const uint64_t *addresses, uint32_t count) {
    uint64_t differ = 0;
    for (uint32_t i = 0; i < count; i++)
        differ |= addresses[i] / WPI_ARENA_BYTES ^ WPI_ARENA_FIRST / WPI_ARENA_BYTES;
    return differ == 0;
}

/** Maps zeroed, uncommitted memory that begins `offset_bytes` after a multiple of 2 MiB. NULL: the
 * place is taken, or the area is exhausted. `bytes` is whole pages. */
void *wpi_arena_map(wpi_arena_area area, size_t bytes, size_t offset_bytes);
/** … device memory of a device by its number: each has a part of the area. */
void *wpi_arena_map_on(uint32_t device, size_t bytes, size_t offset_bytes);
#define WPI_ARENA_DEVICES 16u
/** Where the part of a device begins; that of WPI_ARENA_DEVICES: where the area ends. */
static inline uint64_t wpi_arena_device_first(uint32_t device) {
    return WPI_ARENA_FIRST +
           (WPI_ARENA_MANAGED_FIRST - WPI_ARENA_FIRST) / WPI_ARENA_DEVICES * device;
}
/** The device whose part contains an address of the device area. */
static inline uint32_t wpi_arena_device_of(uint64_t address) {
    return (uint32_t)((address - WPI_ARENA_FIRST) /
                      ((WPI_ARENA_MANAGED_FIRST - WPI_ARENA_FIRST) / WPI_ARENA_DEVICES));
}
/** The range, in the arena or not, is about to be written completely: the system may use large
 * pages for it, which would waste memory in sparsely used ranges. */
void wpi_arena_expect_whole(const void *memory, size_t bytes);
/** Converts units of 2 MiB of device memory that are almost completely written to large pages, if
 * the system supports it: random accesses to gigabytes then cause fewer TLB misses of the host. The
 * first call takes a second per few GiB. Pages that were only read still take no memory.
 */
void wpi_arena_condense(void);
/** Zeroes a range of device memory; whole pages become uncommitted again. False: it is not in the
 * arena, or small; nothing was done, or zeros were written to a part. */
bool wpi_arena_zero(void *memory, size_t bytes);
/** Frees memory of wpi_arena_map; false: it is not in the arena. Its addresses are reused if
 * nothing was allocated after it. */
bool wpi_arena_unmap(void *memory, size_t bytes);

#endif
