/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Addresses that are the same in every run: a range of the address space that systems leave alone,
 * given out from its start. Memory of simulated devices lies there, so that what depends on
 * addresses (pages of a TLB, sets of a cache, a hash of pointers) does not depend on where the
 * system happened to put things. Memory of the device, managed memory and page-locked memory of the
 * host have an area each, so that an address says which it is. Managed memory is shared (mmap's
 * word), the rest private.
 *
 * Thread rule: any thread.
 */
#ifndef WP_DEVICE_CPU_ARENA_H
#define WP_DEVICE_CPU_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitizer.h"

#if defined(WP_HAS_TSAN) /* keeps its shadow where the arena is otherwise */
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

/** Whether it is an address of the arena, whoever has it. */
static inline bool wpi_arena_has(uint64_t address) {
    return address / WPI_ARENA_BYTES == WPI_ARENA_FIRST / WPI_ARENA_BYTES;
}

/** … all of them. */
static inline bool wpi_arena_has_all(const uint64_t *addresses, uint32_t count) {
    uint64_t differ = 0;
    for (uint32_t i = 0; i < count; i++)
        differ |= addresses[i] / WPI_ARENA_BYTES ^ WPI_ARENA_FIRST / WPI_ARENA_BYTES;
    return differ == 0;
}

/** Zeroed, readable and writable memory, uncommitted, which begins `offset_bytes` behind a multiple
 * of 2 MiB. NULL: the place is taken, or the area is used up. `bytes` is whole pages. */
void *wpi_arena_map(wpi_arena_area area, size_t bytes, size_t offset_bytes);
/** The range, of the arena or not, is about to be written whole: where it is, the system may back
 * it by large pages, which would waste memory where a program touches little of what it has. */
void wpi_arena_expect_whole(const void *memory, size_t bytes);
/** Units of 2 MiB of device memory of which nearly all has been written get large pages, if the
 * system has them: random accesses to gigabytes cost the processor fewer TLB misses. Takes a second
 * for each few GiB, the first time. What was only read costs no memory, and goes on to cost none.
 */
void wpi_arena_condense(void);
/** Makes a range of device memory zero; its whole pages are uncommitted again, as when they were
 * new. False: it is not from there, or small; nothing was done, or only zeros written. */
bool wpi_arena_zero(void *memory, size_t bytes);
/** Gives back what wpi_arena_map gave; false: it is not from there. Its addresses come again if
 * nothing was given out behind them. */
bool wpi_arena_unmap(void *memory, size_t bytes);

#endif
