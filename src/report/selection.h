/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which launches the report is about: WARPAGE_KERNELS, WARPAGE_LAUNCHES, WARPAGE_WARMUP and
 * WARPAGE_REGION, all of them have to agree. Launches are numbered from 1, among those of kernels
 * that match.
 *
 *     kernel's name ─► in the region? ─► number ─► behind the warm-up? ─► in the range?
 *
 * Thread rule: the caller keeps calls apart, but for wpi_selection_set_region: any thread.
 */
#ifndef WP_REPORT_SELECTION_H
#define WP_REPORT_SELECTION_H

#include <stdbool.h>

#include "base/fail.h"

/** Reads the parameters; PARSE, INVALID. Until then all launches are selected. */
WP_NODISCARD wp_status wpi_selection_start(wp_error *err);
/** Something is left out, perhaps. */
bool wpi_selection_is_on(void);
/** A launch of a kernel with that name (for people): counts it. */
bool wpi_selection_takes(const char *display_name);
/** What is no launch: whether it lies in the region, if that matters. */
bool wpi_selection_takes_others(void);
/** The program's own mark: launches from now on are in its region of interest, or not. */
void wpi_selection_set_region(bool is_inside);
/** Marks matter. */
bool wpi_selection_has_region(void);
/** Whether `text` can be a WARPAGE_KERNELS or a WARPAGE_LAUNCHES; INVALID, PARSE. */
WP_NODISCARD WP_API wp_status wpi_selection_check_kernels(const char *text, wp_error *err);
WP_NODISCARD WP_API wp_status wpi_selection_check_launches(const char *text, wp_error *err);

#endif
