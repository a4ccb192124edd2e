/* SPDX-License-Identifier: Apache-2.0 */
/** What happened to pages of managed memory (sim/paging/page_history.h), as the run record has it.
 */
#ifndef WP_DEVICE_SIM_PAGE_RECORD_H
#define WP_DEVICE_SIM_PAGE_RECORD_H

#include "device/sim/allocations.h"
#include "sim/paging/page_history.h"

/** A copy, with the names that `allocations` knows; NULL: memory is out. */
wp_run_managed *wpi_page_record_make(const wpi_page_history *history,
                                     const wpi_allocations *allocations);

#endif
