/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The bytes that an entry covers and that a miss fills, of a level whose step is known.
 *
 * One load more than the entries hold makes a set overflow: all loads of its entries miss. The load
 * after that shows what an entry covers: at strides of an entry or more it is in another set, whose
 * entries miss, too; at smaller strides it is in the same entry, and is one more miss.
 */
#ifndef WP_PROBE_PAGES_H
#define WP_PROBE_PAGES_H

#include "probe/infer/ramp.h"
#include "probe/infer/steps.h"

/** page_bytes and entries of a level; ramp->stride_bytes is page_bytes afterwards. *is_mixed: its
 * misses cost more at larger strides, but not in proportion: it is more than one level. */
WP_NODISCARD wp_status wpi_pages_find(wpi_search *search, const wpi_step *step, wpi_ramp *ramp,
                                      wpi_level *level, bool *is_mixed, wp_error *err);
/** fill_bytes, with the ramp at strides of page_bytes. */
WP_NODISCARD wp_status wpi_pages_find_fill(wpi_search *search, const wpi_ramp *ramp,
                                           wpi_level *level, bool *is_mixed, wp_error *err);

#endif
