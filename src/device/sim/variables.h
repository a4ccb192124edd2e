/* SPDX-License-Identifier: Apache-2.0 */
/**
 * __managed__ variables of the program, on simulated GPUs. They have pages of their own
 * (base/abi.h). Before main these pages get a second place, in the area of managed memory: there
 * the model has them, at the same addresses in every run, while the program goes on to use them
 * where the linker put them. Both are the same shared memory, so what the host touches is found as
 * with other managed memory (touched_pages.h).
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

/** A variable of the program. Pages that have a place already keep it; without room for a place
 * they stay what they are. */
void wpi_variables_place(void *address, size_t size_bytes);

/** The n-th run of pages that have places; false: there are no more. */
bool wpi_variables_at(size_t number, wpi_managed_range *out);

/** The place of what the program has at `address`; itself, if it has no other. */
uint64_t wpi_variables_find(uint64_t address);

#endif
