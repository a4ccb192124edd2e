/* SPDX-License-Identifier: Apache-2.0 */
/**
 * __managed__ variables of the program, on simulated GPUs. They have their own pages (base/abi.h),
 * which before main are mapped a second time, in the area of managed memory. The model uses that
 * place, which is the same in every run; the program uses the linker's addresses. Both map the same
 * shared memory, so the host's touches are found as in other managed memory (touched_pages.h).
 *
 *     the program ──► variable ──┐
 *                                ├── pages
 *     the model ────► place ─────┘
 *
 * Thread rule: any thread.
 */
#ifndef WP_DEVICE_SIM_VARIABLES_H
#define WP_DEVICE_SIM_VARIABLES_H

#include "device/sim/managed_pages.h"

/** Gives a variable's pages a place. Pages that already have one keep it; if there is no room for a
 * place, nothing changes. */
void wpi_variables_place(void *address, size_t size_bytes);

/** The n-th run of pages with places; false: there are no more. */
bool wpi_variables_at(size_t number, wpi_managed_range *out);

/** The place of the program's `address`; the same address if it has none. */
uint64_t wpi_variables_find(uint64_t address);

#endif
