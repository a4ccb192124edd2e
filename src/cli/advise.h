/* SPDX-License-Identifier: Apache-2.0 */
/** The output of `warpage advise`: the facts of the run, and the remedies, ranked. */
#ifndef WP_CLI_ADVISE_H
#define WP_CLI_ADVISE_H

#include "cli/cli.h"
#include "cli/print/listing.h"
#include "study/remedies.h"
#include "study/trials.h"

/** The subject of the output. */
typedef struct wpi_advice_shown {
    const char *device, *settings;
    char *const *program;
    int program_count;
} wpi_advice_shown;

/** `remedies` are ranked. */
void wpi_advice_print(const wpi_remedies *remedies, const wpi_advice_shown *shown,
                      wpi_listing_format format);
/** "<folder>/advise.svg". NOT_FOUND: there is no gnuplot. */
WP_NODISCARD wp_status wpi_advice_plot(const wpi_remedies *remedies, const char *folder,
                                       wp_error *err);
/** index.html beside it: the ranked remedies and the plot. */
WP_NODISCARD wp_status wpi_advice_page(const wpi_remedies *remedies, const wpi_advice_shown *shown,
                                       const wpi_trials *trials, wp_error *err);

#endif
