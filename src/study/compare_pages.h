/* SPDX-License-Identifier: Apache-2.0 */
/** compare --pages DIR: the history of pages of managed memory, a folder for each combination, and
 * their pictures on one page. */
#ifndef WP_STUDY_COMPARE_PAGES_H
#define WP_STUDY_COMPARE_PAGES_H

#include "study/trials.h"
#include "study/variation.h"

/** INVALID: a folder has other contents. */
WP_NODISCARD wp_status wpi_compare_check_pages(const wpi_variation *variation, const char *dir,
                                               wp_error *err);
/** Of trials that have results, made with `wants_pages`. NOT_FOUND: none had managed memory. */
WP_NODISCARD wp_status wpi_compare_write_pages(const wpi_variation *variation,
                                               const wpi_trials *trials, const char *dir,
                                               wp_error *err);

#endif
