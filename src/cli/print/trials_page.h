/* SPDX-License-Identifier: Apache-2.0 */
/** index.html of `compare --output` and `advise --output`: the table and the plot. */
#ifndef WP_CLI_TRIALS_PAGE_H
#define WP_CLI_TRIALS_PAGE_H

#include "cli/print/listing.h"
#include "study/trials.h"

typedef struct wpi_trials_page {
    const char *device, *settings; /* of all trials; "" */
    const char *verdict;           /* a sentence above the plot; "" */
    const char *plot, *plot_title; /* "compare": compare.svg of the folder, if it is there */
    const char *details;           /* HTML beneath the table; NULL */
    size_t text_columns; /* bit c: column c is text, at the left; the first one is in any case */
} wpi_trials_page;

/** Writes it into the trials' folder. Rows whose last cell is "best" or "worst" are marked. IO. */
WP_NODISCARD wp_status wpi_trials_page_write(const wpi_trials *trials, const wpi_listing *table,
                                             const wpi_trials_page *page, wp_error *err);

#endif
