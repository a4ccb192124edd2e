/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated addresses. Memory that a simulated device allocates has the same addresses in every run
 * (device/cpu/arena.h), which are the simulated ones. Other memory that kernels access is placed by
 * the system; it gets simulated addresses in the order of first access:
 *
 *     host memory that found no place there, or was registered    as a whole, from 2 MiB on
 *     memory that was not registered                              page by page
 *     a module's variables                                        side by side
 *     … which are managed (variables.h)                           as managed memory
 *     device memory that found no place there                     as a whole, from 2 MiB on
 *
 * Host memory is in [WPI_HOST_FIRST, WPI_HOST_OUTER): the GPU accesses it over the link. Managed
 * memory is directly below: without page migration it counts as host memory too.
 *
 * Thread rule: one thread.
 */
#ifndef WP_DEVICE_SIM_ADDRESSES_H
#define WP_DEVICE_SIM_ADDRESSES_H

#include "base/fail.h"
#include "device/cpu/arena.h"

#define WPI_HOST_FIRST WPI_ARENA_HOST_FIRST
#define WPI_HOST_OUTER UINT64_C(0x700000000000)

typedef struct wpi_addresses wpi_addresses;

wpi_addresses *wpi_addresses_create(void);            /* NULL: no memory */
void wpi_addresses_destroy(wpi_addresses *addresses); /* NULL allowed */
/** Sets the simulated addresses of a range of whole pages outside of the arena, before any of it is
 * looked up. NOMEM: the range is not added. */
WP_NODISCARD wp_status wpi_addresses_set(wpi_addresses *addresses, uint64_t first, uint64_t bytes,
                                         uint64_t simulated, wp_error *err);
/** The simulated address of memory outside of the arena. */
uint64_t wpi_addresses_find(wpi_addresses *addresses, uint64_t address);
/** The address that has this simulated address; the same number if none has. `addresses` NULL: none
 * has. */
uint64_t wpi_addresses_original(const wpi_addresses *addresses, uint64_t simulated);

/** The simulated address of any memory. */
static inline uint64_t wpi_address_simulated(wpi_addresses *addresses, uint64_t address) {
    return wpi_arena_has(address) ? address : wpi_addresses_find(addresses, address);
}

#endif
