/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Shared memory: how often a warp's access has to go to the banks.
 *
 * Word w (bank_bytes wide) lies in bank w mod banks. A bank serves one word a cycle, to all lanes
 * that want it. Lanes of 8 and 16 bytes go in two and four turns, half and quarter warps; a turn
 * whose lanes are all off takes nothing. An atomic serves one lane a cycle in each bank.
 */
#ifndef WP_SIM_SHARED_H
#define WP_SIM_SHARED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wpi_shared {
    uint32_t banks;      /* power of two, at most 64 */
    uint32_t bank_bytes; /* 4 or 8 */
} wpi_shared;

/** Cycles for which the access takes the banks, 1 without conflicts. `mask` is not 0; `addresses`
 * has 32. */
uint32_t wpi_shared_cycles(const wpi_shared *shared, uint32_t mask, const uint64_t *addresses,
                           uint32_t size_bytes, bool is_atomic);

#endif
