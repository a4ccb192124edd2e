/* SPDX-License-Identifier: Apache-2.0 */
/** A bar for each time, drawn by gnuplot. */
#ifndef WP_STUDY_BARS_H
#define WP_STUDY_BARS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

typedef enum wpi_bar_mark { WP_BAR_PLAIN = 0, WP_BAR_GOOD, WP_BAR_BAD } wpi_bar_mark;

typedef struct wpi_bar {
    char *label;
    uint64_t time_ns;
    wpi_bar_mark mark; /* good and bad ones stand out */
} wpi_bar;

/** Writes "<folder>/<name>.svg". NOT_FOUND: there is no gnuplot. */
WP_NODISCARD wp_status wpi_bars_plot(const wpi_bar *bars, size_t count, const char *x_label,
                                     const char *folder, const char *name, wp_error *err);

#endif
