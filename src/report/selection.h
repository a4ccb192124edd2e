/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Selects the launches that the report includes: WARPAGE_KERNELS, WARPAGE_LAUNCHES, WARPAGE_WARMUP
 * and WARPAGE_REGION must all match. Launches are numbered from 1, among those of matching kernels.
 *
 *     kernel's name ─► in the region? ─► number ─► behind the warm-up? ─► in the range?
 *
 * Thread rule: the caller serialises calls, except wpi_selection_set_region: any thread.
 */
#ifndef WP_REPORT_SELECTION_H
#define WP_REPORT_SELECTION_H

#include <stdbool.h>

#include "base/fail.h"

/** Reads the parameters; PARSE, INVALID. Until then all launches are selected. */
WP_NODISCARD wp_status wpi_selection_start(wp_error *err);
/** Whether launches may be left out. */
bool wpi_selection_is_on(void);
/** Whether a launch of a kernel with that demangled name is selected; counts it. */
bool wpi_selection_takes(const char *display_name);
/** Whether other commands are selected: inside the region, if it is used. */
bool wpi_selection_takes_others(void);
/** The program marks that launches from now on are in its region of interest, or not. */
void wpi_selection_set_region(bool is_inside);
/** Whether region marks are used. */
bool wpi_selection_has_region(void);
/** Checks a value of WARPAGE_KERNELS or WARPAGE_LAUNCHES; INVALID, PARSE. */
WP_NODISCARD WP_API wp_status wpi_selection_check_kernels(const char *text, wp_error *err);
WP_NODISCARD WP_API wp_status wpi_selection_check_launches(const char *text, wp_error *err);

#endif
