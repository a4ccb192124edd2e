/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The allocations that kernels access, for the report: numbers for the model's counts
 * (sim/paging/access_watch.h), and names for people. An allocation takes over the row of a freed
 * one of the same size by the same code, so a program that allocates in a loop has one row for each
 * allocating place.
 *
 * Thread rule: the thread that runs the executor's round; wpi_allocations_fill also between rounds.
 */
#ifndef WP_DEVICE_SIM_ALLOCATIONS_H
#define WP_DEVICE_SIM_ALLOCATIONS_H

#include "device/sim/addresses.h"
#include "sim/paging/access_watch.h"
#include "warpage/report.h"

typedef struct wpi_allocations wpi_allocations;

/** NOMEM. */
WP_NODISCARD wp_status wpi_allocations_create(uint64_t page_bytes, wpi_allocations **out,
                                              wp_error *err);
/** Translates located addresses from simulated ones; NULL: no translation. */
void wpi_allocations_translate(wpi_allocations *allocations, const wpi_addresses *addresses);
void wpi_allocations_destroy(wpi_allocations *allocations); /* NULL allowed */

/** A wpi_watch_locate; `object` is the wpi_allocations. */
void wpi_allocations_locate(void *object, uint64_t address, const char *name, wpi_watch_range *out);

/** The variable or parameter through which the allocation at `address` was accessed; "":
 * unknown. */
const char *wpi_allocations_name(const wpi_allocations *allocations, uint64_t address);

/** Fills the members of `out` for allocations, pages and the map from the counts. */
void wpi_allocations_fill(const wpi_allocations *allocations, const wpi_watch_counts *counts,
                          wp_run_simulation *out);

#endif
