/* SPDX-License-Identifier: Apache-2.0 */
/** The user's choice of kernels that run in step with simulated time: --in-step,
 * WARPAGE_IN_STEP. */
#ifndef WP_BASE_IN_STEP_CHOICE_H
#define WP_BASE_IN_STEP_CHOICE_H

#include "warpage/error.h"

typedef enum wpi_in_step {
    WP_IN_STEP_AUTO = 0, /* those that read a clock or wait for other blocks */
    WP_IN_STEP_ALWAYS,
    WP_IN_STEP_NEVER,
    WP_IN_STEP_COUNT /* must be last */
} wpi_in_step;

/** The words, in the order of the enum; the last is NULL. */
extern const char *const wpi_in_step_words[WP_IN_STEP_COUNT + 1];

/** INVALID: `text` is none of the words. */
WP_NODISCARD wp_status wpi_in_step_parse(const char *text, wpi_in_step *out, wp_error *err);

#endif
