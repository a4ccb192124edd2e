/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated addresses. What a simulated device allocates lies where it lies in every run
 * (device/cpu/arena.h), and its addresses are the simulated ones. Other memory that kernels use
 * lies where the system put it; it gets simulated addresses in the order in which the model meets
 * it:
 *
 *     host memory that found no place there, or was registered    as a whole, from 2 MiB on
 *     memory that nobody registered                               page by page
 *     a module's variables                                        side by side
 *     … which are managed (variables.h)                           as managed memory
 *     device memory that found no place there                     as a whole, from 2 MiB on
 *
 * Host memory lies in [WPI_HOST_FIRST, WPI_HOST_OUTER): the GPU reaches it across the link. Managed
 * memory lies right in front of that: where nothing moves its pages, it is host memory, too.
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
/** A range outside of the arena, of whole pages, whose simulated addresses are known; before any of
 * it was asked for. NOMEM: the range is not entered. */
WP_NODISCARD wp_status wpi_addresses_set(wpi_addresses *addresses, uint64_t first, uint64_t bytes,
                                         uint64_t simulated, wp_error *err);
/** The simulated address of memory outside of the arena. */
uint64_t wpi_addresses_find(wpi_addresses *addresses, uint64_t address);
/** The address whose simulated one it is; itself if nobody has got it. NULL: nobody has. */
uint64_t wpi_addresses_original(const wpi_addresses *addresses, uint64_t simulated);

/** The simulated address of any memory. */
static inline uint64_t wpi_address_simulated(wpi_addresses *addresses, uint64_t address) {
    return wpi_arena_has(address) ? address : wpi_addresses_find(addresses, address);
}

#endif
