/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared memory: bank conflicts of a warp's access.
 *
 * Word w (bank_bytes wide) lies in bank w mod banks. A bank serves one word a cycle, to all lanes
 * that access it. Accesses of 8 and 16 bytes take two and four turns, by half and quarter warps; a
 * turn without active lanes takes no time. An atomic serves one lane a cycle in each bank.
 */
#ifndef WP_SIM_SHARED_H
#define WP_SIM_SHARED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wpi_shared {
    uint32_t banks;      /* power of two, at most 64 */
    uint32_t bank_bytes; /* 4 or 8 */
} wpi_shared;

/** Cycles for which the access occupies the banks; 1 without conflicts. `mask` is not 0;
 * `addresses` has 32. */
uint32_t wpi_shared_cycles(const wpi_shared *shared, uint32_t mask, const uint64_t *addresses,
                           uint32_t size_bytes, bool is_atomic);

#endif
