/* SPDX-License-Identifier: Apache-2.0 */
/** Converts the history of managed pages (sim/paging/page_history.h) to the run record's form.
 */
#ifndef WP_DEVICE_SIM_PAGE_RECORD_H
#define WP_DEVICE_SIM_PAGE_RECORD_H

#include "device/sim/allocations.h"
#include "sim/paging/page_history.h"

/** A copy, with names from `allocations`; NULL: out of memory. */
wp_run_managed *wpi_page_record_make(const wpi_page_history *history,
                                     const wpi_allocations *allocations);

#endif
